"""Fleets that are upgraded on a real API server: graphs of the examples with other names and images, and further shapes.

Each fleet has two namespaces. The fleets are the same in each run: chance is seeded with their numbers.
"""

from __future__ import annotations

import random
import re
from typing import Any, NamedTuple

import yaml

from krm_fn.migration.upgrade.upgrade_planner import UpgradeOptions
from krm_fn.render.config import GroveSettings, KaiSchedulerSettings
from krm_fn.render.convert import versions
from tests.support import beta, given
from tests.testbed import programs

Object = dict[str, Any]

V1BETA1 = "nvidia.com/v1beta1"
_RECREATE = {"nvidia.com/deployment-strategy": "Recreate"}
_ONE_AT_A_TIME = {"nvidia.com/deployment-rolling-update-max-surge": "0", "nvidia.com/deployment-rolling-update-max-unavailable": "1"}
_RUNTIME = re.compile(r"(nvcr\.io/nvidia/ai-dynamo/[a-z-]+|registry\.example/[a-z-]+):[0-9.]+")
_GRAPHS = ("DynamoGraphDeployment", "DynamoComponentDeployment")
_GROVE = {"orchestrator": "grove"}
_KAI = {**_GROVE, "grove": GroveSettings(kai_scheduler=KaiSchedulerSettings(enabled=True))}
_EXAMPLES = ("agg-vllm", "component-alone", "older-planner", "epp-gateway", "inventory", "multinode-sglang-grove",
    "multinode-trtllm-grove", "multinode-vllm", "older-forms", "pvc-cache", "scaling-hpa", "scaling-keda", "sglang", "trtllm")  # fmt: skip
_V1BETA1_EXAMPLES = ("v1beta1-agg-vllm", "v1beta1-disagg-sglang", "v1beta1-frontend-sidecar", "v1beta1-multinode-vllm")


class Fleet(NamedTuple):
    """A fleet and its upgrade. `tags` are the tags of the images of its graphs, in turn.

    `convert` is true for graphs of v1alpha1 that are converted to v1beta1; otherwise, most graphs are in v1alpha1. `origin` is the origin
    version of each second graph.
    """

    reason: str
    tags: tuple[str, ...]
    target: str
    graphs: int
    settings: dict[str, Any] = {}
    options: UpgradeOptions = UpgradeOptions()
    convert: bool = False
    origin: str = ""


FLEETS = (
    Fleet("images choose the release", ("0.9.0",), "1.6", 5),
    Fleet("a pinned release", ("0.9.1",), "1.6", 4, {"behaviour": "v0.9"}),
    Fleet("Grove", ("0.9.0",), "1.6", 5, _GROVE),
    Fleet("a pinned release and Grove", ("0.9.0",), "1.6", 4, {**_GROVE, "behaviour": "v0.9"}),
    Fleet("v1beta1", ("1.0.2",), "1.6", 5, convert=True),
    Fleet("v1beta1 and Grove", ("1.4.2",), "1.6", 5, _GROVE, convert=True),
    Fleet("a target between", ("0.9.0",), "1.5", 4),
    Fleet("one step to 1.6", ("1.5.1",), "1.6", 6),
    Fleet("one step to 1.6 of v1beta1", ("1.5.0",), "1.6", 6, convert=True),
    Fleet("one step to 1.6 with Grove", ("1.5.1",), "1.6", 5, _GROVE),
    Fleet("the KAI scheduler", ("1.5.1",), "1.6", 3, _KAI),
    Fleet("the release of a pinned configuration with newer images", ("1.6.1",), "1.6", 4, {"behaviour": "v1.5"}),
    Fleet("a lower limit for the release", ("1.4.0",), "1.6", 3, {"behaviour": "v1.5+"}),
    Fleet("graphs of several releases", ("0.9.0", "1.5.1", "1.6.1"), "1.6", 8),
    Fleet("graphs at the target", ("1.6.1", "1.5.1"), "1.6", 4, convert=True),
    Fleet("the origin version moves, too", ("1.5.1",), "1.6", 4, options=UpgradeOptions(new_origin=True), origin="1.5.0"),
    Fleet("the origin version stays", ("1.5.1",), "1.6", 4, _GROVE, origin="1.5.0", convert=True),
    Fleet("the API version moves, too", ("1.5.1",), "1.6", 4, options=UpgradeOptions(api_version=V1BETA1)),
    Fleet("names with the worker hash", ("1.4.2",), "1.6", 4, {"worker_hash": "names"}, convert=True),
    Fleet("a downgrade", ("1.6.1",), "1.5", 5, options=UpgradeOptions(downgrade=True)),
)


