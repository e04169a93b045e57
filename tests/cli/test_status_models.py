"""`krm-fn status` with models: a table of their own, and the status that `krm-fn sync` would write."""

from __future__ import annotations

import json

from tests.cli.console import status
from tests.syncer.status import lora


def written(*resources):
    (found,) = json.loads(status(*resources, arguments=["-o", "json"]))["items"]
    return found


def test_a_model_has_a_row_in_a_table_of_its_own():
    slices = lora.slice_(lora.endpoint("w-1"), lora.endpoint("w-2", ready=False))
    head, row, *_ = status(lora.model(type_="base"), slices, lora.worker("w-1"), lora.worker("w-2")).splitlines()
    assert head.split() == ["MODEL", "TYPE", "BASE", "READY", "WHY"]
    assert row.split()[:4] == ["team-a/support", "base", "acme/tiny", "1/2"]


def test_the_status_of_a_model_follows_from_the_slices_and_pods():
    found = written(lora.model(type_="base"), lora.slice_(lora.endpoint("w-1")), lora.worker("w-1"))["status"]
    assert (found["readyEndpoints"], found["totalEndpoints"]) == (1, 1)
    assert {each["type"]: each["status"] for each in found["conditions"]}["EndpointsReady"] == "True"


def test_without_slices_in_the_input_a_model_keeps_its_status():
    """The input does not tell whether there are any."""
    stored = {"readyEndpoints": 3, "totalEndpoints": 4}
    model = lora.model(status=stored)
    assert written(model) == model
    assert status(model).splitlines()[1].split()[:4] == ["team-a/support", "lora", "acme/tiny", "3/4"]
