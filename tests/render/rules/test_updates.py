"""Changes that a cluster refuses are found, each at its field in the new state; their twins are not."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import strategies as st

from krm_fn.base import results
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels, render_mark
from krm_fn.render.config import Config
from krm_fn.render.convert import versions
from krm_fn.render.rules import updates
from tests.support import beta, given, strategies
from tests.support.cases import cases
from tests.support.role_faults import launched, override, several

HOME = "team"
A = {"componentType": "worker"}
ADAPTED = {**A, "scalingAdapter": {"enabled": True}}
CLAIM = {"name": "weights", "create": True, "size": "10Gi", "storageClass": "fast", "volumeAccessMode": "ReadWriteMany"}
REQUEST = {"model": "acme/tiny", "backend": "vllm", "profilingConfig": {"profilerImage": "profiler:1", "config": {}}}
MODEL = {"modelName": "tiny", "baseModelName": "acme/tiny"}


def nodes(count):
    return {**A, "multinode": {"nodeCount": count}}


GRAPHS = [
    # reason, spec before, spec after, findings
    ("nothing", {"services": {"a": A}}, {"services": {"a": A}}, []),
    ("an engine for another", {"backendFramework": "vllm"}, {"backendFramework": "sglang"}, [("DYN400", "spec.backendFramework")]),
    ("an engine that comes", {}, {"backendFramework": "sglang"}, [("DYN400", "spec.backendFramework")]),
    ("an engine that goes", {"backendFramework": "vllm"}, {}, [("DYN400", "spec.backendFramework")]),
    ("no engine in other words", {"backendFramework": None}, {"backendFramework": ""}, []),
    ("several nodes for one", {"services": {"a": A}}, {"services": {"a": nodes(2)}}, [("DYN401", "spec.services.a.multinode.nodeCount")]),
    ("one for several", {"services": {"a": nodes(3)}}, {"services": {"a": A}}, [("DYN401", "spec.services.a.multinode.nodeCount")]),
    (
        "several without a number",
        {"services": {"a": A}},
        {"services": {"a": {"multinode": {}}}},
        [("DYN401", "spec.services.a.multinode.nodeCount")],
    ),
    ("two for no number", {"services": {"a": nodes(2)}}, {"services": {"a": {"multinode": {}}}}, []),
    ("four for two", {"services": {"a": nodes(2)}}, {"services": {"a": nodes(4)}}, []),
    ("one for none", {"services": {"a": A}}, {"services": {"a": nodes(1)}}, []),
    ("a service that comes", {"services": {"a": A}}, {"services": {"a": A, "b": A}}, [("DYN402", "spec.services.b")]),
    ("a service that goes", {"services": {"a": A, "b": A}}, {"services": {"a": A}}, [("DYN402", "spec.services")]),
    (
        "a service by another name",
        {"services": {"a": A, "b": nodes(2)}},
        {"services": {"a": A, "c": A}},
        [("DYN402", "spec.services.c"), ("DYN402", "spec.services")],
    ),
    ("services in another order", {"services": {"a": A, "b": A}}, {"services": {"b": A, "a": A}}, []),
    ("a service that is null is none", {"services": {"a": A}}, {"services": {"a": A, "b": None}}, []),
    (
        "a number of an adapter's",
        {"services": {"a": {**ADAPTED, "replicas": 1}}},
        {"services": {"a": {**ADAPTED, "replicas": 3}}},
        [("DYN403", "spec.services.a.replicas")],
    ),
    ("the same in other words", {"services": {"a": {**ADAPTED, "replicas": 1}}}, {"services": {"a": ADAPTED}}, []),
    (
        "a number that goes",
        {"services": {"a": {**ADAPTED, "replicas": 2}}},
        {"services": {"a": ADAPTED}},
        [("DYN403", "spec.services.a.replicas")],
    ),
    (
        "none at all",
        {"services": {"a": ADAPTED}},
        {"services": {"a": {**ADAPTED, "replicas": 0}}},
        [("DYN403", "spec.services.a.replicas")],
    ),
    (
        "an adapter and another number at once",
        {"services": {"a": A}},
        {"services": {"a": {**ADAPTED, "replicas": 2}}},
        [("DYN403", "spec.services.a.replicas")],
    ),
    ("an adapter that goes", {"services": {"a": ADAPTED}}, {"services": {"a": {**A, "replicas": 2}}}, []),
    ("an adapter that is off", {"services": {"a": A}}, {"services": {"a": {**A, "replicas": 2, "scalingAdapter": {"enabled": False}}}}, []),
    ("a number that nobody else owns", {"services": {"a": A}}, {"services": {"a": {**A, "replicas": 2}}}, []),
    ("a service that comes with an adapter", {}, {"services": {"a": {**ADAPTED, "replicas": 2}}}, [("DYN402", "spec.services.a")]),
    ("another class", {"pvcs": [CLAIM]}, {"pvcs": [{**CLAIM, "storageClass": "slow"}]}, [("DYN407", "spec.pvcs[0].storageClass")]),
    (
        "another mode",
        {"pvcs": [CLAIM]},
        {"pvcs": [{**CLAIM, "volumeAccessMode": "ReadWriteOnce"}]},
        [("DYN407", "spec.pvcs[0].volumeAccessMode")],
    ),
    ("less", {"pvcs": [CLAIM]}, {"pvcs": [{**CLAIM, "size": "9Gi"}]}, [("DYN407", "spec.pvcs[0].size")]),
    ("more", {"pvcs": [CLAIM]}, {"pvcs": [{**CLAIM, "size": "11Gi"}]}, []),
    ("as much in other words", {"pvcs": [CLAIM]}, {"pvcs": [{**CLAIM, "size": "10240Mi"}]}, []),
    ("another claim", {"pvcs": [CLAIM]}, {"pvcs": [{**CLAIM, "name": "other", "storageClass": "slow"}]}, []),
    ("claims in another order", {"pvcs": [CLAIM, {"name": "b"}]}, {"pvcs": [{"name": "b"}, CLAIM]}, []),
    ("a claim that somebody else makes", {"pvcs": [{**CLAIM, "create": False}]}, {"pvcs": [{**CLAIM, "create": False, "size": "1Gi"}]}, []),
    (
        "labels and images",
        {"services": {"a": given.service("worker")}},
        {"services": {"a": given.service("worker", main={"image": "x/dynamo:1.5.1"}, labels={"a": "b"})}},
        [],
    ),
    (
        "everything at once",
        {"backendFramework": "vllm", "services": {"a": A, "b": A, "c": ADAPTED}},
        {"backendFramework": "sglang", "services": {"a": nodes(2), "c": {**ADAPTED, "replicas": 2}, "d": A}},
        [
            ("DYN400", "spec.backendFramework"),
            ("DYN401", "spec.services.a.multinode.nodeCount"),
            ("DYN402", "spec.services.d"),
            ("DYN402", "spec.services"),
            ("DYN403", "spec.services.c.replicas"),
        ],
    ),
]


@cases(("before", "after", "found"), GRAPHS)
def test_graphs(before, after, found):
    assert said("DynamoGraphDeployment", before, after) == found


MADE_UNDER_GROVE = {labels.RENDERED_BY: render_mark.write(Config(orchestrator="grove"), "v1.6")}
HELD = [
    # reason, orchestrator, annotations before, annotations after, True if one set holds the graph before and after
    ("under Grove", "grove", {}, {}, True),
    ("in deployment mode", "deployment", {}, {}, False),
    ("a graph that opts out", "grove", {labels.ENABLE_GROVE: "false"}, {labels.ENABLE_GROVE: "False"}, False),
    ("a graph that leaves Grove", "grove", {}, {labels.ENABLE_GROVE: "false"}, False),
    ("any other value changes nothing", "grove", {labels.ENABLE_GROVE: "no"}, {}, True),
    ("finished builds under Grove", "deployment", MADE_UNDER_GROVE, MADE_UNDER_GROVE, True),
    ("a finished build that leaves Grove", "deployment", MADE_UNDER_GROVE, {}, False),
]


@cases(("orchestrator", "old", "new", "held"), HELD)
def test_services_that_grove_cannot_add_or_remove_are_a_warning(orchestrator, old, new, held):
    """Grove refuses to change the cliques of a PodCliqueSet that exists."""
    before, after = given.graph({"a": A, "b": A}, annotations=old), given.graph({"a": A, "c": A}, annotations=new)
    found = [each for each in updates.check([before], [after], HOME, Config()._replace(orchestrator=orchestrator)) if each.code == "DYN408"]
    fields = [("DYN408", "spec.services.c"), ("DYN408", "spec.services")]
    assert given.findings(found) == (fields if held else [])
    assert {each.severity for each in found} <= {"warning"}
    assert list(updates.check([before], [before], HOME, Config()._replace(orchestrator=orchestrator))) == []


JOINED = {labels.ROLLOUT_GROUP: "a"}
IN_SETS = [
    # reason, type, orchestrator, annotations before, annotations after, True if one object has the pods before and after
    ("a prefill worker", "prefill", "disaggregatedSet", {}, {}, True),
    ("a worker that the graph joins", "worker", "disaggregatedSet", JOINED, JOINED, True),
    ("a worker that the change joins", "worker", "disaggregatedSet", {}, JOINED, False),
    ("a worker that runs both phases", "worker", "disaggregatedSet", {}, {}, False),
    ("a Deployment", "prefill", "deployment", {}, {}, False),
]


@cases(("kind", "orchestrator", "old", "new", "is_allowed"), IN_SETS)
def test_a_role_of_a_disaggregated_set_changes_between_one_node_and_several(kind, orchestrator, old, new, is_allowed):
    before = beta.graph(beta.component("a", kind), annotations=old)
    after = beta.graph({**beta.component("a", kind), "multinode": {"nodeCount": 2}}, annotations=new)
    found = list(updates.check([before], [after], HOME, Config()._replace(orchestrator=orchestrator)))
    assert given.findings(found) == ([] if is_allowed else [("DYN401", f"{AT}.multinode.nodeCount")])


W = beta.component("a")
ADAPTED_W = {**W, "scalingAdapter": {}}
GROVE = {"grove": {"forceScalingGroup": True}}
PACKED = {"topologyConstraint": {"packDomain": "rack"}}
POLICY = {"kvTransferPolicy": {"domain": "zone", "labelKey": "zone"}}
AT = "spec.components[0]"
POWER = f"{AT}.podTemplate.metadata.annotations['{labels.POWER_LIMIT}']"


def limited(watts):
    return beta.component("a", metadata={"annotations": {labels.POWER_LIMIT: watts}})


NEWER: list[tuple[str, list[Resource], list[Resource], dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    # reason, components before, components after, fields of the graph before, and after, findings
    ("nothing", [W], [W], {}, {}, []),
    ("an engine", [W], [W], {}, {"backendFramework": "vllm"}, [("DYN400", "spec.backendFramework")]),
    ("several nodes for one", [W], [{**W, "multinode": {}}], {}, {}, [("DYN401", f"{AT}.multinode.nodeCount")]),
    ("a component that comes", [W], [beta.component("b"), W], {}, {}, [("DYN402", f"{AT}.name")]),
    ("a component that goes", [W, beta.component("b")], [W], {}, {}, [("DYN402", "spec.components")]),
    ("components in another order", [W, beta.component("b")], [beta.component("b"), W], {}, {}, []),
    ("a number of an adapter's", [ADAPTED_W], [{**ADAPTED_W, "replicas": 2}], {}, {}, [("DYN403", f"{AT}.replicas")]),
    ("a number without an adapter", [ADAPTED_W], [{**W, "replicas": 2}], {}, {}, []),
    ("a number for Grove", [W], [{**W, "minAvailable": 2}], {}, {}, [("DYN480", f"{AT}.minAvailable")]),
    ("the default in other words", [W], [{**W, "minAvailable": 1}], {}, {}, []),
    ("a topology", [W], [{**W, **PACKED}], {}, {}, [("DYN483", f"{AT}.topologyConstraint")]),
    ("a topology of the graph", [W], [W], PACKED, {}, [("DYN483", "spec.topologyConstraint")]),
    ("a group", [W], [{**W, "experimental": GROVE}], {}, {}, [("DYN483", f"{AT}.experimental.grove.forceScalingGroup")]),
    (
        "a GPU memory service in pods of its own",
        [{**W, "experimental": {"gpuMemoryService": {"mode": "IntraPod"}}}],
        [{**W, "experimental": {"gpuMemoryService": {"mode": "InterPod"}}}],
        {},
        {},
        [("DYN483", f"{AT}.experimental.gpuMemoryService")],
    ),
    ("a GPU memory service inside the pod", [W], [{**W, "experimental": {"gpuMemoryService": {}}}], {}, {}, []),
    ("a policy", [W], [W], {}, {"experimental": POLICY}, [("DYN484", "spec.experimental.kvTransferPolicy")]),
    ("a power limit", [limited("500")], [limited("400")], {}, {}, [("DYN484", POWER)]),
    ("an image", [W], [beta.component("a", main={"image": "x/dynamo:1.5.2"})], {}, {}, []),
]


@cases(("before", "after", "old", "new", "found"), NEWER)
def test_graphs_in_v1beta1(before, after, old, new, found):
    assert given.findings(list(updates.check([beta.graph(*before, **old)], [beta.graph(*after, **new)], HOME))) == found


ROLES = [
    # reason, component before, component after, findings since 1.6
    ("another number of nodes", several(nodes=2), several(nodes=4), [("DYN484", f"{AT}.multinode.nodeCount")]),
    ("another type", beta.component("Worker"), beta.component("Worker", "decode"), [("DYN484", f"{AT}.type")]),
    ("a type at last", beta.component("Worker", ""), beta.component("Worker"), []),
    ("the implicit roles, written", several(), several(roles=[{"name": "leader"}, {"name": "worker"}]), []),
    ("pod templates of roles", several(), launched(), []),
    ("and another type", several(), launched() | {"type": "decode"}, [("DYN484", f"{AT}.type"), ("DYN484", f"{AT}.roles")]),
]


@cases(("before", "after", "found"), ROLES)
def test_fields_that_an_operator_keeps_since_1_6(before, after, found):
    changes = [beta.graph(component) for component in (before, after)]
    assert given.findings(list(updates.check(changes[:1], changes[1:], HOME, Config(behaviour="v1.6")))) == found
    assert list(updates.check(changes[:1], changes[1:], HOME, Config(behaviour="v1.5"))) == []


def test_a_minimum_can_move_to_the_other_form():
    field, moved, other = (
        several(replicas=3, minAvailable=2),
        *(several(replicas=3, **override({"minAvailable": number})) for number in (2, 1)),
    )
    assert list(updates.check([beta.graph(field)], [beta.graph(moved)], HOME)) == []
    found = list(updates.check([beta.graph(field)], [beta.graph(other)], HOME))
    assert given.findings(found) == [("DYN480", f"{AT}.providerOverride")]


def test_a_change_that_only_an_operator_refuses_is_a_warning():
    rows = [updates.check([beta.graph(*row[1], **row[3])], [beta.graph(*row[2], **row[4])], HOME) for row in NEWER]
    severities = {(each.code, each.severity) for found in rows for each in found}
    assert {code for code, severity in severities if severity == "warning"} == {"DYN484"}
    assert {"DYN480", "DYN483"} <= {code for code, severity in severities if severity == "error"}


def test_the_provider_of_workloads_is_compared_where_an_operator_noted_it():
    graphs = [beta.graph(annotations={labels.WORKLOAD_PROVIDER: name}) for name in ("grove", "component")]
    at = f"metadata.annotations['{labels.WORKLOAD_PROVIDER}']"
    assert given.findings(list(updates.check(graphs[:1], graphs[1:], HOME))) == [("DYN484", at)]
    assert list(updates.check([beta.graph()], graphs[:1], HOME)) == []


FULL = given.graph(
    {"a": {**ADAPTED, "multinode": {"nodeCount": 2}, "labels": {"b": "c"}}, "b": given.service("frontend", minAvailable=2)},
    pvcs=[CLAIM],
    backendFramework="vllm",
)


def test_a_graph_that_is_rewritten_in_the_other_version_has_not_changed():
    newer = versions.to("v1beta1", FULL)
    assert list(updates.check([FULL], [newer], HOME)) == []
    assert list(updates.check([newer], [FULL], HOME)) == []


def test_a_change_across_versions_is_found_where_the_new_state_has_it():
    changed = versions.to("v1beta1", {**FULL, "spec": {**FULL["spec"], "pvcs": [{**CLAIM, "size": "1Gi"}], "services": {"a": A}}})
    found = given.findings(list(updates.check([FULL], [changed], HOME)))
    kept = f"metadata.annotations['{labels.PRESERVED_GRAPH}'][0]"
    assert found == [("DYN401", f"{AT}.multinode.nodeCount"), ("DYN402", "spec.components"), ("DYN407", kept)]
    back = given.findings(list(updates.check([changed], [FULL], HOME)))
    at = "spec.services.a"
    assert back == [("DYN401", f"{at}.multinode.nodeCount"), ("DYN402", "spec.services.b")]


OTHERS = [
    # reason, kind, spec before, spec after, findings
    ("a component's engine", "DynamoComponentDeployment", {}, {"backendFramework": "vllm"}, [("DYN400", "spec.backendFramework")]),
    ("a component's nodes", "DynamoComponentDeployment", {}, {"multinode": {"nodeCount": 2}}, [("DYN401", "spec.multinode.nodeCount")]),
    ("a component's replicas", "DynamoComponentDeployment", {"replicas": 1}, {"replicas": 2}, []),
    ("a model's type", "DynamoModel", MODEL, {**MODEL, "modelType": "adapter"}, [("DYN404", "spec.modelType")]),
    ("a model's type in other words", "DynamoModel", MODEL, {**MODEL, "modelType": "base"}, []),
    ("a model's base", "DynamoModel", MODEL, {**MODEL, "baseModelName": "acme/big"}, [("DYN405", "spec.baseModelName")]),
    (
        "a model's type and base",
        "DynamoModel",
        MODEL,
        {**MODEL, "modelType": "lora", "baseModelName": "acme/big"},
        [("DYN404", "spec.modelType"), ("DYN405", "spec.baseModelName")],
    ),
    ("a model's name and source", "DynamoModel", MODEL, {**MODEL, "modelName": "small", "source": {"uri": "hf://a/b"}}, []),
    ("a request's model", "DynamoGraphDeploymentRequest", REQUEST, {**REQUEST, "model": "acme/big"}, [("DYN406", "spec.model")]),
    (
        "a field of a request that goes",
        "DynamoGraphDeploymentRequest",
        {**REQUEST, "autoApply": True},
        REQUEST,
        [("DYN406", "spec.autoApply")],
    ),
    ("a request as it was", "DynamoGraphDeploymentRequest", REQUEST, copy.deepcopy(REQUEST), []),
    ("an adapter's replicas", "DynamoGraphDeploymentScalingAdapter", {"replicas": 1}, {"replicas": 2}, []),
]


@cases(("kind", "before", "after", "found"), OTHERS)
def test_other_kinds(kind, before, after, found):
    assert said(kind, before, after) == found


MET = [
    # reason, namespace before, namespace after, name after, apiVersion after, True if both are the same resource
    ("the same", "team", "team", "chat", "nvidia.com/v1alpha1", True),
    ("a namespace that was only implied", "", "team", "chat", "nvidia.com/v1alpha1", True),
    ("a namespace that is only implied", "team", "", "chat", "nvidia.com/v1alpha1", True),
    ("another version", "team", "team", "chat", "nvidia.com/v1beta1", True),
    ("another namespace", "team", "other", "chat", "nvidia.com/v1alpha1", False),
    ("another name", "team", "team", "chat2", "nvidia.com/v1alpha1", False),
    ("another group", "team", "team", "chat", "example.com/v1", False),
]


@cases(("was", "namespace", "name", "version", "met"), MET)
def test_what_is_compared(was, namespace, name, version, met):
    before = given.graph(namespace=was, backendFramework="vllm")
    after = {**given.graph(namespace=namespace, name=name), "apiVersion": version}
    if version == dynamo_api.V1BETA1:
        after = versions.to("v1beta1", {**after, "apiVersion": dynamo_api.V1ALPHA1})
    assert [found.ref for found in updates.check([before], [after], HOME)] == [results.ref(after)] * met
    assert updates.count_compared([before], [after], HOME) == met


def test_what_comes_or_goes_is_no_change():
    assert list(updates.check([], [given.graph()], HOME)) == []
    assert list(updates.check([given.graph()], [], HOME)) == []


def test_only_what_a_cluster_would_refuse_is_an_error():
    """A claim and a request are refused, or ignored, by others than admission."""
    both = [*GRAPHS, *((reason, before, after, found) for reason, _, before, after, found in OTHERS)]
    severities = {code: severity(code) for _, _, _, found in both for code, _ in found}
    assert {code for code, said in severities.items() if said == "warning"} == {"DYN406", "DYN407"}
    assert set(severities.values()) == {"error", "warning"}


def severity(code):
    rows = [("DynamoGraphDeployment", *row[1:]) for row in GRAPHS] + [row[1:] for row in OTHERS]
    (found,) = {each.severity for kind, before, after, _ in rows for each in judged(kind, before, after) if each.code == code}
    return found


SERVICES = st.dictionaries(
    st.sampled_from("ab"), st.dictionaries(st.sampled_from(["multinode", "replicas", "scalingAdapter"]), strategies.JSON) | strategies.JSON
)
CLAIMS = st.lists(st.dictionaries(st.sampled_from(["name", "create", "size", "storageClass"]), st.just(True) | strategies.JSON, max_size=4))
SPECS = st.dictionaries(
    st.sampled_from(["services", "components", "pvcs", "backendFramework", "topologyConstraint", "modelType", "model"]),
    SERVICES | CLAIMS | strategies.JSON,
    max_size=3,
)


@over(
    SPECS | strategies.JSON,
    SPECS | strategies.JSON,
    st.sampled_from(["DynamoGraphDeployment", "DynamoModel", "DynamoGraphDeploymentRequest"]),
    st.sampled_from([dynamo_api.V1ALPHA1, dynamo_api.V1BETA1]),
)
def test_no_shape_breaks_it(before, after, kind, api):
    old, new = (given.item(kind, "chat", api=api, spec=spec) for spec in (before, after))
    kept = copy.deepcopy((old, new))
    list(updates.check([old], [new], HOME))
    assert (old, new) == kept
    assert list(updates.check([new], [new], HOME)) == []


def judged(kind, before, after):
    old, new = (given.item(kind, "chat", api="nvidia.com/v1alpha1", spec=spec) for spec in (before, after))
    return list(updates.check([old], [new], HOME))


def said(kind, before, after):
    return given.findings(judged(kind, before, after))


def image(tag):
    return beta.graph(beta.component("Worker", main={"image": f"registry.example/dynamo:{tag}"}))


def rendered_graph(tag, behaviour=""):
    """A graph as a render keeps it, with the annotation that names the release."""
    done = given.expanded(image(tag), behaviour=behaviour)
    return next(each for each in done.resources if each["kind"] == "DynamoGraphDeployment")


@pytest.mark.parametrize(
    ("reason", "before", "after", "behaviour", "found"),
    [
        ("images of another release", image("1.5.1"), image("1.6.0"), "", ["DYN526"]),
        ("the configuration names the release", image("1.5.1"), image("1.6.0"), "v1.5", []),
        ("a render wrote its release down", rendered_graph("1.6.0", "v1.5"), rendered_graph("1.6.0"), "", ["DYN526"]),
        ("the same release in both renders", rendered_graph("1.5.1"), rendered_graph("1.6.0", "v1.5"), "", []),
        ("a tag without a version", image("latest"), image("1.5.1"), "", ["DYN526"]),
    ],
)
def test_a_change_that_moves_a_graph_to_another_release_is_named(reason, before, after, behaviour, found):
    results = list(updates.check([before], [after], HOME, Config(behaviour=behaviour)))
    assert [each.code for each in results] == found, reason
