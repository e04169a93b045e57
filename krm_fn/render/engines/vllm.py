"""vLLM. Follows the operator's `internal/dynamo/backend_vllm.go`."""

from __future__ import annotations

from itertools import pairwise

from krm_fn.kubernetes import env, values
from krm_fn.render.engines import Engine, ParallelFlags, _command_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import Container, PodSpec
    from krm_fn.render.engines import NewWorker
    from krm_fn.render.plan import ComponentPlan, RolePlan

_RAY_PORT = 6379
"""The port of the Ray cluster.

Rule vllm.ray-port: The nodes of a Ray cluster meet on port 6379. (operator: internal/dynamo/backend_vllm.go)
"""
_DATA_PARALLEL_PORT = 13445
"""The port of the copies of a model.

Rule vllm.data-parallel-port: The copies of a model with data parallelism meet on port 13445. (operator: internal/dynamo/backend_vllm.go)
"""
_NIXL = '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'
_ELASTIC = "--enable-elastic-ep"
_RAY = "--distributed-executor-backend ray"
"""The flag of an engine that runs on a Ray cluster.

Rule vllm.ray-executor: vLLM gets the flag that lets it run one model on several nodes with Ray. (operator: internal/dynamo/backend_vllm.go)
"""


class VLLM(Engine):
    """vLLM workers on several nodes.

    If one copy of the model needs several nodes, Ray or vLLM itself starts the processes of all nodes. If all copies together do, each node
    runs some of the copies.
    """

    name = "vllm"
    """The name of the engine, and of its Python module.

    Rule vllm.module: The word `vllm` names vLLM in a command line. (operator: internal/dynamo/backend_vllm.go)
    """
    cache_dir = "/root/.cache/vllm"
    """The folder in which vLLM keeps compiled kernels.

    Rule vllm.cache-folder: The compilation cache of vLLM is in the folder `/root/.cache/vllm`. (operator: internal/dynamo/backend_vllm.go)
    """
    counts_gpus = True
    shares_gpu_memory = True
    own_images = ("vllm-openai", "vllm-openai-rocm")
    own_servers = ("vllm serve", "vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server")
    runtime_image = "vllm-runtime"
    prefill_names = (("VllmPrefillWorker", (0, 0, 0)), ("prefill", (1, 6, 0)))
    default_model = "Qwen/Qwen3-0.6B"  # vllm/config/model.py, ModelConfig.model
    reads_mode_variable_since = (1, 0, 0)
    lora_flags = ("--enable-lora",)
    parallel_flags = ParallelFlags(
        (("--tensor-parallel-size",), ("--pipeline-parallel-size",), ("--prefill-context-parallel-size",)),
        (("--data-parallel-size",),),
        silent=(
            *("--data-parallel-rank", "--data-parallel-start-rank", "--data-parallel-address", "--data-parallel-hybrid-lb"),
            *("--data-parallel-external-lb", "--data-parallel-backend", "--headless", "--nnodes", "--enable-elastic-ep"),
            *("--distributed-executor-backend", "--device"),
        ),
    )
    """The sizes of vLLM's `ParallelConfig`."""

    def container(self, container: Container, role: RolePlan) -> Container:
        """Returns the main container of a vLLM engine.

        Rule vllm.container: A vLLM engine gets the flags of several nodes, and the variable of its compilation cache. (operator:
        internal/dynamo/backend_vllm.go)
        """
        plan = role.component
        container = _sharing_weights(container, plan)
        if plan.placement.nodes > 1:
            container = _multinode(container, role)
        elif plan.release.engines.elastic_alone and _ELASTIC in _command_lines.flat(_command_lines.words(container)):
            from krm_fn.render.engines import _vllm_elastic  # noqa: PLC0415 - few workers are elastic

            container = _vllm_elastic.alone(container)
        return _with_cache_folder(container, plan)

    def launched_container(self, container: Container, role: RolePlan) -> Container:
        """Returns the main container of a role with a pod template of its own.

        A follower has no probes.

        Rule roles.vllm: A role with a pod template of its own gets the port of its leader if vLLM starts the processes of all nodes itself.
        (operator: internal/dynamo/backend_vllm.go)
        """
        from krm_fn.render.engines import _vllm_mp  # noqa: PLC0415 - few workers run on several nodes

        container = _with_cache_folder(_vllm_mp.launch_role(container), role.component)
        return container if role.role == "leader" else _command_lines.without_probes(container)

    def pod(self, pod: PodSpec, role: RolePlan) -> PodSpec:
        """Makes a follower wait until its leader accepts connections."""
        if not role.component.release.engines.waits_for_leader or role.role != "worker":
            return pod
        from krm_fn.render.engines import _vllm_mp  # noqa: PLC0415 - see above

        return _vllm_mp.waiting(pod, role)

    def one_of_several(self, container: Container, index: int, plan: ComponentPlan) -> Container:
        """Gives the engine ports of its own, and lets it wait until it works."""
        from krm_fn.render.engines import _vllm_shared_gpus  # noqa: PLC0415 - few components share GPUs

        return _vllm_shared_gpus.one_of_several(container, index, plan)

    def _sizes(self, worker: NewWorker) -> list[str]:
        """Returns the parallel sizes of a worker: on several nodes, each node is a stage of a pipeline.

        The documentation of vLLM (Parallelism and Scaling) recommends these sizes. A worker that transfers its key-value cache has no
        pipeline, because `NixlConnector` refuses one (`vllm/distributed/kv_transfer/kv_connector/v1/nixl/base_worker.py` of vLLM 0.31.0).
        """
        if worker.nodes == 1 or worker.mode:
            return super()._sizes(worker)
        (tensor, *_), (pipeline, *_), *_ = self.parallel_flags.parallel
        return [tensor, str(worker.gpus), pipeline, str(worker.nodes)]

    def _transfer(self, worker: NewWorker) -> list[str]:
        """Returns the mode of a worker and its connector, without which a prefill worker ends (`dynamo/vllm/args.py` since 1.0.0)."""
        return [*super()._transfer(worker), "--kv-transfer-config", _NIXL]

    def check(self, container: Container, role: RolePlan) -> Iterator[Result]:
        """Checks the plain commands that run in a shell: those of Ray's leader and of followers with data parallelism."""
        plan = role.component
        spread = _spread(container, plan) if plan.placement.nodes > 1 else ""
        ray = (spread, role.role) == ("ray", "leader") and not _command_lines.is_shell(container)
        data = (spread, role.role) == ("data", "worker") and _command_lines.is_python(container)
        if ray or data:
            yield from _command_lines.check_words(container, role)

    def check_launched(self, container: Container, role: RolePlan) -> Iterator[Result]:
        """Checks that the launch line can get the port of the leader."""
        from krm_fn.render.engines import _vllm_mp  # noqa: PLC0415 - see above

        yield from _vllm_mp.check_port(container, role.component)


