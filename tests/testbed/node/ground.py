"""What all pods of the node share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.testbed.node.cluster import Cluster
    from tests.testbed.node.image import Image
    from tests.testbed.node.network import Network


class Ground(NamedTuple):
    """The node as its pods see it.

    `authority` is the certificate of the API server. `claims` holds the folders of the PersistentVolumeClaims. `backoff` is the first wait
    of a container that ends again and again, in seconds.
    """

    folder: Path
    cluster: Cluster
    network: Network
    images: Mapping[str, Image]
    authority: str
    claims: Path
    allocatable: Mapping[str, str]
    backoff: float