def resources(number: int, fleet: Fleet) -> list[Object]:
    """Returns the resources of a fleet."""
    chance = random.Random(number)  # noqa: S311 - test data
    names = [*_EXAMPLES, *((*_V1BETA1_EXAMPLES, *_SHAPES) if fleet.tags[0] >= "1" else ())]
    chance.shuffle(names)
    found: list[Object] = []
    for position in range(fleet.graphs):
        tag = fleet.tags[position % len(fleet.tags)]
        namespace = f"fleet-{number}-{'ab'[position % 2]}"
        for resource in _SHAPES[names[position]](tag) if names[position] in _SHAPES else _example(names[position]):
            graph = _with_tag(resource, tag) if names[position] not in _SHAPES else resource
            if fleet.convert or names[position] in _EXAMPLES:
                graph = versions.to("v1beta1" if fleet.convert else "v1alpha1", graph)
            annotations = {**(graph["metadata"].get("annotations") or {})}
            if fleet.origin and position % 2:
                annotations["nvidia.com/dynamo-operator-origin-version"] = fleet.origin
            metadata = {**graph["metadata"], "namespace": namespace, "annotations": annotations}
            if graph["kind"] in _GRAPHS:
                metadata["name"] = f"g{position}-{names[position]}"[:24].rstrip("-")
            found.append({**graph, "metadata": metadata})
    return found


def _example(name: str) -> list[Object]:
    """Returns the graphs and components of an example."""
    text = (programs.ROOT / "examples" / name / "graph.yaml").read_text()
    return [resource for resource in yaml.safe_load_all(text) if resource and resource["kind"] in _GRAPHS][:1]


def _with_tag(value: Any, tag: str) -> Any:
    """Returns a value whose images of Dynamo have another tag."""
    if isinstance(value, dict):
        return {key: _with_tag(entry, tag) for key, entry in value.items()}
    if isinstance(value, list):
        return [_with_tag(entry, tag) for entry in value]
    return _RUNTIME.sub(rf"\g<1>:{tag}", value) if isinstance(value, str) else value


def _override(tag: str) -> list[Object]:
    """Images without a version, which the graph names itself."""
    worker = beta.component("Worker", main={"image": "registry.example/own:nightly"}, runtimeVersionOverride=tag, replicas=2)
    return [beta.graph(beta.component("Frontend", "frontend", main={"image": f"registry.example/own:{tag}"}), worker)]


def _recreated(tag: str) -> list[Object]:
    """A service that stops before it starts, and one that stops one pod at a time."""
    services = {
        "Frontend": given.service("frontend", main={"image": f"registry.example/own:{tag}"}, replicas=2, annotations=_ONE_AT_A_TIME),
        "Worker": given.service("worker", main={"image": f"registry.example/own:{tag}"}, replicas=2, annotations=_RECREATE),
    }
    return [given.graph(services)]


def half_way(tag: str) -> list[Object]:
    """A graph whose worker has the newest image before the upgrade."""
    worker = beta.component("Worker", main={"image": "registry.example/own:1.6.1"}, replicas=2)
    return [beta.graph(beta.component("Frontend", "frontend", main={"image": f"registry.example/own:{tag}"}), worker)]


def _sleeping(tag: str) -> list[Object]:
    """A worker without replicas."""
    worker = beta.component("Worker", main={"image": f"registry.example/own:{tag}"}, replicas=0)
    return [beta.graph(beta.component("Frontend", "frontend", main={"image": f"registry.example/own:{tag}"}), worker)]


_SHAPES = {"override": _override, "recreated": _recreated, "half-way": half_way, "sleeping": _sleeping}
