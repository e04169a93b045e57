"""A new engine or component type in a copy of this clone: one file, then `make generate`. No other edit and no API server is needed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support import given, toys
from tests.testbed import programs

pytestmark = pytest.mark.slow  # runs a copy of this clone

LEFT_OUT = shutil.ignore_patterns(".*", "build", "*.egg-info", "node_modules")
"""Bytecode is copied, too. The copy keeps the times of all files, so Python compiles only what a test changes."""
RUN = {"command": ["python3"], "args": ["-m", "dynamo.abacus"]}
WORKER = given.service("worker", main=RUN, resources={"limits": {"cpu": "1", "memory": "1Gi"}})
GRAPH = given.graph({"Worker": WORKER}, name="sums", namespace="demo")
REQUEST = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentRequest", "metadata": {"name": "r", "namespace": "demo"}}
README = """\
# An abacus

```console
$ krm-fn render examples/abacus/graph.yaml
...
```

| object | why it is there |
|---|---|
"""
DEFINITIONS = {"dynamographdeployments", "dynamocomponentdeployments", "dynamographdeploymentrequests"}
COMPONENTS = ("dynamographdeployment", "dynamocomponentdeployment")


class Clone:
    """A copy of this clone, in which only shells are found: no kube-apiserver, no kustomize, no Go."""

    def __init__(self, root):
        self.root = shutil.copytree(programs.ROOT, root, ignore=LEFT_OUT)
        self.shells = root.parent / "shells"
        self.shells.mkdir()
        for shell in filter(None, map(shutil.which, ("dash", "bash"))):
            (self.shells / Path(shell).name).symlink_to(shell)
        self.before = self.files()

    def files(self):
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file() and not {"__pycache__", ".hypothesis", ".pytest_cache"} & {*path.parts}
        }

    def changed(self):
        after = self.files()
        assert self.before.keys() <= after.keys()
        return {name for name, content in after.items() if self.before.get(name) != content}

    def python(self, *arguments, text=""):
        """Runs Python on the code of the copy. Raises AssertionError with stderr where that fails."""
        kept = {"HOME": str(self.root), "XDG_CACHE_HOME": str(self.root), "PATH": str(self.shells), "PYTHONPATH": str(self.root)}
        environment = {key: word for key, word in os.environ.items() if not key.startswith("KRM_FN_") and key != "CI"} | kept
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.root, env=environment, input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def generate(self):
        self.python("-m", "krm_fn.schemas.generate")
        self.python("tools/error_pages.py")

    def test(self, *arguments):
        """Runs tests of the copy. Their temporary folders are their own: pytest would also remove those of earlier runs."""
        self.python("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--basetemp", str(self.root.parent / "basetemp"), *arguments)

    def edit(self, name, old, new):
        file = self.root / "krm_fn" / name
        text = file.read_text()
        assert text.count(old) == 1, (name, old)
        file.write_text(text.replace(old, new))

    def definition(self, name):
        return yaml.safe_load((self.root / "platform" / "crds" / f"{name}.yaml").read_text())["spec"]["versions"][0]["schema"]

    def render(self, *resources):
        text = yaml.safe_dump_all(resources)
        return [*yaml.safe_load_all(self.python("-m", "krm_fn", "render", "-", text=text))]


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path / "clone")


def container(objects, name):
    (found,) = (each for each in objects if (each["kind"], each["metadata"]["name"]) == ("Deployment", name))
    return found["spec"]["template"]["spec"]["containers"][-1]


def definitions(*names):
    """The files with these definitions, of both versions."""
    return {f"platform/{folder}/{name}.yaml" for folder in ("crds", "crds-v1beta1") for name in names}


def test_nothing_changes_without_a_new_file(clone):
    clone.generate()
    assert clone.changed() == set()


def test_a_new_engine_is_one_file_and_an_example(clone):
    (clone.root / "krm_fn/render/engines/abacus.py").write_text(toys.ENGINE)
    example = clone.root / "examples" / "abacus"
    example.mkdir()
    (example / "graph.yaml").write_text(clone.python("-m", "krm_fn", "convert", "-", text=yaml.safe_dump(GRAPH)))
    (example / "expected.yaml").write_text(clone.python("-m", "krm_fn", "render", "examples/abacus/graph.yaml"))
    objects = yaml.safe_load_all((example / "expected.yaml").read_text())
    (example / "README.md").write_text(README + "".join(f"| `{each['kind']} {each['metadata']['name']}` | |\n" for each in objects))
    clone.generate()

    written = {"krm_fn/render/engines/abacus.py", *(f"examples/abacus/{name}" for name in ("README.md", "graph.yaml", "expected.yaml"))}
    rules = {"docs/errors/DYN300.md"}  # the page of the code that the engine reports
    made = {"krm_fn/render/schema/schema.json", "functions.yaml", "metadata.yaml", *definitions(*DEFINITIONS)}
    pages = {f"docs/reference/{name.removesuffix('s')}{version}.md" for name in DEFINITIONS for version in ("", "v1beta1")}
    assert clone.changed() == written | made | pages | rules

    spec = clone.definition("dynamographdeployments")["openAPIV3Schema"]["properties"]["spec"]
    assert spec["properties"]["backendFramework"]["enum"] == ["abacus", "sglang", "trtllm", "vllm"]
    for page in pages:
        assert "`abacus`, `sglang`, `trtllm`, `vllm`." in (clone.root / page).read_text()
    named = GRAPH | {"spec": GRAPH["spec"] | {"backendFramework": "abacus"}}
    variables = given.variables(container(clone.render(named), "sums-worker"))
    assert variables["ABACUS"] == "main of 1 under nobody"
    profiled = {"model": "m", "backend": "abacus", "profilingConfig": {"profilerImage": "i", "config": {}}}
    assert "backend: abacus" in clone.python("-m", "krm_fn", "render", "-", text=json.dumps(REQUEST | {"spec": profiled}))

    clone.test(
        "tests/base/test_registry.py",
        "tests/schemas/generate/test_generate.py",
        "tests/schemas/finding_pages/test_codes.py",
        "tests/render/engines",
    )
    clone.test("tests/examples", "-k", "abacus and not command and not file and not hash and not again")  # those need bash


def test_a_new_component_type_is_one_file(clone):
    (clone.root / "krm_fn/render/kinds/types/ledger.py").write_text(toys.TYPE)
    clone.generate()
    made = {"krm_fn/render/schema/schema.json", *definitions("dynamographdeployments", "dynamocomponentdeployments")}
    pages = {f"docs/reference/{kind}{version}.md" for kind in COMPONENTS for version in ("", "v1beta1")}
    assert clone.changed() == {"krm_fn/render/kinds/types/ledger.py"} | made | pages
    for page in pages:
        assert "`ledger`" in (clone.root / page).read_text()
    found = clone.render(given.graph({"Books": given.service("ledger")}, name="sums", namespace="demo"))
    assert container(found, "sums-books")["command"] == ["ledger"]
    clone.test("tests/base/test_registry.py", "tests/schemas/generate/test_generate.py", "tests/schemas/finding_pages/test_codes.py")


SAID = "{revision} is not the revision of a model; write main"
PAGE = """
DYN079:
  title: A revision that no model has
  message: v2 is not the revision of a model; write main
  means: >-
    A model has one revision here.
  fix: >-
    Write main.
