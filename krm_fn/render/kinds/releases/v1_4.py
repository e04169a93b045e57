"""Release 1.4 of the Dynamo operator: release 1.5 with these changes.

It has fewer gates (`krm_fn.render.kinds.gates`).
"""

from __future__ import annotations

from krm_fn.render.kinds.releases import v1_5

RELEASE = v1_5.RELEASE._replace(
    number=(1, 4),
    types={name: defaults for name, defaults in v1_5.RELEASE.types.items() if name != "native-epp"},
    engines=v1_5.RELEASE.engines._replace(elastic_alone=False, counts_devices=False),
    picker=v1_5.RELEASE.picker._replace(cache="/home/nonroot/.cache", native_cache=""),
    pod_metadata=v1_5.RELEASE.pod_metadata._replace(follows_selector=False),
    hashes_runtimes=False,
    refuses_unknown_clients=False,
    memory_needs_size=False,
    reports_gpus=False,
    lacks=("provider overrides", "roles", "scaling groups of one node"),
    grove=v1_5.RELEASE.grove._replace(marks_generations=False),
)
"""All facts about Dynamo 1.4.

Rule releases.v1.4: In Dynamo 1.4, graphs are read in v1beta1, and the lowest version of an operator of this release is 1.4.0. (operator:
internal/dynamo/graph.go)
"""
