"""Files of statistical packages: SAS, SPSS, Stata."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import Field

from medveil.sources.files import check_file
from medveil.sources.formats import recognize
from medveil.sources.loaded import LoadedFile, damaged, loaded, not_installed
from medveil.sources.source import Source, SourceSpec
from medveil.workspace import Workspace

READERS = {"sas": "read_sas7bdat", "sas-transport": "read_xport", "spss": "read_sav", "stata": "read_dta"}
ENDINGS = {".sas7bdat": "sas", ".xpt": "sas-transport", ".sav": "spss", ".zsav": "spss", ".dta": "stata"}


def open_statistics(path: Path, missing: Collection[str], *, labels: bool) -> LoadedFile:
    """A data set, with the labels of coded values in their place where it brings them. What the file itself declares
    as missing is missing.
    """
    try:
        import pyreadstat  # noqa: PLC0415 - an extra
    except ImportError:
        raise not_installed("files of SAS, SPSS and Stata", "pyreadstat") from None
    found = recognize(path).name
    kind = found if found in READERS else ENDINGS.get(path.suffix.lower(), "stata")
    try:
        columns, described = getattr(pyreadstat, READERS[kind])(str(path), output_format="dict")
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError, OverflowError):
        raise damaged(path) from None
    meant = described.variable_value_labels if labels else {}
    arrays = [_array(values, meant.get(name) or {}) for name, values in columns.items()]
    return loaded(path, list(columns), arrays, missing)


def _array(values: Sequence[Any], meant: Mapping[Any, str]) -> pa.Array:
    """A column: numbers as numbers, whole ones as such, and texts in the place of codes that have a label."""
    present = [value for value in values if value is not None]
    if meant and any(value in meant for value in present):
        return pa.array([None if value is None else str(meant.get(value, _plain(value))) for value in values])
    if present and all(isinstance(value, float) and value.is_integer() and abs(value) < 2**53 for value in present):
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(_plain(value)) for value in values])


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class StatisticsSpec(SourceSpec):
    """A file of SAS (.sas7bdat, .xpt), SPSS (.sav) or Stata (.dta). Needs the extra `files`."""

    name: ClassVar[str] = "statistics"
    formats: ClassVar[frozenset[str]] = frozenset(READERS)
    path: Annotated[str, Field(description="The file, relative to the policy.")]
    labels: Annotated[bool, Field(description="Read the labels of values in the place of their codes.")] = True

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        path = workspace.resolve(self.path)
        check_file(path)
        return open_statistics(path, self.missing, labels=self.labels)
