"""vLLM with processes that it starts on several nodes itself, and followers that wait for their leader.

Follows the operator's `internal/dynamo/backend_vllm.go` (injectMpDistributedLaunchFlags, UpdatePodSpec).
"""

from __future__ import annotations

import re

from krm_fn.base import codes, results
from krm_fn.kubernetes import env
from krm_fn.render import names
from krm_fn.render.engines import _command_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import Container, PodSpec, Volume
    from krm_fn.render.plan import ComponentPlan, RolePlan

_PORT = 29500
"""The port of the leader.

Rule vllm.mp-port: The nodes of one vLLM engine with the executor `mp` meet on port 29500. (operator: internal/dynamo/backend_vllm.go
injectMpDistributedLaunchFlags)
"""
_VOLUME = "wait-leader-script"
"""The name of the volume with the script.

Rule wait-for-leader.volume: The volume with the script that waits for a leader has the name `wait-leader-script`. (operator:
internal/dynamo/backend_vllm.go UpdatePodSpec)
"""
_FOLDER = "/scripts"
"""The folder of the script in the container.

Rule wait-for-leader.folder: The script that waits for a leader is in the folder `/scripts`. (operator: internal/dynamo/backend_vllm.go
GenerateWaitLeaderConfigMap)
"""
_EXECUTOR = "--distributed-executor-backend"
"""The flag that chooses how vLLM starts its processes.

Rule vllm.mp-executor: vLLM starts its processes on several nodes itself with the flag `--distributed-executor-backend mp`. (operator:
internal/dynamo/backend_vllm.go injectMpDistributedLaunchFlags)
"""
_PORT_FLAG = f"--master-port {_PORT}"
_SERVES = re.compile(r"(\bvllm\s+serve)(?=\s|\Z)", re.ASCII)
_REFERENCE = re.compile(r"\$\((\w+)\)", re.ASCII)
_HOST = env.field("VLLM_NIXL_SIDE_CHANNEL_HOST", "status.podIP")
"""The variable with the address at which vLLM transfers the key-value cache.

Rule vllm.nixl-host: vLLM transfers the key-value cache over the address of its pod. (operator: internal/dynamo/backend_vllm.go)
"""


def container(main: Container, role: RolePlan, *, spreads: bool) -> Container:
    """Adds the address for transfers of the key-value cache to the main container, and the flags of several nodes if it `spreads`."""
    changed = _with_flags(main, role) if spreads else main
    return env.add_missing_variables(changed, _HOST)


def _with_flags(main: Container, role: RolePlan) -> Container:
    """Adds the flags of the executor `mp` to the main container.

    Rule vllm.mp: With the executor `mp`, the leader is rank 0 and serves, and the followers are headless. (operator:
    internal/dynamo/backend_vllm.go injectMpDistributedLaunchFlags)
    """
    plan, addressing, leads = role.component, _command_lines.addressing(role), role.role == "leader"
    flags = (
        f"{_EXECUTOR} mp --nnodes {plan.placement.nodes} --master-addr {addressing.leader} --master-port {_PORT}"
        f" --node-rank {addressing.leader_rank if leads else f'{addressing.rank} --headless'}"
    )
    needs_shell = not leads and addressing.rank_needs_shell
    return _command_lines.inject(main, flags, "vllm", needs_shell=needs_shell, quoted=plan.release.engines.quotes_words)


def launch_role(main: Container) -> Container:
    """Returns the main container of a role with a pod template of its own.

    Rule roles.vllm-port: A launch line with the executor `mp` gets the port at which the nodes of the engine meet, if it has none.
    (operator: internal/dynamo/backend_vllm.go)
    """
    if not _command_lines.has_option(_command_lines.words(main), _EXECUTOR, "mp"):
        return main
    return env.add_missing_variables(main if _has_port(main) else _with_port(main), _HOST)


def check_port(main: Container, plan: ComponentPlan) -> Iterator[Result]:
    """Reports a shell line with the executor `mp` into which the port cannot be written."""
    words = _command_lines.words(main)
    if not _command_lines.has_option(words, _EXECUTOR, "mp") or _has_port(main) or _with_port(main) != main:
        return
    message = f"the engine needs {_PORT_FLAG}, and the line starts no python3 -m dynamo.vllm and no vllm serve; add the flag yourself"
    yield results.error(codes.REFUSED_ROLE_TEMPLATES, message, plan.ref, plan.at("main", "args"))


def _has_port(main: Container) -> bool:
    return any(word.partition("=")[0] == "--master-port" for word in _command_lines.flat(_command_lines.words(main)))


def _with_port(main: Container) -> Container:
    """Returns the container with the port: behind the program in a line for a shell, otherwise at the end of the arguments."""
    if not _command_lines.is_shell(main):
        return {**main, "args": [*(main.get("args") or ()), *_PORT_FLAG.split()]}
    for field in _command_lines.FIELDS:
        listed = list(main.get(field) or ())
        for index, line in enumerate(listed):
            changed = _command_lines.after_framework(line, _PORT_FLAG, "vllm")
            changed = changed if changed != line else _SERVES.sub(rf"\1 {_PORT_FLAG}", line, count=1)
            if changed != line:
                listed[index] = changed
                return {**main, "command": listed} if field == "command" else {**main, "args": listed}
    return main


def waiting(pod: PodSpec, role: RolePlan) -> PodSpec:
    """Returns the pod spec of a follower with the container that waits for the leader.

    Rule vllm.wait-for-leader: With the executor `mp`, an init container of each follower waits for the leader. (operator:
    internal/dynamo/backend_vllm.go UpdatePodSpec)
    """
    plan = role.component
    main = pod["containers"][0]
    if plan.placement.nodes == 1 or not _command_lines.has_option(_command_lines.words(main), _EXECUTOR, "mp"):
        return pod
    script: Volume = {"name": _VOLUME, "configMap": {"name": names.wait_for_leader(plan.identity.graph)}}
    # The variables of the orchestrator follow these in the init container, where Kubernetes expands only earlier ones. A shell sees all.
    host = _REFERENCE.sub(r"${\1}", role.addressing.leader)
    line = f'export LEADER_HOST="{host}" LEADER_PORT="{_PORT}" && exec python3 {_FOLDER}/{names.WAIT_FOR_LEADER}'
    waiter: Container = {
        "name": "wait-for-leader-mp",
        **({"image": main["image"]} if main.get("image") else {}),
        "command": ["sh", "-c", line],
        "volumeMounts": [{"name": _VOLUME, "mountPath": _FOLDER, "readOnly": True}],
    }
    return {
        **pod,
        "initContainers": [*(pod.get("initContainers") or ()), waiter],
        "volumes": [*(pod.get("volumes") or ()), script],
    }
