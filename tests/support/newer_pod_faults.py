"""Inputs for the findings about pods under release 1.5: each at the field that its author wrote, in both API versions."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from tests.support import beta, given
from tests.support.faults import Case, fires, quiet

_NEWER = {"behaviour": "v1.5"}
_AT = "spec.components[0]"
_METADATA = f"{_AT}.podTemplate.metadata"
_POD = f"{_AT}.podTemplate.spec"
_MAIN = f"{_POD}.containers[0]"
_SERVICE = "spec.services.Worker"
_EXTRA = f"{_SERVICE}.extraPodSpec"
_SHM = "/dev/shm"  # noqa: S108 - the kernel's name for it
_BAD = {"name": "Not_A_Name", "emptyDir": {}}
_NO_HANDLER = {"periodSeconds": 3}


def newer(**fields: Any) -> Resource:
    """A graph in v1beta1 with one worker, called `Worker`."""
    return beta.graph(beta.component("Worker", **fields))


def older(**fields: Any) -> Resource:
    """A graph in v1alpha1 with one worker, called `Worker`."""
    return given.graph({"Worker": beta.service(**fields)})


def spec(graph: Resource, **fields: Any) -> Resource:
    """The graph with more fields."""
    return {**graph, "spec": {**graph["spec"], **fields}}


METADATA = [
    fires("DYN425", f"{_METADATA}.labels['{labels.SELECTOR}']", "a label of Dynamo", newer(metadata={"labels": {labels.SELECTOR: "mine"}})),
    fires(
        "DYN425",
        f"{_SERVICE}.extraPodMetadata.labels['{labels.GRAPH}']",
        "a label of Dynamo on the pods of a service",
        older(extraPodMetadata={"labels": {labels.GRAPH: "mine"}}),
        **_NEWER,
    ),
    quiet("a label with Dynamo's own value", newer(metadata={"labels": {labels.SELECTOR: "chat-worker", "team": "a"}})),
    fires("DYN204", f"{_METADATA}.labels.team", "a label value of a component", newer(metadata={"labels": {"team": "-"}})),
    fires("DYN204", "spec.labels.team", "a label value of a graph", spec(newer(), labels={"team": "-"})),
    fires("DYN203", "spec.annotations.-", "an annotation key of a graph", spec(newer(), annotations={"-": "a"})),
    fires("DYN203", f"{_METADATA}.annotations.-", "an annotation key of a component", newer(metadata={"annotations": {"-": "a"}})),
    fires("DYN203", f"{_SERVICE}.annotations.-", "an annotation key of a service", older(annotations={"-": "a"}), **_NEWER),
    fires(
        "DYN203",
        f"{_SERVICE}.extraPodMetadata.annotations.-",
        "an annotation key of the pods of a service",
        older(extraPodMetadata={"annotations": {"-": "a"}}),
        **_NEWER,
    ),
    fires(
        "DYN426",
        f"{_METADATA}.annotations['{labels.DEBUG}']",
        "a debug mode",
        newer(metadata={"annotations": {labels.DEBUG: "true", labels.STEALING_DEBUG: "false"}}),
    ),
    fires(
        "DYN426",
        f"{_SERVICE}.annotations['{labels.STEALING_DEBUG}']",
        "a debug mode of a service",
        older(annotations={labels.STEALING_DEBUG: "true"}),
        **_NEWER,
    ),
    fires("DYN159", f"spec.annotations['{labels.MAX_SURGE}']", "a step of a graph", spec(newer(), annotations={labels.MAX_SURGE: "a"})),
    fires(
        "DYN159",
        f"{_METADATA}.annotations['{labels.MAX_SURGE}']",
        "a step of a component",
        newer(metadata={"annotations": {labels.MAX_SURGE: "a"}}),
    ),
]

SHARED_MEMORY = [
    fires(
        "DYN427",
        f"{_POD}.volumes[0]",
        "a volume named as shared memory",
        newer(pod={"volumes": [{"name": "shared-memory", "emptyDir": {}}]}),
    ),
    fires(
        "DYN427",
        f"{_MAIN}.volumeMounts[0]",
        "a mount over shared memory",
        newer(main={"volumeMounts": [{"name": "mine", "mountPath": _SHM}]}),
    ),
    fires(
        "DYN427",
        f"{_SERVICE}.volumeMounts[0]",
        "a claim over shared memory",
        older(volumeMounts=[{"name": "mine", "mountPoint": _SHM}]),
        **_NEWER,
    ),
    quiet("the same mount without the default", newer(main={"volumeMounts": [{"name": "mine", "mountPath": _SHM}]}, sharedMemorySize="0")),
    fires("DYN226", f"{_AT}.sharedMemorySize", "a size below zero", newer(sharedMemorySize="-1Gi")),
]

PLACES = [
    fires(
        "DYN206",
        f"{_POD}.volumes[1].name",
        "a volume that another order of volumes moves",
        newer(pod={"volumes": [{"name": "a", "emptyDir": {}}, _BAD]}),
    ),
    fires(
        "DYN206",
        f"{_MAIN}.volumeMounts[0].name",
        "the volume of a claim that a mount names",
        newer(main={"volumeMounts": [{"name": "Not_A_Name", "mountPath": "/a"}]}),
    ),
    fires(
        "DYN206",
        f"{_SERVICE}.volumeMounts[0].name",
        "the volume of a claim of a service",
        older(volumeMounts=[{"name": "Not_A_Name", "mountPoint": "/a"}]),
        **_NEWER,
    ),
    fires(
        "DYN206",
        f"{_AT}.compilationCache.pvcName",
        "the volume of a cache",
        newer(compilationCache={"pvcName": "Not_A_Name", "mountPath": "/a"}),
    ),
    fires(
        "DYN209",
        f"{_SERVICE}.volumeMounts[0].mountPoint",
        "a claim in the folder of another mount",
        older(main={"volumeMounts": [{"name": "a", "mountPath": "/a"}]}, volumeMounts=[{"name": "b", "mountPoint": "/a"}]),
        **_NEWER,
    ),
    fires(
        "DYN205",
        f"{_POD}.containers[0].image",
        "a container that its author wrote before the main one",
        beta.graph(
            {
                "name": "Worker",
                "type": "worker",
                "podTemplate": {"spec": {"containers": [{"name": "a", "image": ""}, {"name": "main", "image": beta.IMAGE}]}},
            }
        ),
    ),
    fires(
        "DYN205",
        f"{_EXTRA}.containers[0].image",
        "a container of a service",
        older(pod={"containers": [{"name": "a"}]}),
        **_NEWER,
    ),
    fires("DYN205", f"{_SERVICE}.frontendSidecar.image", "the frontend of a service", older(frontendSidecar={"image": ""}), **_NEWER),
    fires("DYN214", f"{_MAIN}.livenessProbe", "a probe without a handler", newer(main={"livenessProbe": _NO_HANDLER})),
    fires("DYN214", f"{_SERVICE}.livenessProbe", "a probe of a service", older(livenessProbe=_NO_HANDLER), **_NEWER),
    fires(
        "DYN214",
        f"{_EXTRA}.mainContainer.livenessProbe",
        "a probe of its main container",
        given.graph({"Worker": beta.service(main={"livenessProbe": _NO_HANDLER})}, annotations={labels.ORIGIN_VERSION: "1.5.0"}),
    ),
    fires(
        "DYN212",
        f"{_SERVICE}.resources.limits.gpu",
        "a fraction of a GPU of a service",
        older(resources={"limits": {"gpu": "500m"}}),
        **_NEWER,
    ),
    fires(
        "DYN212",
        f"{_SERVICE}.resources.limits.custom['example.com/nic']",
        "a fraction of a device of a service",
        older(resources={"limits": {"custom": {"example.com/nic": "500m"}}}),
        **_NEWER,
    ),
    fires(
        "DYN212",
        f"{_EXTRA}.mainContainer.resources.limits['example.com/nic']",
        "a fraction of a device of its main container",
        older(main={"resources": {"limits": {"example.com/nic": "500m"}}}, resources={"limits": {"cpu": "1"}}),
        **_NEWER,
    ),
]

_OLDER = {"behaviour": "v0.9"}
_MOUNTED = {"volumeMounts": [{"name": "a", "mountPath": "/a"}, {"name": "Not_A_Name", "mountPath": "/b"}]}

UNDER_OLDER = [
    fires("DYN206", f"{_MAIN}.volumeMounts[1].name", "a claim under the older release", newer(main=_MOUNTED), **_OLDER),
    fires(
        "DYN206",
        f"{_MAIN}.volumeMounts[1].name",
        "the same after the mount of a cache",
        newer(main=_MOUNTED, compilationCache={"pvcName": "cache", "mountPath": "/c"}),
        **_OLDER,
    ),
    fires(
        "DYN206",
        f"{_AT}.compilationCache.pvcName",
        "a cache under the older release",
        newer(compilationCache={"pvcName": "Not_A_Name", "mountPath": "/b"}),
        **_OLDER,
    ),
    fires(
        "DYN147",
        f"{_AT}.compilationCache.mountPath",
        "a cache without a folder under the older release",
        newer(compilationCache={"pvcName": "cache"}),
        **_OLDER,
    ),
    fires(
        "DYN209",
        f"{_MAIN}.volumeMounts[1].mountPath",
        "a mount over shared memory under the older release",
        newer(
            main={"volumeMounts": [{"name": "claim", "mountPath": "/a"}, {"name": "mine", "mountPath": _SHM}]},
            pod={"volumes": [{"name": "mine", "emptyDir": {}}]},
        ),
        **_OLDER,
    ),
]

_OLD = {"image": "registry.example/dynamo:0.9.0"}
_BEFORE_1_0 = given.graph({"Worker": given.service("worker", main=_OLD)})
_IN_ETCD: dict[str, Any] = {"discovery_backend": "etcd", "worker_hash": "none"}
KEPT = [
    fires("DYN428", "apiVersion", "a graph that stays as v1beta1", _BEFORE_1_0, **_IN_ETCD, behaviour="", source_version="v1beta1"),
    fires("DYN428", "apiVersion", "a graph that stays as v1alpha1", newer(main=_OLD), **_IN_ETCD, source_version="v1alpha1"),
    quiet("the same with a release", newer(), source_version="v1alpha1", **_NEWER),
    quiet("a graph that stays in its version", newer(), source_version="v1beta1"),
    quiet(
        "a graph of a newer operator",
        given.graph({"Worker": beta.service()}, annotations={labels.ORIGIN_VERSION: "1.5.0"}),
        source_version="v1beta1",
    ),
]

_AUTO: dict[str, Any] = {"behaviour": ""}
_ORIGIN = f"metadata.annotations['{labels.ORIGIN_VERSION}']"


def _tagged(tag: str) -> Resource:
    """A graph in v1alpha1 whose image has a tag."""
    return given.graph({"Worker": given.service("worker", main={"image": f"registry.example/dynamo:{tag}"})})


_STARTS = ["python3", "-m", "dynamo.vllm"]
_NIM = "nvcr.io/nim/meta/llama:3.0.0"


def _beside_frontend(image: str, command: Any = None, **fields: Any) -> Resource:
    """A graph in v1beta1 whose worker has an image."""
    main = {"image": image, **({"command": command} if command else {})}
    return beta.graph(beta.component("Frontend", "frontend"), beta.component("Worker", main=main, **fields))


def _created(version: str, **fields: Any) -> Resource:
    """A graph in v1beta1 that an operator of a version created."""
    return beta.graph(beta.component("Worker", **fields), annotations={labels.ORIGIN_VERSION: version})


def _group(**main: Any) -> Resource:
    """A graph in v1beta1 with a worker on two nodes."""
    started = {"command": ["python3", "-m", "dynamo.sglang"], "args": ["--model-path", "m"], **main}
    return beta.graph(beta.component("Worker", main=started, multinode={"nodeCount": 2}))


CHOICES = [
    fires("DYN441", f"{_MAIN}.resources", "a group without GPUs, for which the operator 1.3 fails", _group(), behaviour="v1.3"),
    quiet("the same with GPUs", _group(resources={"limits": {"nvidia.com/gpu": "1"}}), behaviour="v1.3"),
    quiet("a group without GPUs in 1.4", _group(), behaviour="v1.4"),
    fires("DYN490", f"{_EXTRA}.mainContainer.image", "an image of a version in the future", _tagged("1.9.0"), **_AUTO),
    fires("DYN490", f"{_MAIN}.image", "the same in v1beta1", newer(main={"image": "registry.example/dynamo:1.9.0"})),
    quiet("the same with a release", _tagged("1.9.0"), behaviour="v1.6"),
    quiet("an image of the newest known release", _tagged("1.7.0"), **_AUTO),
    quiet("an image of the newest release", _tagged("1.6.1"), **_AUTO),
    fires("DYN491", f"{_EXTRA}.mainContainer.image", "no version in a tag", _tagged("latest"), **_AUTO),
    quiet("the same with a release", _tagged("latest"), behaviour="v0.9"),
    fires("DYN575", f"{_MAIN}.image".replace("[0]", "[1]", 1), "an image of another program whose tag opens gates", _beside_frontend(_NIM)),
    quiet("the same with a version of Dynamo", _beside_frontend(_NIM, runtimeVersionOverride="1.5.0")),
    quiet("an image under any name that starts Dynamo", _beside_frontend("own/engine:1.5.0", command=_STARTS)),
    fires("DYN492", _ORIGIN, "an operator that is newer than the release of the images", _created("1.6.0")),
    fires("DYN492", _ORIGIN, "an operator that is newer than the release of the configuration", _created("1.6.0"), **_NEWER),
    quiet("the same with its release", _created("1.6.0"), behaviour="v1.6"),
    quiet("an operator of the release", _created("1.5.1")),
    quiet("an operator that is older than the release", _created("1.5.1"), behaviour="v1.6"),
]

ALL: list[Case] = [*METADATA, *SHARED_MEMORY, *PLACES, *UNDER_OLDER, *KEPT, *CHOICES]
