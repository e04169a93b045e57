"""What the commands are given: resources to render, the configuration among them, and where both stand.

Not its business: what resources say. A folder is read as it is; a Kustomization in it is not built.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import config, results
from krm_fn.config import Config
from krm_fn.files import locations, reading
from krm_fn.kube import identity, labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krm_fn.files.reading import Source
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_KUSTOMIZE, _KPT = "kustomize.config.k8s.io", "kpt.dev"
_NAMED = ("functionConfig",)
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml")


class Sources(NamedTuple):
    """What was read: sound resources, the configurations of which the first counts, and what is wrong. `stdin` is its text."""

    resources: list[Source]
    configs: list[Source]
    config: Config
    results: list[Result]
    stdin: str = ""

    @property
    def values(self) -> list[Resource]:
        """The resources alone."""
        return [source.value for source in self.resources]


def load(paths: Sequence[str], config_file: str | None = None, without: Path | None = None) -> Sources:
    """Everything that files, folders and `-` hold, with everything that is wrong with the files.

    The configuration is that of `config_file`, else the functionConfig of a ResourceList, else the only DynamoRender among what was
    read, else the settings on a graph that is its own functionConfig. `without` is a folder that is not read.
    """
    found: list[Result] = []
    given: list[Source] = []
    configs: list[Source] = []
    stdin = ""
    for path, in_folder in reading.listed(paths, without):
        file = reading.read(path)
        found.extend(file.results)
        configs.extend(source for source in file.sources if _is_config(source))
        given.extend(source for source in file.sources if not _is_config(source) and not _left_out(source, found, in_folder=in_folder))
        stdin = file.text if path == reading.STDIN else stdin
    resources = _sound(given, found)
    if not resources and not results.failed(found):
        found.append(results.error("DYN001", f"there is no resource in {', '.join(reading.name(path) for path in paths)}"))
    if config_file is not None:
        configs = _named_config(config_file, found)
    configs = _distinct(configs) or [source for source in resources if _configures_itself(source)]
    settings, wrong = _settings(configs)
    return Sources(resources, configs, settings, [*found, *wrong], stdin)


def _named_config(path: str, found: list[Result]) -> list[Source]:
    file = reading.read(path)
    found.extend(file.results)
    if not file.sources and not file.results:
        found.append(results.error("DYN001", "holds no configuration", file=path))
    return file.sources


def _is_config(source: Source) -> bool:
    return source.address.kind == config.KIND or source.at == _NAMED


def _left_out(source: Source, found: list[Result], *, in_folder: bool) -> bool:
    """Whether a document is no resource to render: it configures a tool, or is somebody else's file in a folder."""
    address = source.address
    group, notes = address.api_version.partition("/")[0], labels.notes(source.value) if address.kind else {}
    if Path(source.file).name in _KUSTOMIZATIONS or (group == _KUSTOMIZE and address.kind == "Kustomization"):
        message = "is not built here, what lies beside it is taken as it is; to have it built, pipe `kustomize build` into this command"
        found.append(results.info("DYN071", message, **source.place()))
        return True
    if in_folder and not address.api_version and not address.kind:
        found.append(results.warning("DYN072", "has no apiVersion and no kind and is left out", **source.place()))
        return True
    is_tools = group in (_KUSTOMIZE, _KPT) or labels.FUNCTION in notes or notes.get(labels.LOCAL_CONFIG) == "true"
    return is_tools and group != config.DYNAMO_GROUP


def _sound(sources: Iterable[Source], found: list[Result]) -> list[Source]:
    """The documents that are resources, each object once; what keeps the others from it is added to `found`."""
    sound: dict[identity.ObjectKey, Source] = {}
    wrong: list[tuple[Source, Result]] = []
    twins: list[tuple[Source, Source]] = []
    for source in sources:
        if unfit := _unfit(source):
            wrong.append((source, unfit))
        elif (other := sound.setdefault(identity.key(source.value), source)) is not source:
            twins.append((source, other))
    first = reading.places((other, ()) for _, other in twins)
    for (source, _), place in zip(twins, first, strict=True):
        message = f"is the same object as the one in {_spot(place)}; rename or remove one of the two"
        wrong.append((source, results.error("DYN016", message, source.address)))
    found.extend(locations.located(wrong))
    return list(sound.values())


def _unfit(source: Source) -> Result | None:
    """What keeps a document from being a resource."""
    if not isinstance(source.value, dict):
        return results.error("DYN014", "is no mapping; every document is a resource")
    address = source.address
    parts = {"apiVersion": address.api_version, "kind": address.kind, "metadata.name": address.name}
    missing = [part for part, text in parts.items() if not text]
    message = f"has no {' and no '.join(missing)}; every resource has them, as texts"
    return results.error("DYN015", message, address) if missing else None


def _spot(place: dict[str, Any]) -> str:
    return f"{place['file']}:{place['line']}"


def _distinct(configs: Sequence[Source]) -> list[Source]:
    """Those that count, each value once. A ResourceList says itself which one does; kpt has it among the items too."""
    named = [source for source in configs if source.at == _NAMED]
    distinct: list[Source] = []
    for source in named or configs:
        if all(source.value != other.value for other in distinct):
            distinct.append(source)
    return distinct


def _configures_itself(source: Source) -> bool:
    """Whether a Dynamo resource is a functionConfig with settings on it (kustomize `generators:`)."""
    notes = labels.notes(source.value) if source.address.kind else {}
    settings = [name for name in notes if name.startswith(labels.PREFIX) and name not in labels.NOT_SETTINGS]
    return source.address.api_version.startswith(f"{config.DYNAMO_GROUP}/") and labels.FUNCTION in notes and bool(settings)


def _settings(configs: Sequence[Source]) -> tuple[Config, list[Result]]:
    if len(configs) > 1:
        message = f"is a configuration, and so is {_spot(configs[0].place())}; keep one, or say with --config which one counts"
        return Config(), [results.error("DYN070", message, configs[1].address, **configs[1].place())]
    if configs and not isinstance(configs[0].value, dict):
        return Config(), [
            results.error("DYN018", "is no resource; write a mapping with apiVersion, kind and metadata", **configs[0].place())
        ]
    settings, found = config.read(configs[0].value if configs else None)
    return settings, locations.located([(configs[0], result) for result in found])
