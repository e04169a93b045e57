"""How much the loader of adapters does at once, and how long it tries.

`requests`, `request`, `batch` and `again` are those of the reference's `internal/modelendpoint/client.go`.
"""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits. Times are in seconds."""

    requests: int = 10
    """Requests at once."""
    requests_of_model: int = 8
    """Requests for one model at once, so that some are left for the others."""
    repetitions: int = 5
    """Requests at once to places or models that did not answer before, so that they leave room for the others."""
    request: float = 15.0
    batch: float = 30.0
    """The requests of a model that begin together end within this time."""
    again: float = 30.0
    """Until a failed request is repeated; twice as long after each further failure, up to `longest`."""
    longest: float = 300.0
    removal: float = 60.0
    """How long an adapter of a deleted model is unloaded at most."""

    def delay(self, failures: int) -> float:
        """The time until the next request after so many failures in a row."""
        return min(self.again * 2.0 ** min(failures - 1, 16), self.longest)


LIMITS = Limits()
