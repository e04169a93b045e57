"""The check finds what an API server would refuse, all at once, and nothing else."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn import codes, results
from krm_fn.api import check, table

MAIN = ("spec", "services", "Worker")
CONTAINER = (*MAIN, "extraPodSpec", "mainContainer")
PROBE = {"httpGet": {"path": "/health", "port": 8000}}


def graph(spec: Any, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": "llm"}, "spec": spec, **more}


def worker(**fields: Any) -> dict[str, Any]:
    return graph({"services": {"Worker": fields}})


def container(**fields: Any) -> dict[str, Any]:
    return worker(extraPodSpec={"mainContainer": fields})


class Case(NamedTuple):
    """An input with the one finding it gives; without a code it gives none."""

    reason: str
    given: dict[str, Any]
    code: str = ""
    path: results.Path = ()
    says: str = ""
    proposed: Any = None


TYPES = [
    Case("a whole number is an integer", worker(replicas=2)),
    Case(
        "an integer in quotes",
        worker(replicas="2"),
        "DYN021",
        (*MAIN, "replicas"),
        'not the string "2"; write 2 without quotes',
        proposed=2,
    ),
    Case("text for an integer", worker(replicas="two"), "DYN021", (*MAIN, "replicas"), "; write a whole number"),
    Case("a fraction for an integer", worker(replicas=1.5), "DYN021", (*MAIN, "replicas"), "the number 1.5; write a whole number"),
    Case("true is no integer, though Python thinks so", worker(replicas=True), "DYN021", (*MAIN, "replicas"), "the boolean true"),
    Case("a string is a string", worker(envs=[{"name": "A", "value": "1"}])),
    Case(
        "a number for a string", worker(envs=[{"name": "A", "value": 1}]), "DYN021", (*MAIN, "envs", 0, "value"), 'value: "1"', proposed="1"
    ),
    Case(
        "on for a string", worker(envs=[{"name": "A", "value": True}]), "DYN021", (*MAIN, "envs", 0, "value"), 'value: "true", or in quotes'
    ),
    Case("resources are strings", worker(resources={"limits": {"gpu": "1"}})),
    Case(
        "a number of GPUs",
        worker(resources={"limits": {"gpu": 1}}),
        "DYN021",
        (*MAIN, "resources", "limits", "gpu"),
        'gpu: "1"',
        proposed="1",
    ),
    Case("a boolean is a boolean", worker(scalingAdapter={"enabled": True})),
    Case(
        "a boolean in quotes",
        worker(scalingAdapter={"enabled": "yes"}),
        "DYN021",
        (*MAIN, "scalingAdapter", "enabled"),
        "write true without quotes",
        proposed=True,
    ),
    Case(
        "zero for false",
        worker(scalingAdapter={"enabled": 0}),
        "DYN021",
        (*MAIN, "scalingAdapter", "enabled"),
        "; write false",
        proposed=False,
    ),
    Case(
        "text for a boolean", worker(scalingAdapter={"enabled": "perhaps"}), "DYN021", (*MAIN, "scalingAdapter", "enabled"), "write true or"
    ),
    Case("a list of arguments", container(args=["--model", "x"])),
    Case(
        "arguments in one string",
        container(args="--model x"),
        "DYN021",
        (*CONTAINER, "args"),
        '; write ["--model x"]',
        proposed=["--model x"],
    ),
    Case("an argument that YAML reads as an object", container(args=[{"--a": 1}]), "DYN021", (*CONTAINER, "args", 0), '- "--a: 1"'),
    Case("an image in brackets", container(image=["x"]), "DYN021", (*CONTAINER, "image"), 'image: "x"', proposed="x"),
    Case("null in a list is a value", container(args=["--model", None]), "DYN021", (*CONTAINER, "args", 1), "not null; remove the entry"),
    Case("an object for a list", worker(envs={"A": "1"}), "DYN021", (*MAIN, "envs"), "write a list of entries like - name: …"),
    Case(
        "an entry without its dash",
        graph({"pvcs": {"name": "x"}}),
        "DYN021",
        ("spec", "pvcs"),
        "put a dash before",
        proposed=[{"name": "x"}],
    ),
    Case("text for a list of objects", worker(envs="A=1"), "DYN021", (*MAIN, "envs"), "write a list, with a dash"),
    Case("services need no fields", graph({"services": {"Worker": {}}})),
    Case("an empty list of services", graph({"services": []}), "DYN021", ("spec", "services"), "not a list; write {}"),
    Case("a list of services", graph({"services": [{}]}), "DYN021", ("spec", "services"), "write each entry as name: …, without dashes"),
    Case("a flag for an object", worker(ingress=True), "DYN021", (*MAIN, "ingress"), "its fields below it, for example enabled, host"),
    Case("text for a map", worker(labels="a=b"), "DYN021", (*MAIN, "labels"), "write lines of name: value"),
    Case("a port by number", worker(livenessProbe=PROBE)),
    Case("a port by name", worker(livenessProbe={"tcpSocket": {"port": "http"}})),
    Case(
        "half a port",
        worker(livenessProbe={"tcpSocket": {"port": 0.5}}),
        "DYN021",
        (*MAIN, "livenessProbe", "tcpSocket", "port"),
        "a whole number",
    ),
    Case("a quantity as an integer", container(resources={"limits": {"cpu": 4}})),
    Case("a quantity as text", container(resources={"limits": {"cpu": "500m", "memory": "1.5Gi", "nvidia.com/gpu": "1e3"}})),
    Case(
        "a quantity with a point, which CRDs refuse as a number",
        container(resources={"limits": {"cpu": 0.5}}),
        "DYN021",
        (*CONTAINER, "resources", "limits", "cpu"),
        'cpu: "0.5"',
        proposed="0.5",
    ),
    Case("spec is an object", graph("x"), "DYN021", ("spec",), "for example backendFramework, services"),
    Case("annotations are strings", graph({}, metadata={"annotations": {"a": "true"}})),
    Case(
        "a flag for an annotation",
        graph({}, metadata={"annotations": {"a": True}}),
        "DYN021",
        ("metadata", "annotations", "a"),
        'a: "true"',
    ),
    Case("a number for a label", graph({}, metadata={"labels": {"a": 1}}), "DYN021", ("metadata", "labels", "a"), 'a: "1"', proposed="1"),
]

VALUES = [
    Case("a known engine", graph({"backendFramework": "trtllm"})),
    Case(
        "an unknown engine",
        graph({"backendFramework": "vlm"}),
        "DYN024",
        ("spec", "backendFramework"),
        "trtllm; write vllm",
        proposed="vllm",
    ),
    Case("a word like no other", graph({"backendFramework": "x"}), "DYN024", ("spec", "backendFramework"), "; write one of them"),
    Case("an empty word where none is allowed", graph({"backendFramework": ""}), "DYN024", ("spec", "backendFramework"), '""'),
    Case("an optional native word may be empty", container(imagePullPolicy="")),
    Case(
        "a native word",
        container(imagePullPolicy="Allways"),
        "DYN024",
        (*CONTAINER, "imagePullPolicy"),
        "write Always, or set unknownFields: warn",
        proposed="Always",
    ),
    Case("no replicas", worker(replicas=0)),
    Case("fewer than none", worker(replicas=-1), "DYN025", (*MAIN, "replicas"), "-1 is less than 0, the least allowed; write 0 or more"),
    Case("two nodes", worker(multinode={"nodeCount": 2})),
    Case("one node is no multinode", worker(multinode={"nodeCount": 1}), "DYN025", (*MAIN, "multinode", "nodeCount"), "write 2 or more"),
    Case("a number of nodes has a default", worker(multinode={})),
    Case("the largest 32-bit number", worker(replicas=2**31 - 1)),
    Case("one more", worker(replicas=2**31), "DYN025", (*MAIN, "replicas"), "does not fit into 32 bits"),
    Case("the largest 64-bit number", worker(extraPodSpec={"activeDeadlineSeconds": 2**63 - 1})),
    Case(
        "one more than that",
        worker(extraPodSpec={"activeDeadlineSeconds": 2**63}),
        "DYN025",
        (*MAIN, "extraPodSpec", "activeDeadlineSeconds"),
        "64",
    ),
    Case("a restart", graph({"restart": {"id": "1"}})),
    Case("a restart without a name", graph({"restart": {"id": ""}}), "DYN026", ("spec", "restart", "id"), "must not be empty"),
    Case("25 services", graph({"services": {f"s{i}": {} for i in range(25)}})),
    Case("26 services", graph({"services": {f"s{i}": {} for i in range(26)}}), "DYN026", ("spec", "services"), "26 entries, and 25"),
    Case(
        "25 services and one that is null",
        graph({"services": {f"s{i}": {} if i else None for i in range(26)}}),
        "DYN028",
        ("spec", "services", "s0"),
    ),
    Case("100 claims", graph({"pvcs": [{"name": f"x{i}"} for i in range(100)]})),
    Case("101 claims", graph({"pvcs": [{"name": f"x{i}"} for i in range(101)]}), "DYN026", ("spec", "pvcs"), "take out 1"),
    Case("a size", graph({"pvcs": [{"name": "x", "size": "100Gi"}]})),
    Case(
        "a size that Kubernetes has no unit for",
        worker(sharedMemory={"size": "16GB"}),
        "DYN027",
        (*MAIN, "sharedMemory", "size"),
        "16Gi or 500m",
    ),
    Case("a time", graph({}, metadata={"creationTimestamp": "2026-01-31T12:00:00Z"})),
    Case("a date", graph({}, metadata={"creationTimestamp": "2026-01-31"}), "DYN027", ("metadata", "creationTimestamp"), "is not a time"),
]

FIELDS = [
    Case("a required field", worker(modelRef={"name": "x"})),
    Case("without it", worker(modelRef={}), "DYN022", (*MAIN, "modelRef", "name"), "required, but missing; write name"),
    Case("with null instead", worker(modelRef={"name": None}), "DYN022", (*MAIN, "modelRef", "name"), "required, but null"),
    Case("the main container needs no name", container(image="x")),
    Case(
        "a sidecar does",
        worker(extraPodSpec={"containers": [{"image": "x"}]}),
        "DYN022",
        (*MAIN, "extraPodSpec", "containers", 0, "name"),
        "name",
    ),
    Case("a pod without sidecars", worker(extraPodSpec={"hostNetwork": True})),
    Case("a misspelt field", worker(replica=1), "DYN023", (*MAIN, "replica"), "; write replicas"),
    Case("another convention", worker(readiness_probe=PROBE), "DYN023", (*MAIN, "readiness_probe"), "; write readinessProbe"),
    Case("a field like no other", worker(zzz=1), "DYN023", (*MAIN, "zzz"), "; remove it"),
    Case("a field among few", graph({"restart": {"id": "1", "zzz": 1}}), "DYN023", ("spec", "restart", "zzz"), "known here: id, strategy"),
    Case("a container's field beside it", worker(image="x"), "DYN023", (*MAIN, "image"), "it belongs in extraPodSpec.mainContainer.image"),
    Case("a pod's field outside it", worker(nodeSelector={}), "DYN023", (*MAIN, "nodeSelector"), "it belongs in extraPodSpec.nodeSelector"),
    Case("env for envs", worker(env=[]), "DYN023", (*MAIN, "env"), "; write envs"),
    Case("a service's field in the graph", graph({"replicas": 1}), "DYN023", ("spec", "replicas"), "it belongs in a service, as replicas"),
    Case(
        "a full resource name",
        worker(resources={"limits": {"nvidia.com/gpu": "1"}}),
        "DYN023",
        (*MAIN, "resources", "limits", "nvidia.com/gpu"),
        "gpu",
    ),
    Case(
        "another one",
        worker(resources={"limits": {"rdma/ib": "1"}}),
        "DYN023",
        (*MAIN, "resources", "limits", "rdma/ib"),
        "it below custom",
    ),
    Case("which goes there", worker(resources={"limits": {"custom": {"rdma/ib": "1"}}})),
    Case("beside metadata and spec", graph({}, services={}), "DYN023", ("services",), "it belongs in spec.services"),
    Case("a misspelt native field", container(imag="x"), "DYN029", (*CONTAINER, "imag"), "; write image, or set unknownFields: warn"),
    Case("in metadata", graph({}, metadata={"lables": {}}), "DYN029", ("metadata", "lables"), "; write labels, or set"),
    Case("a picker's configuration keeps what it holds", worker(eppConfig={"config": {"plugins": [], "schedulingProfiles": [], "new": 1}})),
    Case(
        "a plugin takes any settings",
        worker(eppConfig={"config": {"plugins": [{"type": "a", "parameters": {"x": [1, {"y": 1.5}]}}], "schedulingProfiles": []}}),
    ),
    Case(
        "but no settings are no object",
        worker(eppConfig={"config": {"plugins": [{"type": "a", "parameters": "x"}], "schedulingProfiles": []}}),
        "DYN021",
        (*MAIN, "eppConfig", "config", "plugins", 0, "parameters"),
        "wants an object",
    ),
    Case("null counts as absent", worker(labels=None), "DYN028", (*MAIN, "labels"), "remove the line"),
    Case("in a map too", worker(labels={"a": None}), "DYN028", (*MAIN, "labels", "a"), "remove the line"),
    Case("and in native parts", container(resources=None), "DYN028", (*CONTAINER, "resources"), "remove the line"),
    Case("a service may be null", graph({"services": {"a": None}}), "DYN028", ("spec", "services", "a"), "remove the line"),
    Case("the timestamp that tools write as null means nothing", graph({}, metadata={"creationTimestamp": None})),
    Case("status is for others to judge", graph({}, status={"anything": 1})),
]

ADDRESSES = [
    Case("a kind of others", {"apiVersion": "v1", "kind": "Service", "spec": 1}),
    Case("a neighbour in the API group", {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy"}),
    Case("a kind of Dynamo without a table yet, and like no other", {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoWorkerMetadata"}),
    Case("no kind at all", {}),
    Case(
        "a version that never was",
        {"apiVersion": "nvidia.com/v1", "kind": "DynamoGraphDeployment"},
        "DYN020",
        ("apiVersion",),
        "write nvidia.com/v1alpha1",
        proposed="nvidia.com/v1alpha1",
    ),
    Case("no version", {"kind": "DynamoGraphDeployment"}, "DYN020", ("apiVersion",), "null", proposed="nvidia.com/v1alpha1"),
    Case(
        "a slip in the kind",
        {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymnet"},
        "DYN020",
        ("kind",),
        "write DynamoGraphDeployment",
        proposed="DynamoGraphDeployment",
    ),
]


@pytest.mark.parametrize("case", [*TYPES, *VALUES, *FIELDS, *ADDRESSES], ids=lambda case: case.reason)
def test_one_input_one_finding(case: Case):
    before = copy.deepcopy(case.given)
    found = list(check.resource(case.given))
    assert case.given == before
    if not case.code:
        assert found == []
        return
    (finding,) = found
    assert (finding.code, finding.path, finding.proposed) == (case.code, case.path, case.proposed)
    assert case.says in finding.message
    assert finding.severity == ("warning" if case.code == "DYN028" else "error")
    assert finding.ref == results.ref(case.given)
    assert ";" in finding.message


def test_every_finding_at_once():
    """Nothing stops at the first: wrong types, missing and unknown fields of one resource come together."""
    spec = {
        "backendFramework": "x",
        "services": {"A": {"replicas": "1", "zzz": 1}, "B": {"modelRef": {}}, "C": []},
        "pvcs": [{}, {"name": 1}],
    }
    assert [(found.code, results.field(found.path)) for found in check.resource(graph(spec))] == [
        ("DYN024", "spec.backendFramework"),
        ("DYN021", "spec.services.A.replicas"),
        ("DYN023", "spec.services.A.zzz"),
        ("DYN022", "spec.services.B.modelRef.name"),
        ("DYN021", "spec.services.C"),
        ("DYN022", "spec.pvcs[0].name"),
        ("DYN021", "spec.pvcs[1].name"),
    ]


@pytest.mark.parametrize(
    ("reason", "given", "severity"),
    [
        ("a native field that may be newer", container(newer=1), "warning"),
        ("a native word that may be newer", container(imagePullPolicy="Newer"), "warning"),
        ("a field of ours", worker(newer=1), "error"),
        ("a word of ours", graph({"backendFramework": "newer"}), "error"),
        ("a wrong type in a native part", container(image=1), "error"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unknown_native_fields_can_be_a_warning(reason, given, severity):
    (found,) = check.resource(given, unknown="warning")
    assert found.severity == severity
    assert "unknownFields" not in found.message


@pytest.mark.parametrize(
    ("reason", "spec", "expected"),
    [
        ("nothing said", {}, None),
        ("everything optional", {"grove": {"kaiScheduler": {}}, "imagePullSecrets": [], "natsAddress": ""}, None),
        ("a misspelt key", {"natsAdress": "x"}, ("DYN023", "spec.natsAdress", "; write natsAddress")),
        ("a misspelt key further down", {"rbac": {"plannerRol": "x"}}, ("DYN023", "spec.rbac.plannerRol", "; write plannerRole")),
        ("a word in the wrong case", {"source": "Keep"}, ("DYN024", "spec.source", "; write keep")),
        ("a duration", {"grove": {"terminationDelay": "1h30m"}}, None),
        ("a duration without its unit", {"grove": {"terminationDelay": "15"}}, ("DYN027", "spec.grove.terminationDelay", "15m or 1h30m")),
        ("half a pull secret", {"imagePullSecrets": [{"name": "x"}]}, ("DYN022", "spec.imagePullSecrets[0].registry", "missing")),
        ("null keeps the default", {"source": None}, ("DYN028", "spec.source", "remove the line")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_config(reason, spec, expected):
    given = {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}, "spec": spec}
    found = [(finding.code, results.field(finding.path), finding.message) for finding in check.config(given)]
    assert len(found) == (expected is not None)
    for code, field, message in found:
        assert (code, field) == expected[:2]
        assert expected[2] in message


def test_config_of_another_version():
    (found,) = check.config({"apiVersion": "dynamo.krm-fn.io/v1", "kind": "DynamoRender", "metadata": {"name": "render"}})
    assert (found.path, found.proposed) == (("apiVersion",), "dynamo.krm-fn.io/v1alpha1")


def test_a_key_beside_spec_belongs_in_it():
    (found,) = check.config({"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "natsAddress": "x"})
    assert "it belongs in spec.natsAddress" in found.message


def test_without_nulls_is_the_same_object_where_there_are_none():
    given = worker(labels={}, envs=[{"name": "A"}], replicas=0)
    assert check.without_nulls(given) is given


def test_without_nulls_copies_only_what_changes():
    given = graph({"services": {"A": {"labels": None}, "B": {"replicas": 1}}})
    before = copy.deepcopy(given)
    pruned = check.without_nulls(given)
    assert pruned == graph({"services": {"A": {}, "B": {"replicas": 1}}})
    assert given == before
    assert pruned["spec"]["services"]["B"] is given["spec"]["services"]["B"]


WORDS = st.sampled_from(
    ["name", "services", "spec", "Worker", "envs", "value", "extraPodSpec", "mainContainer", "replicas", "labels", "zzz", ""]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=4),
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "services": st.dictionaries(
            WORDS, st.dictionaries(st.sampled_from(sorted(table.load().definitions["Component"]["properties"])), JSON)
        ),
        "pvcs": JSON,
        "restart": JSON,
    },
)


@given(written=st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec", "x"]), JSON) | SPECS.map(graph) | JSON.map(graph))
def test_never_raises_and_never_writes(written):
    before = copy.deepcopy(written)
    found = [*check.resource(written), *check.config(written), *check.resource(written, unknown="warning")]
    assert repr(written) == repr(before)
    assert all(finding.code in codes.TITLES for finding in found)
    assert all(results.wire(finding) for finding in found)


@given(written=SPECS.map(graph))
def test_null_means_absent(written):
    """Without its nulls a resource has the same findings, those about unknown fields that were null excepted."""
    found = {(finding.code, finding.path) for finding in check.resource(written) if finding.code != "DYN028"}
    again = {(finding.code, finding.path) for finding in check.resource(check.without_nulls(written))}
    assert again <= found
    assert {code for code, _ in found - again} <= {"DYN023", "DYN029"}


def test_checking_imports_no_models():
    """A render that checks its input starts without pydantic, and without what only findings need."""
    heavy = ("pydantic", "dataclasses", "inspect", "pathlib", "difflib", "logging", "argparse", "subprocess", "tempfile")
    program = (
        "import json, sys; from krm_fn.api import check; given = json.loads(sys.argv[1]); assert not list(check.resource(given));"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    given = json.dumps(container(image="x", args=["a"], resources={"limits": {"cpu": "1"}}))
    done = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; sys.path.insert(0, '.');" + program, given], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
