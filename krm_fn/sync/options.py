"""The settings of `krm-fn sync`, its share of the namespaces, and the environment variables that set the options."""

from __future__ import annotations

import difflib
import os
import re
import socket
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from krm_fn.config import Config
from krm_fn.kube import digest
from krm_fn.status import SyncFeatures

PREFIX = "KRM_FN_SYNC_"
_SERVICE_LINK = re.compile(r"(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_[0-9]+_.*)?)")
"""Kubernetes sets variables of this form for a Service with the name `krm-fn-sync` in the pod's namespace."""
_SHARD = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


class Shard(NamedTuple):
    """One of `total` syncers that share a cluster: number `number`, from 1. It serves the namespaces whose hash falls to it."""

    number: int = 1
    total: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def owns(self, namespace: str) -> bool:
        """Returns True if this shard serves the namespace. Each namespace has exactly one shard, in every process and on every machine."""
        return int(digest.hexadecimal(namespace)[:15], 16) % self.total == self.number - 1

    @property
    def suffix(self) -> str:
        """The suffix in the names of the shard's Leases; empty for a syncer without shards."""
        return "" if self.total == 1 else f"-{self.number}-of-{self.total}"


class Options(NamedTuple):
    """The settings of a syncer. `krm_fn.cli.sync_command` describes each one."""

    kubeconfig: str | None = None
    """None: the pod's service account in a cluster, else the usual kubeconfig."""
    context: str | None = None
    namespaces: tuple[str, ...] = ()
    """Empty: all namespaces."""
    features: SyncFeatures = SyncFeatures()
    config: Config = Config()
    """The configuration with which graphs of requests are expanded."""
    events: bool = True
    hold_namespaces: bool = False
    leader_election: bool | None = None
    """None: on in a cluster."""
    lease_namespace: str = ""
    """Empty: the pod's namespace, or the kubeconfig's."""
    shard: Shard = Shard()
    address: str = "127.0.0.1"
    port: int = 8080
    workers: int = 8
    log_format: str = "text"
    log_level: str = "info"


def parse_shard(text: str) -> Shard:
    """Parses a shard in the form `2/5`. Raises ValueError for another form, and for a number above the total.

    >>> parse_shard("2/5")
    Shard(number=2, total=5)
    """
    match = _SHARD.fullmatch(text)
    shard = Shard(*map(int, match.groups())) if match else None
    if shard is None or shard.number > shard.total:
        raise ValueError(f"{text!r} is not a shard; write NUMBER/TOTAL, for example 2/5 for the second of five")
    return shard


def instance_name(environment: Mapping[str, str] = os.environ) -> str:
    """Returns the name of this process: the pod's name, or outside a cluster the host's name and the process id."""
    return environment.get("POD_NAME") or f"{socket.gethostname()}-{os.getpid()}"


def unknown_variables(known: Iterable[str], environment: Mapping[str, str] = os.environ) -> list[str]:
    """Returns a warning for each variable with our prefix that sets nothing. `known` are the names of the options without the prefix."""
    names = sorted(known)
    variables = sorted(name.removeprefix(PREFIX) for name in environment if name.startswith(PREFIX))
    return [_unknown(name, names) for name in variables if name not in names and not _SERVICE_LINK.fullmatch(name)]


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {PREFIX}{near[0]}?" if near else f"; known: {', '.join(PREFIX + name_ for name_ in known)}"
    return f"The environment variable {PREFIX}{name} is unknown and sets nothing{hint}"
