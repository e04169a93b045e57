"""Findings about the conversion of a resource to the version that a release reads."""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results
from krm_fn.kubernetes import merge, quantity
from krm_fn.kubernetes.values import mapping, name_of, objects
from krm_fn.render import dynamo_api
from krm_fn.render.convert import not_convertible, pod_template_conversion, preserved_fields, versions
from krm_fn.render.schema import schema_check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource

_Difference = tuple["Path", str, str]
_IGNORED = "envFromSecret"
"""The field that releases from 1.5 on ignore beside `mainContainer.envFrom`. Other fields keep an effect."""
_FIGURES = ("initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold")


def of_render(resource: Resource, version: str, *, is_pinned: bool) -> list[Result]:
    """Returns the findings about a resource that is rendered by a release that reads `version`.

    A field that an older release cannot read is an error. `is_pinned` is true if the configuration names the release of a graph that no
    newer operator has run: its pods may come from an older release, and the findings name the fields that change them. If the images choose
    the release, they change the pods anyway, and the findings name only a field that the release ignores.
    """
    findings = preserved_fields.findings(resource)
    if version == "v1alpha1":
        findings.extend(_unreadable(resource, field) for field in not_convertible.fields(resource, version))
        findings.extend(_unreadable_preserved(resource))
    else:
        findings.extend(finding for finding in of_release_change(resource) if is_pinned or finding.path[-1] == _IGNORED)
    return findings


def _unreadable(resource: Resource, field: not_convertible.NotConvertible) -> Result:
    fix = f"declare {field.instead}" if field.instead else "remove it"
    message = f"Dynamo 0.9 does not have this field; {fix}, or set behaviour: v1.5"
    return results.error(codes.FIELD_NOT_IN_DYNAMO_0_9, message, results.ref(resource), field.path)


def _unreadable_preserved(resource: Resource) -> Iterator[Result]:
    """Errors about preserved fields of a v1alpha1 resource, which Dynamo 0.9 cannot read either."""
    converted = versions.to(dynamo_api.BETA1, resource)
    if converted is resource or not preserved_fields.spec(resource):
        return
    for field in not_convertible.fields(converted, dynamo_api.ALPHA1):
        message = f"it keeps {results.field(field.path)} of v1beta1, and Dynamo 0.9 does not have this field; set behaviour: v1.5"
        yield results.error(
            codes.FIELD_NOT_IN_DYNAMO_0_9, message, results.ref(resource), ("metadata", "annotations", preserved_fields.key(resource))
        )


def of_conversion(resource: Resource, version: str, converted: Resource) -> list[Result]:
    """Reports the fields that a resource rewritten in `version` only preserves, and pods that change in a newer release."""
    address = results.ref(resource)
    findings = _of_rewrite(resource, version, converted)
    for path, instead in not_convertible.fields(resource, version):
        fix = f"use --native, or write {instead}" if instead else "remove it if nothing needs it"
        message = f"{dynamo_api.GROUP}/{version} does not have this field, so an annotation preserves it; {fix}"
        findings.append(results.warning(codes.PRESERVED_FIELD, message, address, path))
    if preserved_fields.size(converted) > preserved_fields.LIMIT:
        message = "the annotation of the preserved fields would be larger than an API server accepts; use --native, or remove such fields"
        findings.append(results.error(codes.TOO_MANY_PRESERVED_FIELDS, message, address, ("spec",)))
    return findings


def of_native_conversion(
    resource: Resource, version: str, converted: Resource, missing: list[not_convertible.NotConvertible]
) -> list[Result]:
    """Reports the fields that a resource rewritten in `version` loses: `missing` are fields without another form."""
    problem = f"{dynamo_api.GROUP}/{version} does not have this field, so the converted resource lacks it"
    message = f"{problem}; convert without --native to preserve it"
    address = results.ref(resource)
    about = (results.warning(codes.FIELD_LOST_IN_CONVERSION, message, address, field.path) for field in missing)
    return [*_of_rewrite(resource, version, converted), *about]


def _of_rewrite(resource: Resource, version: str, converted: Resource) -> list[Result]:
    findings = [*preserved_fields.findings(resource), *_schema_errors(resource, converted)]
    return [*findings, *of_release_change(resource)] if version == dynamo_api.BETA1 else findings


