"""No engine: the container runs as the user wrote it."""

from __future__ import annotations

from krm_fn.backends import Backend

BACKEND = Backend()
