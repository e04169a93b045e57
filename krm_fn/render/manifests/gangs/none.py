"""No gang scheduler: each pod starts as soon as it fits on a node."""

from __future__ import annotations

from krm_fn.render.manifests.gangs import GangScheduler

GANG_SCHEDULER = GangScheduler()
