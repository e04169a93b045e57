"""Jobs that download a model for a graph into another folder than that of the claim."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.review import download_jobs
from tests.support import beta, given
from tests.support.cases import cases

GRAPH = beta.graph(beta.component("Worker", pod={"volumes": [{"name": "m", "persistentVolumeClaim": {"claimName": "models"}}]}))


def job(cache: Any, line: str = "hf download acme/tiny", *, name: str = "HF_HOME", claim: str = "models", folder: str = "/models") -> Any:
    container = {
        "name": "hf",
        "image": "python:3.12",
        "command": ["sh", "-c", line],
        "env": [{"name": "HF_TOKEN", "value": "a"}, {"name": name, "value": cache}],
        "volumeMounts": [{"name": "m", "mountPath": folder}],
    }
    spec = {"containers": [container], "volumes": [{"name": "m", "persistentVolumeClaim": {"claimName": claim}}]}
    return given.item("Job", "load", api="batch/v1", spec={"template": {"spec": spec}})


ROWS = [
    ("a folder of the container", job("/cache"), "/models"),
    ("the folder of the user", job("/root/.cache/huggingface"), "/models"),
    ("the cache of the Hub", job("/cache", name="HF_HUB_CACHE"), "/models"),
    ("the folder of the claim", job("/models"), ""),
    ("a folder below", job("/models/hub/"), ""),
    ("another claim", job("/cache", claim="results"), ""),
    ("a folder of the download", job("/cache", "hf download acme/tiny --local-dir /models/tiny"), ""),
    ("a copy behind the download", job("/cache", "hf download acme/tiny && cp -r /cache/hub /models"), ""),
    ("no download", job("/cache", "aiperf profile"), ""),
    ("a variable", job("$(CACHE)"), ""),
    ("no text", job(3), ""),
]


@cases(("entry", "right"), ROWS)
def test_a_download_that_is_lost(entry, right):
    found = [
        (finding.code, finding.severity, finding.path[-3:], finding.proposed) for finding in download_jobs.check([GRAPH, entry], Config())
    ]
    assert found == [("DYN753", "warning", ("env", 1, "value"), right)] * bool(right)


def test_a_job_without_a_graph_and_fields_of_any_type():
    broken = given.item("Job", "b", api="batch/v1", spec={"template": {"spec": {"containers": [3, {"env": 4}], "volumes": "a"}}})
    assert [*download_jobs.check([job("/cache"), broken], Config())] == [*download_jobs.check([GRAPH, broken], Config())] == []
