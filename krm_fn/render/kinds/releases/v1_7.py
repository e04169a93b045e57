"""Release 1.7 of the Dynamo operator: no change of pods since release 1.6 is known."""

from __future__ import annotations

from krm_fn.render.kinds.releases import v1_6

RELEASE = v1_6.RELEASE._replace(number=(1, 7))
"""All facts about Dynamo 1.7.

Rule releases.v1.7: In Dynamo 1.7, pods are those of Dynamo 1.6, and the lowest version of an operator of this release is 1.7.0. (krm-fn)
"""
