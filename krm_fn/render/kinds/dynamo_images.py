"""The names of images: those whose tag is a version of Dynamo, and those whose tag is the version of another program.

The tables are data. A new image is a new row. A mirror keeps the name of an image, so the registry and the folders do not count.
"""

from __future__ import annotations

from functools import lru_cache

from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

_ARTIFACTS = "the page Release Artifacts of NVIDIA's documentation, Dynamo 0.6 to 1.3"
_EXAMPLES = "the example graphs of Dynamo's repository"
_PICKERS = "the guide of Dynamo's inference gateway"

REGISTRY = "nvcr.io/nvidia/ai-dynamo"
"""The registry of NVIDIA with its folders, for the images of Dynamo."""
DYNAMO = {
    "vllm-runtime": _ARTIFACTS,
    "sglang-runtime": _ARTIFACTS,
    "tensorrtllm-runtime": _ARTIFACTS,
    "dynamo-frontend": _ARTIFACTS,
    "dynamo-planner": f"{_ARTIFACTS}, since 1.1",
    "kubernetes-operator": _ARTIFACTS,
    "snapshot-agent": f"{_ARTIFACTS}, since 1.0",
    "vllm-runtime-enterprise": "the release notes of Dynamo 1.7.0",
    "trtllm-runtime": _EXAMPLES,
    "mocker-runtime": _EXAMPLES,
    "epp-image": _PICKERS,
    "epp-inference-extension-dynamo": f"{_PICKERS}, Dynamo 0.6",
    "dynamo": "the build script of Dynamo's repository, which tags local images so",
}
"""The names of images of Dynamo, with the source of each."""
_NIGHTLY = "-nightly"
"""The end of the names of nightly images. Source: the page Nightly Builds of Dynamo's documentation."""
OTHERS = {
    "modelexpress-server": "the documentation of ModelExpress, which has versions of its own",
    "vllm-openai": "the documentation of vLLM",
    "vllm-openai-rocm": "the documentation of vLLM",
    "sglang": "the documentation of SGLang",
    "tensorrt-llm": "the documentation of TensorRT-LLM",
    "tritonserver": "the documentation of Triton",
}
"""The names of images whose tag is the version of another program, with the source of each, also if they start Dynamo."""
_NIM = "nim"
"""The organization of NVIDIA's NIM images, which have versions of their own. Source: the documentation of NIM for LLMs."""


class ImageParts(NamedTuple):
    """The parts of the reference of an image without its digest. `folder` is its registry with the folders in it."""

    folder: str
    name: str
    tag: str


def parts(image: str) -> ImageParts:
    """Returns the parts of the reference of an image.

    >>> parts("registry:5000/a/dynamo:0.8.0@sha256:00"), parts("dynamo")
    (ImageParts(folder='registry:5000/a', name='dynamo', tag='0.8.0'), ImageParts(folder='', name='dynamo', tag=''))
    """
    folder, _, last = image.partition("@")[0].rpartition("/")
    name, _, tag = last.partition(":")
    return ImageParts(folder, name, tag)


@lru_cache(maxsize=256)  # most components have the image of another one
def tag_of(image: str) -> Literal["dynamo", "other", "unknown"]:
    """Returns what the tag of an image is by the name of the image: a version of Dynamo, that of another program, or not known.

    >>> [tag_of(image) for image in ("mirror:5000/a/vllm-runtime:1.6.1", "nvcr.io/nim/meta/llama:3.0.0", "own/engine:1.0.0")]
    ['dynamo', 'other', 'unknown']
    """
    folder, name, _ = parts(image)
    if name.removesuffix(_NIGHTLY) in DYNAMO:
        return "dynamo"
    return "other" if name in OTHERS or _NIM in folder.split("/") else "unknown"
