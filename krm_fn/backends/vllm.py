"""vLLM. Follows the reference's `internal/dynamo/backend_vllm.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.backends import Backend, _commands

if TYPE_CHECKING:
    from krm_fn.kube.types import Container
    from krm_fn.plan import RolePlan

_RAY_PORT = 6379
_DATA_PARALLEL_PORT = 13445
_RAY = "--distributed-executor-backend ray"


class VLLM(Backend):
    """vLLM workers: Ray where one model spans nodes, data parallelism where its copies do."""

    module = "vllm"
    cache_dir = "/root/.cache/vllm"

    def container(self, container: Container, role: RolePlan) -> Container:
        """The cache variable stands last, unsorted, and only for a path the user wrote, as in the reference (UpdateContainer)."""
        if role.component.nodes > 1:
            container = _multinode(container, role)
        cache = next((mount for mount in role.component.mounts if mount.cache), None)
        if cache is None or not cache.path:
            return container
        return {**container, "env": [*container["env"], {"name": "VLLM_CACHE_ROOT", "value": cache.path}]}


def _multinode(container: Container, role: RolePlan) -> Container:
    """How the model is spread follows from the flags in the arguments and the GPUs of one node."""
    gpus = _commands.integer(role.component.gpu_limit) or 0
    world = _flag(container, "--tensor-parallel-size") * _flag(container, "--pipeline-parallel-size")
    if gpus and world > gpus:
        container = _ray(container, role)
    elif gpus and world * _flag(container, "--data-parallel-size") > gpus:
        container = _data_parallel(container, role, gpus // world)
    return container if role.role == "leader" else _commands.without_probes(container)


def _flag(container: Container, name: str) -> int:
    """The number after a flag among the arguments, else 1; only the long form with a space counts, as in the reference."""
    words = [word for argument in container.get("args") or () for word in argument.split()]
    after = words[words.index(name) + 1 :][:1] if name in words else []
    number = _commands.integer(after[0]) if after else None
    return 1 if number is None else number


def _ray(container: Container, role: RolePlan) -> Container:
    """The leader starts a Ray cluster and the engine in it, followers join."""
    if role.role != "leader":
        return _commands.shell(container, f"ray start --address={role.addressing.leader}:{_RAY_PORT} --block")
    line = f"{_commands.words(container)} {_RAY}"
    if _commands.is_shell(container):  # the reference loses the shell's quotes, so that it runs the first word only
        args = [_commands.after_framework(argument, _RAY, VLLM.module) for argument in container.get("args") or ()]
        line = _commands.nested({**container, "args": args})
    return _commands.shell(container, f"ray start --head --port={_RAY_PORT} && {line}")


def _data_parallel(container: Container, role: RolePlan, local: int) -> Container:
    """Each node runs its share of the copies and starts counting where the one before ended."""
    leads, addressing = role.role == "leader", role.addressing
    host = addressing.leader_word if leads and not _commands.is_shell(container) else addressing.leader
    flags = (
        f"--data-parallel-hybrid-lb --data-parallel-size-local {local}"
        f" --data-parallel-start-rank {0 if leads else f'$(( {local} * {addressing.rank} ))'}"
        f" --data-parallel-address {host} --data-parallel-rpc-port {_DATA_PARALLEL_PORT}"
    )
    return _commands.inject(container, flags, VLLM.module, needs_shell=not leads)


BACKEND = VLLM()
