"""The resource of a new graph in v1beta1, and its text with the comments that help its author."""

from __future__ import annotations

from typing import Any

from krm_fn.base import report
from krm_fn.base.yaml import emitter
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, engines
from krm_fn.render.engines import NewWorker
from krm_fn.render.kinds import dynamo_images
from krm_fn.repository.new_graphs.graph_choices import GraphChoices

SCHEMA = "dynamo.schema.json"
"""The name of the file for `krm-fn schema`, as the pages of the documentation have it."""
TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
_EXAMPLE = "hf-token"
_TOKEN_COMMENT = "If the model needs a token of Hugging Face, create a Secret with the key HF_TOKEN, and name it here:"  # noqa: S105
_MODES = {"Prefill": "prefill", "Decode": "decode"}


def text(choices: GraphChoices, schema: str, *, namespaced: bool) -> str:
    """Returns the file of the graph. `schema` is the path of the schema for editors. A graph that is not `namespaced` is in an overlay."""
    graph = resource(choices)
    if not namespaced:
        del graph["metadata"]["namespace"]
    lines = emitter.text(graph)
    if not choices.token_secret:
        hint = [_TOKEN_COMMENT, *emitter.text({"env": _token(_EXAMPLE)}).splitlines()]
        lines = above(lines, "  components:", hint)
    if choices.nodes > 1:
        lines = above(
            lines,
            "    multinode:",
            [f"Each worker has {choices.nodes} pods, with {report.pluralize(choices.gpus, 'GPU')} each."],
            every=True,
        )
    return f"# yaml-language-server: $schema={schema}\n{lines}"


def above(text: str, line: str, comment: list[str], *, every: bool = False) -> str:
    """Returns a text with a comment above the first, or every, occurrence of a line. The comment has the same indentation."""
    indent = " " * (len(line) - len(line.lstrip()))
    return text.replace(f"\n{line}", "".join(f"\n{indent}# {words}" for words in comment) + f"\n{line}", -1 if every else 1)


def resource(choices: GraphChoices) -> Resource:
    """Returns the graph: a frontend, and a worker or two that share the work."""
    spec: dict[str, Any] = {"backendFramework": choices.engine}
    if choices.token_secret:
        spec["env"] = _token(choices.token_secret)  # of every component: the frontend reads the tokenizer of the model
    workers = [_worker(choices, name, mode) for name, mode in (_MODES if choices.disaggregated else {"Worker": ""}).items()]
    spec["components"] = [{"name": "Frontend", "type": "frontend", "replicas": 1, "podTemplate": _template(choices, {})}, *workers]
    metadata = {"name": choices.name, "namespace": choices.namespace}
    return {"apiVersion": f"{dynamo_api.GROUP}/{dynamo_api.BETA1}", "kind": dynamo_api.GRAPH, "metadata": metadata, "spec": spec}


def _token(secret: str) -> list[dict[str, Any]]:
    return [{"name": TOKEN, "valueFrom": {"secretKeyRef": {"name": secret, "key": TOKEN}}}]


def _worker(choices: GraphChoices, name: str, mode: Any) -> dict[str, Any]:
    engine = engines.get(choices.engine)
    container = {
        "command": ["python3", "-m", f"dynamo.{engine.name}"],
        "args": engine.arguments(NewWorker(choices.model, choices.gpus, choices.nodes, mode)),
        "resources": {"limits": {"nvidia.com/gpu": str(choices.gpus)}},
    }
    multinode = {"multinode": {"nodeCount": choices.nodes}} if choices.nodes > 1 else {}
    template = _template(choices, container)
    return {"name": name, "type": mode or "worker", "replicas": choices.replicas, **multinode, "podTemplate": template}


def _template(choices: GraphChoices, container: dict[str, Any]) -> dict[str, Any]:
    image = f"{dynamo_images.REGISTRY}/{engines.get(choices.engine).runtime_image}:{choices.release}"
    return {"spec": {"containers": [{"name": "main", "image": image, **container}]}}
