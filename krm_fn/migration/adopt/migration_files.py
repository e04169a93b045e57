"""Writes the files of an adopted namespace: resources, configuration, a Kustomization, and the other steps of the migration as Markdown.

The page docs/migration.md explains the steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import report
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.adopt import exported_objects
from krm_fn.migration.adopt.exported_objects import ExportedObjects
from krm_fn.render import dynamo_api, function_config, labels
from krm_fn.render.config import Config
from krm_fn.render.resolve import release_choice

CONFIGURATION, KUSTOMIZATION, STEPS = "render.yaml", "kustomization.yaml", "MIGRATION.md"

_PROGRAM = "exec: {path: krm-fn}\n"
_STEPS = """\
# From the operator to Git: {title}

`krm-fn adopt` wrote this folder, and changed no cluster. This page lists the other steps of the migration; the page `docs/migration.md` of
krm-fn explains each step. Run the commands in this folder. `$KRM_FN` is a clone of the repository of krm-fn.

## 1. Record the running pods

```sh
{pods} > before.txt
```

## 2. Compare
{roles}
```sh
{compare}
```

Continue only when each `compare` reports no difference. The command also asks the API server for a dry run of the objects.

## 3. Stop the operator

```sh
kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations --selector app.kubernetes.io/name=dynamo-operator
OPERATOR=app.kubernetes.io/name=dynamo-operator,control-plane=controller-manager
kubectl --namespace dynamo-system scale deployment --selector $OPERATOR --replicas=0
kubectl --namespace dynamo-system wait --for=delete pod --selector $OPERATOR --timeout=120s
```

Replace `dynamo-system` with the namespace of the operator.
{definitions}
## 4. Take over

Add `--argocd`, or `--flux NAMESPACE/NAME` with the name of the Kustomization, if a GitOps tool will apply the objects:

```sh
{take_over}
```
{components}
## 5. Verify

```sh
{pods} | diff before.txt - && echo 'the same pods'
```

## 6. Commit the folder to Git

Commit `{kustomization}`, `{configuration}` and the resources. Let Argo CD or Flux apply the folder, or apply it yourself:

```sh
{apply}
```
{leftovers}"""
_DEFINITIONS = """
The definitions of this operator convert between two API versions through a webhook, which has stopped. Replace them with definitions that
serve the version in which the cluster stores the resources. The graphs of this folder must have that version. **Do not leave out
`let-go`**: without it, Kubernetes can delete the pods of all graphs. Keep `definitions.json` for the way back:

```sh
krm-fn adopt let-go --save definitions.json
stored=$(kubectl get customresourcedefinition dynamographdeployments.nvidia.com \\
  --output jsonpath='{.spec.versions[?(@.storage==true)].name}')
krm-fn crds --served "$stored" | kubectl replace --filename -
kubectl api-resources --api-group nvidia.com
krm-fn convert --to "$stored" --write .
```

Then render and compare again:

```sh
{compare}
```
"""
_COMPONENTS = """
`take-over` does not move standalone components. These commands delete the components and keep their pods:

```sh
{commands}
```
"""
_COMPONENT = """\
kubectl --namespace {namespace} patch {kind} {name} --type merge --patch '{{"metadata": {{"finalizers": null}}}}'
kubectl --namespace {namespace} delete {kind} {name} --cascade=orphan
krm-fn render {files} --config {configuration} | kubectl apply --server-side --force-conflicts --filename -"""
_PODS = """\
kubectl --namespace {namespace} get pods --selector {label} \\
  --output custom-columns=NAME:.metadata.name,UID:.metadata.uid --sort-by .metadata.name"""
_ALL_PODS = """\
kubectl get pods --all-namespaces --selector {label} \\
  --output custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,UID:.metadata.uid --sort-by .metadata.uid"""
_APPLY = "kustomize build --enable-alpha-plugins --enable-exec {folder} | kubectl apply --server-side --filename -"
_LEFTOVERS = """
## 7. Delete what only the operator needed

Read the list before you run the commands:

```sh
{commands}
```
"""
_NO_GRAPH = "# the namespace has no graph"
_ROLES = """
The bindings of this namespace name roles of the operator's Helm release, which go with the release: {roles}. Install the roles of krm-fn,
and remove `rbac` from `{configuration}`. `take-over` then makes the bindings again:

