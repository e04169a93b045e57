"""The scripts of a profiling pod, run by a shell with the real kubectl, the shipped rights and a real API server."""

from __future__ import annotations

import copy
import hashlib
import re
import shutil
from pathlib import Path

import pytest

from krm_fn.render import labels, names
from krm_fn.render.manifests.profiling import profiler_scripts
from tests.support import given, pods
from tests.support.cases import cases
from tests.testbed import server

CHECK, PROFILER, COPIER = "output-check", "profiler", "output-copier"
REAL, MOCKER = names.PROFILED, names.PROFILED_MOCKER
GRAPH = "kind: DynamoGraphDeployment\nspec: {}\n"


def writes(**files):
    """A profiler that writes these files. The text of a file is in a file beside it, because no shell keeps every byte of its script."""
    return "\n".join(f"cp '../{name}' {name}.yaml" for name in files) or ":"


def profiled(space, job, **files):
    """Run a pod whose profiler writes these bytes, by file name without its ending."""
    for name, content in files.items():
        (space.node.data.parent / name).write_bytes(content)
    return space.node.run(job, writes(**files))


def codes(ended):
    return [(each.name, each.code) for each in ended]


def output(real, mocker=None):
    return {REAL.removesuffix(".yaml"): real, **({} if mocker is None else {MOCKER.removesuffix(".yaml"): mocker})}


DONE = [(CHECK, 0), (PROFILER, 0), (COPIER, 0)]
GOOD = [
    # reason, the profiler's files
    ("one file", output(GRAPH.encode())),
    ("two files", output(GRAPH.encode(), b"kind: Mocker\n")),
    ("no newline at the end of the first of two files", output(b"a: 1", b"b: 2")),
    ("newlines at the end", output(b"a: 1\n\n\n")),
    ("quotes, dollars and backslashes", output(b"a: \"$HOME '$(id)' `id` \\n ${X} %s\"\n", b"'")),
    ("letters of other languages", output("model: Modèle-模型 🚀\n".encode())),
    ("tabs and carriage returns", output(b"a: 1\r\n\tb\r\n")),
    ("an empty file", output(b"")),
    ("the largest ConfigMap", output(b"a" * (names.CONFIG_MAP_LIMIT - 10), b"b" * 10)),
]


@cases("files", GOOD)
def test_the_output_arrives_byte_by_byte(files, space):
    request, job = space.request()
    space.create(request)
    assert codes(profiled(space, job, **files)) == DONE
    made = space.output()
    assert {key: text.encode() for key, text in made["data"].items()} == {f"{name}.yaml": content for name, content in files.items()}
    assert "binaryData" not in made
    assert labels.annotations(made) == {
        labels.PROFILE_HASH: labels.annotations(request)[labels.PROFILE_HASH],
        labels.OUTPUT_HASH: hashlib.sha256(b"".join(files.values())).hexdigest(),
    }


def test_the_output_is_labelled_as_in_the_reference_and_goes_with_the_request(space):
    request, job = space.request()
    space.create(request)
    assert codes(profiled(space, job, **output(b"a: 1"))) == DONE
    made = space.output()
    (stored,) = space.plane.client.get(f"/apis/nvidia.com/v1alpha1/namespaces/{space.name}/dynamographdeploymentrequests")["items"]
    assert labels.of(made) == {"dgdr.nvidia.com/name": "chat", "nvidia.com/managed-by": "dynamo-operator"}
    owner = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentRequest", "name": "chat", "controller": False}
    assert made["metadata"]["ownerReferences"] == [{**owner, "uid": stored["metadata"]["uid"]}]


@pytest.mark.parametrize("reason", ["the request is not in the cluster", "the account may not read requests"])
def test_a_request_that_cannot_be_found_does_not_lose_the_output(reason, space):
    request, job = space.request()
    if "may not" in reason:
        space.create(request)
        space.without("get", "dynamographdeploymentrequests", "nvidia.com")
    ended = profiled(space, job, **output(b"a: 1"))
    assert codes(ended) == DONE
    assert "ownerReferences" not in space.output()["metadata"]
    assert ("cannot be read" in ended[-1].said) == ("may not" in reason)


def test_a_failed_profiler_fails_the_pod_and_publishes_nothing(space):
    _, job = space.request()
    ended = space.node.run(job, f"echo 'kind: Half' >{REAL}; exit 3")
    assert codes(ended) == [(CHECK, 0), (PROFILER, 3)]
    assert space.output() is None


def test_a_slow_profiler_is_waited_for(space):
    """The output is that of the end, not what the profiler writes on its way."""
    _, job = space.request()
    assert codes(space.node.run(job, f"echo 'a: 1' >{REAL}; sleep 1; echo 'a: 2' >{REAL}")) == DONE
    assert space.output()["data"] == {REAL: "a: 2\n"}


