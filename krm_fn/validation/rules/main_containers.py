"""Rules about the container `main` and the version of Dynamo in its image.

Follows the reference's `internal/webhook/validation/shared_v1beta1.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result


def check(plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """Reports components without a main container, and images of graphs whose version is unknown."""
    for component in (each.plan for each in made):
        if not component.features.written_main:
            message = "the component has no container named main, which runs Dynamo; add it with an image"
            yield results.error("DYN450", message, component.ref, component.at("containers"))
        elif not plan.standalone:
            yield from _check_version(component)


def _check_version(plan: ComponentPlan) -> Iterator[Result]:
    """The version of Dynamo must be known, because features depend on it: from the tag of the image, or from the field."""
    image = plan.pod.container.get("image")
    if image and not plan.features.runtime_version and version.of_image(image) is None:
        field = plan.word("runtime_version")
        message = f"the tag of the image {image} is no version; set {field} to the version of Dynamo in it, for example 1.5.0"
        yield results.error("DYN451", message, plan.ref, plan.at("runtime_version"))
