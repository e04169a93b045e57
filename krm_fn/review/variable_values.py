"""Warns of variables in the pods of a graph whose value does not say what their author meant.

A variable without `value` and `valueFrom` is the empty text. Kubernetes replaces `$(NAME)` alone in a value, so a program gets `${NAME}` as
it is. CUDA counts the GPUs of a container from 0 and ignores the first number that it does not have and all behind it (CUDA C programming
guide, `CUDA_VISIBLE_DEVICES`; the device plugin of NVIDIA gives a container its own GPUs alone).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, text
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import ownership
from krm_fn.review import written_pods
from krm_fn.review.arguments import vllm_switches

_LISTS: tuple[Path, ...] = tuple((*path, name) for path in written_pods.COMPONENTS for name in ("env", "envs"))
_OF_GRAPH: tuple[Path, ...] = tuple((*path, EVERY) for path in _LISTS)
_OF_CONTAINERS: tuple[Path, ...] = tuple((*path, "env", EVERY) for path in written_pods.CONTAINERS)
_BRACED = re.compile(r"\$\{([A-Za-z_]\w*)\}", re.ASCII)
_EXPANDS_ITSELF = re.compile(r"(?:HF|HUGGING_?FACE|XDG|TRANSFORMERS)_")
"""Variables whose reader replaces variables itself: `os.path.expandvars` in `huggingface_hub/constants.py`."""
_NUMBERS = re.compile(r"\d+(?:,\d+)*", re.ASCII)
_VISIBLE = "CUDA_VISIBLE_DEVICES"


def check(resources: Iterable[Resource]) -> Iterator[Result]:
    """Yields the warnings about each graph and component that no render has made. Fields may have wrong types."""
    for resource in resources:
        if dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            for path, entry in _variables(resource):
                yield from _variable(resource, path, entry)
            yield from _not_replaced(resource)
            yield from _hidden_gpus(resource)


def _variables(resource: Resource) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields the path and the fields of each entry of a list of variables."""
    entries = [*paths.find(resource, _OF_GRAPH)]
    for path, pod in written_pods.of(resource):
        entries += [((*path, *inner), entry) for inner, entry in paths.find(pod, _OF_CONTAINERS)]
    yield from ((path, entry) for path, entry in entries if isinstance(entry, dict))


def _variable(resource: Resource, path: Path, entry: dict[str, Any]) -> Iterator[Result]:
    name = text(entry.get("name"))
    if name and [*entry] == ["name"]:
        message = f"{name} has no value, so the program gets an empty text; add value, or remove the variable"
        yield results.warning(codes.VARIABLE_WITHOUT_VALUE, message, results.ref(resource), (*path, "name"))
    value = text(entry.get("value"))
    if right := vllm_switches.number_of(name, value):
        message = f'vLLM reads {name} as a number, and {value} is not one, so the worker ends; write "{right}"'
        yield results.warning(codes.SWITCH_IS_NOT_A_NUMBER, message, results.ref(resource), (*path, "value"), current=value, proposed=right)


def _not_replaced(resource: Resource) -> Iterator[Result]:
    """Finds variables of a shell in values. A graph with such variables in other fields is a template, whose deployer replaces them."""
    braced = [
        (path, text(entry.get("name")), match[1])
        for path, entry in _variables(resource)
        if (match := _BRACED.search(text(entry.get("value")))) and not _EXPANDS_ITSELF.match(text(entry.get("name")))
    ]
    for path, name, inner in braced if braced and not _is_template(resource) else ():
        problem = f"Kubernetes replaces $({inner}) and not ${{{inner}}}, so {name} has this text as it is"
        fix = f"write $({inner}), and set {inner} in an entry above, or write the value itself"
        yield results.warning(codes.VARIABLE_NOT_REPLACED, f"{problem}; {fix}", results.ref(resource), (*path, "value"))


def _is_template(value: Any) -> bool:
    """True if a text outside of variables, commands and arguments has a variable of a shell."""
    if isinstance(value, dict):
        return any(_is_template(inner) for key, inner in value.items() if key not in ("env", "envs", "command", "args"))
    return any(map(_is_template, value)) if isinstance(value, list) else isinstance(value, str) and bool(_BRACED.search(value))


def _hidden_gpus(resource: Resource) -> Iterator[Result]:
    """Finds numbers of GPUs that the container does not have."""
    for component_path, component in paths.find(resource, written_pods.COMPONENTS):
        for pod_path in (("extraPodSpec",), ("podTemplate", "spec")):
            pod = paths.at(component, pod_path)
            for inner, container in written_pods.containers(pod) if isinstance(pod, dict) else ():
                is_main = inner == ("mainContainer",) or container.get("name") == "main"
                owned = [((*component_path, field), mapping(component).get(field)) for field in ("env", "envs")] if is_main else []
                lists = [*owned, ((*component_path, *pod_path, *inner, "env"), container.get("env"))]
                gpus = _gpus(container) or (_gpus(mapping(component)) if is_main else 0)
                for path, variables in lists:
                    yield from _of_list(resource, path, variables, gpus)


def _of_list(resource: Resource, path: Path, variables: Any, gpus: int) -> Iterator[Result]:
    for index, entry in enumerate(variables if isinstance(variables, list) else ()):
        value = text(mapping(entry).get("value"))
        if gpus and mapping(entry).get("name") == _VISIBLE and _NUMBERS.fullmatch(value):
            highest = max(map(int, value.split(",")))
            if highest >= gpus:
                problem = f"the container has {gpus} GPU{'s' * (gpus > 1)}, which CUDA counts from 0, so there is no GPU {highest}"
                message = f"{problem}; remove {_VISIBLE}, because the container sees only its own GPUs"
                yield results.warning(codes.HIDDEN_GPUS, message, results.ref(resource), (*path, index, "value"))


def _gpus(holder: Any) -> int:
    """Returns the whole number of GPUs in the limits of a container or a service; 0 if it is not written or not known."""
    limits = mapping(mapping(holder).get("resources"), "limits")
    amount = f"{limits.get('nvidia.com/gpu') or limits.get('gpu') or ''}"
    return int(amount) if amount.isdecimal() and len(amount) < 4 else 0
