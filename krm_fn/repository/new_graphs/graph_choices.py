"""The choices of the author of a new graph."""

from __future__ import annotations

from krm_fn.base.records import NamedTuple


class Target(NamedTuple):
    """An overlay: its folder, its namespace, and the end of the names of what only it has, which is empty for the only overlay."""

    folder: str
    namespace: str
    suffix: str


class GraphChoices(NamedTuple):
    """What an author says about a new graph. `release` is the version of Dynamo's images, and `engine` a name of `krm_fn.render.engines`.

    `gpus` is the number of GPUs of a worker on each of its `nodes`, and `replicas` the number of workers of each component. With
    `disaggregated`, the graph has workers that prefill and workers that decode. `token_secret` is the Secret with the token of Hugging
    Face; empty if the graph only shows where to name it. `layout` is a name of `graph_layouts.LAYOUTS`. `overlays` are the names of several
    overlays, which are also their namespaces; without any, the graph has one overlay for `namespace`.
    """

    name: str
    engine: str
    model: str
    release: str
    gpus: int = 1
    nodes: int = 1
    disaggregated: bool = False
    replicas: int = 1
    layout: str = "kustomize"
    namespace: str = "prod"
    token_secret: str = ""
    overlays: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[Target, ...]:
        """The overlays of the graph, or the one of `namespace`."""
        several = tuple(Target(f"overlays/{name}", name, f"-{name}") for name in self.overlays)
        return several or (Target("overlays/prod", self.namespace, ""),)
