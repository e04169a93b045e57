"""vLLM with processes that it starts on several nodes itself, and followers that wait for their leader.

Follows the reference's `internal/dynamo/backend_vllm.go` (injectMpDistributedLaunchFlags, UpdatePodSpec).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krm_fn.kube import names
from krm_fn.manifests import env, wait_for_leader
from krm_fn.manifests.backends import _commands

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, PodSpec, Volume
    from krm_fn.plan import RolePlan

_PORT = 29500
_EXECUTOR = "--distributed-executor-backend"
_REFERENCE = re.compile(r"\$\((\w+)\)", re.ASCII)
_HOST = env.field("VLLM_NIXL_SIDE_CHANNEL_HOST", "status.podIP")


def container(main: Container, role: RolePlan, *, spreads: bool) -> Container:
    """The main container with the address for transfers of the key-value cache, and with the flags of several nodes if it `spreads`."""
    changed = _with_flags(main, role) if spreads else main
    return env.completed(changed, _HOST)


def _with_flags(main: Container, role: RolePlan) -> Container:
    """The leader is rank 0 and serves; followers serve no requests."""
    plan, addressing, leads = role.component, role.addressing, role.role == "leader"
    flags = (
        f"{_EXECUTOR} mp --nnodes {plan.placement.nodes} --master-addr {addressing.leader} --master-port {_PORT}"
        f" --node-rank {'0' if leads else f'{addressing.rank} --headless'}"
    )
    needs_shell = not leads and addressing.rank_needs_shell
    return _commands.inject(main, flags, "vllm", needs_shell=needs_shell, quoted=plan.behaviour.engines.quotes_words)


def waiting(pod: PodSpec, role: RolePlan) -> PodSpec:
    """The pod of a follower with an init container that waits for the leader, if vLLM starts its processes itself."""
    plan = role.component
    main = pod["containers"][0]
    if plan.placement.nodes == 1 or not _commands.has_option(_commands.words(main), _EXECUTOR, "mp"):
        return pod
    script: Volume = {"name": wait_for_leader.VOLUME, "configMap": {"name": names.wait_for_leader(plan.who.graph)}}
    # The variables of the orchestrator follow these in the init container, where Kubernetes expands only earlier ones. A shell sees all.
    host = _REFERENCE.sub(r"${\1}", role.addressing.leader)
    line = f'export LEADER_HOST="{host}" LEADER_PORT="{_PORT}" && exec python3 {wait_for_leader.FOLDER}/{wait_for_leader.KEY}'
    waiter: Container = {
        "name": "wait-for-leader-mp",
        **({"image": main["image"]} if main.get("image") else {}),
        "command": ["sh", "-c", line],
        "volumeMounts": [{"name": wait_for_leader.VOLUME, "mountPath": wait_for_leader.FOLDER, "readOnly": True}],
    }
    return {
        **pod,
        "initContainers": [*(pod.get("initContainers") or ()), waiter],
        "volumes": [*(pod.get("volumes") or ()), script],
    }
