"""Every rule fires at the field where the user can mend it, its twin does not, and no finding hides another."""

from __future__ import annotations

import pytest

from krm_fn import results
from tests.support import faults, given


@pytest.mark.parametrize("case", faults.ALL, ids=[case.reason for case in faults.ALL])
def test_exactly_this_is_said(case):
    assert given.findings(given.expanded(*case.items, **case.settings).results) == case.found


@pytest.mark.parametrize("case", [case for case in faults.ALL if case.found], ids=[case.reason for case in faults.ALL if case.found])
def test_a_finding_says_what_is_wrong_and_how_to_mend_it(case):
    for finding in given.expanded(*case.items, **case.settings).results:
        assert finding.ref in [results.ref(item) for item in case.items]
        assert "; " in finding.message or finding.severity != "error"
