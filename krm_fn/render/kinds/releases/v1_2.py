"""Release 1.2 of the Dynamo operator: release 1.3 with these changes."""

from __future__ import annotations

from krm_fn.render.kinds.releases import v1_3

RELEASE = v1_3.RELEASE._replace(
    number=(1, 2),
    services=v1_3.RELEASE.services._replace(annotated=False),
    engines=v1_3.RELEASE.engines._replace(always_shadows=True),
    probes_gpu_memory=True,
    repeats_volumes=True,
    lacks=(
        *v1_3.RELEASE.lacks,
        *("priority classes", "transfer policies", "least available pods", "clients of GPU memory", "checkpoint jobs"),
    ),
    grove=v1_3.RELEASE.grove._replace(volcano=False),
)
"""All facts about Dynamo 1.2.

Rule releases.v1.2: In Dynamo 1.2, graphs are read in v1beta1, and the lowest version of an operator of this release is 1.2.0. (operator:
internal/dynamo/graph.go)
"""
