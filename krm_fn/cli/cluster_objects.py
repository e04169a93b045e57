"""Reads from a cluster the objects that statuses depend on. Only commands with the extra `sync` can do so."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import click

from krm_fn.cli import command_options, command_output
from krm_fn.kubernetes import identity
from krm_fn.render.config import Config
from krm_fn.repository.files import sources
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.sources import Sources
from krm_fn.review.inputs.computed_status import FEATURES


class ClusterOptions(NamedTuple):
    """The cluster to read. `namespace` is that of the context if it is None; `all_namespaces` overrides both."""

    kubeconfig: str | None = None
    context: str | None = None
    namespace: str | None = None
    all_namespaces: bool = False


class ClusterUnavailableError(Exception):
    """The cluster does not answer now, so a later attempt can succeed. The message has the reason."""


def load(options: ClusterOptions, config: str | None) -> Sources:
    """Lists the objects of all kinds that a status depends on. Prints a note for each kind that the account may not list.

    Raises ClusterUnavailableError, and click.ClickException for a kubeconfig that cannot be used or an account without rights.
    """
    with command_options.sync_extra("status without PATH"):
        from krm_fn.cluster import object_lists  # noqa: PLC0415 - the extra may be missing
        from krm_fn.cluster.access import ClusterError, kubeconfig  # noqa: PLC0415
        from krm_fn.cluster.client import ApiError, TransportError  # noqa: PLC0415
        from krm_fn.syncer import controllers  # noqa: PLC0415 - the extra may be missing
    watches = [watch for controller in controllers.enabled_controllers(FEATURES).values() for watch in controller.watches(FEATURES)]
    try:
        cluster = kubeconfig.find(Path(options.kubeconfig) if options.kubeconfig else None, options.context)
        namespace = "" if options.all_namespaces else options.namespace or cluster.namespace
        lists = object_lists.read(cluster, (watch.kind for watch in watches), namespace)
    except TransportError as problem:
        raise ClusterUnavailableError(str(problem)) from problem
    except ApiError as problem:
        if problem.status >= 500 or problem.status == 429:
            raise ClusterUnavailableError(str(problem)) from problem
        raise click.ClickException(str(problem)) from problem
    except ClusterError as problem:
        raise click.ClickException(str(problem)) from problem
    for message in lists.problems:
        command_output.print_line(f"note: {message}", err=True)
    settings, findings = sources.configuration(config) if config else (Config(), [])
    origin = f"namespace {namespace}" if namespace else "all namespaces"
    objects = {identity.key(value): value for value in lists.objects}  # two selectors can list the same pod
    resources = [Source(value, f"{origin} of {cluster.server}", 0, 0, "") for value in objects.values()]
    return Sources(resources, [], settings._replace(namespace=namespace), findings)
