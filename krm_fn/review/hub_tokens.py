"""Warns of tokens in plain text, and of Secrets whose token Hugging Face does not read.

A token in a variable is in the repository, and everybody who reads it can use it. The Hub reads `HF_TOKEN` and the older
`HUGGING_FACE_HUB_TOKEN` (`huggingface_hub/utils/_auth.py`), so all keys of a Secret as variables give it none with another name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import Reference, name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import text
from krm_fn.render import dynamo_api, dynamo_references
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import pods, written_pods
from krm_fn.review.arguments.variable_rules import HUB_TOKENS

_TOKEN = re.compile(r"hf_[A-Za-z0-9]{30,}|nvapi-[\w-]{40,}|gh[opsu]_[A-Za-z0-9]{36,}|glpat-[\w-]{20,}|AKIA[A-Z0-9]{16}", re.ASCII)
"""Tokens of Hugging Face, NVIDIA, GitHub, GitLab and AWS, each with all its characters."""
_IN_BASE64 = re.compile(r"aGZf[A-Za-z0-9+/]{8,}={0,2}", re.ASCII)
"""A text that begins with `hf_` in base64, as tokens of Hugging Face and their placeholders do."""
_LEAST_LETTERS = 8
"""The least number of different characters of a token. A placeholder such as `hf_xxxxx…` has fewer."""
_ALIKE = re.compile(r"(?:(?:hf|hugging_?face)_?(?:hub_?)?)?(?:api_?)?(?:token|key)", re.IGNORECASE | re.ASCII)
_OF_HUB = re.compile(r"(?:^|-)(?:hf|hugging-?face)(?:-|$)")
_DATA = ("stringData", "data")
_WHOLE = frozenset(("envFrom", "envFromSecret"))
_COMPONENT = 3
_VARIABLES: tuple[Path, ...] = tuple((*path, field, EVERY) for path in written_pods.COMPONENTS for field in ("env", "envs"))
_OF_CONTAINER: tuple[Path, ...] = (("env", EVERY),)
_OF_TEMPLATE: tuple[Path, ...] = tuple((kind, EVERY, "env", EVERY) for kind in ("containers", "initContainers"))


def check(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields the warnings about resources that no render has made. Fields may have wrong types."""
    for resource in resources:
        if not ownership.is_marked(resource) and not ownership.is_generated(resource):
            for path, entry in _variables(resource):
                value = text(entry.get("value"))
                if _TOKEN.fullmatch(value) and len({*value}) >= _LEAST_LETTERS:
                    name = text(entry.get("name"))
                    problem = f"{name} has a token in plain text, so everybody who reads this file can use it"
                    fix = f"write valueFrom: {{secretKeyRef: {{name: …, key: {name}}}}} with a Secret, and revoke the token"
                    yield results.warning(codes.TOKEN_IN_PLAIN_TEXT, f"{problem}; {fix}", results.ref(resource), (*path, "name"))
        yield from _encoded_twice(resource)
    yield from _secrets(resources, cluster.default_namespace(config))


def _variables(resource: Resource) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields the path and the entry of each variable of a resource."""
    yield from ((path, entry) for path, entry in _entries(resource) if isinstance(entry, dict))


def _entries(resource: Resource) -> Iterator[tuple[Path, Any]]:
    if dynamo_api.is_dynamo(resource):
        yield from paths.find(resource, _VARIABLES)
        for path, pod in written_pods.of(resource):
            for inner, container in written_pods.containers(pod):
                yield from (((*path, *inner, *at), entry) for at, entry in paths.find(container, _OF_CONTAINER))
    else:
        for template in pods.of(resource):
            yield from (((*template.path, *at), entry) for at, entry in paths.find(template.spec, _OF_TEMPLATE))


def _encoded_twice(secret: Resource) -> Iterator[Result]:
    """Finds tokens of the Hub in base64 among the texts of a Secret: an API server encodes `stringData` once more."""
    texts = secret.get("stringData") if (secret.get("apiVersion"), secret.get("kind")) == ("v1", "Secret") else None
    for name, value in texts.items() if isinstance(texts, dict) else ():
        encoded = text(value).strip()
        if _IN_BASE64.fullmatch(encoded):
            problem = f"{name} is a token in base64, and an API server encodes the texts of stringData once more"
            fix = f"move {name} to data, or write the token itself"
            yield results.warning(codes.TOKEN_ENCODED_TWICE, f"{problem}; {fix}", results.ref(secret), ("stringData", name))


def _secrets(resources: Sequence[Resource], default: str) -> Iterator[Result]:
    """Finds Secrets for the Hub that workers read as a whole, and whose only token has another name than the Hub reads."""
    secrets = {key: resource for resource in resources if ((key := identity.key(resource, default)).group, key.kind) == name_fields.SECRET}
    whole: dict[ObjectKey, str] = {}
    by_key: set[tuple[ObjectKey, str]] = set()
    for graph in resources if secrets else ():
        if dynamo_api.is_dynamo(graph) and not ownership.is_generated(graph):
            for reference, key in _references(graph, default):
                by_key |= {(key, name) for name in reference.keys}
                component = paths.at(graph, reference.path[:_COMPONENT])
                if written_pods.is_worker(component) and not _WHOLE.isdisjoint(reference.path):
                    whole.setdefault(key, results.ref(graph).name)
    for key, graph_name in whole.items():
        fields = [(field, name) for field in _DATA for name in _names(secrets.get(key, {}).get(field))]
        tokens = [(field, name) for field, name in fields if _ALIKE.fullmatch(name) and (key, name) not in by_key]
        if len(tokens) == 1 and _OF_HUB.search(key.name) and not any(name in HUB_TOKENS for _, name in fields):
            problem = (
                f"graph {graph_name} reads all keys of this Secret as variables, and Hugging Face reads {HUB_TOKENS[0]}, not {tokens[0][1]}"
            )
            yield results.warning(codes.SECRET_WITHOUT_HUB_TOKEN, f"{problem}; write {HUB_TOKENS[0]}", results.ref(secrets[key]), tokens[0])


def _references(graph: Resource, default: str) -> Iterator[tuple[Reference, ObjectKey]]:
    namespace = identity.key(graph, default).namespace
    for reference in dynamo_references.of(graph):
        if (reference.group, reference.kind) == name_fields.SECRET:
            yield reference, ObjectKey(reference.group, reference.kind, reference.namespace or namespace, reference.name)


def _names(data: object) -> Iterable[str]:
    return map(str, data) if isinstance(data, dict) else ()
