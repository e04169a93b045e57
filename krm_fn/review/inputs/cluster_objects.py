"""Reads from a cluster the objects that statuses depend on. `load` needs the packages of the extra `sync`, and nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from krm_fn.cluster.api_resources import ApiResource
from krm_fn.kubernetes import identity
from krm_fn.render.config import Config
from krm_fn.repository.files import sources
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.sources import Sources
from krm_fn.review.inputs import syncer_state
from krm_fn.review.inputs.computed_status import FEATURES, ClusterContext
from krm_fn.syncer.status import service_index

_LEASE = ApiResource("coordination.k8s.io", "v1", "leases", "Lease")
_LEASES = (
    _LEASE._replace(field_selector=f"metadata.name={syncer_state.LEASE}"),
    _LEASE._replace(label_selector=f"app.kubernetes.io/name={syncer_state.LEASE},app.kubernetes.io/component=shard"),
)
"""The Leases of the leader and of the members of shards (`krm_fn.syncer.membership`)."""


class ClusterOptions(NamedTuple):
    """The cluster to read. `namespace` is that of the context if it is None; `all_namespaces` overrides both.

    The Leases of the syncer are in `syncer_namespace`, or in `namespace`.
    """

    kubeconfig: str | None = None
    context: str | None = None
    namespace: str | None = None
    all_namespaces: bool = False
    syncer_namespace: str = syncer_state.NAMESPACE


class ClusterObjects(NamedTuple):
    """The objects of a cluster, a problem for each kind that the account may not list, and its context; None for files."""

    sources: Sources
    problems: list[str]
    context: ClusterContext | None


class ClusterUnavailableError(Exception):
    """The cluster does not answer now, so a later attempt can succeed. The message has the reason."""


class ClusterReadError(Exception):
    """The kubeconfig cannot be used, or the account has no rights. The message has the reason."""


def load(options: ClusterOptions, config: str | None) -> ClusterObjects:
    """Lists the objects of all kinds that a status depends on.

    Raises ClusterUnavailableError or ClusterReadError, and ModuleNotFoundError without the packages.
    """
    from krm_fn.cluster import object_lists  # noqa: PLC0415 - the extra may be missing
    from krm_fn.cluster.access import ClusterError, kubeconfig  # noqa: PLC0415
    from krm_fn.cluster.client import ApiError, TransportError  # noqa: PLC0415
    from krm_fn.syncer import controllers  # noqa: PLC0415

    try:
        cluster = kubeconfig.find(Path(options.kubeconfig) if options.kubeconfig else None, options.context)
        namespace = "" if options.all_namespaces else options.namespace or cluster.namespace
        lists = object_lists.read(cluster, controllers.watched_kinds(FEATURES), namespace)
        namespaces = [options.syncer_namespace, *([namespace] if namespace else [])]
        leases = [object_lists.read(cluster, _LEASES, each) for each in dict.fromkeys(namespaces)]
    except TransportError as problem:
        raise ClusterUnavailableError(str(problem)) from problem
    except ApiError as problem:
        if problem.status >= 500 or problem.status == 429:
            raise ClusterUnavailableError(str(problem)) from problem
        raise ClusterReadError(str(problem)) from problem
    except ClusterError as problem:
        raise ClusterReadError(str(problem)) from problem
    settings, findings = sources.configuration(config) if config else (Config(), [])
    origin = f"namespace {namespace}" if namespace else "all namespaces"
    objects = {identity.key(value): value for value in lists.objects}  # two selectors can list the same pod
    resources = [Source(value, f"{origin} of {cluster.server}", 0, 0, "") for value in objects.values()]
    held = [lease for listed in leases for lease in listed.objects]
    forbidden = [text for listed in leases for text in listed.problems]
    syncer = syncer_state.read([*objects.values(), *held], namespaces, forbidden[0] if forbidden and not held else "")
    has_services = not any(kind.kind == service_index.KIND for kind in lists.unlisted)
    context = ClusterContext(f"{origin} of {cluster.server}", has_services, syncer, tuple(lists.unlisted))
    return ClusterObjects(Sources(resources, [], settings._replace(namespace=namespace), findings), lists.problems, context)
