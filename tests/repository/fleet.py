"""A fleet as a platform team has it: four clusters, two teams in each, and one base for each graph. Names have a prefix of the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.repository.clones import FUNCTION

if TYPE_CHECKING:
    from tests.repository.clones import Clone

CLUSTERS = ("dev", "staging", "prod-eu", "prod-us")
IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"
GRAPH = f"""\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {{name: NAME}}
spec:
  components:
  - name: Frontend
    type: frontend
    podTemplate: {{spec: {{containers: [{{name: main, image: "{IMAGE}"}}]}}}}
  - name: Engine
    type: worker
    replicas: 4
    podTemplate:
      spec:
        containers:
        - name: main
          image: {IMAGE}
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-0.6B]
          envFrom: [{{secretRef: {{name: hf-token}}}}]
          resources: {{limits: {{nvidia.com/gpu: "1"}}}}
"""


def write(clone: Clone, clusters: tuple[str, ...] = CLUSTERS) -> Clone:
    """Write the repository, and commit it. `prod-eu` has one replica more of `chat`."""
    for name in ("chat", "search", "batch"):
        clone.put({"graph.yaml": GRAPH.replace("NAME", name), "kustomization.yaml": "resources: [graph.yaml]\n"}, f"apps/{name}")
    for cluster in clusters:
        apps = {"team-a": ("chat", "search"), "team-b": ("batch",)}
        for team, names in apps.items():
            folder = f"clusters/{cluster}/apps/{team}"
            resources = ", ".join(f"../../../../apps/{name}" for name in names)
            text = f"namespace: {team}\nnamePrefix: {cluster}-\nresources: [{resources}]\ntransformers: [render.yaml]\n"
            if cluster == "prod-eu" and team == "team-a":
                patch = '[{"op": "replace", "path": "/spec/components/1/replicas", "value": 5}]'
                text += f"patches: [{{target: {{kind: DynamoGraphDeployment, name: chat}}, patch: '{patch}'}}]\n"
            clone.put({"kustomization.yaml": text, "render.yaml": FUNCTION}, folder)
    return clone.commit()
