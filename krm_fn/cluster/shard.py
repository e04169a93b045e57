"""The share of the namespaces that one of several processes serves. Rendezvous hashing divides them among the live members.

A namespace belongs to the member with the highest hash of member and namespace. So a new member takes namespaces from all others, a member
that leaves gives its own to all others, and no other namespace moves (Thaler and Ravishankar 1996).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from krm_fn.kubernetes import digest

SELECTOR_LIMIT = 64 * 1024
"""The longest field selector in bytes. It excludes about 1,800 namespaces. An API server accepts requests of 1 MiB, some proxies less."""
_TERM = "metadata.namespace!="
_ESCAPED = len("%21%3D") - len("!=") + len("%2C")
"""The bytes that a term is longer in a URL than its text."""


def owner(namespace: str, members: Iterable[str]) -> str:
    """Returns the member to which a namespace belongs. Raises ValueError without members."""
    return max(members, key=lambda member: digest.hexadecimal(f"{member}/{namespace}"))


class Assignment:
    """The namespaces of the member `name` while `members` live. A member that is not among them has no namespace."""

    def __init__(self, name: str, members: Collection[str]) -> None:
        self.members = frozenset(members)
        self._name = name
        self._owned: dict[str, bool] = {}

    def owns(self, namespace: str) -> bool:
        """Returns True if the namespace belongs to the member."""
        owned = self._owned.get(namespace)
        if owned is None:
            owned = self._owned[namespace] = self._name in self.members and owner(namespace, self.members) == self._name
        return owned


class Shard:
    """The namespaces of the member `name`. Without a name, this process has no peers, and owns all namespaces.

    The caches store the objects of namespaces that `owns` names. They hold all objects of a namespace if `has_all` is true for it: a member
    that takes over a namespace reads its objects first. `selector` excludes the namespaces of other members from lists and watches. A
    namespace that is not known yet is not excluded, so its objects arrive, and `accepts` rejects them.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.moves = {"gained": 0, "lost": 0}
        self._assignments = [Assignment(name, ())]  # since the caches were complete; the present one is last
        self._foreign: dict[str, None] = {}  # known namespaces of others; the one that was seen last is last
        self._limit = SELECTOR_LIMIT

    @property
    def members(self) -> frozenset[str]:
        """The live members."""
        return self._assignments[-1].members

    def owns(self, namespace: str) -> bool:
        """Returns True if the namespace belongs to this process. Objects without a namespace belong to every process."""
        return not (self.name and namespace) or self._assignments[-1].owns(namespace)

    def has_all(self, namespace: str) -> bool:
        """Returns True if this process owns the namespace, and its caches hold all objects of it."""
        return not self.name or all(assignment.owns(namespace) for assignment in self._assignments)

    def accepts(self, namespace: str) -> bool:
        """Returns True if this process owns the namespace. Otherwise the next selector excludes it."""
        owned = self.owns(namespace)
        if not owned:
            self.exclude((namespace,))
        return owned

    def exclude(self, namespaces: Iterable[str]) -> None:
        """Excludes the namespaces from the next selector, unless this process owns them."""
        for namespace in namespaces:
            self._foreign.pop(namespace, None)
            self._foreign[namespace] = None

    def update(self, members: Collection[str], *, rejoined: bool = False) -> bool:
        """Sets the live members. Returns True if this process may own more namespaces now, so that it has to read all objects again.

        `rejoined` means that others may have served its namespaces meanwhile. Call `complete` when the caches are complete.
        """
        gains = rejoined or not self.members <= set(members)
        if rejoined:
            self._assignments = [Assignment(self.name, ())]
        self._assignments.append(Assignment(self.name, members))
        return gains

    def complete(self) -> None:
        """Records that the caches hold all objects of the present namespaces."""
        self._assignments = self._assignments[-1:]

    def selector(self) -> str:
        """Returns a field selector that excludes the known namespaces of other members, up to the limit of its length."""
        terms, length = [], 0
        for namespace in reversed(self._foreign):
            if not self.owns(namespace):
                length += len(_TERM) + len(namespace) + _ESCAPED
                if length > self._limit:
                    break
                terms.append(f"{_TERM}{namespace}")
        return ",".join(sorted(terms))

    def shorten_selector(self) -> None:
        """Halves the limit of the selector, after a server or a proxy refused a long one."""
        self._limit = min(self._limit, len(self.selector())) // 2
