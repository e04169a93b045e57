"""The report of an upgrade, for all its formats: the sentences, and the rows of the tables. Texts are in one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from krm_fn.base import report, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.migration.upgrade import upgrade_steps
from krm_fn.migration.upgrade.field_edits import CAUSES, Cause, FieldEdit
from krm_fn.migration.upgrade.restart_causes import CauseSet
from krm_fn.migration.upgrade.upgrade_plan import GraphUpgrade, ServiceUpgrade, StepPlan, UpgradePlan
from krm_fn.render import dynamo_api
from krm_fn.review.forecast import Gpus, gpu_texts

CAUSE_NAMES: Mapping[Cause, str] = {"release": "release", "image": "image", "origin": "origin version", "api_version": "API version"}
FLEET_HEAD = ("Graph", "Step", "Restarts", "Gpus", "Interrupted", "Peak", "Wave", "Caused by")
SERVICE_HEAD = ("Service", "Effect", "Gpus", "Interrupted", "Peak", *(CAUSE_NAMES[cause].capitalize() for cause in CAUSES), "Caused by")
PLATFORM_HEAD = ("Needed first", "State", "At least", "Now")
_KINDS = {dynamo_api.COMPONENT: "component", dynamo_api.REQUEST: "request"}
_ALONE = {True: "restarts", False: "stays", None: "error"}
_OPTIONS: Mapping[Cause, str] = {"origin": "--new-origin", "api_version": "--api-version v1beta1"}


class SourceLine(NamedTuple):
    """A line of a file."""

    file: str
    line: int


class EditedField(NamedTuple):
    """A field that an upgrade edits: the folder of the root, the resource, and the path."""

    part: str
    key: ObjectKey
    path: Path


class UpgradeReport(NamedTuple):
    """A plan with the lines of the edited fields.

    `findings` are all findings with their locations, by the number of the step; 0 has those about graphs that have no plan. `steps` are the
    steps to show. `graph` is the name of the only graph to show; empty for the whole fleet.
    """

    plan: UpgradePlan
    lines: Mapping[EditedField, SourceLine]
    findings: Mapping[int, Sequence[Result]]
    steps: tuple[StepPlan, ...]
    graph: str = ""

    def graphs(self, step: StepPlan) -> list[GraphUpgrade]:
        """Returns the graphs of a step that the report shows."""
        return [graph for graph in step.graphs if self.graph in ("", *_names(graph.key))]


def name(key: ObjectKey) -> str:
    """Returns the namespace and the name of a graph, and for another kind a word for it: `prod/chat`, `prod/chat (request)`."""
    kind = _KINDS.get(key.kind, "")
    return f"{key.namespace}/{key.name}{f' ({kind})' if kind else ''}"


def names(plan: UpgradePlan) -> set[str]:
    """Returns the names that `UpgradeReport.graph` can have, with and without their namespaces."""
    keys = [graph.key for step in plan.steps for graph in step.graphs] + [key for _, key in plan.unchanged]
    return {text for key in keys for text in _names(key)}


def _names(key: ObjectKey) -> tuple[str, str]:
    return key.name, f"{key.namespace}/{key.name}"


def title(content: UpgradeReport) -> str:
    """Returns the first sentence."""
    plan = content.plan
    target = upgrade_steps.version_text(plan.target)
    subject = f" of {report.visible(content.graph)}" if content.graph else ""
    if not plan.steps:
        return f"Nothing to {'downgrade' if plan.is_downgrade else 'upgrade'}: no graph moves to {target}."
    steps = report.pluralize(len(plan.steps), "step")
    return f"{'Downgrade' if plan.is_downgrade else 'Upgrade'}{subject} to {target} in {steps}."


def sentences(content: UpgradeReport) -> Iterator[str]:
    """Yields the sentences that a reader reads first."""
    yield title(content)
    if content.plan.steps and content.plan.is_downgrade:
        yield "This is a downgrade: images and releases go back to older versions."
    for step in content.steps:
        yield f"{step_title(step)}: {_effects(content.graphs(step))}{'' if content.graph else _waves(step)}"
    first_states = {(graph.part, graph.key): graph.state for step in reversed(content.plan.steps) for graph in step.graphs}
    failed = dict.fromkeys(name(key) for (_, key), state in first_states.items() if state == "error before")
    refused = {name(graph.key): None for step in content.steps for graph in content.graphs(step) if graph.state == "error after"}
    if failed and not content.graph:
        yield f"No plan, because of errors before the upgrade: {_list_entries([*failed])}."
    if refused:
        yield f"Refused by the new release: {_list_entries([*refused])}."
    if content.plan.unchanged and not content.graph:
        yield f"At the target: {_list_entries([name(key) for _, key in content.plan.unchanged])}."


def step_title(step: StepPlan) -> str:
    """Returns the number of a step with its versions: `Step 1, images 1.5.1, release v0.9 -> v1.5`."""
    old, new = step.step.old_release, step.step.release
    return f"Step {step.step.number}, images {step.step.runtime_text}, release {new if old == new else f'{old} -> {new}'}"


def _effects(graphs: Sequence[GraphUpgrade]) -> str:
    services = [service for graph in graphs for service in graph.services]
    restarting = [service for service in services if service.restarts]
    if not restarting:
        return "no service restarts."
    total = gpu_texts.total(graph.gpus for graph in graphs)
    stopped = gpu_texts.count_gpus(total.interrupted, _interrupted_claims(services))
    peak = gpu_texts.count_gpus(total.peak, total.unknown_peak)
    claims = f"; {gpu_texts.claims(total.unknown_peak)}" if total.unknown_peak else ""
    gpus = f" {stopped[:1].upper()}{stopped[1:]} {'is' if total.interrupted == 1 else 'are'} interrupted, {peak} at the peak{claims}."
    return f"{len(restarting)} of {len(services)} services restart.{gpus if total.peak or total.unknown_peak else ''}"


def _interrupted_claims(services: Sequence[ServiceUpgrade]) -> int:
    """Returns the number of unknown claims of the pods that stop."""
    return sum(service.gpus.unknown_before for service in services if service.restarts)


def _waves(step: StepPlan) -> str:
    peaks = step.waves.peaks
    if not peaks:
        return ""
    return f" In {report.pluralize(len(peaks), 'wave')}, {gpu_texts.count_gpus(max(peaks))} of all graphs at the peak."


def _list_entries(entries: Sequence[str], most: int = 10) -> str:
    return report.list_first([report.visible(entry) for entry in entries], most)


def fleet_rows(content: UpgradeReport) -> list[tuple[str, ...]]:
    """Returns one row for each graph and step."""
    return [_fleet_row(step, graph, content) for step in content.steps for graph in content.graphs(step)]


def _fleet_row(step: StepPlan, graph: GraphUpgrade, content: UpgradeReport) -> tuple[str, ...]:
    roots = {part for entry in content.plan.steps for part in (graph.part for graph in entry.graphs)}
    shown = f"{graph.part}: {name(graph.key)}" if len(roots) > 1 else name(graph.key)
    number = f"{step.step.number}"
    if graph.state != "planned":
        return shown, number, graph.state, "", "", "", "", ""
    restarts = f"{len(graph.restarting)} of {len(graph.services)}" if graph.services else graph.effect
    wave = f"{graph.wave}" if graph.wave else ""
    gpus = graph.gpus
    interrupted = gpu_texts.number(gpus.interrupted, _interrupted_claims(graph.services))
    return shown, number, restarts, _size(gpus), interrupted, gpu_texts.of(gpus).peak, wave, causes_of(graph)


def _size(gpus: Gpus) -> str:
    """Returns the GPUs before and after, in one cell."""
    before, _, after = gpu_texts.of(gpus)
    return before if before == after else f"{before} -> {after}"


def causes_of(graph: GraphUpgrade) -> str:
    """Returns the smallest sets of causes of all restarts of a graph: `release or image`.

    Services with other sets follow, those with fewer causes first: `image, for others release with image`.
    """
    by_service = dict.fromkeys(service.smallest for service in graph.services if service.smallest)
    texts = [sets_text(sets) for sets in sorted(by_service, key=lambda sets: min(map(len, sets)))]
    return ", for others ".join(texts)


def sets_text(sets: Sequence[CauseSet]) -> str:
    """Returns sets of causes as a text. Any of the sets is enough; the causes of a set must come together.

    >>> sets_text((("release",), ("image", "origin")))
    'release or image with origin version'
    """
    return " or ".join(" with ".join(CAUSE_NAMES[cause] for cause in causes) for causes in sets)


def service_rows(graph: GraphUpgrade) -> list[tuple[str, ...]]:
    """Returns one row for each service of a graph: a column for each cause says what it does alone."""
    return [_service_row(service) for service in graph.services]


def _service_row(service: ServiceUpgrade) -> tuple[str, ...]:
    gpus = service.gpus
    alone = (_ALONE[service.alone[cause]] if cause in service.alone else "" for cause in CAUSES)
    interrupted, peak = gpu_texts.number(gpus.interrupted, _interrupted_claims([service])), gpu_texts.of(gpus).peak
    return service.service.name, service.effect, _size(gpus), interrupted, peak, *alone, sets_text(service.smallest)


def optional_lines(graph: GraphUpgrade) -> Iterator[str]:
    """Yields what the moves would restart in addition that the step leaves out."""
    for cause, option in _OPTIONS.items():
        states = {service.service.name: service.optional[cause] for service in graph.services if cause in service.optional}
        if not states:
            continue
        if None in states.values():
            yield f"With {option}, the graph does not render."
            continue
        more = [service for service, restarts in states.items() if restarts]
        yield f"With {option}, {f'these services restart too: {_list_entries(more)}' if more else 'no further service restarts'}."


def edit_line(graph: GraphUpgrade, edit: FieldEdit, content: UpgradeReport) -> str:
    """Returns an edit in one line: its location, its field, the change and the cause."""
    line = content.lines.get(EditedField(graph.part, graph.key, edit.path))
    location = f"{line.file}:{line.line} " if line else ""
    old, new = map(report.visible, edit.items) if edit.is_of_items else (report.value(edit.old), report.value(edit.new))
    change = f"{old} -> {new}"
    if edit.old is None or not old:
        change = f"added {new}"
    elif edit.new is None or not new:
        change = f"removed {old}"
    return f"{report.visible(f'{location}{results.field(edit.path)}')}: {change} ({CAUSE_NAMES[edit.cause]})"


def all_edits(graph: GraphUpgrade) -> list[FieldEdit]:
    """Returns the edits of a graph, with that of its API version last."""
    if graph.edits is None:
        return []
    old = f"{graph.edits.resource.get('apiVersion')}"
    is_moved = old != graph.edits.api_version
    return [*graph.edits.fields, *([FieldEdit(("apiVersion",), old, graph.edits.api_version, "api_version")] * is_moved)]


def edit_lines(graph: GraphUpgrade, content: UpgradeReport) -> list[str]:
    """Returns the edits of a graph as lines."""
    return [edit_line(graph, edit, content) for edit in all_edits(graph)]


def platform_rows(step: StepPlan) -> list[tuple[str, ...]]:
    """Returns one row for each part of the platform that a step needs."""
    return [(row.name, row.state, row.minimum, f"{row.current} ({row.source})" if row.current else "") for row in step.required]


def platform_actions(step: StepPlan) -> list[str]:
    """Returns what to do with parts of the platform before a step. DYN665 has the first action for a part that is too old."""
    actions = ((row.name, action) for row in step.required for action in row.actions[row.state == "not met" :])
    return [f"{name}: {action}" for name, action in actions]


def shown_findings(step: StepPlan, content: UpgradeReport) -> list[Result]:
    """Returns the findings of a step that the report shows: all, or those about one graph."""
    findings = [*content.findings.get(step.step.number, ())]
    if not content.graph:
        return findings
    return [finding for graph in content.graphs(step) for finding in of_graph(findings, graph)]


def group_findings(findings: Sequence[Result]) -> list[tuple[Result, int]]:
    """Returns findings with one code and one message once, each with the number of further resources that have it."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for finding in sorted(findings, key=results.order):
        groups.setdefault((finding.code, finding.message), []).append(finding)
    return [(members[0], len(members) - 1) for members in groups.values()]


def of_graph(findings: Sequence[Result], graph: GraphUpgrade) -> list[Result]:
    """Returns the findings about one graph, with those about its objects."""
    own = {finding[:5] for finding in graph.findings}
    return [finding for finding in findings if finding[:5] in own]
