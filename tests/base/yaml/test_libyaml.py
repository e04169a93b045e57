"""The C parser alone reads as all of PyYAML does, and a PyYAML that cannot be loaded in part is loaded as a whole."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
import yaml

from krm_fn.base.yaml import libyaml
from tests.support.cases import cases

LOADED = """\
import sys
{before}
from krm_fn.base.yaml import libyaml
libyaml.load()
from krm_fn.base.yaml import reader
for text in sys.argv[1:]:
    documents, found = reader.read(text)
    print([document.value for document in documents], [each[:3] + each[7:] for each in found])
print("yaml" in sys.modules, file=sys.stderr)
"""
TEXTS = ["a: [1, x]\n", "a: [1\nb: 2\n", "a: @b\n", "a: x\nb: \x07\n", 'a: "\\ud83d"\n', "a: *b\n", "a:\n\tb: 1\n", "%YAML 3.0\n---\na\n"]


def outcome(before=""):
    """The output of a new process about texts, and True if the process loaded all of PyYAML."""
    program = LOADED.format(before=textwrap.dedent(before))
    done = subprocess.run([sys.executable, "-c", program, *TEXTS], capture_output=True, text=True, check=True, timeout=300)
    return done.stdout, done.stderr.strip() == "True"


BROKEN = [
    # reason, what happens before
    ("all of PyYAML is loaded already", "import yaml"),
    (
        "a package without a place",
        """
        from importlib.machinery import PathFinder
        kept = PathFinder.find_spec
        def once(name, *more):
            if name != "yaml":
                return kept(name, *more)
            PathFinder.find_spec = kept
        PathFinder.find_spec = once
        """,
    ),
    (
        "a C extension that wants more than is there",
        """
        import importlib.machinery
        def refuse(*_):
            raise AttributeError("yaml.resolver")
        kept = importlib.machinery.ExtensionFileLoader.exec_module
        def once(self, module):
            importlib.machinery.ExtensionFileLoader.exec_module = kept
            refuse()
        importlib.machinery.ExtensionFileLoader.exec_module = once
        """,
    ),
]


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without libyaml")
def test_the_parser_alone_finds_what_all_of_pyyaml_finds():
    alone, loaded = outcome()
    assert not loaded
    assert alone == outcome("import yaml")[0]


@cases("before", BROKEN)
def test_whatever_goes_wrong_all_of_pyyaml_reads(before):
    printed, loaded = outcome(before)
    assert loaded
    assert printed == outcome("import yaml")[0]


def test_all_of_pyyaml_can_be_loaded_later():
    loaded = "from krm_fn.base.yaml import libyaml; libyaml.load(); import yaml; "
    program = loaded + "print(yaml.load('{a: [1]}', yaml.CSafeLoader), yaml.safe_load('b'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "{'a': [1]} b\n"


def test_a_process_that_has_loaded_it_keeps_it():
    libyaml.load()
    assert sys.modules["yaml"] is yaml
