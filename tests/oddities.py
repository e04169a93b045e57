"""Pods that are sound but for one or two places, and what a real API server says of them.

Not its business: what is wrong with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krm_fn.kube.types import Labels, PodSpec
    from tests.testbed.api import Answer
    from tests.testbed.control_plane import ControlPlane

_SELECTED = {"selected": "yes"}


def sent(plane: ControlPlane, spec: PodSpec, *, labels: Labels | None = None, annotations: Labels | None = None) -> Answer:
    """What the server says of a Deployment with such pods, in a strict dry run."""
    metadata: dict[str, Any] = {"labels": {**(labels or {}), **_SELECTED}, "annotations": annotations or {}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "odd", "namespace": "default"},
        "spec": {"selector": {"matchLabels": _SELECTED}, "template": {"metadata": metadata, "spec": spec}},
    }
    return plane.apply(deployment)
