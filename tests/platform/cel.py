"""Cases for the rules in CEL, and the comparison of an API server with our own check."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.render import config, expand
from krm_fn.render.schema import rule_messages
from krm_fn.schemas.generate import structural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.testbed.control_plane import ControlPlane


class Case(NamedTuple):
    """A resource and the one rule that it breaks; without a code it breaks no rule."""

    reason: str
    written: dict[str, Any]
    code: str = ""
    field: str = ""


def compare(case: Case, plane: ControlPlane, codes: Iterable[str]) -> None:
    """The server refuses the resource with this code alone, at the field; our check finds the same, with the same sentence.

    `codes` are the codes of all cases: our check has other findings too.
    """
    answer = plane.apply(case.written)
    causes = [] if answer.ok else [(each["field"], each["message"]) for each in answer.body["details"]["causes"]]
    assert [field for field, _ in causes] == ([case.field] if case.code else []), causes
    found = [each for each in expand.expand([case.written], config.Config()).results if each.severity == "error"]
    assert {each.code for each in found} & {*codes} == ({case.code} if case.code else set())
    if case.code:
        said = [each.message for each in found if each.code == case.code]
        assert all(re.fullmatch(f".*{case.code} {_sentence(case.code)}", message) for _, message in causes)
        assert all(re.fullmatch(_sentence(case.code), message) for message in said)


def rules(version: str) -> set[str]:
    """The codes of the rules that the definitions of a version have, without rules about a change."""
    kinds = [kind for kind in structural.kinds() if structural.address(kind)[0] == f"nvidia.com/{version}"]
    models = structural.models(kinds).values()
    every = [rule for shown in models for key in ("x-kubernetes-validations", "x-rules-of-entries") for rule in _listed(shown.get(key, ()))]
    return {rule["message"].partition(" ")[0] for rule in every if "oldSelf" not in rule["rule"] or "optionalOldSelf" in rule}


def _listed(found: Any) -> list[dict[str, Any]]:
    return [*found.values()] if isinstance(found, dict) else [*found]


def _sentence(code: str) -> str:
    """The sentence of a rule as a pattern, with any words in its slots."""
    return re.sub(r"\\{\w+\\}", ".+", re.escape(rule_messages.MESSAGES[code]))
