"""An engine, a component type, a workload kind and its status that Dynamo does not have, each as a contributor would add it: one file."""

from __future__ import annotations

ENGINE = '''
"""An engine that counts its nodes."""

from krm_fn import results
from krm_fn.manifests.backends import Backend


class Abacus(Backend):
    module = "abacus"
    cache_dir = "/var/abacus"
    leader_starts_last = True

    def container(self, container, role):
        told = {"name": "ABACUS", "value": f"{role.role} of {role.component.placement.nodes} under {role.addressing.leader or 'nobody'}"}
        return {**container, "env": [*container["env"], told]}

    def pod(self, pod, role):
        return {**pod, "hostIPC": True}

    def check(self, container, role):
        if "--slow" in container.get("args", ()):
            yield results.warning("DYN399", "is slow; leave it out", role.component.ref, role.component.address.path)


BACKEND = Abacus()
'''
TYPE = '''
"""A component type for accounting."""

from krm_fn.behaviours import ProbeFigures
from krm_fn.manifests import probes
from krm_fn.manifests.components import Component


class Ledger(Component):
    runs_engine = True

    def service_port(self, plan):
        return {"name": "books", "port": 7000, "targetPort": "books", "protocol": "TCP"}

    def container(self, plan):
        return {
            "command": ["ledger"],
            "ports": [{"name": "books", "containerPort": 7000, "protocol": "TCP"}],
            "readinessProbe": probes.written(ProbeFigures("http", "/open", "books", period=3, timeout=1, failures=2)),
        }

    def objects(self, plan):
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{plan.who.name}-books", "namespace": plan.who.namespace}}


COMPONENT = Ledger()
'''

WORKLOAD = '''
"""StatefulSets, whose pods have stable names."""

from krm_fn.kube import labels, templates
from krm_fn.manifests import pod, services
from krm_fn.manifests.workloads import Workload
from krm_fn.plan import RolePlan
from krm_fn.workload_list import Entry


class StatefulSet(Workload):
    kinds = ("StatefulSet",)
    objects = (("apps", "StatefulSet"),)
    templates = templates.NATIVE

    def roles(self, plan):
        yield RolePlan(plan, plan.who.name)

    def entries(self, graph, plan):
        yield Entry(plan.who.service, "apps/v1", "StatefulSet", plan.who.name, plan.placement.replicas_or_one)

    def render(self, graph, made):
        for component in made:
            plan, (each,) = component.plan, component.roles
            yield {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": plan.who.name, "namespace": plan.who.namespace, "labels": services.workload_labels(plan)},
                "spec": {
                    "replicas": plan.placement.replicas_or_one,
                    "serviceName": plan.who.name,
                    "selector": {"matchLabels": {labels.SELECTOR: each.role.target}},
                    "template": pod.template(each),
                },
            }


WORKLOAD = StatefulSet()
'''

OBSERVER = '''
"""StatefulSets, for the status of a graph."""

from krm_fn.kube import values
from krm_fn.status import fields, observe
from krm_fn.status.observe import Counts, Observer


class StatefulSet(Observer):
    group = "apps"
    kind = "StatefulSet"
    resource = "statefulsets"

    def observe(self, resource):
        own, status = self.start(resource), values.mapping(resource, "status")
        counts = Counts(*(fields.count(status.get(each)) for each in ("replicas", "updatedReplicas", "readyReplicas")))
        why = observe.behind(own) or ("" if counts[:3] == (own.desired,) * 3 else f"desired={own.desired}, ready={counts.ready}")
        return own._replace(counts=counts, ready=not why, why=why)


OBSERVER = StatefulSet()
'''
