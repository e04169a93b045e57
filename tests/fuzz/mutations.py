"""Resources with mistakes: valid ones with random mutations. The number of a case reproduces it."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from krm_fn.render import labels
from tests.support import golden

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource

KEPT = """\
- apiVersion: v1 # this comment stays
  kind: ConfigMap
  metadata: {name: kept,   namespace: team}
  data: {n: 'no', "y": '0x1'}
"""
"""An item without mutations, with a comment, unusual blanks and quotes."""

AWKWARD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 0.5, 1e300),
    *("", " ", "0", "-1", "true", "null", "~", "<<", "=", "*a", "&a", "!!int", "%", "{", "[", "'", '"', "\n", "\t", "\u2028", "é"),
    *("a" * 300, "A", "-a", "a-", "a.b", "a/b", "a/b/c", "../../etc/passwd", "$(POD_NAME)", "${HOME}", "{pool}", "%s", "1Gi", "0Gi"),
    *([], {}, [None], [[]], [{}], {"": ""}, {"name": None}, {"a": {"b": {"c": []}}}, ["a", 1, None]),
)


def _render(**spec: Any) -> Resource:
    return {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}, "spec": spec}


_CONFIGS: tuple[Any, ...] = (
    None,
    _render(),
    _render(orchestrator="grove"),
    _render(components=True, namespace="b"),
    _render(source="local"),
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "r"}, "data": {"orchestrator": "grove", "retainVolumes": "false"}},
)
_FOREIGN: tuple[Resource, ...] = (
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token", "namespace": "team"}, "data": {"a": "Yg=="}},
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "agg-frontend", "namespace": "team"}, "spec": {"replicas": 1}},
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "team"}},
    {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoModel",
        "metadata": {"name": "m"},
        "spec": {"modelName": "m", "baseModelName": "b"},
    },
)


class Case(NamedTuple):
    """One input. `doubled` is a key to write twice in the text, or empty."""

    items: list[Any]
    function_config: Any
    doubled: str

    def text(self, order: list[int] | None = None) -> str:
        """The ResourceList: first the item without mutations, then the others in the given `order`."""
        written = [json.dumps(self.items[index], ensure_ascii=False) for index in order or range(len(self.items))]
        lines = "".join(f"- {item}\n" for item in written)
        if self.doubled:
            lines = lines.replace(f"{self.doubled}: ", f"{self.doubled}: 1, {self.doubled}: ", 1)
        config = f"functionConfig: {json.dumps(self.function_config)}\n" if self.function_config is not None else ""
        return f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n{config}items:\n{KEPT}{lines}"


def seeds() -> list[list[Resource]]:
    """The graph files of the examples."""
    files = [file for folder in golden.folders() for name in ("graph", "request") if (file := folder / f"{name}.yaml").exists()]
    return [[each for each in yaml.safe_load_all(file.read_text()) if each] for file in files]


def case(number: int, sound: list[list[Resource]]) -> Case:
    """The case with this number."""
    random = Random(number)  # noqa: S311 - no secrets here
    items: list[Any] = [*copy.deepcopy(random.choice(sound)), copy.deepcopy(random.choice(_FOREIGN))]
    if random.random() < 0.3:
        items.append({**copy.deepcopy(items[0]), "metadata": {"name": "second", "namespace": "team"}})
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice((_replace, _replace, _delete, _rename, _swap, _mark))(random, items)
    config = copy.deepcopy(random.choice(_CONFIGS))
    if config and random.random() < 0.2:
        _replace(random, [config])
    keys = [key for key in ('"spec"', '"name"', '"services"', '"replicas"') if random.random() < 0.03]
    return Case(items, config, keys[0] if keys else "")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every mapping and list inside a value, with each of its keys or indexes."""
    entries = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    return [place for key, inner in entries for place in [(value, key), *_places(inner)]]


def _pick(random: Random, items: list[Any]) -> tuple[Any, Any]:
    return random.choice(_places(items)[1:] or [(items, 0)])


def _replace(random: Random, items: list[Any]) -> None:
    holder, key = _pick(random, items)
    holder[key] = copy.deepcopy(random.choice(AWKWARD))


def _delete(random: Random, items: list[Any]) -> None:
    holder, key = _pick(random, items)
    del holder[key]


def _rename(random: Random, items: list[Any]) -> None:
    holder, key = _pick(random, items)
    if isinstance(holder, dict):
        other = random.choice((f"{key}s", str(key)[1:], str(key).swapcase(), "a.b/c", ""))
        holder[other] = holder.pop(key)


def _swap(random: Random, items: list[Any]) -> None:
    """Replace one part of the input with a copy of another."""
    (holder, key), (other, there) = _pick(random, items), _pick(random, items)
    holder[key] = copy.deepcopy(other[there])


def _mark(random: Random, items: list[Any]) -> None:
    """Put labels and annotations of generated objects on an object that the function did not generate."""
    item = random.choice(items)
    if not isinstance(item, dict):
        return
    metadata = item["metadata"] = dict(item["metadata"]) if isinstance(item.get("metadata"), dict) else {}
    owner = random.choice(("DynamoGraphDeployment/agg", f"DynamoGraphDeployment/{metadata.get('name')}", "a", "", "/", 1))
    if random.random() < 0.8:
        metadata["annotations"] = {labels.OWNER: owner}
    if random.random() < 0.6:
        metadata["labels"] = {labels.MANAGED_BY: "krm-fn"}
