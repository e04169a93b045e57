"""The Dynamo resources from which a render makes objects: their kinds, and those of a generated object."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.kubernetes import identity
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import ownership

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.identity import ObjectKey
    from krm_fn.kubernetes.types import Resource

EXPANDED = (dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.REQUEST)
"""The Dynamo kinds from which a render makes objects."""


def is_expanded(resource: Resource) -> bool:
    """True for a Dynamo resource from which a render makes objects. A comparison leaves out its fields, which the change itself shows."""
    kind = results.ref(resource).kind
    return dynamo_api.is_dynamo(resource) and kind in EXPANDED and not ownership.is_generated(resource)


def owner_keys(resource: Resource, namespace: str) -> list[ObjectKey]:
    """Returns the keys of the Dynamo resources that generated an object. `namespace` is the namespace of the object."""
    owners = (name.partition("/") for name in ownership.owners(resource))
    return [identity.ObjectKey(dynamo_api.GROUP, kind, namespace, name) for kind, _, name in owners]
