"""The pre-commit hook and the GitHub Action for other repositories, run as a pipeline runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.testbed import comment_server as forges
from tests.testbed import programs

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hooks")]  # so that only one worker installs the command

ROOT = programs.ROOT
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: team}
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec: {mainContainer: {image: "registry.example/front:1.5.0"}}
"""
MISSPELT = GRAPH.replace("componentType", "componentTyp")


def git(folder, *arguments):
    subprocess.run([*GIT, "-C", folder, *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """This repository in one commit, as other repositories fetch it."""
    folder = tmp_path_factory.mktemp("source") / "repository"
    ignored = shutil.ignore_patterns(
        *(".git", ".venv", ".*_cache", ".hypothesis", "build", "*.egg-info", "__pycache__", "node_modules"),
        *("examples", "tests", "docs"),
    )
    shutil.copytree(ROOT, folder, ignore=ignored)
    git(folder, "init")
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "All")
    return folder


@pytest.fixture
def repository(tmp_path):
    """A user's repository: a graph, and YAML files that are not resources."""
    folder = tmp_path / "user"
    (folder / "graphs").mkdir(parents=True)
    (folder / "graphs" / "chat.yaml").write_text(GRAPH)
    (folder / "values.yaml").write_text("image: a\n")
    (folder / ".github").mkdir()
    (folder / ".github" / "ci.yaml").write_text("on: push\njobs: {}\n")
    git(folder, "init")
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "Begin")
    return folder


def test_the_pre_commit_hook_finds_what_is_wrong_before_the_commit(source, repository, tmp_path):
    """Slow: pre-commit creates an environment, as for a user."""
    hooks = f"repos:\n- repo: {source}\n  rev: HEAD\n  hooks:\n  - {{id: krm-fn-check, args: [--old, HEAD, .], verbose: true}}\n"
    (repository / ".pre-commit-config.yaml").write_text(hooks)
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    git(repository, "add", "--all")
    command = [sys.executable, "-m", "pre_commit", "run", "--color=never"]
    (repository / "graphs" / "chat.yaml").write_text(MISSPELT)
    git(repository, "add", "--all")
    refused = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert refused.returncode == 1, refused
    assert "graphs/chat.yaml:7:7: error DYN023" in refused.stdout
    assert "1 resource, 1 compared with HEAD" in refused.stdout
    (repository / "graphs" / "chat.yaml").write_text(GRAPH.replace("front:1", "front:2"))
    git(repository, "add", "--all")
    passed = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert passed.returncode == 0, passed
    assert "Passed" in passed.stdout


def test_the_hook_runs_for_what_may_hold_a_graph_only():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert set(hook["types_or"]) == {"yaml", "json"}
    assert hook["entry"].split()[0] == "krm-fn"


RUN = "a file of the checkout ran: "
HOSTILE = f"import os\nos.write(2, ('{RUN}' + __file__).encode())\nraise SystemExit(7)\n"
MODULES = ("pip", "setuptools", "wheel", "pkg_resources", "krm_fn", "yaml", "_yaml", "click", "pydantic", "sitecustomize", "usercustomize")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A checkout with a file and a package for each module that a line of the action can import. Each of them says that it ran."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in {*sys.stdlib_module_names, *MODULES}:
        (folder / f"{name}.py").write_text(HOSTILE)
        (folder / name).mkdir()
        for module in ("__init__.py", "__main__.py"):
            (folder / name / module).write_text(HOSTILE)
    (folder / "setup.py").write_text(HOSTILE)
    (folder / "graphs").mkdir()
    (folder / "graphs" / "chat.yaml").write_text(GRAPH)
    git(folder, "init")
    git(folder, "add", "graphs")
    git(folder, "commit", "--message", "Begin")
    (folder / "graphs" / "chat.yaml").write_text(GRAPH.replace("front:1", "front:2"))
    return folder


