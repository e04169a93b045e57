"""Rewrites the syntax tree of a module of the core, so that the values that it makes carry marks (`krm_fn.origins.marked_values`).

Constants become marked constants, and f-strings, dict displays and some calls become calls of `krm_fn.origins.tracing_runtime`. The
rewritten module does the same as before.
"""

from __future__ import annotations

import ast
from typing import Any

CONSTANTS, LOCATIONS = "_trace_constants", "_trace_locations"
"""The names of the lists of a rewritten module that hold its marked constants and its locations. Its first statements make them."""

_TEXTS = {"str", "int", "str | None", "int | None", "int | str", "str | int"}
_LOOKUPS = {"get", "at", "startswith", "endswith", "removeprefix", "removesuffix", "pop", "find", "index", "count"}
_CACHES = {"cache", "lru_cache"}
_MAPPINGS = {"dict", "present"}
"""Functions that make a mapping of their keyword arguments."""
_CALLS = {"int": "_trace_whole", "type": "_trace_kind"}


def rewrite(source: bytes, module: str, *, constants: bool) -> ast.Module:
    """Returns the rewritten syntax tree of a module. Its code needs the functions of `tracing_runtime` as `_trace_…`.

    Without `constants`, texts and numbers in the module get no marks; its dict displays do.
    """
    rewriter = _Rewriter(constants=constants)
    tree: ast.Module = rewriter.visit(ast.parse(source))
    first = 1 + max((index for index, node in enumerate(tree.body) if _is_future(node)), default=-1)
    tree.body[first:first] = [
        _assign(CONSTANTS, _call("_trace_marked_constants", ast.Constant(module), _tuple(rewriter.constants))),
        _assign(LOCATIONS, _call("_trace_locations_of", ast.Constant(module), _tuple(rewriter.locations))),
    ]
    return ast.fix_missing_locations(tree)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


