"""Writes the pages of docs/errors, one for each code of a finding, from the texts in the package.

Not its business: the texts (`krm_fn.codes.pages`).

    python tools/error_pages.py
"""

from __future__ import annotations

from pathlib import Path

from krm_fn import codes
from krm_fn.codes import pages

FOLDER = Path(__file__).parents[1] / "docs" / "errors"
_INDEX = """\
# Codes

A code never changes its meaning. [What findings look like](../errors.md).

| code | |
|---|---|
"""


def made() -> dict[Path, str]:
    """Every file of the folder with its text: a page for each code, and the index."""
    listed = "".join(f"| [{code}]({code}.md) | {title} |\n" for code, title in sorted(codes.TITLES.items()))
    return {FOLDER / "README.md": _INDEX + listed, **{FOLDER / f"{code}.md": pages.markdown(code) for code in codes.TITLES}}


def main() -> None:
    """Write what there should be, and remove what else there is."""
    files = made()
    FOLDER.mkdir(exist_ok=True)
    for stale in sorted({*FOLDER.iterdir()} - files.keys()):
        stale.unlink()
    for path, text in files.items():
        path.write_text(text, "utf-8")
    print(f"{len(files)} files in {FOLDER.name}")


if __name__ == "__main__":
    main()
