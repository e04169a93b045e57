"""The function as a kustomize exec plugin: settings in a file, plain documents on stdin and on stdout.

The kustomize inside kubectl can run a program only in this way.
Follows kustomize's `api/internal/plugins/execplugin`: a transformer gets all resources and returns all, a generator gets
none and is its own settings; kustomize shows stderr if the exit code is not 0.
"""

from __future__ import annotations

from krm_fn.base import codes, report, results
from krm_fn.base.yaml import emitter, reader
from krm_fn.render import dynamo_api, function_config
from krm_fn.render.krm import envelope, function, resourcelist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO, TextIO

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Resource


def run(settings: str, stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO) -> int:
    """Reads the file `settings` and the documents on stdin, writes documents, and returns the exit code. With an error, writes nothing.

    Never raises, whatever the input is.
    """
    try:
        _, resources, findings = expand_documents(settings, stdin.read())
    except Exception as problem:  # noqa: BLE001 - no exception may lose the user's resources
        resources, findings = [], [results.internal(problem)]
    failed = results.has_errors(findings)
    stderr.write(f"{report.summary(findings)}\n" if findings else "")
    stderr.flush()
    stdout.write(b"" if failed else "---\n".join(map(emitter.YAMLWriter().text, resources)).encode())
    stdout.flush()
    return 1 if failed else 0


def expand_documents(settings: str, data: bytes) -> tuple[list[Any], list[Any], list[Result]]:
    """Returns the items of a call, what the function makes of them, and the findings. `settings` is the file with the configuration."""
    resource, unreadable = _settings(settings)
    text, undecodable = reader.decode(data)
    documents, broken = reader.read(text)
    items = [document.value for document in documents] or ([resource] if resource and dynamo_api.is_dynamo(resource) else [])
    findings = [*unreadable, *undecodable, *broken]
    resources, expanded = function.expand_items(resourcelist.from_items(items, resource, findings or list(_check_items(items))))
    return items, resources, expanded


def _settings(path: str) -> tuple[Resource | None, list[Result]]:
    """Reads the only document of the file that kustomize wrote, with its errors."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs more than the reading
            text, undecodable = reader.decode(file.read(), path)
    except OSError as problem:
        return None, [
            results.error(codes.UNREADABLE_FILE, f"the file cannot be read: {problem.strerror}; check its path and permissions", file=path)
        ]
    documents, broken = reader.read(text, path)
    if len(documents) == 1 and isinstance(documents[0].value, dict):
        return documents[0].value, [*undecodable, *broken]
    message = f"the file holds {len(documents)} documents; write one, with apiVersion, kind and metadata"
    return None, [*undecodable, *broken] or [results.error(codes.FUNCTION_CONFIG_NOT_RESOURCE, message, file=path)]


def _check_items(items: list[Any]) -> Iterator[Result]:
    """Yields an error if stdin held no resource, or a ResourceList."""
    if not items:
        message = (
            f"the plugin got no resource; list a {function_config.KIND} under `transformers`, or Dynamo resources alone under `generators`"
        )
        yield results.error(codes.NO_INPUT, message)
    elif any(isinstance(item, dict) and results.ref(item).kind == envelope.KIND for item in items):
        message = (
            f"a plugin does not accept a {envelope.KIND}; start krm-fn without arguments, and write the settings as its functionConfig"
        )
        yield results.error(codes.INPUT_NOT_RESOURCE_LIST, message)
