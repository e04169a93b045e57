"""DynamoRender, the functionConfig. Its models are made from the classes of `krm_fn.render.config`, which need no pydantic."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import Field, create_model

from krm_fn.render import config
from krm_fn.schemas.api import base

_LIMITED = {
    "Duration": Annotated[str, Field(json_schema_extra={"format": "duration"}, pattern=r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$")],
    "NonEmpty": Annotated[str, Field(min_length=1)],
    "Version": Annotated[str, Field(pattern=r"^((0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*))?$")],
}
"""The types of `krm_fn.render.config` that only a type checker knows, with their limits."""


def model(settings: type, name: str = "") -> type[base.Model]:
    """Returns the model of a class of `krm_fn.render.config`: the same fields, defaults and descriptions, with camelCase keys."""
    fields: dict[str, Any] = {field: (kind, info) for field, kind, info in _fields(settings)}
    return create_model(
        name or settings.__name__,
        __base__=base.Model,
        __module__=__name__,
        __doc__=settings.__doc__,
        __cls_kwargs__={"use_attribute_docstrings": False},  # these are in `fields`; pydantic would look for the source of the class
        **fields,
    )


def _fields(settings: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yields name, type and pydantic field of each setting of a class."""
    for name, annotation, description in _written_fields(settings.__name__):
        default = settings._field_defaults.get(name, ...)
        kind = _type(eval(annotation, {**vars(config), **_LIMITED, "Literal": Literal}))  # noqa: S307 - source of this package
        if hasattr(default, "_fields"):
            default = kind()
        elif isinstance(default, tuple):
            default = [*default]
        yield name, kind, Field(default=default, alias=config.key(name), description=description)


@cache
def _type(kind: Any) -> Any:
    """The type in a model: models instead of settings classes, and lists instead of tuples."""
    if hasattr(kind, "_fields"):
        return model(kind)
    if get_origin(kind) is tuple:
        return list[_type(get_args(kind)[0])]  # type: ignore[misc]
    return kind


def _written_fields(name: str) -> Iterator[tuple[str, str, str]]:
    """Yields name, type and docstring of each field of a class of `krm_fn.render.config`, as they stand in its source."""
    (definition,) = (node for node in _source().body if isinstance(node, ast.ClassDef) and node.name == name)
    for field, docstring in zip(definition.body, definition.body[1:], strict=False):
        match field, docstring:
            case ast.AnnAssign(target=ast.Name(id=attribute)), ast.Expr(value=ast.Constant(value=str(text))):
                yield attribute, ast.unparse(field.annotation), inspect.cleandoc(text)


@cache
def _source() -> ast.Module:
    return ast.parse(inspect.getsource(config))


RenderSpec = model(config.Config, "RenderSpec")


class DynamoRender(base.Kind):
    """The settings of the function."""

    api_version: Literal["dynamo.krm-fn.io/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoRender"]
    """The kind."""
    spec: RenderSpec = RenderSpec()  # type: ignore[valid-type]
    """The settings of one run."""
