"""Several vLLM engines in one pod, which share its GPUs. Follows the operator's `internal/dynamo/failover_vllm.go`."""

from __future__ import annotations

import re

from krm_fn.kubernetes import env, values
from krm_fn.render.engines import _command_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import Container
    from krm_fn.render.plan import ComponentPlan

_SHADOW = env.value("DYN_VLLM_GMS_SHADOW_MODE", "true")
"""The variable that makes an engine a shadow.

Rule failover.shadow: A vLLM engine that shares GPUs waits as a shadow until it must work. (operator: internal/dynamo/failover_vllm.go)
"""
_MASTER, _MASTER_PORT, _STRIDE = "--master-port", 29500, 100
"""The flag with the port of an engine's processes, the port of the first engine, and the step to the next engine's port.

Rule failover.master-port: The processes of an engine in a pod with failover meet on port 29500, and those of the next engine on a port 100
higher. (operator: internal/dynamo/failover_vllm.go)
"""
_NIXL_PORT, _EVENT_PORT = 5600, 20080
"""The ports of the first engine for the key-value cache and for its events.

Rule failover.nixl-port: The engines of a pod transfer the key-value cache on ports from 5600, and send its events on ports from 20080.
(operator: internal/dynamo/failover_vllm.go)
"""
_WRITTEN = re.compile(rf"({_MASTER} )([0-9]+)", re.ASCII)


def one_of_several(container: Container, index: int, plan: ComponentPlan) -> Container:
    """Returns the container of one of several engines in a pod.

    Rule failover.ports: Each of several vLLM engines in a pod has ports of its own for the key-value cache and its events. (operator:
    internal/dynamo/failover_vllm.go)
    """
    ports = (
        env.value("VLLM_NIXL_SIDE_CHANNEL_PORT", f"{_NIXL_PORT + index}"),
        env.value("DYN_VLLM_KV_EVENT_PORT", f"{_EVENT_PORT + index}"),
    )
    nodes = (env.value("NNODES", f"{plan.placement.nodes}"),) if plan.placement.nodes > 1 else ()
    engine = env.replace_variables(container, _SHADOW, *ports, *nodes)
    return _with_port(engine, index, plan) if index else engine


def _with_port(container: Container, index: int, plan: ComponentPlan) -> Container:
    """Returns the engine with another port for the processes of its group.

    Rule failover.master-port: see `krm_fn.render.engines._vllm_shared_gpus`.
    """
    args, command = list(container.get("args") or ()), list(container.get("command") or ())
    for words in (args, command):
        position = next((at for at, word in enumerate(words) if word == _MASTER and at + 1 < len(words)), None)
        if position is not None and (port := values.int64(words[position + 1])) is not None:
            words[position + 1] = f"{port + index * _STRIDE}"
            return {**container, "args": args, "command": command}
        for at, word in enumerate(words):
            if _WRITTEN.search(word):
                words[at] = _WRITTEN.sub(lambda match: f"{match[1]}{(values.int64(match[2]) or 0) + index * _STRIDE}", word, count=1)
                return {**container, "args": args, "command": command}
    flag = f"{_MASTER} {_MASTER_PORT + index * _STRIDE}"
    if _command_lines.is_shell(container):
        return _command_lines.inject(container, flag, "vllm", needs_shell=False, quoted=plan.release.engines.quotes_words)
    return {**container, "args": [*args, *flag.split()]}
