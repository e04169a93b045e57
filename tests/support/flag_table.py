"""A small flag table with every behaviour of parsers that the tables can describe: two stages, all numbers of values, and all types."""

from __future__ import annotations

from typing import Any

CONTENT: dict[str, Any] = {
    "program": "toy",
    "modules": ["toy"],
    "releases": {"1.0.0": {"engine": "toys 1", "parser": 0}, "1.1.0": {"engine": "toys 2", "parser": 1}},
    "parsers": [
        {"stages": [{"abbreviations": True, "underscores": False, "dotted": False}], "unknown": "refused", "positionals": "none"},
        {
            "stages": [
                {"abbreviations": False, "underscores": False, "dotted": False},
                {"abbreviations": True, "underscores": True, "dotted": True},
            ],
            "unknown": "refused",
            "config_files": ["--config"],
            "positionals": "none",
        },
    ],
    "flags": {
        "--config": [{"since": "1.0.0", "stage": 1}],
        "--deprecated": [{"since": "1.0.0", "stage": 1, "deprecated": "use --model"}],
        "--enable-cache": [{"since": "1.1.0", "stage": 1, "values": "0", "negations": ["--no-enable-cache"]}],
        "--endpoint": [{"since": "1.1.0", "aliases": ["-e"]}],
        "--json": [{"since": "1.1.0", "stage": 1, "type": "json"}],
        "--kind": [{"since": "1.1.0", "stage": 1, "choices": ["auto", "half"]}],
        "--levels": [{"since": "1.1.0", "stage": 1, "values": "*", "type": "int"}],
        "--maybe": [{"since": "1.1.0", "stage": 1, "values": "?", "type": "int"}],
        "--model": [{"since": "1.0.0", "until": "1.0.0"}, {"since": "1.1.0", "stage": 1, "required": True}],
        "--names": [{"since": "1.1.0", "stage": 1, "values": "+"}],
        "--old-mode": [{"since": "1.0.0", "until": "1.0.0"}],
        "--pair": [{"since": "1.1.0", "stage": 1, "values": "2"}],
        "--plugin": [{"since": "1.1.0", "stage": 1, "action": "append"}],
        "--removed": [{"since": "1.0.0", "until": "1.0.0"}],
        "--share": [{"since": "1.1.0", "stage": 1, "type": "float"}],
        "--size": [{"since": "1.1.0", "stage": 1, "type": "int", "aliases": ["-s"]}],
        "--size-local": [{"since": "1.1.0", "stage": 1, "type": "int"}],
        "--switch": [{"since": "1.1.0", "values": "0"}],
    },
    "replacements": {"--old-mode": {"since": "1.1.0", "write": "--kind auto", "source": "the parser's text in 1.0.0"}},
}
"""The content of the file of this table."""
