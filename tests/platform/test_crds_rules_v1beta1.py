"""The rules of the v1beta1 definitions in CEL: an API server and our own check find the same, with the same code, field and sentence."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import dynamo_api
from krm_fn.render.schema import rule_messages
from tests.platform import cel
from tests.platform.cel import Case
from tests.support import beta, given, newer_faults
from tests.testbed import api

AT = "spec.components[0]"
ORDER = "spec.restart.strategy.order"
PICKER: dict[str, Any] = {"plugins": [], "schedulingProfiles": []}
SIDECAR = {"name": "a"}


def component(name="Worker", **fields):
    return beta.component(name, **fields)


def worker(**fields):
    return beta.graph(component(**fields), namespace="default")


def epp(**fields):
    main = {"main": {"image": given.CONFIGURED_PICKER}} if "eppConfig" in fields else {}
    return beta.graph(component("Picker", kind="epp", **main, **fields), namespace="default")


def ordered(*order, **strategy):
    return beta.graph(component("A"), component("B"), namespace="default", restart={"id": "1", "strategy": {"order": [*order], **strategy}})


def placed(written):
    return {**written, "metadata": {**written["metadata"], "namespace": "default"}}


OF_IMAGES = {"DYN131", "DYN132"}
"""The version of the image decides about these, and a rule of a CRD cannot read it."""
SPECIFIC = {
    "DYN455": f"{AT}.eppConfig",
    "DYN454": f"{AT}.minAvailable",
    "DYN457": f"{AT}.podTemplate.metadata.annotations",
    "DYN463": f"{AT}.experimental.gpuMemoryService.extraClientContainers",
    "DYN464": f"{AT}.experimental.gpuMemoryService.extraClientPods",
    "DYN469": f"{AT}.experimental.checkpoint.job",
    "DYN472": "spec.experimental.kvTransferPolicy",
    "DYN473": "spec.experimental.kvTransferPolicy.preferredWeight",
    "DYN474": "spec.experimental.kvTransferPolicy.labelKey",
}
"""The fields that an API server names."""

RULES = [
    Case("a component", worker()),
    Case("no component", {**worker(), "spec": {"components": []}}, "DYN100", "spec.components"),
    Case("no spec", given.item("DynamoGraphDeployment", "a", api="nvidia.com/v1beta1", namespace="default"), "DYN100", "spec.components"),
    Case(
        "names that differ in nothing but case",
        beta.graph(component("Worker"), component("worker"), namespace="default"),
        "DYN101",
        "spec.components",
    ),
    Case("a picker", epp(eppConfig={"config": PICKER})),
    Case(
        "two pickers",
        beta.graph(*(component(name, kind="epp", eppConfig={"config": PICKER}) for name in "AB"), namespace="default"),
        "DYN102",
        "spec.components",
    ),
    Case("every component in its order", ordered("B", "A")),
    Case("a restart without an order", ordered()),
    Case("an order for all at once", ordered("A", "B", type="Parallel"), "DYN107", ORDER),
    Case("a component that is not there", ordered("A", "B", "C"), "DYN108", ORDER),
    Case("a component twice", ordered("A", "B", "A"), "DYN109", ORDER),
    Case("a component left out", ordered("A"), "DYN110", ORDER),
    Case("a picker on two nodes", epp(eppConfig={"config": PICKER}, multinode={}), "DYN130", f"{AT}.multinode"),
    Case("several native pickers, whose image decides about a configuration", epp(replicas=2)),
    Case("with two", epp(eppConfig={"config": PICKER, "configMapRef": {"name": "a", "key": "b"}}), "DYN133", f"{AT}.eppConfig"),
    Case("by reference to nothing", epp(eppConfig={"configMapRef": {"key": "b"}}), "DYN134", f"{AT}.eppConfig.configMapRef.name"),
    Case("a sidecar without an image", worker(beside=[SIDECAR]), "DYN205", f"{AT}.podTemplate.spec.containers[1].image"),
    Case("with an empty one", worker(beside=[{**SIDECAR, "image": ""}]), "DYN205", f"{AT}.podTemplate.spec.containers[1].image"),
    Case("before the others", worker(pod={"initContainers": [SIDECAR]}), "DYN205", f"{AT}.podTemplate.spec.initContainers[0].image"),
    Case("no replicas, so that none is available", worker(replicas=0, minAvailable=2)),
    *(
        Case(case.reason, placed(case.items[0]), code, SPECIFIC[code])
        for case in newer_faults.ALL
        for code, field in case.found[:1]
        if code in SPECIFIC and field.startswith("spec.") and case.items[0]["apiVersion"] == dynamo_api.V1BETA1
    ),
]


@pytest.mark.parametrize("case", RULES, ids=[case.reason for case in RULES])
def test_rules(case, dynamo_v1beta1):
    cel.compare(case, dynamo_v1beta1, {rule.code for rule in RULES})


def test_every_rule_has_its_case():
    assert cel.rules("v1beta1") == {case.code for case in RULES if case.code}
    assert cel.rules("v1alpha1") | cel.rules("v1beta1") == {*rule_messages.MESSAGES} - OF_IMAGES - {"DYN480"}


@pytest.mark.parametrize(("before", "after", "refused"), [(None, 1, False), (2, 2, False), (2, 1, True), (1, 2, True), (2, None, True)])
def test_the_number_of_available_replicas_stays(before, after, refused, dynamo_v1beta1):
    """A component without a number has one available replica."""

    def written(number):
        return placed(worker(replicas=3, **({} if number is None else {"minAvailable": number})))

    path = dynamo_v1beta1.client.path(written(before))
    assert dynamo_v1beta1.apply(written(before), dry_run=False).ok
    answer = dynamo_v1beta1.client.request("PATCH", f"{path}?dryRun=All", {"spec": written(after)["spec"]}, api.MERGE)
    assert ("DYN480" in answer.message) is refused
    assert answer.ok is not refused
    assert dynamo_v1beta1.client.request("DELETE", path).ok


def test_the_largest_graph_stays_below_the_cost_limit_of_an_api_server(dynamo_v1beta1):
    """The server estimates the cost of a rule when a definition is written, and counts it when a resource is written."""
    names = [f"component-{index:0>49}-end" for index in range(25)]
    beside = [{"name": f"c{index}", "image": "registry.example/helper:1"} for index in range(50)]
    memory = {"gpuMemoryService": {"extraClientContainers": [f"c{index}" for index in range(50)]}}
    components = [component(name, beside=beside, pod={"initContainers": beside}, minAvailable=1, experimental=memory) for name in names]
    full = beta.graph(*components, namespace="default", restart={"id": "1", "strategy": {"order": names}})
    assert dynamo_v1beta1.apply(full).message == ""
