"""The flags with which a worker of vLLM transfers key-value caches: `--connector` of Dynamo 0.9, and `--kv-transfer-config`.

Source: `dynamo/vllm/args.py` in the wheels. Up to 0.9, `--connector` has the default `nixl`, and `parse_args` refuses
`--kv-transfer-config` beside any connector. From 1.0 on, `_reject_connector_flag` refuses every value of `--connector` and of the
variable DYN_CONNECTOR, also `none` and an empty variable, and `update_dynamo_config_with_engine` refuses a prefill worker without
`--kv-transfer-config`. `_connector_to_kv_transfer_json` has the replacement of each connector.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.version import Version
from krm_fn.review.arguments import flag_tables, message_parts
from krm_fn.review.arguments.command_line_parser import ParsedCommand, Use
from krm_fn.review.arguments.flag_tables import FlagTable

TRANSFER, CONNECTOR, VARIABLE = "--kv-transfer-config", "--connector", "DYN_CONNECTOR"
NONE = ("none", "null")
_PROGRAM, _DEFAULT = "dynamo.vllm", "nixl"
_WITHOUT_CONNECTORS: Version = (1, 0, 0)
_WITH_ROLES: Version = (1, 6, 0)
"""The first release whose examples give NixlConnector the role of its worker. vLLM calls the role `kv_both` deprecated there."""
_OWN_WRAPPER: Version = (1, 7, 0)
_CONNECTORS = {
    "lmcache": {"kv_connector": "LMCacheConnectorV1"},
    "flexkv": {"kv_connector": "FlexKVConnectorV1"},
    "kvbm": {"kv_connector": "DynamoConnector", "kv_connector_module_path": "kvbm.vllm_integration.connector"},
    _DEFAULT: {"kv_connector": "NixlConnector"},
}
_ROLES = {"prefill": "kv_producer", "decode": "kv_consumer"}


class RefusedUse(NamedTuple):
    """A flag that the program refuses, and the message of the finding."""

    use: Use
    message: str


def takes_connectors(table: FlagTable) -> bool:
    """Returns true for a release of `dynamo.vllm` that reads `--connector`, and that transfers caches without a flag."""
    return table.program == _PROGRAM and flag_tables.number(table.release) < _WITHOUT_CONNECTORS


def refuses_connectors(table: FlagTable) -> bool:
    """Returns true for a release of `dynamo.vllm` that refuses `--connector`, and prefill workers without `--kv-transfer-config`."""
    return table.program == _PROGRAM and not takes_connectors(table)


def transfer(parsed: ParsedCommand, table: FlagTable) -> Use | None:
    """Returns the flag with the configuration of the transfer; None without one. vLLM reads `None` and an empty text as no value."""
    use = parsed.last(table, TRANSFER)
    return None if use is None or use.text in ("", "None") else use


def names(use: Use) -> list[str] | None:
    """Returns the values of a use of `--connector`, in lower case as Dynamo reads them; None if one of them is not known."""
    return [value.text.lower() for value in use.values] if use.text is not None else None


def config(connectors: Sequence[str], mode: str, table: FlagTable) -> str:
    """Returns the value of `--kv-transfer-config` for some values of `--connector`, as the release of a table writes it.

    `mode` is that of the worker. Empty if no connector is left, or if one of them is not known.
    """
    active = [name for name in connectors if name not in NONE]
    if not active or not set(active) <= _CONNECTORS.keys():
        return ""
    release = flag_tables.number(table.release)
    role = _ROLES.get(mode, "kv_both") if release >= _WITH_ROLES else "kv_both"
    listed = [{**_CONNECTORS[name], "kv_role": role if name == _DEFAULT else "kv_both"} for name in active]
    if len(listed) == 1:
        return _text(listed[0])
    module = "dynamo.vllm.pd_connector" if release >= _OWN_WRAPPER else "kvbm.vllm_integration.connector"
    extra = {"kv_connector_extra_config": {"connectors": listed}, "kv_connector_module_path": module}
    return _text({"kv_connector": "PdConnector", "kv_role": "kv_both", **extra})


def default_config(mode: str, table: FlagTable) -> str:
    """Returns the value of `--kv-transfer-config` that does what a worker of 0.9 does without a flag."""
    return config([_DEFAULT], mode, table)


def _text(settings: object) -> str:
    return json.dumps(settings, separators=(",", ":"))


def refused_use(parsed: ParsedCommand, table: FlagTable) -> RefusedUse | None:
    """Returns the use of one of the two flags that ends the program at its start; None without one."""
    use = parsed.last(table, CONNECTOR)
    if use is not None and refuses_connectors(table):
        connectors = names(use)
        if not connectors:
            return None
        mode = parsed.last(table, "--disaggregation-mode")
        what = f"`{' '.join([use.option, *(message_parts.value(value, use.option) for value in use.values)])}`"
        has_transfer = transfer(parsed, table) is not None
        fix = replacement(connectors, (mode.text if mode else "") or "", table, has_transfer=has_transfer)
        return RefusedUse(use, f"{message_parts.program(table)} refuses {what}; {fix}")
    own = transfer(parsed, table)
    if own is None or not takes_connectors(table) or not parsed.is_complete:
        return None
    listed = names(use) if use else [_DEFAULT]
    if listed is None or not {*listed}.difference(NONE):
        return None
    program = message_parts.program(table)
    beside = f"`{CONNECTOR} {' '.join(listed)}`" if use else f"its default connector, {_DEFAULT}"
    fix = f"write {CONNECTOR} none, or remove {TRANSFER}" if use else f"add {CONNECTOR} none"
    return RefusedUse(own, f"{program} refuses `{own.option}` beside {beside}; {fix}")


def replacement(connectors: Sequence[str], mode: str, table: FlagTable, *, has_transfer: bool) -> str:
    """Returns the fix for some connectors that a release refuses. With `has_transfer`, another flag already has the configuration."""
    text = config(connectors, mode, table)
    if has_transfer or not {*connectors}.difference(NONE):
        return f"remove it{'' if has_transfer else ': no connector is the default'}"
    return f"write {TRANSFER} '{text}'" if text else f"write {TRANSFER} with its JSON document"