TOO_MUCH = f"head -c {names.CONFIG_MAP_LIMIT} /dev/zero | tr '\\0' a >{REAL}; printf b >{MOCKER}"
BAD = [
    # reason, profiler, exit code, what the message says
    ("no output", ":", profiler_scripts.CODES["missing"], f"wrote no .*/{REAL}"),
    ("only the file of the mocker", f"echo a >{MOCKER}", profiler_scripts.CODES["missing"], f"wrote no .*/{REAL}"),
    ("a folder in the place of the output", f"mkdir {REAL}", profiler_scripts.CODES["unreadable"], "is no file that can be read"),
    (
        "a folder in the place of the mocker's output",
        f"echo a >{REAL}; mkdir {MOCKER}",
        profiler_scripts.CODES["unreadable"],
        f"{MOCKER} is no file",
    ),
    (
        "one byte more than a ConfigMap holds",
        TOO_MUCH,
        profiler_scripts.CODES["too_large"],
        f"{names.CONFIG_MAP_LIMIT + 1} bytes.*{names.CONFIG_MAP_LIMIT} bytes",
    ),
    ("no UTF-8", f"printf '\\377' >{REAL}", profiler_scripts.CODES["unreadable"], "not UTF-8"),
    (
        "a file of the mocker that is no UTF-8",
        f"echo a >{REAL}; printf '\\303\\050' >{MOCKER}",
        profiler_scripts.CODES["unreadable"],
        "not UTF-8",
    ),
]


@cases(("profiler", "code", "said"), BAD)
def test_output_that_cannot_be_published_ends_with_its_own_code(profiler, code, said, space):
    _, job = space.request()
    ended = space.node.run(job, profiler)
    assert codes(ended) == [(CHECK, 0), (PROFILER, 0), (COPIER, code)]
    assert re.search(said, ended[-1].said)
    assert space.output() is None


def test_a_second_run_suspends_its_job_and_profiles_nothing(space):
    request, job = space.request()
    space.create(request)
    assert codes(profiled(space, job, **output(b"a: 1"))) == DONE
    space.create(job)
    (space.node.data / REAL).write_text("kept: true\n")
    check = space.node.start(pods.containers(job)[0])
    server.eventually(lambda: space.job()["spec"]["suspend"] or check.poll() is not None)
    assert check.poll() is None  # an end would start the profiler
    code, said = pods.terminate(check)
    assert code == 143
    assert "already holds the output of this profiling. Job profile-chat is suspended" in said
    assert (space.node.data / REAL).read_text() == "kept: true\n"
    assert space.output()["data"] == {REAL: "a: 1"}


def test_a_job_that_cannot_be_suspended_fails_with_its_own_code(space):
    _, job = space.request()
    assert codes(profiled(space, job, **output(b"a: 1"))) == DONE
    space.create(job)
    space.without("patch", "jobs", "batch")
    (ended,) = space.node.run(job, "exit 9")
    assert (ended.name, ended.code) == (CHECK, profiler_scripts.CODES["not_suspended"])
    assert "cannot be suspended. Let the service account patch Jobs." in ended.said
    assert not space.job()["spec"]["suspend"]


@pytest.mark.parametrize("verb", ["create", "patch"])
def test_rights_that_the_copier_lacks_are_found_before_the_profiler_runs(verb, space):
    _, job = space.request()
    space.without(verb, "configmaps")
    (ended,) = space.node.run(job)
    assert (ended.name, ended.code) == (CHECK, profiler_scripts.CODES["not_written"])
    assert f"may not {verb} ConfigMaps in namespace {space.name}" in ended.said


def test_a_program_that_the_image_lacks_is_found_before_the_profiler_runs(space, tmp_path):
    _, job = space.request()
    few = tmp_path / "programs"
    few.mkdir()
    for name in ("kubectl", "mktemp", "grep", "wc", "cut", "cat", "rm", "sleep"):
        (few / name).symlink_to(shutil.which(name, path=":".join(map(str, space.node.programs))))
    (ended,) = space.node._replace(programs=(few,)).run(job)
    assert (ended.name, ended.code) == (CHECK, profiler_scripts.CODES["no_program"])
    assert "The image has no sha256sum. Set profiling.copierImage" in ended.said


def test_files_of_an_earlier_run_are_not_taken_for_the_output(space):
    """They stay on the volume of `outputPVC`. Other files there stay."""
    _, job = space.request(outputPVC="profiles")
    for name in (REAL, MOCKER, "notes.txt"):
        (space.node.data / name).write_text("stale")
    assert codes(space.node.run(job)) == [(CHECK, 0), (PROFILER, 0), (COPIER, profiler_scripts.CODES["missing"])]
    assert [file.name for file in space.node.data.iterdir()] == ["notes.txt"]


def test_a_file_of_an_earlier_run_that_stays_is_an_error(space):
    _, job = space.request()
    (space.node.data / REAL).mkdir()
    (ended,) = space.node.run(job)
    assert (ended.name, ended.code) == (CHECK, profiler_scripts.CODES["not_removed"])


FOREIGN = given.item("ConfigMap", "dgdr-output-chat", data={"mine": "a"})


