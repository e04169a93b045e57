"""Rules about the settings of the profiler in a request: values that it refuses, and names that it does not read.

Follows the profiler of Dynamo 0.9, `benchmarks/profiler/utils/profiler_argparse.py`. It reads the settings as defaults of its flags, so
argparse converts a text to the type of its flag, and a setting without a flag has no effect. A v1beta1 request has these settings as
fields of its spec.
"""

from __future__ import annotations

from krm_fn.base import codes, edits, results, spelling
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.values import mapping
from krm_fn.render import dynamo_api
from krm_fn.render.kinds import gates
from krm_fn.render.schema import fixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.render.plan import RequestPlan


class _Section(NamedTuple):
    """A part of the settings: the names of its whole numbers, of its other numbers and of its other settings, in camelCase."""

    integers: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in both forms that the profiler reads."""
        listed = (*self.integers, *self.numbers, *self.others)
        return (*listed, *(_in_snake_case(name) for name in listed))


_SECTIONS = {
    "sla": _Section(("isl", "osl"), ("ttft", "itl")),
    "hardware": _Section(("minNumGpusPerEngine", "maxNumGpusPerEngine", "numGpusPerNode"), (), ("enableGpuDiscovery",)),
    "sweep": _Section(
        ("prefillInterpolationGranularity", "decodeInterpolationGranularity", "webuiPort"),
        (),
        ("useAiConfigurator", "aicSystem", "aicHfId", "aicBackend", "aicBackendVersion", "dryRun", "pickWithWebui"),
    ),
    "engine": _Section(("maxContextLength",), (), ("backend", "config", "isMoeModel")),
    "deployment": _Section(("deploymentTimeout",), (), ("namespace", "serviceName", "model", "dgdImage", "modelCache")),
}
_TOP = (*_SECTIONS, "planner", "outputDir", "output_dir", "deployment_ready_timeout_s")
_TARGETS = "sla"
"""The section whose numbers must be above zero. The profiler reads its other names in no form."""
_LOADS = ("concurrency", "requestRate")
_ABOVE_ZERO = (
    *(("sla", name) for name in ("ttft", "itl", "e2eLatency")),
    *(("workload", name) for name in ("isl", "osl", *_LOADS)),
    ("hardware", "numGpusPerNode"),
)
"""Fields of v1beta1 that must be above zero."""
_CONFIG = ("profilingConfig", "config")
_LONGEST = 40
"""The longest text that is read as a number, in characters."""


def check(plan: RequestPlan) -> Iterator[Result]:
    """Yields the findings about the model and the settings of a request. Images of 1.0 or later do not read v1alpha1's settings."""
    model = plan.paths.written.get("model")
    if isinstance(model, str) and not model.strip():
        yield results.error(
            codes.UNUSABLE_PROFILING_SETTING, "the model is empty; write its name, such as Qwen/Qwen3-0.6B", plan.ref, plan.at("model")
        )
    if plan.ref.api_version != dynamo_api.V1ALPHA1:
        yield from _check_v1beta1(plan)
    elif gates.NEW_PROFILER not in plan.gates:
        yield from _check_settings(plan)


def _check_v1beta1(plan: RequestPlan) -> Iterator[Result]:
    """Reports what the profiler of Dynamo 1.x refuses; see its `dynamo/profiler/utils/dgdr_validate.py`. The schema reports the rest."""
    for section, name in _ABOVE_ZERO:
        value = mapping(plan.paths.written.get(section)).get(name)
        if isinstance(value, int | float) and value <= 0:
            message = f"{name} is {value}, and it must be above 0; write a number above 0"
            yield results.error(codes.UNUSABLE_PROFILING_SETTING, message, plan.ref, ("spec", section, name), current=value)
    workload = mapping(plan.paths.written.get("workload"))
    if all(workload.get(name) is not None for name in _LOADS):
        message = f"{' and '.join(_LOADS)} exclude each other; keep one"
        yield results.error(codes.UNUSABLE_PROFILING_SETTING, message, plan.ref, ("spec", "workload", _LOADS[-1]))


def _check_settings(plan: RequestPlan) -> Iterator[Result]:
    for name in plan.settings:
        if name not in _TOP and (nearest := spelling.nearest(name, _TOP)):
            yield _unread(plan, (name,), nearest)
    for section, facts in _SECTIONS.items():
        if section in plan.settings:
            yield from _check_section(plan, section, facts)


def _check_section(plan: RequestPlan, section: str, facts: _Section) -> Iterator[Result]:
    fields = plan.settings[section]
    if not isinstance(fields, dict):
        message = f"{section} is {fixes.describe_value(fields)}, and the profiler fails without an object; write an object, or remove it"
        yield results.warning(codes.UNUSABLE_PROFILING_SETTING, message, plan.ref, plan.at(*_CONFIG, section), current=fields)
        return
    known = facts.names
    for name, value in fields.items():
        if name in known:
            yield from _check_value(plan, (section, name), value, facts)
        elif (nearest := spelling.nearest(name, known)) or section == _TARGETS:
            yield _unread(plan, (section, name), nearest)


def _check_value(plan: RequestPlan, path: tuple[str, str], value: Any, facts: _Section) -> Iterator[Result]:
    """Reports a value that argparse cannot convert, and a target that no answer reaches."""
    section, name = path
    if all(name not in (number, _in_snake_case(number)) for number in (*facts.integers, *facts.numbers)):
        return
    integer = name not in facts.numbers
    number = _number(value, integer=integer)
    wanted = f"{'a whole number' if integer else 'a number'}{' above 0' if section == _TARGETS else ''}"
    if number is None or (section == _TARGETS and number <= 0):
        message = f"{name} is {fixes.describe_value(value) if number is None else value}, and the profiler needs {wanted}; write {wanted}"
        yield results.error(codes.UNUSABLE_PROFILING_SETTING, message, plan.ref, plan.at(*_CONFIG, *path), current=value)


def _number(value: Any, *, integer: bool) -> float | None:
    """Returns the number that argparse makes of a default; None if it fails. It converts only texts."""
    if isinstance(value, int | float):
        return value
    try:
        return (int if integer else float)(value) if isinstance(value, str) and len(value) <= _LONGEST else None
    except ValueError:
        return None


def _unread(plan: RequestPlan, path: Path, nearest: str) -> Result:
    message = f"the profiler reads no setting {path[-1]}, so it has no effect; {f'write {nearest}' if nearest else 'remove it'}"
    edit = edits.Edit(edits.Key(nearest)) if nearest else None
    return results.warning(
        codes.PROFILING_SETTING_WITHOUT_EFFECT, message, plan.ref, plan.at(*_CONFIG, *path), proposed=nearest or None, edit=edit
    )


def _in_snake_case(name: str) -> str:
    """Returns a camelCase name in snake_case, as `aic_hf_id`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
