"""Older forms of `nvidia.com/v1alpha1`, rewritten into today's with a warning that shows the new form.

Not its business: fields that today's schema still has and ignores (`krm_fn.validation` warns of those). The forms are those of Dynamo
0.1 to 0.4: an inline `pvc`, `dynamoComponent` with `DynamoComponent` resources, `dynamoTag` and `externalServices`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import results

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path, Ref, Result

COMPONENT = "DynamoComponent"
_FIELDS = ("dynamoComponent", "dynamoTag", "externalServices", "pvc")
_BUILD_ONLY = (
    *("imageBuildTimeout", "buildArgs", "imageBuilderExtraPodMetadata", "imageBuilderExtraPodSpec"),
    *("imageBuilderExtraContainerEnv", "imageBuilderContainerResources", "downloaderContainerEnvFrom"),
)


class Image(NamedTuple):
    """What a DynamoComponent gives to the graphs that name it."""

    image: str
    pull_secrets: tuple[str, ...]


def images(resources: Sequence[Resource]) -> tuple[dict[str, Image], list[Result]]:
    """The images that DynamoComponents among the items name, by `name:tag`, and what is wrong with these resources."""
    found: list[Result] = []
    named: dict[str, Image] = {}
    for resource in resources:
        if resource.get("kind") != COMPONENT:
            continue
        address, spec = results.ref(resource), resource.get("spec")
        if not address.api_version.startswith("nvidia.com/") or not isinstance(spec, dict):
            continue
        key = spec.get("dynamoComponent") or address.name.replace("--", ":")
        if not isinstance(spec.get("image"), str) or not spec["image"]:
            message = "names no image, and this function builds none; build it elsewhere and write its name here"
            found.append(results.error("DYN030", message, address, ("spec", "image")))
        named[str(key)] = Image(str(spec.get("image") or ""), tuple(_secrets(spec)))
        ignored = [field for field in _BUILD_ONLY if field in spec]
        if ignored:
            message = f"nothing is built here, so that {', '.join(ignored)} {'has' if len(ignored) == 1 else 'have'} no effect; remove"
            found.append(results.warning("DYN031", message, address, ("spec", ignored[0])))
    return named, found


def _secrets(spec: dict[str, Any]) -> Iterator[str]:
    for entry in spec.get("imagePullSecrets") or ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield entry["name"]
    if isinstance(spec.get("dockerConfigJsonSecretName"), str):
        yield spec["dockerConfigJsonSecretName"]


def convert(resource: Resource, known: Mapping[str, Image]) -> tuple[Resource, list[Result]]:
    """A graph or component in today's form; itself where it is in that form already."""
    spec = resource.get("spec")
    if not isinstance(spec, dict) or not _is_older(spec):
        return resource, []
    found: list[Result] = []
    conversion = _Conversion(results.ref(resource), known, found)
    services = spec.get("services")
    if isinstance(services, dict):
        return {**resource, "spec": conversion.graph(spec, services)}, found
    return {**resource, "spec": conversion.component(spec, ("spec",), [], "")}, found


def _is_older(spec: dict[str, Any]) -> bool:
    services = spec.get("services")
    holders = [spec, *(services.values() if isinstance(services, dict) else ())]
    return any(isinstance(holder, dict) and field in holder for holder in holders for field in _FIELDS)


