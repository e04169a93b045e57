"""Selectors in a build that select no pod of the build: of budgets, policies, Services and monitors, and of the pods themselves.

An API server accepts a selector that selects nothing. A policy then protects no pod, and nobody sees it. The pods of a graph have its name
in their labels, so a prefix in kustomize changes the labels, and no selector that a user wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.api_server import label_selectors
from krm_fn.kubernetes.references import selector_fields
from krm_fn.kubernetes.references.selector_fields import ObjectSelector
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import text, texts
from krm_fn.render import dynamo_api, labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import selectable_labels
from krm_fn.review.selectable_labels import LabelIndex, Labelled

_DYNAMO = "nvidia.com/"
"""The prefix of labels that only a render writes on pods."""
_OF_DYNAMO = "dynamo"
"""The word with which the names of these labels begin."""
_IDENTITY = (labels.SELECTOR, labels.GRAPH, labels.COMPONENT, labels.NAMESPACE)
"""The labels with names of graphs and services. A policy for a type of component may stand beside graphs without this type."""
_ADDED = (
    *("pod-template-hash", "pod-template-generation", "controller-revision-hash", "controller-uid", labels.OLD_JOB_NAME),
    *("statefulset.kubernetes.io/", "apps.kubernetes.io/", "batch.kubernetes.io/", "leaderworkerset.sigs.k8s.io/", "grove.io/"),
    *(labels.PART_OF, labels.MANAGED_BY, labels.TOPOLOGY_PREFIX, "topology.kubernetes.io/", "service.istio.io/", "security.istio.io/"),
)
"""Labels, or their prefixes, that controllers write on pods. A build does not show their values."""
_JOBS, _REQUIRED = ("CronJob", "Job"), "requiredDuringSchedulingIgnoredDuringExecution"
_FRONTEND = "frontend"
_LISTED = 5
"""The largest number of values in a message."""
_SHORTEST = 5
"""Words with fewer letters are often similar by accident."""


class _RequiredLabel(NamedTuple):
    """One label of a selector, with the values of which it wants one. `path` is the path of the label or of the expression."""

    path: Path
    key: str
    values: tuple[str, ...]


def check(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields a finding for each selector that selects no pod, or no Service, of the build, although it looks as if it should.

    This is the case if the build has a value that is similar to the wanted one, and for labels that only renders write. A selector without
    such labels may select pods of another build. `resources` are those after a render.
    """
    default = cluster.default_namespace(config)
    indexes = {
        "Pod": LabelIndex(selectable_labels.of_pods(resources, default)),
        "Service": LabelIndex(selectable_labels.of_services(resources, default)),
    }
    for resource in resources:
        for selector in () if dynamo_api.is_dynamo(resource) else selector_fields.of(resource):
            if selector.template or not ownership.is_marked(resource):  # `finished_builds` compares selectors of generated objects
                yield from _check(resource, selector, indexes[selector.field.selects], default)


def _check(resource: Resource, selector: ObjectSelector, index: LabelIndex, default: str) -> Iterator[Result]:
    namespaces = selector.namespaces or (identity.key(resource, default).namespace,)
    wanted, others = _requirements(selector)
    if not wanted or _selects_any(wanted, others, index, namespaces):
        return
    near = selectable_labels.of_template(resource, selector.template, default) if selector.field.is_own else index.some(namespaces)
    if (mismatch := _similar(wanted, others, near)) is not None:
        requirement, value = mismatch
        is_certain = not selector.template and _is_renamed(requirement, value, results.ref(resource).name)
        make = results.error if is_certain else results.warning
        kind, before = selector.field.selects, requirement.values[0]
        message = (
            f"this selector selects no {kind} of the build: {requirement.key} is {value}, not {before}; write {value}, for example with"
        )
        path = requirement.path
        yield make(
            codes.SELECTOR_SELECTS_NOTHING,
            f"{message} a patch in the layer with the function",
            results.ref(resource),
            path,
            current=before,
            proposed=value,
        )
    elif renamed := _renamed_label(wanted, near):
        requirement, key = renamed
        message = f"no pod of the build has a label {requirement.key}, so this selector selects nothing; write {key}"
        yield results.warning(
            codes.SELECTOR_SELECTS_NOTHING, message, results.ref(resource), requirement.path, current=requirement.values[0]
        )
    elif (not selector.template and _is_main(selector)) or _is_affinity_of_job(resource, selector):
        yield from _warn_of_unselected(resource, wanted, near)


