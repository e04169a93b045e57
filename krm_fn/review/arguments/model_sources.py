"""Findings about the models that workers load: a missing flag, a folder that no volume holds, and a cache without a volume.

Each of them is a warning: an own image can have a model in its files, and a proxy or a sidecar can bring one. So only images of NVIDIA,
which have none, are judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import normpath

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes.values import objects, text
from krm_fn.render.rules import field_origin
from krm_fn.review import written_pods
from krm_fn.review.arguments import judged_commands
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_FLAGS = ("--model", "--model-path")
_MEANS_MODEL = ("unknown", "superfluous word")
"""The kinds of problems of words that can mean the model."""
_VARIABLES = ("DYN_TRTLLM_MODEL",)
_IN_FILES = ("--config", "--extra-engine-args", "--override-engine-args", "--modality")
_OF_IMAGE = ("/workspace", "/opt/dynamo", "/tmp")  # noqa: S108 - a folder in a container
"""Folders of NVIDIA's images, and one that a container fills itself."""
_HOME, _CACHES = "HF_HOME", ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE")
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_TRUE = ("1", "on", "yes", "true")
"""The values that turn a variable of the Hub on (`huggingface_hub/constants.py`)."""
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)
_URL = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)(?:/|/tree/main/?)?", re.ASCII)
"""The address of the page of a model."""
_QUOTED = re.compile(r"""(["'])([\w./:@-]+)\1""", re.ASCII)
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a folder in a container
_LEAST_SHARED = 3


