"""Dynamo's variables with the leader's host and with a pod's rank, as engines write them into command lines.

Follows the operator's `internal/dynamo/backend_vllm.go` and `backend_sglang.go`.
"""

from __future__ import annotations

from krm_fn.render.plan.facts import TOPOLOGY_VARIABLES, Addressing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.render.plan import RolePlan


def addressing(role: RolePlan) -> Addressing:
    """Returns the words for the leader's host and the ranks in a command line of an engine.

    Kubernetes expands the variables, so no command needs a shell for them.

    Rule commands.topology-aliases: The leader's host and the ranks in a command line are those of the workload, or since Dynamo 1.6
    variables of Dynamo. (operator: internal/dynamo/backend_vllm.go, internal/dynamo/backend_sglang.go)
    """
    if not role.component.placement.names_topology:
        return role.addressing
    host, rank = (f"$({name})" for name in TOPOLOGY_VARIABLES)
    return role.addressing._replace(leader=host, leader_word=host, rank=rank, leader_rank=rank, rank_needs_shell=False)
