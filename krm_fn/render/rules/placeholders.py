"""Placeholders that nobody has replaced: variables of a shell or of Flux, actions of Helm, and words such as `REPLACE_ME`.

A resource with a placeholder has one finding about it, in place of the errors that the placeholder causes. These errors are known from a
second expansion, in which a plain text is in place of each placeholder.

Only fields that no shell, program or template reads are judged. `$(NAME)` is a reference of Kubernetes, and no placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths
from krm_fn.render.resolve import release_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource

CODE, NOTED = codes.UNSUBSTITUTED_PLACEHOLDER, codes.RENDERED_PLACEHOLDER
_VARIABLE = r"\$\{[A-Za-z_]\w*(?::?[-=?+][^{}$]*)?\}|\$[A-Za-z_]\w*"
_ACTION = r"\{\{[^{}]*\}\}"
_WORD = r"<[A-Za-z][\w .:/-]*>|(?<![A-Za-z0-9_])(?:(?:REPLACE|CHANGE)[-_]?ME|REPLACE_WITH_\w+|YOUR_\w+|TODO|FIXME)(?![A-Za-z0-9_])"
_PLACEHOLDER = re.compile(f"{_VARIABLE}|{_ACTION}|{_WORD}", re.ASCII)
_OWNER = r"registry|repo|repository|org|organi[sz]ation|company|project|username|user|account"
_PARTS = rf"your[-_]?(?:{_OWNER})(?:\.[a-z0-9.-]+)?|my[-_](?:registry|repo|org)|(?:your|my)[-_](?:tag|version)|x\.y\.z"
_IN_IMAGE = re.compile(f"{_PLACEHOLDER.pattern}|(?:\\A|(?<=[/:]))(?i:{_PARTS})(?=[/:@]|\\Z)", re.ASCII)
"""The same in an image, whose folders and tag can also be words of a guide, such as `your-registry` and `my-tag`."""
_HELM = re.compile(r"\.(?:Values|Release|Chart)\b|(?:include|range|if|with|define|template|end|toYaml)\b")
"""The words in an action that is one of Helm."""
_STAND_IN = re.compile(r"placeholder[0-9]+")
_READ_OTHERWISE = ("command", "args", "env", "envs", "annotations", "config", "parameters")
"""Fields whose texts a shell, a program or a template may read."""
_QUANTITIES = ("limits", "requests", "size", "sizeLimit", "storage")
_SHOWN = 6
_LONGEST = 60
_FIXES = {
    "$": "envsubst or a patch of kustomize (Flux does it only after the render)",
    "{": "helm template",
    "": "your own values",
}


class Placeholder(NamedTuple):
    """A placeholder in a field, as a message shows it: without the default value of a variable."""

    path: Path
    text: str


def find(resource: Resource) -> list[Placeholder]:
    """Returns the placeholders in the judged fields of a resource."""
    return [
        Placeholder(path, _show_placeholder(match[0]))
        for path, value in paths.leaves(resource)
        if isinstance(value, str) and not any(step in _READ_OTHERWISE for step in path)
        for match in _pattern(path).finditer(value)
    ]


def _pattern(path: Path) -> re.Pattern[str]:
    return _IN_IMAGE if path[-1:] == ("image",) else _PLACEHOLDER


def neutral(resource: Resource, placeholders: Sequence[Placeholder]) -> Resource:
    """Returns a resource with a text that names and images can have in place of each placeholder, and with 1 in quantities."""
    stand_ins = _stand_ins(placeholders)
    for path in {placeholder.path for placeholder in placeholders}:
        value = paths.at(resource, path)
        is_quantity = any(step in _QUANTITIES for step in path) and _PLACEHOLDER.fullmatch(value)
        new = "1" if is_quantity else _pattern(path).sub(lambda match: stand_ins[_show_placeholder(match[0])], value)
        resource = paths.replace_at(resource, path, new)
    return resource


def _stand_ins(placeholders: Iterable[Placeholder]) -> dict[str, str]:
    """Returns a short name in place of each placeholder."""
    return {text: f"placeholder{number}" for number, text in enumerate(dict.fromkeys(placeholder.text for placeholder in placeholders))}


def replace(
    resource: Resource, placeholders: Sequence[Placeholder], findings: Sequence[Result], neutral_findings: Iterable[Result]
) -> list[Result] | None:
    """Returns the finding about the placeholders, and the findings that they do not cause. None if they cause no error.

    `findings` are about the resource as it is, and `neutral_findings` about its `neutral` form.
    """
    at = {placeholder.path for placeholder in placeholders}
    ref = results.ref(resource)
    texts = {stand_in: text for text, stand_in in _stand_ins(placeholders).items()}
    others = [
        finding._replace(ref=ref, message=_STAND_IN.sub(lambda match: texts.get(match[0], match[0]), finding.message))
        for finding in neutral_findings
        if not any(finding.path[: len(path)] == path for path in at)
        and not (finding.code in release_choice.WITHOUT_VERSION and _has_image(at))
    ]
    known = {(finding.code, finding.path) for finding in others}
    serious = [finding for finding in findings if finding.severity == "error" or finding.code in release_choice.WITHOUT_VERSION]
    caused = any((finding.code, finding.path) not in known for finding in serious)
    return [_error(resource, placeholders), *others] if caused else None


def _has_image(fields: Iterable[Path]) -> bool:
    return any(path[-1:] == ("image",) for path in fields)


def check(resources: Iterable[Resource], findings: Iterable[Result]) -> Iterator[Result]:
    """Warns of placeholders that cause no error: the objects have them as they are. `findings` are the others about the resources.

    Only `krm-fn check` warns, because a render changes nothing here.
    """
    known = {finding.ref for finding in findings if finding.code == CODE}
    for resource in resources:
        if results.ref(resource) not in known and (placeholders := find(resource)):
            message = (
                f"{_list_names(placeholders)}, which the rendered objects keep; {_fix(placeholders)}, or ignore {NOTED} if Flux "
                f"substitutes {_pronoun(placeholders)} in the rendered objects"
            )
            yield results.warning(NOTED, message, results.ref(resource), placeholders[0].path)


def absorb(findings: Iterable[Result], resources: Iterable[Resource]) -> list[Result]:
    """Returns findings about finished objects, with one about the placeholders of an object in place of those at fields with one."""
    by_ref = {results.ref(resource): resource for resource in resources}
    judged: dict[Any, Result] = {}
    for number, finding in enumerate(findings):
        resource = by_ref.get(finding.ref) if finding.ref and finding.severity == "error" else None
        value = paths.at(resource, finding.path) if resource else None
        if resource and isinstance(value, str) and _pattern(finding.path).search(value) and (placeholders := find(resource)):
            judged.setdefault(finding.ref, _error(resource, placeholders))
        else:
            judged[number] = finding
    return [*judged.values()]


def once_a_file(findings: Sequence[Result], resources: Iterable[Resource]) -> list[Result]:
    """Returns findings with their locations, with one error about the placeholders of each file. It names those of all its resources.

    Warnings alone stay as they are, because each can be ignored at its resource.
    """
    by_file: dict[str, list[Result]] = {}
    for finding in findings:
        if finding.code in (CODE, NOTED) and finding.file and finding.ref:
            by_file.setdefault(finding.file, []).append(finding)
    ordered = {file: sorted(listed, key=lambda finding: (finding.code != CODE, finding.line)) for file, listed in by_file.items()}
    repeated = {file: listed for file, listed in ordered.items() if len(listed) > 1 and listed[0].code == CODE}
    if not repeated:
        return [*findings]
    by_ref = {results.ref(resource): resource for resource in resources}
    changed: dict[int, Result | None] = {}
    for first, *others in repeated.values():
        named = [by_ref[finding.ref] for finding in (first, *others) if finding.ref in by_ref]
        message = _message([placeholder for resource in named for placeholder in find(resource)])
        changed |= {id(first): first._replace(message=message), **dict.fromkeys(map(id, others))}
    return [finding for finding in (changed.get(id(entry), entry) for entry in findings) if finding]


def of_text(text: str, file: str) -> Result | None:
    """Returns the finding about a text that is no YAML because it is a template of Helm; None for another text."""
    actions = [action for action in re.finditer(_ACTION, text) if _HELM.search(action[0])]
    if not actions:
        return None
    start = text.rfind("\n", 0, actions[0].start()) + 1
    line, column = text.count("\n", 0, start) + 1, actions[0].start() - start + 1
    message = _message([Placeholder((), _show_placeholder(action[0])) for action in actions])
    return results.error(CODE, message, file=file, line=line, column=column)


def _error(resource: Resource, placeholders: Sequence[Placeholder]) -> Result:
    return results.error(CODE, _message(placeholders), results.ref(resource), placeholders[0].path)


def _message(placeholders: Iterable[Placeholder]) -> str:
    listed = [*placeholders]
    return f"{_list_names(listed)}, which nothing has substituted; {_fix(listed)}"


def _list_names(placeholders: Sequence[Placeholder]) -> str:
    """Returns the names of placeholders in words, each once."""
    texts = [f"`{text}`" for text in dict.fromkeys(placeholder.text for placeholder in placeholders)]
    rest = [f"{len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    listed = [*texts[:_SHOWN], *rest]
    joined = " and ".join(filter(None, [", ".join(listed[:-1]), listed[-1]]))
    return f"{joined} {'is a placeholder' if len(texts) == 1 else 'are placeholders'}"


def _pronoun(placeholders: Iterable[Placeholder]) -> str:
    return "it" if len({placeholder.text for placeholder in placeholders}) == 1 else "them"


def _fix(placeholders: Sequence[Placeholder]) -> str:
    starts = dict.fromkeys(placeholder.text[0] if placeholder.text[0] in _FIXES else "" for placeholder in placeholders)
    return f"substitute {_pronoun(placeholders)} before the render, with {' and '.join(_FIXES[start] for start in starts)}"


def _show_placeholder(text: str) -> str:
    """Returns a placeholder without the default value of its variable, which may be secret, and shortened."""
    name = re.match(r"\$\{\w+", text)
    shown = f"{name[0]}}}" if name else text
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
