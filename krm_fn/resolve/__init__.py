"""Makes plans from the resources that users wrote. Each fact is derived once, in this folder.

Only this folder, `krm_fn.convert` and `krm_fn.api` contain the fields of an API version. `krm_fn.validation` has the rules about several
facts. A release of the reference reads one version (`Behaviour.reads`); a resource of the other version is converted first.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.plan.address import RequestBook
from krm_fn.resolve import context
from krm_fn.resolve.v1alpha1 import fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from krm_fn.behaviours import Behaviour
    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.plan import Book, GraphPlan, RequestPlan
    from krm_fn.resolve.cluster import ClusterFacts
    from krm_fn.results import Result


def graph(resource: Resource, config: Config, found: ClusterFacts) -> tuple[GraphPlan, list[Result]]:
    """The plan of a DynamoGraphDeployment of any version, and the findings about fields that cannot be read."""
    return _read(resource, config, found, ("graph", "graph"))


def component(resource: Resource, config: Config, found: ClusterFacts) -> tuple[GraphPlan, list[Result]]:
    """The plan of a DynamoComponentDeployment of any version, and the findings about fields that cannot be read."""
    return _read(resource, config, found, ("standalone", "component"))


def request(resource: Resource, config: Config, found: ClusterFacts) -> tuple[RequestPlan, list[Result]]:
    """The plan of a DynamoGraphDeploymentRequest of any version, and the findings about the profiler's settings."""
    from krm_fn.resolve.v1alpha1 import request as older  # noqa: PLC0415 - a render of graphs alone starts without it

    address = results.ref(resource)
    if address.api_version == identity.V1ALPHA1:
        return older.request(resource, config, found, RequestBook(address, fields.REQUEST))
    from krm_fn.resolve.v1beta1 import request as newer  # noqa: PLC0415

    return newer.request(resource, config, found)


def _read(resource: Resource, config: Config, found: ClusterFacts, reader: tuple[str, str]) -> tuple[GraphPlan, list[Result]]:
    release = context.behaviour(resource, config)
    converted, about = _converted(resource, release)
    plan, findings = _reader(release, *reader)(converted, config, found, release, _book(resource, converted, release))
    if results.ref(resource).api_version != identity.V1ALPHA1 or release.reads == "v1alpha1":
        return plan, [*about, *findings]
    from krm_fn.resolve.v1alpha1 import unconverted  # noqa: PLC0415 - a render under the oldest release starts without it

    return plan, [*about, *findings, *unconverted.check(plan, resource)]


def _reader(release: Behaviour, module: str, function: str) -> Callable[..., tuple[GraphPlan, list[Result]]]:
    """The function that reads a kind in the version of a release. The modules of the other version are not imported."""
    reader: Callable[..., tuple[GraphPlan, list[Result]]] = getattr(import_module(f"{__name__}.{release.reads}.{module}"), function)
    return reader


def _converted(resource: Resource, release: Behaviour) -> tuple[Resource, list[Result]]:
    """The resource in the version that a release reads, and the findings about the conversion and about fields that it kept."""
    same = results.ref(resource).api_version == f"{identity.DYNAMO_GROUP}/{release.reads}"
    if same and labels.PRESERVED.isdisjoint(labels.notes(resource)):
        return resource, []
    from krm_fn.convert import findings, versions  # noqa: PLC0415 - most resources are in that version

    about = findings.of_render(resource, release.reads, is_new=not context.is_from_newer(resource))
    return versions.to(release.reads, resource), about


def _book(resource: Resource, converted: Resource, release: Behaviour) -> Book:
    """The addresses in the version that the author wrote. `converted` is the resource in the version that the release reads."""
    older, reads_older = results.ref(resource).api_version == identity.V1ALPHA1, release.reads == "v1alpha1"
    if older and reads_older:
        return fields.book(resource)
    from krm_fn.resolve.v1beta1 import fields as newer  # noqa: PLC0415 - a render of v1alpha1 starts without these modules

    if older:
        from krm_fn.resolve.v1alpha1 import moved as upwards  # noqa: PLC0415

        return upwards.book(resource, newer.inherited(resource))
    if not reads_older:
        return newer.book(resource)
    from krm_fn.resolve.v1beta1 import moved as downwards  # noqa: PLC0415 - only a release for the other version needs it

    return downwards.book(resource, converted)
