"""From resources as users wrote them to plans: every fact is derived here, once.

Not its business: rules that span facts (`krm_fn.validation`). Only this folder and `krm_fn.api` know the shape of `v1alpha1`.
"""

from krm_fn.resolve.v1alpha1.graph import graph
from krm_fn.resolve.v1alpha1.standalone import component

__all__ = ["component", "graph"]
