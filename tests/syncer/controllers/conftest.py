"""Workers that take adapters, and a syncer that reaches them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.syncer import serving
from tests.testbed import lora_workers, syncer
from tests.testbed.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane
    from tests.testbed.lora_workers import Workers
    from tests.testbed.syncer import Syncer


@pytest.fixture(scope="module")
def fleet() -> Iterator[Workers]:
    """The workers of all tests of a module."""
    with lora_workers.running() as running:
        yield running


@pytest.fixture(scope="module")
def account(dynamo: ControlPlane, kustomize: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kubeconfig of the account with the rights for models and adapters."""
    return syncer.installed(dynamo, kustomize, tmp_path_factory.mktemp("account"), "models", "loras")


@pytest.fixture(scope="module")
def loader(
    dynamo: ControlPlane,
    controllers: object,
    kubelet: None,
    account: Path,
    fleet: Workers,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Syncer]:
    """One syncer for all tests of a module, with short times."""
    prelude = lora_workers.prelude(fleet, serving.CLOSED, request=2, batch=4, retry=1, longest_retry=2, removal=6)
    options = ("--models", "--loras", "--no-leader-election")
    with syncer.running(account, tmp_path_factory.mktemp("loader"), *options, prelude=prelude) as running:
        yield running


@pytest.fixture
def served(dynamo: ControlPlane, loader: Syncer, request: pytest.FixtureRequest) -> Place:
    """A namespace of its own for each test, with that syncer."""
    name = request.node.originalname.removeprefix("test_").replace("_", "-")
    return Place(dynamo, dynamo.namespace(f"models-{name[:50].rstrip('-')}"))
