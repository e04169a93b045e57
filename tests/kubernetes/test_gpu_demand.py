"""The GPUs that pods ask for (reference: `internal/dynamo/gpu_shape.go`, `internal/dra`)."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kubernetes import device_claims, gpu_demand
from krm_fn.kubernetes.gpu_demand import ClaimUse, GPUDemand
from tests.support.cases import cases

SPACE = "inference"
GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-2g.10gb"
DRIVER: dict[str, Any] = {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}


def container(gpus: Any = None, *, name: str = "main", claims: Any = (), **more: Any) -> dict[str, Any]:
    """A container with this number of GPUs. A claim is a name, or a name and a request."""
    pairs = [claim if isinstance(claim, tuple) else (claim, "") for claim in claims]
    listed = [{"name": entry, **({"request": request} if request else {})} for entry, request in pairs]
    return {"name": name, "resources": {"limits": {} if gpus is None else {GPU: gpus}, "claims": listed}, **more}


def pod(*containers: Any, init: Any = (), **claims: str) -> dict[str, Any]:
    """A pod. A claim `c:NAME` is a ResourceClaim, `t:NAME` a template."""
    fields = {"c": "resourceClaimName", "t": "resourceClaimTemplateName"}
    listed = [{"name": name, fields[target[0]]: target[2:]} for name, target in claims.items()]
    return {"containers": list(containers), "initContainers": list(init), "resourceClaims": listed}


def restartable(gpus: Any, name: str = "side") -> dict[str, Any]:
    return container(gpus, name=name, restartPolicy="Always")


PODS = [
    ("containers run together", pod(container(4), container(1, name="b")), 5),
    ("an init container that ends gives its GPUs back", pod(container(4), init=[container(3, name="i")]), 4),
    ("the largest init container counts, if it needs more", pod(container(1), init=[container(3, name="i"), container(2, name="j")]), 3),
    ("a restartable one runs beside the containers", pod(container(4), init=[restartable(2)]), 6),
    ("and beside the init containers after it", pod(container(1), init=[restartable(2), container(5, name="i")]), 7),
    ("but not beside those before it", pod(container(1), init=[container(5, name="i"), restartable(2)]), 5),
    ("a container without resources has none", pod({"name": "main"}), 0),
    ("null resources are none", pod({"name": "main", "resources": None}), 0),
    ("thousands", pod(container("2k")), 2000),
    ("parts of a GPU count one each", pod({"name": "main", "resources": {"limits": {MIG: "3"}}}), 3),
    ("limits come first, even if they are 0", pod({"name": "main", "resources": {"limits": {GPU: 0}, "requests": {GPU: 2}}}), 0),
    ("two kinds of GPUs in two containers", pod(container(1), {"name": "b", "resources": {"requests": {MIG: 1}}}), 2),
]


@cases(("spec", "number"), PODS)
def test_a_pod_needs_what_runs_at_the_same_time(spec, number):
    assert gpu_demand.of_pods([(spec, 1)]) == GPUDemand(number)
    assert gpu_demand.of_pods([(spec, 3)]) == GPUDemand(3 * number)


AMBIGUOUS = [
    ("a fraction", pod(container("500m")), "container main has 500m of nvidia.com/gpu, which is not a whole number"),
    ("less than nothing", pod(container("-1")), "has -1 of nvidia.com/gpu"),
    ("no quantity", pod(container("many")), "nvidia.com/gpu of container main: 'many' is not a quantity"),
    ("an init container", pod(init=[container("1500m", name="i")]), "init container i has 1500m"),
    ("two kinds", pod({"name": "main", "resources": {"limits": {GPU: 1}, "requests": {MIG: 1}}}), f"{GPU} and {MIG}; keep one"),
    ("more than a number of a status", pod(container("3G")), "3000000000 GPUs are more than a status can hold"),
    ("a claim that the pod does not list", pod(container(claims=["g"])), "the pod has no claim g"),
    ("an entry without an object", {**pod(container(claims=["g"])), "resourceClaims": [{"name": "g"}]}, "the claim g names no"),
]


@cases(("spec", "reason"), AMBIGUOUS)
def test_the_reason_names_the_container(spec, reason):
    with pytest.raises(ValueError, match=reason):
        gpu_demand.of_pods([(spec, 1)])


def template(*requests: str, times: int = 1) -> ClaimUse:
    return ClaimUse("ResourceClaimTemplate", "t", requests, times)


def claim(*requests: str) -> ClaimUse:
    return ClaimUse("ResourceClaim", "c", requests)


CLAIMS = [
    ("each pod has its own claim of a template", [(pod(container(claims=["g"]), g="t:t"), 3)], [template(times=3)]),
    ("all pods share a claim", [(pod(container(claims=["g"]), g="c:c"), 3), (pod(container(claims=["x"]), x="c:c"), 1)], [claim()]),
    ("containers of a pod share its claim", [(pod(container(claims=["g"]), container(claims=["g"], name="b"), g="t:t"), 1)], [template()]),
    ("two entries are two claims", [(pod(container(claims=["g", "h"]), g="t:t", h="t:t"), 1)], [template(times=2)]),
    ("an init container uses it", [(pod(container(), init=[container(name="i", claims=["g"])], g="t:t"), 1)], [template()]),
    ("a claim that no container uses", [(pod(container(), g="t:t"), 1)], []),
    ("one request", [(pod(container(claims=[("g", "a")]), g="t:t"), 2)], [template("a", times=2)]),
    ("two requests", [(pod(container(claims=[("g", "b"), ("g", "a")]), g="t:t"), 1)], [template("a", "b")]),
    ("a request and the whole claim", [(pod(container(claims=[("g", "a"), "g"]), g="t:t"), 1)], [template()]),
    (
        "pods use different requests of one claim",
        [(pod(container(claims=[("g", "a")]), g="c:c"), 1), (pod(container(claims=[("g", "b")]), g="c:c"), 1)],
        [claim("a", "b")],
    ),
]


@cases(("pods", "uses"), CLAIMS)
def test_claims_are_counted_once_for_each_object_that_exists(pods, uses):
    assert gpu_demand.of_pods(pods) == GPUDemand(0, tuple(uses))


def test_an_engine_has_the_gpus_of_its_container_on_all_nodes():
    """The other containers and the init containers are not part of it."""
    main = container(2, claims=["g", "n"])
    spec = pod(main, container(8, name="b"), init=[container(9, name="i")], g="t:t", n="c:c")
    assert gpu_demand.of_container(spec, main, 3) == GPUDemand(6, (claim(), template(times=3)))


def cluster(classes: Any, *requests: Any) -> device_claims.Devices:
    """A cluster with one template of these requests."""
    specs = {("ResourceClaimTemplate", SPACE, "t"): {"devices": {"requests": list(requests)}}}
    return device_claims.Devices(specs, classes, counts_by_name=False)


def request(count: int, device: str = "big", name: str = "r", **more: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": device, "count": count, **more}}


def test_claims_count_as_often_as_they_exist():
    demand = GPUDemand(1, (template(times=3),))
    assert gpu_demand.resolve_demand(demand, cluster({"big": DRIVER}, request(2), request(1, name="s")), SPACE) == 1 + 3 * 3


CLASSES = [
    ("a selector of the class", {"big": DRIVER}, request(2), 2),
    ("a selector of the request", {"big": {}}, request(2, **DRIVER), 2),
    ("a class that stands for GPUs", {"big": {"extendedResourceName": GPU}}, request(2), 2),
    ("a class without selectors counts by its name", {"gpu.example.com": {}}, request(2, "gpu.example.com"), 2),
    ("the driver wins over the name", {"gpu": {"selectors": [{"cel": {"expression": 'device.driver == "nic"'}}]}}, request(2, "gpu"), 0),
]


@cases(("classes", "wanted", "number"), CLASSES)
def test_the_class_in_the_cluster_shows_if_devices_are_gpus(classes, wanted, number):
    assert gpu_demand.resolve_demand(GPUDemand(0, (template(),)), cluster(classes, wanted), SPACE) == number


UNKNOWN = [
    ("the class does not exist", {}, request(2), "asks for the DeviceClass big, which does not exist"),
    ("its name alone shows nothing", {"big": {}}, request(2), "it is unknown if the DeviceClass big"),
    (
        "one of two drivers",
        {"gpu": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.x' || device.driver == 'nic'"}}]}},
        request(2, "gpu"),
        "set extendedResourceName in the class",
    ),
    ("all devices", {"big": DRIVER}, request(1, allocationMode="All"), "has no fixed number of GPUs"),
    ("no class", {"big": DRIVER}, {"name": "r"}, "names no device class"),
    ("too many", {"big": DRIVER}, request(2**40), "more than a status can hold"),
]


@cases(("classes", "wanted", "reason"), UNKNOWN)
def test_a_cluster_is_not_guessed(classes, wanted, reason):
    """A build counts a class by its name. The number in a status decides how a planner scales, so it must be right."""
    with pytest.raises(ValueError, match=reason):
        gpu_demand.resolve_demand(GPUDemand(0, (template(),)), cluster(classes, wanted), SPACE)


def test_a_claim_that_does_not_exist_has_a_reason():
    with pytest.raises(ValueError, match="the ResourceClaim c is not in namespace inference"):
        gpu_demand.resolve_demand(GPUDemand(0, (claim(),)), cluster({}), SPACE)
