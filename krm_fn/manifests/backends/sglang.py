"""SGLang. Follows the reference's `internal/dynamo/backend_sglang.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.manifests.backends import Backend, _commands, _shell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Container
    from krm_fn.plan import RolePlan
    from krm_fn.results import Result

_PORT = 29500


class SGLang(Backend):
    """SGLang workers on several nodes: every node gets the leader's address, the number of nodes and its own rank."""

    module = "sglang"

    def container(self, container: Container, role: RolePlan) -> Container:
        """Adds the flags of several nodes. The leader is rank 0; followers serve no requests and have no probes."""
        nodes, addressing = role.component.placement.nodes, role.addressing
        if nodes == 1:
            return container
        leads = role.role == "leader"
        host = addressing.leader_word if leads and not _commands.is_shell(container) else addressing.leader
        flags = f"--dist-init-addr {host}:{_PORT} --nnodes {nodes} --node-rank {0 if leads else addressing.rank}"
        quoted = role.component.behaviour.engines.quotes_words
        needs_shell = not leads and addressing.rank_needs_shell
        injected = _commands.inject(container, flags, self.module, needs_shell=needs_shell, quoted=quoted)
        return injected if leads else _commands.without_probes(injected)

    def check(self, container: Container, role: RolePlan) -> Iterator[Result]:
        """Checks the plain command of a follower, which runs in a shell that computes the follower's rank."""
        if role.component.placement.nodes > 1 and role.role == "worker" and _commands.is_python(container):
            yield from _shell.check(container, role)


BACKEND = SGLang()
