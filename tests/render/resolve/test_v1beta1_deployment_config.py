"""`DYN_DEPLOYMENT_CONFIG` in a v1beta1 graph sets the resources of a main container and the port of a frontend, and no replicas."""

from __future__ import annotations

import json

from tests.support import beta, given

SETTINGS = {"Worker": {"ServiceArgs": {"Workers": 3, "Resources": {"CPU": "2", "gpu": "1"}}}, "Frontend": {"port": 1}}
VARIABLE = {"name": "DYN_DEPLOYMENT_CONFIG", "value": json.dumps(SETTINGS)}


def deployed(**settings):
    parts = (
        beta.component("Frontend", "frontend"),
        beta.component("Worker", main={"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}),
    )
    return given.rendered(beta.graph(*parts, env=[VARIABLE]), **settings)


def main(item):
    return item["spec"]["template"]["spec"]["containers"][0]


def test_the_resources_of_a_component_are_those_of_the_settings():
    worker = deployed()["Deployment/chat-worker"]
    amounts = {"cpu": "2", "nvidia.com/gpu": "1"}
    assert main(worker)["resources"] == {"limits": {**amounts, "memory": "1Gi"}, "requests": amounts}


def test_the_replicas_are_those_that_admission_writes():
    assert deployed()["Deployment/chat-worker"]["spec"]["replicas"] == 1


def test_the_port_of_a_frontend_is_the_one_that_it_listens_on():
    variables = given.variables(main(deployed()["Deployment/chat-frontend"]))
    assert json.loads(variables["DYN_DEPLOYMENT_CONFIG"])["Frontend"] == {"port": 8000}


def test_the_workers_of_other_settings_are_another_generation():
    plain = given.rendered(beta.graph(beta.component("Worker")))["Deployment/chat-worker"]
    label = "nvidia.com/dynamo-worker-hash"
    assert deployed()["Deployment/chat-worker"]["metadata"]["labels"][label] != plain["metadata"]["labels"][label]
