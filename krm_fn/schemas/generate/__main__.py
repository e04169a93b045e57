"""Writes every file that is generated from the models: `python -m krm_fn.schemas.generate`, without an API server or any other program.

The native part comes from `native.json` and `merging.json`, which are checked in (`krm_fn.schemas.generate.native_definitions`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from krm_fn.base.yaml import emitter
from krm_fn.render.schema import table
from krm_fn.schemas import generate
from krm_fn.schemas.generate import catalog, crds, docs_pages, kustomize_files, native_definitions, structural

ROOT = Path(__file__).parents[3]
KUSTOMIZE, DOCS = ROOT / "platform" / "kustomize", ROOT / "docs" / "reference"
SETTINGS, RELEASES, PLATFORM = (ROOT / "docs" / name for name in ("configuration.md", "releases.md", "platform.md"))
CRDS = {"v1alpha1": ROOT / "platform" / "crds", "v1beta1": ROOT / "platform" / "crds-v1beta1"}
"""The folder of the definitions by the version that they serve."""
_MADE = "# Made from krm_fn/schemas/api by `make generate`.\n"


def schema_files() -> dict[Path, str]:
    """Schema files: Dynamo's kinds with the native definitions that they refer to, for renders, and Kubernetes' own kinds, for checks."""
    native = native_definitions.load()
    return {
        ROOT / "krm_fn" / table.FILE: generate.text(structural.table(*native)),
        ROOT / "krm_fn" / table.NATIVE_FILE: generate.text(structural.native_table(*native)),
    }


def generated_files() -> dict[Path, str]:
    """Other files of a clone, generated from the models and from the schema file for renders."""
    examples = sorted(f"examples/{path.name}" for path in (ROOT / "examples").iterdir() if (path / "README.md").exists())
    return {
        **{CRDS[version] / name: _MADE + emitter.text(content) for version in CRDS for name, content in _definitions(version).items()},
        ROOT / "functions.yaml": _MADE + emitter.text(catalog.definition(examples)),
        ROOT / "metadata.yaml": _MADE + emitter.text(catalog.metadata(examples)),
        KUSTOMIZE / "openapi.json": generate.text(kustomize_files.schema()),
        KUSTOMIZE / "names.yaml": _MADE + emitter.text(kustomize_files.references()),
        **{DOCS / name: page for name, page in docs_pages.pages().items()},
        ROOT / "krm_fn" / native_definitions.TYPES_FILE: native_definitions.types_text(native_definitions.load().definitions),
        SETTINGS: docs_pages.with_settings(SETTINGS.read_text("utf-8")),
        RELEASES: docs_pages.with_gates(RELEASES.read_text("utf-8")),
        PLATFORM: docs_pages.with_floors(PLATFORM.read_text("utf-8")),
    }


def _definitions(version: str) -> dict[str, Any]:
    """The files of a folder with the definitions that serve a version."""
    definitions = {f"{definition['spec']['names']['plural']}.yaml": definition for definition in crds.definitions(version)}
    listed = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [*definitions]}
    return {**definitions, "kustomization.yaml": listed}


def main() -> None:
    """Writes everything. Works in a clone."""
    generate.write(schema_files())
    table.load.cache_clear()
    generate.definitions.cache_clear()
    generate.write(generated_files())


if __name__ == "__main__":
    main()
