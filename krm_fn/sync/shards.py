"""Shards: several syncers share a cluster, and each one serves the namespaces whose hash falls to it."""

from __future__ import annotations

import re
from typing import NamedTuple

from krm_fn.kube import digest

_FORM = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


class Shard(NamedTuple):
    """The share number `number`, from 1 to `total`."""

    number: int = 1
    total: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def owns(self, namespace: str) -> bool:
        """True if this shard serves the namespace. Each namespace belongs to exactly one shard, in every process and on every machine."""
        return int(digest.hexadecimal(namespace)[:15], 16) % self.total == self.number - 1

    @property
    def suffix(self) -> str:
        """What the names of the shard's leases end with; empty for a syncer without shards."""
        return "" if self.total == 1 else f"-{self.number}-of-{self.total}"


def parse(text: str) -> Shard:
    """Reads `2/5`. Raises ValueError for another form, and for a number above the total.

    >>> parse("2/5")
    Shard(number=2, total=5)
    """
    match = _FORM.fullmatch(text)
    shard = Shard(*map(int, match.groups())) if match else None
    if shard is None or shard.number > shard.total:
        raise ValueError(f"{text!r} is not a shard; write NUMBER/TOTAL, for example 2/5 for the second of five")
    return shard
