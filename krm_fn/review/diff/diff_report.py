"""The report of a comparison, for all its formats: verdict, rows of services, and texts of fields, values and origins.

Texts are in one line, with escaped control characters.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from krm_fn.base import report, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.secret_values import HIDDEN
from krm_fn.render import labels
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review import forecast
from krm_fn.review.diff import headline
from krm_fn.review.diff.comparison import Diff
from krm_fn.review.diff.headline import Verdict
from krm_fn.review.diff.rendered_state import ChangeOrigin
from krm_fn.review.forecast import Gpus, ObjectForecast
from krm_fn.review.forecast.object_rules import Effect
from krm_fn.review.forecast.rollouts import Service

_LONGEST = 160  # characters of a value or of a line
_MOST_LINES = 40  # lines of a text
_LARGEST = 2000  # lines of the largest texts that are compared
_ORDER: tuple[Effect, ...] = ("deleted", "refused", "restarts", "unknown", "created", "updated", "same")


_STRENGTH: tuple[Effect, ...] = ("refused", "restarts", "unknown", "deleted", "created", "updated", "same")
"""The effects of several objects of one service, the strongest first."""


class DiffReport(NamedTuple):
    """A comparison. `old` is the name of the old state.

    `findings` are all findings with their locations. `colours` is true for a terminal that shows colours. `is_unchanged`: nothing was
    rendered, because all inputs are the same in both states.
    """

    diff: Diff
    old: str
    findings: Sequence[Result] = ()
    colours: bool = False
    is_unchanged: bool = False

    @property
    def objects(self) -> list[tuple[int, ObjectChange, Effect]]:
        """The objects that differ, with their numbers and effects: first what a reviewer must see."""
        objects = [(number, change, self.diff.forecast.outcomes[number].effect) for number, change in self.diff.differing]
        return sorted(objects, key=lambda entry: _ORDER.index(entry[2]))

    def origins(self, number: int, field: int | None) -> tuple[ChangeOrigin, ...]:
        """Returns the lines that make a field of a change, or a change as a whole."""
        return self.diff.origins.get((number, field), ())


class Row(NamedTuple):
    """The effect on one service. `gpus` are the GPUs of its pods before and after; None for an unknown number.

    `dropped` is the number of its replicas that stop until another writer scales it. `is_changed`: an object or a field of it changes.
    """

    service: Service
    effect: Effect
    stuck: bool
    gpus: tuple[int | None, int | None]
    lines: tuple[ChangeOrigin, ...]
    dropped: int = 0
    is_changed: bool = False

    @property
    def effects(self) -> list[str]:
        """The words for the effect."""
        return [self.effect, *["stuck"] * self.stuck, *[f"{self.dropped + 1} replicas drop to 1"] * bool(self.dropped)]


def located_findings(diff: Diff) -> list[Result]:
    """Returns the findings of the forecast, each at the line that makes the change, because no file has the objects."""
    findings = []
    numbers = {results.ref(change.new or change.old or {}): number for number, change in enumerate(diff.changes)}
    for result in diff.forecast_findings:
        number = numbers.get(result.ref) if result.ref else None
        location = _change_line(diff, number, result.path) if number is not None else None
        findings.append(result._replace(file=location.file, line=location.line) if location else result)
    return sorted(findings, key=results.order)


def _change_line(diff: Diff, number: int, path: Path) -> ChangeOrigin | None:
    """Returns the line of the first change of an object at a path or below, otherwise of its first change."""
    fields = diff.changes[number].fields
    below = [index for index, field in enumerate(fields) if field.path[: len(path)] == path or path[: len(field.path)] == field.path]
    origins = (origin for index in (*below, None, *range(len(fields))) for origin in diff.origins.get((number, index), ()))
    return next(origins, None)


def rows(content: DiffReport) -> list[Row]:
    """Returns the services of both states, first those that a reviewer must see."""
    rows_by_service: dict[Service, Row] = {}
    for number, outcome in enumerate(content.diff.forecast.outcomes):
        for service, gpus in outcome.shares:
            fields = service_fields(content.diff.changes[number], service, is_only=len(outcome.shares) == 1)
            effect, lines = _service_effect(outcome, service, fields), _lines(content, number, fields)
            row = Row(service, effect, bool(outcome.stuck), _known_gpus(gpus), lines, outcome.dropped)
            row = row._replace(is_changed=bool(fields) or effect in ("created", "deleted"))
            rows_by_service[service] = _merge_rows(rows_by_service[service], row) if service in rows_by_service else row
    return sorted(rows_by_service.values(), key=lambda row: (_ORDER.index(row.effect), row.service))


def _known_gpus(gpus: Gpus) -> tuple[int | None, int | None]:
    return None if gpus.unknown_before else gpus.before, None if gpus.unknown_after else gpus.after


def gpu_texts(row: Row) -> tuple[str, str]:
    """Returns the numbers of GPUs of a service before and after."""
    before, after = ("unknown" if count is None else f"{count}" for count in row.gpus)
    return before, after


def _service_effect(outcome: ObjectForecast, service: Service, fields: Sequence[int]) -> Effect:
    """Returns the effect on the pods of one service of an object."""
    if service not in outcome.services:
        return "deleted"
    if outcome.effect != "restarts" or service in outcome.restarting:
        return outcome.effect if fields or outcome.effect != "updated" else "same"
    return "updated" if fields else "same"


def service_fields(change: ObjectChange, service: Service, *, is_only: bool) -> list[int]:
    """Returns the numbers of the fields of a change that are about one service. A field that is about no single service is about all."""
    numbers = []
    for number, field in enumerate(change.fields):
        resource, path = (change.old, field.old_path) if field.new is None else (change.new, field.path)
        owner = None if is_only else forecast.service_at(change.key, resource or {}, path)
        if owner in (None, service):
            numbers.append(number)
    return numbers


def _merge_rows(one: Row, other: Row) -> Row:
    effects = {one.effect, other.effect}
    if effects == {"created", "deleted"}:
        effect: Effect = "restarts"
    elif effects == {"deleted", "same"}:
        effect = "updated"  # a replica goes that is an object of its own
    else:
        effect = min(effects, key=_STRENGTH.index)
    before, after = ((None if one is None or other is None else one + other) for one, other in zip(one.gpus, other.gpus, strict=True))
    lines = tuple(dict.fromkeys((*one.lines, *other.lines)))
    is_changed = one.is_changed or other.is_changed
    return Row(one.service, effect, one.stuck or other.stuck, (before, after), lines, one.dropped + other.dropped, is_changed)


def _lines(content: DiffReport, number: int, fields: Sequence[int]) -> tuple[ChangeOrigin, ...]:
    """Returns the lines that change one object, or some of its fields."""
    lines = (line for field in (None, *fields) for line in content.origins(number, field))
    return tuple(dict.fromkeys(lines))


def joined_lines(lines: Sequence[ChangeOrigin]) -> str:
    """Lines with the file named once: `graph.yaml:12, 14; render.yaml:3`."""
    files: dict[str, set[int]] = {}
    for line in lines:
        files.setdefault(line.file, set()).update([line.line] if line.line else [])
    return "; ".join(f"{file}:{', '.join(map(str, sorted(numbers)))}".rstrip(":") for file, numbers in files.items())


def changed_by(row: Row) -> str:
    """Returns the lines that make the changes of a service. They can be unknown, as those of a build that reads the network."""
    return joined_lines(row.lines) or ("not known" if row.is_changed else "")


def verdict(content: DiffReport) -> Verdict:
    """Returns the sentences that a reviewer reads first."""
    return headline.verdict([content.diff])


def shown_fields(fields: Sequence[FieldChange]) -> list[tuple[int, str, FieldChange]]:
    """Returns the fields of an object for readers: the number of each, its name and its change.

    Labels and variables that have the same worker hash are one entry, because the hash is an effect of the change that restarts the pods.
    So are the annotations of all roles of a DisaggregatedSet that have its revision.
    """
    revisions = [number for number, field in enumerate(fields) if field.path[-1:] == (labels.SET_REVISION,)]
    names, hidden = {}, set()
    for words, numbers in (("worker hash", hash_fields(fields)), ("revision", revisions)):
        if len(numbers) > 1:
            names[numbers[0]] = f"{words}, in {len(numbers)} fields"
            hidden.update(numbers[1:])
    return [(number, names.get(number) or field_path(field), field) for number, field in enumerate(fields) if number not in hidden]


def hash_fields(fields: Sequence[FieldChange]) -> list[int]:
    """Returns the numbers of the labels and variables that have the same worker hash."""
    hashes = {(field.old, field.new) for field in fields if _is_text(field) and field.path[-1:] == (labels.WORKER_HASH,)}
    return [number for number, field in enumerate(fields) if _is_text(field) and (field.old, field.new) in hashes]


def _is_text(field: FieldChange) -> bool:
    return all(value is None or isinstance(value, str) for value in (field.old, field.new))


def field_path(field: FieldChange) -> str:
    """Returns the path of a field. An entry of a list has its key in brackets, or its index if it has no key."""
    path = ""
    for step, name in zip(field.path, field.names or field.path, strict=True):
        part = f"[{name}]" if isinstance(step, int) else results.field((step,))
        path += part if not path or part.startswith("[") else f".{part}"
    return report.visible(path)


def field_change(field: FieldChange) -> str:
    """Returns the change of a field: `"2" -> "4"`."""
    if field.order:
        return f"order {_value(field.old)} -> {_value(field.new)}"
    if field.old is None:
        return f"added {_value(field.new)}"
    if field.new is None:
        return f"removed {_value(field.old)}"
    return f"changed {HIDDEN}" if HIDDEN in (field.old, field.new) else f"{_value(field.old)} -> {_value(field.new)}"


def changed_lines(field: FieldChange) -> list[str]:
    """Returns the lines that differ between two texts of several lines; empty for other values."""
    if not (isinstance(field.old, str) and isinstance(field.new, str) and "\n" in field.old + field.new):
        return []
    old, new = ([report.visible(line)[:_LONGEST] for line in text.split("\n")] for text in (field.old, field.new))
    if max(len(old), len(new)) > _LARGEST:
        return []
    lines = list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]
    return lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], f"… and {len(lines) - _MOST_LINES} more lines"]


def object_name(key: ObjectKey) -> str:
    """Kind, namespace and name of an object."""
    return report.visible(f"{key.kind} {key.namespace}{'/' if key.namespace else ''}{key.name}")


def origin_text(origin: ChangeOrigin) -> str:
    """Returns the location and the field of an origin: `graph.yaml:12 spec.services.Worker.replicas`."""
    line = f":{origin.line}" if origin.line else ""
    return report.visible(f"{origin.file}{line} {results.field(origin.path)}".rstrip())


def _value(value: object) -> str:
    return HIDDEN if value == HIDDEN else report.value(value, _LONGEST)
