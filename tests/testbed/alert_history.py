"""Records the metrics of a running syncer, and finds the alerts of platform/syncer that they fire, with promtool."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import yaml
from prometheus_client import parser

from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.syncer import Syncer

INTERVAL = 15
"""Seconds between two scrapes, as in many installations of Prometheus."""
_RULES = programs.ROOT / "platform" / "syncer" / "alerts" / "rule.yaml"
_ABSENT = "_"


class AlertHistory:
    """The samples of all scrapes. `scrapes` counts them."""

    def __init__(self, syncer: Syncer) -> None:
        self.scrapes = 0
        self._syncer = syncer
        self._series: dict[str, list[str]] = {}

    def scrape(self) -> None:
        """Adds the samples of now. Of a syncer that does not answer, there are none."""
        code, text = self._syncer.ask("/metrics")
        families = parser.text_string_to_metric_families(text) if code == 200 else ()
        for sample in (sample for family in families for sample in family.samples):
            labels = {**sample.labels, "instance": "syncer"}
            name = f"{sample.name}{{{','.join(f'{label}={json.dumps(value)}' for label, value in sorted(labels.items()))}}}"
            values = self._series.setdefault(name, [])
            values += [_ABSENT] * (self.scrapes - len(values)) + [str(sample.value)]
        self.scrapes += 1

    def firing(self, folder: Path) -> str:
        """What promtool reports if an alert about the syncer fired in any minute; empty if none did."""
        (folder / "rules.json").write_text(json.dumps({"groups": yaml.safe_load(_RULES.read_text())["spec"]["groups"]}))
        (folder / "history.json").write_text(json.dumps(self._test()))
        command = [str(programs.path("promtool")), "test", "rules", "history.json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def _test(self) -> dict[str, Any]:
        asked = 'sum by (alertname, kind, result) (ALERTS{alertstate="firing",alertname=~"KrmFnSync.*"})'
        minutes = range(1, self.scrapes * INTERVAL // 60 + 1)
        expected = [{"expr": asked, "eval_time": f"{minute}m", "exp_samples": []} for minute in minutes]
        series = [{"series": name, "values": " ".join(values)} for name, values in self._series.items()]
        tests = [{"interval": f"{INTERVAL}s", "input_series": series, "promql_expr_test": expected}]
        return {"rule_files": ["rules.json"], "evaluation_interval": "1m", "tests": tests}


@contextlib.contextmanager
def recorded(syncer: Syncer) -> Iterator[AlertHistory]:
    """Scrapes the metrics of a syncer until the context ends."""
    history, end = AlertHistory(syncer), threading.Event()

    def scrape() -> None:
        history.scrape()
        while not end.wait(INTERVAL):
            history.scrape()

    thread = threading.Thread(target=scrape, daemon=True)
    thread.start()
    try:
        yield history
    finally:
        end.set()
        thread.join()
