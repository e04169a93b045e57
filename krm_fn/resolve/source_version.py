"""The version of the API in which a render writes Dynamo resources: the one that the cluster serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity
from krm_fn.resolve import release_choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_KEEP = "keep"


def source(resource: Resource, config: Config) -> Resource:
    """A resource of the user in the version that the configuration asks for; by default in its own version."""
    return resource if config.source_version == _KEEP else _in_version(resource, f"{identity.DYNAMO_GROUP}/{config.source_version}")


def beside(of: Resource, generated: Resource) -> Resource:
    """A generated object. A Dynamo resource gets the version of the resource that it was generated from."""
    return _in_version(generated, results.ref(of).api_version) if identity.is_dynamo(generated) else generated


def check(resource: Resource, config: Config) -> Iterator[Result]:
    """Warns if a render of the kept resource would follow another release than the render of the resource itself."""
    if config.source_version == _KEEP or results.ref(resource).kind not in (identity.GRAPH, identity.COMPONENT):
        return
    now, then = (release_choice.release_name(each, config) for each in (resource, source(resource, config)))
    if now != then:
        message = f"this render follows {now}, but a render of the kept resource, which is {config.source_version}, would follow {then}"
        mend = f"set behaviour: {now} in the configuration"
        yield results.warning("DYN428", f"{message}; {mend}", results.ref(resource), ("apiVersion",))


def _in_version(resource: Resource, api_version: str) -> Resource:
    if results.ref(resource).api_version == api_version:
        return resource
    from krm_fn.convert import versions  # noqa: PLC0415 - most resources are in that version

    return versions.to(api_version.rpartition("/")[2], resource)
