"""The identity of components under Grove, where their labels and annotations differ.

Follows the reference's `internal/dynamo/graph.go` generateLabels and generateAnnotations.
"""

from __future__ import annotations

from krm_fn.kube import labels, merge, names
from krm_fn.kube.types import Labels
from krm_fn.plan import Identity
from krm_fn.resolve.v1beta1.fields import INHERITED
from krm_fn.resolve.v1beta1.templates import Template

_OF_DYNAMO = (
    labels.COMPONENT,
    labels.NAMESPACE,
    labels.GRAPH,
    labels.SUB_COMPONENT_TYPE,
    labels.COMPONENT_CLASS,
    labels.WORKER_HASH,
)
_TOPOLOGY = (labels.TOPOLOGY_KEY, labels.TOPOLOGY_NAME)


def identity(who: Identity, template: Template, discovery: str, stamp: Labels) -> Identity:
    """The identity of a component under Grove. `discovery` is the discovery backend of the graph, `stamp` the annotation of a restart.

    A label of the user overrides the hash of the model, and never those of Dynamo. The annotations of pods name the operator that created
    the graph, but not the model. No name has the worker hash.
    """
    written, model = template.component, (template.component.get("modelRef") or {}).get("name")
    on_pods = (written["podTemplate"].get("metadata") or {}).get("annotations") or {}
    return who._replace(
        type=written.get("type") or "",
        selector={**who.selector, labels.COMPONENT_TYPE: written.get("type") or ""},
        labels={
            **({labels.BASE_MODEL_HASH: names.model_hash(model)} if model else {}),
            **template.user_labels,
            **{key: template.labels[key] for key in _OF_DYNAMO if key in template.labels},
        },
        annotations={
            **merge.without(template.user_annotations, *_TOPOLOGY),
            **{key: on_pods[key] for key in INHERITED if key in on_pods},
            **{key: template.annotations[key] for key in _TOPOLOGY if key in template.annotations},
            **({labels.DISCOVERY_BACKEND: discovery} if discovery else {}),
            **stamp,
        },
        service_labels=template.user_labels,
        service_annotations=template.user_annotations,
        suffix="",
    )
