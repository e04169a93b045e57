"""A graph is `successful` exactly in those moments of an object's life in which all runs as the spec wants it."""

from __future__ import annotations

from krm_fn.render import labels
from krm_fn.syncer.status import DEFAULT_FEATURES, graph_status, replica_status
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.syncer.status import given, sequences

NAMES = {"A": "Available", "P": "Progressing", "U": "UpdateInProgress"}
SET, FRONT, GROUP = "demo", "demo-0-frontend", "demo-0-decode"
KINDS = {"set": ("PodCliqueSet", SET), "front": ("PodClique", FRONT), "group": ("PodCliqueScalingGroup", GROUP)}


def number(text):
    return None if text == "-" else int(text)


def rows(text):
    """The rows with the heading before them: (heading, cells, runs)."""
    heading = ""
    for line in text.strip().splitlines():
        if line.startswith("# "):
            heading = line.removeprefix("# ")
        else:
            cells = line.split()
            yield heading, [each for each in cells if each != "*"], cells[-1] == "*"


def states(entries, objects):
    """The states of a graph after each write, with the expected one: (place, state, message, runs)."""
    children, read = WorkloadIndex(), given.read(*entries)
    for place, resource, gone, runs in objects:
        observer = replica_status.get(resource["kind"])
        observation = observer.read(resource)
        if gone:
            children.drop(observation.key)
        else:
            children.put(observation)
        status = graph_status.of_graph(read, children, given.NOW, DEFAULT_FEATURES)
        yield place, status["state"], given.ready(status)["message"], runs


def sets():
    for index, (heading, cells, runs) in enumerate(rows(sequences.SETS)):
        wanted, generation, observed, replicas, ready, updated = (number(each) for each in cells[:6])
        conditions = [{**given.condition(name, letter in cells[6]), "reason": "AllGroupsReady"} for letter, name in NAMES.items()]
        counts = {"replicas": replicas, "readyReplicas": ready, "updatedReplicas": updated, "observedGeneration": observed}
        status = {"conditions": conditions, **{key: value for key, value in counts.items() if value}}  # zeros are left out
        resource = given.workload("LeaderWorkerSet", "demo-decode-0", status, generation=generation, replicas=wanted)
        yield f"{heading} ({index})", resource, False, runs


def cliques():
    for index, (heading, cells, runs) in enumerate(rows(sequences.CLIQUES)):
        kind, name = KINDS.get(cells[0]) or ("PodClique", f"{GROUP}-{cells[0][1]}-decode-{'ldr' if cells[0][0] == 'l' else 'wkr'}")
        marks = {} if kind == "PodCliqueSet" else {labels.PART_OF: SET}
        if cells[0] not in KINDS:
            marks[labels.GROVE_GROUP] = GROUP
        if len(cells) == 1:
            yield f"{heading} ({index})", given.workload(kind, name, marks=marks), True, runs
            continue
        wanted, generation, observed = (number(each) for each in cells[1:4])
        replicas, up, updated = (number(each) for each in cells[5:])
        field = "currentGenerationHash" if kind == "PodCliqueSet" else "currentPodCliqueSetGenerationHash"
        told = {
            "observedGeneration": observed,
            field: None if cells[4] == "-" else cells[4],
            "replicas": replicas,
            "readyReplicas" if kind == "PodClique" else "availableReplicas": up,
            "updatedReplicas": updated,
        }
        status = {key: value for key, value in told.items() if value is not None}
        yield f"{heading} ({index})", given.workload(kind, name, status, generation=generation, marks=marks, replicas=wanted), False, runs


def right(found):
    """Asserts every moment, and that both kinds of moments are among them."""
    found = list(found)
    wrong = [(place, state, message) for place, state, message, runs in found if (state == "successful") is not runs]
    assert wrong == []
    assert {runs for *_, runs in found} == {True, False}


def test_the_life_of_a_leader_worker_set():
    right(states([given.entry("Decode", "LeaderWorkerSet", "demo-decode-0")], sets()))


def test_the_life_of_grove_s_objects():
    entries = [given.entry("Frontend", "PodClique", FRONT), given.entry("Decode", "PodCliqueScalingGroup", GROUP)]
    right(states(entries, cliques()))
