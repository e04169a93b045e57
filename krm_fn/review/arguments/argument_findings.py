"""Findings about the command lines of engines in graphs and components, for `krm-fn check` and `krm-fn diff`.

A finding is an error if the flag table is that of the image's own release. With the table of the nearest release, or of all releases for
an image without a version, it is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from krm_fn.base import codes, edits, results
from krm_fn.base.edits import Edit
from krm_fn.base.results import Ref, Result
from krm_fn.kubernetes.types import WordsField
from krm_fn.render.expand import PlannedResource
from krm_fn.render.manifests.pod_builder import Pods
from krm_fn.render.plan import GraphPlan
from krm_fn.render.rules import field_origin
from krm_fn.review.arguments import (
    argument_rules,
    bootstrap_hosts,
    common_planes,
    engine_fields,
    engine_servers,
    frontend_programs,
    judged_commands,
    later_releases,
    model_references,
    model_sources,
    pairing_rules,
    picker_images,
    picker_settings,
    planner_backends,
    planner_images,
    pod_ports,
    router_endpoints,
    router_events,
    shell_variables,
    size_rules,
    speculative_configs,
    variable_rules,
    word_rules,
    worker_modes,
    worker_transfers,
)
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import AuthorContainer, JudgedCommand, ReadContainer
from krm_fn.review.arguments.shell_words import Word

_VARIABLE = re.compile(r"\$\(([A-Za-z_]\w*)\)", re.ASCII)
"""An item that is the value of a variable."""
_MOST = 20
"""The largest number of findings about one command line."""


def check(planned: Iterable[PlannedResource], *, notes: bool = False) -> Iterator[Result]:
    """Yields the findings about the command lines in graphs and components, at the fields of their authors.

    With `notes`, a note says why a command line is not judged, or only in part.
    """
    for resource in planned:
        yield from check_plan(resource, notes=notes)


def check_plan(planned: PlannedResource, *, notes: bool = False) -> list[Result]:
    """Returns the findings about the command lines of one graph or component."""
    if not isinstance(planned.plan, GraphPlan):
        return []
    try:
        return list(_check_graph(planned.pods, planned.plan.ref, notes=notes))
    except Exception as problem:  # noqa: BLE001 - an internal error about one graph hides no finding about the others
        return [results.internal(problem, planned.plan.ref)]


def _check_graph(components: Iterable[Pods], ref: Ref, *, notes: bool) -> Iterator[Result]:
    mains: list[JudgedCommand] = []
    containers: list[AuthorContainer] = []
    components = [*components]
    for pods in components:
        for container in judged_commands.containers(pods):
            containers += [container] if container.is_main else []
            read = judged_commands.of_container(container)
            commands = read.commands
            yield from later_releases.check(container, ref)
            yield from picker_images.check(container, ref)
            yield from engine_servers.check(container, ref)
            if notes:
                yield from _not_judged(container, ref, read)
            findings = [
                *(
                    ArgumentFinding(
                        problem.code, problem.severity, problem.word, problem.reason, old=problem.word.text, items=problem.items
                    )
                    for problem in read.problems
                    if problem.is_mistake
                ),
                *word_rules.check_references(container, read.references),
            ]
            yield from (result(container, ref, finding) for finding in findings[:_MOST])
            for judged in commands:
                beside = picker_settings.check_sidecar(judged, [other.plan for other in components]) if not container.is_main else ()
                yield from (result(container, ref, finding) for _, finding in beside)
                yield from (result(container, ref, finding) for finding in islice(_of_command(judged, len(commands)), _MOST))
            mains += commands if container.is_main and len(commands) == 1 else []
    plans = [pods.plan for pods in components]
    of_graph = (
        *(*pairing_rules.check(mains), *worker_modes.check(mains, plans), *worker_transfers.check(mains)),
        *frontend_programs.check(mains, plans),
        *bootstrap_hosts.check(mains),
        *planner_backends.check(mains, plans),
        *common_planes.check(mains),
        *router_endpoints.check(mains),
        *speculative_configs.check(mains),
        *engine_fields.check(mains),
        *router_events.check(mains, plans),
        *model_sources.check_commands(mains),
        *model_sources.check_folders(mains),
        *model_sources.check_names(mains),
        *pod_ports.check(mains),
        *shell_variables.check(mains),
    )
    for judged, finding in of_graph:
        yield result(judged.container, ref, _weaken(judged, finding))
    for judged in mains:
        yield from worker_transfers.check_variable(judged, ref)
    yield from variable_rules.check(mains, ref)
    yield from model_sources.check_caches(mains, ref)
    yield from planner_images.check(containers, ref)
    yield from model_references.check(mains, ref)
    yield from picker_settings.check(mains, plans, ref)


def _not_judged(container: AuthorContainer, ref: Ref, read: ReadContainer) -> Iterator[Result]:
    """Yields notes about the parts of a command that are not judged. Of other programs, only those of main containers are named."""
    for problem in read.problems:
        if not problem.is_mistake:
            message = (
                f"no flag is checked here, because {problem.reason}; write the command into the graph, with an image of a known release"
            )
            yield result(container, ref, ArgumentFinding(codes.COMMAND_NOT_CHECKED, "info", problem.word, message))
    for judged in read.commands:
        if not judged.parsed.is_complete:
            message = (
                "missing flags and sizes are not checked, because a variable or a file can have more flags; "
                "write the flags into the command to have them checked"
            )
            yield result(container, ref, ArgumentFinding(codes.COMMAND_NOT_CHECKED, "info", judged.command.start, message))
    if container.is_main and read.reason and not read.problems:
        message = f"no flag is checked here, because {read.reason}; to have flags checked, write the command of a program of Dynamo"
        yield results.info(codes.COMMAND_NOT_CHECKED, message, ref, container.at("command", 0))


def _of_command(judged: JudgedCommand, count: int) -> Iterator[ArgumentFinding]:
    """Yields the findings about one of the command lines of a container."""
    yield from _check_engine(judged)
    shared = [*word_rules.check_words(judged)]
    yield from shared
    judged_words = {_position(finding.word) for finding in shared if finding.code == word_rules.SEVERAL}
    if default := _default_args(judged):
        yield ArgumentFinding(codes.DEFAULT_ARGS_BEHIND_COMMAND, "error", judged.command.start, _behind_command(judged, default))
        judged_words.update(map(_position, default))
    yield from (finding for finding in of_flags(judged) if _position(finding.word) not in judged_words)
    if not judged.container.is_main or count != 1:
        return
    is_spread = judged.plan.placement.nodes > 1 and not judged.plan.features.has_role_templates
    injected = judged_commands.injected_flags(judged) if is_spread else None
    if injected:
        yield from argument_rules.check_injected(judged.parsed, injected.flags)
    yield from (_weaken(judged, finding) for finding in size_rules.check(judged, injected))


def _position(word: Word) -> tuple[str, int, int]:
    """The position of a word. A parser can give a word another text, as vLLM's does with dotted flags."""
    return word.field, word.item, word.offset


