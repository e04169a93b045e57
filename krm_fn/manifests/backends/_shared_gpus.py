"""Several vLLM engines in one pod, which share its GPUs. Follows the reference's `internal/dynamo/failover_vllm.go`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krm_fn.manifests import env
from krm_fn.manifests.backends import _commands

if TYPE_CHECKING:
    from krm_fn.kube.types import Container
    from krm_fn.plan import ComponentPlan

_SHADOW = env.value("DYN_VLLM_GMS_SHADOW_MODE", "true")
_MASTER, _MASTER_PORT, _STRIDE = "--master-port", 29500, 100
_NIXL_PORT, _EVENT_PORT = 5600, 20080
_WRITTEN = re.compile(rf"({_MASTER} )([0-9]+)", re.ASCII)


def one_of_several(container: Container, index: int, plan: ComponentPlan) -> Container:
    """One of several engines in a pod. Each has its own ports, because they have one address."""
    ports = (
        env.value("VLLM_NIXL_SIDE_CHANNEL_PORT", f"{_NIXL_PORT + index}"),
        env.value("DYN_VLLM_KV_EVENT_PORT", f"{_EVENT_PORT + index}"),
    )
    nodes = (env.value("NNODES", f"{plan.placement.nodes}"),) if plan.placement.nodes > 1 else ()
    found = env.replaced(container, _SHADOW, *ports, *nodes)
    return _moved(found, index, plan) if index else found


def _moved(container: Container, index: int, plan: ComponentPlan) -> Container:
    """The engine with another port for the processes of its group."""
    args, command = list(container.get("args") or ()), list(container.get("command") or ())
    for words in (args, command):
        place = next((at for at, word in enumerate(words) if word == _MASTER and at + 1 < len(words)), None)
        if place is not None and (port := _commands.integer(words[place + 1])) is not None:
            words[place + 1] = f"{port + index * _STRIDE}"
            return {**container, "args": args, "command": command}
        for at, word in enumerate(words):
            if _WRITTEN.search(word):
                words[at] = _WRITTEN.sub(lambda match: f"{match[1]}{int(match[2]) + index * _STRIDE}", word, count=1)
                return {**container, "args": args, "command": command}
    flag = f"{_MASTER} {_MASTER_PORT + index * _STRIDE}"
    if _commands.is_shell(container):
        return _commands.inject(container, flag, "vllm", needs_shell=False, quoted=plan.behaviour.engines.quotes_words)
    return {**container, "args": [*args, *flag.split()]}
