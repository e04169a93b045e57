"""Builds the Helm chart of the platform and the syncer from `platform`, so that no manifest is written twice.

kustomize builds each part and each component of the syncer, and this module turns the objects into templates. A default installation has
the objects of the root kustomization and of `platform/syncer`, without the Namespace, which `helm install --create-namespace` creates.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from release import archives, chart_metadata, chart_templates, manifests
from release.archives import Member
from release.description import Release, ReleaseError

Object = dict[str, Any]

SYNCER = Path("platform", "syncer")
PARTS = ("access", "roles", "admission", "nats")
"""The folders of `platform` that are a key of the values, beside the definitions and the syncer."""
DEFINITIONS = {"v1alpha1": "crds", "v1beta1": "crds-v1beta1"}
"""The folders with the definitions, by the version that they serve."""
LEFT_OUT = {
    "core": "it is always there",
    "auto-apply": "its settings are a file, and their hash is in the name of a ConfigMap",
}
"""The components that the chart does not have as a value, with the reasons."""
INCLUDED = ("alerts", "dashboard")
"""The components that `monitoring` includes. kustomize does not accept an object twice."""
SCOPE = "namespaced"
"""The component that changes objects of all other components. It comes last."""


class Syncer(NamedTuple):
    """The objects of the syncer. Each key of a dict is the name of a component in `platform/syncer`."""

    core: list[Object]
    components: dict[str, list[Object]]  # the objects of the core with this component
    cluster: list[Object]  # with all components except `namespaced`
    namespaced: list[Object]  # with all components

    @property
    def deployment(self) -> Object:
        """The Deployment of the core."""
        return next(entry for entry in self.core if entry["kind"] == "Deployment")


def build(release: Release, source: Path, out: Path) -> Path:
    """Writes the chart as `NAME-VERSION.tgz` into `out`, and returns its path."""
    name = chart_metadata.name(release)
    target = out / f"{name}-{release.version}.tgz"
    target.write_bytes(archives.tar_gz({f"{name}/{path}": member for path, member in files(release, source).items()}, release.epoch))
    return target


def files(release: Release, source: Path) -> dict[str, Member]:
    """The files of the chart, by their paths."""
    built = syncer(source)
    comments = {name: comment(source / SYNCER / name) for name in (*built.components, SCOPE)}
    definitions = {version: manifests.objects(source / "platform" / folder) for version, folder in DEFINITIONS.items()}
    texts = {
        **chart_metadata.files(release, source, built.deployment, comments, definitions),
        "templates/syncer.yaml": chart_templates.syncer(built.core, built.components, (built.cluster, built.namespaced)),
        **{f"templates/{part}.yaml": chart_templates.part(part, manifests.objects(source / "platform" / part)) for part in PARTS},
        **{
            f"templates/definitions-{version}.yaml": chart_templates.definitions(version, listed) for version, listed in definitions.items()
        },
    }
    return {path: Member(text.encode()) for path, text in texts.items()}


def syncer(source: Path) -> Syncer:
    """Builds the syncer with each of its components, with all, and with all in one namespace."""
    names = component_names(source)
    every = [name for name in names if name not in INCLUDED]
    return Syncer(
        _built(source, []),
        {name: _built(source, [name]) for name in names if name != SCOPE},
        _built(source, every[:-1]),
        _built(source, every),
    )


def component_names(source: Path) -> list[str]:
    """The components that are values of the chart, in the order in which an installation with all of them lists them."""
    names = [folder.parent.name for folder in sorted((source / SYNCER).glob("*/kustomization.yaml"))]
    missing = LEFT_OUT.keys() - names
    if missing or SCOPE not in names:
        raise ReleaseError(f"{SYNCER} has no component {', '.join(sorted(missing) or [SCOPE])}")
    return sorted((name for name in names if name not in LEFT_OUT), key=order)


def order(name: str) -> tuple[bool, bool, str]:
    """The sort key of a component: `scaling` is in the default, and `namespaced` changes all others."""
    return name == SCOPE, name != "scaling", name


def comment(component: Path) -> str:
    """The comment at the head of a component's kustomization, without the sentences about kustomize."""
    lines = (component / "kustomization.yaml").read_text().splitlines()
    text = " ".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))
    sentences = [sentence.rstrip(".") for sentence in text.split(". ")]
    return ". ".join(sentence for sentence in sentences if "platform/" not in sentence and "List this" not in sentence) + "."


def _built(source: Path, components: list[str]) -> list[Object]:
    with tempfile.TemporaryDirectory(dir=source) as name:
        layer: Mapping[str, Any] = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": chart_templates.NAMESPACE,
            "resources": [f"../{SYNCER}/core"],
            "components": [f"../{SYNCER}/{component}" for component in components],
        }
        Path(name, "kustomization.yaml").write_text(yaml.safe_dump(dict(layer)))
        return manifests.objects(Path(name))