```sh
kubectl apply --server-side --kustomize $KRM_FN/platform/roles
```
"""


class NamespacePart(NamedTuple):
    """An adopted namespace in the steps. `folder` is the path of its files with a slash at the end, or empty for the current folder."""

    exported: ExportedObjects
    spec: Mapping[str, Any]
    folder: str = ""


def resources(written: Sequence[Resource], spec: Mapping[str, Any]) -> dict[str, Resource]:
    """Returns the resources by file name: those of users, the configuration as a KRM function, and a Kustomization."""
    files = {file_name(resource): resource for resource in written}
    return {
        **files,
        CONFIGURATION: exported_objects.add_annotations(configuration(spec), {labels.FUNCTION: _PROGRAM}),
        KUSTOMIZATION: {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": sorted(files),
            "transformers": [CONFIGURATION],
        },
    }


def configuration(spec: Mapping[str, Any]) -> Resource:
    """Returns the settings as a DynamoRender."""
    return {"apiVersion": function_config.API_VERSION, "kind": function_config.KIND, "metadata": {"name": "render"}, "spec": dict(spec)}


def settings(spec: Mapping[str, Any]) -> Config:
    """Reads settings as a render does."""
    return function_config.read(configuration(spec))[0]


def file_name(resource: Resource) -> str:
    """Returns the name of the file of a resource."""
    return f"{resource['kind']}_{resource['metadata']['name']}.yaml".lower()


def steps(parts: Sequence[NamespacePart], leftovers: Sequence[ObjectKey] = ()) -> str:
    """Returns the other steps of the migration of one or several namespaces as Markdown."""
    one = parts[0].exported.namespace if len(parts) == 1 and not parts[0].folder else ""
    compare = _lines(_compare(part) for part in parts)
    roles = {value: None for part in parts for key, value in (part.spec.get("rbac") or {}).items() if key.endswith("Role")}
    components = _lines(_component(component, part) for part in parts for component in _written_of_kind(part, dynamo_api.COMPONENT))
    return _STEPS.format(
        title=f"the namespace {one}" if one else f"{len(parts)} namespaces",
        pods=_PODS.format(namespace=one, label=labels.GRAPH) if one else _ALL_PODS.format(label=labels.GRAPH),
        roles=_ROLES.format(roles=report.printable(", ".join(roles)), configuration=CONFIGURATION) if roles else "",
        definitions=_DEFINITIONS.replace("{compare}", compare) if any(map(_are_converted, parts)) else "",
        compare=compare,
        take_over=_lines(_migration("take-over", part) for part in parts),
        components=_COMPONENTS.format(commands=components) if components != _NO_GRAPH else "",
        kustomization=KUSTOMIZATION,
        configuration=CONFIGURATION,
        apply=_lines(_APPLY.format(folder=part.folder or ".") for part in parts),
        leftovers=_LEFTOVERS.format(commands="\n".join(_deletions(leftovers))) if leftovers else "",
    )


def _lines(commands: Iterable[str]) -> str:
    return "\n".join(filter(None, commands)) or _NO_GRAPH


def _written_of_kind(part: NamespacePart, kind: str) -> list[Resource]:
    return [resource for resource in part.exported.written if resource["kind"] == kind]


def _inputs(resource: Resource, part: NamespacePart) -> str:
    """The files that a render of one resource reads. The accounts decide about pods without an account of their own."""
    return " ".join(f"{part.folder}{file_name(item)}" for item in (resource, *part.exported.accounts))


def _compare(part: NamespacePart) -> str:
    """The commands that render the graphs of a namespace, and the one that compares all of them."""
    renders = [
        f"krm-fn render {_inputs(graph, part)} --config {part.folder}{CONFIGURATION} > {_objects(graph, part)}"
        for graph in _written_of_kind(part, dynamo_api.GRAPH)
    ]
    return "\n".join([*renders, _migration("compare", part)]) if renders else ""


def _objects(graph: Resource, part: NamespacePart) -> str:
    return f"{part.folder}{graph['metadata']['name']}.objects.yaml"


def _migration(command: str, part: NamespacePart) -> str:
    files = [_objects(graph, part) for graph in _written_of_kind(part, dynamo_api.GRAPH)]
    return f"krm-fn adopt {command} {' '.join(files)}" if files else ""


def _component(component: Resource, part: NamespacePart) -> str:
    name, kind = component["metadata"]["name"], dynamo_api.COMPONENT.lower()
    files, configuration = _inputs(component, part), f"{part.folder}{CONFIGURATION}"
    return _COMPONENT.format(namespace=part.exported.namespace, kind=kind, name=name, files=files, configuration=configuration)


def _deletions(leftovers: Sequence[ObjectKey]) -> Iterator[str]:
    """One command for each namespace."""
    for namespace in sorted({key.namespace for key in leftovers}):
        names = [f"{'.'.join(filter(None, (key.kind.lower(), key.group)))}/{key.name}" for key in leftovers if key.namespace == namespace]
        yield f"kubectl --namespace {namespace} delete {' '.join(names)}"


def _are_converted(part: NamespacePart) -> bool:
    """True if the operator of the graphs has two API versions, between which the cluster converts."""
    config = settings(part.spec)
    return any(release_choice.release(resource, config).reads != dynamo_api.ALPHA1 for resource in part.exported.written)
