"""Findings about prefill workers that decode workers in other pods cannot reach.

A decode worker of SGLang asks a server of the prefill worker where the key-value cache is. Dynamo tells it the address of the pod
(`dynamo/sglang/_disagg.py`, before 1.6 `request_handlers/handler_base.py`), and the server listens at `--host`, by default 127.0.0.1
(`sglang/srt/managers/disagg_service.py` and `CommonKVBootstrapServer` in `disaggregation/common/conn.py` of SGLang 0.5.8 to 0.5.23).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import codes
from krm_fn.review.arguments import worker_modes
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import DECODE, PREFILL, WorkerFinding

_ALL = "0.0.0.0"  # noqa: S104 - of a pod
_LOCAL = ("127.0.0.1", "localhost", "::1")


def check(commands: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each prefill worker that listens in its own pod only, in a graph with a decode worker of the same engine."""
    workers = [(judged, _flag(judged)) for judged in commands]
    decoding = {flag for judged, flag in workers if worker_modes.mode(judged) == DECODE}
    for judged, flag in workers:
        use = judged.parsed.last(judged.table, flag) if flag else None
        if flag not in decoding - {""} or worker_modes.mode(judged) != PREFILL or (use and use.text not in _LOCAL):
            continue
        where = f"{flag} {use.text}" if use else f"without {flag}"
        message = (
            f"{where}, the prefill worker answers in its own pod only, and no decode worker gets the key-value cache; "
            f"{'write' if use else 'add'} {flag} {_ALL}"
        )
        yield WorkerFinding(
            judged, ArgumentFinding(codes.PREFILL_LISTENS_LOCALLY, "warning", use.word if use else worker_modes.word(judged), message)
        )


def _flag(judged: JudgedCommand) -> str:
    """Returns the flag with the address of a worker for decode workers; empty for an engine without such a flag."""
    return judged.engine.bootstrap_host_flag if judged.engine else ""
