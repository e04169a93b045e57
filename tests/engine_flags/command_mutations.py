"""Random changes of command lines, as people make them: a typo, a value too much, a flag of another release."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn.review.arguments import config_tables

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    from krm_fn.review.arguments.config_tables import Config
    from krm_fn.review.arguments.config_types import FieldType
    from krm_fn.review.arguments.flag_tables import Flag, FlagTable

Arguments = tuple[str, ...]
_VALUES = (
    "many",
    "1.5",
    "-3",
    "",
    "1k",
    "0x10",
    "auto",
    "true",
    "None",
    "{",
    '{"a": 1}',
    "[1]",
    "a b",
    "-1.5",
    "2M",
    "no",
    "-x",
    "ö",
    "007",
    " 4",
)
_JSON_VALUES: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 1.5, 2.0, "", "word", "7", "-0.5", "yes", "8 "),
    *([], [1], ["word"], [[2]], {}, {"zz_a": 1}),
)
_OF_KINDS: dict[str, tuple[Any, ...]] = {
    "str": ("word", ""),
    "int": (1, 16, "8"),
    "float": (0.5, 1, "2.5"),
    "bool": (True, False, 1),
    "null": (None,),
}
_EXAMPLES = {"int": ("8", "0", "-1"), "float": ("0.5", "1e-3"), "json": ('{"a": 1}',), "bool": ("true", "false"), "size": ("4096", "16k")}


class Mutator:
    """Changes command lines of one program in one release. `foreign` are flags of other releases and programs."""

    def __init__(self, rng: random.Random, table: FlagTable, foreign: Sequence[str]) -> None:
        self.rng = rng
        self.table = table
        self.foreign = [*foreign]
        excluded = {"--help", "-h", "--version", *table.parser.config_files}
        self.flags = [flag for flag in dict.fromkeys(table.flags.values()) if not excluded.intersection(flag.options)]
        self.changes: tuple[Callable[[list[str]], list[str]], ...] = (
            *(self._typo, self._drop_word, self._add_word, self._abbreviate, self._underscores, self._equals, self._other_value),
            *(self._foreign_flag, self._more, self._more, self._repeat, self._dots, self._end_of_flags, self._negate),
        )
        self.documents = [flag for flag in self.flags if flag.config]
        if self.documents:
            self.changes += (self._document, self._document, self._document, self._dotted_field)

    def lines(self, seeds: Sequence[Arguments], number: int) -> Iterator[Arguments]:
        """Changed command lines. Some have several changes, and some only more flags."""
        for _ in range(number):
            words = [*self.rng.choice(seeds)]
            for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
                words = self.rng.choice(self.changes)(words)
            yield tuple(words)

    def _position(self, words: list[str]) -> int | None:
        """The position of a random flag."""
        positions = [index for index, word in enumerate(words) if word.startswith("--") and len(word) > 4]
        return self.rng.choice(positions) if positions else None

    def _with_flag(self, words: list[str], changed: Callable[[str], str]) -> list[str]:
        """Changes the name of a random flag, and leaves its value."""
        position = self._position(words)
        if position is None:
            return self._more(words)
        name, equals, value = words[position].partition("=")
        return [*words[:position], f"{changed(name)}{equals}{value}", *words[position + 1 :]]

    def _typo(self, words: list[str]) -> list[str]:
        def changed(name: str) -> str:
            at = self.rng.randrange(3, len(name))
            return self.rng.choice((name[:at] + name[at + 1 :], name[:at] + name[at] + name[at:], f"{name[:at]}x{name[at + 1 :]}"))

        return self._with_flag(words, changed)

    def _abbreviate(self, words: list[str]) -> list[str]:
        return self._with_flag(words, lambda name: name[: self.rng.randrange(4, len(name) + 1)])

    def _underscores(self, words: list[str]) -> list[str]:
        return self._with_flag(words, lambda name: f"--{name[2:].replace('-', '_')}")

    def _negate(self, words: list[str]) -> list[str]:
        return self._with_flag(words, lambda name: f"--no-{name[2:]}")

    def _dots(self, words: list[str]) -> list[str]:
        return self._with_flag(words, lambda name: f"{name}.{self.rng.choice(('a', 'a.b', 'a-b', 'a_b'))}")

    def _drop_word(self, words: list[str]) -> list[str]:
        if not words:
            return words
        position = self.rng.randrange(len(words))
        return [*words[:position], *words[position + 1 :]]

    def _add_word(self, words: list[str]) -> list[str]:
        position = self.rng.randrange(len(words) + 1)
        return [*words[:position], self.rng.choice(("extra", "5", "-5", *_VALUES)), *words[position:]]

    def _end_of_flags(self, words: list[str]) -> list[str]:
        position = self.rng.randrange(len(words) + 1)
        return [*words[:position], "--", *words[position:]]

    def _equals(self, words: list[str]) -> list[str]:
        """Joins a flag and the next word with `=`, or splits them."""
        position = self._position(words)
        if position is None:
            return self._more(words)
        name, equals, value = words[position].partition("=")
        if equals:
            return [*words[:position], name, value, *words[position + 1 :]]
        return [*words[:position], "=".join(words[position : position + 2]), *words[position + 2 :]]

    def _other_value(self, words: list[str]) -> list[str]:
        position = self._position(words)
        if position is None:
            return self._more(words)
        name, equals, _ = words[position].partition("=")
        value = self.rng.choice(_VALUES)
        if equals:
            return [*words[:position], f"{name}={value}", *words[position + 1 :]]
        return [*words[: position + 1], value, *words[position + 2 :]]

    def _foreign_flag(self, words: list[str]) -> list[str]:
        value = () if self.rng.random() < 0.5 else (self.rng.choice(_VALUES),)
        return [*words, self.rng.choice(self.foreign), *value] if self.foreign else words

    def _more(self, words: list[str]) -> list[str]:
        """Adds a flag with values of its type, or with any value."""
        flag = self.rng.choice(self.flags)
        name = self.rng.choice((*flag.options, *flag.negations))
        values = [] if name in flag.negations else self._values(flag)
        position = self.rng.choice((0, len(words)))
        return [*words[:position], name, *values, *words[position:]]

    def _document(self, words: list[str]) -> list[str]:
        """Adds a flag with a JSON document, right or wrong."""
        flag = self.rng.choice(self.documents)
        text = json.dumps(self._fields(self._config(flag.config)))
        if self.rng.random() < 0.1:
            at = self.rng.randrange(len(text))
            text = text[:at] + text[at + 1 :]
        return [*words, flag.name, text]

    def _dotted_field(self, words: list[str]) -> list[str]:
        """Adds a dotted flag with one field."""
        flag = self.rng.choice(self.documents)
        document = self._fields(self._config(flag.config))
        name, value = next(iter(document.items()), ("zz", 1))
        return [*words, f"{flag.name}.{name}", value if isinstance(value, str) else json.dumps(value)]

    def _config(self, name: str) -> Config:
        config = config_tables.get(self.table.program, self.table.release, name)
        assert config is not None
        return config

    def _fields(self, config: Config) -> dict[str, Any]:
        """Some fields of a document, each with the chance of a wrong name or a wrong value."""
        names = self.rng.sample(sorted(config.fields), min(len(config.fields), self.rng.choice((1, 1, 2, 3))))
        names += [name for name, field in config.fields.items() if field.is_required and self.rng.random() < 0.9]
        names += [other for name in names for other in config.needs.get(name, ()) if self.rng.random() < 0.9]
        return {self._spelled(name): self._value(config.fields[name].type) for name in dict.fromkeys(names)}

    def _spelled(self, name: str) -> str:
        """A name, sometimes with a mistake."""
        wrong = (name[:-1], f"{name}s", name.replace("_", "-"), name.upper(), f"{name[:2]}x{name[2:]}")
        return self.rng.choice(wrong) if self.rng.random() < 0.15 else name

    def _value(self, expected: FieldType) -> Any:
        """A value of a type, sometimes a wrong one."""
        if expected.is_any or self.rng.random() < 0.2:
            return self.rng.choice(_JSON_VALUES)
        options: list[Any] = [*expected.choices]
        options += [value for kind in expected.kinds for value in _OF_KINDS[kind.rpartition("_")[2]]]
        if expected.items is not None:
            options.append([self._value(expected.items) for _ in range(self.rng.randrange(3))])
        if expected.values is not None:
            options.append({name: self._value(expected.values) for name in ("a", "b")[: self.rng.randrange(3)]})
        if expected.config:
            options.append(self._fields(self._config(expected.config)))
        value = self.rng.choice(options)
        return value.swapcase() if expected.is_folded and isinstance(value, str) and self.rng.random() < 0.2 else value

    def _values(self, flag: Flag) -> list[str]:
        options = flag.choices or _EXAMPLES.get(flag.type) or ("word", "4")
        if self.rng.random() < 0.2:
            options = _VALUES
        most = int(flag.values) if flag.values.isdigit() else {"?": self.rng.randrange(2)}.get(flag.values, self.rng.randrange(1, 3))
        return [self.rng.choice(options) for _ in range(most)]

    def _repeat(self, words: list[str]) -> list[str]:
        position = self._position(words)
        return [*words, *words[position : position + 2]] if position is not None else words
