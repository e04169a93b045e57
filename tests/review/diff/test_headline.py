"""The first line of a report: what goes, under which addresses, what stops, what comes, and the GPUs at the peak.

A reviewer who reads one line only must not miss a deletion, and a job that waits for `--fail-on` must stop for it.
"""

from __future__ import annotations

import json

import jsonschema

from tests.cli import console
from tests.review.diff.test_scenario import SCHEMA
from tests.support.cases import cases

GRAPH = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: search, namespace: team-a}
spec:
  components:
  - name: Frontend
    type: frontend
    podTemplate: {spec: {containers: [{name: main, image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"}]}}
  - name: Engine
    type: worker
    replicas: 4
    podTemplate:
      spec:
        containers:
        - name: main
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-0.6B]
          resources: {limits: {nvidia.com/gpu: "1"}}
"""
WITHOUT_ENGINE = GRAPH.partition("  - name: Engine")[0]
ADAPTER = GRAPH.replace("    replicas: 4\n", "    replicas: 4\n    scalingAdapter: {}\n")
ROUTE = """\
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: search, namespace: team-a}
spec: {hostnames: [HOST], rules: [{backendRefs: [{name: search-frontend, port: 8000}]}]}
"""
INGRESS = """\
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: NAME, namespace: team-a}
spec: {rules: [{host: search.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}]}
"""
SERVICE = "---\napiVersion: v1\nkind: Service\nmetadata: {name: door, namespace: team-a}\nspec: {selector: {a: b}, ports: [{port: PORT}]}\n"
CLAIM = "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: models, namespace: team-a}\nspec: {volumeName: a}\n"
WEB = """\
---
apiVersion: apps/v1
kind: KIND
metadata: {name: web, namespace: team-a}
spec:
  REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1", resources: {limits: {nvidia.com/gpu: "1"}}}]}
"""
HPA = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: team-a}
spec: {minReplicas: 3, maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: KIND, name: web}}
"""


def web(kind, replicas):
    return WEB.replace("KIND", kind).replace("REPLICAS", f"replicas: {replicas}" if replicas else "minReadySeconds: 0")


RENAMED = (
    "2 services are deleted, with 4 GPUs: search/Frontend, search/Engine. 1 address goes: search-frontend.team-a:8000. "
    "1 address is new: retrieval-frontend.team-a:8000. 2 services are created: retrieval/Frontend, retrieval/Engine. "
    "4 GPUs are interrupted. 4 GPUs before, 8 at the peak, 4 after."
)
DROP = "1 workload drops to 1 replica until another writer scales it: "
ROWS = [
    ("a graph is renamed", GRAPH, GRAPH.replace("name: search", "name: retrieval"), RENAMED, {"deleted", "interrupted"}),
    (
        "a component with GPUs goes",
        GRAPH,
        WITHOUT_ENGINE,
        "1 service is deleted, with 4 GPUs: Engine. No other service restarts. 4 GPUs are interrupted. 4 GPUs before",
        {"deleted", "interrupted"},
    ),
    (
        "a component comes",
        WITHOUT_ENGINE,
        GRAPH,
        "No service restarts. 1 service is created: Engine. 0 GPUs before, 4 at the peak, 4 after.",
        set(),
    ),
    (
        "the graph moves to another namespace",
        GRAPH,
        GRAPH.replace("team-a", "team-b"),
        "2 services are deleted, with 4 GPUs: team-a/search/Frontend, team-a/search/Engine. 1 address goes: search-frontend.team-a:8000.",
        {"deleted", "interrupted"},
    ),
    (
        "a route has another host",
        GRAPH + ROUTE.replace("HOST", "a.example.com"),
        GRAPH + ROUTE.replace("HOST", "b.example.com"),
        "1 address goes: a.example.com. 1 address is new: b.example.com. No service restarts.",
        set(),
    ),
    (
        "an ingress with the same host has another name",
        GRAPH + INGRESS.replace("NAME", "one"),
        GRAPH + INGRESS.replace("NAME", "two"),
        "No service restarts. 4 GPUs before",
        {"deleted"},
    ),
    (
        "a Service has another port",
        GRAPH + SERVICE.replace("PORT", "80"),
        GRAPH + SERVICE.replace("PORT", "81"),
        "1 address goes: door.team-a:80. 1 address is new: door.team-a:81. No service restarts.",
        set(),
    ),
    ("a claim goes", GRAPH + CLAIM, GRAPH, "1 object is deleted: PersistentVolumeClaim models. No service restarts.", {"deleted"}),
    ("a scaling adapter is added", GRAPH, ADAPTER, f"{DROP}search/Engine (from 4). No other service restarts.", {"interrupted"}),
    (
        "an autoscaler takes the replicas of a Deployment",
        web("Deployment", 5),
        web("Deployment", None) + HPA.replace("KIND", "Deployment"),
        f"{DROP}Deployment web (from 5). 1 object is created: HorizontalPodAutoscaler web. 4 GPUs are interrupted.",
        {"interrupted"},
    ),
    (
        "an autoscaler takes the replicas of a StatefulSet",
        web("StatefulSet", 3),
        web("StatefulSet", None) + HPA.replace("KIND", "StatefulSet"),
        f"{DROP}StatefulSet web (from 3).",
        {"interrupted"},
    ),
    ("one replica stays one", web("Deployment", 1), web("Deployment", None), "No service restarts. 1 GPU before", set()),
    (
        "fewer replicas on purpose",
        web("Deployment", 5),
        web("Deployment", 2),
        "No service restarts. 5 GPUs before, 5 at the peak, 2 after.",
        set(),
    ),
]


@cases(("old", "new", "first", "conditions"), ROWS)
def test_the_first_line_of_each_format_says_what_goes_and_what_stops(old, new, first, conditions, tmp_path):
    """`--fail-on` holds for exactly these conditions of deletions and interruptions."""
    (tmp_path / "old.yaml").write_text(old)
    (tmp_path / "new.yaml").write_text(new)
    arguments = ("diff", "--old", tmp_path / "old.yaml", tmp_path / "new.yaml")
    text = console.run(*arguments).out
    assert text.splitlines()[0].startswith(first)
    markdown = console.run(*arguments, "--format", "markdown").out.splitlines()[2]
    assert markdown.replace("*", "").replace("\\", "").startswith(first)
    report = json.loads(console.run(*arguments, "--format", "json").out)
    jsonschema.validate(report, SCHEMA)
    assert report["forecast"]["headline"] == text.splitlines()[0]
    holding = {name for name in ("deleted", "interrupted", "restarts") if console.run(*arguments, "--fail-on", name).code == 3}
    assert holding == conditions


def test_a_program_reads_deleted_and_new_services_and_addresses(tmp_path):
    (tmp_path / "old.yaml").write_text(GRAPH)
    (tmp_path / "new.yaml").write_text(GRAPH.replace("name: search", "name: retrieval"))
    forecast = json.loads(console.run("diff", "--format", "json", "--old", tmp_path / "old.yaml", tmp_path / "new.yaml").out)["forecast"]
    services = {name: [f"{service['graph']}/{service['name']}" for service in forecast[name]] for name in ("deleted", "created")}
    assert services == {"deleted": ["search/Frontend", "search/Engine"], "created": ["retrieval/Frontend", "retrieval/Engine"]}
    assert forecast["addresses"] == {"lost": ["search-frontend.team-a:8000"], "added": ["retrieval-frontend.team-a:8000"]}
    assert forecast["gpus"]["interrupted"] == 4
