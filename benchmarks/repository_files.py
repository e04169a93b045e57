"""A repository of any number of graphs for measurements and tests: overlays of kustomize, plain files, and values of Helm."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks import inputs
from krm_fn.base.yaml import emitter
from krm_fn.render import dynamo_api
from tests.repository.clones import FUNCTION, GIT

TEAM = 20
"""The number of graphs of a team. It has two graphs in a file, two Kustomizations and one namespace."""

_FUNCTION = FUNCTION + 'spec: {natsAddress: "nats://nats.dynamo:4222"}\n'
_NIXL = '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'
_FLAGS = ('"--is-prefill-worker"', f'"--disaggregation-mode=prefill", {json.dumps(f"--kv-transfer-config={_NIXL}")}')
"""The flag of the example that its images no longer have, and the flags in its place, as items of JSON."""
_PATCH = "- op: add\n  path: /metadata/labels\n  value: {tier: gold}\n"
_RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: chat, namespace: {team}}}
spec:
  interval: 1h
  chart: {{spec: {{chart: chat, sourceRef: {{kind: HelmRepository, name: charts}}}}}}
  values:
    image: {{repository: nvcr.io/nvidia/ai-dynamo/vllm-runtime, tag: 1.5.1}}
"""


def files(count: int) -> dict[str, str]:
    """Returns the texts of a repository with `count` graphs by their paths. `count` is a multiple of the graphs of a team."""
    texts = {"plain/render.yaml": _FUNCTION}
    for number in range(count // TEAM):
        texts |= _team(f"team-{number:03}")
    return texts


def write(folder: Path, count: int) -> Path:
    """Writes and commits a repository with `count` graphs in a new folder."""
    for name, text in files(count).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for command in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "Graphs")):
        subprocess.run([*GIT, *command], cwd=folder, check=True)
    return folder


def _team(team: str) -> dict[str, str]:
    """Returns the files of a team: a base with an overlay, a Kustomization with one file, plain files, and a release of Helm."""
    texts = list(_graphs(team))
    base = {f"graphs-{number}.yaml": text for number, text in enumerate(texts[:6])}
    plain = {f"plain/{team}/graphs-{number}.yaml": text for number, text in enumerate(texts[7:])}
    return {
        **{f"apps/{team}/base/{name}": text for name, text in base.items()},
        f"apps/{team}/base/kustomization.yaml": f"resources: [{', '.join(base)}]\n",
        f"apps/{team}/prod/kustomization.yaml": _overlay(team),
        f"apps/{team}/prod/label.yaml": _PATCH,
        f"apps/{team}/prod/render.yaml": _FUNCTION,
        f"apps/{team}/single/graphs.yaml": texts[6],
        f"apps/{team}/single/kustomization.yaml": f"namespace: {team}-single\nresources: [graphs.yaml]\ntransformers: [render.yaml]\n",
        f"apps/{team}/single/render.yaml": _FUNCTION,
        **plain,
        f"releases/{team}.yaml": _RELEASE.format(team=team),
    }


def _overlay(team: str) -> str:
    lists = "resources: [../base]\ntransformers: [render.yaml]\npatches:\n  - path: label.yaml\n"
    return f"namespace: {team}\n{lists}    target: {{kind: DynamoGraphDeployment}}\n"


def _graphs(team: str) -> Iterator[str]:
    """Yields the texts of the files of a team: a graph of each version of the API."""
    graphs = {version: inputs.graph(version) for version in (dynamo_api.ALPHA1, dynamo_api.BETA1)}
    for number in range(TEAM // 2):
        named = []
        for letter, graph in zip("ab", graphs.values(), strict=True):
            metadata = {**graph["metadata"], "name": f"{team}-{number}{letter}", "namespace": f"{team}-plain"}
            named.append({**graph, "metadata": metadata})
        yield "---\n".join(emitter.text(json.loads(json.dumps(graph).replace(*_FLAGS))) for graph in named)