def check_commands(commands: Iterable[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each worker that loads the default model of its program, if it, or another worker, names a model."""
    commands = [*commands]
    models = [model for judged in commands if (model := judged.text(*_flags(judged)))]
    for judged in commands:
        default, served = judged.engine.default_model if judged.engine else "", judged.text("--served-model-name")
        is_read = judged.parsed.is_complete and judged.is_known and not judged.has(*_flags(judged), *_IN_FILES)
        is_read = is_read and not any(problem.kind in _MEANS_MODEL for problem in judged.parsed.problems)
        is_meant = served == default or not (served or models)
        if default and is_read and not is_meant and not _from_map(judged) and not _has(judged, _VARIABLES):
            flag = _FLAGS[0] if _FLAGS[0] in judged.table.flags else _FLAGS[1]
            named = models[0] if models else served if served and _HUB_NAME.fullmatch(served) else ""
            model = named or "with the name of the model"
            served_as = f", and serves it as {served}" if served else ""
            message = f"without {flag}, {judged.command.program} loads {default}{served_as}; add {flag} {model}"
            added = (flag, named) if named else ()
            yield WorkerFinding(
                judged, ArgumentFinding(codes.WORKER_LOADS_DEFAULT_MODEL, "warning", judged.command.start, message, added=added)
            )


def check_folders(commands: Iterable[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each model in a folder that no volume of the container has."""
    for judged in commands:
        use = judged.parsed.last(judged.table, *_flags(judged)) if _is_published(judged) else None
        folder = normpath(use.text) if use and use.text and use.text.startswith("/") else ""
        if use is None or not folder or _is_in(folder, _OF_IMAGE):
            continue
        folders = _mounted_folders(judged)
        if folders and _is_in(folder, folders):
            continue
        served, near = judged.text("--served-model-name") or "", _near(folder, folders)
        if not near and _HUB_NAME.fullmatch(served) and served.rpartition("/")[2] == folder.rpartition("/")[2]:
            near = served
        fix = f"mount a volume with the model at {folder.rpartition('/')[0] or folder}"
        fix = f"write {near}" if near and folders else f"write {near}, or {fix}" if near else fix
        listed = f" but at {', '.join(folders[:3])}" if folders else ""
        message = f"the container has no volume at {folder[:200]}{listed}, and its image has no model there; {fix}"
        yield WorkerFinding(
            judged, ArgumentFinding(codes.MODEL_FOLDER_WITHOUT_VOLUME, "warning", use.values[0], message, old=use.text or "")
        )


def check_names(commands: Iterable[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each name of a model that the Hugging Face Hub refuses (`huggingface_hub/utils/_validators.py`)."""
    for judged in commands:
        use = judged.parsed.last(judged.table, *_flags(judged)) if _is_published(judged) else None
        written = (use.text if use else "") or ""
        right = _meant_name(written)
        if use and right:
            reason = "no shell removes these quotes" if written[0] in "\"'" else "the Hugging Face Hub has names of the form owner/model"
            message = f"`{written[:120]}` is not the name of a model, because {reason}; write {right}"
            yield WorkerFinding(judged, ArgumentFinding(codes.MALFORMED_MODEL_NAME, "warning", use.values[0], message, old=written))


def _meant_name(written: str) -> str:
    """Returns the name of a model that a malformed one means; empty for a folder, and for a name of the right form.

    >>> names = ('"acme/tiny"', "huggingface.co/acme/tiny", "acme//tiny", "acme/tiny/", "acme/tiny", "/models/tiny/")
    >>> [_meant_name(name) for name in names]
    ['acme/tiny', 'acme/tiny', 'acme/tiny', 'acme/tiny', '', '']
    """
    quoted, url = _QUOTED.fullmatch(written), _URL.fullmatch(written.strip())
    plain = quoted[2] if quoted else url[1] if url else re.sub("/+", "/", written.strip()).rstrip("/")
    is_name = _HUB_NAME.fullmatch(plain) or (quoted is not None)
    return plain if is_name and plain != written else ""


def check_caches(commands: Iterable[JudgedCommand], ref: Ref) -> Iterator[Result]:
    """Yields a finding for each cache of models beside the volume that should hold it, and for each container that may not download."""
    reported: set[Path] = set()
    for judged in commands:
        model = judged.text(*_flags(judged)) or ""
        if not _is_published(judged) or not _HUB_NAME.fullmatch(model) or _from_map(judged):
            continue
        for result in _check_cache(judged, _mounted_folders(judged), ref):
            if result.path not in reported:
                reported.add(result.path)
                yield result


def _check_cache(judged: JudgedCommand, folders: list[str], ref: Ref) -> Iterator[Result]:
    values = {f"{entry.get('name')}": entry.get("value") for entry in judged.container.fields.get("env") or ()}
    name = next((name for name in (*_CACHES, _HOME) if values.get(name)), "")
    cache = text(values.get(name))
    unused = [folder for folder in folders if not _is_named(judged, folder, but=name)]
    if cache.startswith("/") and "$(" not in cache and not _is_in(normpath(cache), folders):
        near = _near(normpath(cache), unused) or (unused[0] if len(unused) == 1 and _is_near(cache, unused[0]) else "")
        if near:
            message = f"no volume is mounted at {cache}, but one at {near}, so each new container downloads the model again; write {near}"
            path = field_origin.of_variable(judged.plan, name, "value")
            yield results.warning(codes.MODEL_CACHE_BESIDE_VOLUME, message, ref, path, current=cache, proposed=near)
    offline = next((name for name in _OFFLINE if f"{values.get(name)}".lower() in _TRUE), "")
    if offline and not folders:
        model = judged.text(*_flags(judged))
        message = f"{offline} forbids to download {model}, and the container has no volume with it; mount one, or remove {offline}"
        yield results.warning(codes.MODEL_NOT_DOWNLOADED, message, ref, field_origin.of_variable(judged.plan, offline))


def _flags(judged: JudgedCommand) -> tuple[str, ...]:
    return tuple(flag for flag in _FLAGS if flag in judged.table.flags)


def _has(judged: JudgedCommand, names: Iterable[str]) -> bool:
    return any(entry.get("name") in names for entry in judged.container.fields.get("env") or ())


def _from_map(judged: JudgedCommand) -> bool:
    """True if a ConfigMap can have more variables."""
    return any("configMapRef" in entry for entry in judged.container.fields.get("envFrom") or ())


def _is_published(judged: JudgedCommand) -> bool:
    """True for a worker in an image of NVIDIA's registry."""
    return bool(judged_commands.engine_of_image(judged.container))


def _mounted_folders(judged: JudgedCommand) -> list[str]:
    """Returns the folders of the volumes of a main container, also of those that a render adds."""
    mounts = (mount for main in judged.container.in_all_forms() for mount in objects(main.get("volumeMounts")))
    folders = dict.fromkeys(normpath(text(mount.get("mountPath"))) for mount in mounts if mount.get("mountPath"))
    return [folder for folder in folders if folder != _SHARED_MEMORY]


def _is_in(folder: str, parents: Iterable[str]) -> bool:
    return any(written_pods.is_in_folder(folder, parent) for parent in parents)


def _near(folder: str, folders: Iterable[str]) -> str:
    """Returns a folder with the mounted one that its beginning is a slip for; empty without one.

    >>> _near("/model/qwen", ["/models"]), _near("/data/models/qwen", ["/models"]), _near("/models/qwen", ["/cache"])
    ('/models/qwen', '/models/qwen', '')
    """
    near = []
    for mounted in folders:
        depth = mounted.count("/")
        parts = folder.split("/")
        beginning = "/".join(parts[: depth + 1])
        if len(mounted) > _LEAST_SHARED and spelling.is_slip(beginning.lower(), mounted.lower(), "-_"):
            near.append("/".join((mounted, *parts[depth + 1 :])))
        elif len(mounted) > _LEAST_SHARED and f"{mounted}/" in folder:
            near.append(folder[folder.index(f"{mounted}/") :])
    return near[0] if len(near) == 1 else ""


def _is_near(cache: str, folder: str) -> bool:
    """True for two folders for models: each names a model, a cache or Hugging Face."""
    return all(re.search(r"model|cache|hf|hugging|weights", part, re.IGNORECASE) for part in (cache, folder))


def _is_named(judged: JudgedCommand, folder: str, *, but: str) -> bool:
    """True if the command or a variable beside one has a folder."""
    container = judged.container.fields
    words = [f"{word}" for field in ("command", "args") for word in container.get(field) or ()]
    words += [f"{entry.get('value')}" for entry in container.get("env") or () if entry.get("name") != but]
    return any(folder in word for word in words)
