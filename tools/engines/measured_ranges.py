"""Measures the numbers that a program refuses after its parsers have accepted them.

vLLM copies most of its flags into fields of configuration classes, which have bounds. Dynamo's frontend gives its flags to a class of the
compiled runtime, whose integers have a size.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from engines.real_parsers import RealProgram

_CLASSES = ("ModelConfig", "LoadConfig", "ParallelConfig", "CacheConfig", "SchedulerConfig", "ObservabilityConfig")
"""The classes that `EngineArgs.create_engine_config` of vLLM makes for each model. Others, such as LoRAConfig, need a flag."""
_BOUNDS = {"gt": "above", "ge": "least", "lt": "below", "le": "most"}
_OF_BOUNDS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
_STEP = 1
_LARGEST_PORT = 65535


class Range:
    """The bounds of a flag, as `krm_fn/review/arguments/value_ranges.py` reads them, and the code that refuses other numbers.

    `refusal` returns the message about a number; empty for a right one.
    """

    def __init__(self, bounds: dict[str, float], refusal: Callable[[Any], str]) -> None:
        self.bounds = bounds
        self.refusal = refusal


def ranges(program: RealProgram) -> dict[str, Range]:
    """The ranges of the flags of a program, by the name of the variable in which its parser stores the flag.

    Raises ValueError if a class declares a bound and does not refuse the number beyond it.
    """
    find = {"dynamo.vllm": _of_vllm, "dynamo.frontend": _of_frontend}.get(program.name)
    with program.quiet():
        return find(program) if find else {}


def _of_vllm(program: RealProgram) -> dict[str, Range]:
    """The bounds of the fields of vLLM's classes. The group of a flag in the help text has the name of its class."""
    config = importlib.import_module("vllm.config")
    source = inspect.getsource(importlib.import_module("vllm.engine.arg_utils").EngineArgs)
    measured = {}
    for call in program.stages:
        for group in call.parser._action_groups:
            cls = getattr(config, group.title, None) if group.title in _CLASSES else None
            for action in group._group_actions if cls else ():
                is_copied = re.search(rf"\b{action.dest}=self\.{action.dest}\b", source)
                bounds = _declared(cls, action) if is_copied else {}
                if bounds:
                    measured[action.dest] = _checked(action.dest, Range(bounds, _refusal_of_class(cls, action.dest)))
    return measured


def _declared(cls: Any, action: argparse.Action) -> dict[str, float]:
    field = cls.__pydantic_fields__.get(action.dest)
    constraints = field.metadata if field else ()
    bounds = {key: getattr(constraint, name) for constraint in constraints for name, key in _BOUNDS.items() if hasattr(constraint, name)}
    return {key: int(value) if value == int(value) else value for key, value in sorted(bounds.items())}


def _refusal_of_class(cls: Any, field: str) -> Callable[[Any], str]:
    def refusal(number: Any) -> str:
        try:
            cls(**{field: number})
        except Exception as error:
            entries = error.errors(include_url=False, include_input=False) if hasattr(error, "errors") else ()
            refusals = [entry for entry in entries if entry["loc"] == (field,) and entry["type"] in _OF_BOUNDS]
            return f"{refusals[0]['msg']} [type={refusals[0]['type']}]" if refusals else ""
        return ""

    return refusal


def _checked(name: str, measured: Range) -> Range:
    """Compares declared bounds with what the class refuses."""
    beyond = {"above": 0, "least": -_STEP, "below": 0, "most": _STEP}
    for bound, value in measured.bounds.items():
        if not measured.refusal(value + beyond[bound]) or (bound in ("least", "most") and measured.refusal(value)):
            raise ValueError(f"{name}: the class does not refuse numbers beyond {bound} {value}")
    return measured


def _of_frontend(program: RealProgram) -> dict[str, Range]:
    """The sizes of the integers in `EntrypointArgs` of the runtime, which `dynamo.frontend.main` makes from its flags."""
    runtime: Any = importlib.import_module("dynamo._core")
    parameters = inspect.signature(runtime.EntrypointArgs).parameters
    measured = {}
    for call in program.stages:
        for action in call.parser._actions:
            refusal = _refusal_of_runtime(runtime, action.dest)
            if action.dest in parameters and action.type is int and refusal(-1):
                most = {"most": _LARGEST_PORT} if refusal(_LARGEST_PORT + 1) and not refusal(_LARGEST_PORT) else {}
                measured[action.dest] = Range({"least": 0, **most}, refusal)
    return measured


def _refusal_of_runtime(runtime: Any, name: str) -> Callable[[Any], str]:
    def refusal(number: Any) -> str:
        try:
            runtime.EntrypointArgs(runtime.EngineType.Dynamic, **{name: number})
        except OverflowError as error:
            return f"{error} [type=OverflowError]"
        return ""

    return refusal
