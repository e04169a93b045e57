"""The nodes of rendered groups meet: by the rendered flags, names and variables, in each release, and again after a loss.

The engines have no model (`tests/running/engines`). The names, network, variables and restarts are real, and so is the controller of
LeaderWorkerSets; TensorRT-LLM's job is Open MPI over sshd.
"""

from __future__ import annotations

import itertools
import subprocess
from typing import NamedTuple

import pytest
import runtimes

from krm_fn.render.resolve import release_choice
from tests.running import bed as beds
from tests.running import cliques, groups, leader_worker_sets
from tests.running.groups import Case
from tests.testbed import programs
from tests.testbed.place import Place

LWS, GROVE = "LeaderWorkerSet", "PodCliqueSet"
CASES = [
    Case("vllm-mp", "1.5", LWS, 2, root=False, in_shell=False),
    Case("vllm-mp", "1.6", LWS, 2, root=True, in_shell=False),
    Case("vllm-mp", "1.6", GROVE, 3, root=True, in_shell=True),
    Case("vllm-ray", "0.9", LWS, 3, root=True, in_shell=False),
    Case("vllm-ray", "1.5", GROVE, 2, root=True, in_shell=True),
    Case("vllm-ray", "1.6", LWS, 2, root=False, in_shell=False),
    Case("vllm-data", "0.9", LWS, 2, root=True, in_shell=True),
    Case("vllm-data", "1.5", LWS, 3, root=False, in_shell=False),
    Case("vllm-data", "1.6", GROVE, 2, root=False, in_shell=False),
    Case("sglang", "0.9", GROVE, 2, root=True, in_shell=False),
    Case("sglang", "1.5", LWS, 3, root=False, in_shell=True),
    Case("sglang", "1.6", LWS, 2, root=True, in_shell=False),
    Case("trtllm", "0.9", LWS, 2, root=True, in_shell=False),
    Case("trtllm", "0.9", GROVE, 2, root=False, in_shell=False),
    Case("trtllm", "1.5", LWS, 3, root=False, in_shell=False),
    Case("trtllm", "1.6", GROVE, 3, root=True, in_shell=True),
]


MORE = [
    Case("vllm-mp", "1.5", GROVE, 2, root=False, in_shell=True),
    *(Case("vllm-ray", release, GROVE, 2, root=False, in_shell=False) for release in ("0.9", "1.6")),
    Case("vllm-ray", "1.5", LWS, 2, root=False, in_shell=True),
    *(Case("vllm-data", release, GROVE, 2, root=False, in_shell=True) for release in ("0.9", "1.5")),
    Case("vllm-data", "1.6", LWS, 2, root=False, in_shell=True),
    Case("sglang", "0.9", LWS, 2, root=False, in_shell=False),
    *(Case("sglang", release, GROVE, 2, root=False, in_shell=False) for release in ("1.5", "1.6")),
    Case("trtllm", "1.5", GROVE, 2, root=False, in_shell=True),
    Case("trtllm", "1.6", LWS, 2, root=False, in_shell=True),
]
"""The other engines, workloads and releases: their groups meet once. They share all code with the cases above, which cover the pairs."""
ENGINES = {
    "vllm-mp": "vLLM, processes of its own",
    "vllm-ray": "vLLM, Ray",
    "vllm-data": "vLLM, data parallel",
    "sglang": "SGLang",
    "trtllm": "TensorRT-LLM",
}
EXCEPTIONS = {("mode", "release"): {("vllm-mp", "0.9")}}
"""Pairs that do not exist: the operator 0.9 spreads one vLLM engine over nodes with Ray only."""


def params(*cases):
    """Cases with their marks."""
    for case in cases:
        by = "Open MPI over sshd" if case.engine == "trtllm" else "engines without a model"
        by = f"{by}, {'the controller of LeaderWorkerSets' if case.workload == LWS else 'pods as Grove makes them'}"
        mark = pytest.mark.ran(workload=case.workload, engine=ENGINES[case.mode], release=case.release, result="met", by=by)
        yield pytest.param(case, id=case.name, marks=mark)


in_each_case = pytest.mark.parametrize("case", list(params(*CASES)))


@pytest.fixture(scope="module")
def lab(can_run, tmp_path_factory):
    """A control plane with the controller of LeaderWorkerSets, and a node with the engines."""
    for name in ("sshd", "mpirun"):
        programs.path(name)
    with beds.started(tmp_path_factory, gpus=500) as running, leader_worker_sets.running(running.plane, tmp_path_factory.mktemp("lws")):
        running.node.images.update(groups.images(tmp_path_factory.mktemp("images")))
        yield running


