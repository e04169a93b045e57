"""The number of nodes that the parallel sizes of an engine need, for the fix of a `nodeCount` that the operator refuses."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from math import ceil, prod
from typing import Any

from krm_fn.base import codes
from krm_fn.base.results import Ref, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects
from krm_fn.render import engines

_SIZE = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)
_CODE, _FIELD = codes.NUMBER_OUT_OF_RANGE, ("multinode", "nodeCount")


def with_nodes(finding: Result, resources: Mapping[Ref, Resource]) -> Result:
    """Returns the finding about a number of nodes with the number that the sizes need, if one node has too few GPUs for them.

    `resources` are those of the input. Other findings stay as they are.
    """
    if finding.code != _CODE or finding.path[-2:] != _FIELD or not finding.ref or finding.ref not in resources:
        return finding
    component = paths.at(resources[finding.ref], finding.path[:-2])
    needed = _nodes(component) if isinstance(component, dict) else 0
    if needed <= 1:
        return finding
    problem = finding.message.partition("; ")[0]
    return finding._replace(
        message=f"{problem}; write {needed}, because the parallel sizes need the GPUs of {needed} nodes", proposed=needed
    )


def _nodes(component: dict[str, Any]) -> int:
    """Returns the nodes for the sizes in the command line of a component; 0 if its GPUs are not known. Fields may have wrong types."""
    mains = [mapping(component, "extraPodSpec", "mainContainer"), *objects(mapping(component, "podTemplate", "spec").get("containers"))[:1]]
    amounts = [amount for holder in (component, *mains) for amount in _gpus(holder)]
    words = [part for main in mains for field in ("command", "args") for word in _as_list(main.get(field)) for part in f"{word}".split()]
    if not amounts:
        return 0
    return max(ceil(_size(words, name) / amounts[0]) for name in engines.names())


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _gpus(holder: dict[str, Any]) -> list[int]:
    limits = mapping(holder, "resources", "limits")
    return [int(f"{limits[name]}") for name in ("gpu", "nvidia.com/gpu") if _SIZE.fullmatch(f"{limits.get(name)}")]


def _size(words: Sequence[str], engine: str) -> int:
    """Returns the product of the sizes in a command line, by the flags of an engine.

    >>> _size(["--tensor-parallel-size", "8", "--pipeline-parallel-size=2"], "vllm"), _size(["--tp", "16"], "sglang"), _size([], "vllm")
    (16, 16, 1)
    """
    flags = engines.get(engine).parallel_flags
    return prod(_number(words, names) for names in flags.parallel) if flags else 1


def _number(words: Sequence[str], names: tuple[str, ...]) -> int:
    """Returns the number behind a flag, or behind its `=`; 1 without one."""
    numbers = [value for name, value in itertools.pairwise((*words, "")) if name in names]
    numbers += [word.partition("=")[2] for word in words if word.partition("=")[0] in names]
    return next((int(number) for number in reversed(numbers) if _SIZE.fullmatch(number)), 1)
