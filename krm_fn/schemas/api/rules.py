"""Rules that both versions of the API have, or that several models of one have. `part` is what a version calls a component of a graph."""

from krm_fn.base import codes
from krm_fn.schemas.api import base

_CONFIG, _REFERENCE = "self.?eppConfig.?config", "self.?eppConfig.?configMapRef"
_EITHER = {"config": "config", "reference": "configMapRef"}
_ORDER = "self.restart.strategy.order"
_NO_ORDER = (
    "!has(self.restart) || !has(self.restart.strategy) || !has(self.restart.strategy.order)"
    f' || size({_ORDER}) == 0 || self.restart.strategy.?type.orValue("") == "Parallel"'
)


def picker(type_field: str) -> tuple[base.Rule, ...]:
    """The rules of an endpoint picker; `type_field` holds the type of the component."""
    other = f'self.?{type_field}.orValue("") != "epp"'
    return (
        base.Rule(
            codes.MULTINODE_ENDPOINT_PICKER, f"{other} || !has(self.multinode)", "multinode", "Forbidden", words={"nodes": "multinode"}
        ),
        base.Rule(
            codes.ENDPOINT_PICKER_WITH_TWO_CONFIGS,
            f"{other} || !{_CONFIG}.hasValue() || !{_REFERENCE}.hasValue()",
            "eppConfig",
            words=_EITHER,
        ),
        base.Rule(
            codes.CONFIG_MAP_REF_WITHOUT_NAME,
            f'{other} || {_CONFIG}.hasValue() || !{_REFERENCE}.hasValue() || {_REFERENCE}.?name.orValue("") != ""',
            "eppConfig.configMapRef.name",
            "Required",
        ),
    )


def some(parts: str, none: str) -> base.Rule:
    """Requires a graph to have a component. `none` is an empty list or map of components in CEL."""
    return base.Rule(
        codes.GRAPH_WITHOUT_COMPONENTS,
        f"size(self.?spec.?{parts}.orValue({none})) > 0",
        f"spec.{parts}",
        "Required",
        words={"parts": parts},
        lets_stored=True,
    )


def strategy(part: str) -> tuple[base.Rule, ...]:
    """The rules of the strategy of a restart."""
    return (
        base.Rule(
            codes.PARALLEL_RESTART_WITH_ORDER,
            'self.?type.orValue("") != "Parallel" || !has(self.order) || size(self.order) == 0',
            "order",
            "Forbidden",
        ),
        base.Rule(
            codes.DUPLICATE_COMPONENT_IN_RESTART_ORDER,
            "!has(self.order) || self.order.all(name, self.order.exists_one(other, other == name))",
            "order",
            words={"name": f"a {part}", "part": part},
        ),
    )


def parts(part: str, name: str, kind: str, listed: str) -> tuple[base.Rule, ...]:
    """The rules of the components of a graph, in its spec.

    The field is the plural of `part`. In CEL, an entry is called `one`; `name` is the name of an entry, `kind` its type, and `listed` is
    true if a component has the name `name`.
    """
    field = f"{part}s"
    none, other = f"!has(self.{field})", name.replace("one", "other")
    unlike = f"self.{field}.exists_one(other, {other}.lowerAscii() == {name}.lowerAscii())"
    order = {"part": part, "services": f"its {field}"}
    return (
        base.Rule(codes.COMPONENT_NAMES_COLLIDE, f"{none} || self.{field}.all(one, {unlike})", field, words={"services": f"two {field}"}),
        base.Rule(
            codes.SEVERAL_ENDPOINT_PICKERS, f'{none} || size(self.{field}.filter(one, {kind} == "epp")) < 2', field, words={"part": part}
        ),
        base.Rule(
            codes.UNKNOWN_COMPONENT_IN_RESTART_ORDER,
            f"{_NO_ORDER} || {none} || {_ORDER}.all(name, {listed})",
            "restart.strategy.order",
            words={**order, "name": "of one of these names"},
        ),
        base.Rule(
            codes.INCOMPLETE_RESTART_ORDER,
            f"{_NO_ORDER} || {none} || self.{field}.all(one, {name} in {_ORDER})",
            "restart.strategy.order",
            words={**order, "services": f"some {field}"},
        ),
    )


def component() -> tuple[base.Rule, ...]:
    """The rules of a component that only newer releases have."""
    picker_only = f'self.?type.orValue("") == "epp" || (!{_CONFIG}.hasValue() && !{_REFERENCE}.hasValue())'
    least, replicas = "self.?minAvailable.orValue(1)", "self.?replicas.orValue(1)"
    return (
        base.Rule(codes.EPP_CONFIG_WITHOUT_PICKER, picker_only, "eppConfig", "Forbidden"),
        base.Rule(
            codes.MIN_AVAILABLE_ABOVE_REPLICAS, f"{replicas} == 0 || !has(self.minAvailable) || {least} <= {replicas}", "minAvailable"
        ),
        base.Rule(codes.IMMUTABLE_MIN_AVAILABLE, f"{least} == oldSelf.?minAvailable.orValue(1)", "minAvailable"),
    )


def gpu_memory(within: str) -> tuple[base.Rule, ...]:
    """The rules of the GPU memory service; `within` is its mode inside one pod."""
    none = "size(self.?extraClientContainers.orValue([])) == 0"
    return (
        base.Rule(codes.GPU_MEMORY_CLIENTS_BETWEEN_PODS, f'{none} || self.mode == "{within}"', "extraClientContainers", "Forbidden"),
        base.Rule(codes.GPU_MEMORY_CLIENTS_IN_OTHER_PODS, "size(self.?extraClientPods.orValue([])) == 0", "extraClientPods", "Forbidden"),
    )


CHECKPOINT = (base.Rule(codes.CHECKPOINT_WITH_JOB_AND_REF, '!has(self.job) || self.?checkpointRef.orValue("") == ""', "job", "Forbidden"),)
KV_TRANSFER = (
    base.Rule(codes.TRANSFER_POLICY_SOURCES, "has(self.labelKey) != has(self.clusterTopologyName)"),
    base.Rule(codes.TRANSFER_POLICY_WEIGHT, '(self.enforcement == "preferred") == has(self.preferredWeight)', "preferredWeight"),
    base.Rule(
        codes.LABEL_DOMAIN_TOO_LONG,
        '!has(self.labelKey) || !self.labelKey.contains("/") || size(self.labelKey.split("/")[0]) <= 253',
        "labelKey",
    ),
)
POD_TEMPLATE = tuple(
    base.Rule(
        codes.CONTAINER_WITHOUT_IMAGE,
        'self.name == "main" || self.?image.orValue("") != ""',
        "image",
        "Required",
        list_path=f"spec.{field}",
    )
    for field in ("containers", "initContainers")
)
