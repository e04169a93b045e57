"""The health scripts of examples/argocd, run offline by Argo CD's own engine over every kind and state."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest
import yaml

from tests.gitops import argocd
from tests.support.cases import cases
from tests.testbed import programs

HEALTHY, PROGRESSING, DEGRADED = "Healthy", "Progressing", "Degraded"
DYNAMO, LWS, GROVE = "nvidia.com/v1alpha1", "leaderworkerset.x-k8s.io/v1", "grove.io/v1alpha1"


def said(**conditions):
    """A list of conditions from types and their statuses."""
    return [{"type": name, "status": status, "reason": "R", "message": f"{name} is {status}"} for name, status in conditions.items()]


def grove(**status):
    return {"observedGeneration": 2, "replicas": 1, "availableReplicas": 0, "readyReplicas": 0} | status


GRAPH, COMPONENT = (DYNAMO, "DynamoGraphDeployment"), (DYNAMO, "DynamoComponentDeployment")
REQUEST, ADAPTER = (DYNAMO, "DynamoGraphDeploymentRequest"), (DYNAMO, "DynamoGraphDeploymentScalingAdapter")
MODEL, GROUPS, JOB = (DYNAMO, "DynamoModel"), (LWS, "LeaderWorkerSet"), ("batch/v1", "Job")
SET, CLIQUE, SCALING = (GROVE, "PodCliqueSet"), (GROVE, "PodClique"), (GROVE, "PodCliqueScalingGroup")
ENDED, BEGUN = {"updateStartedAt": "T", "updateEndedAt": "T"}, {"updateStartedAt": "T"}
FAILED = [{"code": "ERR", "description": "no such queue", "observedAt": "T"}]

# reason, kind, spec, status, health, what the message has. The generation is 2.
CASES = [
    ("graph: no status", GRAPH, {}, None, PROGRESSING, "no status yet"),
    ("graph: pending", GRAPH, {}, {"state": "pending", "conditions": said(Ready="False")}, PROGRESSING, "Ready is False"),
    ("graph: successful", GRAPH, {}, {"state": "successful", "conditions": said(Ready="True")}, HEALTHY, "Ready is True"),
    ("graph: failed", GRAPH, {}, {"state": "failed", "conditions": said(Ready="False")}, DEGRADED, "Ready is False"),
    ("graph: observed", GRAPH, {}, {"state": "successful", "observedGeneration": 2}, HEALTHY, ""),
    ("graph: successful before the change", GRAPH, {}, {"state": "successful", "observedGeneration": 1}, PROGRESSING, "not observed yet"),
    ("graph: failed before the change", GRAPH, {}, {"state": "failed", "observedGeneration": 1}, PROGRESSING, "not observed yet"),
    ("graph: an unknown state", GRAPH, {}, {"state": "resting"}, PROGRESSING, ""),
    ("component: no status", COMPONENT, {}, None, PROGRESSING, "no status yet"),
    ("component: valid only", COMPONENT, {}, {"conditions": said(Valid="True")}, PROGRESSING, "no status yet"),
    ("component: available", COMPONENT, {}, {"conditions": said(Valid="True", Available="True")}, HEALTHY, "Available is True"),
    ("component: not available", COMPONENT, {}, {"conditions": said(Available="False")}, PROGRESSING, "Available is False"),
    ("component: stalled", COMPONENT, {}, {"conditions": said(Available="False", Stalled="True")}, DEGRADED, "Stalled is True"),
    (
        "component: reconciling",
        COMPONENT,
        {},
        {"conditions": said(Available="False", Reconciling="True")},
        PROGRESSING,
        "Available is False",
    ),
    ("component: invalid", COMPONENT, {}, {"conditions": said(Valid="False", Available="True")}, DEGRADED, "Valid is False"),
    (
        "component: stale",
        COMPONENT,
        {},
        {"observedGeneration": 1, "conditions": said(Available="True")},
        PROGRESSING,
        "not observed yet",
    ),
    ("request: no status", REQUEST, {}, None, PROGRESSING, "no status yet"),
    ("request: pending", REQUEST, {}, {"state": "Pending"}, PROGRESSING, "Pending"),
    ("request: profiling", REQUEST, {}, {"state": "Profiling", "conditions": said(Profiling="False")}, PROGRESSING, "Profiling is False"),
    ("request: deploying", REQUEST, {}, {"state": "Deploying", "conditions": said(Profiling="True")}, PROGRESSING, "Deploying"),
    ("request: ready", REQUEST, {}, {"state": "Ready"}, HEALTHY, "Ready"),
    ("request: failed", REQUEST, {}, {"state": "Failed", "conditions": said(Validation="False")}, DEGRADED, "Validation is False"),
    ("request: its graph was deleted", REQUEST, {}, {"state": "DeploymentDeleted"}, DEGRADED, "DeploymentDeleted"),
    ("request: ready, in v1beta1", REQUEST, {}, {"phase": "Ready"}, HEALTHY, "Ready"),
    ("request: deployed, in v1beta1", REQUEST, {}, {"phase": "Deployed"}, HEALTHY, "Deployed"),
    ("request: failed, in v1beta1", REQUEST, {}, {"phase": "Failed"}, DEGRADED, "Failed"),
    ("request: stale", REQUEST, {}, {"state": "Ready", "observedGeneration": 1}, PROGRESSING, "not observed yet"),
    (
        "request: a change is refused",
        REQUEST,
        {},
        {"state": "Ready", "observedGeneration": 2, "conditions": said(Validation="False", Ready="False", Stalled="True")},
        DEGRADED,
        "Stalled is True",
    ),
    (
        "request: the message once",
        REQUEST,
        {},
        {"state": "Profiling", "conditions": said(Profiling="False", Ready="False", Reconciling="True")},
        PROGRESSING,
        "Profiling: Profiling is False",
    ),
    ("adapter: no status", ADAPTER, {"replicas": 2}, None, PROGRESSING, "no status yet"),
    ("adapter: no number yet", ADAPTER, {}, {"replicas": 2}, PROGRESSING, "no status yet"),
    ("adapter: of an earlier version", ADAPTER, {"replicas": 2, "desiredReplicas": 3}, {"replicas": 3}, HEALTHY, "3 of 3"),
    ("adapter: all", ADAPTER, {"replicas": 2}, {"replicas": 2}, HEALTHY, "2 of 2"),
    ("adapter: some", ADAPTER, {"replicas": 2}, {"replicas": 1}, PROGRESSING, "1 of 2"),
    ("adapter: stalled", ADAPTER, {"replicas": 2}, {"replicas": 1, "conditions": said(Stalled="True")}, DEGRADED, "Stalled is True"),
    ("adapter: stalled no more", ADAPTER, {"replicas": 2}, {"replicas": 2, "conditions": said(Ready="True")}, HEALTHY, "2 of 2"),
    ("adapter: none wanted", ADAPTER, {"replicas": 0}, {"replicas": 0}, HEALTHY, "0 of 0"),
    ("adapter: stale", ADAPTER, {"replicas": 2}, {"replicas": 2, "observedGeneration": 1}, PROGRESSING, "not observed yet"),
    ("model: no status", MODEL, {}, None, PROGRESSING, "no status yet"),
    ("model: ready", MODEL, {}, {"conditions": said(Valid="True", EndpointsReady="True")}, HEALTHY, "EndpointsReady is True"),
    ("model: not ready", MODEL, {}, {"conditions": said(EndpointsReady="False")}, PROGRESSING, "EndpointsReady is False"),
    ("model: invalid", MODEL, {}, {"conditions": said(Valid="False")}, DEGRADED, "Valid is False"),
    ("model: stale", MODEL, {}, {"observedGeneration": 1, "conditions": said(EndpointsReady="True")}, PROGRESSING, "not observed yet"),
    (
        "model: a pod is not ready",
        MODEL,
        {},
        {"conditions": said(EndpointsReady="True", Ready="False", Reconciling="True")},
        PROGRESSING,
        "Ready is False",
    ),
    ("model: served", MODEL, {}, {"conditions": said(EndpointsReady="True", Ready="True")}, HEALTHY, "Ready is True"),
    (
        "model: nothing is loaded",
        MODEL,
        {},
        {"conditions": said(EndpointsReady="False", Ready="False", Stalled="True")},
        DEGRADED,
        "Stalled is True",
    ),
    ("job: no status", JOB, {}, None, PROGRESSING, "has not started"),
    ("job: it runs", JOB, {}, {"active": 1}, PROGRESSING, "the Job runs"),
    ("job: complete", JOB, {}, {"conditions": said(Suspended="False", Complete="True")}, HEALTHY, "Complete is True"),
    ("job: failed", JOB, {}, {"conditions": said(FailureTarget="True", Failed="True")}, DEGRADED, "Failed is True"),
    ("job: resumed", JOB, {}, {"active": 1, "conditions": said(Suspended="False")}, PROGRESSING, "the Job runs"),
    ("groups: no status", GROUPS, {"replicas": 2}, None, PROGRESSING, "0 of 2 groups"),
    ("groups: available", GROUPS, {"replicas": 2}, {"conditions": said(Available="True")}, HEALTHY, "Available is True"),
    ("groups: some ready", GROUPS, {"replicas": 2}, {"readyReplicas": 1, "conditions": said(Available="False")}, PROGRESSING, "1 of 2"),
    (
        "groups: an update",
        GROUPS,
        {"replicas": 2},
        {"conditions": said(Available="True", UpdateInProgress="True")},
        PROGRESSING,
        "UpdateInProgress",
    ),
    ("groups: none wanted", GROUPS, {"replicas": 0}, {"conditions": said(Available="False")}, HEALTHY, "scaled to zero"),
    ("groups: one by default", GROUPS, {}, {}, PROGRESSING, "0 of 1"),
    ("groups: stale", GROUPS, {}, {"observedGeneration": 1, "conditions": said(Available="True")}, PROGRESSING, "not observed yet"),
    ("set: no status", SET, {"replicas": 1}, None, PROGRESSING, "not observed yet"),
    ("set: available", SET, {"replicas": 1}, grove(availableReplicas=1), HEALTHY, "1 of 1 replicas"),
    ("set: not available", SET, {"replicas": 1}, grove(), PROGRESSING, "0 of 1 replicas"),
    ("set: stale", SET, {"replicas": 1}, grove(availableReplicas=1, observedGeneration=1), PROGRESSING, "not observed yet"),
    ("set: an error", SET, {"replicas": 1}, grove(availableReplicas=1, lastErrors=FAILED), DEGRADED, "no such queue"),
    ("set: an update", SET, {"replicas": 1}, grove(availableReplicas=1, updateProgress=BEGUN), PROGRESSING, "an update"),
    ("set: an older update", SET, {"replicas": 1}, grove(availableReplicas=1, rollingUpdateProgress=BEGUN), PROGRESSING, "an update"),
    ("set: updated", SET, {"replicas": 1}, grove(availableReplicas=1, updateProgress=ENDED), HEALTHY, "1 of 1"),
    ("clique: ready", CLIQUE, {"replicas": 2}, grove(readyReplicas=2), HEALTHY, "2 of 2 pods"),
    ("clique: not ready", CLIQUE, {"replicas": 2}, grove(readyReplicas=1), PROGRESSING, "1 of 2 pods"),
    ("clique: an error", CLIQUE, {"replicas": 2}, grove(lastErrors=FAILED), DEGRADED, "no such queue"),
    ("scaling group: available", SCALING, {"replicas": 2}, grove(availableReplicas=2), HEALTHY, "2 of 2 replicas"),
    ("scaling group: not available", SCALING, {"replicas": 2}, grove(availableReplicas=1), PROGRESSING, "1 of 2 replicas"),
    ("scaling group: an error", SCALING, {"replicas": 2}, grove(lastErrors=FAILED), DEGRADED, "no such queue"),
    ("application: no status", ("argoproj.io/v1alpha1", "Application"), {}, None, PROGRESSING, ""),
    ("application: its own", ("argoproj.io/v1alpha1", "Application"), {}, {"health": {"status": DEGRADED, "message": "m"}}, DEGRADED, "m"),
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """The ConfigMap of an Argo CD that has the examples' health."""
    metadata = {"name": "argocd-cm", "labels": {"app.kubernetes.io/part-of": "argocd"}}
    file = tmp_path_factory.mktemp("health") / "argocd-cm.yaml"
    data = argocd.customizations()
    file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}))
    return file


