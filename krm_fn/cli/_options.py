"""Options that several verbs share. A verb receives each group as one value."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from krm_fn import codes
from krm_fn.cli._policy import Policy
from krm_fn.files import revisions, sources
from krm_fn.kube.admission import fields
from krm_fn.validation import suppressed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krm_fn.files.sources import Sources

_INPUT = click.Path(exists=True, allow_dash=True)


class Inputs(NamedTuple):
    """The paths to read, and settings that override the configuration."""

    paths: tuple[str, ...]
    config: str | None
    namespace: str | None
    exclude: tuple[str, ...] = ()

    def load(self, without: Path | None = None, *, tolerant: bool = False) -> Sources:
        """Reads the paths, except the folder `without`. `tolerant`: ignores mistakes in files of folders that name no Dynamo kind."""
        return sources.load(self.paths, self.config, without, self.exclude, namespace=self.namespace or "", tolerant=tolerant)


class Folder(click.Path):
    """A folder that may be missing. An empty name, for example from an unset variable, is wrong usage, not the current folder."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The folder as a path. Raises click.BadParameter for an empty name and for a file."""
        return super().convert(value, param, ctx) if str(value) else self.fail("the name of the folder is empty", param, ctx)


def inputs(verb: Callable[..., Any], kind: click.ParamType[Any] = _INPUT, name: str = "PATH...") -> Callable[..., Any]:
    """Adds PATH..., -f, --config, -n and --exclude; the verb receives them as `given`. `kind` and `name` are those of the argument."""

    @click.argument("paths", metavar=f"[{name}]", nargs=-1, type=kind)
    @click.option("-f", "--filename", "filenames", metavar="PATH", multiple=True, type=_INPUT, help="The same as PATH; can be repeated.")
    @click.option(
        "--config", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="The configuration: a DynamoRender or a ConfigMap."
    )
    @click.option("-n", "--namespace", metavar="NAME", callback=namespace, help="Namespace of Dynamo resources that do not set one.")
    @click.option("--exclude", metavar="GLOB", multiple=True, help="Files and folders in a folder PATH that are not read; can be repeated.")
    @functools.wraps(verb)
    def wrapped(
        *args: Any,
        paths: tuple[str, ...],
        filenames: tuple[str, ...],
        config: str | None,
        namespace: str | None,
        exclude: tuple[str, ...],
        **more: Any,
    ) -> Any:
        if not paths and not filenames:
            raise click.UsageError(f"Missing argument '{name}'.")
        return verb(*args, given=Inputs((*paths, *filenames), config, namespace, exclude), **more)

    return wrapped


@contextlib.contextmanager
def reading_old() -> Iterator[None]:
    """Reports an earlier state that cannot be read as wrong usage of --old."""
    try:
        yield
    except revisions.UnreadableError as problem:
        raise click.BadParameter(str(problem), param_hint="--old") from problem


def policy(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --ignore, --strict and --quiet; the verb receives them as `policy`."""

    @click.option(
        "--ignore", "ignored", metavar="CODE", multiple=True, callback=_codes, help="Leave out warnings and notes of this code; repeatable."
    )
    @click.option("--strict", is_flag=True, help="Fail on warnings too.")
    @click.option("-q", "--quiet", is_flag=True, help="Print only the findings that make the command fail.")
    @functools.wraps(verb)
    def wrapped(*args: Any, ignored: frozenset[str], strict: bool, quiet: bool, **more: Any) -> Any:
        return verb(*args, policy=Policy(ignored, strict, quiet), **more)

    return wrapped


def code(text: str) -> str:
    """A code in upper case. Raises click.BadParameter if the code does not exist."""
    if text.upper() not in codes.TITLES:
        raise click.BadParameter(f"{text!r} is not the code of a finding, such as DYN021.")
    return text.upper()


def _codes(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(code(each) for text in texts for each in suppressed.codes(text))


def namespace(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
    """The name of a namespace. Raises click.BadParameter if Kubernetes does not allow the name."""
    if name is not None and not fields.DNS_LABEL.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not a namespace; use at most 63 lower-case letters, digits and dashes.")
    return name
