"""The GPU memory service in pods of its own: those of one node share its GPUs, and a folder of the node with the sockets of the service.

Follows the reference's `internal/dynamo/failover.go` (gmsWeightServerPodSpec, augmentEngineForGMS, gmsResourceSharingEntries).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import merge, names
from krm_fn.manifests import env, gpu_memory
from krm_fn.manifests.gpu_memory import claims

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Container, PodSpec, VolumeMount
    from krm_fn.plan import ComponentPlan, RolePlan

_VOLUME, _ON_NODE, _FOLDER = "gms-shared", "/run/gms", "/run/gms/shared"
_SOCKETS_PER_GPU = 2  # one for the weights, one for the key-value cache
_FILES = f"{_FOLDER}/gms_*.sock"
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
_INDEX = "metadata.labels['grove.io/podclique-pod-index']"


def applied(pod: PodSpec, role: RolePlan) -> PodSpec:
    """The pod of the service, or of an engine that uses it."""
    main, *beside = pod["containers"]
    mount: VolumeMount = {
        "name": _VOLUME,
        "mountPath": _FOLDER,
        "subPathExpr": f"$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)/rank-{role.rank or 0}",
    }
    changed = claims.without_gpus(_server(main, role.component) if role.serves_memory else _engine(main))
    found: PodSpec = {
        **claims.tolerant(pod),
        "containers": [{**changed, "volumeMounts": [*(changed.get("volumeMounts") or ()), mount]}, *beside],
        "volumes": [*(pod.get("volumes") or ()), {"name": _VOLUME, "hostPath": {"path": _ON_NODE, "type": "DirectoryOrCreate"}}],
        "initContainers": [*(pod.get("initContainers") or ()), _opened(main, mount)],
    }
    if role.component.features.engine_pods > 1 and not role.serves_memory:
        found["restartPolicy"] = "Never"  # the engines of a group work only together, so that one never starts again alone
    return found


def templates(plan: ComponentPlan, roles: Iterable[RolePlan]) -> list[dict[str, Any]]:
    """The templates of claims in a PodCliqueSet, one for each node."""
    memory = plan.features.gpu_memory
    ranks = dict.fromkeys(role.rank or 0 for role in roles)
    return [{"name": _claim(plan, rank), "templateSpec": claims.spec("gpu", plan, memory)} for rank in ranks] if memory else []


def sharing(plan: ComponentPlan, cliques: Iterable[tuple[str, RolePlan]]) -> list[dict[str, Any]]:
    """The cliques that share a claim in each replica of a scaling group: those of one node."""
    by_rank: dict[int, list[str]] = {}
    for name, role in cliques:
        by_rank.setdefault(role.rank or 0, []).append(name)
    return [
        {"name": _claim(plan, rank), "scope": "PerReplica", "filter": {"childCliqueNames": members}} for rank, members in by_rank.items()
    ]


def _claim(plan: ComponentPlan, rank: int) -> str:
    return f"{names.service(plan.who.service)}-gpu-rank-{rank}"


def _server(main: Container, plan: ComponentPlan) -> Container:
    """The server is ready if it listens on the sockets of all GPUs."""
    sockets = _SOCKETS_PER_GPU * plan.pod.gpus.number
    return {
        **env.replaced(merge.without(main, *merge.PROBES), env.value(gpu_memory.SOCKETS, _FOLDER)),
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
    """The engine counts as not ready until it works, and reports its own health."""
    own = (
        env.field("ENGINE_ID", _INDEX),
        env.value(gpu_memory.SOCKETS, _FOLDER),
        env.value("FAILOVER_LOCK_PATH", f"{_FOLDER}/failover.lock"),
        env.value("DYN_SYSTEM_STARTING_HEALTH_STATUS", "notready"),
    )
    found = env.replaced(main, *own)
    kept = [variable for variable in found["env"] if variable.get("name") != "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS"]
    return {**found, "env": kept}


def _opened(main: Container, mount: VolumeMount) -> Container:
    """Lets the other containers, which do not run as root, write into the folder of the node."""
    image: Container = {"image": main["image"]} if main.get("image") else {}
    return {
        "name": "fix-gms-perms",
        **image,
        "command": ["sh", "-c", f"chmod 1777 {_FOLDER}"],
        "securityContext": {"runAsUser": 0, "runAsNonRoot": False},
        "volumeMounts": [mount],
    }