@pytest.fixture(scope="module")
def runner(source, hostile, tmp_path_factory):
    """A runner on which the action's first step has installed the command, in a hostile checkout."""
    temp = tmp_path_factory.mktemp("runner")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", ".")
        done = step("Install krm-fn", temp, source, hostile)
    assert RUN not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    return temp


def test_no_step_runs_a_file_of_the_checkout(runner, hostile, tmp_path, monkeypatch):
    """The fixture `runner` holds it for the first step. Whoever opens a pull request chooses the names of its files."""
    monkeypatch.setenv("PYTHONPATH", ".")
    checked = check(runner, hostile, paths="graphs", old="HEAD")
    with forges.running() as forge:
        for name, value in forge.github(tmp_path).items():
            monkeypatch.setenv(name, value)
        commented = comment_on(runner, hostile, tmp_path)
        assert len(forge.bodies) == 1
    assert (checked.returncode, commented.returncode) == (0, 0), checked.stderr + commented.stderr
    assert RUN not in f"{checked.stdout}{checked.stderr}{commented.stdout}{commented.stderr}"


def test_the_hostile_checkout_is_hostile(hostile):
    """Without isolation, its files run: otherwise the test above would hold nothing."""
    for module in ("venv", "pip", "krm_fn"):
        done = subprocess.run([sys.executable, "-m", module], cwd=hostile, capture_output=True, text=True, check=False)
        assert RUN in done.stderr


def step(name, temp, source, folder, changes="", **inputs):
    """Run one step of the action as a runner does: with expressions replaced, and with the same options of bash."""
    (found,) = [each for each in ACTION["runs"]["steps"] if each["name"] == name]
    known = {f"inputs.{key}": each["default"] for key, each in ACTION["inputs"].items()}
    known |= {f"inputs.{key.replace('_', '-')}": value for key, value in inputs.items()}
    known |= {"github.action_path": str(source), "runner.temp": str(temp), "inputs.python": sys.executable}
    known["inputs.old || github.event.pull_request.base.sha"] = known["inputs.old"] or "HEAD"
    known["steps.compare.outputs.changes"] = changes
    filled = {key: re.sub(r"\$\{\{ (.*?) \}\}", lambda match: known[match[1]], value) for key, value in found["env"].items()}
    script = Path(temp) / "step.sh"
    script.write_text(found["run"])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(command, cwd=folder, env={**os.environ, **filled}, capture_output=True, text=True, check=False, timeout=300)


def comment_on(runner, repository, temp, **inputs):
    """Runs the two steps that write a comment, the second one only if the first has an output. Returns the last one."""
    inputs = {"comment": "true", "paths": "graphs", "token": "secret", **inputs}
    output = temp / "output"
    output.write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITHUB_OUTPUT", str(output))
        compared = step("Compare", runner, "", repository, **inputs)
    changes = output.read_text().strip().removeprefix("changes=")
    return step("Comment", runner, "", repository, changes, **inputs) if changes else compared


def check(runner, repository, **inputs):
    return step("Check", runner, "", repository, **inputs)


def test_the_action_passes_what_is_right(runner, repository):
    done = check(runner, repository, paths="graphs")
    assert done.returncode == 0
    assert {line.partition(" ")[0] for line in done.stdout.splitlines()} == {"::notice"}  # about the version of the graph


def test_the_action_annotates_lines(runner, repository):
    (repository / "graphs" / "chat.yaml").write_text(MISSPELT)
    done = check(runner, repository)
    assert done.returncode == 1
    annotations = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
    assert annotations[0].startswith("::error file=graphs/chat.yaml,line=7,col=7,title=DYN023 Unknown field::DYN023 ")


def test_the_action_compares_with_a_revision(runner, repository):
    (repository / "graphs" / "chat.yaml").write_text(GRAPH.replace("Frontend:", "Front:"))
    allowed = check(runner, repository, old="HEAD", paths="graphs")
    refused = check(runner, repository, old="HEAD", paths="graphs", fixed_services="true")
    assert (refused.returncode, allowed.returncode) == (1, 0)
    assert "title=DYN402" in refused.stdout
    assert allowed.stdout.count("::warning ") == 2


