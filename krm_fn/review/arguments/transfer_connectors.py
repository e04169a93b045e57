"""Compares the connectors with which the prefill worker and the decode worker of vLLM transfer the key-value cache.

A connector can wrap others: `MultiConnector` is the only one in vLLM's own registry that does (`kv_connector/factory.py` and
`kv_connector/v1/multi_connector.py` of vLLM 0.14.1 to 0.31.0), and `PdConnector` is a subclass of it (`kvbm.vllm_integration.connector` of
kvbm 0.9.1 to 1.6.1). The workers transfer the cache with the connectors inside.
"""

from __future__ import annotations

import json
import re
from typing import Any

from krm_fn.base import spelling

_WRAPPERS = ("MultiConnector", "PdConnector")
_ALIASES = {"NixlPullConnector": "NixlConnector"}
"""vLLM's `kv_connector/v1/nixl/connector.py`: `NixlConnector` is the connector that pulls."""
_LOCAL = frozenset(("DynamoConnector", "OffloadingConnector", "SimpleCPUOffloadConnector"))
"""Connectors that move blocks between the memories of their own worker, and not to another worker."""
_REGISTRY = (
    *("NixlConnector", "NixlPullConnector", "NixlPushConnector", "LMCacheConnectorV1", "LMCacheMPConnector", "P2pNcclConnector"),
    *("SharedStorageConnector", "ExampleConnector", "MooncakeConnector", "MooncakeStoreConnector", "MoRIIOConnector", "MultiConnector"),
    *("FlexKVConnectorV1", "HF3FSKVConnector", "DecodeBenchConnector", "OffloadingConnector", "SimpleCPUOffloadConnector"),
    *("ExampleHiddenStatesConnector", "DynamoConnector", "PdConnector"),
)
"""The connectors of vLLM (`kv_connector/factory.py`) and of Dynamo. Others have a module of their own."""
_MODULES_OF_DYNAMO = ("kvbm.", "dynamo.")
_NAME = re.compile(r"[A-Za-z_]\w{0,60}", re.ASCII)


def names(config: str | None) -> tuple[str, ...]:
    """Returns the connectors in the value of `--kv-transfer-config`, without those that wrap others, in their order.

    Empty if one of them is not known: the text is not known or not JSON, or a class of another module can wrap connectors, too.
    """
    try:
        levels: list[Any] = [json.loads(config or "null")]
    except (ValueError, RecursionError):
        return ()
    connectors: list[str] = []
    while levels:
        settings = levels.pop()
        name = settings.get("kv_connector") if isinstance(settings, dict) else None
        if not isinstance(name, str) or not _NAME.fullmatch(name) or not _is_known(settings.get("kv_connector_module_path")):
            return ()
        if name in _WRAPPERS:
            extra = settings.get("kv_connector_extra_config")
            inner = extra.get("connectors") if isinstance(extra, dict) else None
            if not isinstance(inner, list) or not inner:
                return ()
            levels += reversed(inner)
        else:
            connectors.append(_ALIASES.get(name, name))
    return tuple(connectors)


def misspelt(config: str | None) -> tuple[str, str] | None:
    """Returns the name of a connector that vLLM does not have, and the one that it is a slip for; None without one.

    A name without its version is one, too: vLLM has `LMCacheConnectorV1` only.

    >>> misspelt('{"kv_connector": "NixlConector"}'), misspelt('{"kv_connector": "OwnConnector"}')
    (('NixlConector', 'NixlConnector'), None)
    >>> misspelt('{"kv_connector": "LMCacheConnector"}')
    ('LMCacheConnector', 'LMCacheConnectorV1')
    """
    for name in names(config):
        near = (f"{name}V1" if f"{name}V1" in _REGISTRY else spelling.nearest(name, _REGISTRY)) if name not in _REGISTRY else ""
        if near:
            return name, near
    return None


def _is_known(module: object) -> bool:
    """True for the module of a connector of vLLM, which needs none, or of Dynamo."""
    return not module or (isinstance(module, str) and module.startswith(_MODULES_OF_DYNAMO))


def are_compatible(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Returns true if two workers share a connector that transfers blocks, or if the connectors of one of them are not known.

    >>> are_compatible(("DynamoConnector", "NixlConnector"), ("NixlConnector",)), are_compatible(("NixlConnector",), ("MooncakeConnector",))
    (True, False)
    """
    return not ours or not theirs or ours == theirs or bool({*ours} & {*theirs} - _LOCAL)