def _check_engine(judged: JudgedCommand) -> Iterator[ArgumentFinding]:
    """Reports a worker of an engine that NVIDIA's image of the container does not have."""
    has, engine = judged_commands.engine_of_image(judged.container), judged.engine
    if not has or engine is None or has == engine.name:
        return
    image, module = f"write the image {engine.runtime_image}", f"start dynamo.{has}"
    fixes = [module] if judged.plan.engine == has else [module, image] if judged.parsed.problems else [image, module]
    yield ArgumentFinding(
        codes.ENGINE_NOT_IN_IMAGE, "error", judged.command.start, f"this image has {has}, and not {engine.name}; {', or '.join(fixes)}"
    )


def _default_args(judged: JudgedCommand) -> list[Word]:
    """Returns the words of the default arguments that follow the author's whole command, because the author wrote no arguments.

    A command of another program than the default one has none: whether that program knows these words is judged word by word.
    """
    container, start = judged.container, judged.command.start
    if not container.is_main or start.field != "command" or container.written.get("args"):
        return []
    default = [word for word in judged.command.words if word.field == "args"]
    return default if start.text in (word.text for word in default) else []


def _behind_command(judged: JudgedCommand, default: Iterable[Word]) -> str:
    listed = " ".join(word.text for word in default)
    return (
        f"args is missing, so the default arguments `{listed}` follow this command, and the program does not know them; move -m "
        f"{judged.command.start.text} and the flags behind it from command to args"
    )


def of_flags(judged: JudgedCommand) -> Iterator[ArgumentFinding]:
    """Yields the findings about the flags. Without a known version, these are the findings that hold in all releases."""
    elsewhere = [argument_rules.keys(parsed, table) for table, parsed in judged.others]
    for finding in argument_rules.check(judged.parsed, judged.table):
        if all(finding.key in keys for keys in elsewhere):
            yield _weaken(judged, finding)


def _weaken(judged: JudgedCommand, finding: ArgumentFinding) -> ArgumentFinding:
    """Returns a warning in place of an error if the table is not that of the image's release."""
    return finding if judged.table.is_exact or finding.severity != "error" else finding._replace(severity="warning")


def result(container: AuthorContainer, ref: Ref, finding: ArgumentFinding) -> Result:
    """Returns the finding at the item that has its word, or at the variable whose value the whole item is.

    `within` leads to the word in an item of several lines.
    """
    word = finding.word
    item = container.fields[word.field][word.item]
    path = container.at(word.field, word.item)
    name = _VARIABLE.fullmatch(item) if word.text not in item and container.is_main else None
    if name and (variable := field_origin.of_variable(container.plan, name[1], "value"))[-1] == "value":
        path, item, word = variable, word.text, word._replace(offset=0, source="")
    within = len("".join(item[: word.offset].split()))
    edit = _edit(finding._replace(word=word), item) or (None if name else _of_items(container, finding, item))
    return results.Result(finding.severity, finding.code, finding.message, ref, path, within=within, edit=edit)


def _of_items(container: AuthorContainer, finding: ArgumentFinding, item: str) -> Edit | None:
    """Returns the edit that makes other items of one, or that adds words behind the last item. None for a word in a line of a shell."""
    if finding.word.source or finding.word.text != item:
        return None
    if finding.added:
        field: WordsField = "args" if container.fields.get("args") else "command"
        last = len(container.fields[field]) - 1
        return Edit(edits.Items((container.fields[field][last], *finding.added)), path=container.at(field, last))
    return Edit(edits.Items(finding.items)) if finding.items else None


def _edit(finding: ArgumentFinding, item: str) -> Edit | None:
    """Returns the edit that writes the word of a fix. None for another fix, or if the item writes the old word in another way."""
    new, word, old = edits.word(finding.message.rpartition("; ")[2]), finding.word, finding.old
    if not new or not old:
        return None
    if old[0] == old[-1] == '"':  # a name or a value in JSON
        new = f'"{new}"'
    length = len(word.source) or len(item) - word.offset  # without a shell, the item is the word before its references are replaced
    start = item.find(old, word.offset, word.offset + length)
    if start < 0 or item.find(old, start + 1, word.offset + length) >= 0:
        return None
    return Edit(edits.Word(len("".join(item[:start].split())), old, new), is_safe=True if finding.is_same else None)
