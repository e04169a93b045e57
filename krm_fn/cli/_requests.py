"""The requests (DGDR) among given resources, and the objects that tell how far they have come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import identity
from krm_fn.profiling import output
from krm_fn.status import job
from krm_fn.status.requests import Seen, deployment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.profiling.output import Output, Published
    from krm_fn.status.job import Job, Pod
    from krm_fn.status.requests import Request
    from krm_fn.status.subject import Subject


class Around:
    """The Jobs, pods and ConfigMaps among resources. `home` is the namespace of resources without one."""

    def __init__(self, resources: Iterable[Resource], home: str) -> None:
        self._jobs: dict[ObjectKey, Job] = {}
        self._published: dict[ObjectKey, Published] = {}
        self._pods: list[Pod] = []
        for each in resources:
            key = identity.key(each, home)
            if (key.group, key.kind) == (job.GROUP, job.KIND):
                self._jobs[key] = job.read(each, home)
            elif (key.group, key.kind) == ("", "ConfigMap"):
                self._published[key] = output.published(each, home)
            elif (key.group, key.kind) == ("", "Pod"):
                self._pods.append(job.pod(each, home))

    def output(self, asked: Request) -> Output | None:
        """The output of a request, read; None if its ConfigMap is not among the resources."""
        found = self._published.get(asked.output)
        return output.read(found, mocker=asked.mocker) if found else None

    def seen(self, asked: Request, graphs: Mapping[ObjectKey, Subject]) -> Seen:
        """What the status of a request depends on."""
        found = self.output(asked)
        target = deployment.target(asked, found)
        return Seen(
            self._jobs.get(asked.job),
            found,
            graphs.get(target) if target else None,
            job.detail(self._pods, asked.job),
        )
