"""Compares two states of graphs: the objects that differ, the lines that make them differ, and the forecast of the change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krm_fn.config import Config
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path, Result
    from krm_fn.review.forecast import Forecast
    from krm_fn.schema.object_changes import ObjectChange

Name = Literal["old", "new"]


class Side(NamedTuple):
    """One of the two states that are compared.

    `objects` are the objects that reach the cluster, without the Dynamo resources that a render expands. `inputs` are the resources from
    which the objects were made, and `config` the configuration of that render; `settings` is the resource that holds the configuration.
    `built` are the keys of the Dynamo resources whose objects no render of `inputs` made: those of finished builds and of clusters.
    `failed` are the keys of the Dynamo resources whose objects are not known. `lacks` is true if a part of the state cannot be read, so
    that resources may be missing. `findings` are about `inputs`.
    """

    objects: tuple[Resource, ...]
    inputs: tuple[Resource, ...]
    config: Config
    settings: Resource | None = None
    built: frozenset[ObjectKey] = frozenset()
    failed: frozenset[ObjectKey] = frozenset()
    lacks: bool = False
    findings: tuple[Result, ...] = ()


class ChangeOrigin(NamedTuple):
    """The field of an input that makes a change. `number` is the number of the input of that side; None for the configuration."""

    side: Name
    number: int | None
    path: Path


class Diff(NamedTuple):
    """The changes of all objects, also of those that are the same, with the forecast. Its outcomes are in the order of the changes.

    `origins` has the fields that make a change, by the number of the change and of its field; the number of the field is None for the
    object as a whole. `failed` are the Dynamo resources whose objects are not compared, because one of the states does not render.
    """

    changes: tuple[ObjectChange, ...]
    forecast: Forecast
    origins: Mapping[tuple[int, int | None], tuple[ChangeOrigin, ...]]
    failed: tuple[ObjectKey, ...] = ()
    findings: tuple[Result, ...] = ()

    @property
    def differing(self) -> list[tuple[int, ObjectChange]]:
        """The changes of objects that differ, with their numbers."""
        return [(number, change) for number, change in enumerate(self.changes) if change.fields or change.old is None or change.new is None]

    @property
    def forecast_findings(self) -> list[Result]:
        """The findings of the forecast, those about single objects too."""
        return [*(result for outcome in self.forecast.outcomes for result in outcome.findings), *self.forecast.findings]
