"""Gates: changes of pods that need a minimum version. `GATES` is the table of all of them, and the only place that compares versions.

A gate reads one of two inputs: the runtime version, which the image of a component has, or the origin version, which is the version of the
operator that created the graph. `resolve` opens the gates of each component. The layers below read which gates are open.

Follows the operator's `internal/features/runtime/gates.go` and `internal/features/compatibility/gates.go`.
"""

from __future__ import annotations

from functools import lru_cache

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import version
from krm_fn.render.kinds.releases import ProbeDefaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from krm_fn.kubernetes.types import ProbeName
    from krm_fn.kubernetes.version import Version
    from krm_fn.render.kinds.releases import ReleaseNumber, TypeDefaults


class Gate(NamedTuple):
    """One gate.

    `release` is the first release that has it. `reads` is its input, and `minimum` the lowest version that opens it. `effect` and `fields`
    say for the documentation what it changes. The other fields are the change of default values: an open gate replaces `env` and `probes`
    of the component types whose defaults have the keys `types` (`krm_fn.render.kinds.releases`).
    """

    name: str
    release: ReleaseNumber
    reads: Literal["runtime", "origin"]
    minimum: Version
    effect: str
    fields: tuple[str, ...]
    types: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    probes: tuple[tuple[ProbeName, ProbeDefaults], ...] = ()


MULTIPROCESSING = Gate(
    name="VLLMMultiprocessing",
    release=(1, 2),
    reads="origin",
    minimum=(1, 0, 0),
    effect="vLLM runs a model on several nodes with processes of its own (`mp`) in place of Ray.",
    fields=("containers[main].command", "containers[main].args", "initContainers[wait-for-leader-mp]"),
)
NATIVE_PICKER = Gate(
    name="NativeRustEPP",
    release=(1, 5),
    reads="runtime",
    minimum=(1, 5, 0),
    effect="An endpoint picker must have no configuration. Below the minimum, it must have one.",
    fields=(),
)
NEW_PROFILER = Gate(
    name="NewProfiler",
    release=(0, 9),
    reads="runtime",
    minimum=(1, 0, 0),
    effect="Images hold another profiler, which krm-fn does not run: a request with such an image is an error.",
    fields=(),
)
PLANNER_STATUS = Gate(
    name="PlannerDGDComponentStatus",
    release=(1, 6),
    reads="runtime",
    minimum=(1, 6, 0),
    effect="A planner reads the GPUs of a component from its status. Below the minimum, roles cannot have pod templates of their own.",
    fields=(),
)
TOPOLOGY_ALIASES = Gate(
    name="MultinodeTopologyAliases",
    release=(1, 6),
    reads="origin",
    minimum=(1, 6, 0),
    effect="Pods of one engine on several nodes have variables with their rank and their leader's address, and command lines use them.",
    fields=(
        "containers[main].env[DYNAMO_LEADER_ADDRESS]",
        "containers[main].env[DYNAMO_RANK]",
        "containers[main].command",
        "containers[main].args",
    ),
)
STRICT_PREFIX = Gate(
    name="StrictNamespacePrefix",
    release=(1, 6),
    reads="runtime",
    minimum=(1, 6, 0),
    effect="A frontend and an endpoint picker find only workers of their own graph, not those of a graph with a longer name.",
    fields=("containers[main].env[DYN_NAMESPACE_PREFIX_STRICT]", "containers[FRONTEND SIDECAR].env[DYN_NAMESPACE_PREFIX_STRICT]"),
    types=("frontend", "native-epp"),
    env=(("DYN_NAMESPACE_PREFIX_STRICT", "true"),),
)
"""The gate of strict beginnings of Dynamo namespaces.

Rule gates.table: see `krm_fn.render.kinds.gates`.
"""
GATES: tuple[Gate, ...] = (
    NEW_PROFILER,
    MULTIPROCESSING,
    Gate(
        name="CanaryHealthChecks",
        release=(1, 5),
        reads="runtime",
        minimum=(1, 5, 0),
        effect="Workers send requests to themselves to check their health.",
        fields=("containers[main].env[DYN_HEALTH_CHECK_ENABLED]",),
        types=("worker",),
        env=(("DYN_HEALTH_CHECK_ENABLED", "true"),),
    ),
    Gate(
        name="IncreasedWorkerFailureThreshold",
        release=(1, 5),
        reads="runtime",
        minimum=(1, 5, 0),
        effect="A worker restarts after three failed liveness probes in place of one.",
        fields=("containers[main].livenessProbe.failureThreshold",),
        types=("worker",),
        probes=(("livenessProbe", ProbeDefaults("http", "/live", "system", period=5, timeout=4, failures=3)),),
    ),
    NATIVE_PICKER,
    TOPOLOGY_ALIASES,
    PLANNER_STATUS,
    Gate(
        name="FrontendStartupProbe",
        release=(1, 6),
        reads="runtime",
        minimum=(1, 6, 0),
        effect="A frontend has a startup probe, so it has 300 seconds to start.",
        fields=("containers[main].startupProbe", "containers[FRONTEND SIDECAR].startupProbe"),
        types=("frontend",),
        probes=(("startupProbe", ProbeDefaults("http", "/live", "http", period=10, timeout=1, failures=30)),),
    ),
    STRICT_PREFIX,
)
"""All gates.

Rule gates.table: A default value can depend on the version of Dynamo in the image, and on the version of the operator that created the
graph. (operator: internal/features/runtime/gates.go, internal/features/compatibility/gates.go)
"""


@lru_cache(maxsize=64)  # the components of a graph mostly have one version
def open_gates(release: ReleaseNumber, runtime: Version | None, origin: str) -> tuple[Gate, ...]:
    """Returns the gates of a release that are open, in the order of the table.

    `runtime` is None if the version of the image is unknown, which opens no gate. `origin` is a text; a text that is not a semantic
    version opens no gate.
    """
    return tuple(gate for gate in GATES if release >= gate.release and _opens(gate, runtime, origin))


def _opens(gate: Gate, runtime: Version | None, origin: str) -> bool:
    if gate.reads == "origin":
        return version.at_least(origin, gate.minimum)
    return runtime is not None and runtime >= gate.minimum


@lru_cache(maxsize=64)
def apply_gates(defaults: TypeDefaults, key: str, gates: tuple[Gate, ...]) -> TypeDefaults:
    """Returns the defaults of a component type with the changes of the open `gates`. `key` is the key of the defaults in their release."""
    for gate in gates:
        if key in gate.types:
            env, probes = {**dict(defaults.env), **dict(gate.env)}, {**dict(defaults.probes), **dict(gate.probes)}
            defaults = defaults._replace(env=tuple(env.items()), probes=tuple(probes.items()))
    return defaults
