"""The pod of a component: a native pod template with less metadata."""

from krm_fn.api import base, native, rules
from krm_fn.kube import labels

_BACKEND = f'"{labels.EXECUTOR_BACKEND}"'


class PodTemplateMetadataV1beta1(base.Model):
    """Metadata of the pods."""

    model_config = base.rules(
        base.Rule(
            "DYN457",
            f'!({_BACKEND} in self.?annotations.orValue({{}})) || self.annotations[{_BACKEND}].lowerAscii() in ["mp", "ray"]',
            "annotations",
        )
    )

    name: str | None = None
    """Ignored: workloads name their pods."""
    namespace: str | None = None
    """Ignored: pods are in the namespace of the graph."""
    labels: base.Texts | None = None
    """Additional labels of each pod."""
    annotations: base.Texts | None = None
    """Annotations of each pod."""
    finalizers: list[str] | None = None
    """Finalizers of each pod."""


class PodTemplateV1beta1(base.Model):
    """The pod of a component. The container `main` runs the component; its fields are merged over the defaults of the type."""

    model_config = base.rules(*rules.POD_TEMPLATE)

    metadata: PodTemplateMetadataV1beta1 | None = None
    """Labels and annotations of each pod."""
    spec: native.PodSpec | None = None
    """The container `main` with its image and command, sidecars, and every other field of a pod."""
