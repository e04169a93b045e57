"""Facts of a component that both API versions write alike: nodes, workload kind, engine, ingress, base model, endpoint picker.

Follows the operator's `internal/dynamo/graph.go` GenerateDefaultIngressSpec and `internal/dynamo/epp/config.go`.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes.paths import leaves
from krm_fn.render import engines, labels
from krm_fn.render.kinds import ROLLOUT_GROUP, dynamo_images, types
from krm_fn.render.plan import EndpointPicker, Exposure, Identity, IngressPlan
from krm_fn.render.resolve import graph_context
from krm_fn.render.resolve.graph_context import GraphContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.native_types import Container
    from krm_fn.kubernetes.types import Resource, WordsField
    from krm_fn.render.engines import Engine
    from krm_fn.render.kinds.types import ComponentType
    from krm_fn.render.plan import ComponentPlan, SourcePaths


def nodes(written: dict[str, Any]) -> int:
    """Returns the number of nodes of one replica.

    Rule replicas.nodes: A replica runs on the number of nodes in `multinode.nodeCount`, by default two; without `multinode`, it runs on
    one. (operator: internal/dynamo/graph.go)
    """
    return 1 if written.get("multinode") is None else written["multinode"].get("nodeCount") or 2


def workload(context: GraphContext, identity: Identity, written: dict[str, Any]) -> str:
    """Returns the name of the workload kind: that of the orchestrator if it takes the component, otherwise one for the number of nodes."""
    if context.orchestrator in ROLLOUT_GROUP:
        from krm_fn.render.resolve import rollout_group  # noqa: PLC0415 - few graphs have such an orchestrator

        if rollout_group.has(identity, labels.annotations(context.written)):
            return context.orchestrator.lower()
    elif context.orchestrator != "deployment":
        return context.orchestrator
    several = nodes(written) > 1 and context.config.leader_worker_set.enabled
    return context.release.multinode_workload if several else "deployment"


def engine(context: GraphContext, component_type: ComponentType, container: Container, paths: SourcePaths) -> Engine:
    """Returns the engine of a component (operator: determineBackendFramework). Findings are added to `context.findings`."""
    if not component_type.runs_engine:
        return engines.NONE
    detected = engines.detect([*(container.get("command") or ()), *(container.get("args") or ())])
    if len(detected) == 1 and context.framework and context.framework != detected[0]:
        finding = _other_engine(context, container, detected[0], paths)
        if not any((finding.message, finding.path) == (other.message, other.path) for other in context.findings):
            context.findings.append(finding)
    if len(detected) > 1 and not context.framework:
        message = f"the command starts {' and '.join(detected)}; set spec.backendFramework to the engine of the graph"
        context.findings.append(results.error(codes.COMMAND_OF_SEVERAL_ENGINES, message, context.ref, paths.at("main", "args")))
    return engines.get(detected[0] if len(detected) == 1 else context.framework)


def _other_engine(context: GraphContext, container: Container, started: str, paths: SourcePaths) -> Result:
    """Returns the finding about a command that starts another engine than `backendFramework` names, at the one field to change.

    It is the module if the image, or another component, has the engine of the graph; and the engine of the graph otherwise.
    """
    problem = f"the command starts {started}, but spec.backendFramework is {context.framework}"
    image = dynamo_images.parts(container.get("image") or "").name
    has = next((name for name in engines.names() if image and image == engines.get(name).runtime_image), "")
    if has == context.framework or (not has and engines.detect(_words(context.written)) != [started]):
        message = f"{problem}; write dynamo.{context.framework}"
        return results.error(codes.COMMAND_OF_OTHER_ENGINE, message, context.ref, _module_path(container, started, paths))
    message = f"{problem}; write backendFramework: {started}"
    return results.error(codes.COMMAND_OF_OTHER_ENGINE, message, context.ref, ("spec", "backendFramework"), proposed=started)


def _words(resource: Resource) -> list[str]:
    """Returns the words of all commands of a resource, with a separator between two containers."""
    words: list[str] = []
    last: Path = ()
    for path, value in leaves(resource):
        field = next((at for at, step in enumerate(path) if step in ("command", "args")), None)
        if field is not None and isinstance(value, str):
            words += [value] if path[:field] == last else [";", value]
            last = path[:field]
    return words


def _module_path(container: Container, detected: str, paths: SourcePaths) -> Path:
    """Returns the path of the item that has the module of an engine."""
    fields: tuple[WordsField, ...] = ("command", "args")
    for field in fields:
        for index, word in enumerate(container.get(field) or ()):
            if f"dynamo.{detected}" in word:
                return paths.at("main", field, index)
    return paths.at("main", "args")


def check_engines(context: GraphContext, plans: tuple[ComponentPlan, ...]) -> None:
    """Reports components of a graph that run different engines. From 1.0 on the operator refuses them, because workers share a hash."""
    running = {plan.engine: plan for plan in reversed(plans) if plan.engine != engines.NONE.name}
    if len(running) < 2 or context.framework:
        return
    first, *others = sorted(running.values(), key=plans.index)
    for plan in others:
        message = f"this component runs {plan.engine}, and {first.identity.service} runs {first.engine}"
        fix = "use one engine in each graph"
        context.findings.append(results.error(codes.GRAPH_WITH_SEVERAL_ENGINES, f"{message}; {fix}", context.ref, plan.at("main", "args")))


def exposure(context: GraphContext, identity: Identity, written: dict[str, Any]) -> Exposure:
    """Ingress, base model and endpoint picker of one component."""
    return Exposure(
        ingress=_ingress(context, identity, written),
        model=(written.get("modelRef") or {}).get("name") or "",
        picker=_endpoint_picker(written.get("eppConfig")),
    )


def _ingress(context: GraphContext, identity: Identity, written: dict[str, Any]) -> IngressPlan:
    """Returns the ingress of a component.

    Rule ingress.own: The `ingress` of a component decides its external access; a frontend without one has the configured ingress.
    (operator: internal/dynamo/graph.go GenerateDefaultIngressSpec)
    """
    ingress, default, kind = written.get("ingress"), context.config.ingress, types.get(identity.type)
    if not graph_context.allows_ingress(context, kind):
        return IngressPlan()
    if ingress is not None:
        return IngressPlan(
            enabled=bool(ingress.get("enabled")),
            host=ingress.get("host") or "",
            prefix=ingress.get("hostPrefix") or "",
            suffix=ingress.get("hostSuffix"),
            class_name=ingress.get("ingressControllerClassName"),
            tls=ingress.get("tls") is not None,
            tls_secret=(ingress.get("tls") or {}).get("secretName") or "",
            virtual_service=bool(ingress.get("useVirtualService")),
            gateway=ingress.get("virtualServiceGateway"),
            labels=ingress.get("labels"),
            annotations=ingress.get("annotations"),
        )
    if not kind.is_frontend or not context.name:
        return IngressPlan()
    return IngressPlan(
        enabled=bool(default.class_name or default.istio_gateway),
        host=context.name,
        suffix=default.host_suffix or None,
        class_name=default.class_name or None,
        tls=bool(default.tls_secret_name),
        tls_secret=default.tls_secret_name,
        virtual_service=bool(default.istio_gateway),
        gateway=default.istio_gateway or None,
    )


def _endpoint_picker(written: dict[str, Any] | None) -> EndpointPicker:
    if written is None:
        return EndpointPicker()
    by_name = written.get("configMapRef")
    return EndpointPicker(
        is_configured=True,
        config=written.get("config"),
        by_reference=by_name is not None,
        config_map=(by_name or {}).get("name") or "",
        key=(by_name or {}).get("key") or "",
    )
