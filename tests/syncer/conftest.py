"""The control plane of the tests of the syncer."""

from tests.testbed.fragile import plane

__all__ = ["plane"]