def foreign(space):
    return {**FOREIGN, "metadata": {**FOREIGN["metadata"], "namespace": space.name}}


def test_a_configmap_of_somebody_else_stops_the_job_before_the_profiler_runs(space):
    _, job = space.request()
    space.create(foreign(space))
    (ended,) = space.node.run(job)
    assert (ended.name, ended.code) == (CHECK, profiler_scripts.CODES["not_ours"])
    assert "is not the output of request chat" in ended.said
    assert space.output()["data"] == FOREIGN["data"]


def test_a_configmap_that_somebody_else_makes_meanwhile_is_not_overwritten(space):
    _, job = space.request()
    check, profiler, copier = pods.containers(job)
    assert [space.node.end(container, f"echo a >{REAL}").code for container in (check, profiler)] == [0, 0]
    space.create(foreign(space))
    ended = space.node.end(copier)
    assert ended.code == profiler_scripts.CODES["not_ours"], ended.said
    assert space.output()["data"] == FOREIGN["data"]


def test_another_profiling_replaces_the_output(space):
    """The output of an earlier profiling stays until then. What somebody has changed in it is overwritten."""
    _, first = space.request()
    _, second = space.request(profilerImage="registry.example/profiler:2")
    assert codes(profiled(space, first, **output(b"a: 1", b"m: 1"))) == DONE
    edited = copy.deepcopy(space.output())
    edited["metadata"].pop("managedFields")
    edited["data"][REAL] = "edited\n"
    space.create(edited)
    assert codes(space.node.run(second, "exit 1")) == [(CHECK, 0), (PROFILER, 1)]
    assert space.output()["data"] == {REAL: "edited\n", MOCKER: "m: 1"}
    assert codes(profiled(space, second, **output(b"a: 2"))) == DONE
    assert space.output()["data"] == {REAL: "a: 2"}
    assert labels.annotations(space.output())[labels.PROFILE_HASH] == labels.annotations(second)[labels.PROFILE_HASH]


def test_the_output_of_the_operator_is_replaced(space):
    """It has the label of the request and no hash."""
    _, job = space.request()
    theirs = foreign(space)
    theirs["metadata"]["labels"] = {"dgdr.nvidia.com/name": "chat", "nvidia.com/managed-by": "dynamo-operator"}
    space.create({**theirs, "data": {REAL: "old", MOCKER: "old"}})
    assert codes(profiled(space, job, **output(b"new"))) == DONE
    assert space.output()["data"] == {REAL: "new"}


FLAKY = """\
#!/bin/sh
case $* in
  *--local*|*--dry-run=client*) exec "{kubectl}" "$@" ;;
esac
echo "$*" >>"{calls}"
if [ "$(wc -l <"{calls}")" -le {failures} ]; then
  echo 'The connection to the server was refused' >&2
  exit 1
fi
exec "{kubectl}" "$@"
"""


def test_an_api_server_that_is_away_for_a_moment_is_asked_again(space, tmp_path, kubectl):
    """The pauses allow two failures of each command."""
    _, job = space.request()
    stand_in = tmp_path / "flaky"
    stand_in.mkdir()
    (stand_in / "kubectl").write_text(FLAKY.format(calls=tmp_path / "calls", failures=2, kubectl=kubectl))
    (stand_in / "kubectl").chmod(0o755)
    node = space.node._replace(programs=(stand_in, *space.node.programs))
    assert codes(node.run(job, f"rm ../calls; echo a >{REAL}")) == DONE
    assert space.output()["data"] == {REAL: "a\n"}


SHELLS = [shell for shell in (("dash",), ("bash", "--posix"), ("busybox", "sh")) if shutil.which(shell[0])]


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_every_shell_runs_the_scripts(shell, space, tmp_path):
    """With busybox, its own tools run too, as in the default image."""
    program = Path(str(shutil.which(shell[0])))
    programs = space.node.programs
    if program.name == "busybox":
        tools = tmp_path / "tools"
        tools.mkdir()
        for name in ("sha256sum", "mktemp", "grep", "wc", "cut", "cat", "rm", "sleep", "cp"):
            (tools / name).symlink_to(program)
        programs = (programs[0], tools)
    moved = space.on(space.node.of(programs, (str(program), *shell[1:])))
    request, job = moved.request()
    moved.create(request, job)
    assert codes(moved.node.run(job, "exit 3")) == [(CHECK, 0), (PROFILER, 3)]
    assert codes(moved.node.run(job)) == [(CHECK, 0), (PROFILER, 0), (COPIER, profiler_scripts.CODES["missing"])]
    assert codes(profiled(moved, job, **output(b"a: '$1'", "ü".encode()))) == DONE
    assert moved.output()["data"] == {REAL: "a: '$1'", MOCKER: "ü"}
    check = moved.node.start(pods.containers(job)[0])
    server.eventually(lambda: moved.job()["spec"]["suspend"] or check.poll() is not None)
    assert pods.terminate(check)[0] == 143
