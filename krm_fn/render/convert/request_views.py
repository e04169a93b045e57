"""The views of requests: a request of v1beta2 in the older versions, and a request of the older versions in v1beta2.

A view holds the whole spec in one field, named after the version in which the request is written: `spec.v1beta2`, or `spec.v1beta1`. The
status has the same field. The fields of the two versions have no equivalents, so a conversion only packs and unpacks a view.

Follows the operator's `api/v1beta2/dynamographdeploymentrequest_conversion.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes.values import mapping
from krm_fn.render import dynamo_api
from krm_fn.render.convert import request_conversion
from krm_fn.render.schema import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource

_PARTS = ("spec", "status")


class BothFormsError(ValueError):
    """A spec or a status has a view and fields beside it. The argument is the part: `spec` or `status`."""


def view_field(request: Resource) -> str:
    """Returns the field of the view that a request of this version can have: `v1beta1` in v1beta2, otherwise `v1beta2`."""
    return dynamo_api.BETA1 if request.get("apiVersion") == dynamo_api.V1BETA2 else dynamo_api.BETA2


def is_view(request: Resource) -> bool:
    """Returns true if the spec of a request is a view of a request of another version."""
    return view_field(request) in mapping(request.get("spec"))


def beside_view(request: Resource, part: str) -> list[str]:
    """Returns the fields beside the view in `spec` or `status`, without those that have the default of an API server."""
    fields = mapping(request.get(part))
    if view_field(request) not in fields:
        return []
    definition = table.load().kinds[dynamo_api.REQUEST].get(f"{request.get('apiVersion')}")
    node = table.node(definition).field(part) if definition else None
    defaults = node.defaults if node else {}
    return [name for name, value in fields.items() if name != view_field(request) and defaults.get(name) != value]


def is_between(version: str, resource: Resource) -> bool:
    """Returns true if the conversion of a resource to `version` packs or unpacks a view, or keeps it."""
    api_version = resource.get("apiVersion")
    if resource.get("kind") != dynamo_api.REQUEST or api_version == f"{dynamo_api.GROUP}/{version}":
        return False
    if api_version == dynamo_api.V1BETA2:
        return True
    return api_version in (dynamo_api.V1ALPHA1, dynamo_api.V1BETA1) and (version == dynamo_api.BETA2 or is_view(resource))


def to(version: str, request: Resource) -> Resource:
    """Converts a request from or to v1beta2, or its view between the older versions. `version` is without the group.

    The metadata stays. Raises BothFormsError if the request has a view and other fields.
    """
    api_version = f"{dynamo_api.GROUP}/{version}"
    for part in _PARTS:
        if beside_view(request, part):
            raise BothFormsError(part)
    if dynamo_api.V1BETA2 not in (request.get("apiVersion"), api_version):
        return {**request, "apiVersion": api_version}
    if version == dynamo_api.BETA2:
        if not is_view(request) and request.get("apiVersion") == dynamo_api.V1ALPHA1:
            request = request_conversion.to_v1beta1(request)
        return {**_move_view(request, dynamo_api.BETA2, dynamo_api.BETA1), "apiVersion": api_version}
    was_view = is_view(request)
    converted = {**_move_view(request, dynamo_api.BETA1, dynamo_api.BETA2), "apiVersion": dynamo_api.V1BETA1}
    if version == dynamo_api.ALPHA1 and was_view:
        converted = request_conversion.to_v1alpha1(converted)
    return {**converted, "apiVersion": api_version}


def _move_view(request: Resource, unpacked: str, packed: str) -> Resource:
    """Takes the spec and the status out of the view `unpacked`, or puts them into the view `packed`."""
    parts: dict[str, Any] = {}
    for part in _PARTS:
        fields = request.get(part)
        if isinstance(fields, dict) and (fields or part == "spec"):
            parts[part] = fields.get(unpacked, {packed: fields})
    return {**request, **parts}
