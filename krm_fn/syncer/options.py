"""The settings of `krm-fn sync`, and the environment variables that set the options."""

from __future__ import annotations

import difflib
import os
import re
import socket
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from krm_fn.render.config import Config
from krm_fn.syncer.status import SyncFeatures

PREFIX = "KRM_FN_SYNC_"
_SERVICE_LINK = re.compile(r"(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_[0-9]+_.*)?)")
"""Kubernetes sets variables of this form for a Service with the name `krm-fn-sync` in the pod's namespace."""


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
    shards: bool = False
    """True: the process is one of several that share the namespaces."""
    address: str = "127.0.0.1"
    port: int = 8080
    workers: int = 8
    log_format: str = "text"
    log_level: str = "info"


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
