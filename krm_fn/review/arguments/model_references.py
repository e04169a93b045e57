"""Findings about base models in graphs that their workers do not serve.

Pods carry the hash of the name in `modelRef`, and a DynamoModel finds them by it (operator: internal/modelendpoint). A worker answers to
`--served-model-name`, and without it to `--model`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Ref, Result
from krm_fn.review.arguments.judged_commands import JudgedCommand

_MODEL, _SERVED = ("--model", "--model-path"), "--served-model-name"
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)


def check(commands: Iterable[JudgedCommand], ref: Ref) -> Iterator[Result]:
    """Yields a finding for each component whose `modelRef` names another model of the Hub than its worker loads and serves."""
    for judged in commands:
        name = judged.plan.exposure.model
        model = judged.text(*(flag for flag in _MODEL if flag in judged.table.flags)) or ""
        served = (judged.text(_SERVED) or "").replace(",", " ").split()
        names = {model, *served}
        if judged.parsed.is_complete and _HUB_NAME.fullmatch(name) and _HUB_NAME.fullmatch(model) and name not in names:
            right = next((entry for entry in served if _HUB_NAME.fullmatch(entry)), model)
            message = f"modelRef names {name}, and the worker loads {model}; write {right}"
            path = judged.plan.at("modelRef", "name")
            yield results.warning(codes.BASE_MODEL_NOT_LOADED, message, ref, path, current=name, proposed=right)
