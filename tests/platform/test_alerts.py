"""The alerts of platform/syncer fire if they should, and only then, in each shape of an installation.

promtool evaluates the rules. The series are those that the syncer exports.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any, NamedTuple

import pytest
from prometheus_client import parser

from krm_fn.syncer import metrics
from tests.docs import test_syncer as page
from tests.testbed import programs

KINDS = ("DynamoGraphDeployment", "Deployment", "Lease")
OPTIONAL = ("LeaderWorkerSet", "PodClique", "PodCliqueScalingGroup", "PodCliqueSet")
"""Kinds that are installed in few clusters."""
MINUTES = 180
STARTS = 60
"""The minute in which a problem starts."""
LEADER, AGE, LAST, EVENTS = (
    "krm_fn_sync_leader",
    "krm_fn_sync_queue_age_seconds",
    "krm_fn_sync_last_event_seconds",
    "krm_fn_sync_events_total",
)

Series = dict[str, str]
"""Values by series, in promtool's notation."""


class Process(NamedTuple):
    """One process of an installation."""

    installation: str = "dynamo-system/krm-fn-sync"
    members: int | None = None
    leader: bool = True
    instance: str = "10.0.0.1:8080"

    def text(self, installed: tuple[str, ...]) -> str:
        """The metrics of the process on a server with these kinds."""
        exporter = metrics.Metrics()
        times = dict.fromkeys(installed, 30.0)
        snapshot = metrics.Snapshot(self.installation, self.leader, self.members, last_event=times)
        exporter.watch(lambda: snapshot)
        return exporter.text().decode()

    def series(self, installed: tuple[str, ...]) -> Series:
        """The series of the process in a healthy installation: no value changes."""
        samples = [sample for family in parser.text_string_to_metric_families(self.text(installed)) for sample in family.samples]
        return {named(sample.name, **sample.labels, instance=self.instance): f"{sample.value}x{MINUTES}" for sample in samples}


def named(name: str, **labels: str) -> str:
    return f"{name}{{{','.join(f'{label}={json.dumps(value)}' for label, value in sorted(labels.items()))}}}"


SHAPES = {
    "one replica": (Process(),),
    "two replicas": (Process(), Process(leader=False, instance="10.0.0.2:8080")),
    "three shards": tuple(Process(members=3, instance=f"10.0.0.{number}:8080") for number in (1, 2, 3)),
    "two installations": (Process("team-a/krm-fn-sync"), Process("team-b/krm-fn-sync", instance="10.0.0.2:8080")),
}


class Case(NamedTuple):
    """Series, and the alerts that fire at some minutes, with their labels."""

    series: Series
    firing: dict[int, list[dict[str, str]]]

    def written(self) -> dict[str, Any]:
        """The case as a test of promtool."""
        asked = 'sum by (alertname, installation, kind, result, instance) (ALERTS{alertstate="firing",alertname=~"KrmFnSync.*"})'
        return {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in self.series.items()],
            "promql_expr_test": [
                {
                    "expr": asked,
                    "eval_time": f"{minute}m",
                    "exp_samples": [{"labels": named("", **labels), "value": 1} for labels in alerts],
                }
                for minute, alerts in self.firing.items()
            ],
        }