def _renamed_label(wanted: Sequence[_RequiredLabel], near: Sequence[Labelled]) -> tuple[_RequiredLabel, str] | None:
    """Returns the first label of Dynamo that no pod has, and the label of the pods with its value that lacks or adds a word."""
    for requirement in wanted:
        if requirement.key.startswith(_DYNAMO) and not any(requirement.key in item.labels for item in near):
            keys = {key for item in near if item.is_generated for key, value in item.labels.items() if value in requirement.values}
            alike = [key for key in sorted(keys) if _words(key) in (_words(requirement.key), _words(requirement.key) | {_OF_DYNAMO})]
            if len(alike) == 1:
                return requirement, alike[0]
    return None


def _words(key: str) -> set[str]:
    """Returns the words of the name of a label of Dynamo.

    >>> sorted(_words("nvidia.com/dynamo-component-type"))
    ['component', 'dynamo', 'type']
    """
    return {*key.removeprefix(_DYNAMO).split("-")} if key.startswith(_DYNAMO) else set()


def _is_main(selector: ObjectSelector) -> bool:
    """True for the selector of an object as a whole, and false for one of several peers."""
    return selector_fields.EVERYWHERE not in selector.field.path


def _is_affinity_of_job(resource: Resource, selector: ObjectSelector) -> bool:
    """True for the pods beside which those of a Job must run. Such a Job measures the pods of a graph, and waits for them for ever."""
    return results.ref(resource).kind in _JOBS and {"podAffinity", _REQUIRED} <= {*selector.path}


def _warn_of_unselected(resource: Resource, wanted: Sequence[_RequiredLabel], near: Sequence[Labelled]) -> Iterator[Result]:
    """Yields a warning for the name of a graph or a service that no pod of the namespace has in this label."""
    for requirement in wanted:
        values = sorted({item.labels.get(requirement.key, "") for item in near if item.is_generated} - {""})
        if requirement.key in _IDENTITY and values and not {*values} & {*requirement.values}:
            known = ", ".join((*values[:_LISTED], *["..."] * (len(values) > _LISTED)))
            message = f"this selector selects nothing of the build: the pods have {known}"
            right = values[0] if len(values) == 1 else ""
            fix = f"{f'write {right}' if right else 'correct the label'}, or check this object together with its graph"
            yield results.warning(
                codes.SELECTOR_SELECTS_NOTHING, f"{message}; {fix}", results.ref(resource), requirement.path, current=requirement.values[0]
            )
            return
    yield from _without_type(resource, wanted, near)


def _without_type(resource: Resource, wanted: Sequence[_RequiredLabel], near: Sequence[Labelled]) -> Iterator[Result]:
    """Yields a warning for a type that no component of the selected graphs has."""
    named = [requirement for requirement in wanted if requirement.key in _IDENTITY]
    pods = [item for item in near if item.is_generated and all(item.labels.get(label.key) in label.values for label in named)]
    values = sorted({item.labels.get(labels.COMPONENT_TYPE, "") for item in pods} - {""})
    for requirement in wanted if named else ():
        if requirement.key == labels.COMPONENT_TYPE and values and not {*values} & {*requirement.values}:
            others = [value for value in values if value != _FRONTEND]
            fix = f"write {others[0]}" if len(others) == 1 else "write one of these types"
            message = (
                f"this selector selects nothing of the build: the pods of the graph have the types {', '.join(values[:_LISTED])}; {fix}"
            )
            yield results.warning(
                codes.SELECTOR_SELECTS_NOTHING, message, results.ref(resource), requirement.path, current=requirement.values[0]
            )


def _requirements(selector: ObjectSelector) -> tuple[list[_RequiredLabel], list[dict[str, Any]]]:
    """Returns the wanted labels, and the other expressions, without labels that controllers write."""
    below = () if selector.field.is_map else ("matchLabels",)
    wanted = [
        _RequiredLabel((*selector.path, *below, key), key, (value,)) for key, value in selector.labels.items() if not key.startswith(_ADDED)
    ]
    others = []
    for index, expression in enumerate(selector.expressions):
        key, values = text(expression.get("key")), tuple(texts(expression.get("values")))
        if key.startswith(_ADDED):
            continue
        if expression.get("operator") == "In" and values:
            wanted.append(_RequiredLabel((*selector.path, "matchExpressions", index, "values", 0), key, values))
        else:
            others.append({"key": key, "operator": expression.get("operator"), "values": list(values)})
    return wanted, others


