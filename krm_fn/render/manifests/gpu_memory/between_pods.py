"""The GPU memory service in pods of its own: those of one node share its GPUs, and a folder of the node with the sockets of the service.

Follows the operator's `internal/dynamo/failover.go` (gmsWeightServerPodSpec, augmentEngineForGMS, gmsResourceSharingEntries).
"""

from __future__ import annotations

from krm_fn.kubernetes import env, merge
from krm_fn.render import names
from krm_fn.render.manifests import gpu_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from krm_fn.kubernetes.native_types import Container, PodSpec, VolumeMount
    from krm_fn.render.plan import ComponentPlan, RolePlan

_VOLUME, _ON_NODE, _FOLDER = "gms-shared", "/run/gms", "/run/gms/shared"
"""The name of the volume with the sockets, its folder on the node, and its folder in the containers.

Rule gpu-memory.between-pods-volume: The volume with the sockets on a node has the name `gms-shared`, and its folder is `/run/gms`.
(operator: internal/dynamo/failover.go)
"""
_SOCKETS_PER_GPU = 2  # one for the weights, one for the key-value cache
"""The number of sockets for each GPU.

Rule gpu-memory.between-pods-sockets: The GPU memory service has two sockets for each GPU: one for the weights and one for the key-value
cache. (operator: internal/dynamo/failover.go gmsWeightServerPodSpec)
"""
_FILES = f"{_FOLDER}/gms_*.sock"
"""The pattern of all sockets in a container.

Rule gpu-memory.between-pods-files: The sockets on a node are the files `gms_*.sock`. (operator: internal/dynamo/failover.go
gmsWeightServerPodSpec)
"""
_SERVE = f"""rm -f {_FILES}
rc=1
cleanup() {{ kill -- -$$ 2>/dev/null; exit "$rc"; }}
trap cleanup SIGTERM SIGINT
python3 -m {gpu_memory.SERVER} &
echo "Started GMS server pid=$!"
wait -n
rc=$?
echo "GMS server exited (code=$rc), shutting down"
cleanup"""
"""The shell lines that run the GPU memory service.

Rule gpu-memory.between-pods-line: The server removes old sockets, starts the GPU memory service, and ends with it. (operator:
internal/dynamo/failover.go gmsWeightServerPodSpec)
"""
_INDEX = "metadata.labels['grove.io/podclique-pod-index']"
"""The field of a pod with its index in its clique.

Rule gpu-memory.between-pods-index: An engine knows its index from a label of Grove. (operator: internal/dynamo/failover.go
augmentEngineForGMS)
"""


def share_between_pods(pod: PodSpec, role: RolePlan) -> PodSpec:
    """Returns the pod of a GPU memory service, or of an engine that uses it.

    Rule gpu-memory.between-pods: A GPU memory service in pods of its own shares a folder of the node with the engines on that node.
    (operator: internal/dynamo/failover.go gmsWeightServerPodSpec, augmentEngineForGMS)
    """
    main, *sidecars = pod["containers"]
    mount: VolumeMount = {
        "name": _VOLUME,
        "mountPath": _FOLDER,
        "subPathExpr": f"$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)/rank-{role.rank or 0}",
    }
    changed = gpu_memory.without_gpus(_server(main, role.component) if role.serves_memory else _engine(main))
    changed_pod: PodSpec = {
        **gpu_memory.tolerant(pod),
        "containers": [{**changed, "volumeMounts": [*(changed.get("volumeMounts") or ()), mount]}, *sidecars],
        "volumes": [*(pod.get("volumes") or ()), {"name": _VOLUME, "hostPath": {"path": _ON_NODE, "type": "DirectoryOrCreate"}}],
        "initContainers": [*(pod.get("initContainers") or ()), _folder_opener(main, mount)],
    }
    if role.component.features.engine_pods > 1 and not role.serves_memory:
        changed_pod["restartPolicy"] = "Never"  # the engines of a group work only together, so that one never starts again alone
    return changed_pod


