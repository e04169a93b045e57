"""The check finds what an API server would refuse, all at once, and nothing else."""

from __future__ import annotations

import copy
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base import results
from krm_fn.render.schema import fixes, invalid_fields, schema_check, table
from krm_fn.schemas import finding_pages
from tests.support import schema_mistakes
from tests.support.cases import cases


@pytest.mark.parametrize("case", schema_mistakes.ALL, ids=lambda case: case.reason)
def test_one_input_one_finding(case: schema_mistakes.Case):
    before = copy.deepcopy(case.given)
    found = list(schema_check.resource(case.given))
    assert case.given == before
    if not case.code:
        assert found == []
        return
    (finding,) = found
    assert (finding.code, finding.path, finding.proposed) == (case.code, case.path, case.proposed)
    assert case.says in finding.message
    assert finding.severity == ("warning" if case.code in ("DYN028", "DYN085") else "error")
    assert finding.ref == results.ref(case.given)
    assert ";" in finding.message


def test_every_finding_at_once():
    """Nothing stops at the first: wrong types, missing and unknown fields of one resource come together."""
    spec = {
        "backendFramework": "x",
        "services": {"A": {"replicas": "1", "zzz": 1}, "B": {"modelRef": {}}, "C": []},
        "pvcs": [{}, {"name": 1}],
    }
    assert [(found.code, results.field(found.path)) for found in schema_check.resource(schema_mistakes.graph(spec))] == [
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
        ("a native field that may be newer", schema_mistakes.container(newer=1), "warning"),
        ("a native word that may be newer", schema_mistakes.container(imagePullPolicy="Newer"), "warning"),
        ("a field of ours", schema_mistakes.worker(newer=1), "error"),
        ("a word of ours", schema_mistakes.graph({"backendFramework": "newer"}), "error"),
        ("a wrong type in a native part", schema_mistakes.container(image=1), "error"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unknown_native_fields_can_be_a_warning(reason, given, severity):
    (found,) = schema_check.resource(given, unknown="warning")
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
        (
            "a release before the first of v1beta1",
            {"behaviour": "v1.1"},
            ("DYN024", "spec.behaviour", "; write v1.2, the release of images"),
        ),
        ("a duration", {"grove": {"terminationDelay": "1h30m"}}, None),
        ("a duration without its unit", {"grove": {"terminationDelay": "15"}}, ("DYN027", "spec.grove.terminationDelay", "15m or 1h30m")),
        ("half a pull secret", {"imagePullSecrets": [{"name": "x"}]}, ("DYN022", "spec.imagePullSecrets[0].registry", "missing")),
        ("null keeps the default", {"source": None}, ("DYN028", "spec.source", "remove the line")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_config(reason, spec, expected):
    given = {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}, "spec": spec}
    found = [(finding.code, results.field(finding.path), finding.message) for finding in schema_check.config(given)]
    assert len(found) == (expected is not None)
    for code, field, message in found:
        assert (code, field) == expected[:2]
        assert expected[2] in message


def test_config_of_another_version():
    (found,) = schema_check.config({"apiVersion": "dynamo.krm-fn.io/v1", "kind": "DynamoRender", "metadata": {"name": "render"}})
    assert (found.path, found.proposed) == (("apiVersion",), "dynamo.krm-fn.io/v1alpha1")


def test_a_key_beside_spec_belongs_in_it():
    (found,) = schema_check.config({"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "natsAddress": "x"})
    assert "it belongs in spec.natsAddress" in found.message


def test_without_nulls_is_the_same_object_where_there_are_none():
    given = schema_mistakes.worker(labels={}, envs=[{"name": "A"}], replicas=0)
    assert invalid_fields.without_nulls(given) is given


def test_without_nulls_copies_only_what_changes():
    given = schema_mistakes.graph({"services": {"A": {"labels": None}, "B": {"replicas": 1}}})
    before = copy.deepcopy(given)
    pruned = invalid_fields.without_nulls(given)
    assert pruned == schema_mistakes.graph({"services": {"A": {}, "B": {"replicas": 1}}})
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
COMPONENTS = st.lists(
    st.dictionaries(st.sampled_from(sorted(table.load().definitions["ComponentV1beta1"]["properties"])), JSON), max_size=2
)
NEWER = st.fixed_dictionaries({}, optional={"components": COMPONENTS | JSON, "services": JSON, "experimental": JSON, "env": JSON})


@given(
    written=st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec", "x"]), JSON)
    | SPECS.map(schema_mistakes.graph)
    | JSON.map(schema_mistakes.graph)
    | NEWER.map(schema_mistakes.newer)
    | JSON.map(schema_mistakes.newer)
)
def test_never_raises_and_never_writes(written):
    before = copy.deepcopy(written)
    found = [*schema_check.resource(written), *schema_check.config(written), *schema_check.resource(written, unknown="warning")]
    assert repr(written) == repr(before)
    assert all(finding.code in finding_pages.pages() for finding in found)
    assert all(results.wire(finding) for finding in found)


@given(written=SPECS.map(schema_mistakes.graph))
def test_null_means_absent(written):
    """Without its nulls a resource has the same findings, those about unknown fields that were null excepted."""
    found = {(finding.code, finding.path) for finding in schema_check.resource(written) if finding.code != "DYN028"}
    again = {(finding.code, finding.path) for finding in schema_check.resource(invalid_fields.without_nulls(written))}
    assert again <= found
    assert {code for code, _ in found - again} <= {"DYN023", "DYN029"}


def test_checking_imports_no_models():
    """A render that checks its input starts without pydantic, and without what only findings need."""
    heavy = ("pydantic", "dataclasses", "inspect", "pathlib", "difflib", "logging", "argparse", "subprocess", "tempfile")
    program = (
        "import json, sys; from krm_fn.render.schema import schema_check; given = json.loads(sys.argv[1]);"
        "assert not schema_check.resource(given);"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    given = json.dumps(schema_mistakes.container(image="x", args=["a"], resources={"limits": {"cpu": "1"}}))
    done = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; sys.path.insert(0, '.');" + program, given], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


HIDDEN = "hunter2"
PRIVATE = [
    # reason, resource
    ("variables in one text", schema_mistakes.worker(envs=f"A={HIDDEN}")),
    ("a variable as a text", schema_mistakes.worker(envs=[f"A={HIDDEN}"])),
    ("variables as an object", schema_mistakes.worker(envs={"A": HIDDEN})),
    ("a value in a list", schema_mistakes.worker(envs=[{"name": "A", "value": [HIDDEN]}])),
    ("a value in an object", schema_mistakes.worker(envs=[{"name": "A", "value": {"x": HIDDEN}}])),
    ("a source as a text", schema_mistakes.worker(envs=[{"name": "A", "valueFrom": HIDDEN}])),
    ("variables of the graph", schema_mistakes.graph({"envs": HIDDEN})),
    ("variables of the container", schema_mistakes.container(env=[{"name": "A", "value": [HIDDEN]}])),
    ("arguments in one text", schema_mistakes.container(args=f"--key {HIDDEN}")),
    ("an argument that YAML reads as an object", schema_mistakes.container(args=[{"--key": HIDDEN}])),
    ("a command in one text", schema_mistakes.container(command=HIDDEN)),
    ("a command of a probe", schema_mistakes.worker(livenessProbe={"exec": {"command": HIDDEN}})),
    ("a header", schema_mistakes.worker(livenessProbe={"httpGet": {"port": 1, "httpHeaders": [{"name": "a", "value": [HIDDEN]}]}})),
]


@cases("written", PRIVATE)
def test_values_that_may_be_secret_are_never_quoted(written):
    found = list(schema_check.resource(written))
    assert [each.code for each in found] == ["DYN021"]
    assert HIDDEN not in json.dumps(results.wire(found[0]))


@pytest.mark.parametrize("value", [123456, 1.5, True], ids=repr)
def test_numbers_that_may_be_secret_are_never_quoted(value):
    for written in (
        schema_mistakes.worker(envs=[{"name": "A", "value": value}]),
        schema_mistakes.container(args=[value]),
        schema_mistakes.container(command=[value]),
    ):
        (found,) = schema_check.resource(written)
        assert (found.current, found.proposed) == (None, None)
        assert fixes.show_scalar(value) not in found.message
