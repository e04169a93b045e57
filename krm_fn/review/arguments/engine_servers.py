"""Findings about workers that start an engine's own server in an image of Dynamo: no frontend finds them.

Only the workers of Dynamo register themselves (`dynamo/vllm/main.py`, `dynamo/sglang/main.py`, `dynamo/trtllm/main.py`). People bring the
servers' commands from Deployments: `vllm serve`, `python3 -m vllm.entrypoints.openai.api_server`, `python3 -m sglang.launch_server` and
`trtllm-serve`. Own images are left out, because they can bring a program that registers such a server.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Ref, Result
from krm_fn.kubernetes.types import WordsField
from krm_fn.render import engines
from krm_fn.review.arguments import judged_commands
from krm_fn.review.arguments.judged_commands import AuthorContainer

_CODE = codes.ENGINE_SERVER_AS_WORKER
_FIELDS: tuple[WordsField, ...] = ("command", "args")


def check(container: AuthorContainer, ref: Ref) -> Iterator[Result]:
    """Yields the finding about the main container of a worker, at the word that names the server."""
    if not container.is_main or not container.plan.type.runs_engine or not judged_commands.engine_of_image(container):
        return
    servers = {server: name for name in engines.names() for server in engines.get(name).own_servers}
    words = [(field, index, f"{word}") for field in _FIELDS for index, word in enumerate(container.fields.get(field) or ())]
    line = " ".join(word for _, _, word in words) + " "
    program = next((server for server in servers if not _is_module(server) and line.startswith(f"{server} ")), "")
    for field, index, word in words:
        if program or (word in servers and _is_module(word)):
            name = program or word
            module = f"dynamo.{servers[name]}"
            fix = f"start python3 -m {module} with --model" if program else f"write {module}"
            message = f"{name} is a server of its own, and only {module} registers with Dynamo, so no frontend finds this worker; {fix}"
            proposed = None if program else module
            yield results.warning(_CODE, message, ref, container.at(field, index), current=word, proposed=proposed)
            return


def _is_module(server: str) -> bool:
    return "." in server
