"""Init containers that fill another folder of an empty volume than the worker reads."""

from __future__ import annotations

from typing import Any

from krm_fn.review import filled_folders
from tests.support import beta, given
from tests.support.cases import cases

EMPTY = {"name": "models", "emptyDir": {}}


def pod(line: str, *, at: str = "/models", model: str = "/models/tiny", volume: Any = EMPTY, more: Any = ()) -> dict[str, Any]:
    mounts = [{"name": "models", "mountPath": at}]
    return {"volumes": [volume], "initContainers": [{"name": "fetch", "command": ["sh", "-c", line], "volumeMounts": mounts}, *more]} | {
        "model": model
    }


def graphs(fields: dict[str, Any]) -> list[Any]:
    """The pod in a graph of each API version."""
    rest = {name: value for name, value in fields.items() if name != "model"}
    main = {"args": ["--model", fields["model"]], "volumeMounts": [{"name": "models", "mountPath": "/models"}]}
    return [
        beta.graph(beta.component("Worker", pod=rest, main=main)),
        given.graph({"Worker": given.service("worker", pod=rest, main={"image": "a:1", **main})}),
    ]


SYNC = "aws s3 sync s3://weights/tiny"
OTHER = {
    "name": "link",
    "command": ["ln", "-s", "/models/tiny-v2", "/models/tiny"],
    "volumeMounts": [{"name": "models", "mountPath": "/models"}],
}
ROWS = [
    ("another mount", pod(f"{SYNC} /models/tiny", at="/model"), "nothing is in the volume; write /models"),
    ("another folder", pod(f"{SYNC} /models/tiny-v2"), "fetch writes to /models/tiny-v2; write /models/tiny-v2"),
    ("another folder of another mount", pod(f"{SYNC} /data/small", at="/data"), "writes to /data/small; write /models/small"),
    ("a value behind a flag", pod(f"{SYNC} /models/big") | {"model": "/models/small"}, "; write /models/big"),
    ("the same folder", pod(f"{SYNC} /models/tiny"), ""),
    ("the same folder of another mount", pod(f"{SYNC} /data/tiny", at="/data"), ""),
    ("the whole volume", pod(f"{SYNC} /models"), ""),
    ("a folder above", pod(f"{SYNC} /models/a", model="/models/a/b"), ""),
    ("a folder below", pod(f"{SYNC} /models/tiny/weights"), ""),
    ("a variable", pod(f"{SYNC} /models/$NAME"), ""),
    ("two folders", pod("cp -r /models/a /models/b"), ""),
    ("a volume with files", pod(f"{SYNC} /models/b", volume={"name": "models", "persistentVolumeClaim": {"claimName": "a"}}), ""),
    ("a second container that fills it", pod(f"{SYNC} /models/tiny-v2", more=[OTHER]), ""),
    ("the path of a URL", pod("curl -o /model/tiny/a https://weights.example/models/tiny", at="/model"), ""),
    ("a model of the Hub", pod(f"{SYNC} /models/b", model="acme/tiny"), ""),
]


@cases(("fields", "remedy"), ROWS)
def test_a_folder_that_nothing_fills(fields, remedy):
    for graph in graphs(fields):
        found = [*filled_folders.check([graph])]
        assert [(finding.code, finding.severity) for finding in found] == [("DYN752", "warning")] * bool(remedy), found
        assert all(finding.message.endswith(remedy) for finding in found)


def test_fields_of_any_type_are_read():
    graph = beta.graph({"podTemplate": {"spec": {"volumes": [EMPTY, 3], "initContainers": [3, {"volumeMounts": "a"}], "containers": [{}]}}})
    assert [*filled_folders.check([graph, {**graph, "spec": []}])] == []
