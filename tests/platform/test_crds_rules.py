"""The rules of the definitions in CEL: an API server and our own check find the same, with the same code, field and sentence."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render.schema import rule_messages
from krm_fn.schemas import finding_pages
from tests.platform import cel, test_crds_rules_v1beta1
from tests.platform.cel import Case
from tests.support import schema_mistakes
from tests.support.schema_mistakes import model, other, worker


def graph(**spec: Any) -> dict[str, Any]:
    return schema_mistakes.graph({"services": {"Worker": {}}, **spec})


AT = "spec.services[Worker]"
ORDER = "spec.restart.strategy.order"
REFERENCE = {"name": "a", "key": "b"}
PICKER: dict[str, Any] = {"plugins": [], "schedulingProfiles": []}
TYPED = {"componentType": "epp"}
CREATED = {"name": "a", "create": True, "storageClass": "s", "size": "1Gi", "volumeAccessMode": "ReadWriteOnce"}


def epp(**fields: Any) -> dict[str, Any]:
    return worker(**TYPED, **fields)


def ordered(*order: str, **strategy: Any) -> dict[str, Any]:
    return graph(services={"A": {}, "B": {}}, restart={"id": "1", "strategy": {"order": [*order], **strategy}})


RULES = [
    Case("a service", graph()),
    Case("no service", graph(services={}), "DYN100", "spec.services"),
    Case("nothing at all", {key: part for key, part in graph().items() if key != "spec"}, "DYN100", "spec.services"),
    Case("names that differ in nothing but case", graph(services={"Worker": {}, "Decode": {}, "worker": {}}), "DYN101", "spec.services"),
    Case("names that begin alike", graph(services={"Worker": {}, "Workers": {}})),
    Case("a picker", epp(eppConfig={"config": PICKER})),
    Case("two pickers", graph(services={name: {**TYPED, "eppConfig": {"config": PICKER}} for name in "AB"}), "DYN102", "spec.services"),
    Case("a claim that is there", graph(pvcs=[{"name": "a"}])),
    Case("a claim without a name", graph(pvcs=[{"name": ""}]), "DYN103", "spec.pvcs[0].name"),
    Case("a claim to create", graph(pvcs=[CREATED])),
    *(
        Case(f"with a size of {size}", graph(pvcs=[{**CREATED, "size": size}]))
        for size in (1, "1", "0.5Gi", "01Gi", "00.10", ".01Ti", "+1e3")
    ),
    Case("an existing claim of no size", graph(pvcs=[{"name": "a", "size": "0Gi"}])),
    *(
        Case(f"without {field}", graph(pvcs=[{key: CREATED[key] for key in CREATED if key != field}]), "DYN105", f"spec.pvcs[0].{field}")
        for field in ("storageClass", "size", "volumeAccessMode")
    ),
    *(
        Case(f"with {field} {empty!r}", graph(pvcs=[{**CREATED, field: empty}]), "DYN105", f"spec.pvcs[0].{field}")
        for field, empty in (
            ("storageClass", ""),
            ("size", "0"),
            ("size", "0Gi"),
            ("size", "0.0e3"),
            ("size", "-0m"),
            ("size", 0),
            ("volumeAccessMode", ""),
        )
    ),
    Case("every service in its order", ordered("B", "A")),
    Case("no order", ordered()),
    Case("all at once", ordered(type="Parallel")),
    Case("an order for all at once", ordered("A", "B", type="Parallel"), "DYN107", ORDER),
    Case("a service that is not there", ordered("A", "B", "C"), "DYN108", ORDER),
    Case("a service twice", ordered("A", "B", "A"), "DYN109", ORDER),
    Case("a service left out", ordered("A"), "DYN110", ORDER),
    Case("shared memory", worker(sharedMemory={"size": "16Gi"})),
    Case("shared memory in bytes", worker(sharedMemory={"size": 1024})),
    Case("none", worker(sharedMemory={"disabled": True})),
    Case("shared memory without a size", worker(sharedMemory={}), "DYN116", f"{AT}.sharedMemory.size"),
    Case("of no size", worker(sharedMemory={"size": "0Gi"}), "DYN116", f"{AT}.sharedMemory.size"),
    Case("of no bytes", worker(sharedMemory={"size": 0}), "DYN116", f"{AT}.sharedMemory.size"),
    Case("a picker on two nodes", epp(eppConfig={"config": PICKER}, multinode={}), "DYN130", f"{AT}.multinode"),
    Case("one picker", epp(eppConfig={"config": PICKER}, replicas=1)),
    # Since 1.5, the version of the image decides about replicas and the configuration, and a CRD cannot read it.
    Case("several native pickers", epp(replicas=2)),
    Case("with one by reference", epp(eppConfig={"configMapRef": REFERENCE})),
    Case("with two", epp(eppConfig={"config": PICKER, "configMapRef": REFERENCE}), "DYN133", f"{AT}.eppConfig"),
    Case("by reference to nothing", epp(eppConfig={"configMapRef": {"key": "b"}}), "DYN134", f"{AT}.eppConfig.configMapRef.name"),
    Case("a worker may say what it likes", worker(componentType="worker", eppConfig={}, replicas=0, multinode={})),
    Case("a mount", worker(volumeMounts=[{"name": "a", "mountPoint": "/a"}])),
    Case("a mount without a name", worker(volumeMounts=[{"name": "", "mountPoint": "/a"}]), "DYN145", f"{AT}.volumeMounts[0].name"),
    Case("a mount without a place", worker(volumeMounts=[{"name": "a"}]), "DYN146", f"{AT}.volumeMounts[0].mountPoint"),
    Case("a cache finds its place", worker(volumeMounts=[{"name": "a", "useAsCompilationCache": True}])),
    Case("an ingress", worker(ingress={"enabled": True, "host": "a"})),
    Case("no ingress", worker(ingress={"enabled": False})),
    Case("an ingress without a host", worker(ingress={"enabled": True, "host": ""}), "DYN149", f"{AT}.ingress.host"),
    Case(
        "the same of a component alone", other("DynamoComponentDeployment", {"ingress": {"enabled": True}}), "DYN149", "spec.ingress.host"
    ),
    Case("a model", model(modelType="adapter")),
    Case("an adapter of a model", model(modelType="lora", source={"uri": "s3://a"})),
    Case("from nowhere", model(modelType="lora"), "DYN170", "spec.source"),
    Case("from elsewhere", model(modelType="lora", source={"uri": "http://a"}), "DYN171", "spec.source.uri"),
    Case("a model from elsewhere", model(source={"uri": "http://a"})),
]


@pytest.mark.parametrize("case", RULES, ids=[case.reason for case in RULES])
def test_rules(case, dynamo):
    cel.compare(case, dynamo, {rule.code for rule in RULES})


def test_every_rule_has_its_case():
    newer = {case.code for case in test_crds_rules_v1beta1.RULES}
    assert cel.rules("v1alpha1") - newer == {case.code for case in RULES if case.code} - newer
    assert {*rule_messages.MESSAGES} <= {*finding_pages.pages()}


def test_the_largest_graph_stays_below_the_cost_limit_of_an_api_server(dynamo):
    """The server estimates the cost of a rule when a definition is written, and counts it when a resource is written."""
    names = [f"service-{index:0>51}-end" for index in range(25)]
    mounts = [{"name": f"claim-{index}", "mountPoint": f"/{index}"} for index in range(100)]
    services = {
        name: {"volumeMounts": mounts, "sharedMemory": {"size": "1Gi"}, "ingress": {"enabled": True, "host": "a"}} for name in names
    }
    pvcs = [{**CREATED, "name": f"claim-{index}"} for index in range(100)]
    full = graph(services=services, pvcs=pvcs, restart={"id": "1", "strategy": {"order": names}})
    assert dynamo.apply(full).message == ""
