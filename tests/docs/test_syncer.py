"""The tables of the syncer's pages are those of the program: flags, metrics and alerts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from krm_fn.cli import sync_command
from krm_fn.syncer import fleet_estimate, metrics
from krm_fn.syncer.fleet_estimate import Fleet
from tests.support import markdown
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = "\n".join((programs.ROOT / "docs" / f"{name}.md").read_text() for name in ("syncer", "syncer-operations"))
RULES = programs.ROOT / "platform" / "syncer" / "alerts" / "rule.yaml"


def table(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, row by row."""
    part = re.split(rf"^##+ {heading}\n", PAGE, flags=re.MULTILINE)[1].partition("\n## ")[0]
    first = re.search(r"(?:^\|.*\n?)+", part, re.MULTILINE)
    assert first
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in first[0].splitlines()[2:]]


def flags() -> Iterator[list[str]]:
    """The flags of the command as rows of the page: flag, default, help."""
    for option in (parameter for parameter in sync_command.COMMAND.params if isinstance(parameter, click.Option)):
        if option.hidden:
            continue
        both = [*option.opts, *option.secondary_opts]
        if option.secondary_opts:
            yield [", ".join(f"`{each}`" for each in both), default(option, {True: both[0], False: both[1]}), option.help or ""]
        else:
            value = "" if option.is_flag else f" {option.metavar or placeholder(option.type)}"
            yield [", ".join(f"`{each}{value}`" for each in both), default(option, {}), option.help or ""]


def default(option: click.Option, words: dict[bool, str]) -> str:
    value = option.to_info_dict()["default"]
    word = words.get(value, value)
    return f"`{word}`" if word not in {None, "", False} else ""


def placeholder(kind: click.ParamType[object]) -> str:
    return "\\|".join(kind.choices) if isinstance(kind, click.Choice) else "N"


def test_the_flags_are_those_of_the_command():
    assert table("Flags") == [*flags()]


def exported() -> dict[str, str]:
    """The metrics of the registry by the name of their samples, with their descriptions."""
    registry = metrics.Metrics()
    empty = metrics.Snapshot("dynamo-system/krm-fn-sync", serves=False, members=1)
    registry.watch(lambda: empty)
    endings = {"counter": "_total", "info": "_info"}
    return {each.name + endings.get(each.type, ""): each.documentation for each in registry.registry.collect()}


def test_the_metrics_are_those_of_the_registry():
    """The metrics of the process itself are in a sentence below the table."""
    ours = {name: text for name, text in exported().items() if name.startswith("krm_fn_sync")}
    assert {row[0].strip("`"): row[2] for row in table("Metrics")} == ours
    assert len(table("Metrics")) == len(ours)


def alerts() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["spec"]["groups"] for rule in group["rules"]]


def test_the_alerts_are_those_of_the_rules():
    assert [row[:2] for row in table("Alerts")] == [[f"`{each['alert']}`", each["labels"]["severity"]] for each in alerts()]


QUERIES = [query for query in re.findall(r"`([^`\n]*krm_fn_sync_[^`\n]*)`", PAGE) if not re.fullmatch(r"[\w]+", query)]


@pytest.mark.parametrize("query", QUERIES)
def test_queries_of_the_page_ask_for_metrics_that_exist(query):
    assert {*re.findall(r"\bkrm_fn_sync_\w+", query)} <= exported().keys()


def test_the_page_shows_how_to_build_the_image():
    assert any("make image TARGET=sync" in text for _, text in markdown.fenced(PAGE, "text"))
    assert re.search(r"^FROM scratch AS sync$", (programs.ROOT / "Dockerfile").read_text(), re.MULTILINE)


def test_the_estimate_gives_the_measured_memory_and_the_limit():
    """The constants of the estimate are from this table."""
    (limit,) = re.findall(r"limits: {memory: (\d+)Mi}", (RULES.parents[1] / "core" / "deployment.yaml").read_text())
    assert int(limit) == fleet_estimate.SHIPPED_LIMIT
    assert f"limits the memory of a process to {limit} MiB, which is enough for 15,000 graphs with 90,000 pods." in PAGE
    for row in table("Memory"):
        graphs, pods, _, steady, peak, seconds, received, _ = (float(re.sub(r"[^0-9.]", "", cell)) for cell in row)
        objects = {"DynamoGraphDeployment": round(graphs), "Deployment": round(3 * graphs), "Pod": round(pods)}
        estimated = fleet_estimate.memory(objects)
        assert abs(estimated.steady - steady) <= 3
        assert peak <= estimated.peak <= peak + 5, "some more for large objects"
        traffic = fleet_estimate.traffic(Fleet({"": objects}), 0, 10)
        assert traffic.start_cpu == pytest.approx(seconds, rel=0.5)
        assert traffic.start_bytes == pytest.approx(received * 2**20, rel=0.1)
    assert fleet_estimate.memory({"DynamoGraphDeployment": 15_000, "Deployment": 45_000, "Pod": 90_000}).limit <= int(limit)
