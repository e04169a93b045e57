"""Reads the settings of a run from a functionConfig, in each form in which people write it."""

from __future__ import annotations

import json

from krm_fn.base import codes, results
from krm_fn.render import config as settings
from krm_fn.render import dynamo_api, labels
from krm_fn.render.config import Config
from krm_fn.render.schema import schema_check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.render.config import ServiceMeshSettings

API_VERSION = f"{labels.PREFIX}v1alpha1"
KIND = "DynamoRender"
OPERATOR = "OperatorConfiguration"
_ANNOTATIONS = ("metadata", "annotations")


def read(function_config: dict[str, Any] | None) -> tuple[Config, list[Result]]:
    """Returns the settings in a functionConfig, and all findings about it.

    The functionConfig may be a DynamoRender, a ConfigMap with the same keys as strings (`kpt fn eval -- natsAddress=…`), a Dynamo
    resource with the settings as annotations (kustomize `generators:`), the OperatorConfiguration of a Dynamo operator, or absent (KRM
    Functions Specification, `functionConfig`).
    """
    if function_config is None:
        return Config(), []
    ref = results.ref(function_config)
    group = ref.api_version.partition("/")[0]
    if ref.kind == KIND or f"{group}/" == labels.PREFIX:
        return _from_dynamo_render(function_config)
    if (ref.api_version, ref.kind) == ("v1", "ConfigMap"):
        return _from_texts(function_config, function_config.get("data"), ("data",))
    if group == dynamo_api.GROUP:
        return _from_annotations(function_config)
    if is_config(ref):
        return _from_operator_configuration(function_config)
    problem = f"functionConfig is a {ref.kind or 'nameless kind'} of {ref.api_version or 'no apiVersion'}"
    return Config(), [
        results.error(codes.UNSUPPORTED_FUNCTION_CONFIG, f"{problem}; write a {KIND} of {API_VERSION}, or a ConfigMap with its keys", ref)
    ]


def is_config(ref: results.Ref) -> bool:
    """True for a kind that only configures: a DynamoRender, and the OperatorConfiguration of a Dynamo operator."""
    return ref.kind == KIND or (ref.kind == OPERATOR and ref.api_version.partition("/")[0].endswith(f".{dynamo_api.GROUP}"))


def _from_dynamo_render(function_config: dict[str, Any]) -> tuple[Config, list[Result]]:
    spec = function_config.get("spec")
    if not isinstance(spec, dict):
        return Config(), schema_check.config(function_config)
    if "behaviour" in spec:
        spec = {**spec, "behaviour": _release(spec["behaviour"])}
    findings = schema_check.config({**function_config, "spec": spec})
    if results.has_errors(findings):  # the namespace stays, or DYN057 would follow from a mistake in another setting
        namespace = spec.get("namespace")
        return Config(namespace=namespace if isinstance(namespace, str) else ""), findings
    config: Config = _fill_settings(Config, spec)
    return config, [*findings, *_check_mesh(config.service_mesh, results.ref(function_config))]


def _fill_settings(kind: Any, spec: dict[str, Any]) -> Any:
    """Makes a settings tuple from its checked dict. Missing and null fields keep their defaults."""
    values = {}
    for key, value in spec.items():
        name = settings.attribute(key)
        if isinstance(value, dict):
            values[name] = _fill_settings(type(kind._field_defaults[name]), value)
        elif isinstance(value, list):
            values[name] = tuple([_fill_settings(settings.PullSecret, entry) if isinstance(entry, dict) else entry for entry in value])
        elif value is not None:
            values[name] = value
    return kind(**values)


def _release(written: Any) -> Any:
    """Returns a release as a text that starts with `v`. YAML reads `0.9` as a number."""
    text = str(written) if isinstance(written, float | int) and not isinstance(written, bool) else written
    return f"v{text}" if isinstance(text, str) and text[:1].isdigit() else text


def _check_mesh(mesh: ServiceMeshSettings, ref: results.Ref) -> Iterator[Result]:
    """Reports a TLS mode without its files: Istio refuses such a DestinationRule."""
    files = {"clientCertificate": mesh.istio.client_certificate, "privateKey": mesh.istio.private_key}
    for name, file in files.items() if mesh.enabled and mesh.istio.tls_mode == "MUTUAL" else ():
        if not file:
            message = f"{name} is required with tlsMode: MUTUAL; name a file in the proxies, or use another mode"
            yield results.error(codes.MUTUAL_TLS_WITHOUT_CERTIFICATES, message, ref, ("spec", "serviceMesh", "istio", name))


def _from_operator_configuration(function_config: dict[str, Any]) -> tuple[Config, list[Result]]:
    """Reads an OperatorConfiguration. Annotations on it set the keys that it does not have, and override the others."""
    from krm_fn.render import operator_config  # noqa: PLC0415 - most configurations are of other kinds

    spec, findings = operator_config.read(function_config)
    config, more = _from_annotations(function_config, spec)
    return config, [*findings, *more]


def _from_annotations(resource: dict[str, Any], base: dict[str, Any] | None = None) -> tuple[Config, list[Result]]:
    return _from_texts(resource, labels.annotations(resource), _ANNOTATIONS, labels.SETTINGS, base)


def _from_texts(
    resource: dict[str, Any], texts: Any, parent: results.Path, prefix: str = "", base: dict[str, Any] | None = None
) -> tuple[Config, list[Result]]:
    """Reads settings that are written as strings, and adds them to those of `base`. A dot in a key separates the levels of a setting.

    `texts` is the value of the field `parent` of the resource. Keys without the prefix are not settings.
    """
    spec: dict[str, Any] = base or {}
    keys: dict[results.Path, str] = {}
    for key, text in (texts if isinstance(texts, dict) else {}).items():
        if not key.startswith(prefix):
            continue
        path = tuple(key.removeprefix(prefix).split("."))
        keys[path] = key
        fields = spec
        for step in path[:-1]:
            inner = fields.setdefault(step, {})
            fields = inner if isinstance(inner, dict) else {}
        fields[path[-1]] = _parse_setting(path, text)
    ref = results.ref(resource)
    config, findings = _from_dynamo_render({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "texts"}, "spec": spec})
    return config, [*_move_findings(findings, ref, parent, keys), *_check_twice(ref, parent, keys)]


def _parse_setting(path: tuple[str, ...], text: Any) -> Any:
    """Converts a text to the type of the setting. An unreadable text stays text, and the schema check reports it."""
    default: Any = Config()
    for step in path:
        name = settings.attribute(step)
        default = getattr(default, name) if name in getattr(default, "_fields", ()) else None
    if not isinstance(text, str) or isinstance(default, str) or default is None:
        return text
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text, text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _move_findings(findings: list[Result], ref: results.Ref, parent: results.Path, keys: dict[results.Path, str]) -> Iterator[Result]:
    """Moves findings about the DynamoRender to the key that the user wrote."""
    for finding in findings:
        path = tuple(str(step) for step in finding.path[1:])
        key = next((key for setting, key in keys.items() if setting[: len(path)] == path[: len(setting)]), "")
        yield finding._replace(ref=ref, path=(*parent, key) if key else parent)


def _check_twice(ref: results.Ref, parent: results.Path, keys: dict[results.Path, str]) -> Iterator[Result]:
    """Reports a nested setting whose parent is also set, because the order of the keys would decide which one wins."""
    for path, key in keys.items():
        for whole in (keys[path[:length]] for length in range(1, len(path)) if path[:length] in keys):
            yield results.error(codes.SETTING_WRITTEN_TWICE, f"{key} is also set by {whole}; keep one of the two", ref, (*parent, key))
