"""Options that several commands share. A command receives each group as one value."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from krm_fn.base import codes, escaping, report
from krm_fn.cli import command_output
from krm_fn.kubernetes import duration
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.render.rules import ignore_rules
from krm_fn.repository import build_cache
from krm_fn.repository.files import project_file
from krm_fn.review.inputs import InputError, Inputs, Policy, folder_of_root, revision_path
from krm_fn.schemas import finding_pages

_AUTO = "auto"
_INPUT = click.Path(exists=True, allow_dash=True)
EXPORT = click.Path(exists=True, dir_okay=False, allow_dash=True)
"""The type of a file with objects of a cluster, or stdin."""
_EXTRA = ("aiohttp>=3.12", "prometheus_client>=0.21")
"""The packages of the extra `sync`, as setup.cfg declares them. Only commands that speak to a cluster need them."""
MODEL_PACKAGES = ("pydantic>=2.10",)
"""The packages that only commands with schemas need. The zipapp of a release does not contain them, because they are machine code."""


def seconds(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """Reads a duration such as 30m as seconds, for the callback of an option. Raises click.BadParameter."""
    if text is None:
        return None
    try:
        number = float(duration.seconds(text))
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None
    if number < 0:
        raise click.BadParameter(f"{text!r} is negative; write for example 30m")
    return number


class Folder(click.Path):
    """A folder that may be missing. An empty name, for example from an unset variable, is wrong usage, not the current folder."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the folder as a path. Raises click.BadParameter for an empty name and for a file."""
        return super().convert(value, param, ctx) if str(value) else self.fail("the name of the folder is empty", param, ctx)


