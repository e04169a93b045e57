"""Findings as a JUnit test report for Jenkins, GitLab and others. A test case is a resource, or a file without resources.

Follows the JUnit XML that these read: `testsuites/testsuite/testcase`, errors as one `failure`, everything else as `system-out`.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from krm_fn.base import report, results
from krm_fn.base.results import Ref, Result
from krm_fn.cli.finding_formats import Checked

_Case = tuple[str, str]
"""Class and name of a test case: the file, and the resource."""


def write(checked: Checked) -> str:
    """Returns one suite with a test case for every resource, also for resources without findings."""
    files = {source.address: source.file for source in checked.resources}
    cases: dict[_Case, list[Result]] = {(file, _name(address)): [] for address, file in files.items()}
    for result in checked.results:
        known = files.get(result.ref) if result.ref else None
        case = (known or result.file, _name(result.ref) if result.ref else "file")
        cases.setdefault(case, []).append(result)
    failed = sum(results.has_errors(findings) for findings in cases.values())
    counts = {"name": report.PROGRAM, "tests": str(len(cases)), "failures": str(failed), "errors": "0", "skipped": "0"}
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", counts)
    for case, findings in cases.items():
        _write(suite, case, findings)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _name(address: Ref) -> str:
    return f"{address.kind} {address.namespace}{'/' if address.namespace else ''}{address.name}"


def _write(suite: ET.Element, case: _Case, findings: list[Result]) -> None:
    file, name = map(report.visible, case)
    written = ET.SubElement(suite, "testcase", {"classname": file, "name": name, "file": file, "time": "0"})
    errors = results.errors_of(findings)
    if errors:
        attributes = {"message": report.count(errors), "type": errors[0].code}
        ET.SubElement(written, "failure", attributes).text = _lines(errors)
    if others := [result for result in findings if result.severity != "error"]:
        ET.SubElement(written, "system-out").text = _lines(others)


def _lines(findings: Iterable[Result]) -> str:
    return "\n".join(map(report.entry, findings))
