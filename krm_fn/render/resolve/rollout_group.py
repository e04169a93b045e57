"""The workers of a graph that roll out together: prefill, decode, and those that an annotation of the graph joins to them."""

from __future__ import annotations

from krm_fn.render import labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Labels
    from krm_fn.render.plan import Identity

PHASES = ("prefill", "decode")


def has(identity: Identity, annotations: Labels) -> bool:
    """Returns true if a component belongs to the rollout group of a graph with these annotations."""
    return not identity.standalone and (bool(phases(identity)) or identity.service in joined_components(annotations))


def phases(identity: Identity) -> set[str]:
    """Returns the phase that a worker runs, as a set: prefill or decode; empty for a worker that runs both, and for no worker."""
    return {identity.type, identity.sub_type} & {*PHASES}


def joined_components(annotations: Labels) -> list[str]:
    """Returns the components that an annotation of the graph joins to prefill and decode: names, separated by commas.

    >>> joined_components({"dynamo.krm-fn.io/rollout-group": "Encode, Worker"}), joined_components({})
    (['Encode', 'Worker'], [])
    """
    return [name for part in str(annotations.get(labels.ROLLOUT_GROUP) or "").split(",") if (name := part.strip())]
