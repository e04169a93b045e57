"""Reads the containers of components into parsed command lines, with the flag tables of the releases of their images.

Also finds the flags that a render adds to a command line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import merge, version
from krm_fn.kubernetes.types import WordsField
from krm_fn.render import engines
from krm_fn.render.engines import Engine
from krm_fn.render.kinds import dynamo_images, types
from krm_fn.render.manifests.pod_builder import Pods
from krm_fn.render.plan import ComponentPlan
from krm_fn.review.arguments import command_line_parser, engine_commands, flag_tables, started_programs
from krm_fn.review.arguments.command_line_parser import ParsedCommand
from krm_fn.review.arguments.engine_commands import EngineCommand, LaunchProblem, Reference
from krm_fn.review.arguments.flag_tables import FlagTable
from krm_fn.review.arguments.shell_words import Word

_OF_RELEASE = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+(?:\.post[0-9]+)?(?:-cuda[0-9.]+)?", re.ASCII)
"""The tags of released images. Any other tag, such as `1.6.0-rc1`, may hold another parser."""

_OF_LAUNCH = (codes.WORDS_NOT_PASSED_BY_SHELL, codes.PYTHON_WITHOUT_MODULE, codes.SEVERAL_WORDS_IN_ONE)
"""The codes of mistakes of a whole command, not of a line in it."""


class AuthorContainer(NamedTuple):
    """A container as its author wrote it (`written`), and with the defaults of its component type (`fields`).

    `pods` are those of its component, and `plan` is the pod template that has it.
    `at` returns the path of an item of its command or arguments. `version` is that of Dynamo in its image; None if it is not known.
    `is_exact` is false for the version of a pre-release or of a custom build.
    """

    pods: Pods
    plan: ComponentPlan
    fields: Mapping[str, Any]
    written: Mapping[str, Any]
    at: Callable[[WordsField, int], Path]
    version: version.Version | None
    is_exact: bool
    is_main: bool

    @property
    def is_whole(self) -> bool:
        """False for a part of a container, which a patch changes: it has no image."""
        return bool(self.fields.get("image"))

    def rendered_containers(self) -> Iterator[Mapping[str, Any]]:
        """Yields the container as it is in the pods of all roles of its component."""
        for pod in self.pods.roles:
            if self.is_main:
                yield pod.main
                continue
            for other in (*(pod.spec.get("containers") or ()), *(pod.spec.get("initContainers") or ())):
                if other.get("name") == self.fields.get("name"):
                    yield other

    def in_all_forms(self) -> Iterator[Mapping[str, Any]]:
        """Yields the container with the defaults of its component type, and then as it is in the pods of all roles."""
        yield self.fields
        yield from self.rendered_containers()


class JudgedCommand(NamedTuple):
    """A command line with its flags as a parser reads them.

    `is_known` is false if the version of the image is not known. `others` are the command line as the other releases read it: any of them
    may be in the image.
    """

    container: AuthorContainer
    command: EngineCommand
    table: FlagTable
    parsed: ParsedCommand
    is_known: bool = True
    others: tuple[tuple[FlagTable, ParsedCommand], ...] = ()

    @property
    def plan(self) -> ComponentPlan:
        """The component."""
        return self.container.plan

    @property
    def engine(self) -> Engine | None:
        """The engine whose worker the command starts; None for another program, such as a frontend."""
        return engines.of_program(self.command.program)

    def number(self, *options: str, default: int = 1) -> int | None:
        """Returns the number behind a flag, by any of its names: the default without the flag, and None if it is not known."""
        use = self.parsed.last(self.table, *options)
        if use is None:
            return default
        return int(use.text) if use.text is not None and re.fullmatch(r"[0-9]{1,6}", use.text, re.ASCII) else None

    def text(self, *options: str) -> str | None:
        """Returns the value of a flag, by any of its names; None without a known value."""
        use = self.parsed.last(self.table, *options)
        return use.text if use else None

    def field_of(self, word: Word) -> str:
        """Returns the path of the item that has a word, for messages."""
        return results.field(self.container.at(word.field, word.item))

    def has(self, *options: str) -> bool:
        """Returns true if the command line has one of these flags."""
        return any(self.parsed.last(self.table, option) for option in options)


class ReadContainer(NamedTuple):
    """What a container starts, as `engine_commands.read` finds it, with parsed command lines."""

    commands: list[JudgedCommand]
    problems: list[LaunchProblem]
    references: Sequence[Reference]
    reason: str


def containers(pods: Pods) -> Iterator[AuthorContainer]:
    """Yields the containers of a component, with the defaults of their commands."""
    for plan in pods.plan.templates:
        main = _with_default_command(plan) if plan.features.has_role_templates else pods.main
        yield _container(pods, plan, main, partial(plan.at, "main"), is_main=True)
        for number, container in enumerate(plan.pod.spec.get("containers") or ()):
            is_frontend = container.get("name") and container.get("name") == plan.features.frontend_sidecar
            sidecar = _container(pods, plan, container, partial(plan.at, "sidecars", number), is_main=False)
            yield sidecar._replace(fields=next(sidecar.rendered_containers(), container)) if is_frontend else sidecar
        for number, container in enumerate(plan.pod.spec.get("initContainers") or ()):
            yield _container(pods, plan, container, partial(plan.at, "pod", "initContainers", number), is_main=False)


def _with_default_command(plan: ComponentPlan) -> Any:
    """The main container of a pod template of its own, over the default command of its component type."""
    if plan.features.sidecar_mode:
        return plan.pod.container
    default = {field: [*words] for field, words in (("command", plan.type.command), ("args", plan.type.args)) if words}
    return merge.overlay(default, plan.pod.container)


def _container(pods: Pods, plan: ComponentPlan, fields: Any, at: Callable[[WordsField, int], Path], *, is_main: bool) -> AuthorContainer:
    """A container with the version of its image. An override counts for the main container."""
    written = plan.pod.container if is_main else fields
    override = plan.paths.written.get("runtimeVersionOverride") if is_main else None
    if isinstance(override, str) and override:
        return AuthorContainer(pods, plan, fields, written, at, version.core(override), bool(_OF_RELEASE.fullmatch(override)), is_main)
    image = fields.get("image") or ""
    known = None if _is_of_engine(image) else version.of_image(image)
    is_exact = bool(_OF_RELEASE.fullmatch(dynamo_images.parts(image).tag))
    return AuthorContainer(pods, plan, fields, written, at, known, is_exact, is_main)


def engine_of_image(container: AuthorContainer) -> str:
    """Returns the only engine that NVIDIA's image of a container has, by the Dockerfiles in `container/templates` of Dynamo; else empty."""
    image = dynamo_images.parts(f"{container.fields.get('image') or ''}")
    return next((name for name in engines.names() if image[:2] == (dynamo_images.REGISTRY, engines.get(name).runtime_image)), "")


