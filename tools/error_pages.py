"""Writes the pages of docs/errors, one for each code, from the texts in the package (`krm_fn.schemas.codes`)."""

from __future__ import annotations

from pathlib import Path

from krm_fn.schemas import codes

FOLDER = Path(__file__).parents[1] / "docs" / "errors"
_INDEX = """\
# Codes

A code never changes its meaning. [Findings](../errors.md) explains how findings are printed; `krm-fn explain CODE` prints these pages.

| code | title |
|---|---|
"""


def made() -> dict[Path, str]:
    """The text of each file in the folder: a page for each code, and the index."""
    listed = "".join(f"| [{code}]({code}.md) | {page.title} |\n" for code, page in codes.pages().items())
    return {FOLDER / "README.md": _INDEX + listed, **{FOLDER / f"{code}.md": codes.markdown(code) for code in codes.pages()}}


def main() -> None:
    """Write these files and remove all others in the folder."""
    files = made()
    FOLDER.mkdir(exist_ok=True)
    for stale in sorted({*FOLDER.iterdir()} - files.keys()):
        stale.unlink()
    for path, text in files.items():
        path.write_text(text, "utf-8")
    print(f"{len(files)} files in {FOLDER.name}")


if __name__ == "__main__":
    main()