@pytest.fixture(scope="module")
def places(lab, tmp_path_factory):
    """The namespaces of all cases, with one group each, applied at once."""
    keys = _keys(tmp_path_factory.mktemp("keys"))
    made = {case: Place(lab.plane, lab.plane.namespace(case.name), "nvidia.com/v1beta1") for case in (*CASES, *MORE)}
    for case, here in made.items():
        here.apply([keys, *case.objects(here)])
    return made


@pytest.fixture(scope="module")
def without_follower(lab, places):
    """The containers that were killed: the last follower of each group that had met."""
    return {case: _kill(lab, case, places[case], -1) for case in CASES if not _problem(lab, case, places[case])}


@pytest.fixture(scope="module")
def without_leader(lab, places, without_follower):
    """The containers that were killed: the leader of each group that had met again."""
    return {case: _kill(lab, case, places[case], 0) for case in CASES if not _problem(lab, case, places[case])}


@pytest.fixture(scope="module")
def scaled(lab, places, without_leader):
    """The pods of each group that had met again, before its graph got two replicas."""
    before = {case: groups.by_group(places[case]) for case in CASES if not _problem(lab, case, places[case])}
    for case, pods in before.items():
        present = {pod["metadata"]["name"] for group in pods for pod in group}
        wanted = case.objects(places[case], replicas=2)
        places[case].apply(each for each in wanted if each["kind"] != "Pod" or each["metadata"]["name"] not in present)
    return before


@pytest.mark.parametrize("case", list(params(*CASES, *MORE)))
def test_a_group_meets(case, places, lab):
    """All ranks are there once, at the rendered address and port of their leader, and all pods are ready by their own probes."""
    assert _problem(lab, case, places[case]) == ""


@in_each_case
def test_a_group_meets_again_without_a_follower(case, places, without_follower, lab):
    """The nodes that are left end by themselves; a LeaderWorkerSet makes the whole group anew, and under Grove containers restart."""
    assert _problem(lab, case, places[case], but=without_follower[case]) == ""


@in_each_case
def test_a_group_meets_again_without_its_leader(case, places, without_leader, lab):
    """As without a follower."""
    assert _problem(lab, case, places[case], but=without_leader[case]) == ""


@in_each_case
def test_a_second_group_meets_on_its_own(case, places, scaled, lab):
    """With two replicas, both groups have all ranks of their own pods, and the first one runs on."""
    here, (first,) = places[case], scaled[case]
    assert _problem(lab, case, here, replicas=2) == ""
    assert [pod["metadata"]["uid"] for pod in groups.by_group(here)[0]] == [pod["metadata"]["uid"] for pod in first]


@pytest.fixture
def slow_followers(lab, tmp_path, request):
    """A group of an MPI job whose followers start sshd only when the Service `gate` exists; `wait` says if the leader waits for them."""
    case = Case("trtllm", "1.5", LWS, 2, root=True, in_shell=False)
    here = Place(lab.plane, lab.plane.namespace(f"slow-{request.node.callspec.id}"), "nvidia.com/v1beta1")
    objects = case.objects(here)
    (template,) = [each["spec"]["leaderWorkerTemplate"] for each in objects if each["kind"] == LWS]
    if not request.param:
        for role in ("leaderTemplate", "workerTemplate"):
            del template[role]["spec"]["initContainers"]
    follower = template["workerTemplate"]["spec"]
    gate = {
        "name": "gate",
        "image": follower["containers"][0]["image"],
        "command": ["sh", "-c", "until getent hosts gate; do sleep 0.2; done"],
    }
    follower["initContainers"] = [*follower.get("initContainers", ()), gate]
    here.apply([_keys(tmp_path), *objects])
    yield case, here
    here.kubectl("delete", "leaderworkersets", "--all")


@pytest.mark.parametrize("slow_followers", [pytest.param(False, id="without-wait")], indirect=True)
def test_a_group_is_made_anew_if_its_leader_is_early(slow_followers, lab):
    """Without the init container of docs/status.md: mpirun fails while a follower has no sshd, and the whole group goes."""
    _, here = slow_followers
    before = {pod["metadata"]["uid"] for pod in _first_group(lab, here)}

    def made_anew():
        uids = {pod["metadata"]["uid"] for pod in here.listed("Pod")}
        return len(uids) == len(before) and not uids & before

    lab.node.eventually(made_anew, here.namespace)


