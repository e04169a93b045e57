"""The syncer loads an adapter into the workers of a rendered graph, whose routes are those of the real runtime, and clients reach it.

No engine runs. `lora_worker.py` serves the endpoints that `dynamo.vllm` serves; the HTTP routes, the download from a bucket, the
registration as a model and the frontend are the runtime's own.
"""

from __future__ import annotations

import json
import secrets
import sys

import pytest

from tests.running import bucket as bucket_server
from tests.running import graphs, lora_worker
from tests.running.graphs import MODEL
from tests.running.lora_worker import BASE
from tests.syncer import serving
from tests.testbed import server
from tests.testbed.place import conditions

BUCKET_PORT = 9000
SECRET = "adapter-bucket"  # noqa: S105 - a name
NAME = "acme/support"
"""The adapter in requests. The slash must stay one part of the path with which the adapter is unloaded."""
LOADED = ("AllEndpointsReady", True)
LONGEST_RETRIES = 30 + 60 + 120 + 240
"""Seconds from the first request to a worker to its fifth, if the worker fails all of them while it starts."""


def graph(release, workers):
    """A frontend, and workers that serve the base model."""
    worker = graphs.Service("Worker", "worker", workers, ("python3", lora_worker.__file__), (MODEL,))
    variables = {"DYN_LORA_ENABLED": "true", "DYN_LORA_PATH": "/tmp/loras"}  # noqa: S108 - in a container
    resource = graphs.v1alpha1("chat", release, graphs.frontend(), worker, **variables)
    resource["spec"]["services"]["Worker"] |= {"modelRef": {"name": MODEL}, "envFromSecret": SECRET}
    return resource


def model(version):
    """An adapter. Each version has a folder of its own."""
    source = {"uri": f"s3://adapters/support/{version}"}
    spec = {"modelName": NAME, "baseModelName": MODEL, "modelType": "lora", "source": source}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": serving.MODEL, "metadata": {"name": "support"}, "spec": spec}


class Support:
    """The graph and its model in a namespace."""

    def __init__(self, bed, here, release):
        self.bed, self.here, self.release = bed, here, release

    def deploy(self, *resources):
        self.here.deploy(*resources, behaviour="v1.5" if self.release.startswith("1.5") else "v1.6", sourceVersion="v1alpha1")

    def delete(self):
        """Delete the model. The syncer would give up after a minute, and then write an event."""
        self.here.kubectl("delete", "dynamomodel", "support", "--timeout=50s")
        assert [*self.adapters().values()] == [[]] * len(self.workers())
        assert serving.events(self.here, "LoRAUnloadFailed") == []

    def eventually(self, holds):
        try:
            self.bed.machine.eventually(holds, self.here.namespace, LONGEST_RETRIES + 60)
        except AssertionError as problem:
            found = {"adapters": self.adapters(), "status": self.here.status("support", serving.MODEL)}
            raise AssertionError(f"{json.dumps(found)}\n{problem}") from problem

    def workers(self):
        """The pods of workers that do not end, by name, and their addresses."""
        pods = [pod for pod in self.here.listed("Pod") if "-worker-" in pod["metadata"]["name"]]
        living = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        return {pod["metadata"]["name"]: pod["status"].get("podIP", "") for pod in living}

    def adapters(self):
        """The adapters that each worker lists itself; None for a worker that does not answer."""
        return {name: self._adapters(address) for name, address in self.workers().items()}

    def _adapters(self, address):
        try:
            answer = self.bed.machine.request(address, 9090, "/v1/loras")
        except OSError:
            return None
        return [*json.loads(answer.text)["loras"]] if answer.status == 200 else None

    def status(self):
        """The reason of the condition, if the numbers and the list agree with the pods, and the pods that have the adapter."""
        status = self.here.status("support", serving.MODEL)
        rows = {each["podName"]: each["ready"] for each in status.get("endpoints", ())}
        consistent = rows.keys() == self.workers().keys() and status.get("totalEndpoints") == len(rows)
        consistent = consistent and status.get("readyEndpoints") == sum(rows.values())
        condition = conditions(status).get("EndpointsReady", {})
        return (condition.get("reason"), condition.get("status") == "True") if consistent else None

    def message(self):
        """The message of `Ready`."""
        return conditions(self.here.status("support", serving.MODEL))["Ready"]["message"]

    def loaded(self, pods):
        """True if so many pods have the adapter, by the status and by themselves."""
        return self.status() == LOADED and [*self.adapters().values()] == [[NAME]] * pods

    def answer(self, name=NAME):
        """The answer of a model; empty if the frontend does not answer, or does not know the model."""
        body = {"model": name, "messages": [{"role": "user", "content": "hello"}]}
        address, port = self.bed.frontend(self.here, "chat")
        try:
            answer = self.bed.machine.request(address, port, "/v1/chat/completions", body)
        except OSError:
            return ""
        return json.loads(answer.text)["choices"][0]["message"]["content"] if answer.status == 200 else ""


