"""The edits of one resource in one step of an upgrade, and the resource with some of them.

The resource is a graph, a component, a request or a scaling adapter, or one that holds the configuration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from krm_fn.base import results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths, version
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, text
from krm_fn.migration.upgrade import argument_edits, image_edits, origin_versions
from krm_fn.migration.upgrade.field_edits import CAUSES, Cause, FieldEdit, ResourceEdits
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep
from krm_fn.render import dynamo_api, function_config, labels
from krm_fn.render.config import Config
from krm_fn.render.convert import versions
from krm_fn.render.kinds import gates, types
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import former_types, release_choice

_OLDEST = next(iter(release_choice.RELEASES))
_IGNORED_SINCE_1_0 = ("dynamoNamespace", "autoscaling")
"""Fields of services that no release acts on, and that v1beta1 does not have. Dynamo 0.9 writes `dynamoNamespace` itself."""


def edits(resource: Resource, config: Config, step: UpgradeStep) -> ResourceEdits:
    """Returns the edits that a step makes in a resource. `config` is the configuration of its render before the step.

    Returns no edit for a resource of another kind, and for one that a render generated. Fields may have wrong types. `findings` are about
    what the edits leave to a person.
    """
    ref = results.ref(resource)
    api_version = _api_version(ref, step)
    if not _is_edited(resource):
        return ResourceEdits(resource, (*_of_settings(resource, config, step),), ref.api_version)
    fields = [*image_edits.of_resource(resource, step)]
    if ref.kind == dynamo_api.GRAPH:
        fields += [*_of_graph(resource, config, step, ResourceEdits(resource, tuple(fields), api_version))]
    if fields:
        fields += [
            FieldEdit(former.path, former_types.FORMER, former.current, "release") for former in former_types.former_types_of(resource)
        ]
    fields += [*_of_pickers(resource, step, fields), *argument_edits.edits(resource, step)]
    return ResourceEdits(resource, (*fields, *_of_settings(resource, config, step)), api_version)


def findings(resource: Resource, step: UpgradeStep) -> list[Result]:
    """Returns the findings about fields of a resource that a step does not edit, or that a person should look at after the edit."""
    return [*image_edits.findings(resource, step), *image_edits.staying(resource, step)] if _is_edited(resource) else []


def apply_edits(resource_edits: ResourceEdits, causes: Collection[Cause] = CAUSES) -> Resource:
    """Returns the resource with the edits of some causes, in the new API version if `api_version` is among them.

    Without an edit, this is the resource itself. Otherwise it is a copy, which shares the parts that stay.
    """
    resource: Any = resource_edits.resource
    for edit in resource_edits.fields:
        if edit.cause in causes:
            resource = paths.replace_at(resource, edit.path, edit.new)
    if "api_version" in causes:
        resource = versions.to(resource_edits.api_version.rpartition("/")[2], resource)
    return resource  # type: ignore[no-any-return]


def settings_after(config: Config, step: UpgradeStep) -> Config:
    """Returns the settings of a render after a step: those of before, with another release if they name one."""
    return config._replace(behaviour=step.release) if names_other_release(config, step) else config  # type: ignore[arg-type]


def _is_edited(resource: Resource) -> bool:
    """True for a resource of Dynamo that a user wrote."""
    kinds = (dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.REQUEST, dynamo_api.ADAPTER)
    return dynamo_api.is_dynamo(resource) and results.ref(resource).kind in kinds and not ownership.is_generated(resource)


def _api_version(ref: results.Ref, step: UpgradeStep) -> str:
    return step.api_version if step.api_version and ref.api_version in (dynamo_api.V1ALPHA1, dynamo_api.V1BETA1) else ref.api_version


def _of_graph(resource: Resource, config: Config, step: UpgradeStep, of_images: ResourceEdits) -> Iterator[FieldEdit]:
    """Yields the edits of a graph that come with its new release. `of_images` are the edits of its images."""
    old = release_choice.release_name(resource, config)
    moved = apply_edits(of_images)
    new = release_choice.release_name(moved, settings_after(config, step))
    if old == _OLDEST != new:
        for name, service in mapping(resource.get("spec"), "services").items():
            for field in _IGNORED_SINCE_1_0:
                if field in mapping(service):
                    yield FieldEdit(("spec", "services", name, field), service[field], None, "release")
    if new != _OLDEST and (old != new or step.new_origin):
        yield from _of_origin(resource, moved, config, step)


def _of_origin(resource: Resource, moved: Resource, config: Config, step: UpgradeStep) -> Iterator[FieldEdit]:
    """Yields the edits of the origin version. `moved` is the resource with the images of the step.

    The first edit keeps the origin version of the old release, as an operator does. The second one moves it, if the step says so. A
    downgrade adds none: the older release would warn of a newer origin.
    """
    written = paths.at(resource, origin_versions.PATH)
    if step.is_downgrade and not written:
        return
    before = origin_versions.origin(resource, config)
    if before != origin_versions.origin(moved, settings_after(config, step)) or (step.new_origin and not written):
        yield FieldEdit(origin_versions.PATH, written, before, "release")
    if step.new_origin and version.of_operator(before) != step.runtime:
        yield FieldEdit(origin_versions.PATH, before, step.runtime_text, "origin")


def _of_pickers(resource: Resource, step: UpgradeStep, of_images: list[FieldEdit]) -> Iterator[FieldEdit]:
    """Yields the removal of the configuration of endpoint pickers whose new image reads none, which is an error there."""
    number = release_choice.number(step.release)
    if gates.NATIVE_PICKER not in gates.open_gates(number, step.runtime, ""):
        return
    edited = {edit.path[:3] if edit.path[1] in ("services", "components") else edit.path[:1] for edit in of_images if edit.cause == "image"}
    for path in sorted(edited, key=str):
        component = mapping(paths.at(resource, path))
        component_type = types.get(text(component.get("type")) or text(component.get("componentType")))
        if component_type.picks_workers and component.get("eppConfig") is not None:
            yield FieldEdit((*path, "eppConfig"), component["eppConfig"], None, "image")


def _of_settings(resource: Resource, config: Config, step: UpgradeStep) -> Iterator[FieldEdit]:
    """Yields the edit of the release that a configuration names, in each form of a configuration."""
    if not names_other_release(config, step):
        return
    forms: tuple[Path, ...] = (("metadata", "annotations", f"{labels.SETTINGS}behaviour"),)
    if function_config.is_config(results.ref(resource)):
        forms = (("spec", "behaviour"), *forms)
    elif results.ref(resource)[:2] == ("v1", "ConfigMap") and labels.is_local(resource):
        forms = (("data", "behaviour"),)
    for path in forms:
        old = paths.at(resource, path)
        if old and old != step.release:
            yield FieldEdit(path, old, step.release, "release")


def names_other_release(config: Config, step: UpgradeStep) -> bool:
    """Returns true if the configuration names a release that the step replaces. The edit of it moves all graphs that share it."""
    named = [*release_choice.RELEASES]
    if not release_choice.is_pinned(config) or config.behaviour not in named:
        return False
    order = named.index(step.release) - named.index(config.behaviour)
    return order < 0 if step.is_downgrade else order > 0
