"""Services that real controllers roll out while their pods become ready one after the other, and the GPUs that their pods hold."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.review import forecast
from krm_fn.review.forecast import object_rules
from tests.review.forecast import given
from tests.testbed import api, server

if TYPE_CHECKING:
    from collections.abc import Iterator

GPU = "nvidia.com/gpu"
STILL = 6  # looks at the cluster in which nothing has changed
NOTHING = object_rules.ClusterState({}, {}, {})


class Service(NamedTuple):
    """A workload of pods before and after a change, with the number of its GPUs in each state."""

    kind: str
    old_pods: int
    new_pods: int
    old: int
    new: int
    surge: Any = 0
    unavailable: Any = 1

    def written(self, namespace: str, name: str, state: str) -> dict[str, Any]:
        """Returns the workload in one state: `old` or `new`."""
        labels = {"app": name}
        container = {"name": "main", "image": "worker:1", "resources": {"limits": {GPU: f"{getattr(self, state)}"}}}
        template = {"metadata": {"labels": labels, "annotations": {"state": state}}, "spec": {"containers": [container]}}
        spec = {"replicas": getattr(self, f"{state}_pods"), "selector": {"matchLabels": labels}, "template": template}
        if self.kind == "Deployment":
            spec["strategy"] = {"rollingUpdate": {"maxSurge": self.surge, "maxUnavailable": self.unavailable}}
        elif self.kind == "StatefulSet":
            spec["serviceName"] = "none"
        else:
            return self._groups(namespace, name, spec)
        return {"apiVersion": "apps/v1", "kind": self.kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}

    def _groups(self, namespace: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
        """Returns a LeaderWorkerSet whose groups have one pod each."""
        update = {"maxSurge": self.surge, "maxUnavailable": self.unavailable}
        groups = {
            "replicas": spec["replicas"],
            "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": update},
            "leaderWorkerTemplate": {"size": 1, "workerTemplate": spec["template"]},
        }
        metadata = {"name": name, "namespace": namespace}
        return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": self.kind, "metadata": metadata, "spec": groups}

    def forecast(self) -> forecast.Gpus:
        """Returns the GPUs that the forecast says."""
        change = given.change(*(self.written("a", "b", state) for state in ("old", "new")))
        return forecast.total_gpus(forecast.kind_forecast(change, NOTHING).rollouts)

    def seen(self) -> int:
        """Returns the GPUs at the peak of the moments in which the controllers wait.

        The forecast also counts the moment before old pods stop that nobody waits for. A look at the cluster may miss it.
        """
        change = given.change(*(self.written("a", "b", state) for state in ("old", "new")))
        (rollout,) = forecast.kind_forecast(change, NOTHING).rollouts
        if self.kind != "Deployment":
            return self.forecast().peak
        settled = Controller(self.new_pods, rollout.steps).settled(self.old_pods)
        return max(self.old_pods * self.old, *(old * self.old + new * self.new for old, _, new, _ in settled))


class Controller:
    """The state of a Deployment as its controller sees it: the sizes of both ReplicaSets, and their pods that are ready."""

    def __init__(self, replicas, steps):
        self.replicas, self.most, self.least = replicas, replicas + steps.surge, replicas - steps.unavailable

    def syncs(self, state):
        """Yields each state of the controller from one on, until it has nothing to do."""
        yield state
        while (following := self._synced(state)) != state:
            state = following
            yield state

    def _synced(self, state):
        old, old_ready, new, new_ready = state
        more = min(self.most - old - new, self.replicas - new)
        if more > 0:
            return old, old_ready, new + more, new_ready
        allowed = old + new - self.least - (new - new_ready)
        if allowed <= 0:
            return state
        old -= min(old - old_ready, allowed)
        spare = max(min(old_ready + new_ready - self.least, old), 0)
        return old - spare, min(old_ready, old - spare), new, new_ready

    def settled(self, pods: int) -> Iterator[tuple[int, int, int, int]]:
        """Yields the states in which the controller waits, from a number of ready old pods on, if pods become ready one at a time."""
        state = (self.replicas, min(pods, self.replicas), 0, 0)
        while True:
            *_, (old, old_ready, new, new_ready) = self.syncs(state)
            yield old, old_ready, new, new_ready
            if old_ready < old:
                state = old, old_ready + 1, new, new_ready
            elif new_ready < new:
                state = old, old_ready, new, new_ready + 1
            else:
                return

    def every(self):
        """Returns all states that some order of readiness reaches."""
        known, remaining = set(), [(self.replicas, self.replicas, 0, 0)]
        while remaining:
            state = remaining.pop()
            for reached in self.syncs(state):
                old, old_ready, new, new_ready = reached
                if reached in known:
                    continue
                known.add(reached)
                if new_ready < new:
                    remaining.append((old, old_ready, new, new_ready + 1))
        return known


class Fleet:
    """The services of all shapes on a real API server: each shape in a namespace of its own."""

    def __init__(self, plane: Any, chosen: dict[int, tuple[Service, ...]], prefix: str = "peak") -> None:
        self.plane, self.client = plane, plane.client
        self.services = {
            (plane.namespace(f"{prefix}-{number}"), f"s{index}"): service
            for number, services in chosen.items()
            for index, service in enumerate(services)
        }
        self.held: dict[tuple[str, str], int] = dict.fromkeys(self.services, 0)

    def apply(self, state: str) -> None:
        for (namespace, name), service in self.services.items():
            assert self.plane.apply(service.written(namespace, name, state), dry_run=False).ok

    def delete(self) -> None:
        """Deletes all services, and waits until their pods are gone: the next test may count the pods of the server."""
        for (namespace, name), service in self.services.items():
            path = self.client.path(service.written(namespace, name, "new"))
            assert self.client.request("DELETE", f"{path}?propagationPolicy=Background").ok
        server.eventually(lambda: not any(self.pods().values()), 120)

    def pods(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        pods: dict[tuple[str, str], list[dict[str, Any]]] = {key: [] for key in self.services}
        for pod in self.client.get("/api/v1/pods")["items"]:
            metadata = pod["metadata"]
            if (key := (metadata["namespace"], metadata.get("labels", {}).get("app"))) in pods and not metadata.get("deletionTimestamp"):
                pods[key].append(pod)
        return pods

    def is_seen(self, pods: dict[tuple[str, str], list[dict[str, Any]]]) -> bool:
        """True if the controllers have made all pods, and have seen which of them are ready."""
        wanted = collections.Counter[tuple[str, str]]()
        for resource in self.client.get("/apis/apps/v1/replicasets")["items"]:
            wanted[resource["metadata"]["namespace"], resource["metadata"].get("labels", {}).get("app")] += resource["spec"]["replicas"]
        for kind in ("deployments", "statefulsets"):
            for resource in self.client.get(f"/apis/apps/v1/{kind}")["items"]:
                key = (resource["metadata"]["namespace"], resource["metadata"]["name"])
                status = resource["status"]
                if key not in self.services:
                    continue
                expected = wanted[key] if kind == "deployments" else len(pods[key])
                ready = sum(map(is_ready, pods[key]))
                if (status.get("observedGeneration"), len(pods[key])) != (resource["metadata"]["generation"], expected):
                    return False
                if (status.get("replicas", 0), status.get("readyReplicas", 0)) != (len(pods[key]), ready):
                    return False
        return True

    def settle(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        """Waits until no controller acts any more. Returns the pods, and keeps the most GPUs that each service holds."""
        states: list[Any] = []

        def holds() -> bool:
            pods = self.pods()
            state = sorted((pod["metadata"]["uid"], is_ready(pod)) for entries in pods.values() for pod in entries)
            if not self.is_seen(pods) or (states and states[-1][0] != state):
                states.clear()
            states.append((state, pods))
            return len(states) > STILL

        server.eventually(holds, 120)
        for key, entries in states[-1][1].items():
            self.held[key] = max(self.held[key], sum(map(gpus, entries)))
        return states[-1][1]  # type: ignore[no-any-return]

    def make_ready(self, pods: dict[tuple[str, str], list[dict[str, Any]]], most: int) -> int:
        """Makes up to a number of pods of each service ready. Returns the number of all.

        The oldest is first in a Deployment, and the last in others: their controllers count ready pods from the last one on.
        """
        count = 0
        for key, entries in pods.items():
            waiting = sorted((pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]) for pod in entries if not is_ready(pod))
            if self.services[key].kind != "Deployment":
                waiting.sort(key=lambda entry: entry[1], reverse=True)
            for _, name in waiting[:most]:
                path = f"/api/v1/namespaces/{entries[0]['metadata']['namespace']}/pods/{name}/status"
                ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
                count += self.client.request("PATCH", path, {"status": ready}, api.MERGE).ok
        return count

    def run(self, most: int) -> None:
        """Lets pods become ready, this number for each service at a time, until all are."""
        while self.make_ready(self.settle(), most):
            pass

    def roll_out(self) -> list[tuple[Service, int, int]]:
        """Rolls out all services, then deletes them. Returns those that held other GPUs than the forecast says, with both numbers."""
        self.apply("old")
        self.run(most=100)
        self.apply("new")
        self.run(most=1)
        self.delete()
        return [(service, self.held[key], service.seen()) for key, service in self.services.items() if self.held[key] != service.seen()]


def is_ready(pod: dict[str, Any]) -> bool:
    return bool(pod["status"].get("conditions"))


def gpus(pod: dict[str, Any]) -> int:
    return int(pod["spec"]["containers"][0]["resources"]["limits"][GPU])
