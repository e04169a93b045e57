"""Findings about endpoint pickers in images of engines, which have no picker.

The operator writes no command for a picker, so the image must start it. Only `container/templates/frontend.Dockerfile` of Dynamo has the
program `/epp`, in the image dynamo-frontend; those of vLLM, SGLang and TensorRT-LLM start a shell.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Ref, Result
from krm_fn.render.kinds import dynamo_images
from krm_fn.review.arguments import judged_commands
from krm_fn.review.arguments.judged_commands import AuthorContainer

_SINCE = (1, 0, 0)
"""The first release whose pickers are in dynamo-frontend by the guide of Dynamo's inference gateway."""
_PICKER = "dynamo-frontend"


def check(container: AuthorContainer, ref: Ref) -> Iterator[Result]:
    """Yields a finding for the main container of a picker with an image of an engine and without a command."""
    is_picker = container.is_main and container.plan.type.picks_workers and not container.fields.get("command")
    if not is_picker or not judged_commands.engine_of_image(container) or not container.version or container.version < _SINCE:
        return
    image = f"{container.fields['image']}"
    folder, name, tag = dynamo_images.parts(image)
    right = f"{folder}/{_PICKER}:{tag.partition('-')[0]}"
    message = f"{name} has no endpoint picker, so the picker does not start; write {right}"
    yield results.error(
        codes.ENDPOINT_PICKER_IN_ENGINE_IMAGE, message, ref, container.plan.at("main", "image"), current=image, proposed=right
    )