def assessed(resource, settings, folder):
    """The health of a resource, and its message."""
    file = folder / "resource.json"
    file.write_text(json.dumps(resource))
    command = [programs.path("argocd"), "admin", "settings", "resource-overrides", "health", file, "--argocd-cm-path", settings]
    environment = {**os.environ, "ARGOCD_BINARY_NAME": "argocd", "HOME": str(folder)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    told = dict(re.findall(r"^(STATUS|MESSAGE): ?(.*)$", ran.stdout, re.MULTILINE))
    return told["STATUS"], told["MESSAGE"]


@cases(("reason", "kind", "spec", "status", "health", "message"), CASES)
def test_health(reason, kind, spec, status, health, message, settings, tmp_path):
    api_version, name = kind
    resource = {"apiVersion": api_version, "kind": name, "metadata": {"name": "a", "namespace": "b", "generation": 2}, "spec": spec}
    found, said_why = assessed(resource if status is None else resource | {"status": status}, settings, tmp_path)
    assert found == health
    assert message in said_why


@pytest.mark.parametrize(("labels", "health"), [({}, "Suspended"), ({"dgdr": "llama"}, HEALTHY)])
def test_a_suspended_job(labels, health, settings, tmp_path):
    """Only a profiling Job is Healthy."""
    metadata = {"name": "a", "namespace": "b", "labels": labels}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "status": {"conditions": said(Suspended="True")}}
    found, why = assessed(job, settings, tmp_path)
    assert found == health
    assert "Suspended is True" in why or "DynamoGraphDeploymentRequest llama" in why


def test_every_kind_has_a_case_for_every_health():
    """Except kinds whose status cannot express Degraded."""
    scripts = {key.removeprefix("resource.customizations.health.") for key in argocd.customizations() if ".health." in key}
    cases = {(f"{kind[0].partition('/')[0]}_{kind[1]}", health) for _, kind, _, _, health, _ in CASES}
    never = {(f"{group.partition('/')[0]}_{kind}", DEGRADED) for group, kind in (GROUPS,)}
    own = {("argoproj.io_Application", HEALTHY)}
    assert {(script, health) for script in scripts for health in (HEALTHY, PROGRESSING, DEGRADED)} - cases == never | own