def test_the_action_says_what_is_missing_to_compare(runner, repository):
    """A shallow clone lacks the base of a pull request."""
    done = check(runner, repository, old="0123456789abcdef", paths="graphs")
    assert done.returncode == 2
    assert "git cannot read that revision" in " ".join(done.stderr.split())


def test_the_action_writes_sarif(runner, repository):
    (repository / "graphs" / "chat.yaml").write_text(MISSPELT)
    done = check(runner, repository, sarif="findings.sarif")
    assert (done.returncode, done.stdout) == (1, "")
    (result, *_) = json.loads((repository / "findings.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "graphs/chat.yaml"


def test_the_action_takes_a_configuration_and_a_root(runner, repository):
    (repository / "render.yaml").write_text(
        "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: r}\nspec: {natsAdress: a}\n"
    )
    done = check(runner, repository, paths="graphs", config="render.yaml", root=".")
    assert done.returncode == 1
    assert "file=render.yaml,line=4" in done.stdout


@pytest.mark.parametrize("paths", ["graphs values.yaml", "graphs\nvalues.yaml\n"])
def test_the_action_takes_several_paths(paths, runner, repository):
    done = check(runner, repository, paths=paths)
    assert done.returncode == 1, "a file that is named must hold a resource"
    assert "file=values.yaml" in done.stdout


@pytest.mark.parametrize("name", ["paths", "config", "old", "root"])
def test_nothing_in_an_input_is_run(name, runner, repository):
    done = check(runner, repository, **{name: "$(touch pwned);`touch pwned`;*"})
    assert done.returncode == 2
    assert not (repository / "pwned").exists()


def test_the_action_leaves_out_what_is_excluded(runner, repository):
    for name in ("drafts", "old ones"):
        (repository / name).mkdir()
        (repository / name / "graph.yaml").write_text(MISSPELT.replace("name: chat", f"name: {name[:3]}"))
    assert check(runner, repository).stdout.count("::error ") >= 2
    assert check(runner, repository, exclude="drafts\nold*").returncode == 0
    assert check(runner, repository, exclude="$(touch pwned) drafts old*").returncode == 0
    assert not (repository / "pwned").exists()


@pytest.fixture
def pull(runner, repository, tmp_path, monkeypatch):
    """A job of a pull request: returns the server, and a function that runs the step which comments."""
    with forges.running() as forge:
        for name, value in forge.github(tmp_path).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))

        def comment(**inputs):
            return comment_on(runner, repository, tmp_path, **inputs)

        yield forge, comment


def test_the_action_keeps_one_comment(pull, repository):
    """No comment without a change, then one comment, which later says that nothing changes."""
    forge, comment = pull
    assert (comment().returncode, forge.bodies) == (0, [])
    (repository / "graphs" / "chat.yaml").write_text(GRAPH.replace("front:1", "front:2"))
    for _ in range(2):
        assert comment().returncode == 0
        (body,) = forge.bodies
        assert body.startswith("<!-- krm-fn diff -->\n### What the change does\n")
        assert "graphs/chat.yaml:" in body
    (repository / "graphs" / "chat.yaml").write_text(GRAPH)
    assert comment().returncode == 0
    assert "no object changes" in forge.bodies[0]


def test_the_action_comments_on_a_graph_that_does_not_render(pull, repository):
    forge, comment = pull
    (repository / "graphs" / "chat.yaml").write_text(MISSPELT)
    assert comment().returncode == 0
    assert "DYN023" in forge.bodies[0]


def test_the_action_comments_on_the_output_of_a_build(pull, repository):
    forge, comment = pull
    (repository / "graphs" / "chat.yaml").write_text(GRAPH.replace("front:1", "front:2"))
    assert comment(build="cat graphs/chat.yaml", comment_name="prod", paths="nowhere").returncode == 0
    assert forge.bodies[0].startswith("<!-- krm-fn prod -->\n")
    assert "`graphs/chat.yaml:" in forge.bodies[0]
    failed = comment(build="cat nowhere")
    assert (failed.returncode, len(forge.bodies)) == (1, 1)
    assert "No such file or directory" in failed.stderr


