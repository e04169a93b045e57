"""The argument parsers of one program of one release, as its own code calls them. Runs in the environment that `installation.py` makes."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import inspect
import io
import logging
import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from engines import adaptations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Program(NamedTuple):
    """Where a program reads its command line.

    `functions` are the names over all releases, `module:function`: the first that exists is used. `arguments` are the fewest that the
    program accepts.
    """

    functions: tuple[str, ...]
    arguments: tuple[str, ...]


PROGRAMS = {
    "dynamo.frontend": Program(("dynamo.frontend.main:parse_args",), ()),
    "dynamo.mocker": Program(("dynamo.mocker.args:parse_args",), ("--model-path", "/")),
    "dynamo.planner": Program(
        ("dynamo.planner.__main__:_parse_config", "dynamo.planner.utils.planner_argparse:create_sla_planner_parser"), ("--config", "{}")
    ),
    "dynamo.router": Program(("dynamo.router.__main__:parse_args",), ("--endpoint", "a.b.c")),
    "dynamo.sglang": Program(("dynamo.sglang.args:parse_args",), ("--model-path", "/")),
    "dynamo.trtllm": Program(("dynamo.trtllm.args:parse_args", "dynamo.trtllm.utils.trtllm_utils:cmd_line_args"), ("--model-path", "/")),
    "dynamo.vllm": Program(("dynamo.vllm.args:parse_args",), ("--model", "/")),
}


class Call(NamedTuple):
    """One call of a parser. `complete`: through `parse_args`, which refuses what the parser does not know."""

    parser: argparse.ArgumentParser
    complete: bool
    options: argparse.Namespace
    rest: list[str]


class Outcome(NamedTuple):
    """What a program does with a command line.

    `by` says what refused it: "parser", or "check" for code of the program after or between its parsers.
    """

    accepted: bool
    by: str
    message: str
    calls: list[Call]


class _ParsedError(BaseException):
    """The last parser has read its arguments: what follows would fetch models and start the engine."""


class RealProgram:
    """A program with its real parsers. Its stages are the parsers in the order of their calls: each reads what the one before left over."""

    def __init__(self, name: str) -> None:
        adaptations.adapt(name)
        self.name = name
        self._parse = _function(PROGRAMS[name])
        self._stages = 0
        self.arguments = PROGRAMS[name].arguments if self.run(PROGRAMS[name].arguments).accepted else ()
        self.stages = self.run(self.arguments).calls
        self._stages = len(self.stages)

    def run(self, arguments: Sequence[str]) -> Outcome:
        """The outcome of a command line; stops after the last parser."""
        with _recorded(self._stages) as record, _quiet() as output:
            try:
                _call(self._parse, list(arguments))
            except _ParsedError:
                return Outcome(True, "", "", record.calls)
            except SystemExit as exit_:
                message = _reason(output.getvalue()) or str(exit_)
                by = "parser" if record.depth or self._has_rest(record.calls) else "check"
                return Outcome(exit_.code in (0, None), by, message, record.calls)
            except Exception as error:
                if not self._stages and record.calls:
                    return Outcome(True, "", repr(error), record.calls)
                return Outcome(False, "check", f"{type(error).__name__}: {error}", record.calls)
        return Outcome(True, "", "", record.calls)

    @staticmethod
    def quiet() -> contextlib.AbstractContextManager[io.StringIO]:
        """Collect what code of the program prints and logs."""
        return _quiet()

    def _has_rest(self, calls: list[Call]) -> bool:
        """Whether the last parser left something over, so that the program refuses it by itself."""
        return len(calls) >= self._stages > 0 and bool(calls[-1].rest)


class _Record:
    def __init__(self, stages: int) -> None:
        self.stages = stages
        self.depth = 0
        self.calls: list[Call] = []

    def add(self, call: Call) -> None:
        self.calls.append(call)
        if len(self.calls) == self.stages and not call.rest:
            raise _ParsedError


@contextlib.contextmanager
def _recorded(stages: int) -> Iterator[_Record]:
    """Record the outermost calls of parsers in this block."""
    record = _Record(stages)
    parse_args, parse_known_args = argparse.ArgumentParser.parse_args, argparse.ArgumentParser.parse_known_args

    def known(parser: argparse.ArgumentParser, args: Any = None, namespace: Any = None) -> Any:
        record.depth += 1
        options, rest = parse_known_args(parser, args, namespace)
        record.depth -= 1
        if not record.depth:
            record.add(Call(parser, False, options, list(rest)))
        return options, rest

    def complete(parser: argparse.ArgumentParser, args: Any = None, namespace: Any = None) -> Any:
        record.depth += 1
        options = parse_args(parser, args, namespace)
        record.depth -= 1
        if not record.depth:
            record.add(Call(parser, True, options, []))
        return options

    argparse.ArgumentParser.parse_args = complete  # type: ignore[assignment, method-assign]
    argparse.ArgumentParser.parse_known_args = known  # type: ignore[assignment, method-assign]
    try:
        yield record
    finally:
        argparse.ArgumentParser.parse_args = parse_args  # type: ignore[method-assign]
        argparse.ArgumentParser.parse_known_args = parse_known_args  # type: ignore[method-assign]


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    """Collect the output of a program, with the errors that it logs."""
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    root = logging.getLogger()
    handlers, root.handlers = root.handlers, [handler]
    try:
        with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output), warnings.catch_warnings(action="ignore"):
            yield output
    finally:
        root.handlers = handlers


def _function(program: Program) -> Callable[..., Any]:
    """The function that reads the command line. Raises ImportError if the release has none."""
    errors = []
    for name in program.functions:
        module, _, function = name.partition(":")
        try:
            return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]
        except (ModuleNotFoundError, AttributeError) as error:
            errors.append(str(error))
    raise ImportError("; ".join(errors))


def _call(parse: Callable[..., Any], arguments: list[str]) -> None:
    own, sys.argv = sys.argv, ["program", *arguments]
    try:
        result = parse(arguments) if inspect.signature(parse).parameters else parse()
        if inspect.iscoroutine(result):
            asyncio.run(result)
        elif isinstance(result, argparse.ArgumentParser):
            result.parse_args(arguments)
    finally:
        sys.argv = own


def _reason(text: str) -> str:
    """The last line with argparse's "error:", which names the flag, and the lines behind it; without one, the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [index for index, line in enumerate(lines) if "error: " in line]
    return " | ".join(lines[errors[-1] :]) if errors else lines[-1] if lines else ""
