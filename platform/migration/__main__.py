# ruff: noqa: INP001 - a program of its own, in no package
"""Runs the commands of `krm-fn adopt` under their old names. The next release removes this program."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

_OF_GRAPHS = ("compare", "take-over", "give-back", "can-start", "set-owners")
_ADOPT = "krm-fn adopt --namespace NAMESPACE --output-dir DIR"
_NOW = {
    "definitions": "`krm-fn adopt let-go --save FILE` saves the definitions, too",
    "graph": f"`{_ADOPT}` writes the graphs of a namespace",
    "settings": f"`{_ADOPT}` writes the settings into DIR/render.yaml",
}


def command(arguments: list[str]) -> list[str]:
    """Returns the command that does now what these arguments asked for; empty if no command does only this.

    >>> command(["take-over", "inference", "chat", "chat.yaml", "search", "search.yaml", "--flux", "flux-system/chat"])
    ['krm-fn', 'adopt', 'take-over', '--flux', 'flux-system/chat', 'chat.yaml', 'search.yaml']
    """
    verb, *words = arguments or ["--help"]
    if verb == "let-go":
        return ["krm-fn", "adopt", "let-go", "--save", "definitions.json"]
    if verb not in _OF_GRAPHS:
        return [] if verb in _NOW else ["krm-fn", "adopt", verb]
    options = [word for word in words if word.startswith("-")]
    if "--flux" in words[:-1]:
        options.append(words.pop(words.index("--flux") + 1))
    _, *graphs = [word for word in words if not word.startswith("-")] or [""]
    return ["krm-fn", "adopt", verb, *options, *graphs[1::2]]


def main() -> None:
    """Prints where the command is now, and runs it. Ends with 1 if no command does only this."""
    now = command(sys.argv[1:])
    text = f"the command is now `{shlex.join(now)}`" if now else _NOW[sys.argv[1]]
    sys.stderr.write(f"{Path(sys.argv[0]).parent}: {text}; the next release removes this program\n")
    if not now:
        sys.exit(1)
    sys.stderr.flush()
    try:
        os.execvp(now[0], now)  # noqa: S606 - krm-fn replaces this program
    except FileNotFoundError:
        sys.exit("krm-fn is not on the PATH; install it, or add its folder to the PATH")


if __name__ == "__main__":
    main()
