"""Converts deprecated fields of `nvidia.com/v1alpha1` to the current fields, with a warning that shows them.

They are those of Dynamo 0.1 to 0.4: an inline `pvc`, `dynamoComponent` with `DynamoComponent` resources, `dynamoTag` and
`externalServices`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.render import dynamo_api, labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path, Ref, Result
    from krm_fn.kubernetes.types import Resource

COMPONENT = "DynamoComponent"
_GRAPH = "DynamoGraphDeployment"
_STANDALONE = "DynamoComponentDeployment"
_FIELDS = ("dynamoComponent", "dynamoTag", "externalServices", "pvc")
_BUILD_ONLY = (
    *("imageBuildTimeout", "buildArgs", "imageBuilderExtraPodMetadata", "imageBuilderExtraPodSpec"),
    *("imageBuilderExtraContainerEnv", "imageBuilderContainerResources", "downloaderContainerEnvFrom"),
)


class Image(NamedTuple):
    """The image and pull secrets that a DynamoComponent gives to the graphs that name it."""

    image: str
    pull_secrets: tuple[str, ...]


class Images(NamedTuple):
    """Images by namespace and `name:tag` of their DynamoComponents. `namespace` is that of resources without one."""

    named: Mapping[tuple[str, str], Image]
    namespace: str

    def get(self, ref: Ref, name: Any) -> Image | None:
        """Returns the image of a name that a resource refers to, or None."""
        return self.named.get((ref.namespace or self.namespace, name)) if isinstance(name, str) else None


def images(resources: Sequence[Resource], namespace: str) -> tuple[Images, list[Result]]:
    """Returns the images of the DynamoComponents among the items, and the findings about these."""
    findings: list[Result] = []
    named: dict[tuple[str, str], Image] = {}
    for resource in resources:
        address, spec = results.ref(resource), resource.get("spec")
        if address.kind != COMPONENT or not address.api_version.startswith("nvidia.com/") or not isinstance(spec, dict):
            continue
        image = spec["image"] if isinstance(spec.get("image"), str) else ""
        name = str(spec.get("dynamoComponent") or address.name.replace("--", ":"))
        named[address.namespace or namespace, name] = Image(image, tuple(_secrets(spec)))
        findings.extend(_check(resource, address, spec, image))
    return Images(named, namespace), findings


def _check(resource: Resource, address: Ref, spec: dict[str, Any], image: str) -> Iterator[Result]:
    """Yields the findings about one DynamoComponent."""
    if not image:
        message = "the DynamoComponent names no image, and krm-fn builds none; build the image elsewhere and write its name here"
        yield results.error(codes.DYNAMO_COMPONENT_WITHOUT_IMAGE, message, address, ("spec", "image"))
    elif labels.annotations(resource).get(labels.LOCAL_CONFIG) != "true":
        message = f'no cluster knows the kind {COMPONENT}; add the annotation {labels.LOCAL_CONFIG}: "true", so that it is not applied'
        yield results.warning(codes.DYNAMO_COMPONENT_IN_OUTPUT, message, address, ("metadata", "annotations"))
    ignored = [field for field in _BUILD_ONLY if field in spec]
    if ignored:
        have, them = ("has", "it") if len(ignored) == 1 else ("have", "them")
        message = f"krm-fn builds no image, so {', '.join(ignored)} {have} no effect; remove {them}"
        yield results.warning(codes.DYNAMO_COMPONENT_FIELDS_WITHOUT_EFFECT, message, address, ("spec", ignored[0]))


def _secrets(spec: dict[str, Any]) -> Iterator[str]:
    listed = spec.get("imagePullSecrets")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield entry["name"]
    if isinstance(spec.get("dockerConfigJsonSecretName"), str):
        yield spec["dockerConfigJsonSecretName"]


def convert(resource: Resource, known: Images) -> tuple[Resource, list[Result]]:
    """Converts a graph or component of v1alpha1. Returns the resource itself if it has no deprecated field, or if it is another one."""
    spec, address = resource.get("spec"), results.ref(resource)
    if address.api_version == dynamo_api.V1BETA1 or not isinstance(spec, dict) or not _has_deprecated_field(spec):
        return resource, []
    if address.kind not in (_GRAPH, _STANDALONE):
        return resource, []
    conversion = _Conversion(address, known, [])
    new = conversion.graph(spec) if address.kind == _GRAPH else conversion.component(spec, ("spec",), None, "")
    return {**resource, "spec": new}, conversion.findings


def _has_deprecated_field(spec: dict[str, Any]) -> bool:
    services = spec.get("services")
    holders = [spec, *(services.values() if isinstance(services, dict) else ())]
    return any(isinstance(holder, dict) and field in holder for holder in holders for field in _FIELDS)


class _Conversion(NamedTuple):
    """The conversion of one resource. A value of the wrong type stays, so that the check reports it."""

    ref: Ref
    known: Images
    findings: list[Result]

    def graph(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Converts a graph: its image goes to each service, and claims of services go to the graph."""
        common, services, listed = spec.get("dynamoComponent"), spec.get("services"), spec.get("pvcs")
        converted = {key: value for key, value in spec.items() if key != "dynamoComponent"}
        claims = [*listed] if isinstance(listed, list) else []
        if isinstance(services, dict):
            converted["services"] = {name: self._service(name, service, claims, common) for name, service in services.items()}
        if claims and (listed is None or isinstance(listed, list)):
            converted["pvcs"] = claims
        if common:
            self._announce_image(common, ("spec", "dynamoComponent"))
        return converted

    def _service(self, name: str, written: Any, claims: list[Any], common: Any) -> Any:
        inner = {} if written is None else written
        return self.component(inner, ("spec", "services", name), claims, common) if isinstance(inner, dict) else written

    def component(self, written: dict[str, Any], path: Path, claims: list[Any] | None, common: Any) -> dict[str, Any]:
        """Converts one component. `common` is the image name of its graph, `claims` are those of the graph, None without a graph."""
        component = {key: value for key, value in written.items() if key not in _FIELDS}
        if "dynamoTag" in written:
            message = "code of an older SDK is not supported; write what to run under extraPodSpec.mainContainer.command and args"
            self.findings.append(results.error(codes.UNSUPPORTED_DYNAMO_TAG, message, self.ref, (*path, "dynamoTag")))
        if "externalServices" in written:
            self._announce_services(written["externalServices"], (*path, "externalServices"))
        if "dynamoComponent" in written:
            self._announce_image(written["dynamoComponent"], (*path, "dynamoComponent"))
        component = self._with_image(component, written.get("dynamoComponent") or common)
        return self._with_claim(component, written["pvc"], (*path, "pvc"), claims) if "pvc" in written else component

    def _announce_image(self, name: Any, path: Path) -> None:
        image = self.known.get(self.ref, name)
        if image is None:
            message = (
                f"no DynamoComponent among the items names {name}; write the image under extraPodSpec.mainContainer.image of each service"
            )
            self.findings.append(results.error(codes.DYNAMO_COMPONENT_NOT_FOUND, message, self.ref, path))
        elif image.image:
            new = f"extraPodSpec: {{mainContainer: {{image: {image.image}}}}}"
            message = f"dynamoComponent is deprecated; write {new} on each service instead"
            self.findings.append(results.warning(codes.DEPRECATED_DYNAMO_COMPONENT, message, self.ref, path))

    def _announce_services(self, services: Any, path: Path) -> None:
        """Reports external services: those that Dynamo finds by itself need no field, others are not supported."""
        for name, service in services.items() if isinstance(services, dict) else [("", services)]:
            if isinstance(service, dict) and service.get("deploymentSelectorKey") == "dynamo":
                message = "the external service is no longer needed, because components find each other; remove it"
                self.findings.append(results.warning(codes.UNNEEDED_EXTERNAL_SERVICE, message, self.ref, (*path, name)))
            else:
                message = (
                    "external services are no longer supported; pass the address to the component in an environment variable under envs"
                )
                self.findings.append(results.error(codes.UNSUPPORTED_EXTERNAL_SERVICE, message, self.ref, (*path, name) if name else path))

    def _with_image(self, component: dict[str, Any], name: Any) -> dict[str, Any]:
        """Returns a component with the image and the pull secrets of its DynamoComponent.

        Rule pod.older-image: A component without an image gets the image and the pull secrets of its DynamoComponent. (krm-fn)
        """
        image, extra = self.known.get(self.ref, name), component.get("extraPodSpec") or {}
        if image is None or not image.image or not isinstance(extra, dict):
            return component
        main = extra.get("mainContainer") or {}
        if not isinstance(main, dict) or main.get("image"):
            return component
        new = {**extra, "mainContainer": {**main, "image": image.image}}
        if image.pull_secrets:
            new["imagePullSecrets"] = _append_entries(extra.get("imagePullSecrets"), *({"name": secret} for secret in image.pull_secrets))
        return {**component, "extraPodSpec": new}

    def _with_claim(self, component: dict[str, Any], claim: Any, path: Path, claims: list[Any] | None) -> dict[str, Any]:
        """Adds the claim to the graph's claims, and a mount of it to the component."""
        if not isinstance(claim, dict) or not isinstance(claim.get("name"), str):
            message = "pvc is deprecated, and the claim has no name; list the claim under spec.pvcs and mount it under volumeMounts"
            self.findings.append(results.error(codes.UNCONVERTIBLE_PVC, message, self.ref, path))
            return component
        mount_path = claim.get("mountPath") or claim.get("mountPoint") or ""
        mount = {"name": claim["name"], **({"mountPoint": mount_path} if mount_path else {})}
        moved = {key: value for key, value in claim.items() if key not in ("mountPath", "mountPoint")}
        new = _show_entries([mount])
        if claims is None and claim.get("create"):
            message = f"a component without a graph creates no claim; write a PersistentVolumeClaim resource, and volumeMounts: {new}"
            self.findings.append(results.error(codes.UNCONVERTIBLE_PVC, message, self.ref, path))
        else:
            listed = "" if claims is None else f"spec.pvcs: {_show_entries([moved])} and "
            self.findings.append(
                results.warning(codes.DEPRECATED_PVC, f"pvc is deprecated; write {listed}volumeMounts: {new}", self.ref, path)
            )
        if claims is not None and all(not isinstance(other, dict) or other.get("name") != claim["name"] for other in claims):
            claims.append(moved)
        return {**component, "volumeMounts": _append_entries(component.get("volumeMounts"), mount)}


def _append_entries(written: Any, *more: Any) -> Any:
    if written is None:
        return [*more]
    return [*written, *more] if isinstance(written, list) else written


def _show_entries(entries: list[dict[str, Any]]) -> str:
    """Returns the entries as a user would write them."""
    return f"[{', '.join('{' + ', '.join(f'{key}: {_text(value)}' for key, value in entry.items()) + '}' for entry in entries)}]"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
