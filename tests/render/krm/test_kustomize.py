"""A real kustomize build passes resources through the function unchanged."""

from __future__ import annotations

import subprocess

import yaml

from krm_fn.base.yaml import reader
from tests.support import builds, golden

FUNCTION = {
    "apiVersion": "dynamo.krm-fn.io/v1alpha1",
    "kind": "DynamoRender",
    "metadata": {
        "name": "render",
        "annotations": {"config.kubernetes.io/function": yaml.safe_dump({"exec": {"path": str(builds.COMMAND)}})},
    },
}


def test_the_string_that_looks_like_a_merge_key_passes(tmp_path, kustomize):
    """kustomize passes the value `"<<"` to functions as `!!merge <<`."""
    written = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "<<"}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(written))
    (tmp_path / "function.yaml").write_text(yaml.safe_dump(FUNCTION))
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({"resources": ["config.yaml"], "transformers": ["function.yaml"]}))
    command = ["kustomize", "build", *builds.FLAGS, str(tmp_path)]
    built = subprocess.run(command, env=golden.environment("kustomize"), capture_output=True, text=True, check=True, timeout=300).stdout
    documents, found = reader.read(built)  # PyYAML cannot read the value << without quotes
    assert ([document.value for document in documents], found) == ([written], [])
