"""Which words a shell changes: asked of dash and bash themselves."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from krm_fn.render.engines import _command_lines
from tests.support import container_commands, nodes
from tests.support.cases import cases
from tests.testbed import tier

DASH, BASH = (shutil.which(name) or name for name in ("dash", "bash"))
SHELLS = [[DASH], [BASH], [BASH, "--posix"]]
FILES = ["1", "a", "ab", "[a]", "m,n"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with files that patterns match, which is the home, too."""
    made = tmp_path_factory.mktemp("folder")
    for name in FILES:
        (made / name).touch()
    return made


def arrived(shell, line, folder):
    """The words that a program gets from a line in a shell; None if the shell refuses the line."""
    variables = {"HOME": str(folder), "PATH": "/nonexistent", "LC_ALL": "C.UTF-8"}
    text = f"printf '%s\\0' first {line} last"
    ran = subprocess.run([*shell, "-c", text], cwd=folder, env=variables, capture_output=True, check=False, timeout=300)
    return None if ran.returncode else ran.stdout.decode(errors="surrogateescape").split("\0")[:-1]


def changed(word, folder):
    return [shell for shell in SHELLS if arrived(shell, word, folder) != ["first", word, "last"]]


WORDS = [
    ("an empty word", "", "drops"),
    ("a blank", "my model", "splits"),
    ("a tab", "a\tb", "splits"),
    ("lines", "a\nb", "splits"),
    ("a single quote", "it's", "quotes"),
    ("two single quotes", "'a'", "quotes"),
    ("double quotes", '"a"', "quotes"),
    ("a backslash", r"a\b", "quotes"),
    ("a variable", "pa$word", "expands"),
    ("a variable in braces", "${HOME}", "expands"),
    ("a parameter by number", "a$1", "expands"),
    ("a parameter of the shell", "a$$", "expands"),
    ("a command in parentheses", "$(pwd)", "expands"),
    ("a command in backquotes", "`pwd`", "expands"),
    ("arithmetic", "$((1+1))", "expands"),
    ("arithmetic as bash has it", "$[1+1]", "expands"),
    ("parentheses", "a(b)", "operator"),
    ("two commands", "a;b", "operator"),
    ("a redirection", "a>b", "operator"),
    ("a pipe", "a|b", "operator"),
    ("the background", "a&b", "operator"),
    ("a comment", "#x", "comment"),
    ("a home", "~", "home"),
    ("a folder in a home", "~/m", "home"),
    ("a home in an assignment", "model=~/m", "home"),
    ("a home later in an assignment", "PATHS=/m:~/m", "home"),
    ("a pattern of one character", "/et?", "files"),
    ("a pattern of many", "/etc/pass*", "files"),
    ("a pattern of a set", "[ab]", "files"),
    ("a pattern of a bracket", "[]1]", "files"),
    ("braces with a comma", "{a,b}", "braces"),
    ("braces with a range", "x{1..3}", "braces"),
    ("a whole line, even if it names Dynamo", "-m dynamo.vllm --model m", "splits"),
    ("JSON", '{"a":1}', "quotes"),
    ("JSON without quotes", "[1,2]", "files"),
    ("a model", "Qwen/Qwen3-0.6B", ""),
    ("a number", "16", ""),
    ("a flag with a value", "--a=b,c:d", ""),
    ("an address", "http://host:8000/v1/%20@x", ""),
    ("a dollar sign alone", "a$", ""),
    ("a dollar sign before punctuation", "a$.b$,c$/d$:e$=f$%g", ""),
    ("a tilde inside", "a~b", ""),
    ("a tilde after a flag's equals sign", "--cache=~/m", ""),
    ("a tilde after a colon", "a:~/m", ""),
    ("a hash inside", "a#b", ""),
    ("one thing in braces", "{a}", ""),
    ("empty braces", "{}", ""),
    ("empty brackets", "[]", ""),
    ("a brace or a bracket alone", "{a,b]", ""),
    ("other punctuation", "!^+-_=@%:,./", ""),
    ("other letters", "模型é\u00a0", ""),
]


@cases(("word", "does"), WORDS)
def test_a_word_counts_as_changed_exactly_if_dash_or_bash_change_it(word, does, folder):
    assert bool(changed(word, folder)) == bool(does)
    assert does in _command_lines.change(word)
    assert bool(_command_lines.change(word)) == bool(does)


ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
LETTERS = st.sampled_from("""aA1 \t\n'"\\`$;&|<>()#~*?[]{},.!^=+-_@%:/""") | ANY


@given(word=st.text(LETTERS, max_size=8))
@example(word="--cache=~/m")
@example(word="a=b~")
@settings(max_examples=tier.number(100, 10), deadline=None)
def test_no_shell_changes_a_word_that_counts_as_unchanged(word, folder):
    """Words that count as changed are not run: a shell could do anything with them."""
    assert _command_lines.change(word) or changed(word, folder) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(LETTERS, max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(LETTERS, max_size=4), inner, max_size=3),
    max_leaves=6,
).filter(lambda value: isinstance(value, (dict, list)))


@given(value=JSON, blanks=st.sampled_from([None, 1]), raw=st.booleans())
@example(value={"name": "it's"}, blanks=None, raw=False)
@settings(max_examples=tier.number(60, 10), deadline=None)
def test_json_arrives_as_written(value, blanks, raw, folder):
    word = json.dumps(value, indent=blanks, ensure_ascii=not raw)
    line = _command_lines.shell_line([word], quoted=False)
    assert [arrived(shell, line, folder) for shell in SHELLS] == [["first", word, "last"]] * len(SHELLS)