def _schema_errors(resource: Resource, converted: Resource) -> Iterator[Result]:
    """Errors of the schema of the new version, at the component that the author wrote. A patch may lack required fields."""
    is_patch = any(finding.code == codes.MISSING_FIELD for finding in schema_check.resource(resource, unknown="warning"))
    for finding in schema_check.resource(converted, unknown="warning"):
        if finding.severity == "error" and not (is_patch and finding.code == codes.MISSING_FIELD):
            message = f"the converted resource would be wrong: {results.field(finding.path)}: {finding.message}"
            yield results.error(finding.code, message, results.ref(resource), _source_path(converted, finding.path))


def _source_path(converted: Resource, path: Path) -> Path:
    """Returns the path of the component that a path leads into, in the version from which the resource was converted."""
    match path:
        case ("spec", "components", int() as index, *_):
            return ("spec", "services", name_of(mapping(converted["spec"]["components"][index])))
        case ("spec", "services", str() as name, *_):
            return ("spec", "components", [*converted["spec"]["services"]].index(name))
    return path[:1]


def of_release_change(resource: Resource) -> list[Result]:
    """Returns a warning for each field of a v1alpha1 graph or component that gives other pods under v1.5. Empty for other resources."""
    address, spec = results.ref(resource), mapping(resource.get("spec"))
    if address.api_version != dynamo_api.V1ALPHA1 or address.kind not in (dynamo_api.GRAPH, dynamo_api.COMPONENT):
        return []
    services = mapping(spec.get("services")) if address.kind == dynamo_api.GRAPH else {address.name: spec}
    findings = []
    for name, service in services.items():
        at: Path = ("spec", "services", name) if address.kind == dynamo_api.GRAPH else ("spec",)
        for path, change, fix in _changes(mapping(service), objects(spec.get("envs")) if address.kind == dynamo_api.GRAPH else []):
            message = f"behaviour v1.5 changes the pods of {name} against 0.9: {change}; {fix}"
            findings.append(results.warning(codes.PODS_DIFFER_IN_DYNAMO_1_5, message, address, (*at, *path)))
    return findings


def _changes(service: dict[str, Any], graph_envs: list[dict[str, Any]]) -> Iterator[_Difference]:
    main = mapping(mapping(service.get("extraPodSpec")).get("mainContainer"))
    at: Path = ("extraPodSpec", "mainContainer")
    if service.get("envFromSecret") and main.get("envFrom"):
        fix = "write the Secret into mainContainer.envFrom too"
        yield ("envFromSecret",), "mainContainer.envFrom replaces envFromSecret, and 0.9 reads both", fix
    for probe in pod_template_conversion.PROBES:
        yield from _changed_probe(probe, service.get(probe), main.get(probe))
    yield from _changed_envs(service, main, graph_envs)
    amounts = mapping(service.get("resources"))
    request, limit = (mapping(amounts.get(side)).get("gpu") for side in ("requests", "limits"))
    if request and quantity.canonical(f"{request}") != quantity.canonical(f"{limit or ''}"):
        fix = "write the same number under limits.gpu, because an API server refuses another one"
        yield ("resources", "requests", "gpu"), "the pods request these GPUs, and 0.9 ignores the field", fix
    if isinstance(main.get("name"), str) and main["name"] not in ("", pod_template_conversion.MAIN):
        yield (*at, "name"), "the container is called main", "use main where scripts or dashboards name the container"


def _changed_probe(name: str, service: Any, main: Any) -> Iterator[_Difference]:
    path: Path = ("extraPodSpec", "mainContainer", name)
    if not isinstance(main, dict):
        return
    if isinstance(service, dict):
        both = [handler for handler in merge.HANDLERS if service.get(handler) is not None or main.get(handler) is not None]
        what = (
            f"the probe has two handlers, {' and '.join(both)}, and" if len(both) > 1 else "the probe is merged with that of the service;"
        )
        yield path, f"{what} 0.9 uses the probe of the service", f"write {name} in one of the two places"
    elif not any(main.get(handler) is not None for handler in merge.HANDLERS) or any(main.get(figure) is None for figure in _FIGURES[1:]):
        fix = "write every field of the probe that pods shall have"
        yield path, "the probe replaces the default one, and 0.9 fills its missing fields from the default", fix


def _changed_envs(service: dict[str, Any], main: dict[str, Any], graph_envs: list[dict[str, Any]]) -> Iterator[_Difference]:
    over = {name_of(variable): variable for variable in (*graph_envs, *objects(service.get("envs")))}
    for index, variable in enumerate(objects(main.get("env"))):
        other = over.get(name_of(variable))
        if other is not None and other != variable:
            path: Path = ("extraPodSpec", "mainContainer", "env", index)
            change = f"this value of {name_of(variable)} wins, and 0.9 uses that of the service or graph"
            yield path, change, "write the variable in one place"
