"""Finds the object of the input that a missing name means, among those that nothing in the input reads.

Such an object has the name in another namespace, or its name has one word more or less: `hf-token` and `hf-token-secret`. Two words for one
thing count as the same word: `epp-config` and `epp-settings`, `compile-cache` and `compilation-cache`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_references

_COPIED = re.compile(r"reflect|replicat|kubed|sync", re.IGNORECASE)
"""Words in the annotations of objects that a controller copies to other namespaces."""
_SAME_WORDS = {
    **dict.fromkeys(("settings", "setting", "conf", "cfg", "configuration", "configs", "options"), "config"),
    **dict.fromkeys(("credentials", "creds"), "credential"),
    "huggingface": "hf",
    **{word: f"{number}" for number, word in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight"), 1)},
}
"""Words for one thing, by the word that counts."""
_STEM = 6
"""The number of letters of a word that count: `compile` and `compilation` are forms of one word."""
_PLURAL = 3
"""The number of letters of a word to which an `s` is a plural: `aggs` and `agg`, but not `us`."""
_SHARED = 2
"""The least number of words that two names share."""
_MOST_WORDS = 12
"""The largest number of words of a name that is compared."""


class UnreadObjects(NamedTuple):
    """Objects that nothing in the input reads: namespaces by kind and name, and names by kind, namespace and the words that they share.

    `unplaced` has the kind and the name of those without a namespace: they get that of the one who applies them.
    """

    namespaces: dict[tuple[str, str, str], list[str]]
    alike: dict[tuple[str, str, str, str], list[str]]
    unplaced: set[tuple[str, str, str]]

    def namespace_of(self, key: ObjectKey) -> str:
        """Returns the only other namespace with an object of this kind and name; empty without one, or if there are several."""
        others = self.namespaces.get((key.group, key.kind, key.name), ())
        return others[0] if len(others) == 1 and others[0] != key.namespace else ""

    def name_of(self, key: ObjectKey) -> str:
        """Returns the only name of this kind and namespace with one word more or less; empty without one, or if there are several."""
        wanted = _plain(key.name)
        names = {name: None for text in (wanted, *_shorter(wanted)) for name in self.alike.get((*key[:3], text), ())}
        near = [name for name in names if wanted in (plain := _plain(name), *_shorter(plain)) or plain in _shorter(wanted)]
        return near[0] if len(near) == 1 else ""


def of(resources: Sequence[Resource], kinds: Collection[tuple[str, str]], default: str) -> UnreadObjects:
    """Returns the objects of some kinds that no resource names. Only objects that name their namespace count in another one."""
    read = {*_read(resources, default)}
    namespaces: dict[tuple[str, str, str], list[str]] = {}
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    unplaced: set[tuple[str, str, str]] = set()
    for resource in resources:
        key = identity.key(resource, default)
        if (key.group, key.kind) in kinds and key not in read:
            if not identity.key(resource).namespace:
                unplaced.add((key.group, key.kind, key.name))
            elif not any(map(_COPIED.search, identity.annotations_of(resource))):
                namespaces.setdefault((key.group, key.kind, key.name), []).append(key.namespace)
            for text in (plain := _plain(key.name), *_shorter(plain)):
                alike.setdefault((*key[:3], text), []).append(key.name)
    return UnreadObjects(namespaces, alike, unplaced)


def _read(resources: Iterable[Resource], default: str) -> Iterator[ObjectKey]:
    for resource in resources:
        namespace = identity.key(resource, default).namespace
        for reference in dynamo_references.of(resource):
            yield ObjectKey(reference.group, reference.kind, reference.namespace or namespace, reference.name)


def _plain(name: str) -> str:
    """Returns a name with one word for each thing, without the letter of a plural, and with the beginnings of words.

    >>> _plain("epp-settings"), _plain("compilation-cache"), _plain("two-gpus")
    ('epp-config', 'compil-cache', '2-gpu')
    """
    return "-".join(_SAME_WORDS.get(word, _singular(word))[:_STEM] for word in name.split("-"))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _PLURAL and word.endswith("s") else word


def _shorter(name: str) -> list[str]:
    """Returns the names with one word less, of at least two words.

    >>> _shorter("hf-token-secret"), _shorter("hf-token")
    (['token-secret', 'hf-secret', 'hf-token'], [])
    """
    words = name.split("-")
    if len(words) <= _SHARED or len(words) > _MOST_WORDS:
        return []
    return ["-".join((*words[:at], *words[at + 1 :])) for at in range(len(words))]
