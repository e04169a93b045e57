"""No engine: the container stays as the user wrote it."""

from __future__ import annotations

from krm_fn.manifests.backends import Backend

BACKEND = Backend()