@pytest.mark.parametrize("slow_followers", [pytest.param(True, id="with-wait")], indirect=True)
def test_a_leader_can_wait_for_its_followers(slow_followers, lab):
    """With the init container of docs/status.md, the first group meets, and no container restarts."""
    case, here = slow_followers
    first = _first_group(lab, here)
    names = [(pod["metadata"]["name"], init) for pod, init in zip(first, ("wait", "gate"), strict=True)]
    lab.node.eventually(lambda: all(init in lab.node.pids(here.namespace, pod) for pod, init in names), here.namespace)
    gate = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "gate"}, "spec": {"ports": [{"port": 80}]}}
    here.apply([gate])
    assert _problem(lab, case, here) == ""
    (pods,) = groups.by_group(here)
    assert [pod["metadata"]["uid"] for pod in pods] == [pod["metadata"]["uid"] for pod in first]
    assert [status["restartCount"] for pod in pods for status in pod["status"]["containerStatuses"]] == [0, 0]


@pytest.mark.parametrize("pair", list(itertools.combinations(Case._fields, 2)), ids=" and ".join)
def test_cases_cover_the_pairs(pair):
    """Each value of a field runs with each value of another, but those that the table of exceptions names."""
    seen = {tuple(getattr(case, name) for name in pair) for case in CASES}
    values = [{getattr(case, name) for case in CASES} for name in pair]
    assert set(itertools.product(*values)) - seen == EXCEPTIONS.get(pair, set())


def _first_group(lab, here):
    """The two pods of the only group, as soon as both exist."""
    listed: list[list[groups.Object]] = []

    def exists():
        listed[:] = groups.by_group(here)
        return [len(pods) for pods in listed] == [2]

    lab.node.eventually(exists, here.namespace)
    return listed[0]


def test_cases_cover_the_releases():
    """Each engine runs on each workload under each release whose runtime is installed, but those that the table of exceptions names."""
    seen = {(case.mode, case.workload, f"v{case.release}") for case in (*CASES, *MORE)}
    installed = {f"v{release.rpartition('.')[0]}" for release in runtimes.RELEASES}
    assert installed <= release_choice.RELEASES.keys()
    every = set(itertools.product(ENGINES, (LWS, GROVE), installed))
    assert every - seen == {("vllm-mp", workload, "v0.9") for workload in (LWS, GROVE)}


class _Killed(NamedTuple):
    """A container that was killed, by its pod and its start, and the pods of its group before."""

    pod: str
    started: int | None
    uids: set[str]


def _kill(lab, case, here, index):
    """Kill the main container of a pod of the only group."""
    (pods,) = groups.by_group(here)
    name = pods[index]["metadata"]["name"]
    killed = _Killed(name, groups.started(here, lab.node, name), {pod["metadata"]["uid"] for pod in pods})
    lab.node.kill(here.namespace, name, "main")
    return killed


def _problem(lab, case, here, replicas=1, but=None):
    """The reason why the groups have not met in five minutes, with the story of the pods; empty if they have. `but` must have ended."""
    missing = [""]

    def met():
        cliques.release(here)
        missing[0] = groups.problem(case, here, lab.node, replicas)
        if but and not missing[0]:
            missing[0] = _remains(lab, case, here, but)
        return not missing[0]

    try:
        lab.node.eventually(met, here.namespace, 300)
    except AssertionError as failed:
        return f"{missing[0]}\n{failed}"
    return ""


def _remains(lab, case, here, killed):
    """The part of a group that should have ended with a container: that container, and all pods of a LeaderWorkerSet; empty if none."""
    uids = {pod["metadata"]["uid"] for pod in here.listed("Pod")}
    if groups.started(here, lab.node, killed.pod) == killed.started:
        return f"{killed.pod} has not ended"
    if case.workload == LWS:
        return "pods of the group before" if uids & killed.uids else ""
    return "" if uids == killed.uids else "other pods than before"


def _keys(folder):
    """The Secret with the key pair of MPI jobs, which the platform provides."""
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f", str(folder / "key")], check=True)
    texts = {"private.key": (folder / "key").read_text(), "private.key.pub": (folder / "key.pub").read_text()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": groups.KEYS}, "stringData": texts}