def _is_of_engine(image: str) -> bool:
    """True for an image of an engine without Dynamo."""
    return any(dynamo_images.parts(image).name in engines.get(name).own_images for name in engines.names())


def of_container(container: AuthorContainer) -> ReadContainer:
    """Returns what a container starts."""
    read = engine_commands.read(container.fields)
    judged: list[JudgedCommand] = []
    problems = [problem for problem in read.problems if not problem.is_mistake]
    problems += [_with_default(problem, container) for problem in read.problems if problem.is_mistake and _is_real(problem, container)]
    for command in read.commands:
        if one := _judge_command(container, command):
            judged.append(one)
        else:
            problems.append(LaunchProblem(command.start, "no table of flags is near the version of its image"))
    return ReadContainer(judged, problems, read.references if container.is_whole else (), read.reason)


def _is_real(problem: LaunchProblem, container: AuthorContainer) -> bool:
    """True if the author wrote the word of a mistake, and the pods have the mistake too.

    Default arguments behind an author's line for a shell have no effect. On several nodes, a render can join the words of the author to a
    line for a shell.
    """
    if problem.code not in _OF_LAUNCH:
        return True
    if not container.is_whole or not container.written.get(problem.word.field):
        return False
    if not container.is_main or container.plan.placement.nodes == 1:
        return True
    return any(problem.code == other.code for main in container.rendered_containers() for other in engine_commands.read(main).problems)


def _with_default(problem: LaunchProblem, container: AuthorContainer) -> LaunchProblem:
    """Names the default command in the message of a mistake if the author wrote none, and the module that the author meant."""
    command = container.fields.get("command") or ()
    if problem.code not in _OF_LAUNCH or container.written.get("command") or not command:
        return problem
    reason = f"with the default command `{' '.join(command)}`, {problem.reason}"
    frontend = types.get("frontend")
    if tuple(command) == frontend.command:
        reason = reason.replace(f"-m and {started_programs.A_MODULE}", " ".join(frontend.args))
    elif problem.word.item == 0 and container.plan.engine:
        what, _, _ = reason.partition("; ")
        reason = f"{what}; write command: [python3, -m, dynamo.{container.plan.engine}], and leave the flags in args"
        return problem._replace(reason=reason, items=())
    return problem._replace(reason=reason)


def _judge_command(container: AuthorContainer, command: EngineCommand) -> JudgedCommand | None:
    """Parses a command line with the table of its image. None if no table is near enough."""
    if container.version is None and _is_of_engine(container.fields.get("image") or ""):
        return None
    if container.version is None:
        every = [(table, _parse_command(command, table)) for table in flag_tables.of_each_minor(command.program)]
        return JudgedCommand(container, command, *every[-1], is_known=False, others=tuple(every[:-1])) if every else None
    table = flag_tables.of_version(command.program, container.version)
    if table is None:
        return None
    table = table._replace(is_exact=table.is_exact and container.is_exact)
    return JudgedCommand(container, command, table, _parse_command(command, table))


def _parse_command(command: EngineCommand, table: FlagTable) -> ParsedCommand:
    return command_line_parser.parse(command.words, table, command.start)


class InjectedFlags(NamedTuple):
    """The flags that a render adds, by their first names. `changes` is false if the pods of all roles run the author's command."""

    flags: dict[str, str]
    changes: bool


def injected_flags(judged: JudgedCommand) -> InjectedFlags:
    """Returns the flags that a render adds to the command of a main container on several nodes."""
    author = _count_flags(judged.parsed)
    flags: dict[str, str] = {}
    changes = not judged.container.pods.roles
    for main in judged.container.rendered_containers():
        rendered = [command for command in engine_commands.read(main).commands if command.program == judged.command.program]
        changes = changes or [_list_words(command) for command in rendered] != [_list_words(judged.command)]
        for command in rendered:
            parsed = command_line_parser.parse(command.words, judged.table, command.start)
            added = _count_flags(parsed) - author
            flags |= {use.flag.name: use.option for use in parsed.uses if use.flag.name in added}
    return InjectedFlags(flags, changes)


def _list_words(command: EngineCommand) -> list[str]:
    return [word.text for word in command.words]


def _count_flags(parsed: ParsedCommand) -> Counter[str]:
    return Counter(use.flag.name for use in parsed.uses)
