"""Mistakes in the texts of graphs, as authors make them: each changes one place of a text, and leaves its comments and its format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_KEY = re.compile(r"(?<=[\s{,-])([A-Za-z]{6,})(?=: |:\n)")
_FLAG = re.compile(r"(?<=[\s\"'\[,])--[a-z][a-z-]{6,}")
_LEFT_OUT = ("metadata", "annotations", "labels", "namespace", "apiVersion", "description", "config", "script")
"""Keys that belong to every object, or below which any name is allowed."""


class Mutation(NamedTuple):
    """A mistake: its reason, and a function from a text to the text with the mistake. It returns the text as it is if nothing fits.

    `needs_consent`: the finding is a warning, so that only `--unsafe` fixes it.
    """

    reason: str
    change: Callable[[str, Random], str]
    needs_consent: bool = False


def _slip(word: str, random: Random) -> str:
    """Swaps, drops or doubles one letter behind the first one."""
    at = random.randrange(1, len(word) - 1)
    kind = random.choice(("swap", "drop", "double"))
    if kind == "swap" and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :] if kind == "drop" else word[:at] + word[at] + word[at:]


def _uncommented(text: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Returns the matches outside of comments."""
    return [match for match in pattern.finditer(text) if "#" not in text[text.rfind("\n", 0, match.start()) + 1 : match.start()]]


def _at_random(text: str, pattern: re.Pattern[str], random: Random, change: Callable[[re.Match[str]], str]) -> str:
    matches = _uncommented(text, pattern)
    if not matches:
        return text
    match = random.choice(matches)
    return text[: match.start()] + change(match) + text[match.end() :]


def _misspelt_key(text: str, random: Random) -> str:
    keys = re.compile(rf"(?<=[\s{{,-])(?!(?:{'|'.join(_LEFT_OUT)}):)([a-z][A-Za-z]{{5,}})(?=: |:\n)")
    return _at_random(text, keys, random, lambda match: _slip(match[0], random))


def _key_in_other_case(text: str, random: Random) -> str:
    keys = re.compile(r"(?<=[\s{,-])([a-z]+[A-Z][A-Za-z]+)(?=: |:\n)")
    cases = (str.lower, lambda key: re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", key))
    return _at_random(text, keys, random, lambda match: random.choice(cases)(match[0]))


def _replaced(pattern: str, *words: str) -> Callable[[str, Random], str]:
    """Returns a mutation that writes one of some words in place of one match of a pattern."""
    compiled = re.compile(pattern)
    return lambda text, random: _at_random(text, compiled, random, lambda match: match.expand(random.choice(words)))


def _misspelt(pattern: str) -> Callable[[str, Random], str]:
    compiled = re.compile(pattern)
    return lambda text, random: _at_random(text, compiled, random, lambda match: _slip(match[0], random))


_TYPES = r"(?<=componentType: )(?:frontend|worker|planner)|(?<= type: )(?:frontend|worker|prefill|decode|planner)\b"
MUTATIONS = (
    Mutation("a key with a slip", _misspelt_key),
    Mutation("a key in another case", _key_in_other_case),
    Mutation("a flag with a slip", _misspelt(_FLAG.pattern)),
    Mutation("a flag with an underscore", _replaced(r"(?<=[\s\"'\[,])--([a-z]+)-([a-z]+)-([a-z]+)", r"--\1_\2-\3s")),
    Mutation("a module with a slip", _replaced(r"dynamo\.(vllm|sglang|trtllm)\b", r"dynamo.\1m", r"dynmo.\1", r"dynamo.\1_")),
    Mutation("a type with a slip", _misspelt(_TYPES)),
    Mutation(
        "a type in upper case", lambda text, random: _at_random(text, re.compile(_TYPES), random, lambda match: match[0].capitalize())
    ),
    Mutation("an engine with a slip", _misspelt(r"(?<=backendFramework: )[a-z]+")),
    Mutation("a number in quotes", _replaced(r"(?<=replicas: )(\d+)", r'"\1"', r"'\1'")),
    Mutation("a number of nodes in quotes", _replaced(r"(?<=nodeCount: )(\d+)", r'"\1"')),
    Mutation("an amount without quotes", _replaced(r"(?<=gpu: )\"(\d+)\"", r"\1")),
    Mutation("a variable without quotes", _replaced(r"(?<=value: )\"?([a-z0-9./:-]+)\"?(?=[ }\n])", "5", "1.10", "true", "yes")),
    Mutation("a group with a slip", _replaced(r"nvidia\.com(?=/v1)", "nvdia.com", "nvidia.co", "nvidea.com")),
    Mutation("a version that does not exist", _replaced(r"(?<=nvidia\.com/)v1(alpha|beta)1", r"v1\1", r"v1\g<1>2")),
    Mutation("a kind with a slip", _misspelt(r"(?<=kind: )DynamoGraphDeployment\b")),
    Mutation("a text in place of a list", _replaced(r"(?<=args: )\[([^\],]+)\]", r"\1")),
    Mutation("a field without a value", _replaced(r"(?<=replicas:) \d+", "", " null")),
    Mutation(
        "a field of the pod in a container", _replaced(r"(?<=\n)( +)- name: main\n", "\\1- name: main\n\\1  enableServiceLinks: false\n")
    ),
    Mutation("a flag and its value in one entry", _replaced(r"(?<=[\[ ])(--[a-z-]+), ([A-Za-z0-9./-]+)(?=[,\]])", '"\\1 \\2"')),
    Mutation("an amount in bytes", _replaced(r"(?<=memory: )([0-9]+)Gi", r"\1GB", r"\1gi")),
    Mutation("a former type", _replaced(r"(?<=componentType: )frontend", "main"), needs_consent=True),
    Mutation("GPUs in the plural", _replaced(r"nvidia\.com/gpu\b", "nvidia.com/gpus", "nvdia.com/gpu", "nvidia/gpu"), needs_consent=True),
    Mutation("a registry with a slip", _replaced(r"nvcr\.io/nvidia", "nvcr.io/nvida", "ncvr.io/nvidia"), needs_consent=True),
    Mutation("an image with a slip", _replaced(r"(vllm|sglang|tensorrtllm)-runtime", r"\1-runtme", r"\1-runtimes"), needs_consent=True),
    Mutation("a patch that does not exist", _replaced(r"(?<=-runtime:)(\d+\.\d+)\.\d+", r"\1.97"), needs_consent=True),
)
"""All mistakes, each of which a table row of tests names."""