def _with_cache_folder(container: Container, plan: ComponentPlan) -> Container:
    """Adds the variable of the compilation cache to a container.

    Rule vllm.cache-variable: With a compilation cache, vLLM has the variable `VLLM_CACHE_ROOT`. (operator: internal/dynamo/backend_vllm.go)
    """
    cache = plan.pod.cache or next((mount for mount in plan.pod.mounts if mount.cache), None)
    return env.append_variables(container, env.value("VLLM_CACHE_ROOT", cache.path)) if cache and cache.path else container


def _sharing_weights(container: Container, plan: ComponentPlan) -> Container:
    """Adds the flag and the variable of the GPU memory service in another pod.

    Rule gpu-memory.weights: An engine takes its weights from the GPU memory service in another pod, with the flag `--load-format gms`.
    (operator: internal/dynamo/backend_vllm.go)
    """
    memory, failover = plan.features.gpu_memory, plan.features.failover
    if memory is None or not memory.between_pods:
        return container
    if not _command_lines.has_option(container.get("args") or (), "--load-format", "gms"):
        quoted = plan.release.engines.quotes_words
        container = _command_lines.inject(container, "--load-format gms", VLLM.name, needs_shell=False, quoted=quoted)
    if plan.release.engines.always_shadows or (failover is not None and failover.between_pods):
        container = env.add_missing_variables(container, env.value("DYN_VLLM_GMS_SHADOW_MODE", "true"))
    return container


