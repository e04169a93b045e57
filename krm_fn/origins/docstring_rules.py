"""Reads the `Rule` lines of docstrings: the rules by which functions and constants of krm-fn make values.

A docstring says what its function does. A `Rule` line says in one sentence what holds for the values, and where the rule is from:

    Rule names.clique-set: A PodCliqueSet has the name of its graph. (operator: internal/dynamo/graph.go PCSNameForDGD)
    Rule metadata.owner: Each generated object has a label that names krm-fn. (krm-fn)
    Rule names.clique-set: see `krm_fn.render.names`.

The last form names the module whose `Rule` line has the sentence. A line may continue on the next lines. `krm-fn explain` prints the
sentence, and the id, so an id never changes. A constant has its docstring below it, and so has the field of a class.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import zip_longest
from typing import Any, NamedTuple

_PACKAGE = __name__.partition(".")[0]
_RULE = re.compile(r"^Rule (?P<name>[a-z0-9.-]+): (?P<text>.+?)(?=\n\n|\nRule |\Z)", re.MULTILINE | re.DOTALL)
_DEFINITION = re.compile(r"(?P<says>.+\.) \((?:operator: (?P<follows>[^()]+)|krm-fn)\)")
_REFERENCE = re.compile(r"see `krm_fn\.(?P<module>[a-z0-9_.]+)`\.")


class DocstringRule(NamedTuple):
    """A rule of krm-fn: its id, one sentence, and what it follows in the Dynamo operator, or an empty text."""

    name: str
    says: str
    follows: str = ""


class RuleLine(NamedTuple):
    """A `Rule` line of a docstring: its rule, or the module that defines the rule with this id."""

    name: str
    rule: DocstringRule | None
    module: str = ""


def parse(docstring: str) -> list[RuleLine]:
    """Returns the `Rule` lines of a docstring in their order.

    Raises ValueError for a line with an id that has neither a sentence with a source nor a module.
    """
    return [_line(match["name"], " ".join(match["text"].split())) for match in _RULE.finditer(docstring)]


def _line(name: str, text: str) -> RuleLine:
    if reference := _REFERENCE.fullmatch(text):
        return RuleLine(name, None, reference["module"])
    if definition := _DEFINITION.fullmatch(text):
        return RuleLine(name, DocstringRule(name, definition["says"], definition["follows"] or ""))
    message = f"Rule {name}: write a sentence and its source in brackets, or: see `MODULE`."
    raise ValueError(message)


@cache
def rule(module: str, name: str) -> DocstringRule:
    """Returns the rule of a function or constant, as a `RuleMark` names it.

    Without a `Rule` line, the rule has the name `module:name`, and the first line of the docstring in place of a sentence.

    An argument of a constant, such as `_PORTS.http`, has the rule of that field of the constant's class, else the rule of the constant.
    """
    named = _rules_by_id(module)
    steps = name.split(".")
    outer = (named.get(".".join(steps[:length])) for length in range(len(steps), 0, -1))
    for candidate in (named.get(name), _of_field(module, steps), *outer):
        if candidate:
            return candidate
    docstrings = _docstrings(module)
    return DocstringRule(f"{module}:{name}", (docstrings.get(name) or docstrings.get("", "")).partition("\n")[0])


def rules(module: str) -> dict[str, DocstringRule]:
    """Returns the rules of a module by the names of the functions and constants that have a `Rule` line."""
    return dict(_rules_by_id(module))


def _of_field(module: str, steps: Sequence[str]) -> DocstringRule | None:
    """The rule of a field of a constant, from the class of the constant."""
    holder: Any = getattr(import_module(f"{_PACKAGE}.{module}"), steps[0], None)
    kind = type(holder)
    if len(steps) != 2 or not hasattr(kind, "_fields") or not kind.__module__.startswith(f"{_PACKAGE}."):
        return None
    return _rules_by_id(kind.__module__.removeprefix(f"{_PACKAGE}.")).get(f"{kind.__name__}.{steps[1]}")


@cache
def _rules_by_id(module: str) -> dict[str, DocstringRule]:
    return {name: line.rule or _find_definition(line) for name, line in rule_lines(module).items()}


def _find_definition(line: RuleLine) -> DocstringRule:
    """The rule of a line without a sentence. Raises KeyError if the module that it names has none with this id."""
    return {other.name: other.rule for other in rule_lines(line.module).values() if other.rule}[line.name]


@cache
def rule_lines(module: str) -> dict[str, RuleLine]:
    """Returns the `Rule` line of each function and constant of a module that has one. It serves all values that the code makes."""
    parsed = {name: parse(docstring) for name, docstring in _docstrings(module).items()}
    return {name: lines[0] for name, lines in parsed.items() if lines}


@cache
def _docstrings(module: str) -> dict[str, str]:
    """The docstrings of a module by qualified name, that of the module under an empty name."""
    loader: Any = import_module(f"{_PACKAGE}.{module}").__loader__
    tree = ast.parse(loader.get_source(f"{_PACKAGE}.{module}"))
    return {"": ast.get_docstring(tree) or "", **dict(_below(tree.body, ""))}


def _below(body: Sequence[ast.stmt], scope: str) -> Iterator[tuple[str, str]]:
    """The docstrings of functions, classes and constants in a module or a class."""
    for node, following in zip_longest(body, body[1:]):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield f"{scope}{node.name}", ast.get_docstring(node) or ""
            yield from _below(node.body if isinstance(node, ast.ClassDef) else (), f"{scope}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            first = target.elts[0] if isinstance(target, ast.Tuple) else target
            text = following.value.value if isinstance(following.value, ast.Constant) else None
            if isinstance(first, ast.Name) and isinstance(text, str):
                yield f"{scope}{first.id}", inspect.cleandoc(text)
