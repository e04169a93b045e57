"""The steps of an upgrade: from the versions that graphs have to the target, by the table of the releases and their runtimes.

A step moves graphs to one runtime version and to the operator release that this version follows. Old and new pods run side by side while
a step is applied. So their runtimes should be at most two minor versions apart, and the release must support the new runtime
(`krm_fn.kinds.floors`). A step never skips a release of the operator.
"""

from __future__ import annotations

from krm_fn.kube.version import Version
from krm_fn.records import NamedTuple


class UpgradeStep(NamedTuple):
    """One step of an upgrade or a downgrade.

    `number` counts from 1. The releases are names as in the configuration, such as `v1.5`; the old ones are the farthest from the target
    among the graphs of the step. `runtime` is the version of Dynamo's images after the step. `api_version` is the API version of graphs
    after the step, such as `nvidia.com/v1beta1`; if it is empty, each graph keeps its own. If `new_origin` is true, the origin version of
    graphs becomes that of the step; otherwise each graph keeps its origin version.
    """

    number: int
    old_release: str
    release: str
    old_runtime: Version
    runtime: Version
    api_version: str = ""
    new_origin: bool = False

    @property
    def is_downgrade(self) -> bool:
        """True if the step goes to an older version."""
        return self.runtime < self.old_runtime

    @property
    def runtime_text(self) -> str:
        """The runtime version as a tag of an image: `1.5.1`."""
        return ".".join(map(str, self.runtime))

    def changes_version(self, version: Version) -> bool:
        """Returns true for a runtime version that the step replaces. Images that are already at the target, or beyond it, stay."""
        return version > self.runtime if self.is_downgrade else version < self.runtime
