"""Inference engines: each file is an engine, and its `ENGINE` holds its facts and changes containers and pods.

Follows the operator's `internal/dynamo/backend_*.go`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache

from krm_fn.base import registry
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import Container, PodSpec
    from krm_fn.kubernetes.version import Version
    from krm_fn.render.plan import ComponentPlan, RolePlan


_SEPARATOR = re.compile(r"[|&;]")
_PYTHON = re.compile(r"python[0-9.]*[ \t\n\f\r]")
_FLAG = re.compile(r"-m[ \t\n\f\r]")


class ParallelFlags(NamedTuple):
    """The flags of an engine that multiply its GPUs, each with all its names. The rules are those of the engine's check at its start.

    `copies` multiply only without one of the flags in `within`, which place the copies of a model on the same GPUs. One of the flags in
    `silent` decides the GPUs in another way. `document` is a flag with a JSON object whose fields win over the flags.
    """

    parallel: tuple[tuple[str, ...], ...]
    copies: tuple[tuple[str, ...], ...] = ()
    within: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    document: str = ""


class NewWorker(NamedTuple):
    """A worker that a new graph gets, with `gpus` on each of its `nodes`.

    `mode` is the value of `--disaggregation-mode`; empty for a worker that serves whole requests.
    """

    model: str
    gpus: int
    nodes: int = 1
    mode: Literal["", "prefill", "decode"] = ""


class Engine:
    """The hooks of an inference engine. A default hook changes and reports nothing."""

    name = "noop"
    """The name of its file and of its Python module: a container starts the engine with `python3 -m dynamo.<name>`."""

    cache_dir = ""
    """The folder of compiled kernels, at which a cache mount without a path is mounted."""

    leader_starts_last = False
    """True if the leader must start after its followers on several nodes."""

    counts_gpus = False
    """True if the command line on several nodes depends on the number of GPUs of one node."""

    shares_gpu_memory = False
    """True if processes of the engine can share the memory of GPUs: for failover, and with a GPU memory service in pods of its own."""

    parallel_flags: ParallelFlags | None = None
    """The flags that `krm-fn check` compares with GPUs and nodes; None if it compares none."""

    own_images: tuple[str, ...] = ()
    """The names of images of the engine without Dynamo. The version in their tags is not that of Dynamo."""

    own_servers: tuple[str, ...] = ()
    """The servers of the engine without Dynamo: words that begin a command, or Python modules, which have dots."""

    runtime_image = ""
    """The name of NVIDIA's image with the engine. Its entry point runs the arguments of the container as a command."""

    other_names: tuple[str, ...] = ()
    """Names by which people call the engine, with hyphens. None of them is the name of its Python module."""

    lora_flags: tuple[str, ...] = ()
    """The flags of which one lets a worker load LoRA adapters; empty if no release of Dynamo's module for the engine loads them."""

    loads_loras_since: Version = (0, 0, 0)
    """The first version of Dynamo whose worker of this engine loads LoRA adapters."""

    model_flag = "--model"
    """The flag with the model."""

    default_model = ""
    """The model that a worker loads without a flag; empty if it loads none."""

    reads_mode_variable_since: Version | None = None
    """The first version of Dynamo whose worker also takes its mode from a variable, such as DYN_VLLM_DISAGGREGATION_MODE."""

    decodes_without_mode = True
    """True if a worker without a mode asks prefill workers, as a decode worker does."""

    prefill_names: tuple[tuple[str, Version], ...] = (("prefill", (0, 0, 0)),)
    """The names of components that a planner uses as its prefill worker, whatever their type is, with the first version of the planner.

    They are those of `prefill_worker_k8s_name` in the planner of 0.9 to 1.7.
    """

    bootstrap_host_flag = ""
    """The flag with the address at which a prefill worker answers decode workers, if its default is an address of the pod alone."""

    def container(self, container: Container, role: RolePlan) -> Container:
        """Returns the main container, changed for this engine."""
        return container

    def launched_container(self, container: Container, role: RolePlan) -> Container:
        """Returns the main container of a role with a pod template of its own, whose launch line stays as its author wrote it."""
        return container

    def pod(self, pod: PodSpec, role: RolePlan) -> PodSpec:
        """Returns the whole pod, changed for this engine."""
        return pod

    def one_of_several(self, container: Container, index: int, plan: ComponentPlan) -> Container:
        """Returns the container of an engine that shares its pod with other engines, changed for this engine. `index` begins with 0."""
        return container

    def arguments(self, worker: NewWorker) -> list[str]:
        """Returns the arguments with which `krm-fn new` starts a worker. They are those of the newest release that is published.

        The first flag of `parallel_flags` spreads the model over all GPUs.
        """
        return [self.model_flag, worker.model, *self._sizes(worker), *(self._transfer(worker) if worker.mode else ())]

    def _sizes(self, worker: NewWorker) -> list[str]:
        """Returns the flags with the parallel sizes of a worker. An engine on one GPU needs none."""
        gpus = worker.gpus * worker.nodes
        return [self.parallel_flags.parallel[0][0], str(gpus)] if self.parallel_flags and gpus > 1 else []

    def _transfer(self, worker: NewWorker) -> list[str]:
        """Returns the flags of a worker that only prefills or only decodes."""
        return ["--disaggregation-mode", worker.mode]

    def check(self, container: Container, role: RolePlan) -> Iterator[Result]:
        """Reports problems that would occur at run time. `container` is the main container before this engine changes it."""
        yield from ()

    def check_launched(self, container: Container, role: RolePlan) -> Iterator[Result]:
        """Reports problems of the launch line of a role with a pod template of its own."""
        yield from ()


NONE = Engine()
"""The engine of a component without an engine: the container is not changed."""


def names() -> tuple[str, ...]:
    """Returns the names of all engines."""
    return registry.entries(sys.modules[__name__])


@cache
def get(name: str) -> Engine:
    """Returns the engine of a name; `NONE` for its name and for an empty name. Raises KeyError for an unknown name."""
    if name in (NONE.name, ""):
        return NONE
    engine: Engine = registry.get(sys.modules[__name__], name).ENGINE
    return engine


def of_program(program: str) -> Engine | None:
    """Returns the engine whose workers a program of Dynamo starts; None for another program.

    >>> of_program("dynamo.vllm").name, of_program("dynamo.frontend")
    ('vllm', None)
    """
    name = program.removeprefix("dynamo.")
    return get(name) if name in names() else None


def detect(words: Iterable[str]) -> list[str]:
    """Returns the names of the engines that a command line starts (operator: detectBackendFrameworkFromArgs).

    >>> detect(["python3", "-m", "dynamo.vllm"])
    ['vllm']
    """
    line = " ".join(words)
    if "dynamo." not in line:
        return []
    return [name for name in names() if _starts(name, line)]


def _starts(module: str, line: str) -> bool:
    """Returns true if one command of a shell line holds Python, then -m, then the module, in this order."""
    for command in _SEPARATOR.split(line):
        python = _PYTHON.search(command)
        flag = _FLAG.search(command, python.end()) if python else None
        if flag and command.find(f"dynamo.{module}", flag.end()) >= 0:
            return True
    return False
