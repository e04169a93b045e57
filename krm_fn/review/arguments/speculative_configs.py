"""Findings about vLLM's `--speculative-config` beside the table of its fields.

vLLM ends without `num_speculative_tokens`, unless the configuration of the draft model has `n_predict`, as that of multi-token prediction
has, or the method has a number of its own (`vllm/config/speculative.py` of vLLM 0.14.1 to 0.33.0, `__post_init__` and `_verify_args`).
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


def check(commands: Iterable[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each document without a number of tokens."""
    for judged in commands:
        use = judged.parsed.last(judged.table, _FLAG) if judged.command.program == _PROGRAM else None
        document = use.document or {} if use else {}
        method = document.get("method")
        if use and method in _METHODS and not any(_is_number(name) for name in document):
            message = f"the method {method} needs num_speculative_tokens, or vLLM ends at its start"
            fix = 'add "num_speculative_tokens" with the number of tokens that it guesses at once, such as 3'
            yield WorkerFinding(judged, ArgumentFinding(codes.SPECULATION_WITHOUT_TOKENS, "warning", use.values[0], f"{message}; {fix}"))


def _is_number(name: str) -> bool:
    """True for a field with the number of tokens, also for a misspelt one, which has a finding of its own. vLLM reads dashes, too."""
    plain = name.replace("-", "_")
    return plain in _NUMBERS or bool(spelling.nearest(plain, _NUMBERS))
