"""Findings about planners in images without a planner.

Since Dynamo 1.1, only the image dynamo-planner has the packages of the planner, such as `pmdarima` and `kubernetes_asyncio`. In the images
of engines and frontends, `dynamo.planner` ends with ModuleNotFoundError (ai-dynamo/dynamo, pull requests 7748, 8407 and 8450).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Ref, Result
from krm_fn.kubernetes import version
from krm_fn.render.kinds import dynamo_images
from krm_fn.review.arguments.judged_commands import AuthorContainer

_SINCE = (1, 1, 0)
_PLANNER = "dynamo-planner"
_WITHOUT = ("vllm-runtime", "sglang-runtime", "tensorrtllm-runtime", "dynamo-frontend")


def check(containers: Iterable[AuthorContainer], ref: Ref) -> Iterator[Result]:
    """Yields a finding for each main container of a planner whose image has none: an error for an image in NVIDIA's registry."""
    for container in containers:
        image = f"{container.fields.get('image') or ''}"
        folder, name, tag = dynamo_images.parts(image)
        known = version.of_image(image)
        if container.plan.type.scales and name in _WITHOUT and known and known >= _SINCE and _starts_planner(container):
            right = f"{folder}/{_PLANNER}:{tag.partition('-')[0]}" if folder else f"{_PLANNER}:{tag.partition('-')[0]}"
            message = f"{name} has no planner since Dynamo 1.1, so the planner ends at its start; write {right}"
            severity = results.error if folder == dynamo_images.REGISTRY else results.warning
            yield severity(codes.IMAGE_WITHOUT_PLANNER, message, ref, container.plan.at("main", "image"), current=image, proposed=right)


def _starts_planner(container: AuthorContainer) -> bool:
    """True for a command with the planner, and without a command: its type starts it."""
    words = [f"{word}" for field in ("command", "args") for word in container.written.get(field) or ()]
    return any("dynamo.planner" in word for word in words) or not container.written.get("command")
