"""The plan of a request: the facts from which its profiling Job is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.config import Config
from krm_fn.kube.identity import DYNAMO_GROUP
from krm_fn.records import NamedTuple
from krm_fn.results import Path, Ref

if TYPE_CHECKING:
    from krm_fn.kube.native_types import ResourceRequirements, Toleration
    from krm_fn.kube.types import Labels
    from krm_fn.plan.facts import SourcePaths


class BaseGraph(NamedTuple):
    """The key of a ConfigMap with the graph from which profiling starts."""

    config_map: str
    key: str


class ModelCache(NamedTuple):
    """A PersistentVolumeClaim with models, and the folder in which the profiler finds them."""

    claim: str
    path: str


class Overrides(NamedTuple):
    """The metadata of the generated graph that overrides the profiler's. Empty texts override nothing."""

    name: str = ""
    namespace: str = ""
    labels: Labels = {}
    annotations: Labels = {}


class RequestPlan(NamedTuple):
    """One request.

    `settings` is the configuration that the profiler gets. `simulated` is true if the profiler simulates GPUs (AI Configurator).
    `output_claim` is the PersistentVolumeClaim for the profiler's files, or empty. `paths` are the paths of its fields.
    """

    name: str
    namespace: str
    ref: Ref
    config: Config
    image: str
    settings: dict[str, Any]
    simulated: bool
    discovers_gpus: bool
    resources: ResourceRequirements
    tolerations: tuple[Toleration, ...]
    output_claim: str
    base: BaseGraph | None
    cache: ModelCache | None
    pull_secrets: tuple[str, ...]
    overrides: Overrides
    paths: SourcePaths

    @property
    def kept_as(self) -> str:
        """The apiVersion in which the request is kept."""
        return self.ref.api_version if self.config.source_version == "keep" else f"{DYNAMO_GROUP}/{self.config.source_version}"

    def at(self, *steps: str | int) -> Path:
        """The path at which the user writes a field of the request. The steps follow `spec`, as v1alpha1 names them."""
        return self.paths.at(*steps)
