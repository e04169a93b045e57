"""Warns of YAML and JSON in ConfigMaps that no parser reads: the program that mounts the file ends at its start.

Templates are no YAML, so a text with their marks is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.base.yaml import reader
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.render.manifests import ownership

_YAML, _JSON = (".yaml", ".yml"), ".json"
_MARKS = ("{{", "{%", "<%", "${")
_LONGEST = 100_000


def check(resources: Iterable[Resource]) -> Iterator[Result]:
    """Yields a warning for each key of a ConfigMap whose name says that it has YAML or JSON, and whose text is none."""
    for resource in resources:
        if resource.get("kind") == "ConfigMap" and not ownership.is_marked(resource):
            for key, text in mapping(resource, "data").items():
                is_read = isinstance(text, str) and len(text) < _LONGEST and not any(mark in text for mark in _MARKS)
                if is_read and (problem := _problem(f"{key}", text)):
                    yield results.warning(
                        codes.CONFIG_MAP_KEY_OF_OTHER_FORMAT, f"{key} is not {problem}", results.ref(resource), ("data", key)
                    )


def _problem(key: str, text: str) -> str:
    """Returns the name of the language that a text is not, with the cause and the fix; empty for a right text, and for other keys.

    >>> _problem("a.yaml", "a: 1"), _problem("a.json", "{a: 1}"), _problem("a.txt", "{")
    ('', 'JSON, from line 1 of it on; correct this line', '')
    """
    if key.endswith(_YAML):
        findings = [finding for finding in reader.read(text)[1] if finding.severity == "error"]
        return f"YAML: line {findings[0].line} of it, {findings[0].message}" if findings else ""
    if key.endswith(_JSON):
        try:
            json.loads(text)
        except json.JSONDecodeError as problem:
            return f"JSON, from line {problem.lineno} of it on; correct this line"
        except (ValueError, RecursionError):
            return ""
    return ""