@pytest.fixture
def promtool(tmp_path):
    """Evaluates the rules with cases; returns what promtool reports."""
    (tmp_path / "rules.json").write_text(json.dumps({"groups": [{"name": "krm-fn-sync", "rules": page.alerts()}]}))

    def evaluate(*cases: Case) -> str:
        tests = {"rule_files": ["rules.json"], "evaluation_interval": "1m", "tests": [case.written() for case in cases]}
        (tmp_path / "tests.json").write_text(json.dumps(tests))
        command = [str(programs.path("promtool")), "test", "rules", "tests.json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    return evaluate


def healthy(shape: tuple[Process, ...], installed: tuple[str, ...] = KINDS) -> Series:
    return {name: values for process in shape for name, values in process.series(installed).items()}


def without(series: Series, *instances: str) -> Series:
    """The processes of these instances end: their series have no more values."""
    ended = [f'instance="{instance}"' for instance in instances]
    return {name: until(values, "_") if any(text in name for text in ended) else values for name, values in series.items()}


def until(values: str, then: str) -> str:
    """A value until the problem starts, and other ones then."""
    return f"{values.rpartition('x')[0]}x{STARTS - 1} {then}x{MINUTES - STARTS}"


SHAPED = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@SHAPED
@pytest.mark.parametrize("installed", [KINDS, (*KINDS, *OPTIONAL)], ids=["without Grove and LeaderWorkerSet", "with both"])
def test_nothing_fires_while_all_is_well(shape, installed, promtool):
    assert promtool(Case(healthy(shape, installed), {minute: [] for minute in (1, 30, MINUTES - 5)})) == ""


@pytest.mark.parametrize("shape", [shape for name, shape in SHAPES.items() if name != "three shards"])
def test_a_missing_leader_is_reported_for_its_installation(shape, promtool):
    """Also if another installation has one: a leader that ended, and one that lost its Lease."""
    cases = []
    for process in (process for process in shape if process.leader):
        alert = {"alertname": "KrmFnSyncNoLeader", "installation": process.installation}
        firing = {STARTS: [], STARTS + 10: [alert], STARTS + 50: [alert]}
        leads = named(LEADER, installation=process.installation, instance=process.instance)
        series = healthy(shape)
        cases += [Case(without(series, process.instance), firing), Case(series | {leads: until(series[leads], "0")}, firing)]
    assert promtool(*cases) == ""


@SHAPED
def test_an_installation_without_any_process_is_reported(shape, promtool):
    cases = []
    for installation in {process.installation for process in shape}:
        ended = [process.instance for process in shape if process.installation == installation]
        alert = {"alertname": "KrmFnSyncNoLeader", "installation": installation}
        cases.append(Case(without(healthy(shape), *ended), {STARTS: [], STARTS + 10: [alert], STARTS + 50: [alert]}))
    assert promtool(*cases) == ""


def test_a_cluster_in_which_nothing_is_scraped_is_reported(promtool):
    other = {named("up", job="other"): f"1x{MINUTES}"}
    assert promtool(Case(other, {1: [], 10: [{"alertname": "KrmFnSyncNoLeader"}]})) == ""


def test_an_installation_that_was_removed_is_reported_for_an_hour_at_most(promtool):
    assert promtool(Case(without(healthy(SHAPES["two installations"]), "10.0.0.2:8080"), {STARTS + 90: []})) == ""


def test_members_that_are_missing_are_reported(promtool):
    """A process that is not a live member, and a pod that does not run. Fewer replicas are no problem."""
    shape, installation = SHAPES["three shards"], Process().installation
    series, firing = healthy(shape), {STARTS: [], STARTS + 10: [{"alertname": "KrmFnSyncMembersMissing", "installation": installation}]}
    fewer = {name: until(values, "2") for process in shape for name, values in series.items() if name.startswith("krm_fn_sync_members{")}
    gone = without(series, shape[0].instance)
    ended = gone | {name: values for name, values in fewer.items() if shape[0].instance not in name}
    replicas = named("kube_deployment_spec_replicas", deployment="krm-fn-sync", namespace=installation.partition("/")[0])
    expected, scaled = {replicas: f"3x{MINUTES}"}, {replicas: until(f"3x{MINUTES}", "2")}
    assert promtool(Case(series | fewer, firing), Case(ended | expected, firing), Case(ended | scaled, {STARTS + 10: []})) == ""


@SHAPED
def test_a_watch_without_answers_is_reported(shape, promtool):
    """One process is enough: each has connections of its own."""
    cases = []
    for kind in (*KINDS, OPTIONAL[0]):
        series, name = healthy(shape, (*KINDS, *OPTIONAL)), named(LAST, kind=kind, instance=shape[-1].instance)
        alert = {"alertname": "KrmFnSyncWatchSilent", "kind": kind}
        cases.append(Case(series | {name: until(series[name], "30+60")}, {STARTS + 10: [], STARTS + 30: [alert]}))
    assert promtool(*cases) == ""


@SHAPED
def test_a_resource_that_waits_is_reported(shape, promtool):
    cases = []
    for process in (process for process in shape if process.leader):
        series, name = healthy(shape), named(AGE, instance=process.instance)
        stuck = series | {name: until(series[name], "0+60")}
        cases.append(Case(stuck, {STARTS + 4: [], STARTS + 30: [{"alertname": "KrmFnSyncQueueStuck"}]}))
    assert promtool(*cases) == ""


@SHAPED
def test_a_resource_that_was_put_aside_is_reported(shape, promtool):
    cases = []
    for process in (process for process in shape if process.leader):
        series, name = healthy(shape), named("krm_fn_sync_queue_aside", instance=process.instance)
        assert name in series
        aside = series | {name: until(series[name], "1+0")}
        cases.append(Case(aside, {STARTS + 4: [], STARTS + 30: [{"alertname": "KrmFnSyncPutAside"}]}))
    assert promtool(*cases) == ""


@SHAPED
def test_one_slow_process_is_reported(shape, promtool):
    """The others have a hundred times as many changes."""
    slow, series = shape[0], healthy(shape)
    for process in shape:
        rate, limit = (1, 10.0) if process is slow else (100, 0.0)
        for bound in metrics._SECONDS:
            name = named("krm_fn_sync_status_lag_seconds_bucket", le=str(float(bound)), instance=process.instance)
            assert name in series
            series[name] = f"0+{rate if bound >= limit else 0}x{MINUTES}"
        series[named("krm_fn_sync_status_lag_seconds_bucket", le="+Inf", instance=process.instance)] = f"0+{rate}x{MINUTES}"
    assert promtool(Case(series, {60: [{"alertname": "KrmFnSyncSlow", "instance": slow.instance}]})) == ""


def test_lost_events_are_reported(promtool):
    """Events of a deleted namespace are not lost, nor is more than the limit of one graph."""
    cases = []
    for result in metrics.EVENT_RESULTS:
        series, name = healthy((Process(),)), named(EVENTS, result=result, instance=Process().instance)
        alerts = [{"alertname": "KrmFnSyncEventsLost", "result": result}] if result in {"dropped", "forbidden", "error"} else []
        cases.append(Case(series | {name: until(series[name], "7")}, {STARTS: [], STARTS + 20: alerts, STARTS + 90: []}))
    assert promtool(*cases) == ""


@SHAPED
def test_a_process_near_its_memory_limit_is_reported(shape, promtool):
    """Also if the kernel ends it a minute later, and it starts again."""
    name, cases = named("krm_fn_sync_memory_used_ratio", instance=shape[-1].instance), []
    alert = {"alertname": "KrmFnSyncMemory", "instance": shape[-1].instance}
    for values, later in (("0.9", [alert]), ("0.8", []), ("0.95x0 0.3", [])):
        firing = {STARTS: [], STARTS + 5: [alert] if values != "0.8" else [], STARTS + 60: later}
        cases.append(Case(healthy(shape) | {name: until(f"0.5x{MINUTES}", values)}, firing))
    assert promtool(*cases) == ""


@SHAPED
def test_writes_that_fail_are_reported(shape, promtool):
    """A refused content always counts. Lost writes are repeated: one of a hundred is no reason for an alert, and one of ten is."""
    kind, cases = KINDS[0], []
    for result, lost, reported in (("error", 1, False), ("error", 10, True), ("invalid", 1, True)):
        series, instance = healthy(shape), shape[0].instance
        for name, number in ((result, lost), ("written", 100 - lost), ("noop", 1000)):
            series[named("krm_fn_sync_writes_total", kind=kind, result=name, instance=instance)] = f"0+{number}x{MINUTES}"
        alerts = [{"alertname": "KrmFnSyncWritesFail", "kind": kind, "result": result}] if reported else []
        cases.append(Case(series, {STARTS: alerts}))
    assert promtool(*cases) == ""
