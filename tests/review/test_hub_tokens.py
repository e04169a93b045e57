"""Tokens in plain text, and Secrets whose token Hugging Face does not read."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.review import hub_tokens
from tests.support import beta, given
from tests.support.cases import cases

TOKEN = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"


def variable(value: Any, name: str = "HF_TOKEN") -> list[Any]:
    return [{"name": name, "value": value}]


def job(env: Any) -> Any:
    container = {"name": "c", "image": "a:1", "env": env}
    return given.item("Job", "load", api="batch/v1", spec={"template": {"spec": {"containers": [container]}}})


WRITTEN = [
    ("a container", beta.graph(beta.component("Worker", main={"env": variable(TOKEN)})), True),
    ("an init container", beta.graph(beta.component("Worker", pod={"initContainers": [{"name": "i", "env": variable(TOKEN)}]})), True),
    ("a graph", beta.graph(beta.component("Worker"), env=variable(TOKEN)), True),
    ("a service of v1alpha1", given.graph({"W": given.service("worker", envs=variable(TOKEN))}), True),
    ("a Job", job(variable(TOKEN)), True),
    ("a token of NVIDIA", job(variable("nvapi-" + TOKEN * 2, "NGC_API_KEY")), True),
    ("a token of GitHub", job(variable("ghp_" + TOKEN[3:] + "AB", "PASSWORD")), True),
    ("a placeholder", job(variable("hf_" + "x" * 34)), False),
    ("a short text", job(variable("hf_transfer")), False),
    ("another variable", job(variable("$(TOKEN)")), False),
    ("a number", job(variable(3)), False),
    ("entries of any type", job([3, "a", {"name": 4}]), False),
]


@cases(("resource", "is_found"), WRITTEN)
def test_a_token_in_plain_text(resource, is_found):
    """The message has no part of the token, and the finding is at the name of the variable."""
    found = [*hub_tokens.check([resource], Config())]
    assert [(finding.code, finding.severity, finding.path[-1]) for finding in found] == [("DYN750", "warning", "name")] * is_found
    assert not any(TOKEN[3:12] in finding.message for finding in found)


def reader(name: str = "hf-token", kind: str = "worker", **main: Any) -> Any:
    return beta.graph(beta.component("Worker", kind, main={"envFrom": [{"secretRef": {"name": name}}], **main}))


MAPPED = [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token", "key": "token"}}}]
SECRETS = [
    ("a short name", reader(), {"token": "a"}, "token"),
    ("a name without the Hub", reader(), {"HUGGINGFACE_TOKEN": "a", "OTHER": "b"}, "HUGGINGFACE_TOKEN"),
    ("lower case", reader(), {"hf_token": "a"}, "hf_token"),
    ("a service of v1alpha1", given.graph({"W": given.service("worker", envFromSecret="hf-token")}), {"token": "a"}, "token"),
    ("the right name", reader(), {"HF_TOKEN": "a", "token": "b"}, ""),
    ("the older name", reader(), {"HUGGING_FACE_HUB_TOKEN": "a"}, ""),
    ("a key that a variable reads", reader(env=MAPPED), {"token": "a"}, ""),
    ("a Secret of another service", reader("s3"), {"token": "a"}, ""),
    ("a frontend", reader(kind="frontend"), {"token": "a"}, ""),
    ("several tokens", reader(), {"token": "a", "HF_KEY": "b"}, ""),
    ("other keys", reader(), {"user": "a"}, ""),
    ("no keys", reader(), None, ""),
]


@cases(("graph", "keys", "wrong"), SECRETS)
def test_a_secret_that_hugging_face_does_not_read(graph, keys, wrong):
    secrets = [given.item("Secret", name, stringData=keys) for name in ("hf-token", "s3")]
    found = [
        (finding.code, finding.path, finding.message.endswith("; write HF_TOKEN"))
        for finding in hub_tokens.check([graph, *secrets], Config())
    ]
    assert found == [("DYN751", ("stringData", wrong), True)] * bool(wrong)


ENCODED = [
    ("a token in base64", {"HF_TOKEN": "aGZfcmVwbGFjZV9tZQ=="}, "stringData", 1),
    ("the same among data", {"HF_TOKEN": "aGZfcmVwbGFjZV9tZQ=="}, "data", 0),
    ("a placeholder", {"HF_TOKEN": "hf_replace_me"}, "stringData", 0),
    ("a number", {"HF_TOKEN": 3}, "stringData", 0),
]


@cases(("texts", "field", "count"), ENCODED)
def test_a_token_that_is_encoded_twice(texts, field, count):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hf-token"}, field: texts}
    findings = [*hub_tokens.check([secret], Config())]
    assert [finding.code for finding in findings] == ["DYN767"] * count
    assert not any("aGZf" in finding.message for finding in findings)
