"""The layouts of a new graph: the files beside the graph, and the commands that render and apply them.

They are those of `examples` and of the page about layouts. A path in a command begins at the folder of the graph.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.base.yaml import emitter
from krm_fn.render import dynamo_api
from krm_fn.repository.new_graphs import graph_text
from krm_fn.repository.new_graphs.graph_choices import GraphChoices, Target

_BASE = "base/graph.yaml"
_RENDER, _LOCAL = "config.kubernetes.io/function", "config.kubernetes.io/local-config"
APPLY = "kubectl apply --server-side -f"
_BUILD, _PRINT = "krm-fn build {overlay}", "krm-fn render graph.yaml"


class Layout(NamedTuple):
    """A layout. `graph` is the path of the graph, which has its namespace if it is `namespaced`. `files` makes the other files.

    `render` is the command that prints or writes the objects, and `apply` says in Markdown how they reach a cluster; both have
    `{overlay}` in place of the folder of an overlay. `open_values` are the values that only the author knows, with their file; empty if
    there are none. `creates_namespace`: the tool that applies the objects creates their namespace. `schema` is the path of the schema for
    editors: it is beside a kpt package, because kpt reads each JSON file in a package as a resource.
    """

    graph: str
    namespaced: bool
    files: Callable[[GraphChoices, str], dict[str, str]]
    render: str
    apply: str
    open_values: str = ""
    creates_namespace: bool = False
    schema: str = graph_text.SCHEMA

    @property
    def has_overlays(self) -> bool:
        """True for a layout of kustomize, in which a graph can have several overlays."""
        return self.graph == _BASE

    def commands(self, choices: GraphChoices) -> list[str]:
        """Returns the command that prints or writes the objects, for each overlay."""
        return _each(self.render, choices)

    def applications(self, choices: GraphChoices) -> list[str]:
        """Returns how the objects of each overlay reach a cluster, in Markdown."""
        return _each(self.apply, choices)


def _each(text: str, choices: GraphChoices) -> list[str]:
    """Returns a text for each overlay, or once if it names none."""
    return [*dict.fromkeys(text.replace("{overlay}", target.folder) for target in choices.targets)]


def path_to_top(path: str) -> str:
    """Returns the way from the folder of a file to the top of its layout.

    >>> path_to_top("base/graph.yaml"), path_to_top("graph.yaml")
    ('../', '')
    """
    return "../" * path.count("/")


def _kustomize(choices: GraphChoices, _folder: str) -> dict[str, str]:
    """Returns a base, and overlays with the function in their `transformers`."""
    files = {"base/kustomization.yaml": emitter.text(_kustomization(resources=["graph.yaml"]))}
    for target in choices.targets:
        base = posixpath.relpath("base", target.folder)
        overlay = emitter.text(_kustomization(resources=[base], namespace=target.namespace, transformers=["render.yaml"]))
        overlay = graph_text.above(overlay, "transformers:", ["The function runs after everything above."])
        files[f"{target.folder}/kustomization.yaml"] = overlay
        files[f"{target.folder}/render.yaml"] = _function({_RENDER: "exec: {path: krm-fn}\n"})
    return files


def _kpt(choices: GraphChoices, _folder: str) -> dict[str, str]:
    """Returns a Kptfile that runs the function, and the configuration of the function."""
    pipeline = {"mutators": [{"exec": "krm-fn", "configPath": "render.yaml"}]}
    metadata = {"name": choices.name, "annotations": {_LOCAL: "true"}}
    package = {"apiVersion": "kpt.dev/v1", "kind": "Kptfile", "metadata": metadata, "pipeline": pipeline}
    return {"Kptfile": emitter.text(package), "render.yaml": _function({_LOCAL: "true"})}


def _plain(_choices: GraphChoices, _folder: str) -> dict[str, str]:
    return {}


def _argocd(choices: GraphChoices, folder: str) -> dict[str, str]:
    """Returns the layout of kustomize, and an Application for each overlay, whose plugin builds it and runs no program of a repository."""
    applications = [_application(choices.name + target.suffix, target, folder) for target in choices.targets]
    return {**_kustomize(choices, folder), **dict(applications)}


def _application(name: str, target: Target, folder: str) -> tuple[str, str]:
    """Returns the path and the text of an Application."""
    source = {
        "repoURL": "https://git.example.com/team/graphs.git",
        "targetRevision": "main",
        "path": posixpath.normpath(f"{folder}/{target.folder}"),
        "plugin": {"name": "krm-fn"},
    }
    spec = {
        "project": "default",
        "source": source,
        "destination": {"server": "https://kubernetes.default.svc", "namespace": target.namespace},
        "syncPolicy": {
            "automated": {"prune": True, "selfHeal": True},
            "syncOptions": ["CreateNamespace=true", "ServerSideApply=true", "RespectIgnoreDifferences=true"],
        },
    }
    text = emitter.text(_resource("argoproj.io/v1alpha1", "Application", name, "argocd", spec))
    text = graph_text.above(text, "    repoURL:", ["Your repository, and below the branch and the path of the overlay in it."])
    return f"apps/{name}.yaml", graph_text.above(text, "    plugin:", ["The plugin of krm-fn, which your Argo CD must have."])


def _flux(choices: GraphChoices, folder: str) -> dict[str, str]:
    """Returns the layout of kustomize, and for each overlay the artifact of its objects with the Kustomization that applies it."""
    files = _kustomize(choices, folder)
    for target in choices.targets:
        source, deploy = _artifact(choices.name + target.suffix)
        files |= {f"flux/source{target.suffix}.yaml": source, f"flux/deploy{target.suffix}.yaml": deploy}
    return files


def _artifact(name: str) -> tuple[str, str]:
    """Returns the texts of the source and of the Kustomization of an artifact."""
    source = {"interval": "1m", "url": f"oci://registry.example.com/team/{name}", "ref": {"tag": "latest"}}
    artifact = emitter.text(_resource("source.toolkit.fluxcd.io/v1", "OCIRepository", name, "flux-system", source))
    spec = {
        "interval": "10m",
        "retryInterval": "1m",
        "timeout": "2h",
        "sourceRef": {"kind": "OCIRepository", "name": name},
        "path": "./",
        "prune": True,
        "wait": True,
        "healthCheckExprs": [_HEALTH],
    }
    deploy = emitter.text(_resource("kustomize.toolkit.fluxcd.io/v1", "Kustomization", name, "flux-system", spec))
    deploy = graph_text.above(deploy, "  timeout:", ["How long the model may take to load."])
    deploy = graph_text.above(
        deploy, "  healthCheckExprs:", ["Remove this list if nothing writes the status: neither `krm-fn sync` nor the operator."]
    )
    return graph_text.above(artifact, "  url:", ["Your registry: CI pushes the rendered objects there."]), deploy


_HEALTH = {
    "apiVersion": f"{dynamo_api.GROUP}/{dynamo_api.BETA1}",
    "kind": dynamo_api.GRAPH,
    "inProgress": "!metadata.managedFields.exists(m, has(m.subresource) && m.subresource == 'status')",
    "failed": "has(status.state) && status.state == 'failed'",
    "current": "has(status.state) && status.state == 'successful'",
}
"""The health of a graph for Flux. An expression that reads a missing status is an error, so `inProgress` is true without one."""


def _kustomization(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", **fields}


def _function(annotations: dict[str, str]) -> str:
    metadata = {"name": "render", "annotations": annotations}
    return emitter.text({"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": metadata})


def _resource(version: str, kind: str, name: str, namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


LAYOUTS = {
    "kustomize": Layout(_BASE, False, _kustomize, _BUILD, f"`{_BUILD} | {APPLY} -`"),
    "kpt": Layout("graph.yaml", True, _kpt, "kpt fn render --allow-exec", f"`krm-fn render | {APPLY} -`", schema=f"../{graph_text.SCHEMA}"),
    "plain": Layout("graph.yaml", True, _plain, _PRINT, f"`{_PRINT} | {APPLY} -`"),
    "argocd": Layout(
        _BASE, False, _argocd, _BUILD, f"commit, and once `{APPLY} apps`", "the URL of the repository into the files in apps", True
    ),
    "flux": Layout(
        _BASE, False, _flux, _BUILD, f"let CI push the render, and once `{APPLY} flux`", "the registry into the sources in flux"
    ),
}
"""The layouts by their names on the command line."""
