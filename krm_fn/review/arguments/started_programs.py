"""Finds commands whose words do not reach a program: a shell that drops them, and Python without a module.

Sources: POSIX.1-2017, `sh`, for the words behind the line of `sh -c`; `Modules/main.c` and `Python/initconfig.c` of CPython for the options
of Python; the Dockerfiles in `container/templates` of Dynamo for the programs of images.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from krm_fn.base import codes, spelling
from krm_fn.base.records import NamedTuple
from krm_fn.render import engines
from krm_fn.render.engines import _command_lines
from krm_fn.render.kinds import dynamo_images
from krm_fn.review.arguments import flag_tables
from krm_fn.review.arguments.shell_words import UNKNOWN, Word

_BASH = frozenset(
    (
        *("debug", "debugger", "dump-po-strings", "dump-strings", "help", "init-file", "login", "noediting", "noprofile", "norc"),
        *("posix", "pretty-print", "rcfile", "restricted", "verbose", "version"),
    )
)
"""The long options of bash. A POSIX shell has none."""
_READS_WORDS = re.compile(r"\$(?:[0-9@*#]|\{[!#]?[0-9@*#])|\b(?:getopts|shift)\b|\bfor\s+\w+\s*(?:;|\n|do\b)", re.ASCII)
"""Parts of a line that read the words behind it."""
_READS_A_FILE = re.compile(r"\b(?:source|eval)\b|(?:\A|(?<=[\s;&|({]))\.\s", re.ASCII)
"""Parts of a line that run a text, which can read the words behind the line."""
_ENGINE = "-m dynamo."
_NAME = re.compile(r"[\w./+-]{1,60}", re.ASCII)
_SWITCHES = re.compile(r"-[bBdEhiIOPqRsSuvVx?]+", re.ASCII)
_WITH_VALUE = re.compile(r"-[bBdEhiIOPqRsSuvVx]*[WX]", re.ASCII)
_LONG = ("--help", "--help-all", "--help-env", "--help-xoptions", "--version", "--check-hash-based-pycs")
_MODULE = re.compile(r"([A-Za-z]+)[.-]([A-Za-z_-]+)", re.ASCII)
_OTHER_MODULES = ("frontend", "mocker", "planner", "router")
"""The modules of Dynamo that a misspelt name can mean, beside those of engines."""
_PYTHONS = ("python3", "python")
A_MODULE = "the name of a module"
"""What a message says for a module that is not known."""
_BUILT_IN = ("cd", "export", "source", "ulimit")
"""Commands that a shell runs itself, and for which Linux has no program."""
_AS_WORDS = "write each of its words as an item of its own"
_BY_SHELL = ", or let a shell read it with command: [/bin/sh, -c] and the whole line as the only item of args"


class Mistake(NamedTuple):
    """A mistake at a word. `hides_line` is true if the shell does not run the line that follows.

    `items` are those that the fix says to write in place of the item that the word is.
    """

    code: str
    word: Word
    message: str
    hides_line: bool = False
    items: tuple[str, ...] = ()


class Module(NamedTuple):
    """The word with the name of the module that Python runs, and the position of the first word behind it."""

    word: Word
    behind: int


def other_program(words: Sequence[Word]) -> str:
    """Returns why the command of another program is not judged. A text that is no name can be secret, so it does not appear."""
    name = words[0].text.rpartition("/")[2]
    if _command_lines.is_shell({"command": [name]}):
        if words[-1].text == "-c":
            return "the shell gets no line behind -c, so the container ends at once"
        return "the shell starts no program whose flags krm-fn knows"
    named = f"`{name}`" if _NAME.fullmatch(name) else "a program"
    return f"it starts {named}, whose flags krm-fn does not know"


def runs_its_args(image: object) -> bool:
    """Returns true if the program of an image runs the arguments of the container as a command: `/opt/nvidia/nvidia_entrypoint.sh`.

    >>> runs_its_args("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1"), runs_its_args("acme/engine:1.0.0")
    (True, False)
    """
    images = {engines.get(name).runtime_image for name in engines.names()} - {""}
    return isinstance(image, str) and dynamo_images.parts(image).name in images


def check_first_word(words: Sequence[Word]) -> Mistake | None:
    """Returns the mistake of a program whose name is a flag or holds a whole command line. No shell splits it, so no such program exists.

    A flag can come first if the program of the image runs the arguments (`runs_its_args`).
    """
    text = words[0].text
    if re.match(r"--?[A-Za-z]", text):
        name = text.split(None, 1)[0].partition("=")[0][:60]
        return Mistake(
            codes.PYTHON_WITHOUT_MODULE,
            words[0],
            f"no program stands before `{name}`, and the image starts none; write the program into `command`",
        )
    if text in _BUILT_IN and len(words) > 1:
        message = f"{text} is a command of a shell, and no shell reads this one"
        fix = (
            "write workingDir in its place" if text == "cd" else "write command: [/bin/sh, -c], and the whole line as the only item of args"
        )
        return Mistake(codes.SHELL_COMMAND_WITHOUT_SHELL, words[0], f"{message}; {fix}")
    if not _is_line(text):
        return None
    fix = f"{_AS_WORDS}{_BY_SHELL if len(words) == 1 else ''}"
    return Mistake(codes.SEVERAL_WORDS_IN_ONE, words[0], f"no shell splits this word, and no program has this name with blanks; {fix}")


def _is_line(text: str) -> bool:
    """True for a text with blanks that names a program of its own."""
    parts = text.split(None, 2)
    if len(parts) < 2:
        return text != text.strip() and _is_python_or_shell(text.strip())
    return any(map(_is_python_or_shell, parts[:2])) or parts[1] == "&&" or parts[1].startswith("-")


def check_script(word: Word) -> Mistake | None:
    """Returns the mistake of a command in place of a script in a file."""
    if not _is_python_or_shell(word.text) and not _is_line(word.text):
        return None
    message = (
        "the shell reads this word as the name of a file, because -c is missing; write -c before it, and the whole command as one line "
        "behind it"
    )
    return Mistake(codes.WORDS_NOT_PASSED_BY_SHELL, word, message)


def check_without_program(words: Sequence[Word]) -> Mistake | None:
    """Returns the mistake of Python without a module or a file: it ends at once, because its input is empty."""
    if not _is_python(words[0].text) or not all(_SWITCHES.fullmatch(word.text) for word in words[1:]):
        return None
    if any(set(word.text) & set("hV?") for word in words[1:]):
        return None
    return Mistake(
        codes.PYTHON_WITHOUT_MODULE, words[-1], "Python has nothing to run, so it ends at once; write -m and the name of a module behind it"
    )


def check_shell_options(options: Sequence[Word]) -> Mistake | None:
    """Returns the mistake of a flag behind `-c`, which the shell reads as an option of its own."""
    is_behind = False
    for option in options:
        name = option.text.partition("=")[0]
        if is_behind and re.fullmatch(r"--[A-Za-z][\w-]*", name, re.ASCII) and name[2:] not in _BASH:
            message = (
                f"the shell reads `{name[:60]}` as an option of its own, and ends; write the program and its flags as one line behind -c, "
                "or start the program without a shell in `command`"
            )
            return Mistake(codes.WORDS_NOT_PASSED_BY_SHELL, option, message, hides_line=True)
        if re.match(r"-[a-z]*c\s", option.text):
            fix = "write -c as an item of its own, and the line behind it as the next item"
            return Mistake(
                codes.SEVERAL_WORDS_IN_ONE, option, f"the shell reads this word as options, not as a line; {fix}", hides_line=True
            )
        is_behind = is_behind or (bool(re.fullmatch(r"-[A-Za-z]+", name)) and "c" in name)
    return None


def check_shell_words(words: Sequence[Word], raw: Sequence[str], position: int) -> Mistake | None:
    """Returns the mistake of words behind the line of a shell at a position. They are `$0`, `$1` and so on, which the line does not read.

    One word alone can be a name for the shell (`$0`), as in `bash -c "exec run" bash`.
    """
    others = words[position + 1 :]
    if not any(word.text.strip() for word in others):
        return None
    line = raw[position]
    if _READS_WORDS.search(line) or (_READS_A_FILE.search(line) and _ENGINE not in line):
        return None
    is_name = others[0].text in ("-", "--") or (others[0].text[:1] not in ("-", "") and _NAME.fullmatch(others[0].text))
    if len(others) == 1 and is_name and len(line.split()) > 1:
        return None
    message = (
        "the shell runs only the item before this one as its line, so this word and those behind it do not reach the program; write the "
        "whole command as one line in one item, or start the program without a shell in `command`"
    )
    return Mistake(codes.WORDS_NOT_PASSED_BY_SHELL, others[0], message)


def check_module(word: Word) -> Mistake | None:
    """Returns the mistake of a module that Dynamo does not have, and whose name is near to one that it has."""
    meant = _meant_module(word.text)
    if not meant:
        return None
    return Mistake(codes.UNKNOWN_MODULE, word, f"Dynamo has no module `{word.text[:60]}`, so Python ends at once; write {meant}")


def _meant_module(text: str) -> str:
    """Returns the module of Dynamo that a text misspells; empty for a right name and for any other text."""
    match = _MODULE.fullmatch(text)
    if match is None or flag_tables.program_of(text):
        return ""
    package, name = match[1].lower(), match[2].lower().replace("_", "-")
    if package != "dynamo" and not spelling.nearest(package, ("dynamo",)):
        return ""
    modules = (*engines.names(), *_OTHER_MODULES)
    called = (engine for engine in engines.names() if name in engines.get(engine).other_names)
    name = name if name in modules else next(called, "") or spelling.nearest(name, modules)
    return f"dynamo.{name}" if name else ""


def check_program(words: Sequence[Word]) -> Mistake | None:
    """Returns the mistake of a module in place of a program, and that of a misspelt Python before a module of Dynamo."""
    text = words[0].text
    if flag_tables.program_of(text):
        return Mistake(
            codes.UNKNOWN_MODULE, words[0], f"`{text}` is a module of Python, and no program has this name; write python3 -m {text}"
        )
    is_python = len(words) > 2 and words[1].text == "-m" and (flag_tables.program_of(words[2].text) or _meant_module(words[2].text))
    if not is_python or not _NAME.fullmatch(text) or not (meant := spelling.nearest(text, _PYTHONS)):
        return None
    return Mistake(codes.UNKNOWN_MODULE, words[0], f"no program has the name `{text}`; write {meant}")


def module(words: Sequence[Word], position: int) -> tuple[Module | None, Mistake | None]:
    """Returns the module that Python runs. None if it runs a file or a text, or if that is not known; and the mistake in its options."""
    while position < len(words):
        word = words[position]
        text = word.text
        if UNKNOWN in text or text == "-" or text.startswith("-c"):
            return None, None
        if text == "-m":
            return _named_module(words[position + 1 : position + 2], position + 2, word)
        if text.startswith("-m"):
            attached = word._replace(text=text[2:], offset=word.offset + 2)
            return _named_module([attached], position + 1, word)
        if not text.startswith("-"):
            return None, _check_file(word)
        if not (_SWITCHES.fullmatch(text) or _WITH_VALUE.match(text) or text in _LONG):
            return None, Mistake(codes.PYTHON_WITHOUT_MODULE, word, _without_module(text))
        position += 2 if _WITH_VALUE.fullmatch(text) or text == _LONG[-1] else 1
    return None, None


def _named_module(words: Sequence[Word], behind: int, option: Word) -> tuple[Module | None, Mistake | None]:
    if not words:
        return None, Mistake(codes.PYTHON_WITHOUT_MODULE, option, "-m needs the name of a module; write it behind -m")
    if re.search(r"\s", words[0].text):
        return None, Mistake(
            codes.SEVERAL_WORDS_IN_ONE, words[0], f"Python reads this whole word as the name of a module, with its blanks; {_AS_WORDS}"
        )
    return Module(words[0], behind), None


def _check_file(word: Word) -> Mistake | None:
    name = (word.text.split(None, 1) or [""])[0]
    if flag_tables.program_of(name) is None:
        return None
    message = f"Python reads `{name}` as the name of a file, because -m is missing; write -m before it"
    return Mistake(codes.PYTHON_WITHOUT_MODULE, word, message, items=("-m", word.text))


def _without_module(text: str) -> str:
    name = text.split(None, 1)[0].partition("=")[0][:60]
    return f"Python has no option `{name}`, and no module stands before it; write -m and {A_MODULE} before the flags"


def _is_python_or_shell(word: str) -> bool:
    name = word.rpartition("/")[2]
    return _is_python(name) or _command_lines.is_shell({"command": [name]})


def _is_python(word: str) -> bool:
    return _command_lines.is_python({"command": [word.rpartition("/")[2]]})
