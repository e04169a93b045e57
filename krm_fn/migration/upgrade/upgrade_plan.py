"""The plan of an upgrade as a value: its steps, and for each step what happens to each graph and to each of its services.

Every format of `krm-fn upgrade` is made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.version import Version
from krm_fn.migration.upgrade.field_edits import Cause, ResourceEdits
from krm_fn.migration.upgrade.required_versions import RequiredVersion
from krm_fn.migration.upgrade.restart_causes import CauseSet, MovedPart
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep, Versions
from krm_fn.migration.upgrade.waves import Waves
from krm_fn.review.forecast import Gpus
from krm_fn.review.forecast.object_rules import Effect
from krm_fn.review.forecast.rollouts import Rollout, Service

PlanState = Literal["planned", "error before", "error after"]
"""`error before`: the graph does not render before the step. `error after`: the new release refuses it."""


class ServiceUpgrade(NamedTuple):
    """The effect of a step on one service.

    `smallest` are the smallest sets of causes that replace its pods; empty if they stay. `alone` says for each cause of the step if it
    alone replaces them; None if the graph does not render with this cause alone. `optional` says for a move that the step leaves out if it
    would replace the pods in addition.
    """

    service: Service
    effect: Effect
    gpus: Gpus
    restarts: bool
    smallest: tuple[CauseSet, ...] = ()
    alone: Mapping[Cause, bool | None] = {}
    optional: Mapping[Cause, bool | None] = {}


class GraphUpgrade(NamedTuple):
    """The effect of a step on one graph, standalone component or request.

    `part` is the folder of its root. `old` and `new` are its versions; None for a resource that only the configuration changes, and for a
    request. A graph with an error has no services. `rollouts` are those of all its workloads, and `gpus` their GPUs together. `findings`
    are those that the old state does not have. `wave` counts from 1; 0 for a graph without pods, or that fits in no wave.
    """

    part: str
    key: ObjectKey
    state: PlanState
    effect: Effect
    old: Versions | None = None
    new: Versions | None = None
    causes: CauseSet = ()
    services: tuple[ServiceUpgrade, ...] = ()
    gpus: Gpus = Gpus()
    rollouts: tuple[Rollout, ...] = ()
    edits: ResourceEdits | None = None
    findings: tuple[Result, ...] = ()
    wave: int = 0

    @property
    def is_changed(self) -> bool:
        """True for a graph that the step moves, and for another one on which it has an effect."""
        return self.new is not None or self.effect not in ("same", "unknown") or bool(self.findings)

    @property
    def restarting(self) -> tuple[Service, ...]:
        """The services whose pods are replaced."""
        return tuple(service.service for service in self.services if service.restarts)


class StepPlan(NamedTuple):
    """One step with its effects.

    `graphs` are the resources that it changes. `parts` are the parts of the fleet before and after it, also those that stay. `findings` are
    those about other resources. `required` are the parts of the platform that it needs, and `waves` the order of its graphs.
    """

    step: UpgradeStep
    graphs: tuple[GraphUpgrade, ...]
    parts: tuple[MovedPart, ...]
    findings: tuple[Result, ...] = ()
    required: tuple[RequiredVersion, ...] = ()
    waves: Waves = Waves((), ())

    @property
    def all_findings(self) -> tuple[Result, ...]:
        """The findings about all resources of the step."""
        return (*(finding for graph in self.graphs for finding in graph.findings), *self.findings)

    def findings_in(self, part: str) -> tuple[Result, ...]:
        """Returns the findings about the graphs of one root."""
        return tuple(finding for graph in self.graphs if graph.part == part for finding in graph.findings)


class UpgradePlan(NamedTuple):
    """An upgrade of a fleet. `target` is the version of Dynamo after the last step.

    `unchanged` are the graphs that are at the target, each with the folder of its root. `findings` are about the target, and about graphs
    that the plan leaves out. `is_downgrade` is true if newer graphs go back.
    """

    target: Version
    steps: tuple[StepPlan, ...]
    unchanged: tuple[tuple[str, ObjectKey], ...] = ()
    findings: tuple[Result, ...] = ()
    is_downgrade: bool = False