"""
TWIN = """
    model_config = base.rules(
        base.Rule(codes.OLD_REVISION, 'self.?revision.orValue("main") == "main"', "revision", words={"revision": "this"})
    )

    name: str
    \"\"\"The base model's name"""
CHECK = """

def check_revision(plan: ComponentPlan) -> Iterator[Result]:
    yield rule_messages.error(codes.OLD_REVISION, plan.ref, plan.at("component"), revision="v2")
"""


def test_the_sentence_of_a_new_rule_is_written_once(clone):
    """The rule, its twin in CEL and the page of its code: three places, and one of them has the sentence."""
    clone.edit(
        "render/schema/rule_messages.py",
        "codes.MULTINODE_ENDPOINT_PICKER:",
        f'codes.OLD_REVISION: "{SAID}",\n    codes.MULTINODE_ENDPOINT_PICKER:',
    )
    last = 'FILE_TOO_LARGE = "DYN075"\n'
    clone.edit("base/codes.py", last, f'{last}OLD_REVISION = "DYN079"\n')
    pages = clone.root / "krm_fn/schemas/finding_pages/texts/graphs.yaml"
    pages.write_text(pages.read_text() + PAGE)
    clone.edit("schemas/api/v1alpha1/component.py", '\n    name: str\n    """The base model\'s name', TWIN)
    clone.edit("render/rules/component_rules.py", "\n\ndef _check_names(", f"{CHECK}\n\ndef _check_names(")
    names = "    yield from _check_names(plan)\n"
    clone.edit("render/rules/component_rules.py", names, names + "    yield from check_revision(plan)\n")
    clone.generate()

    twin = "DYN079 this is not the revision of a model; write main"
    service = clone.definition("dynamographdeployments")["openAPIV3Schema"]["properties"]["spec"]["properties"]["services"]
    (rule,) = service["additionalProperties"]["properties"]["modelRef"]["x-kubernetes-validations"]
    assert (rule["message"], rule["fieldPath"]) == (twin, ".revision")
    assert (clone.root / "docs/errors/DYN079.md").read_text().startswith("# DYN079 old-revision: A revision that no model has\n")
    assert twin.partition(" ")[2] in (clone.root / "docs/reference/dynamographdeployment.md").read_text()
    named = clone.python(
        "-c", f"import sys; from krm_fn.render import expand, config; print(expand.expand([{GRAPH!r}], config.Config()).results)"
    )
    assert "v2 is not the revision of a model; write main" in named
    written = [path for path in clone.root.joinpath("krm_fn").rglob("*.py") if "is not the revision of a model" in path.read_text()]
    assert [path.name for path in written] == ["rule_messages.py"]
    clone.test("tests/schemas/finding_pages/test_pages.py", "-k", "DYN079 or have or every_page or texts")