class InputPath(click.Path):
    """A file, a folder, `-`, or a path in a git revision, such as `main:apps/prod`, which is read when the command runs."""

    def __init__(self) -> None:
        super().__init__(exists=True, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the path as written. Raises click.BadParameter for a missing path that names no revision."""
        return value if revision_path(str(value)) else super().convert(value, param, ctx)


_PATHS = "PATH is a file, a folder or stdin (-). The default is the current folder."
_ROOTS = "In a folder, krm-fn builds each root, such as a Kustomization or a kpt package; with --no-build, it reads the files as they are."
_REVISIONS = "REV:PATH is a path in a git revision."


def inputs(  # noqa: PLR0913 - one for each difference between commands
    command: Callable[..., Any],
    kind: click.ParamType[Any] | None = None,
    name: str = "PATH...",
    *,
    default: tuple[str, ...] = (".",),
    builds: bool = True,
    revisions: bool = True,
) -> Callable[..., Any]:
    """Adds PATH..., -f, --config, -n, --exclude and --no-build; the command receives them as `given`.

    `kind` and `name` are those of the argument. Without a path, the paths are those of `default`. A command that `builds` follows the rule
    of `path_inputs`, and with `revisions` also reads REV:PATH. Any other command reads files, and has no --no-build. In the help
    of the command, `{paths}` is replaced by the rule.
    """
    of_paths = InputPath() if builds and revisions else _INPUT
    no_build: Callable[[Callable[..., Any]], Callable[..., Any]] = _NO_BUILD if builds else lambda unchanged: unchanged

    @click.argument("paths", metavar=f"[{name}]", nargs=-1, type=kind or of_paths)
    @click.option("-f", "--filename", "filenames", metavar="PATH", multiple=True, type=of_paths, help="The same as PATH. Can be repeated.")
    @click.option(
        "--config",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="The file with the configuration, a DynamoRender or a ConfigMap.",
    )
    @click.option("-n", "--namespace", metavar="NAME", callback=namespace, help="The namespace of Dynamo resources that do not set one.")
    @click.option(
        "--exclude", metavar="GLOB", multiple=True, help="Skip files and folders below PATH that match this pattern. Can be repeated."
    )
    @click.option("--show-config", is_flag=True, help="Print the settings with their origins, and read nothing.")
    @no_build
    @functools.wraps(command)
    def run_with_inputs(  # noqa: PLR0913 - one for each option
        *args: Any,
        paths: tuple[str, ...],
        filenames: tuple[str, ...],
        config: str | None,
        namespace: str | None,
        exclude: tuple[str, ...],
        show_config: bool,
        is_plain: bool = False,
        **more: Any,
    ) -> Any:
        is_built = builds and not is_plain
        named = tuple(map(folder_of_root, (*paths, *filenames))) if is_built else (*paths, *filenames)
        given = with_project(Inputs(named or default, config, namespace, exclude, is_built=is_built))
        if show_config:
            command_output.write(_settings_text(given, config, namespace, exclude))
            click.get_current_context().exit(0)
        with usage_errors():
            return command(*args, given=given, **more)

    rule = " ".join((_PATHS, *((_ROOTS,) if builds else ()), *((_REVISIONS,) if builds and revisions else ())))
    run_with_inputs.__doc__ = (command.__doc__ or "").replace("{paths}", rule)
    return run_with_inputs


_NO_BUILD = click.option("--no-build", "is_plain", is_flag=True, help="Read the files of a folder as they are, and build no root.")


def cached_builds(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --cache to a command with `inputs`."""

    @click.option(
        "--cache",
        "cache_folder",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="Take builds from this folder, and store new ones there. Builds with Secrets are not stored.",
    )
    @functools.wraps(command)
    def run_with_cache(*args: Any, given: Inputs, cache_folder: str | None, **more: Any) -> Any:
        if cache_folder is None:
            return command(*args, given=given, **more)
        try:
            cache = build_cache.BuildCache(Path(cache_folder))
        except build_cache.UnusableCacheError as problem:
            raise click.BadParameter(f"{cache_folder!r} {problem}.", param_hint="--cache") from problem
        try:
            return command(*args, given=given._replace(cache=cache), **more)
        finally:
            cache.prune()

    return run_with_cache


def with_project(given: Inputs) -> Inputs:
    """Returns the inputs with the settings of the project file. An error in it ends the program with code 1."""
    project = project_file.of_paths(given.paths)
    if project.results:
        command_output.write(escaping.join_lines(map(report.entry, project.results)), err=True)
        click.get_current_context().exit(1)
    config = project.config or (project_file.configuration_above(given.paths[0]) if given.paths else None)
    exclude = tuple(dict.fromkeys((*given.exclude, *project.exclude)))
    return given._replace(namespace=given.namespace or project.namespace, exclude=exclude, default_config=config, project=project)


def _settings_text(given: Inputs, config: str | None, namespace: str | None, exclude: tuple[str, ...]) -> str:
    """Returns each setting with its origin, one on a line."""
    project = given.project
    file = os.path.relpath(project.path) if project.path else ""
    above = "" if project.config else "above the folder"
    rows = [
        ("project file", file or "none", ""),
        ("config", config or given.default_config or "none", "--config" if config else (above or file) if given.default_config else ""),
        ("namespace", given.namespace or "none", "--namespace" if namespace else file if given.namespace else ""),
        *(("exclude", glob, "--exclude" if glob in exclude else file) for glob in given.exclude),
        ("nodes", project.nodes or "none", file if project.nodes else ""),
        ("budget", project.budget or "none", file if project.budget else ""),
        *(("root", os.path.relpath(root.folder), file) for root in project.roots),
    ]
    return escaping.join_lines(f"{name}: {value}{f'  ({origin})' if origin else ''}" for name, value, origin in rows)


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Reports inputs that cannot be used as wrong usage."""
    try:
        yield
    except InputError as problem:
        if problem.option is None:
            raise click.UsageError(str(problem)) from problem
        raise click.BadParameter(str(problem), param_hint=problem.option or None) from problem


def policy(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --ignore, --strict and --quiet; the command receives them as `policy`. Adds --color, which `command_output.colours` reads."""

    @click.option(
        "--ignore",
        "ignored",
        metavar="CODE",
        multiple=True,
        callback=_codes,
        help="Ignore warnings and notes with this code. Can be repeated.",
    )
    @click.option("--strict", is_flag=True, help="Fail on warnings, too.")
    @click.option("-q", "--quiet", is_flag=True, help="Print only the findings that make the command fail.")
    @click.option(
        "--color",
        type=click.Choice((_AUTO, "always", "never")),
        default=_AUTO,
        callback=_colour,
        expose_value=False,
        help="Colours in the text. The default is auto: on a terminal, and as NO_COLOR and FORCE_COLOR say.",
    )
    @functools.wraps(command)
    def run_with_policy(*args: Any, ignored: frozenset[str], strict: bool, quiet: bool, **more: Any) -> Any:
        return command(*args, policy=Policy(ignored, strict, quiet), **more)

    return run_with_policy


def _colour(ctx: click.Context, _param: click.Parameter, mode: str) -> None:
    if mode != _AUTO:
        ctx.color = mode == "always"


def live(text: str, name: str = "live", default: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds --live with an export of a cluster; the command receives its path as `name`. `text` is the help."""
    return click.option("--live", name, metavar="FILE", type=EXPORT, default=default, help=text)


def output_format(
    default: str | None = "yaml", text: str = "The format. The default is yaml; json prints one List."
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds -o with the formats yaml and json; the command receives it as `style`. `text` is the help."""
    return click.option("-o", "--output", "style", type=click.Choice(command_output.FORMATS), default=default, help=text)


def report_format(names: Iterable[str], default: str = "text") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds -o, also called --format, with the formats of a report; the command receives it as `style`."""
    text = f"The format. The default is {default}."
    return click.option("-o", "--output", "--format", "style", type=click.Choice(tuple(names)), default=default, help=text)


def build_root(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds --root, the folder of the build that a PATH has; the command receives it as `root`. `text` is the end of the help."""
    folder: click.ParamType[Any] = click.Path(exists=True, file_okay=False, path_type=Path)
    return click.option("--root", metavar="DIR", type=folder, help=f"The root folder of the build. {text}")


def code(text: str) -> str:
    """Returns the code of a finding by its code or its name. Raises click.BadParameter if there is none."""
    try:
        return finding_pages.find(text)
    except KeyError:
        raise click.BadParameter(f"{text!r} is not the code of a finding, such as {codes.WRONG_TYPE}.") from None


def _codes(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(code(name) for text in texts for name in ignore_rules.codes(text))


def namespace(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
    """Returns the name of a namespace. Raises click.BadParameter if Kubernetes does not allow the name."""
    if name is not None and not name_formats.DNS_LABEL.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not a namespace; use at most 63 lower-case letters, digits and dashes.")
    return name


def sync_extra(verb: str) -> contextlib.AbstractContextManager[None]:
    """Requires the packages of the extra `sync` for the imports inside the block: see `needed_packages`."""
    return needed_packages(verb, _EXTRA)


@contextlib.contextmanager
def needed_packages(verb: str, requirements: Sequence[str]) -> Iterator[None]:
    """Ends the program with code 2 if an import inside the block lacks one of the packages, and prints the command that installs them.

    The command names the packages, because it must work for each way to install krm-fn.
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in {package.partition(">")[0] for package in requirements}:
            raise
        packages = " ".join(f"'{package}'" for package in requirements)
        command_output.print_line(f"error: krm-fn {verb} needs more packages; run: pip install {packages}", err=True)
        sys.exit(2)
