"""DynamoBudget, the file of `--budget`. `krm_fn.review.budgets` has its rules."""

from typing import Annotated, Literal

from pydantic import Field

from krm_fn.schemas.api import base


class GpuBudget(base.Model):
    """A limit for the GPUs of some pods. A pod counts if it meets each list that is not empty."""

    name: str = Field(min_length=1)
    """The name of the budget in reports."""
    clusters: list[str] = []
    """Names of clusters, as Argo CD, Flux or the folder `clusters/NAME` name them. The limit holds for each cluster by itself."""
    namespaces: list[str] = []
    """Namespaces of the pods."""
    teams: list[str] = []
    """Values of the team label."""
    products: list[str] = []
    """GPU products that node selectors and required node affinities allow (`nvidia.com/gpu.product`), or DeviceClasses of claims."""
    resources: list[str] = []
    """Names of resources, such as `nvidia.com/mig-1g.10gb`."""
    gpus: int | None = Field(default=None, ge=0)
    """The largest number of GPUs at one time."""
    price_per_gpu_hour: float | None = Field(default=None, ge=0)
    """The price of one GPU for an hour."""
    cost_per_hour: float | None = Field(default=None, ge=0)
    """The largest cost of an hour. It needs `pricePerGpuHour`."""


class BudgetSpec(base.Model):
    """Limits for GPUs, and their prices."""

    team_label: str = "team"
    """The label that names the team: of the workload, or of its graph, or of its namespace."""
    currency: str = ""
    """The currency of the prices in reports, such as `USD`."""
    budgets: Annotated[list[GpuBudget], base.ByKey("name")]
    """The limits. The GPUs of a pod count in each budget that its pod meets."""


class DynamoBudget(base.Kind):
    """Limits for the GPUs of graphs, which `krm-fn check --budget` and `krm-fn diff --budget` compare with their use."""

    api_version: Literal["config.dynamo.krm-fn.io/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoBudget"]
    """The kind."""
    spec: BudgetSpec
    """The limits."""
