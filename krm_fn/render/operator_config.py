"""Reads an OperatorConfiguration, the configuration file of a Dynamo operator, as the settings of a DynamoRender.

`krm_fn.schemas.api.operator` holds its schema. Follows the operator's `api/config/v1alpha1/types.go` and `defaults.go`.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render.schema import schema_check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Ref, Result

_Path = tuple[str, ...]

_GROVE, _PROVIDER = ("orchestrators", "grove", "enabled"), ("serviceMesh", "provider")
_ISTIO = ("serviceMesh", "istio")

KEYS: dict[_Path, _Path] = {
    ("discovery", "backend"): ("discoveryBackend",),
    ("infrastructure", "natsAddress"): ("natsAddress",),
    ("infrastructure", "etcdAddress"): ("etcdAddress",),
    ("infrastructure", "modelExpressURL"): ("modelExpressURL",),
    ("infrastructure", "prometheusEndpoint"): ("prometheusEndpoint",),
    _GROVE: ("orchestrator",),
    ("orchestrators", "grove", "terminationDelay"): ("grove", "terminationDelay"),
    ("orchestrators", "lws", "enabled"): ("leaderWorkerSet", "enabled"),
    ("orchestrators", "kaiScheduler", "enabled"): ("grove", "kaiScheduler", "enabled"),
    ("orchestrators", "volcanoScheduler", "enabled"): ("grove", "volcanoScheduler", "enabled"),
    ("dra", "enabled"): ("dra",),
    ("ingress", "virtualServiceGateway"): ("ingress", "istioGateway"),
    ("ingress", "controllerClassName"): ("ingress", "className"),
    ("ingress", "controllerTLSSecretName"): ("ingress", "tlsSecretName"),
    ("ingress", "hostSuffix"): ("ingress", "hostSuffix"),
    _PROVIDER: ("serviceMesh", "enabled"),
    ("serviceMesh", "enabled"): ("serviceMesh", "enabled"),
    **{(*_ISTIO, key): (*_ISTIO, key) for key in ("tlsMode", "insecureSkipVerify", "clientCertificate", "privateKey", "caCertificates")},
    ("rbac", "plannerClusterRoleName"): ("rbac", "plannerRole"),
    ("rbac", "eppClusterRoleName"): ("rbac", "eppRole"),
    ("rbac", "dgdrProfilingClusterRoleName"): ("rbac", "profilingRole"),
    ("mpi", "sshSecretName"): ("mpiSecretName",),
}
"""The key of a DynamoRender for each key of the operator. A later key of the operator overrides an earlier one."""

_MEANINGS: dict[_Path, dict[Any, Any]] = {_GROVE: {True: "grove", False: "deployment"}, _PROVIDER: {"istio": True}}
"""Values that a DynamoRender writes in another way."""

IGNORED: tuple[_Path, ...] = (
    *(("gpu",), ("leaderElection",), ("logging",), ("lpx",), ("namespace",), ("security",), ("server",), ("mpi", "sshSecretNamespace")),
)
_DETECTED: dict[_Path, str] = {
    _GROVE: "no Grove",
    ("orchestrators", "lws", "enabled"): "LeaderWorkerSets",
    ("orchestrators", "kaiScheduler", "enabled"): "no KAI scheduler",
    ("dra", "enabled"): "Dynamic Resource Allocation",
}
"""For each key without which the operator looks into the cluster, what a build assumes."""


def read(written: dict[str, Any]) -> tuple[dict[str, Any], list[Result]]:
    """Returns the `spec` of a DynamoRender with the settings of an OperatorConfiguration, and the findings about it.

    Only operators of 1.0 and later have such a file, so the render follows v1.2 or the newer release that the images choose. With an error
    the `spec` is empty.
    """
    address = results.ref(written)
    findings = list(schema_check.resource(written))
    if results.has_errors(findings):
        return {}, findings
    spec: dict[str, Any] = {"behaviour": "v1.2+"}
    for path, target in KEYS.items():
        value = _value(written, path)
        if value not in (None, ""):
            _set(spec, target, _MEANINGS.get(path, {}).get(value, value))
    return spec, [*findings, *_remarks(written, address)]


def _remarks(written: dict[str, Any], address: Ref) -> Iterator[Result]:
    ignored = [results.field(path) for path in IGNORED if _value(written, path)]
    if ignored:
        text = f"a render ignores these settings of the operator: {', '.join(ignored)}; no action is needed"
        yield results.info(codes.IGNORED_OPERATOR_SETTINGS, text, address)
    absent = {path: said for path, said in _DETECTED.items() if _value(written, path) is None}
    if absent:
        keys = ", ".join(results.field(path) for path in absent)
        text = f"the operator detects these settings in the cluster, and a render assumes {', '.join(absent.values())}; write {keys}"
        yield results.info(codes.MISSING_DETECTED_SETTINGS, text, address)
    if _value(written, ("checkpoint", "enabled")):
        text = "checkpoints need the operator, and krm-fn cannot take them; remove experimental.checkpoint from the graphs"
        yield results.warning(codes.CHECKPOINT_SETTING_NEEDS_OPERATOR, text, address, ("checkpoint", "enabled"))


def _value(written: Any, path: _Path) -> Any:
    """Returns the value at a path; None if it is absent."""
    for step in path:
        written = written.get(step) if isinstance(written, dict) else None
    return written


def _set(spec: dict[str, Any], path: _Path, value: Any) -> None:
    *above, last = path
    for step in above:
        spec = spec.setdefault(step, {})
    spec[last] = value
