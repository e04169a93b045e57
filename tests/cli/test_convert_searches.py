"""`krm-fn convert` of requests from and to v1beta2."""

from __future__ import annotations

import yaml

from tests.cli import console
from tests.support import searches
from tests.support.cases import cases


def converted(tmp_path, *resources, to="v1beta2"):
    (tmp_path / "request.yaml").write_text(yaml.safe_dump_all(resources, sort_keys=False))
    return console.run("convert", "--to", to, tmp_path / "request.yaml")


def test_a_view_becomes_the_native_request(tmp_path):
    """The other documents stay: a Run and a Candidate have one version."""
    others = [searches.run("a"), searches.candidate("a")]
    done = converted(tmp_path, searches.view(searches.SPEC), *others)
    assert (done.code, done.err) == (0, "")
    assert [*yaml.safe_load_all(done.out)] == [searches.request(), *others]


def test_the_native_request_becomes_a_view(tmp_path):
    done = converted(tmp_path, searches.request(), to="v1beta1")
    assert (done.code, done.err) == (0, "")
    assert yaml.safe_load(done.out) == searches.view(searches.SPEC)


REFUSED = [
    (
        "both forms at once",
        searches.view(searches.SPEC, model="m"),
        "DYN198 spec.v1beta2: spec has the view v1beta2 and fields of its own, model; ",
    ),
    ("a view of no object", searches.view(7), "DYN198 spec.v1beta2: a view holds the whole spec of a request in v1beta2; write an object"),
    (
        "fields that v1beta1 does not have",
        searches.request(version="nvidia.com/v1beta1"),
        "DYN023 spec.modelRef: unknown field; ",
    ),
]


@cases(("request_", "said"), REFUSED)
def test_a_request_that_cannot_be_converted(tmp_path, request_, said):
    done = converted(tmp_path, request_)
    assert (done.code, done.out) == (1, "")
    assert said in done.err