def templates(plan: ComponentPlan, roles: Iterable[RolePlan]) -> list[dict[str, Any]]:
    """Returns the templates of claims of a PodCliqueSet for a component.

    Rule gpu-memory.between-pods-claims: A PodCliqueSet has a template of a claim for the GPUs of each node. (operator:
    internal/dynamo/failover.go gmsResourceSharingEntries)
    """
    memory = plan.features.gpu_memory
    ranks = dict.fromkeys(role.rank or 0 for role in roles)
    return [{"name": _claim(plan, rank), "templateSpec": gpu_memory.claim_spec("gpu", plan, memory)} for rank in ranks] if memory else []


def sharing(plan: ComponentPlan, cliques: Iterable[tuple[str, RolePlan]]) -> list[dict[str, Any]]:
    """Returns the resource sharing of a scaling group. `cliques` are its cliques by name and role.

    Rule gpu-memory.between-pods-sharing: The cliques on one node share the claim for the GPUs of that node. (operator:
    internal/dynamo/failover.go gmsResourceSharingEntries)
    """
    by_rank: dict[int, list[str]] = {}
    for name, role in cliques:
        by_rank.setdefault(role.rank or 0, []).append(name)
    return [
        {"name": _claim(plan, rank), "scope": "PerReplica", "filter": {"childCliqueNames": members}} for rank, members in by_rank.items()
    ]


def _claim(plan: ComponentPlan, rank: int) -> str:
    """Returns the name of the claim for the GPUs of a node.

    Rule gpu-memory.between-pods-claim-name: The claim for the GPUs of a node has the name of the service, `-gpu-rank-`, and the rank of the
    node. (operator: internal/dynamo/failover.go gmsResourceSharingEntries)
    """
    return f"{names.service(plan.identity.service)}-gpu-rank-{rank}"


def _server(main: Container, plan: ComponentPlan) -> Container:
    """Returns the main container as the server of the GPU memory service.

    Rule gpu-memory.between-pods-server: The server of the GPU memory service is ready when the sockets of all GPUs exist. (operator:
    internal/dynamo/failover.go gmsWeightServerPodSpec)
    """
    sockets = _SOCKETS_PER_GPU * plan.pod.gpus.number
    return {
        **env.replace_variables(merge.without(main, *merge.PROBES), env.value(gpu_memory.SOCKETS, _FOLDER)),
        "command": ["bash", "-c"],
        "args": [_SERVE],
        "startupProbe": {
            "exec": {"command": ["sh", "-c", f"test $(ls {_FILES} 2>/dev/null | wc -l) -ge {sockets}"]},
            "periodSeconds": 2,
            "timeoutSeconds": 2,
            "failureThreshold": 150,
        },
    }


def _engine(main: Container) -> Container:
    """Returns the main container as an engine that uses the GPU memory service.

    Rule gpu-memory.between-pods-engine: An engine that uses a GPU memory service in another pod counts as not ready until it works.
    (operator: internal/dynamo/failover.go augmentEngineForGMS)
    """
    variables = (
        env.field("ENGINE_ID", _INDEX),
        env.value(gpu_memory.SOCKETS, _FOLDER),
        env.value("FAILOVER_LOCK_PATH", f"{_FOLDER}/failover.lock"),
        env.value("DYN_SYSTEM_STARTING_HEALTH_STATUS", "notready"),
    )
    engine = env.replace_variables(main, *variables)
    others = [variable for variable in engine["env"] if variable.get("name") != "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS"]
    return {**engine, "env": others}


def _folder_opener(main: Container, mount: VolumeMount) -> Container:
    """Makes the init container that opens the folder of the node. The other containers do not run as root.

    Rule gpu-memory.between-pods-permissions: An init container lets the containers of a pod write into the folder of the node. (operator:
    internal/dynamo/failover.go)
    """
    image: Container = {"image": main["image"]} if main.get("image") else {}
    return {
        "name": "fix-gms-perms",
        **image,
        "command": ["sh", "-c", f"chmod 1777 {_FOLDER}"],
        "securityContext": {"runAsUser": 0, "runAsNonRoot": False},
        "volumeMounts": [mount],
    }
