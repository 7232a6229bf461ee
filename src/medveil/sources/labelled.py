"""A source whose codes are read as what they mean: `1` as `male`, or the many words for yes as `true`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from medveil.errors import InputError
from medveil.sources.source import SPACES, Source
from medveil.table.domain import read_number

BOOLEAN = "boolean"
TRUE = "1 true t yes y wahr ja j vrai oui o verdadero sí si s sim vero sì sand tak sann"
FALSE = "0 false f no n falsch nein faux non falso não nao nej nee nie ei"
_WORDS = {**dict.fromkeys(TRUE.split(), "true"), **dict.fromkeys(FALSE.split(), "false")}


def is_boolean_word(text: str) -> bool:
    """Whether a text says yes or no.

    >>> [is_boolean_word(text) for text in ("Ja", "FALSE", "0", "perhaps")]
    [True, True, True, False]
    """
    return text.strip(SPACES).lower() in _WORDS


@dataclass(frozen=True)
class ValueLabels:
    """What the values of one column mean; a value without a label stays as it is.

    >>> sex = ValueLabels({"1": "male", "2": "female"})
    >>> [sex.of(text) for text in ("1", " 2", "1.0", "9")], ValueLabels(None).of("Oui")
    (['male', 'female', 'male', '9'], 'true')
    """

    meant: Mapping[str, str] | None
    """None for the words that say yes or no."""

    def of(self, text: str) -> str:
        """The label of a value; `1` and `1.0` are one code."""
        stripped = text.strip(SPACES)
        if self.meant is None:
            return _WORDS.get(stripped.lower(), text)
        return self.meant.get(stripped) or self.meant.get(read_number(stripped) or "", text)


@dataclass(frozen=True)
class LabelledSource(Source):
    """Another source, in which labels stand for the codes of some columns."""

    source: Source = field(kw_only=True)
    labels: Mapping[str, ValueLabels] = field(kw_only=True)

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.source.remarks

    @property
    def identity(self) -> str | None:
        return self.source.identity

    @property
    def path(self) -> Path | None:
        return self.source.path

    @property
    def doubt(self) -> InputError | None:
        return self.source.doubt

    def instead_of(self, name: str) -> str:
        return self.source.instead_of(name)

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        return {name: pa.string() if name in self.labels else kind for name, kind in self.source.types.items()}

    def batches(self) -> pa.RecordBatchReader:
        given = self.source.batches()
        schema = pa.schema(
            [pa.field(one.name, pa.string()) if one.name in self.labels else one for one in given.schema]
        )
        return pa.RecordBatchReader.from_batches(schema, self._batches(given, schema))

    def _batches(self, given: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for batch in given:
            columns = [
                self._read(column, self.labels[name]) if name in self.labels else column
                for name, column in zip(schema.names, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def _read(self, column: pa.Array, labels: ValueLabels) -> pa.Array:
        """Missing words are found after this, as in every source, and have no label."""
        texts = pc.cast(column, pa.string()).dictionary_encode()
        words = [
            text if text.strip(SPACES) in self.missing else labels.of(text) for text in texts.dictionary.to_pylist()
        ]
        return pa.array(words, pa.string()).take(texts.indices)


def with_labels(source: Source, labels: Mapping[str, ValueLabels]) -> Source:
    """The source with these labels; itself where it has none of their columns."""
    known = {name: meant for name, meant in labels.items() if name in source.names}
    return LabelledSource(source.names, source.missing, source=source, labels=known) if known else source
