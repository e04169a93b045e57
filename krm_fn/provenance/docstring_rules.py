"""Rules of krm-fn: the docstring of the function or constant that makes a value states the rule.

The first line is the sentence that `krm-fn explain` prints. The last lines name the source and the rule:

    Follows the operator's `internal/dynamo/graph.go PCSNameForDGD`.
    Rule: names.clique-set

A constant has its docstring below it, and so has the field of a class. The name of a rule is output, so it never changes.
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
_LAST_LINES = re.compile(r"(?:Follows the operator's `(?P<follows>[^`]+)`\.\s+)?Rule: (?P<name>\S+)\Z")


class DocstringRule(NamedTuple):
    """A rule of krm-fn: its stable name, one sentence, and what it follows in the Dynamo operator, or an empty text."""

    name: str
    says: str
    follows: str = ""


@cache
def rule(module: str, name: str) -> DocstringRule:
    """Returns the rule of a function or constant, as a `RuleMark` names it.

    Without a `Rule:` line, the rule has the name `module:name`.

    An argument of a constant, such as `_PORTS.http`, has the rule of that field of the constant's class, else the rule of the constant.
    """
    named = _named(module)
    steps = name.split(".")
    outer = (named.get(".".join(steps[:length])) for length in range(len(steps), 0, -1))
    for candidate in (named.get(name), _of_field(module, steps), *outer):
        if candidate:
            return candidate
    docstrings = _docstrings(module)
    return DocstringRule(f"{module}:{name}", (docstrings.get(name) or docstrings.get("", "")).partition("\n")[0])


def rules(module: str) -> dict[str, DocstringRule]:
    """Returns the rules of a module by the names of the functions and constants that have a `Rule:` line."""
    return dict(_named(module))


def _of_field(module: str, steps: Sequence[str]) -> DocstringRule | None:
    """The rule of a field of a constant, from the class of the constant."""
    holder: Any = getattr(import_module(f"{_PACKAGE}.{module}"), steps[0], None)
    kind = type(holder)
    if len(steps) != 2 or not hasattr(kind, "_fields") or not kind.__module__.startswith(f"{_PACKAGE}."):
        return None
    return _named(kind.__module__.removeprefix(f"{_PACKAGE}.")).get(f"{kind.__name__}.{steps[1]}")


@cache
def _named(module: str) -> dict[str, DocstringRule]:
    rules = {}
    for name, docstring in _docstrings(module).items():
        last = _LAST_LINES.search(docstring)
        if last:
            rules[name] = DocstringRule(last["name"], docstring.partition("\n")[0], " ".join((last["follows"] or "").split()))
    return rules


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
