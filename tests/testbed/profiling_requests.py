"""Requests in a namespace of a control plane: a test renders one, ends its profiling pod, and writes its output as the copier would."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from krm_fn.render import labels, names
from tests.support import given
from tests.testbed import kubelet, server
from tests.testbed.place import conditions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.testbed.place import Place

Object = dict[str, Any]

REQUEST = "DynamoGraphDeploymentRequest"
PROFILER = "profiler:Runs"
"""An image whose container runs until a test ends it: see `tests.testbed.finished_pods`."""


def request(name: str, *, image: str = PROFILER, config: Object | None = None, **spec: Any) -> Object:
    """A DynamoGraphDeploymentRequest."""
    profiling = {"profilerImage": image, "config": config or {}}
    fields = {"model": "Qwen/Qwen3-0.6B", "backend": "vllm", "profilingConfig": profiling, **spec}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": REQUEST, "metadata": {"name": name}, "spec": fields}


def generated(name: str = "chat", *more: Object, **services: Any) -> str:
    """The text that a profiler writes: a ConfigMap with its measurements, a graph with that name, and more objects."""
    profile = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "planner-profile-data"}, "data": {"raw.json": "{}"}}
    graph = given.graph(services or {"Frontend": given.service("frontend"), "Worker": given.service("worker")}, name=name, namespace="")
    return yaml.safe_dump_all([profile, graph, *more], sort_keys=False)


class Asked(NamedTuple):
    """A request that was rendered and applied."""

    place: Place
    name: str
    profile_hash: str

    def status(self) -> Object:
        """The status of the request."""
        return self.place.status(self.name, REQUEST)

    def wait(self, holds: Callable[[Object], bool]) -> Object:
        """The status as soon as `holds` is true for it."""
        return self.place.wait(self.name, holds, REQUEST)

    def state(self, wanted: str) -> Object:
        """The status as soon as it has that state, or that phase, and the generation of the request."""
        generation = self.place.get(REQUEST, self.name)["metadata"]["generation"]
        field = "phase" if self.place.dynamo == "nvidia.com/v1beta1" else "state"
        return self.wait(lambda status: status.get(field) == wanted and status.get("observedGeneration") == generation)

    def told(self, kind: str, *parts: str, reason: str = "") -> str:
        """The message of a condition as soon as it has the reason and all these parts."""

        def holds(status: Object) -> bool:
            found = conditions(status).get(kind, {})
            return found.get("reason") == (reason or found.get("reason")) and all(each in found.get("message", "") for each in parts)

        return str(conditions(self.wait(holds)).get(kind, {}).get("message", ""))

    def output(self, text: str | None, *, mocker: str | None = None, **changes: Any) -> None:
        """Write the output as the copier does. `changes` replace fields of the metadata."""
        texts = {"config_with_planner.yaml": text, "mocker_config_with_planner.yaml": mocker}
        data = {key: each for key, each in texts.items() if each is not None}
        marks = {labels.PROFILE_HASH: self.profile_hash, labels.OUTPUT_HASH: hashlib.sha256("".join(data.values()).encode()).hexdigest()}
        own = self.place.get(REQUEST, self.name)["metadata"]["uid"]
        owner = {"apiVersion": self.place.dynamo, "kind": REQUEST, "name": self.name, "uid": own, "controller": False}
        metadata = {
            "name": names.profiling_output(self.name),
            "labels": {labels.REQUEST_NAME: self.name, labels.MODEL_MANAGED_BY: labels.OPERATOR},
            "annotations": marks,
            "ownerReferences": [owner],
        }
        self.place.apply([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**metadata, **changes}, "data": data}])

    def pods(self) -> list[Object]:
        """The pods of the Job whose containers have a state. Those of a deleted Job of the same name can still be there."""
        job = self.place.get("Job", names.profiling_job(self.name))["metadata"]["uid"]
        found = json.loads(self.place.kubectl("get", "pods", "-l", f"batch.kubernetes.io/controller-uid={job}", "-o", "json"))
        return [each for each in found["items"] if "containerStatuses" in each["status"]]

    def end(self, message: str = "", **codes: int) -> None:
        """End the containers of the running pod, with these exit codes; 0 for each that is not named."""
        server.eventually(lambda: bool(self.pods()))
        (pod,) = self.pods()
        every = [each["name"] for part in ("initContainers", "containers") for each in pod["spec"].get(part, ())]
        ended = {**dict.fromkeys(every, 0), **{name.replace("_", "-"): code for name, code in codes.items()}}
        self.place.patch("Pod", pod["metadata"]["name"], {"status": kubelet.end(pod, message, **ended)}, "/status")

    def profiled(self, text: str, **more: Any) -> None:
        """Write the output, and end the pod without an error."""
        self.output(text, **more)
        self.end()


def ask(place: Place, wanted: Object, *, retries: int | None = None, job: bool = True) -> Asked:
    """Render a request and apply it, with its Job unless `job` is false. The Job may try as often as it has `retries`."""
    rendered = place.render(wanted)
    for each in rendered:
        if each["kind"] == "Job" and retries is not None:
            each["spec"]["backoffLimit"] = retries
    place.apply(each for each in rendered if job or each["kind"] != "Job")
    (own,) = [each for each in rendered if each["kind"] == REQUEST]
    return Asked(place, wanted["metadata"]["name"], own["metadata"]["annotations"][labels.PROFILE_HASH])
