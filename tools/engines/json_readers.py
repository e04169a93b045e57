"""The programs' own readers of flags whose values are JSON documents: most are the types of their parsers, some run after the parsers.

A reader of pydantic says which field it refuses. Any other reader says only that it refuses a document.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import functools
import importlib
import inspect
import json
import traceback
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engines.real_parsers import RealProgram

_DEPTH = 4
"""The deepest function within a function that is searched for the class of a document."""


class Refusal(NamedTuple):
    """A refusal of a document. `path` leads to the field, and is None if the reader does not name one."""

    path: tuple[str | int, ...] | None
    kind: str
    message: str


class Reader(NamedTuple):
    """Reads the text of a flag. `fields` is the class that declares the fields of the document; None without one.

    `is_after` is true if the program calls `read` after its parsers. `is_whole` is false if the program adds values that only it has.
    `choices` are the values of fields whose declared type is wider.
    """

    name: str
    read: Callable[[str], Any]
    fields: type | None
    is_after: bool = False
    is_whole: bool = True
    choices: Mapping[str, Sequence[str]] = types.MappingProxyType({})

    def refusals(self, text: str) -> list[Refusal]:
        """All refusals of a text. Other errors come from packages that are not installed here, and are none.

        Argparse also takes a TypeError of a type for a refusal.
        """
        try:
            self.read(text)
        except TypeError as error:
            return [] if self.is_after else [Refusal(None, "TypeError", str(error))]
        except Exception as error:
            return _refusals(error)
        return []


def readers(program: RealProgram) -> dict[str, Reader]:
    """The readers of the documents of one program, by the name of the flag."""
    found: dict[str, Reader] = {}
    for call in program.stages:
        for action in call.parser._actions:
            long = next((option for option in action.option_strings if option.startswith("--")), "")
            cls = _declared(long) if long in _DECLARED else _class_of(action.type)
            if cls is not None and callable(action.type):
                found.setdefault(long, Reader(cls.__name__, action.type, cls))
    for flag, make in _AFTER.get(program.name, {}).items():
        if any(flag in call.parser._option_string_actions for call in program.stages) and (reader := make()) is not None:
            found[flag] = reader
    return found


def _refusals(error: BaseException) -> list[Refusal]:
    cause = error.__cause__ if isinstance(error, argparse.ArgumentTypeError) else None
    error = cause or error
    if type(error).__module__.startswith("pydantic") and hasattr(error, "errors"):
        return [Refusal(tuple(entry["loc"]), entry["type"], entry["msg"]) for entry in error.errors(include_url=False, include_input=False)]
    is_name_of_enum = isinstance(error, KeyError) and traceback.extract_tb(error.__traceback__)[-1].filename == enum.__file__
    if is_name_of_enum or isinstance(error, ValueError | argparse.ArgumentTypeError) or type(error).__module__.startswith("msgspec"):
        return [Refusal(None, type(error).__name__, str(error))]
    return []


def _class_of(function: Any, depth: int = 0) -> type | None:
    """The class of fields that a type of argparse has in its defaults or in the variables around it."""
    if inspect.isclass(function) or depth > _DEPTH:
        return function if inspect.isclass(function) and has_fields(function) else None
    if isinstance(function, functools.partial):
        inner = [function.func, *function.args, *function.keywords.values()]
    elif isinstance(function, types.FunctionType):
        inner = [*(function.__defaults__ or ()), *(cell.cell_contents for cell in function.__closure__ or ())]
    else:
        return None
    return next((cls for value in inner if (cls := _class_of(value, depth + 1))), None)


def has_fields(cls: Any) -> bool:
    """True for a class whose fields are declared: a dataclass, a model of pydantic, or a structure of msgspec."""
    return inspect.isclass(cls) and (
        dataclasses.is_dataclass(cls) or hasattr(cls, "__pydantic_fields__") or hasattr(cls, "__struct_fields__")
    )


def _imported(name: str) -> Any:
    """A value by `module:name`, of the first of several names that exists; None without one."""
    for one in name.split(" "):
        module, _, attribute = one.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError):
            continue
    return None


def _declared(flag: str) -> type | None:
    """The class of `_DECLARED`, or one with the listed names of fields."""
    value = _imported(_DECLARED[flag])
    if isinstance(value, dict):
        return dataclasses.make_dataclass("".join(part.title() for part in flag[2:].split("-")), [*value])
    return value  # type: ignore[no-any-return]


_DECLARED = {
    "--cuda-graph-config": "sglang.srt.model_executor.cuda_graph_config:CudaGraphConfig",
    "--router-conditional-disagg-config": "dynamo.common.configuration.groups.kv_router_args:_CONDITIONAL_DISAGG_CONFIG_FIELDS",
    "--dyn-structural-tag": "dynamo.common.configuration.groups.runtime_args:StructuralTagConfig",
}
"""Classes of documents, or the names of their fields, that a function of the parser reads and does not name."""


class _Absent:
    """An object whose attributes are all None."""

    def __getattr__(self, _: str) -> None:
        return None


def _speculative() -> Reader:
    """Reads as `EngineArgs.create_speculative_config` of vLLM, but without the models that the engine has loaded."""
    engine_args: Any = _imported("vllm.engine.arg_utils:EngineArgs")

    def read(text: str) -> Any:
        owner: Any = _Absent()
        owner.speculative_config = json.loads(text)
        return engine_args.create_speculative_config(owner, None, None)

    return Reader("SpeculativeConfig", read, _imported("vllm.config:SpeculativeConfig"), is_after=True, is_whole=False)


def _of_vllm(method: str, field: str, name: str) -> Callable[[], Reader | None]:
    """A configuration that vLLM makes in a method of `EngineArgs`, if the release has it."""

    def make() -> Reader | None:
        function: Any = getattr(_imported("vllm.engine.arg_utils:EngineArgs"), method, None)
        fields = _imported(f"vllm.config:{name}")
        if function is None or fields is None:
            return None

        def read(text: str) -> Any:
            owner = _Absent()
            setattr(owner, field, json.loads(text))
            return function(owner)

        return Reader(name, read, fields, is_after=True)

    return make


def _events_of_sglang() -> Reader:
    """SGLang's scheduler calls `EventPublisherFactory.create` in `init_kv_events`; the publisher itself would open sockets."""
    factory: Any = _imported("sglang.srt.disaggregation.kv_events:EventPublisherFactory")
    cls = _imported("sglang.srt.disaggregation.kv_events:KVEventsConfig")
    factory._registry = {name: lambda **_: None for name in factory._registry}
    return Reader("KVEventsConfig", factory.create, cls, is_after=True, choices={"publisher": [*factory._registry]})


