"""The annotation `rendered-by`: the version of krm-fn, the release and the settings that made the objects of a resource.

With them, a finished build can be checked, and rendered again, as it was made.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

import krm_fn
from krm_fn.base import results
from krm_fn.render import config as settings
from krm_fn.render import function_config
from krm_fn.render.config import Config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PROGRAM = "krm-fn"
"""The name of the program.

Rule metadata.rendered-by: see `krm_fn.render.render_mark`.
"""
_OF_THE_RUN = ("behaviour", "platform", "source", "source_version", "unknown_fields")
"""The settings that are left out: the release stands beside the settings, and the others change no generated object."""


def program() -> str:
    """Returns the program and its version.

    Rule metadata.rendered-by: see `krm_fn.render.render_mark`.
    """
    return f"{_PROGRAM} {krm_fn.__version__}"


@lru_cache(maxsize=16)  # all graphs of a render have the same settings
def write(config: Config, release: str) -> str:
    """Returns the text of the annotation: the program, its version, the release, and as JSON the settings that are not the defaults.

    Credentials in URLs are left out.

    >>> write(Config(nats_address="nats://me:secret@nats:4222"), "v1.5").partition(" v")[2]
    '1.5 {"natsAddress":"nats://nats:4222"}'

    Rule metadata.rendered-by: An annotation of a graph or request names krm-fn, its version, the release and the settings of the render.
    (krm-fn)
    """
    changed = _changed_settings(config._replace(**{name: Config._field_defaults[name] for name in _OF_THE_RUN}))
    texts = (program(), release, json.dumps(changed, separators=(",", ":"), sort_keys=True) if changed else "")
    return " ".join(filter(None, texts))


def read(text: str) -> Config | None:
    """Returns the settings in the text of the annotation; None for a text that another version wrote, or that somebody changed.

    >>> read('krm-fn 0.1.0 v1.5 {"orchestrator":"grove"}').orchestrator, read("krm-fn 0.1.0")
    ('grove', None)
    """
    if (changed := changed_settings(text)) is None:
        return None
    spec = {**changed, "behaviour": text.split(" ")[2]}
    resource = {"apiVersion": function_config.API_VERSION, "kind": function_config.KIND, "metadata": {"name": "render"}, "spec": spec}
    config, findings = function_config.read(resource)
    return None if results.has_errors(findings) else config


def changed_settings(text: str) -> dict[str, Any] | None:
    """Returns the settings in the text of the annotation that are not the defaults; None for a text that `write` does not write.

    >>> changed_settings('krm-fn 0.1.0 v1.5 {"orchestrator":"grove"}'), changed_settings("krm-fn 0.1.0")
    ({'orchestrator': 'grove'}, None)
    """
    program, _, rest = text.partition(" ")
    release, _, written = rest.partition(" ")[2].partition(" ")
    if program != _PROGRAM or not release:
        return None
    try:
        return {**json.loads(written or "{}")}
    except (TypeError, ValueError, RecursionError):
        return None


def _changed_settings(value: Any) -> dict[str, Any]:
    """Returns the fields of settings that are not the defaults, by their keys in the functionConfig.

    Rule metadata.rendered-by: see `krm_fn.render.render_mark`.
    """
    changed = {}
    for field, default in value._field_defaults.items():
        current = getattr(value, field)
        if current != default:
            changed[settings.key(field)] = _plain(current)
    return changed


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(r"(?<=://)[^/@\s]*@", "", value) if "@" in value else value
    if isinstance(value, tuple):
        return _all(value) if hasattr(value, "_fields") else [_plain(entry) for entry in value]
    return value


def _all(value: Any) -> dict[str, Any]:
    """Returns the fields of settings inside others: those without a default, and those that are not the defaults.

    Rule metadata.rendered-by: see `krm_fn.render.render_mark`.
    """
    required = {field: getattr(value, field) for field in value._fields if field not in value._field_defaults}
    return {**{settings.key(field): _plain(current) for field, current in required.items()}, **_changed_settings(value)}
