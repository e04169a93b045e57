"""The files that a fix may edit, as they were read, and their new texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from krm_fn.base import results
from krm_fn.base.results import Result
from krm_fn.kubernetes import encryption
from krm_fn.migration.edits import edit_locations
from krm_fn.migration.edits.edited_files import FileText
from krm_fn.render.manifests import ownership
from krm_fn.repository.files import reading, writing
from krm_fn.repository.files.reading import File
from krm_fn.review.inputs import Inputs

_MARK = b"\xef\xbb\xbf"


class FileChangedError(Exception):
    """A file is no longer as it was read."""


class EditableFiles:
    """Reads each file once. A file that a program generated, and one with encrypted values, has no text.

    The texts of the inputs are those of files that an editor has open: they are edited in place of the files on disk.
    """

    def __init__(self, given: Inputs) -> None:
        self._given = given
        self._data: dict[str, bytes] = {}
        self._files: dict[str, File | None] = {}
        self._edited: dict[str, tuple[str, File]] = {}

    def read(self, file: str, texts: Mapping[str, str]) -> File | None:
        """Returns the values of a file as it is on disk, or with its new text in `texts`; None if it must not be edited."""
        if file not in self._files:
            self._files[file] = self._read(file)
        original = self._files[file]
        if original is None or file not in texts:
            return original
        if self._edited.get(file, ("", original))[0] != texts[file]:
            self._edited[file] = texts[file], reading.parse(texts[file].encode(), file)
        return self._edited[file][1]

    def _read(self, file: str) -> File | None:
        if file not in self._given.texts and not edit_locations.is_given(file, self._given):
            return None
        try:
            data = self._given.texts[file].encode() if file in self._given.texts else reading.data(file)
        except reading.UnreadableError:
            return None
        read = reading.parse(data, file)
        is_known = data.removeprefix(_MARK) == read.text.encode()
        if not is_known or read.text.startswith(writing.HEADER) or any(_is_foreign(source.value) for source in read.sources):
            return None
        self._data[file] = data
        return read

    def texts(self, new: Mapping[str, str]) -> dict[str, FileText]:
        """Returns the texts of changed files before and after the edits. `new` are the new texts."""
        files = {file: (self._files[file], text) for file, text in new.items()}
        return {file: FileText(read.text, text) for file, (read, text) in files.items() if read and read.text != text}

    def save(self, new: Mapping[str, str]) -> None:
        """Writes the new texts, each at once. Raises FileChangedError if a file changed since it was read, and OSError.

        All files are compared before the first one is written, and each of them again just before its turn.
        """
        changed = self.texts(new)
        for file in changed:
            self._compare(file)
        for file, text in changed.items():
            self._compare(file)
            writing.save(file, text.new)

    def _compare(self, file: str) -> None:
        if Path(file).read_bytes() != self._data[file]:
            raise FileChangedError(f"{file} changed while krm-fn read it, so it is not written; run the command again")


def _is_foreign(value: Any) -> bool:
    """True for an object that a render generated, and for a resource whose values have a signature."""
    return isinstance(value, dict) and (encryption.is_encrypted(value) or (bool(results.ref(value).kind) and ownership.is_generated(value)))


def is_about_file(result: Result) -> bool:
    """Returns true for a finding with an edit whose field has a position in a file."""
    return bool(result.file and result.edit and result.edit.at is not None)
