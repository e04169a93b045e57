"""DynamoProject, the project file `.krm-fn.yaml`. `krm_fn.repository.files.project_file` finds and reads it."""

from typing import Annotated, Literal

from pydantic import Field

from krm_fn.schemas.api import base


class ProjectRoot(base.Model):
    """A folder that a pipeline applies as a whole."""

    path: str = Field(min_length=1)
    """The folder, relative to the project file."""
    namespace: str = ""
    """The namespace of resources without one."""


class ProjectSpec(base.Model):
    """The settings of a repository. An option of a command overrides its setting; `--exclude` adds to the list."""

    config: str = ""
    """The file with the configuration, relative to the project file. Files with a configuration of their own, and finished builds, do not
    use it."""
    namespace: str = ""
    """The namespace of Dynamo resources that do not set one: `--namespace`."""
    exclude: list[str] = []
    """Patterns of files and folders that are not read: `--exclude`."""
    nodes: str = ""
    """The file with the nodes and pods of the cluster, relative to the project file: `--nodes` of `krm-fn diff`."""
    budget: str = ""
    """The file with the limits for GPUs, relative to the project file: `--budget` of `krm-fn check` and `krm-fn diff`."""
    roots: Annotated[list[ProjectRoot], base.ByKey("path")] = []
    """The roots. If empty, krm-fn finds them."""


class DynamoProject(base.Kind):
    """The settings of a repository for the commands of krm-fn."""

    api_version: Literal["dynamo.krm-fn.io/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoProject"]
    """The kind."""
    spec: ProjectSpec = ProjectSpec()
    """The settings."""
