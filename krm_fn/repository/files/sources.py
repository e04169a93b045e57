"""Loads the input of the commands: the resources, the configuration among them, and findings about the files.

The files of a folder are read; a Kustomization in it is not built.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes import encryption, identity
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, function_config, labels
from krm_fn.render.config import Config
from krm_fn.render.resolve import cluster
from krm_fn.render.schema import fixes
from krm_fn.repository.files import reading, revisions, selection
from krm_fn.repository.files.reading import File, Source
from krm_fn.repository.files.selection import FileListing, ListedFile

_KUSTOMIZE, _KPT = "kustomize.config.k8s.io", "kpt.dev"
_KINDS_OF_KUSTOMIZE = ("", "Kustomization", "Component")
_NAMED = ("functionConfig",)


class Sources(NamedTuple):
    """The valid resources, the configurations, of which the first is used, and the findings. `stdin` is the text of stdin.

    Each of the `groups` has every object once. `skipped` counts the skipped files by reason.
    """

    resources: list[Source]
    configs: list[Source]
    config: Config
    results: list[Result]
    stdin: str = ""
    groups: list[list[Source]] = []
    skipped: Counter[str] = Counter()

    @property
    def values(self) -> list[Resource]:
        """The values of the resources."""
        return [source.value for source in self.resources]

    @property
    def settings(self) -> Source | None:
        """The source of the configuration that is used; None without one."""
        return self.configs[0] if self.configs else None

    @property
    def settings_value(self) -> Any:
        """The resource of the configuration that is used; None without one."""
        return self.configs[0].value if self.configs else None

    def locate(self, findings: Iterable[Result], root: Path | None = None) -> list[Result]:
        """Returns the findings about the files and further findings about the resources, with locations, in the order of the output."""
        return reading.locate([*self.results, *findings], self.resources, root)

    @property
    def default_namespace(self) -> str:
        """The namespace of resources without one."""
        return cluster.default_namespace(self.config)


class _Content(NamedTuple):
    """The content of the files that are already read."""

    given: list[Source]
    configs: list[Source]
    results: list[Result]
    scopes: dict[str, str]
    skipped: Counter[str]


def load(  # noqa: PLR0913 - one for each option
    paths: Sequence[str],
    config_file: str | None = None,
    without: Path | None = None,
    exclude: Sequence[str] = (),
    *,
    namespace: str = "",
    tolerant: bool = False,
    default: str | None = None,
    texts: Mapping[str, str] | None = None,
) -> Sources:
    """Returns the resources of files, folders and `-`, with findings about the files.

    The configuration is that of `config_file`, else the functionConfig of a ResourceList, else the only DynamoRender in the files, else
    the settings on a graph that is its own functionConfig, else that of the file `default`. The folder `without` and matches of the globs
    in `exclude` are not read.
    A `namespace` overrides that of the configuration.

    `tolerant` is for checks of whole repositories. It ignores mistakes in files of folders that name no Dynamo kind, and an object may be
    in several folders. `texts` are texts of files in place of those on disk.
    """
    listing = selection.list_files(paths, without, exclude)
    read = _reader(texts) if texts else None
    return load_listed(listing, paths, config_file, namespace=namespace, tolerant=tolerant, default=default, read=read)


def _reader(texts: Mapping[str, str]) -> Callable[[ListedFile], File]:
    return lambda listed: reading.parse(texts[listed.path].encode(), listed.path) if listed.path in texts else _read(listed)


def load_listed(  # noqa: PLR0913 - one for each option
    listing: FileListing,
    paths: Sequence[str],
    config_file: str | None = None,
    *,
    namespace: str = "",
    tolerant: bool = False,
    default: str | None = None,
    read: Callable[[ListedFile], File] | None = None,
) -> Sources:
    """Returns the resources of listed files, as `load` does. `paths` are the paths that a finding names if no file has a resource.

    `read` returns a file, also one with a configuration; by default, files are read from disk.
    """
    read = read or _read
    content = _Content([], [], [], {}, listing.skipped)
    stdin = ""
    for listed in listing.files:
        file = read(listed)
        content.scopes[reading.name(listed.path)] = listed.scope if tolerant else ""
        _add(file, listed, content, tolerant=tolerant and listed.in_folder and not file.names_dynamo)
        stdin = file.text if listed.path == reading.STDIN else stdin
    resources = _valid(content)
    if paths and not resources and not results.has_errors(content.results):
        content.results.append(_nothing(paths, content.skipped))
    configs = content.configs if config_file is None else _named_config(config_file, content.results, read)
    if default and config_file is None and not configs and not any(map(_configures_itself, resources)):
        configs = _named_config(default, content.results, read)
    return _load_content(content, resources, configs, namespace)._replace(stdin=stdin)


def from_files(files: Iterable[File], named: Sequence[Source] = (), default: Source | None = None, *, namespace: str = "") -> Sources:
    """Returns the resources and the configuration of files that are already read, such as those of a git revision.

    The configuration is the one in `named`, else the only one in the files, else the default. No resource at all is not a finding.
    """
    content = _Content([], [], [], {}, Counter())
    for file in files:
        name = file.sources[0].file if file.sources else ""
        content.scopes[name] = ""
        _add(file, ListedFile(name, "", in_folder=True), content, tolerant=False)
    configs = list(named) or content.configs or ([default] if default else [])
    return _load_content(content, _valid(content), configs, namespace)


def load_old(  # noqa: PLR0913 - one for each option
    old: str,
    paths: Sequence[str],
    exclude: Sequence[str] = (),
    config_file: str | None = None,
    default: Source | None = None,
    *,
    namespace: str = "",
    default_file: str | None = None,
) -> Sources:
    """Returns the resources of an old state: of a file, of a folder, or of `paths` at a git revision.

    The configuration of a revision is that of `config_file` in the revision, else the only one in its files, else that of `default_file`
    in the revision, else the default. A file or folder without a configuration has the default. Raises RepositoryError if git does not
    know the revision, or lacks a file of it.
    """
    files = [file for file, _ in revisions.files(old, paths, exclude)]
    named, default = ([], default) if revisions.is_path(old) else old_configuration(old, config_file, default)
    if default_file and not config_file and not revisions.is_path(old):
        default = next(iter(old_configuration(old, default_file, None)[0]), default)
    return from_files(files, named, default, namespace=namespace)


def old_configuration(revision: str, config_file: str | None, default: Source | None) -> tuple[list[Source], Source | None]:
    """Returns the configurations of a file in a revision, and the default.

    The default is None if the revision decides about the configuration.
    """
    try:
        files = [file for file, _ in revisions.files(revision, [config_file])] if config_file else []
    except revisions.RepositoryError:
        return [], default
    return [source for file in files for source in file.sources], None


def _load_content(content: _Content, resources: list[Source], configs: Sequence[Source], namespace: str) -> Sources:
    """Returns the resources with the configuration, and the findings about both."""
    configs = _distinct(configs) or [source for source in resources if _configures_itself(source)]
    config, findings = _settings(configs)
    config = config._replace(namespace=namespace or config.namespace)
    loaded = Sources(resources, configs, config, [*content.results, *findings], skipped=content.skipped)
    return loaded._replace(groups=selection.groups(resources, content.scopes, loaded.default_namespace))


def configuration(path: str) -> tuple[Config, list[Result]]:
    """Returns the configuration in a file, and the findings about it."""
    file_findings: list[Result] = []
    config, findings = _settings(_distinct(_named_config(path, file_findings, _read)))
    return config, [*file_findings, *findings]


def _read(listed: ListedFile) -> File:
    if not listed.leads_out:
        return reading.read(listed.path)
    return reading.File("", [], [reading.outside_link(listed.path)])


def _add(file: File, listed: ListedFile, content: _Content, *, tolerant: bool) -> None:
    """Adds the content of a file to `content`. `tolerant`: the file belongs to other programs, so its mistakes are not findings."""
    findings = list(file.results)
    resources: list[Source] = []
    for source in file.sources:
        if _is_config(source):
            content.configs.append(source)
        elif not _left_out(source, findings, listed):
            resources.append(source)
    if tolerant:
        invalid = [source for source in resources if _mistake(source)]
        content.skipped[selection.OTHERS] += bool(
            invalid or results.has_errors(findings) or any(result.code == codes.DOCUMENT_WITHOUT_KIND for result in findings)
        )
        resources = [source for source in resources if source not in invalid]
        findings = [result for result in findings if result.code == codes.KUSTOMIZATION_NOT_BUILT]
    content.given.extend(resources)
    content.results.extend(findings)


def _nothing(paths: Iterable[str], skipped: Counter[str]) -> Result:
    names = ", ".join(reading.name(path) for path in paths)
    summary = f" ({selection.summary(skipped)})" if skipped.total() else ""
    return results.error(codes.NO_INPUT, f"no resource in {names}{summary}; name a file or folder with resources")


def _named_config(path: str, findings: list[Result], read: Callable[[ListedFile], File]) -> list[Source]:
    file = read(ListedFile(path, ""))
    findings.extend(file.results)
    if not file.sources and not file.results:
        findings.append(results.error(codes.NO_INPUT, "the file holds no configuration; write a DynamoRender into it", file=path))
    return file.sources


def _is_config(source: Source) -> bool:
    return source.at == _NAMED or function_config.is_config(source.address)


def _left_out(source: Source, findings: list[Result], listed: ListedFile) -> bool:
    """True if a document is not a resource to render: it configures a tool, or belongs to another program. Adds findings to `findings`."""
    address = source.address
    group, annotations = address.api_version.partition("/")[0], labels.annotations(source.value) if address.kind else {}
    is_tools_file = Path(source.file).name in selection.KUSTOMIZATIONS and address.kind in _KINDS_OF_KUSTOMIZE
    if is_tools_file or (group == _KUSTOMIZE and address.kind == "Kustomization"):
        message = "the Kustomization is not built, its files are read as they are; to build it, name its folder, and leave --no-build out"
        if not is_tools_file and listed.in_folder:
            right = selection.KUSTOMIZATIONS[0]
            message = f"kustomize does not read a file of this name, so the Kustomization is not built; rename it to {right}"
        findings.append(results.info(codes.KUSTOMIZATION_NOT_BUILT, message, **source.location()))
        return True
    if listed.in_folder and encryption.is_encrypted(source.value) and (not address.kind or encryption.is_encrypted_text(address.kind)):
        return True
    if listed.in_folder and reading.is_tool_schema(source.value):
        return True
    if listed.in_folder and not address.api_version and not address.kind:
        message = "the document has no apiVersion and no kind, and is left out; if it is a resource, add both"
        findings.append(results.warning(codes.DOCUMENT_WITHOUT_KIND, message, **source.location()))
        return True
    is_tools = group in (_KUSTOMIZE, _KPT) or labels.FUNCTION in annotations or annotations.get(labels.LOCAL_CONFIG) == "true"
    return is_tools and group != dynamo_api.GROUP


def _valid(content: _Content) -> list[Source]:
    """Returns the valid resources, each object once in a scope. Adds the findings about other documents to `content`."""
    valid: dict[tuple[str, identity.ObjectKey], Source] = {}
    findings: list[tuple[Source, Result]] = []
    duplicates: list[tuple[Source, Source]] = []
    for source in content.given:
        if mistake := _mistake(source):
            findings.append((source, mistake))
        elif (other := valid.setdefault((content.scopes[source.file], identity.key(source.value)), source)) is not source:
            duplicates.append((source, other))
    locations = reading.field_locations((other, ()) for _, other in duplicates)
    for (source, _), location in zip(duplicates, locations, strict=True):
        message = f"the object is also in {_line(location)}; rename or remove one of the two"
        findings.append((source, results.error(codes.DUPLICATE_RESOURCE, message, source.address)))
    content.results.extend(reading.locate_findings(findings))
    return list(valid.values())


def _mistake(source: Source) -> Result | None:
    """Returns the finding about a document that is not a resource; None for a resource."""
    if not isinstance(source.value, dict):
        return results.error(codes.DOCUMENT_NOT_RESOURCE, "the document is not a mapping; every document must be a resource")
    address = source.address
    parts = {"apiVersion": address.api_version, "kind": address.kind, "metadata.name": address.name}
    missing = [part for part, text in parts.items() if not text]
    metadata = source.value.get("metadata")
    if isinstance(metadata, str) and (pair := fixes.KEY_AND_VALUE.fullmatch(metadata)):
        message = f"metadata is the text {metadata}; write a blank behind the colon: {pair[1]}: {pair[2]}"
        return results.error(codes.RESOURCE_WITHOUT_KIND_OR_NAME, message, address, ("metadata",))
    path = ("metadata",) if missing == ["metadata.name"] and isinstance(metadata, dict) else ()
    message = f"the document has no {' and no '.join(missing)}; add {' and '.join(missing)}, as a string{' each' * (len(missing) > 1)}"
    return results.error(codes.RESOURCE_WITHOUT_KIND_OR_NAME, message, address, path) if missing else None


def _line(location: dict[str, Any]) -> str:
    return f"{location['file']}:{location['line']}"


def _distinct(configs: Sequence[Source]) -> list[Source]:
    """Returns the configurations, each value once. The functionConfig of a ResourceList has priority; kpt has it among the items too."""
    named = [source for source in configs if source.at == _NAMED]
    distinct: list[Source] = []
    for source in named or configs:
        if all(source.value != other.value for other in distinct):
            distinct.append(source)
    return distinct


def _configures_itself(source: Source) -> bool:
    """True if a Dynamo resource is a functionConfig with settings in its annotations (kustomize `generators:`)."""
    annotations = labels.annotations(source.value) if source.address.kind else {}
    settings = any(name.startswith(labels.SETTINGS) for name in annotations)
    return source.address.api_version.startswith(f"{dynamo_api.GROUP}/") and labels.FUNCTION in annotations and settings


def _settings(configs: Sequence[Source]) -> tuple[Config, list[Result]]:
    if len(configs) > 1:
        message = (
            f"a second configuration, and it differs from the one in {_line(configs[0].location())}; keep one, or name one with --config"
        )
        return Config(), [results.error(codes.CONFLICTING_CONFIGURATIONS, message, configs[1].address, **configs[1].location())]
    if configs and not isinstance(configs[0].value, dict):
        return Config(), [
            results.error(
                codes.FUNCTION_CONFIG_NOT_RESOURCE,
                "the configuration is not a resource; write a mapping with apiVersion, kind and metadata",
                **configs[0].location(),
            )
        ]
    settings, findings = function_config.read(configs[0].value if configs else None)
    return settings, reading.locate_findings([(configs[0], result) for result in findings])
