"""The number of GPUs that a container claims (reference: `internal/dra` ResolveGPUCount)."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kubernetes import device_claims
from krm_fn.kubernetes.references import name_fields
from tests.support import given
from tests.support.cases import cases
from tests.support.grove_faults import claimed

SPACE = given.NAMESPACE
GPU = "gpu.nvidia.com"


def exactly(count: Any = None, device: str = GPU, name: str = "r", **more: Any) -> dict[str, Any]:
    """A request as a claim of `resource.k8s.io/v1` has it."""
    return {"name": name, "exactly": {"deviceClassName": device, **({} if count is None else {"count": count}), **more}}


def chosen(*alternatives: tuple[str, int]) -> dict[str, Any]:
    """A request with alternatives."""
    return {"name": "r", "firstAvailable": [{"name": f"a{count}", "deviceClassName": name, "count": count} for name, count in alternatives]}


def device_class(name: str, **spec: Any) -> dict[str, Any]:
    return given.item("DeviceClass", name, api="resource.k8s.io/v1", namespace="", spec=spec)


def selector(text: str) -> dict[str, Any]:
    return {"cel": {"expression": text}}


def claims(*names: str, request: str = "") -> list[dict[str, str]]:
    return [{"name": name, **({"request": request} if request else {})} for name in names]


def counted(*items: Any, wanted: Any = None, listed: Any = None) -> int:
    """The GPUs of a container with these claims in a pod with these."""
    found = device_claims.read((item["metadata"].get("namespace", ""), item) for item in items)
    pod = {"resourceClaims": listed or [{"name": "mine", "resourceClaimTemplateName": "gpus"}]}
    return device_claims.count(found, SPACE, pod, {"resources": {"claims": claims("mine") if wanted is None else wanted}})


REQUESTS = [
    ("a number of devices", [claimed(exactly(8))], 8),
    ("one device, because the number is missing", [claimed(exactly())], 1),
    ("the shape before v1", [claimed({"name": "r", "deviceClassName": GPU, "count": 4})], 4),
    ("several requests", [claimed(exactly(2), exactly(3, name="s"))], 5),
    ("devices of another class", [claimed(exactly(2), exactly(3, "nic.example.com", "s"))], 2),
    ("the channel of a compute domain", [claimed(exactly(1, "compute-domain-default-channel.nvidia.com"))], 0),
    ("no request", [claimed()], 0),
    ("alternatives of the same number", [claimed(chosen((GPU, 2), ("gpu.example.com", 2)))], 2),
    ("a driver of GPUs", [claimed(exactly(2, "big", selectors=[selector(f"device.driver == '{GPU}' && true")]))], 2),
    ("a driver in the class", [claimed(exactly(2, "big")), device_class("big", selectors=[selector(f'device.driver == "{GPU}"')])], 2),
    ("another driver than the class's name tells", [claimed(exactly(2, selectors=[selector("device.driver == 'nic.example.com'")]))], 0),
    ("a driver that is one of two", [claimed(exactly(2, "big", selectors=[selector(f"device.driver == '{GPU}' || true")]))], 0),
    ("a class that stands for GPUs", [claimed(exactly(2, "big")), device_class("big", extendedResourceName="nvidia.com/gpu")], 2),
    ("a class that stands for another resource", [claimed(exactly(2)), device_class(GPU, extendedResourceName="example.com/nic")], 0),
    ("a class among the items that tells nothing", [claimed(exactly(2)), device_class(GPU)], 2),
    ("a class of another API", [claimed(exactly(2, "big")), {**device_class("big", extendedResourceName="x/gpu"), "apiVersion": "v1"}], 0),
]


@cases(("items", "number"), REQUESTS)
def test_the_requests_of_a_claim_tell_its_gpus(items, number):
    assert counted(*items) == number


REFERENCES = [
    ("a request of the claim", claims("mine", request="s"), 3),
    ("two requests of the claim", [*claims("mine", request="r"), *claims("mine", request="s")], 5),
    ("the same request twice", [*claims("mine", request="s"), *claims("mine", request="s")], 3),
    ("no claim", [], 0),
]


@cases(("wanted", "number"), REFERENCES)
def test_a_container_can_have_a_part_of_a_claim(wanted, number):
    assert counted(claimed(exactly(2), exactly(3, name="s")), wanted=wanted) == number


def test_the_claims_of_a_container_add_up():
    """A claim and a template of the same name are two things."""
    listed = [{"name": "a", "resourceClaimName": "gpus"}, {"name": "b", "resourceClaimTemplateName": "gpus"}]
    items = [claimed(exactly(2)), claimed(exactly(3), kind="ResourceClaim")]
    assert counted(*items, wanted=claims("a", "b"), listed=listed) == 5
    assert counted(*items, wanted=claims("a"), listed=listed) == 3


BROKEN = {"deviceClassName": GPU, "count": "2"}
UNKNOWN = [
    ("nothing", [], None, "the ResourceClaimTemplate gpus is not among the items"),
    ("a template of another namespace", [claimed(exactly(2), namespace="other")], None, "is not among the items"),
    ("a claim that the pod lacks", [claimed(exactly(2))], claims("other"), "the pod has no claim other"),
    ("a request that the claim lacks", [claimed(exactly(2))], claims("mine", request="s"), "has no request s"),
    ("all devices", [claimed(exactly(allocationMode="All"))], None, "has no fixed number of GPUs"),
    ("a text in place of the number", [claimed({"name": "r", "exactly": BROKEN})], None, "has no fixed number of GPUs"),
    ("alternatives of two numbers", [claimed(chosen((GPU, 2), (GPU, 1)))], None, "have different numbers of GPUs"),
    ("alternatives of which one is no GPU", [claimed(chosen((GPU, 2), ("nic.example.com", 2)))], None, "have different numbers of GPUs"),
    (
        "two drivers",
        [claimed(exactly(2, selectors=[selector(f"device.driver == '{GPU}'"), selector("device.driver == 'nic.example.com'")]))],
        None,
        "asks for drivers of GPUs and of other devices",
    ),
]


@cases(("items", "wanted", "reason"), UNKNOWN)
def test_the_reason_says_why_the_number_is_unknown(items, wanted, reason):
    with pytest.raises(ValueError, match=reason):
        counted(*items, wanted=wanted)


JUNK = [
    None,
    5,
    "text",
    [],
    [5],
    {},
    {"requests": 5},
    {"requests": [5, {}]},
    {"requests": [{"exactly": 5, "firstAvailable": 5, "selectors": 5}]},
]


@pytest.mark.parametrize("broken", JUNK, ids=str)
def test_a_broken_claim_has_no_gpus(broken):
    """Items that a graph refers to are not checked, so their specs can be anything."""
    item = {**claimed(), "spec": {"spec": {"devices": broken}}}
    assert counted(item) == 0
    assert counted({**item, "spec": broken}) == 0


@pytest.mark.parametrize("broken", [None, 5, [], {"selectors": [5, {"cel": 5}, {"cel": {"expression": 5}}]}], ids=str)
def test_a_broken_class_counts_by_its_name(broken):
    assert counted(claimed(exactly(2)), {**device_class(GPU), "spec": broken}) == 2


FIELDS = [field for field in name_fields.OF_PODS if field.path[0] == "resourceClaims"]


@pytest.mark.parametrize("field", FIELDS, ids=[".".join(map(str, field.path)) for field in FIELDS])
def test_an_entry_names_its_object_in_each_field_of_the_table(field):
    assert device_claims.reference({"name": "g", field.path[-1]: "gpus"}, "g") == (field.targets[0][1], "gpus")