@pytest.fixture(scope="module")
def bucket(bed, tmp_path_factory):
    """A bucket with two versions of an adapter; returns the variables with which workers reach it."""
    folder = tmp_path_factory.mktemp("bucket")
    for version in ("1", "2"):
        files = folder / "adapters" / "support" / version
        files.mkdir(parents=True)
        (files / "adapter_config.json").write_text('{"r": 8}')
        (files / "adapter_model.safetensors").touch()
        (files / "answer").write_text(f"version {version}")
    address = bed.machine.address
    command = bed.machine.command(sys.executable, bucket_server.__file__, address, str(BUCKET_PORT), str(folder))
    with server.running(command, folder / "bucket.log"):
        keys = {"AWS_ACCESS_KEY_ID": "example", "AWS_SECRET_ACCESS_KEY": "example", "AWS_REGION": "eu-central-1"}
        yield {"AWS_ENDPOINT": f"http://{address}:{BUCKET_PORT}", "AWS_ALLOW_HTTP": "true", **keys}


def ran(release):
    """A release of the runtime, and what its test runs."""
    by = "a worker without an engine, with the LoRA endpoints of dynamo.vllm on the real runtime"
    mark = pytest.mark.ran(workload="Deployment", engine="vLLM, LoRA adapters", release=release[:3], result="answered", by=by)
    return pytest.param(release, marks=mark)


@pytest.fixture
def support(bed, sync, bucket, release):
    """A graph with two workers, and a model, in a namespace of its own."""
    with bed.namespace(f"loras-{secrets.token_hex(3)}") as here:
        here.apply([{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET}, "stringData": bucket}])
        made = Support(bed, here, release)
        made.deploy(graph(made.release, 2), model("1"))
        yield made


@pytest.mark.parametrize("release", [ran("1.5.1"), ran("1.6.1")])
def test_an_adapter_follows_its_model(support):
    """Pods that come, restart and go; a source that changes and one that is wrong; and the deletion of the model."""
    support.eventually(lambda: support.loaded(2))
    support.eventually(lambda: (support.answer(), support.answer(MODEL)) == ("version 1", BASE))

    support.deploy(graph(support.release, 3))
    support.eventually(lambda: support.loaded(3))

    restarted = next(iter(support.workers()))
    support.bed.machine.kill(support.here.namespace, restarted)
    support.eventually(lambda: restarts(support.here, restarted) == 1 and support.loaded(3))

    support.deploy(graph(support.release, 1))
    support.eventually(lambda: support.loaded(1))
    support.eventually(lambda: support.answer() == "version 1")

    support.deploy(model("2"))
    support.eventually(lambda: support.answer() == "version 2" and support.loaded(1))

    support.delete()
    support.eventually(lambda: support.bed.models(support.here, "chat") == [MODEL])
    assert (support.answer(), support.answer(MODEL)) == ("", BASE)


@pytest.mark.parametrize("release", [ran("1.5.1")])
def test_a_wrong_source_leaves_nothing_behind(support):
    """A worker answers 500 to the unloading of an adapter that it does not have, so that a deletion must not wait for another answer."""
    support.eventually(lambda: support.loaded(2))
    support.deploy(model("absent"))
    support.eventually(lambda: support.status() == ("NotReady", False) and "Failed to download LoRA" in support.message())
    assert "absent" not in support.message()
    support.eventually(lambda: [*support.adapters().values()] == [[], []] and support.bed.models(support.here, "chat") == [MODEL])
    support.delete()


def restarts(here, name):
    """How often the container of a pod was restarted."""
    return sum(each["restartCount"] for each in here.get("Pod", name)["status"].get("containerStatuses", ()))
