"""The package data of setup.cfg are the data files of the folder krm_fn, so that no installed copy lacks one."""

from __future__ import annotations

import configparser

from tests.testbed import programs

PACKAGE = programs.ROOT / "krm_fn"
NO_DATA = {".py", ".pyc", ".md"}
ONLY_FOR_MAKE_GENERATE = {"schemas/generate/native.json"}


def test_setup_names_each_data_file():
    setup = configparser.ConfigParser()
    setup.read(programs.ROOT / "setup.cfg", "utf-8")
    named = {
        path.relative_to(PACKAGE).as_posix()
        for pattern in setup["options.package_data"]["krm_fn"].split()
        for path in PACKAGE.glob(pattern)
    }
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in NO_DATA}
    assert named == files - ONLY_FOR_MAKE_GENERATE