def _selects_any(wanted: Sequence[_RequiredLabel], others: Sequence[dict[str, Any]], index: LabelIndex, namespaces: Sequence[str]) -> bool:
    candidates = min((index.having(namespaces, requirement.key, requirement.values) for requirement in wanted), key=len)
    return any(
        all(item.labels.get(requirement.key) in requirement.values for requirement in wanted) and _fulfils(others, item)
        for item in candidates
    )


def _fulfils(others: Sequence[dict[str, Any]], item: Labelled) -> bool:
    return label_selectors.matches({"matchExpressions": others}, item.labels)


def _similar(
    wanted: Sequence[_RequiredLabel], others: Sequence[dict[str, Any]], near: Sequence[Labelled]
) -> tuple[_RequiredLabel, str] | None:
    """Returns the first label that would have to change, and its new value, so that the selector selects something; None without one.

    All labels that differ must be similar. The pods with the fewest such labels count.
    """
    best: list[tuple[_RequiredLabel, str]] = []
    for item in near:
        differing = [requirement for requirement in wanted if item.labels.get(requirement.key) not in requirement.values]
        pairs = [(requirement, item.labels.get(requirement.key, "")) for requirement in differing]
        if pairs and (not best or len(pairs) < len(best)) and all(_are_similar(*pair) for pair in pairs) and _fulfils(others, item):
            best = pairs
    return best[0] if best else None


def _are_similar(requirement: _RequiredLabel, value: str) -> bool:
    return any(_is_similar(wanted, value, is_dynamo=requirement.key.startswith(_DYNAMO)) for wanted in requirement.values)


def _is_similar(wanted: str, value: str, *, is_dynamo: bool) -> bool:
    """True if a value is the wanted one in other case, with an insertion such as a prefix, or with a typing mistake in one of its words.

    Only renders write Dynamo's labels. In other labels, `web` and `web-api` are two programs.
    """
    if is_dynamo and wanted and (wanted.lower() == value.lower() or any(_insertions(wanted, value))):
        return True
    pairs = [(word, other) for word, other in zip(wanted.split("-"), value.split("-"), strict=False) if word != other]
    if wanted.count("-") != value.count("-") or len(pairs) != 1:
        return False
    ((word, other),) = pairs
    return min(len(word), len(other)) >= _SHORTEST and f"{word}{other}".isalpha() and _is_mistyped(word, other)


def _is_mistyped(word: str, other: str) -> bool:
    """True for two neighbouring letters in the wrong order, and for a letter too many or too few. Other letters often make other words.

    >>> _is_mistyped("wroker", "worker"), _is_mistyped("workers", "worker"), _is_mistyped("reader", "leader")
    (True, True, False)
    """
    if len(word) == len(other):
        return any(f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" == other for at in range(len(word) - 1))
    shorter, longer = sorted((word, other), key=len)
    return any(f"{longer[:at]}{longer[at + 1 :]}" == shorter for at in range(len(longer)))


def _is_renamed(requirement: _RequiredLabel, value: str, name: str) -> bool:
    """True if a label of Dynamo differs by a prefix or suffix that the object with the selector has in its name, too."""
    inserted = [text for wanted in requirement.values for text in _insertions(wanted, value)]
    return requirement.key.startswith(_DYNAMO) and any(name.startswith(text) or name.endswith(text) for text in inserted)


def _insertions(wanted: str, value: str) -> Iterator[str]:
    """Yields each text whose insertion makes `value` of `wanted`.

    >>> [*_insertions("team-chat", "team-eu-chat")], [*_insertions("chat", "cheat-sheet")]
    (['-eu', 'eu-'], [])
    """
    added = len(value) - len(wanted)
    for at in range(len(wanted) + 1) if added > 0 else ():
        if value.startswith(wanted[:at]) and value.endswith(wanted[at:]):
            yield value[at : at + added]
