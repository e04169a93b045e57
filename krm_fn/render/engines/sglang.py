"""SGLang. Follows the operator's `internal/dynamo/backend_sglang.go`."""

from __future__ import annotations

from krm_fn.render.engines import Engine, ParallelFlags, _command_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import Container
    from krm_fn.render.engines import NewWorker
    from krm_fn.render.plan import RolePlan

_BOOTSTRAP_PORT = 12345
_PORT = 29500
"""The port of the leader.

Rule sglang.port: The nodes of an SGLang engine meet on port 29500. (operator: internal/dynamo/backend_sglang.go)
"""


class SGLang(Engine):
    """SGLang workers on several nodes: every node gets the leader's address, the number of nodes and its own rank."""

    name = "sglang"
    """The name of the engine, and of its Python module.

    Rule sglang.module: The word `sglang` names SGLang in a command line. (operator: internal/dynamo/backend_sglang.go)
    """

    own_images = ("sglang",)
    own_servers = ("sglang.launch_server",)
    runtime_image = "sglang-runtime"
    model_flag = "--model-path"
    bootstrap_host_flag = "--host"
    decodes_without_mode = False  # dynamo/sglang/main.py
    lora_flags = ("--enable-lora", "--lora-paths")
    loads_loras_since = (1, 1, 0)
    parallel_flags = ParallelFlags(
        (("--tensor-parallel-size", "--tp-size", "--tp"), ("--pipeline-parallel-size", "--pp-size")),
        (("--data-parallel-size", "--dp-size", "--dp"),),
        within=("--enable-dp-attention",),
        silent=("--base-gpu-id", "--gpu-id-step", "--device", "--nnodes", "--node-rank", "--dist-init-addr", "--encoder-only"),
    )
    """The sizes of SGLang's `ServerArgs`."""

    def container(self, container: Container, role: RolePlan) -> Container:
        """Adds the flags of an engine on several nodes to a container.

        Rule sglang.container: The leader of an SGLang engine on several nodes is rank 0; its followers get its address and have no probes.
        (operator: internal/dynamo/backend_sglang.go)
        """
        nodes, addressing = role.component.placement.nodes, _command_lines.addressing(role)
        if nodes == 1:
            return container
        leads = role.role == "leader"
        host = addressing.leader_word if leads and not _command_lines.is_shell(container) else addressing.leader
        flags = f"--dist-init-addr {host}:{_PORT} --nnodes {nodes} --node-rank {addressing.leader_rank if leads else addressing.rank}"
        quoted = role.component.release.engines.quotes_words
        needs_shell = not leads and addressing.rank_needs_shell
        injected = _command_lines.inject(container, flags, self.name, needs_shell=needs_shell, quoted=quoted)
        return injected if leads else _command_lines.without_probes(injected)

    def launched_container(self, container: Container, role: RolePlan) -> Container:
        """Returns the main container of a role with a pod template of its own.

        Rule roles.sglang: A follower with a pod template of its own has no probes, because it serves no requests. (operator:
        internal/dynamo/backend_sglang.go)
        """
        return container if role.role == "leader" else _command_lines.without_probes(container)

    def _transfer(self, worker: NewWorker) -> list[str]:
        """Returns the mode of a worker, and how it transfers the key-value cache.

        A decode worker asks a server of the prefill worker where the cache is. This server listens at `--host`, by default 127.0.0.1, and
        Dynamo tells its clients the address of the pod (`sglang/srt/managers/disagg_service.py` and `arg_groups/fields/serving.py` of
        SGLang 0.5.21, `dynamo/sglang/_disagg.py` of Dynamo 1.6.1). Both workers get the same flags, because either can be scaled alone.
        """
        bootstrap = ["--disaggregation-bootstrap-port", str(_BOOTSTRAP_PORT), "--host", "0.0.0.0"]  # noqa: S104 - of a pod
        return [*super()._transfer(worker), "--disaggregation-transfer-backend", "nixl", *bootstrap]

    def check(self, container: Container, role: RolePlan) -> Iterator[Result]:
        """Checks the plain command of a follower, which runs in a shell that computes the follower's rank."""
        if role.component.placement.nodes > 1 and role.role == "worker" and _command_lines.is_python(container):
            yield from _command_lines.check_words(container, role)


ENGINE = SGLang()
