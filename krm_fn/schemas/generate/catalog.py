"""The function's entry in catalogs: `functions.yaml` and kpt's `metadata.yaml`. No orchestrator reads them yet.

Follows the KRMFunctionDefinition of KEP-2906 and kyaml's `KrmFunctionSchema`, and the `metadata.yaml` of kpt's catalog.
"""

from __future__ import annotations

from collections.abc import Iterable

import krm_fn
from krm_fn.kubernetes.types import Resource
from krm_fn.schemas import generate
from krm_fn.schemas.generate import crds

HOME = f"https://{krm_fn.REPOSITORY}"
DESCRIPTION = "NVIDIA Dynamo graphs become the native Kubernetes objects they stand for."
TAGS = ["mutator", "generator"]
USAGE = "docs/configuration.md"


def definition(examples: Iterable[str]) -> Resource:
    """The content of `functions.yaml`: the configuration's kind with its schema, and the image. `examples` are folders of a clone."""
    known = generate.definitions()
    settings = known["DynamoRender"]
    (api_version,), (kind,) = (settings["properties"][key]["enum"] for key in ("apiVersion", "kind"))
    group, version = api_version.split("/")
    return {
        "apiVersion": "config.kubernetes.io/v1alpha1",
        "kind": "KRMFunctionDefinition",
        "metadata": {"name": f"{kind.lower()}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind},
            "description": DESCRIPTION,
            "publisher": krm_fn.REPOSITORY.split("/")[1],
            "home": HOME,
            "tags": TAGS,
            "versions": [
                {
                    "name": version,
                    "schema": {"openAPIV3Schema": crds.root(settings, known)},
                    "idempotent": True,
                    "runtime": {
                        "container": {
                            "image": f"{krm_fn.IMAGE}:{krm_fn.__version__}",
                            "requireNetwork": False,
                            "requireStorageMount": False,
                        }
                    },
                    "usage": _address("blob", USAGE),
                    "examples": [_address("blob", f"{example}/README.md") for example in examples],
                    "license": "Apache 2.0",
                }
            ],
        },
    }


def metadata(examples: Iterable[str]) -> Resource:
    """The content of `metadata.yaml`."""
    return {
        "image": krm_fn.IMAGE,
        "description": DESCRIPTION,
        "tags": TAGS,
        "sourceURL": _address("tree", "krm_fn"),
        "examplePackageURLs": [_address("tree", example) for example in examples],
        "emails": [],
        "license": "Apache-2.0",
    }


def _address(kind: str, path: str) -> str:
    """The URL of a file (`blob`) or a folder (`tree`) of this version."""
    return f"{HOME}/{kind}/v{krm_fn.__version__}/{path}"
