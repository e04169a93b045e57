"""Makes the plan of one component, which belongs to a graph or stands alone.

Follows the reference's `internal/dynamo/graph.go` GenerateBasePodSpec for the fields that it reads.
"""

from __future__ import annotations

from typing import Any, Literal

from krm_fn.kube import canonical, labels, merge, quantity, version
from krm_fn.kube.types import Labels
from krm_fn.manifests import backends, components
from krm_fn.plan import ComponentPlan, Identity, Mount, Placement, PodFacts
from krm_fn.resolve import edge, engines, pathway, placement
from krm_fn.resolve.context import Shared
from krm_fn.resolve.v1beta1 import configured, features, gpus, inventory
from krm_fn.resolve.v1beta1.fields import MAIN
from krm_fn.resolve.v1beta1.templates import Template

_PROCESSES_SINCE = (1, 0, 0)


def component(facts: Shared, who: Identity, template: Template) -> ComponentPlan:
    """The plan of one component."""
    written, address = template.component, facts.book.component(who.service)
    pods = _pod(facts, who, template)
    backend = engines.backend(facts, who.type, pods.container, address)
    if not who.standalone and pathway.per_component(facts):
        facts.found.extend(configured.check(template.component, address, facts.ref))
    placed = Placement(
        workload=placement.name(facts, written),
        backend=backend,
        nodes=placement.nodes(written),
        replicas=1 if written.get("replicas") is None and not who.standalone else written.get("replicas"),
        autoscaled=written.get("scalingAdapter") is not None and not who.standalone,
        discovery=who.annotations.get(labels.DISCOVERY_BACKEND, facts.config.discovery_backend),
        graph_discovery=facts.discovery,
        finds_containers=who.annotations.get(labels.DISCOVERY_MODE) == "container",
        executor=_executor(((written.get("podTemplate") or {}).get("metadata") or {}).get("annotations") or {}),
    )
    own, needed = features.component(template.written), placed.nodes > 1 and backends.get(backend).counts_gpus
    claims = (*address.path, *address.fields["resources"], "claims")
    counted = pods.gpus if own.gpu_memory else gpus.counted(facts, pods, claims, needed=needed)  # the service makes the claim itself
    return ComponentPlan(
        ref=facts.ref,
        address=address,
        config=facts.config,
        behaviour=facts.behaviour,
        who=who,
        placement=placed,
        pod=pods._replace(cache=_cache(written.get("compilationCache"), backends.get(backend).cache_dir), gpus=counted),
        edge=edge.edge(facts, who, {**written, "ingress": template.older.get("ingress")}),
        inventory=inventory.spec(facts, who, template),
        features=own,
    )


def _executor(annotations: Labels) -> Literal["ray", "mp"]:
    """The program with which vLLM runs one model on several nodes: the one in an annotation of the pods, otherwise that of their operator.

    An operator of 1.0 or later starts processes of its own for new graphs (reference: shouldUseMpBackend).
    """
    asked = annotations.get(labels.EXECUTOR_BACKEND, "").lower()
    if asked in ("mp", "ray"):
        return "mp" if asked == "mp" else "ray"
    return "mp" if version.at_least(annotations.get(labels.ORIGIN_VERSION, ""), _PROCESSES_SINCE) else "ray"


def _pod(facts: Shared, who: Identity, template: Template) -> PodFacts:
    written, own = template.component, (template.written.get("podTemplate") or {}).get("metadata") or {}
    spec: Any = (written.get("podTemplate") or {}).get("spec") or {}
    containers = spec.get("containers") or ()
    main: Any = next((container for container in containers if container.get("name") == MAIN), {})
    beside = [container for container in containers if container.get("name") != MAIN]
    container = canonical.container(main)
    images = [each.get("image") or "" for each in (container, *beside)]
    without_secrets = who.annotations.get(labels.NO_PULL_SECRETS) == "true"
    secrets = [secret for image in images for secret in facts.cluster.pull_secrets(facts.namespace, image)]
    return PodFacts(
        spec=canonical.spec({**merge.without(spec, "containers"), **({"containers": beside} if beside else {})}),
        container=container,
        enforced={} if who.standalone else pathway.enforced(facts, components.get(who.type)),
        labels=own.get("labels") or {},
        annotations=own.get("annotations") or {},
        envs=(),
        env_from_secret="",
        liveness=None,
        readiness=None,
        resources={},
        gpus=gpus.requested(container),
        mounts=(),
        shared_memory=_shared_memory(written.get("sharedMemorySize"), facts.behaviour.shared_memory),
        pull_secrets=() if without_secrets else tuple(dict.fromkeys(secrets)),
        fallback_account=facts.cluster.fallback.get(facts.namespace, "default"),
    )


def _cache(written: dict[str, Any] | None, folder: str) -> Mount | None:
    """The claim with the engine's compilation cache. `folder` is where the engine keeps it by default; empty if it has none."""
    return None if written is None else Mount(written.get("pvcName") or "", written.get("mountPath") or folder, cache=True)


def _shared_memory(written: Any, default: str) -> str:
    """The size of /dev/shm; empty if the user wrote 0."""
    if written is None:
        return default
    return quantity.canonical(written) if quantity.value(written) else ""