def _multinode(container: Container, role: RolePlan) -> Container:
    plan = role.component
    spread = _spread(container, plan)
    if spread == "ray":
        container = _ray(container, role)
    elif spread == "data":
        container = _data_parallel(container, role, _gpus(plan) // _world(container))
    elif spread == "elastic":
        from krm_fn.render.engines import _vllm_elastic  # noqa: PLC0415 - see above

        container = _vllm_elastic.spread(container, role)
    if plan.placement.executor == "mp":
        from krm_fn.render.engines import _vllm_mp  # noqa: PLC0415 - see above

        container = _vllm_mp.container(container, role, spreads=spread == "mp")
    return container if role.role == "leader" else _command_lines.without_probes(container)


def _spread(container: Container, plan: ComponentPlan) -> Literal["ray", "mp", "elastic", "data", ""]:
    """Returns the way to span nodes, derived from the flags in the arguments and the GPUs of one node; empty if one node is enough."""
    gpus, world = _gpus(plan), _world(container)
    if gpus and world > gpus:
        return plan.placement.executor
    if plan.release.engines.elastic and _ELASTIC in _command_lines.flat(container.get("args") or ()):
        return "elastic"
    return "data" if gpus and world * _flag(container, "--data-parallel-size") > gpus else ""


def _gpus(plan: ComponentPlan) -> int:
    return values.int64(plan.pod.gpus.limit) or 0


def _world(container: Container) -> int:
    """Returns the number of GPUs of one copy of the model."""
    return _flag(container, "--tensor-parallel-size") * _flag(container, "--pipeline-parallel-size")


def _flag(container: Container, name: str) -> int:
    """Returns the number after a flag in the arguments of a container.

    Only the long form with a space counts, as in the operator.

    Rule vllm.parallel-sizes: The sizes of an engine are the numbers after the flags in its arguments, or 1. (operator:
    internal/dynamo/backend_vllm.go)
    """
    words = _command_lines.flat(container.get("args") or ())
    numbers = (values.int64(after) for word, after in pairwise(words) if word == name)
    return next((number for number in numbers if number is not None), 1)


def _ray(container: Container, role: RolePlan) -> Container:
    """Returns the main container of an engine on a Ray cluster.

    Rule vllm.ray: The leader starts a Ray cluster and the engine, and the followers join the cluster. (operator:
    internal/dynamo/backend_vllm.go)
    """
    if role.role != "leader":
        return _command_lines.shell(container, f"ray start --address={role.addressing.leader}:{_RAY_PORT} --block")
    quoted = role.component.release.engines.quotes_words
    line = f"{_command_lines.shell_line(_command_lines.words(container), quoted=quoted)} {_RAY}"
    if _command_lines.is_shell(container):  # the operator writes the flag behind the line for the shell, which then ignores it
        args = [_command_lines.after_framework(argument, _RAY, VLLM.name) for argument in container.get("args") or ()]
        line = _command_lines.quote_command({**container, "args": args})
    return _command_lines.shell(container, f"ray start --head --port={_RAY_PORT} && {line}")


def _data_parallel(container: Container, role: RolePlan, local: int) -> Container:
    """Adds the flags of data parallelism to a container. `local` is the number of copies on its node.

    The first rank of a node follows the last rank of the previous node.

    Rule vllm.data-parallel: With data parallelism, each node runs its share of the copies of a model. (operator:
    internal/dynamo/backend_vllm.go)
    """
    leads, addressing = role.role == "leader", role.addressing
    host = addressing.leader_word if leads and not _command_lines.is_shell(container) else addressing.leader
    flags = (
        f"--data-parallel-hybrid-lb --data-parallel-size-local {local}"
        f" --data-parallel-start-rank {0 if leads else f'$(( {local} * {addressing.operand} ))'}"
        f" --data-parallel-address {host} --data-parallel-rpc-port {_DATA_PARALLEL_PORT}"
    )
    quoted = role.component.release.engines.quotes_words
    return _command_lines.inject(container, flags, VLLM.name, needs_shell=not leads, quoted=quoted)


ENGINE = VLLM()