LINES = [
    ("JSON in single quotes", ["--kv", '{"a": "b c"}'], """--kv '{"a": "b c"}'"""),
    ("an array", ['["a"]'], """'["a"]'"""),
    ("blanks around", [' {"a": 1}\n'], """' {"a": 1}\n'"""),
    ("a number of any length", [f"[{'1' * 5000}]"], f"'[{'1' * 5000}]'"),
    ("JSON that no shell changes", ["{}", "[]"], "{} []"),
    ("a JSON string is no object", ['"a"'], '"a"'),
    ("text that only begins like JSON", ['{"a": }', "[a b"], '{"a": } [a b'),
    ("brackets without an end", ["[" * 100_000], "[" * 100_000),
    ("any other word, as the reference writes it", ["$NAME", "a b", "it's"], "$NAME a b it's"),
]


@cases(("words", "line"), LINES)
def test_only_json_is_quoted_under_release_0_9(words, line):
    assert _command_lines.shell_line(words, quoted=False) == line


QUOTED = [
    ("a word without special characters", "Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B"),
    ("JSON", '{"a": "b c"}', r'''"{\"a\": \"b c\"}"'''),
    ("a blank", "my model", '"my model"'),
    ("a backslash", r"a\b", r'"a\\b"'),
    ("a backquote", "`pwd`", r'"\`pwd\`"'),
    ("a variable", "$NAME", r'"\$NAME"'),
    ("an exclamation mark", "a!", '"a!"'),
    ("brackets that match no file", "[]", '"[]"'),
    ("a single quote", "it's", '"it\'s"'),
    ("a reference for Kubernetes", "--at=$(POD_IP)", "'--at=$(POD_IP)'"),
    ("two dollar signs", "a$$b", "'a$$b'"),
    ("an operator", "a;b", '"a;b"'),
    ("a pattern", "*", '"*"'),
    ("a hash inside", "a#b", "a#b"),
    ("no character", "", '""'),
]


@cases(("word", "line"), QUOTED)
def test_every_word_is_quoted_under_release_1_5(word, line):
    """As the reference quotes it, wherever the word then arrives as written."""
    assert _command_lines.shell_line([word], quoted=True) == line


WITHOUT_SHELL = {"NAME": "a b", "QUOTED": '"$NAME"'}
"""Variables of the container. Kubernetes replaces references to them."""


@given(words=st.lists(st.text(st.sampled_from("""aA1 \t\n'"\\`$$(()){}[];&|<>#~*?!=-""") | ANY, max_size=8), min_size=1, max_size=3))
@example(words=["$(NAME)", "$(QUOTED)", "$$(NAME)"])
@example(words=["$(a", "b)"])
@example(words=["$(it's)", "'$(NAME"])
@example(words=["", "$$", "a$"])
@settings(max_examples=tier.number(100, 10), deadline=None)
def test_a_program_gets_quoted_words_as_without_a_shell(words, folder):
    """The line runs in dash, in bash, and in bash that another shell starts, as the MPI job does. Later references stay alive."""
    expected = ["first", *(container_commands.expanded(word, WITHOUT_SHELL) for word in words), "a b", "last"]
    line = f"{_command_lines.shell_line(words, quoted=True)} '$(NAME)'"
    once = container_commands.expanded(line, WITHOUT_SHELL)
    assert [arrived(shell, once, folder) for shell in SHELLS] == [expected] * len(SHELLS)
    nested = container_commands.expanded(shlex.quote(f"exec printf '%s\\0' first {line} last"), WITHOUT_SHELL)
    assert inside(nested, folder) == expected


def inside(argument, folder):
    """The words that a program gets from a line in bash, which another shell starts."""
    variables = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    ran = subprocess.run([DASH, "-c", f"{BASH} -c {argument}"], cwd=folder, env=variables, capture_output=True, check=False, timeout=300)
    return ran.stdout.decode(errors="surrogateescape").split("\0")[:-1]


VARIABLES = [
    ("a variable of the container", "$(WHERE)", [{"name": "WHERE", "value": "here"}], False),
    ("a variable whose value has a blank", "$(WHERE)", [{"name": "WHERE", "value": "over there"}], True),
    ("a variable without a value", "$(WHERE)", [{"name": "WHERE"}], True),
    ("a variable of another source", "$(where)", [{"name": "where", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}], True),
    ("a variable made from another one", "$(WHERE)", [{"name": "WHERE", "value": "$(POD_NAME)-x"}], False),
    ("a variable that the orchestrator sets", "$(LWS_LEADER_ADDRESS)", [], False),
    ("a variable in a longer word", "--at=$(POD_IP):80", [], False),
    ("a program", "$(hostname)", [], True),
    ("two dollar signs, of which Kubernetes makes one", "a$$b", [], True),
    ("two dollar signs at the end", "a$$", [], False),
    ("an escaped reference", "$$(WHERE)", [{"name": "WHERE", "value": "here"}], True),
]


@cases(("word", "env", "lost"), VARIABLES)
def test_kubernetes_expands_a_word_before_the_shell(word, env, lost):
    found = nodes.warned(nodes.worker(command=["python3", "-m", "dynamo.sglang"], args=["--x", word], env=env))
    assert found == ([("DYN166", "spec.services.Worker.extraPodSpec.mainContainer.args[1]")] if lost else [])


def test_the_message_says_what_the_shell_does_and_keeps_the_word_to_itself():
    written = nodes.worker(command=["python3", "-m", "dynamo.sglang"], args=["--password", "secret word"])
    (found,) = nodes.said(written)
    assert re.fullmatch("the worker starts through a shell .*, and that shell splits this word at blanks; write command: .*", found.message)
    assert "secret" not in found.message