class _Conversion(NamedTuple):
    """One resource on its way to today's form."""

    ref: Ref
    known: Mapping[str, Image]
    found: list[Result]

    def graph(self, spec: dict[str, Any], services: dict[str, Any]) -> dict[str, Any]:
        """What a graph names for all its services goes to each; claims gather in the graph."""
        claims = [claim for claim in spec.get("pvcs") or () if isinstance(claim, dict)]
        common = spec.get("dynamoComponent") if "dynamoComponent" in spec else ""
        converted: dict[str, Any] = {}
        for name, service in services.items():
            inner = {} if service is None else service
            converted[name] = self.component(inner, ("spec", "services", name), claims, common) if isinstance(inner, dict) else service
        if common:
            self._announce_image(common, ("spec", "dynamoComponent"))
        kept = {key: value for key, value in spec.items() if key not in ("dynamoComponent", "services")}
        return {**kept, **({"pvcs": claims} if claims else {}), "services": converted}

    def component(self, written: dict[str, Any], path: Path, claims: list[Any], common: Any) -> dict[str, Any]:
        """One component; `common` is the image's name that its graph gives to all."""
        component = {key: value for key, value in written.items() if key not in _FIELDS}
        if "dynamoTag" in written:
            message = "starts code of an older SDK; write what to run under extraPodSpec.mainContainer.command and args"
            self.found.append(results.error("DYN032", message, self.ref, (*path, "dynamoTag")))
        if "externalServices" in written:
            self._announce_services(written["externalServices"], (*path, "externalServices"))
        if "dynamoComponent" in written:
            self._announce_image(written["dynamoComponent"], (*path, "dynamoComponent"))
        component = self._with_image(component, written.get("dynamoComponent") or common)
        return self._with_claim(component, written["pvc"], (*path, "pvc"), claims) if "pvc" in written else component

    def _announce_image(self, name: Any, path: Path) -> None:
        image = self.known.get(name) if isinstance(name, str) else None
        if image is None:
            message = (
                f"no DynamoComponent among the items names {name}; write the image under extraPodSpec.mainContainer.image of each service"
            )
            self.found.append(results.error("DYN033", message, self.ref, path))
        elif image.image:
            message = f"is an older form; write extraPodSpec: {{mainContainer: {{image: {image.image}}}}} on each service instead"
            self.found.append(results.warning("DYN034", message, self.ref, path))

    def _announce_services(self, services: Any, path: Path) -> None:
        """Those that Dynamo finds by itself need no field; others have no counterpart."""
        for name, service in services.items() if isinstance(services, dict) else [("", services)]:
            if isinstance(service, dict) and service.get("deploymentSelectorKey") == "dynamo":
                message = "is no longer needed, components find each other; remove it"
                self.found.append(results.warning("DYN035", message, self.ref, (*path, name)))
            else:
                message = "has no counterpart; hand the address to the component in an environment variable under envs"
                self.found.append(results.error("DYN036", message, self.ref, (*path, name) if name else path))

    def _with_image(self, component: dict[str, Any], name: Any) -> dict[str, Any]:
        """The image and its pull secrets, where the component names no image itself."""
        image = self.known.get(name) if isinstance(name, str) else None
        extra = component.get("extraPodSpec") or {}
        if image is None or not image.image or not isinstance(extra, dict):
            return component
        main = extra.get("mainContainer") or {}
        if not isinstance(main, dict) or main.get("image"):
            return component
        secrets = [*(extra.get("imagePullSecrets") or ()), *({"name": secret} for secret in image.pull_secrets)]
        pulled = {"imagePullSecrets": secrets} if secrets else {}
        return {**component, "extraPodSpec": {**extra, **pulled, "mainContainer": {**main, "image": image.image}}}

    def _with_claim(self, component: dict[str, Any], claim: Any, path: Path, claims: list[Any]) -> dict[str, Any]:
        """The claim among the graph's, and a mount of it."""
        if not isinstance(claim, dict) or not isinstance(claim.get("name"), str):
            message = "is an older form without a name; list the claim under spec.pvcs and mount it under volumeMounts"
            self.found.append(results.error("DYN037", message, self.ref, path))
            return component
        place = claim.get("mountPath") or claim.get("mountPoint") or ""
        moved = {key: value for key, value in claim.items() if key not in ("mountPath", "mountPoint")}
        if all(other.get("name") != claim["name"] for other in claims):
            claims.append(moved)
        shown = ", ".join(f"{key}: {value}" for key, value in moved.items())
        message = f"is an older form; write spec.pvcs: [{{{shown}}}] and volumeMounts: [{{name: {claim['name']}, mountPoint: {place}}}]"
        self.found.append(results.warning("DYN038", message, self.ref, path))
        mount = {"name": claim["name"], **({"mountPoint": place} if place else {})}
        return {**component, "volumeMounts": [*(component.get("volumeMounts") or ()), mount]}
