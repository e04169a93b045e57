"""Makes plans from the resources that users wrote. Each fact is derived once, in this folder.

Only this folder and `krm_fn.api` contain the fields of `v1alpha1`. `krm_fn.validation` has the rules about several facts.
"""

from krm_fn.resolve.v1alpha1.graph import graph
from krm_fn.resolve.v1alpha1.standalone import component

__all__ = ["component", "graph"]