def test_the_action_says_what_is_missing_for_a_comment(pull, repository, tmp_path):
    """A base that is not fetched is an error. Without the right to write, the comparison is in the summary of the job."""
    forge, comment = pull
    (repository / "graphs" / "chat.yaml").write_text(GRAPH.replace("front:1", "front:2"))
    unknown = comment(old="0123456789abcdef")
    assert (unknown.returncode, forge.bodies) == (2, [])
    assert "git cannot read that revision" in " ".join(unknown.stderr.split())
    forge.status = 403
    refused = comment()
    assert (refused.returncode, forge.bodies) == (0, [])
    assert "::warning title=krm-fn::The comment was not written." in refused.stdout
    assert "pull-requests: write" in refused.stderr
    assert (tmp_path / "summary.md").read_text().startswith("### What the change does")


@pytest.mark.parametrize("name", ["paths", "config", "old", "exclude", "build", "comment_name"])
def test_nothing_in_an_input_of_a_comment_is_run(name, pull, repository):
    """The title of the pull request in the event is a command, too."""
    _, comment = pull
    (repository / "graphs" / "chat.yaml").write_text(GRAPH.replace("front:1", "front:2"))
    comment(**{name: "$(touch pwned);`touch pwned`;*"})
    assert not [*repository.rglob("pwned")]


ENVIRONMENTS = """\
process=$$
while [ "$process" != "$1" ]; do
  tr '\\0' '\\n' <"/proc/$process/environ"
  process=$(sed 's/.*) . //; s/ .*//' "/proc/$process/stat")
done >&2
exit 1
"""


def test_the_token_reaches_only_the_step_that_writes(pull, repository, tmp_path):
    """Not even the shell that starts the build has it: every program of a user can read the environment of the others in /proc."""
    _, comment = pull
    (repository / "graphs" / "chat.yaml").write_text(GRAPH.replace("front:1", "front:2"))
    script = tmp_path / "environments.sh"
    script.write_text(ENVIRONMENTS)
    done = comment(build=f"sh {script} {os.getpid()}")
    assert done.stderr.count("GITHUB_REPOSITORY=") > 2
    assert "secret" not in done.stderr


def test_the_action_comments_on_pull_requests_only():
    steps = {each["name"]: each for each in ACTION["runs"]["steps"]}
    for part in ("inputs.comment == 'true'", "github.event.pull_request", "!cancelled()", "steps.install.outcome == 'success'"):
        assert part in steps["Compare"]["if"]
    assert steps["Comment"]["if"] == "${{ !cancelled() && steps.compare.outputs.changes != '' }}"
    assert [name for name, each in steps.items() if "inputs.token" in str(each)] == ["Comment"]
    assert "uses" not in str([each.keys() for each in steps.values()])


def test_the_action_installs_files_of_known_hashes_only(source, tmp_path):
    """pip refuses a file with another hash from the package index. Slow: runs pip install."""
    copy = shutil.copytree(source, tmp_path / "source")
    requirements = copy / "tools" / "image" / "requirements.txt"
    name, _, rest = requirements.read_text().partition("click==")
    hashes, end, others = rest.partition("# via")
    requirements.write_text(f"{name}click=={re.sub('sha256:[0-9a-f]+', f'sha256:{0:064}', hashes)}{end}{others}")
    done = step("Install krm-fn", tmp_path, copy, tmp_path)
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not (tmp_path / "krm-fn" / "bin" / "krm-fn").exists()


def test_the_action_uses_every_input():
    used = set(re.findall(r"inputs\.([-\w]+)", (ROOT / "action.yml").read_text()))
    assert used == {*ACTION["inputs"]}
    assert "inputs." not in "".join(each["run"] for each in ACTION["runs"]["steps"]), "an expression in a script is run"
