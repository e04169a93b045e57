"""Flags that people bring from another engine or from an older release, and what to write in their place.

`foreign_flags.json` has a row for each flag of each program: the flag, where it comes from, what to write, and with which value if not the
author's. Of several rows of one flag, the first counts whose flags the release has. A source with a version is the newest release with the
flag that was read. The rows were read from these parsers, and are written by hand:

* vLLM and `vllm serve`: `vllm/engine/arg_utils.py` and `vllm/entrypoints/openai/cli_args.py` of 0.6.6, 0.8.5, 0.10.2, 0.12.0, 0.14.1
  and 0.31.0
* SGLang: `sglang/srt/server_args.py` of 0.4.6.post5, 0.5.2, 0.5.6, 0.5.8 and 0.5.21
* Dynamo: `dynamo/{vllm,sglang,trtllm,frontend}` of 0.4.1, 0.5.1, 0.6.1, 0.7.1 and 0.8.1, and the tables of later releases
* `trtllm-serve`: `tensorrt_llm/commands/serve.py`
* Text Generation Inference: `docs/source/reference/launcher.md`
* llama.cpp: `tools/server/README.md`
"""

from __future__ import annotations

import json
from functools import cache

from krm_fn.base import registry
from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments import flag_tables
from krm_fn.review.arguments.flag_tables import FlagTable


class ForeignFlag(NamedTuple):
    """A flag that a program does not have. `source` has it, for example `SGLang`.

    `write` is what to write: flags, perhaps with a value, or `nothing` with a reason behind a colon; empty if that is not known.
    `value` says which value they need; empty if it is that of the author, or part of `write`.
    """

    source: str
    write: str = ""
    value: str = ""


def of(option: str, table: FlagTable) -> ForeignFlag | None:
    """Returns the flag of another engine or older release, and what the release of a table has for it; None without a row."""
    listed = rows().get(table.program, {}).get(option, [])
    offered = next((row for row in listed if _has_all(table, row.write)), None)
    return offered or (ForeignFlag(listed[0].source) if listed else None)


def program_with(option: str, table: FlagTable) -> str:
    """Returns another program of Dynamo that has a flag in some release; empty without one."""
    others = (program for program in rows() if program != table.program)
    return next((program for program in others if flag_tables.releases_of(program, option)), "")


@cache
def rows() -> dict[str, dict[str, list[ForeignFlag]]]:
    """Returns the rows of each flag of each program."""
    by_flag: dict[str, dict[str, list[ForeignFlag]]] = {}
    for program, listed in json.loads(registry.data("review/arguments/foreign_flags.json")).items():
        for option, *row in listed:
            by_flag.setdefault(program, {}).setdefault(option, []).append(ForeignFlag(*row))
    return by_flag


def _has_all(table: FlagTable, write: str) -> bool:
    """True if a release accepts the flags of a text, and does not call one of them deprecated. Flags of other programs are not judged."""
    if write.startswith("nothing") or " of dynamo." in write:
        return True
    return all(_has(table, word.partition("=")[0]) for word in write.split() if word.startswith("--"))


def _has(table: FlagTable, option: str) -> bool:
    if table.parser.dynamic and option.startswith(table.parser.dynamic):
        return True
    flag = table.flags.get(option.partition(".")[0] if any(stage.dotted for stage in table.stages) else option)
    return flag is not None and not flag.deprecated and option not in flag.deprecated_aliases
