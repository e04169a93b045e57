"""Findings about vLLM's `--speculative-config` beside the table of its fields.

vLLM ends without `num_speculative_tokens`, unless the configuration of the draft model has `n_predict`, as that of multi-token prediction
has, or the method has a number of its own. It also ends without `model` if the method needs a draft model and none is in the model itself
(`vllm/config/speculative.py` of vLLM 0.14.1 to 0.33.0, `__post_init__` and `_verify_args`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.base import codes, spelling
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_PROGRAM, _FLAG = "dynamo.vllm", "--speculative-config"
_NUMBERS = ("num_speculative_tokens", "num_speculative_tokens_per_batch_size")
_METHODS = ("ngram", "ngram_gpu", "eagle", "eagle3", "draft_model")
"""Methods of which no draft model has a number: the configurations of EAGLE models and of plain models have no `n_predict`."""


_WITH_DRAFT_MODEL = ("eagle", "eagle3", "draft_model", "medusa", "mlp_speculator", "dflash")
"""Methods whose draft model vLLM does not take from the model itself."""


def check(commands: Iterable[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each document without a number of tokens or without a draft model that its method needs."""
    for judged in commands:
        use = judged.parsed.last(judged.table, _FLAG) if judged.command.program == _PROGRAM else None
        document = use.document or {} if use else {}
        method, has_number = document.get("method"), any(_is_like(name, _NUMBERS) for name in document)
        if use and method in _METHODS and not has_number:
            message = f"the method {method} needs num_speculative_tokens, or vLLM ends at its start"
            fix = 'add "num_speculative_tokens" with the number of tokens that it guesses at once, such as 3'
            yield WorkerFinding(judged, ArgumentFinding(codes.SPECULATION_WITHOUT_TOKENS, "warning", use.values[0], f"{message}; {fix}"))
        if use and method in _WITH_DRAFT_MODEL and has_number and not any(_is_like(name, ("model",)) for name in document):
            message = f"the method {method} needs a draft model, or vLLM ends at its start"
            fix = 'add "model" with the name of the draft model for the model of this worker'
            yield WorkerFinding(judged, ArgumentFinding(codes.SPECULATION_WITHOUT_MODEL, "warning", use.values[0], f"{message}; {fix}"))


def _is_like(name: str, fields: tuple[str, ...]) -> bool:
    """True for one of some fields, also for a misspelt one, which has a finding of its own. vLLM reads dashes, too."""
    plain = name.replace("-", "_")
    return plain in fields or bool(spelling.nearest(plain, fields))
