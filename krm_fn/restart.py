"""Restarts asked for in the graph: `spec.restart.id` stamps the pods, so that Kubernetes replaces them.

Follows the reference's `internal/dynamo/graph.go` DetermineRestartState. A build has no passes, so it stamps every service at once;
restarting in order is the syncer's business (`restart: sync`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krm_fn.config import Config
    from krm_fn.plan import Restart


def stamp(restart: Restart | None, config: Config) -> str:
    """The id that every pod template carries; empty where none does."""
    return restart.id if restart and config.restart == "render" else ""
