"""Reads the free-form settings of the profiler, and completes them with the fields of the request.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go` prepareProfilingConfig and isOnlineProfiling, and
`internal/webhook/validation/dynamographdeploymentrequest.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn import results
from krm_fn.manifests import profiling
from krm_fn.plan import ModelCache
from krm_fn.plan.address import RequestBook
from krm_fn.results import Path, Ref, Result
from krm_fn.schema import words

_CACHE_PATH = "/opt/model-cache"
_OUTPUT = "output_dir"


def settings(spec: dict[str, Any], namespace: str, book: RequestBook) -> tuple[dict[str, Any], list[Result]]:
    """The settings that the profiler gets, and findings about those that are overwritten or have no effect.

    Fields of the request win over the settings. All other settings stay as written.
    """
    found: list[Result] = []
    profiled = spec.get("profilingConfig") or {}
    written = profiled.get("config") or {}
    deployment, engine = (_section(written, name, book, found) for name in ("deployment", "engine"))
    found.extend(_overwritten("engine", engine, "backend", spec, book))
    found.extend(_overwritten("deployment", deployment, "model", spec, book))
    found.extend(_output(written, book))
    image = (spec.get("deploymentOverrides") or {}).get("workersImage")
    completed = {
        **written,
        "deployment": {
            "namespace": namespace,
            **deployment,
            "model": spec.get("model") or "",
            **({"dgd_image": image} if image else {}),
        },
        "engine": {
            **engine,
            "backend": spec.get("backend") or "",
            **({"config": profiling.BASE_FILE} if profiled.get("configMapRef") is not None else {}),
        },
        _OUTPUT: profiling.OUTPUT_FOLDER,
    }
    return _whole(completed), found


def simulates(written: dict[str, Any]) -> bool:
    """True if the profiler simulates GPUs (AI Configurator). A switch that is no boolean counts as absent."""
    sweep = written.get("sweep")
    switches = (sweep.get(name) for name in ("useAiConfigurator", "use_ai_configurator")) if isinstance(sweep, dict) else ()
    return next((switch for switch in switches if isinstance(switch, bool)), False)


def model_cache(written: dict[str, Any], book: RequestBook) -> tuple[ModelCache | None, list[Result]]:
    """The model cache of the profiler, or None, and a warning for each part of a wrong type. The reference ignores such parts."""
    cache = written["deployment"].get("modelCache")
    if cache is None:
        return None, []
    if not isinstance(cache, dict):
        return None, [_ignored(book.ref, book.fields["cache"], cache, "an object", "no model cache is mounted")]
    claim, path = cache.get("pvcName"), cache.get("mountPath")
    if not isinstance(claim, str) or not claim:
        return None, [
            _ignored(book.ref, book.fields["cache.claim"], claim, "the name of a PersistentVolumeClaim", "no model cache is mounted")
        ]
    if path is None or (isinstance(path, str) and path):
        return ModelCache(claim, path or _CACHE_PATH), []
    return ModelCache(claim, _CACHE_PATH), [
        _ignored(book.ref, book.fields["cache.path"], path, "a path", f"the model cache is mounted at {_CACHE_PATH}")
    ]


def _section(written: dict[str, Any], name: str, book: RequestBook, found: list[Result]) -> dict[str, Any]:
    """A part of the settings that fields of the request are added to. It must be an object."""
    section = written.get(name)
    if section is None or isinstance(section, dict):
        return section or {}
    message = f"{name} is {words.described(section)}, but the function adds fields of the request to it; write an object, or remove it"
    found.append(results.error("DYN182", message, book.ref, (*book.fields["settings"], name), current=section))
    return {}


def _overwritten(name: str, section: dict[str, Any], field: str, spec: dict[str, Any], book: RequestBook) -> Iterator[Result]:
    """Warns about a setting that differs from the field of the same name in the request, which overwrites it."""
    written, wins = section.get(field), spec.get(field) or ""
    if isinstance(written, str) and written and written != wins:
        message = f"{written!r} is overwritten by spec.{field}, {wins!r}; remove it"
        yield results.warning("DYN180", message, book.ref, (*book.fields["settings"], name, field), current=written, proposed=wins or None)


def _output(written: dict[str, Any], book: RequestBook) -> Iterator[Result]:
    """The profiler must write to the folder of the volume, because the Job publishes only files in it."""
    folder = written.get(_OUTPUT)
    if folder is not None and not (isinstance(folder, str) and folder.rstrip("/") == profiling.OUTPUT_FOLDER):
        message = f"the Job publishes only files in {profiling.OUTPUT_FOLDER}, so it would not find this output; remove the field"
        yield results.error(
            "DYN184", message, book.ref, (*book.fields["settings"], _OUTPUT), current=folder, proposed=profiling.OUTPUT_FOLDER
        )


def _ignored(ref: Ref, path: Path, value: Any, wanted: str, effect: str) -> Result:
    message = f"{path[-1]} is {'missing' if value is None else words.described(value)}, so {effect}; write {wanted}"
    return results.warning("DYN185", message, ref, path, current=value)


def _whole(value: Any) -> Any:
    """The settings as an API server stores them: a number without a fraction is an integer, so that 50 and 50.0 give the same Job."""
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