def _planner() -> Reader | None:
    """`dynamo.planner.__main__` calls `PlannerConfig.from_config_arg`. A text that does not begin as an object is the name of a file."""
    cls: Any = _imported("dynamo.planner.config.planner_config:PlannerConfig dynamo.planner.utils.planner_config:PlannerConfig")
    if cls is None:
        return None
    return Reader("PlannerConfig", lambda text: cls.from_config_arg(text) if text.lstrip().startswith("{") else None, cls, is_after=True)


def _object() -> Reader:
    """A JSON object without known fields, or an empty text."""

    def read(text: str) -> None:
        if text and not isinstance(json.loads(text), dict):
            raise ValueError("the document is no object")

    return Reader("", read, None, is_after=True)


_AFTER: dict[str, dict[str, Callable[[], Reader | None]]] = {
    "dynamo.vllm": {
        "--speculative-config": _speculative,
        "--diffusion-config": _of_vllm("create_diffusion_config", "diffusion_config", "DiffusionConfig"),
        "--watermark-config": _of_vllm("create_watermark_config", "watermark_config", "WatermarkConfig"),
    },
    "dynamo.sglang": {
        "--kv-events-config": _events_of_sglang,
        # `json.loads` in `ModelConfig.__init__`; the fields replace those of the model in `get_config`.
        "--json-model-override-args": _object,
        # `orjson.loads` in `LoadConfig.__post_init__`.
        "--model-loader-extra-config": _object,
    },
    # `json.loads` and `deep_update` in `dynamo.trtllm.main`, later in `dynamo.trtllm.workers.llm_worker`.
    "dynamo.trtllm": {"--override-engine-args": _object},
    "dynamo.planner": {"--config": _planner},
}
"""The readers that a program calls after its parsers, or None if a release has none."""