class _Rewriter(ast.NodeTransformer):
    """Rewrites one module. `constants` are then its constants with the names of their scopes, and `locations` the names of scopes."""

    def __init__(self, *, constants: bool) -> None:
        self.constants: list[tuple[Any, str]] = []
        self.locations: list[str] = []
        self._marks_constants = constants
        self._scopes: list[str] = []
        self._inside = False  # a function within a function is part of it
        self._known: dict[tuple[Any, ...], int] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Rewrites the body and the defaults of a function, and the results of a function that returns texts or numbers."""
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        node.args.kw_defaults = [default and self.visit(default) for default in node.args.kw_defaults]
        outer, self._scopes = self._scopes, self._scopes if self._inside else [*self._scopes, node.name]
        was_inside, self._inside = self._inside, True
        node.body = self._block(node.body)
        if node.returns is not None and ast.unparse(node.returns) in _TEXTS:
            self._mark_results(node)
        self._scopes, self._inside = outer, was_inside
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Rewrites the body of a class."""
        self._scopes.append(node.name)
        node.body = self._block(node.body)
        self._scopes.pop()
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Leaves docstrings as they are."""
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.AST]:
        """Replaces the caches of functools after their import."""
        cached = [alias.asname or alias.name for alias in node.names if node.module == "functools" and alias.name in _CACHES]
        return [node, *(_at(ast.Assign([ast.Name(name, ast.Store())], _name("_trace_without_cache")), node) for name in cached)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Rewrites the value, never the annotation. A constant of the module gives its name to what it contains."""
        if node.value is not None:
            node.value = self._rewrite_value(node.target, node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Rewrites the value. An assignment to `mapping[key]` keeps the marks of the key."""
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id.startswith("__"):
            return node
        if len(node.targets) == 1 and isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            key = self._constant(target.slice) if isinstance(target.slice, ast.Constant) else self.visit(target.slice)
            call = _call("_trace_assign", self.visit(target.value), key, self.visit(node.value))
            return _at(ast.Expr(call), node)
        node.value = self._rewrite_value(target, node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Leaves constant keys, slices and type parameters as they are."""
        node.value = self.visit(node.value)
        if isinstance(node.slice, ast.Name | ast.Attribute | ast.Call | ast.BinOp | ast.JoinedStr | ast.IfExp):
            node.slice = self.visit(node.slice)
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        """A comparison has no marks, so its constants need none."""
        node.left = self._unless_constant(node.left)
        node.comparators = [self._unless_constant(comparator) for comparator in node.comparators]
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        """Leaves patterns as they are."""
        node.guard = node.guard and self.visit(node.guard)
        node.body = self._block(node.body)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """Rewrites the arguments, and the calls of builtin functions that drop marks."""
        function = node.func
        if (
            isinstance(function, ast.Name)
            and function.id in _CALLS
            and not node.keywords
            and (function.id != "type" or len(node.args) == 1)
        ):
            node.func = _at(_name(_CALLS[function.id]), node)
        else:
            node.func = self.visit(function)
        plain = 1 if isinstance(function, ast.Attribute) and function.attr in _LOOKUPS else 0
        node.args = [self._unless_constant(argument) for argument in node.args[:plain]] + [
            self.visit(argument) for argument in node.args[plain:]
        ]
        for keyword in node.keywords:
            keyword.value = self._keyword(keyword)
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return _at(_call("_trace_mark_keywords", self._location(), node), node) if node.keywords and name in _MAPPINGS else node

    def visit_Dict(self, node: ast.Dict) -> Any:
        """A dict display marks its keys with its location."""
        entries: list[ast.expr] = []
        for key, value in zip(node.keys, node.values, strict=True):
            inner = _name("_trace_spread") if key is None else self._unless_constant(key)
            entries.append(ast.Tuple([inner, self.visit(value)], ast.Load()))
        return _at(_call("_trace_mapping", self._location(), *entries), node)

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        """A dict comprehension keeps what a later entry replaces."""
        node = self._generic(node)
        pairs = ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)
        return _at(_call("_trace_comprehension", pairs), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """An f-string joins the marks of its values."""
        parts: list[ast.expr] = []
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                parts.append(part)
            elif part.conversion == -1 and part.format_spec is None:
                parts.append(_call("_trace_format_value", self.visit(part.value)))
            else:
                spec = part.format_spec or ast.Constant("")
                parts.append(_call("_trace_convert_value", self.visit(part.value), ast.Constant(part.conversion), spec))
        return _at(_call("_trace_join_fstring", self._location(), *parts), node)

    def visit_Constant(self, node: ast.Constant) -> Any:
        """Texts and whole numbers become marked constants."""
        return self._constant(node)

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The rewritten statements. One statement can become several."""
        rewritten = (self.visit(statement) for statement in statements)
        return [node for entry in rewritten for node in (entry if isinstance(entry, list) else [entry])]

    def _constant(self, node: ast.Constant) -> Any:
        if type(node.value) not in (str, int) or not self._marks_constants:
            return node
        scope = self._scope
        key = (type(node.value), node.value, scope)
        if key not in self._known:
            self._known[key] = len(self.constants)
            self.constants.append((node.value, scope))
        return _at(ast.Subscript(_name(CONSTANTS), ast.Constant(self._known[key]), ast.Load()), node)

    def _unless_constant(self, node: ast.expr) -> Any:
        return node if isinstance(node, ast.Constant) else self.visit(node)

    def _generic(self, node: Any) -> Any:
        return self.generic_visit(node)

    def _rewrite_value(self, target: ast.expr, value: ast.expr) -> Any:
        """The rewritten value of an assignment. In a module or a class, the marks of its constants have the name of the target."""
        first = target.elts[0] if isinstance(target, ast.Tuple) else target
        if self._inside or not isinstance(first, ast.Name):
            return self.visit(value)
        self._scopes.append(first.id)
        rewritten = self.visit(value)
        self._scopes.pop()
        return rewritten

    def _keyword(self, keyword: ast.keyword) -> Any:
        """The rewritten value of a keyword argument. In a constant of a module, its name becomes part of the name of the rule."""
        if len(self._scopes) != 1 or not self._scopes[0].isupper() or keyword.arg is None:
            return self.visit(keyword.value)
        self._scopes.append(keyword.arg)
        rewritten = self.visit(keyword.value)
        self._scopes.pop()
        return rewritten

    @property
    def _scope(self) -> str:
        return ".".join(self._scopes) or "<module>"

    def _location(self) -> ast.expr:
        scope = self._scope
        if (scope,) not in self._known:
            self._known[scope,] = len(self.locations)
            self.locations.append(scope)
        return ast.Subscript(_name(LOCATIONS), ast.Constant(self._known[scope,]), ast.Load())

    def _mark_results(self, function: ast.FunctionDef) -> None:
        """Passes each result of a function on through `runtime.mark_result`, with the arguments of the function."""
        named = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs) if argument.arg not in ("self", "cls")]
        for node in _returns(function.body):
            if node.value is not None:
                arguments = [_name(name) for name in named]
                node.value = _at(_call("_trace_mark_result", self._location(), node.value, *arguments), node)


def _returns(body: list[ast.stmt]) -> list[ast.Return]:
    """The return statements of a function, without those of functions in it."""
    returns: list[ast.Return] = []
    for statement in body:
        if isinstance(statement, ast.Return):
            returns.append(statement)
        elif not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            for field in ("body", "orelse", "finalbody"):
                returns += _returns(getattr(statement, field, []))
            for holder in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                returns += _returns(holder.body)
    return returns


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _tuple(values: list[Any]) -> ast.expr:
    constant: Any = tuple(values)
    return ast.Constant(constant)


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _call(function: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(_name(function), [*arguments], [])


def _at(node: Any, old: ast.AST) -> Any:
    return ast.copy_location(node, old)
