"""Findings about the YAML file of flags that `--config` of SGLang names, if it is a key of a ConfigMap of the input.

SGLang makes a flag of each key, and puts these flags before those of the command line (`sglang/srt/server_args_config_parser.py`,
`ConfigArgumentMerger`, since 0.5.8). So they have the findings of flags, of sizes and of modes. Files in flow style are not read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Result, Severity
from krm_fn.base.yaml import block_style
from krm_fn.kubernetes.types import Resource
from krm_fn.review.arguments import argument_findings, argument_rules, command_line_parser, size_rules, worker_transfers
from krm_fn.review.arguments.flag_tables import FlagTable
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.shell_words import Word

PROGRAM, FLAG = "dynamo.sglang", "--config"
_SETTING = re.compile(r"write --([\w-]+) (?=[\w./-]+(?:,|$))")
_OPTION = re.compile(r"(?<![\w-])--(?=[a-z])")
_UNKNOWN, _SIZES = (codes.UNKNOWN_FLAG, codes.FLAG_OF_OTHER_RELEASE), (codes.TOO_FEW_GPUS, codes.TOO_MANY_GPUS)
_LISTED = (
    codes.UNKNOWN_FLAG,
    codes.FLAG_OF_OTHER_RELEASE,
    codes.UNKNOWN_FLAG_VALUE,
    codes.FLAG_VALUE_OF_WRONG_TYPE,
    codes.FLAG_VALUE_NOT_JSON,
    codes.TOO_FEW_GPUS,
    codes.TOO_MANY_GPUS,
    codes.COMPONENT_TYPE_OF_OTHER_MODE,
    codes.NUMBER_REFUSED_BY_ENGINE,
)
"""The codes of flags and values, of sizes that do not fit the GPUs, and of modes that do not fit the type."""


def check(judged: JudgedCommand, config_map: Resource, key: str) -> Iterator[Result]:
    """Yields the findings about the file of a worker. `key` is that of the ConfigMap with the file."""
    document = config_map["data"][key]
    block = block_style.read(f"{document.rstrip()}\n")
    if block is None or not judged.is_known:
        return
    fields = [*block.value]
    own = [word for number, field in enumerate(fields) for word in _words(field, block.value[field], number, judged.table)]
    words = [*own, *_without_file(judged.command.words)]
    command = judged.command._replace(words=words)
    merged = judged._replace(command=command, parsed=command_line_parser.parse(words, judged.table, command.start))
    findings = [
        *argument_rules.check(merged.parsed, judged.table),
        *(size_rules.check(merged, None) if judged.plan.placement.nodes == 1 else ()),
        *(finding for _, finding in worker_transfers.check_type(merged, Counter())),
    ]
    for field in fields:
        if isinstance(block.value[field], bool) and (whole := _whole_name(field, judged.table)):
            problem = f"{key}: SGLang gives `{field}` a value, because it is not the whole name of a flag, so the worker ends at its start"
            within = block_style.position(document, field)
            severity: Severity = "error" if judged.table.is_exact else "warning"
            yield Result(severity, codes.UNKNOWN_FLAG, f"{problem}; write {whole}", results.ref(config_map), ("data", key), within=within)
    is_misspelt = any(finding.code in _UNKNOWN for finding in findings)
    for finding in findings:
        number = -1 - finding.word.item
        if is_misspelt and finding.code in _SIZES:
            continue  # a misspelt field may be the size
        if finding.code in _LISTED and number >= 0:
            within = block_style.position(document, fields[number])
            message = f"{key}: {_as_field(finding.message)}"
            severity = finding.severity if judged.table.is_exact else "warning"
            yield Result(severity, finding.code, message, results.ref(config_map), ("data", key), within=within)
        elif finding.code in _SIZES:
            yield argument_findings.result(judged.container, judged.plan.ref, finding)


def _whole_name(field: str, table: FlagTable) -> str:
    """Returns the name of the only flag without a value that a field is the beginning of; empty for a whole name, and without one."""
    option = f"--{field}"
    flags = {flag.name for name, flag in table.flags.items() if name.startswith(option) and flag.values == "0"}
    return flags.pop().removeprefix("--") if option not in table.flags and len(flags) == 1 else ""


def _as_field(message: str) -> str:
    """Returns the message about a flag in the words of a file.

    >>> _as_field("`--tp` is `2`; write --disaggregation-mode decode, or --tp")
    '`tp` is `2`; write disaggregation-mode: decode, or tp'
    """
    return _OPTION.sub("", _SETTING.sub(r"write \1: ", message))


def _words(field: str, value: Any, number: int, table: FlagTable) -> Iterator[Word]:
    """Yields the words of one field, as `ConfigArgumentMerger` makes them. The items of words of a file are negative."""
    flag = table.flags.get(f"--{field}")
    if value is False and flag and flag.values == "0":
        return
    if isinstance(value, list):
        texts = [f"{entry}" for entry in value]
    elif value is True and flag and flag.values == "0":
        texts = []
    else:
        texts = [f"{value}".lower() if isinstance(value, bool) else json.dumps(value) if isinstance(value, dict) else f"{value}"]
    for text in (f"--{field}", *texts) if texts or not isinstance(value, list) else ():
        yield Word(text, "args", -1 - number)


def _without_file(words: list[Word]) -> Iterator[Word]:
    """Yields the words of a command line without the flag of the file and its name."""
    is_name = False
    for word in words:
        if not is_name and word.text != FLAG:
            yield word
        is_name = word.text == FLAG
