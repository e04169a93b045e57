"""What release 1.5 makes of a v1alpha1 service differently from release 0.9, although the service says the same.

The conversion to v1beta1 decides so (reference: shared_spec_conversion.go buildSharedPodTemplateFromAlpha).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.convert import pod_templates
from krm_fn.kube import identity, merge, quantity
from krm_fn.kube.values import mapping, name_of, objects

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path, Result

_Found = tuple["Path", str, str]
_FIGURES = ("initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold")


def findings(resource: Resource) -> list[Result]:
    """A warning for each field of a v1alpha1 graph or component that gives other pods under v1.5. Empty for other resources."""
    address, spec = results.ref(resource), mapping(resource.get("spec"))
    if address.api_version != identity.V1ALPHA1 or address.kind not in (identity.GRAPH, identity.COMPONENT):
        return []
    services = mapping(spec.get("services")) if address.kind == identity.GRAPH else {address.name: spec}
    found = []
    for name, service in services.items():
        at: Path = ("spec", "services", name) if address.kind == identity.GRAPH else ("spec",)
        for path, change, fix in _changes(mapping(service), objects(spec.get("envs")) if address.kind == identity.GRAPH else []):
            message = f"behaviour v1.5 changes the pods of {name} against 0.9: {change}; {fix}"
            found.append(results.warning("DYN413", message, address, (*at, *path)))
    return found


def _changes(service: dict[str, Any], graph_envs: list[dict[str, Any]]) -> Iterator[_Found]:
    main = mapping(mapping(service.get("extraPodSpec")).get("mainContainer"))
    at: Path = ("extraPodSpec", "mainContainer")
    if service.get("envFromSecret") and main.get("envFrom"):
        fix = "write the Secret into mainContainer.envFrom too"
        yield ("envFromSecret",), "mainContainer.envFrom replaces envFromSecret, and 0.9 reads both", fix
    for probe in pod_templates.PROBES:
        yield from _of_probe(probe, service.get(probe), main.get(probe))
    yield from _of_envs(service, main, graph_envs)
    amounts = mapping(service.get("resources"))
    request, limit = (mapping(amounts.get(side)).get("gpu") for side in ("requests", "limits"))
    if request and quantity.canonical(f"{request}") != quantity.canonical(f"{limit or ''}"):
        fix = "write the same number under limits.gpu, because an API server refuses another one"
        yield ("resources", "requests", "gpu"), "the pods request these GPUs, and 0.9 ignores the field", fix
    if isinstance(main.get("name"), str) and main["name"] not in ("", pod_templates.MAIN):
        yield (*at, "name"), "the container is called main", "use main where scripts or dashboards name the container"


def _of_probe(name: str, service: Any, main: Any) -> Iterator[_Found]:
    path: Path = ("extraPodSpec", "mainContainer", name)
    if not isinstance(main, dict):
        return
    if isinstance(service, dict):
        both = [handler for handler in merge.HANDLERS if service.get(handler) is not None or main.get(handler) is not None]
        what = (
            f"the probe has two handlers, {' and '.join(both)}, and" if len(both) > 1 else "the probe is merged with that of the service;"
        )
        yield path, f"{what} 0.9 takes the probe of the service", f"write {name} in one of the two places"
    elif not any(main.get(handler) is not None for handler in merge.HANDLERS) or any(main.get(figure) is None for figure in _FIGURES[1:]):
        fix = "write every field of the probe that pods shall have"
        yield path, "the probe replaces the default one, and 0.9 fills its missing fields from the default", fix


def _of_envs(service: dict[str, Any], main: dict[str, Any], graph_envs: list[dict[str, Any]]) -> Iterator[_Found]:
    over = {name_of(variable): variable for variable in (*graph_envs, *objects(service.get("envs")))}
    for place, variable in enumerate(objects(main.get("env"))):
        other = over.get(name_of(variable))
        if other is not None and other != variable:
            path: Path = ("extraPodSpec", "mainContainer", "env", place)
            change = f"this value of {name_of(variable)} wins, and 0.9 takes that of the service or graph"
            yield path, change, "write the variable in one place"
