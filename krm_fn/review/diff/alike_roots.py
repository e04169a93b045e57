"""Groups roots in which a change has equal effects, for example the folders of clusters that include one base.

Two roots are alike if their differing objects are the same in number, kind, effect, GPUs and fields, after the names are made equal: one
prefix or suffix of names, the namespaces and the folders of the roots may differ.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import dynamo_resources
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review.diff.diff_report import DiffReport

_HASH = re.compile(r"[0-9a-f]{8,64}")
_FOLDER, _NAMESPACE = "\0", "\1"


class Names(NamedTuple):
    """What the names of a root have before or after the names that all alike roots have, and its namespaces in the order of its objects."""

    prefix: str = ""
    suffix: str = ""
    namespaces: tuple[str, ...] = ()


class AlikeRoots(NamedTuple):
    """Roots with equal effects, by their numbers. The first one stands for all. `names` are the names of each root, in the same order."""

    numbers: list[int]
    names: list[Names]


def group(reports: Sequence[tuple[str, DiffReport]]) -> list[AlikeRoots]:
    """Groups comparisons, each with the folder of its root. A root that is not known to be like another one is a group of its own."""
    groups: list[AlikeRoots] = []
    by_shape: dict[Hashable, list[AlikeRoots]] = {}
    for number, (folder, report) in enumerate(reports):
        shape = _shape(report) if not report.diff.failed else number
        for candidate in by_shape.setdefault(shape, []):
            first_folder, first = reports[candidate.numbers[0]]
            names = _same_names(first, report)
            if names and _has_same_values((first_folder, first, names[0]), (folder, report, names[1])):
                if len(candidate.numbers) == 1:
                    candidate.names[0] = names[0]
                if candidate.names[0] == names[0]:
                    candidate.numbers.append(number)
                    candidate.names.append(names[1])
                    break
        else:
            groups.append(AlikeRoots([number], [Names()]))
            by_shape[shape].append(groups[-1])
    return groups


def _shape(report: DiffReport) -> Hashable:
    """Returns all effects of a change without names and values."""
    outcomes = report.diff.forecast.outcomes
    objects = tuple(
        (change.key[:2], effect, outcomes[number].gpus, outcomes[number].dropped, outcomes[number].stuck, tuple(map(_field, change.fields)))
        for number, change, effect in report.objects
    )
    return objects, len(report.diff.refused), report.diff.is_partial


def _field(field: FieldChange) -> Hashable:
    return field.old is None, field.new is None, field.order, len(field.path)


def _same_names(one: DiffReport, other: DiffReport) -> tuple[Names, Names] | None:
    """Returns the names of both roots that make their objects the same; None if no prefix or suffix does."""
    changes = [(change, like) for (_, change, _), (_, like, _) in zip(one.objects, other.objects, strict=True)]
    pairs = [(change.key, like.key) for change, like in changes]
    pairs += [owners for change, like in changes for owners in zip(_owners(change), _owners(like), strict=False)]
    spaces = dict.fromkeys((key.namespace, like.namespace) for key, like in pairs)
    if len({old for old, _ in spaces}) < len(spaces) or len({new for _, new in spaces}) < len(spaces):
        return None
    affixes = next((affixes for affixes in _affixes(pairs) if _fit(pairs, affixes)), None)
    if affixes is None:
        return None
    (prefix, suffix), (like_prefix, like_suffix) = affixes
    names = Names(prefix, suffix, tuple(old for old, _ in spaces))
    return names, Names(like_prefix, like_suffix, tuple(new for _, new in spaces))


def _owners(change: ObjectChange) -> list[ObjectKey]:
    """Returns the Dynamo resources of an object. With the names of graphs, two graphs do not count as one with two prefixes."""
    return dynamo_resources.owner_keys(change.new or change.old or {}, change.key.namespace)


_Affixes = tuple[tuple[str, str], tuple[str, str]]


def _affixes(pairs: Sequence[tuple[ObjectKey, ObjectKey]]) -> Iterator[_Affixes]:
    """Yields the prefixes and suffixes that can make two lists of names equal, from their first pair of different names."""
    name, like = next(((key.name, like.name) for key, like in pairs if key.name != like.name), ("", ""))
    yield ("", ""), ("", "")
    words, like_words = name.split("-"), like.split("-")
    for count in range(min(len(words), len(like_words)), 0, -1):
        if words[-count:] == like_words[-count:]:
            yield (_join_words(words[:-count]), ""), (_join_words(like_words[:-count]), "")
        if words[:count] == like_words[:count]:
            yield ("", _join_words(words[count:], "-")), ("", _join_words(like_words[count:], "-"))


def _join_words(words: Sequence[str], before: str = "") -> str:
    text = "-".join(words)
    return (f"-{text}" if before else f"{text}-") if words else ""


def _fit(pairs: Sequence[tuple[ObjectKey, ObjectKey]], affixes: _Affixes) -> bool:
    return all(key.name == like.name or _core(key.name, affixes[0]) == _core(like.name, affixes[1]) != "" for key, like in pairs)


def _core(name: str, affix: tuple[str, str]) -> str:
    """Returns a name without a prefix and a suffix; empty if it has not both."""
    prefix, suffix = affix
    return name[len(prefix) : len(name) - len(suffix)] if name.startswith(prefix) and name.endswith(suffix) else ""


def _has_same_values(one: tuple[str, DiffReport, Names], other: tuple[str, DiffReport, Names]) -> bool:
    """True if all fields change in the same way, after the names are made equal. Hashes are made of the names, so they differ."""
    texts = [[_text(change, folder, names) for _, change, _ in report.objects] for folder, report, names in (one, other)]
    return texts[0] == texts[1]


def _text(change: ObjectChange, folder: str, names: Names) -> str:
    fields = [(field.names or field.path, _value(field.old), _value(field.new)) for field in change.fields]
    text = repr(fields)
    for affix in (names.prefix, names.suffix):
        text = text.replace(affix, "") if affix else text
    for number, namespace in enumerate(names.namespaces):
        text = text.replace(namespace, f"{_NAMESPACE}{number}") if namespace else text
    return text.replace(folder, _FOLDER) if folder else text


def _value(value: object) -> object:
    return "" if isinstance(value, str) and _HASH.fullmatch(value) else value
