"""FHIR R4: bulk exports (NDJSON) and bundles, flattened by a view."""

from __future__ import annotations

import io
import json
import lzma
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, field_validator

from medveil.errors import InputError, PolicyError
from medveil.sources.fhir_paths import compile_path
from medveil.sources.fhir_views import VIEWS
from medveil.sources.files import check_file
from medveil.sources.formats import compression_of, open_packed
from medveil.sources.source import MISSING, Source, SourceSpec, check_names
from medveil.workspace import Workspace

BATCH = 20_000
ENDINGS = (".ndjson", ".json", ".ndjson.gz", ".json.gz", ".jsonl", ".jsonl.gz")


class FhirView(BaseModel):
    """A kind of resource, and the columns of its table: a name and a path each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    resource: Annotated[str, Field(description="The type of the resources, such as Patient.", min_length=1)]
    columns: Annotated[dict[str, str], Field(description="A path for each column, such as `code.coding.code`.")]

    @field_validator("columns")
    @classmethod
    def _are_paths(cls, columns: dict[str, str]) -> dict[str, str]:
        if not columns:
            raise ValueError("A view needs at least one column.")
        for path in columns.values():
            compile_path(path)
        return columns


@dataclass(frozen=True)
class FhirSource(Source):
    """The resources of one kind in files, a row each."""

    place: Path
    files: tuple[Path, ...]
    view: FhirView

    @property
    def identity(self) -> str:
        return f"{self.place.resolve()}:{self.view.resource}"

    @property
    def path(self) -> Path:
        return self.place

    def batches(self) -> pa.RecordBatchReader:
        schema = pa.schema([(name, pa.string()) for name in self.names])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema))

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        paths = [compile_path(path) for path in self.view.columns.values()]
        rows: list[list[str | None]] = []
        for resource in resources(self.files, self.view.resource):
            rows.append([path(resource) for path in paths])
            if len(rows) == BATCH:
                yield _batch(rows, schema)
                rows = []
        if rows:
            yield _batch(rows, schema)


def _batch(rows: list[list[str | None]], schema: pa.Schema) -> pa.RecordBatch:
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def resources(files: tuple[Path, ...], kind: str | None = None) -> Iterator[Mapping[str, Any]]:
    """The resources in files, those of one kind where it is given; what is in a bundle counts by itself."""
    # In a bulk export nearly every line is of one kind: a whole line without its name need not be read.
    mark = None if kind is None else f'"{kind}"'.encode()
    for file in files:
        for number, text in _documents(file):
            if mark is not None and mark not in text and text.rstrip().endswith(b"}"):
                continue
            try:
                document = json.loads(text)
            except ValueError:  # its message would show where, and what
                raise _broken(file, number) from None
            for resource in _unbundled(document):
                if not isinstance(resource, dict) or not isinstance(resource.get("resourceType"), str):
                    raise _broken(file, number)
                if kind is None or resource["resourceType"] == kind:
                    yield resource


def kinds_of_resources(files: tuple[Path, ...]) -> frozenset[str]:
    """Which types of resources files hold."""
    return frozenset(resource["resourceType"] for resource in resources(files))


def _documents(file: Path) -> Iterator[tuple[int, bytes]]:
    """Each document of a file with its line: every line of NDJSON, one at a time, or the whole of a file that is one
    document.
    """
    try:
        with io.BufferedReader(cast("io.RawIOBase", open_packed(file, compression_of(file)))) as lines:
            number, first = next(((n, line) for n, line in enumerate(lines, start=1) if line.strip()), (1, b""))
            if first.lstrip().startswith(b"{") and first.rstrip().endswith(b"}"):
                yield number, first
                yield from ((n, line) for n, line in enumerate(lines, start=number + 1) if line.strip())
            else:
                yield 1, first + lines.read()
    except (OSError, EOFError, lzma.LZMAError):
        raise InputError(f"'{file.name}' cannot be opened, or does not decompress.", "Is it complete?") from None


def _unbundled(document: Any) -> Iterator[Any]:
    if not isinstance(document, dict) or document.get("resourceType") != "Bundle":
        yield document
        return
    entries = document.get("entry") or ()
    if not isinstance(entries, list):
        yield None
        return
    names = _full_names(entries)
    for entry in entries:
        resource = entry.get("resource") if isinstance(entry, dict) else None
        if names and isinstance(resource, dict):
            own = names.get(str(entry.get("fullUrl")), "").rpartition("/")[2] or resource.get("id")
            resource = {**_renamed(resource, names), "id": own}
        yield from _unbundled(resource)


def _full_names(entries: list[Any]) -> dict[str, str]:
    """Where a bundle calls resources by other names than their ids: the reference that each of these names stands for.
    A resource without an id has the end of that name as its id.
    """
    names = {}
    for entry in entries:
        resource, full = (entry.get("resource"), entry.get("fullUrl")) if isinstance(entry, dict) else (None, None)
        if isinstance(resource, dict) and isinstance(full, str):
            last = re.split(r"[/:]", full)[-1]
            own = resource.get("id") or last
            if own != last or "id" not in resource:
                names[full] = f"{resource.get('resourceType')}/{own}"
    return names


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    """The same with every reference to one of the names as what it stands for."""
    if isinstance(node, list):
        return [_renamed(member, names) for member in node]
    if not isinstance(node, dict):
        return node
    return {
        key: names.get(value, value) if key == "reference" and isinstance(value, str) else _renamed(value, names)
        for key, value in node.items()
    }


def _broken(file: Path, line: int) -> InputError:
    return InputError(f"Line {line} of '{file.name}' is not a FHIR resource.", "Is the export complete?")


class FhirSpec(SourceSpec):
    """FHIR R4 resources of one kind, a row each: a folder of a bulk export (NDJSON), or a file of it or of a bundle,
    packed or not.

    `view:` is the name of a ready view (Patient, Encounter, Condition, Observation, MedicationRequest, Procedure,
    Immunization, AllergyIntolerance) or one of your own, `{resource: CarePlan, columns: {patient:
    subject.reference.key(Patient), code: category.coding.code}}`: names with dots between them; `[0]` is a member by
    its place, `where(system='phone')` one by a value in it, and `key(Patient)` the id behind a reference to that kind
    of resource. The first value that a path leads to counts. It can be left out where a resource of a ready view
    comes first.
    """

    name: ClassVar[str] = "fhir"
    formats: ClassVar[frozenset[str]] = frozenset({"fhir"})
    path: Annotated[str, Field(description="A folder or file, relative to the policy.")]
    view: Annotated[str | FhirView | None, Field(description="What the table has of each resource.")] = None

    @property
    def file(self) -> str:
        return self.path

    def open(self, workspace: Workspace) -> Source:
        place = workspace.resolve(self.path)
        files = fhir_files(place)
        view = self._chosen(files)
        if next(resources(files, view.resource), None) is None:
            raise InputError(f"'{place.name}' holds no resource of the type '{view.resource}'.", "Name another view.")
        names = check_names(list(view.columns), "The view")
        return FhirSource(names, MISSING | frozenset(self.missing), place, files, view)

    def _chosen(self, files: tuple[Path, ...]) -> FhirView:
        if isinstance(self.view, FhirView):
            return self.view
        kind = self.view if self.view is not None else str(next(resources(files), {}).get("resourceType"))
        if kind not in VIEWS:
            raise PolicyError(
                "There is no ready view of this kind of resource."
                if self.view is None
                else f"There is no view '{kind}'.",
                f"Take one of {', '.join(VIEWS)}, or write one: 'view: {{resource: ..., columns: {{...}}}}'.",
            )
        return FhirView(resource=kind, columns=dict(VIEWS[kind]))


def fhir_files(place: Path) -> tuple[Path, ...]:
    """The files of an export: those of a folder, or the one that is named."""
    if not place.is_dir():
        check_file(place)
        return (place,)
    found = tuple(sorted(path for path in place.iterdir() if path.name.lower().endswith(ENDINGS)))
    if not found:
        raise InputError(f"'{place.name}' holds no NDJSON or JSON files.", "Name the folder of a bulk export.")
    return found
