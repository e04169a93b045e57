"""`krm-fn convert`: Dynamo resources in another version of the API, on stdout or in their files."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import click

from krm_fn.base import codes, report, results
from krm_fn.base.results import Path, Result
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, resolve
from krm_fn.render.config import Config
from krm_fn.render.convert import conversion_findings, deprecated_fields, not_convertible, request_views, versions
from krm_fn.render.convert.deprecated_fields import Images
from krm_fn.render.convert.not_convertible import NotConvertible
from krm_fn.render.manifests import ingress, volumes
from krm_fn.render.resolve import cluster, former_types, release_choice
from krm_fn.render.rules import placeholders, search_rules
from krm_fn.render.schema import schema_check
from krm_fn.repository.files import reading, selection, sources, writing
from krm_fn.repository.files.reading import File, Source
from krm_fn.repository.files.writing import DocumentChange
from krm_fn.review.inputs import Inputs, Policy, path_inputs

_MISSING = codes.MISSING_FIELD  # a patch of an overlay has some fields of a resource only


class _ConvertTarget(NamedTuple):
    """The API version to convert to, with the facts about other resources that a conversion needs."""

    version: str
    native: bool
    config: Config
    images: Images


class _NativeObjects(NamedTuple):
    """The objects, and the fields for which there is none."""

    objects: list[Resource]
    missing: list[NotConvertible]


@click.command()
@click.option(
    "--to",
    "version",
    type=click.Choice((dynamo_api.ALPHA1, dynamo_api.BETA1, dynamo_api.BETA2)),
    default=dynamo_api.BETA1,
    help="The version to write. The default is v1beta1. Only requests have v1beta2.",
)
@click.option("-w", "--write", "in_place", is_flag=True, help="Rewrite the files. By default, they are printed.")
@click.option(
    "--native",
    "as_native",
    is_flag=True,
    help="Write PersistentVolumeClaims and Ingresses as resources, and preserve no fields in annotations.",
)
@partial(command_options.inputs, builds=False)
@command_options.policy
@click.pass_context
def convert(  # noqa: PLR0913 - one for each option
    ctx: click.Context, *, given: Inputs, policy: Policy, version: str, in_place: bool, as_native: bool
) -> None:
    """Convert Dynamo resources to another API version.

    {paths} In a folder, krm-fn reads *.yaml, *.yml and *.json, and builds nothing, because it changes files. It converts the graphs,
    components, adapters and requests that have the other version. It does not change other documents, or comments outside of converted
    documents.

    Some fields have no equivalent in the new version. krm-fn preserves them in the same annotation as the Dynamo operator, so that a
    conversion back restores them. With --native, it writes PersistentVolumeClaims and Ingresses as separate resources, moves labels and
    annotations of services into pod templates, and reports every other field without an equivalent in a warning.

    A request of v1beta2 becomes a view in an older version, and a request of an older version becomes a view in v1beta2. A view holds the
    whole request, and only its own version can change it.

    Findings are printed to stderr. With an error, krm-fn prints and writes no resource.

    Exit codes: 0 no errors; 1 errors; 2 wrong usage.

    \b
      krm-fn convert graph.yaml
      krm-fn convert -w graphs/
      krm-fn convert --to v1alpha1 --native -w graph.yaml
    """  # noqa: D301 - click reads the backspace
    if in_place and reading.STDIN in given.paths:
        raise click.UsageError("--write cannot change stdin; name files, or leave out --write to print the result")
    files, unreadable = _read(given)
    if not unreadable and not any(file.sources for _, file in files):
        unreadable = [path_inputs.no_resource(given.paths)]
    config, config_findings = sources.configuration(given.config) if given.config else (Config(), [])
    if given.namespace:
        config = config._replace(namespace=given.namespace)
    listed = [source for _, file in files for source in file.sources if isinstance(source.value, dict)]
    images, _ = deprecated_fields.images([source.value for source in listed], cluster.default_namespace(config))
    target = _ConvertTarget(version, as_native, config, images)
    conversions = [(path, file, [_converted_document(source, target) for source in file.sources]) for path, file in files]
    located = reading.locate_findings(
        [(source, finding) for _, file, documents in conversions for source, (_, about) in _pairs(file, documents) for finding in about]
    )
    located = placeholders.once_a_file(located, (source.value for source in listed))
    findings = policy.without_ignored([*unreadable, *config_findings, *located], [source.value for source in listed])
    finding_formats.print_text(listed, policy.visible_findings(sorted(findings, key=results.order)))
    if failing := policy.failing(findings):
        command_output.print_line(f"nothing is converted: {report.count(failing)}", err=True)
        ctx.exit(1)
    changed = [(path, file, [change for change, _ in documents if change]) for path, file, documents in conversions]
    texts = [(path, writing.rewritten(file.text, changes), len(changes)) for path, file, changes in changed]
    if in_place:
        _save(texts, quiet=policy.quiet)
    else:
        command_output.write(writing.join_documents(text for _, text, _ in texts), "yaml")


def _read(given: Inputs) -> tuple[list[tuple[str, File]], list[Result]]:
    """The files with their paths, and the findings about them. A link that leads out of a folder is left out."""
    files = [
        (file.path, reading.read(file.path)) for file in selection.list_files(given.paths, None, given.exclude).files if not file.leads_out
    ]
    return files, [result for _, file in files for result in file.results]


def _pairs(file: File, values: list[Any]) -> list[tuple[Source, Any]]:
    return [*zip(file.sources, values, strict=True)]


def _converted_document(source: Source, target: _ConvertTarget) -> tuple[DocumentChange | None, list[Result]]:
    """The change of one resource, None if it stays as it is, and the findings about it."""
    if not isinstance(source.value, dict):
        return None, []
    if request_views.is_between(target.version, source.value):
        return _converted_request(source, target.version)
    if versions.to(target.version, source.value) is source.value:
        return None, []
    resource, deprecated = deprecated_fields.convert(former_types.rename_former_types(source.value), target.images)
    problems = results.errors_of(deprecated)  # the others say what the command writes anyway
    errors = [
        finding
        for finding in schema_check.resource(resource, unknown="warning")
        if finding.severity == "error" and finding.code != _MISSING
    ]
    if errors or problems:
        return None, placeholders.absorb([*problems, *errors], [resource])
    converted, about = _convert_resource(resource, target)
    return DocumentChange(source, converted), [*problems, *about]


def _converted_request(source: Source, version: str) -> tuple[DocumentChange | None, list[Result]]:
    """The change of a request between v1beta2 and an older version, and the findings about it."""
    request = source.value
    findings = search_rules.check_forms(request) if dynamo_api.is_search(request) else schema_check.resource(request, unknown="warning")
    errors = [finding for finding in results.errors_of(findings) if finding.code != _MISSING]
    return (None, errors) if errors else (DocumentChange(source, [request_views.to(version, request)]), [])


def _convert_resource(resource: Resource, target: _ConvertTarget) -> tuple[list[Resource], list[Result]]:
    """The resources that replace a resource, and the findings about the conversion."""
    unknown = [*release_choice.check_conversion(resource, target.config)] if target.version == dynamo_api.BETA1 else []
    if not target.native:
        converted = versions.to(target.version, resource)
        return [converted], [*unknown, *conversion_findings.of_conversion(resource, target.version, converted)]
    converted, missing = not_convertible.native(target.version, resource)
    native_objects = _native_objects(resource, target.config) if target.version == dynamo_api.BETA1 else _NativeObjects([], [])
    all_missing = [*missing, *native_objects.missing]
    findings = conversion_findings.of_native_conversion(resource, target.version, converted, all_missing)
    return [converted, *native_objects.objects], [*unknown, *findings]


def _save(texts: list[tuple[str, str, int]], *, quiet: bool) -> None:
    """Writes the files that changed. Raises click.ClickException if one cannot be written."""
    changed = [(path, text, number) for path, text, number in texts if number]
    for path, text, _ in changed:
        try:
            writing.save(path, text)
        except OSError as problem:
            raise click.ClickException(f"cannot write {path}: {problem.strerror}") from problem
    if not quiet:
        number = sum(number for _, _, number in changed)
        summary = (
            f"{report.pluralize(number, 'resource')} in {report.pluralize(len(changed), 'file')}" if number else "no resource needs it"
        )
        command_output.print_line(f"converted: {summary}", err=True)


def _native_objects(resource: Resource, config: Config) -> _NativeObjects:
    """The objects of these fields in a render. They have a namespace only if the resource has one.

    An Ingress needs `ingressControllerClassName`; a VirtualService needs a gateway, and `ingress.istioGateway` in the configuration.
    """
    is_graph = results.ref(resource).kind == dynamo_api.GRAPH
    if not is_graph and results.ref(resource).kind != dynamo_api.COMPONENT:
        return _NativeObjects([], [])
    settings = config._replace(behaviour="v0.9")
    plan, _ = (resolve.graph if is_graph else resolve.component)(resource, settings, cluster.read([], settings)[0])
    objects, missing = [*volumes.claims(plan)], []
    ingress_paths = {path for path, _ in not_convertible.fields(resource, dynamo_api.BETA1) if path[-1] == "ingress"}
    for component in plan.components:
        path: Path = ("spec", "services", component.identity.service, "ingress") if is_graph else ("spec", "ingress")
        if path in ingress_paths:
            exposed = [*ingress.of(component)]
            objects += exposed
            missing += [] if exposed else [NotConvertible(path, "")]
    return _NativeObjects(objects if results.ref(resource).namespace else [_without_namespace(item) for item in objects], missing)


def _without_namespace(resource: Resource) -> Resource:
    return {**resource, "metadata": {key: value for key, value in resource["metadata"].items() if key != "namespace"}}


TOPIC = "author"
COMMAND = convert
