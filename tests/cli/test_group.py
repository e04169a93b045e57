"""`krm-fn` with arguments: help, version, shell completion, and wrong usage."""

import re
import shutil
import subprocess
import sys

import click
import help_texts
import pytest

import krm_fn
from krm_fn import cli
from tests.cli import console
from tests.support.cases import cases
from tests.testbed import programs


def test_version():
    done = console.program("--version")
    assert (done.code, done.out) == (0, f"krm-fn {krm_fn.__version__}\n")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_comes_before_stdin_is_read(option):
    """`kpt fn doc --image` runs the image with --help and gives it an open stdin."""
    with subprocess.Popen(
        [sys.executable, "-m", "krm_fn", option], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout
        text = running.stdout.read()
        assert running.wait(timeout=300) == 0
    for said in (
        "kustomize build --enable-alpha-plugins --enable-exec",
        "kpt fn eval PACKAGE --exec krm-fn",
        "krm-fn render graph.yaml",
        "render ",
        "check ",
    ):
        assert said in text


def test_the_help_lists_each_command_once_and_whole():
    """Under its topic, in a terminal of 80 columns."""
    text = console.run("--help").out
    assert "..." not in text.partition("Options:")[2]
    for name in cli.group.list_commands(click.Context(cli.group)):
        assert len(re.findall(rf"^  {name} ", text, re.MULTILINE)) == 1
    assert [title for title in cli.TOPICS.values() if f"\n{title}:\n" not in text] == []


def test_the_summaries_are_those_of_the_commands():
    """`make generate` writes the file. A command that is missing there is in the help too."""
    assert (programs.ROOT / "krm_fn" / cli.SUMMARIES).read_text() == help_texts.summaries()


@pytest.mark.parametrize(
    ("arguments", "words"), [(["--help"], ""), (["help", "review"], ""), ([], "krm-fn c")], ids=["help", "topic", "TAB"]
)
def test_the_help_and_a_completion_import_no_command(arguments, words, monkeypatch):
    """To import all commands takes longer than a render."""
    monkeypatch.setenv("PYTHONPATH", str(programs.ROOT))
    if words:
        for name, value in (("_KRM_FN_COMPLETE", "bash_complete"), ("COMP_WORDS", words), ("COMP_CWORD", "1")):
            monkeypatch.setenv(name, value)
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "krm_fn", *arguments], capture_output=True, text=True, check=True)
    assert "check" in done.stdout or "diff" in done.stdout
    assert "krm_fn.cli" in done.stderr
    assert re.findall(r"krm_fn\.cli\.(?!help_)\w+_command", done.stderr) == []


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        *((topic, f"{title}:\n") for topic, title in cli.TOPICS.items()),
        ("kustomize", "kind: DynamoRender"),
        ("kpt", "kpt fn render PACKAGE --allow-exec"),
        ("diff", "Usage: krm-fn diff [OPTIONS]"),
    ],
)
def test_help_explains_a_topic_or_a_command(topic, said):
    done = console.run("help", topic)
    assert (done.code, said in done.out) == (0, True), done.out


def test_help_without_a_topic_is_the_help_of_the_program():
    assert console.run("help").out == console.run("--help").out


@pytest.mark.parametrize(("topic", "said"), [("reveiw", "did you mean 'review'?"), ("x", "write one of author, review, operate")])
def test_help_names_topics_for_an_unknown_one(topic, said):
    done = console.run("help", topic)
    assert (done.code, said in done.err) == (2, True), done.err


@pytest.mark.parametrize("verb", ["render", "check", "explain", "completion", "help"])
def test_every_verb_has_a_help_with_an_example(verb):
    done = console.run(verb, "--help")
    assert done.code == 0
    assert f"krm-fn {verb}" in done.out.split("\n", 2)[2]
    assert all(len(line) <= 100 for line in done.out.splitlines())


WRONG = [
    ("an unknown verb", ["rendr"]),
    ("an unknown option", ["--verbose"]),
    ("an option of a verb", ["render", "--prune"]),
    ("a shell", ["completion", "tcsh"]),
]


@cases(("reason", "arguments"), WRONG)
def test_wrong_usage_is_exit_code_2_with_words_on_stderr(reason, arguments):
    done = console.program(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "krm-fn" in done.err
    assert "Traceback" not in done.err


SLIPS = [("rendr", "render"), ("chek", "check"), ("expalin", "explain"), ("schemas", "schema")]


@pytest.mark.parametrize(("typed", "meant"), SLIPS)
def test_a_misspelt_verb_is_answered_with_the_nearest_one(typed, meant):
    assert f"No such command '{typed}'. Did you mean '{meant}'?" in console.run(typed).err


def test_a_verb_like_no_other_gets_no_suggestion():
    done = console.run("xyzzy")
    assert done.code == 2
    assert "Did you mean" not in done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_asks_the_program(shell):
    done = console.run("completion", shell)
    assert done.code == 0
    assert f"_KRM_FN_COMPLETE={shell}_complete" in done.out


ASKED = [
    ("verbs", "krm-fn re", "1", "render"),
    ("options", "krm-fn check --fo", "2", "--format"),
    ("choices", "krm-fn check --format j", "3", "json"),
    ("codes", "krm-fn explain dyn40", "2", "DYN402"),
]


@cases(("reason", "words", "index", "answer"), ASKED)
def test_a_shell_that_completes_gets_answers(reason, words, index, answer):
    """The script starts the program without arguments, which must not be taken for the function."""
    done = console.program(stdin="", COMP_WORDS=words, COMP_CWORD=index, _KRM_FN_COMPLETE="bash_complete")
    assert done.code == 0
    assert f"plain,{answer}" in done.out.splitlines()


def test_the_bash_script_is_bash():
    script = console.run("completion", "bash").out
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_bug_is_a_sentence_and_no_traceback(tmp_path):
    """A broken installation stands for any bug: the page of a code has no fields."""
    copy = shutil.copytree(programs.ROOT / "krm_fn", tmp_path / "krm_fn")
    for path in (copy / "schemas" / "finding_pages" / "texts").iterdir():
        path.write_text("DYN021: {}\n")
    done = console.program("explain", "DYN021", folder=tmp_path, PYTHONPATH=str(tmp_path))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error DYN019 TypeError: ")
    assert f"bug in krm-fn {krm_fn.__version__}" in done.err
    assert "Traceback" not in done.err
