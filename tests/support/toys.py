"""An engine, a component type, a workload kind and its status that Dynamo does not have, each as a contributor would add it: one file."""

from __future__ import annotations

ENGINE = '''
"""An engine that counts its nodes."""

from krm_fn.base import codes, results
from krm_fn.render.engines import Engine


class Abacus(Engine):
    name = "abacus"
    cache_dir = "/var/abacus"
    leader_starts_last = True

    def container(self, container, role):
        told = {"name": "ABACUS", "value": f"{role.role} of {role.component.placement.nodes} under {role.addressing.leader or 'nobody'}"}
        return {**container, "env": [*container["env"], told]}

    def pod(self, pod, role):
        return {**pod, "hostIPC": True}

    def check(self, container, role):
        if "--slow" in container.get("args", ()):
            yield results.warning(codes.PROBE_HANDLER_REPLACED, "is slow; leave it out", role.component.ref, role.component.paths.path)


ENGINE = Abacus()
'''
TYPE = '''
"""A component type for accounting."""

from krm_fn.render.kinds.releases import ProbeDefaults, TypeDefaults
from krm_fn.render.kinds.types import ComponentType

TYPE = ComponentType(
    runs_engine=True,
    command=("ledger",),
    defaults=TypeDefaults(
        ports=(("books", 7000),),
        probes=(("readinessProbe", ProbeDefaults("http", "/open", "books", period=3, timeout=1, failures=2)),),
    ),
    service_port="books",
    account="ledger",
    cluster_role="planner_role",
)
'''

WORKLOAD = '''
"""StatefulSets, whose pods have stable names."""

from krm_fn.render import labels; from krm_fn.kubernetes import paths
from krm_fn.render.manifests import pod_template, services
from krm_fn.render.manifests.workloads import Workload
from krm_fn.render.plan import RolePlan
from krm_fn.render.workload_list import WorkloadEntry


class StatefulSet(Workload):
    kinds = ("StatefulSet",)
    objects = (("apps", "StatefulSet"),)
    templates = paths.NATIVE_TEMPLATES

    def roles(self, plan):
        yield RolePlan(plan, plan.identity.name)

    def entries(self, graph, plan):
        yield WorkloadEntry(plan.identity.service, "apps/v1", "StatefulSet", plan.identity.name, plan.placement.replicas_or_one)

    def render(self, graph, pods):
        for component in pods:
            plan, (pod,) = component.plan, component.roles
            yield {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": plan.identity.name, "namespace": plan.identity.namespace, "labels": services.workload_labels(plan)},
                "spec": {
                    "replicas": plan.placement.replicas_or_one,
                    "serviceName": plan.identity.name,
                    "selector": {"matchLabels": {labels.SELECTOR: pod.role.target}},
                    "template": pod_template.template(pod),
                },
            }


WORKLOAD = StatefulSet()
'''

OBSERVER = '''
"""StatefulSets, for the status of a graph."""

from krm_fn.kubernetes import values
from krm_fn.syncer.status import live_fields, replica_status
from krm_fn.syncer.status.replica_status import ReplicaCounts, StatusReader


class StatefulSet(StatusReader):
    group = "apps"
    kind = "StatefulSet"
    resource = "statefulsets"

    def read(self, resource):
        result, status = self.common(resource), values.mapping(resource, "status")
        counts = ReplicaCounts(*(live_fields.count(status.get(field)) for field in ("replicas", "updatedReplicas", "readyReplicas")))
        problem = replica_status.explain_unprocessed(result)
        if not problem and counts[:3] != (result.desired,) * 3:
            problem = f"desired={result.desired}, ready={counts.ready}"
        return result._replace(counts=counts, ready=not problem, problem=problem)


READERS = (StatefulSet(),)
'''
