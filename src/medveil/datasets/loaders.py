"""Public data sets that the user has on disk, as tables of text with proper names and missing values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from medveil.errors import InputError, did_you_mean

ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income"
)
HEART = "age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,num"


@dataclass(frozen=True)
class PublicSet:
    """How one public set is written: its files below the folder, and what its text means.

    `header` names the columns of files without a first line of names; `skip` lines come before the first record;
    `missing` are the markers of missing values, where nothing in a column can mean anything else.
    """

    files: tuple[str, ...]
    delimiter: str = ","
    header: str = ""
    missing: tuple[str, ...] = ("",)
    skip: int = 0
    trailing: str = ""
    """A character after the last column that is none of the data."""


PUBLIC_SETS = {
    "adult": PublicSet(("adult/adult.data",), header=ADULT, missing=("?",)),
    "adult-test": PublicSet(("adult/adult.test",), header=ADULT, missing=("?",), skip=1, trailing="."),
    "adult-arx": PublicSet(("adult/arx/adult.csv",), delimiter=";", missing=()),
    "fars": PublicSet(("fars/fars_int.csv",), delimiter=";", missing=()),
    "fars-subset": PublicSet(("fars/fars_subset.csv",), delimiter=";", missing=()),
    "heart": PublicSet(
        tuple(f"heart/processed.{site}.data" for site in ("cleveland", "hungarian", "switzerland", "va")),
        header=HEART,
        missing=("?",),
    ),
    "heart-cleveland": PublicSet(("heart/processed.cleveland.data",), header=HEART, missing=("?",)),
    "heart76": PublicSet(("heart/heart76_parsed.csv",), missing=("-9",)),
    "diabetes130": PublicSet(("diabetes130/diabetic_data.csv",), missing=("?",)),
    "nhanes": PublicSet(("nhanes/NHANESraw.csv",), missing=("",)),
}


def find(name: str, folder: Path) -> tuple[Path, ...]:
    """The files of a public set below the folder, gzipped or not."""
    public = PUBLIC_SETS.get(name)
    if public is None:
        raise InputError(f"There is no public set '{name}'.", did_you_mean(name, PUBLIC_SETS))
    found = []
    for file in public.files:
        path = next((p for p in (folder / file, folder / f"{file}.gz") if p.is_file()), None)
        if path is None:
            raise InputError(
                f"The public set '{name}' needs the file '{file}' (or '{file}.gz'), which is not in the folder given.",
                "Get it from its publisher and put it there.",
            )
        found.append(path)
    return tuple(found)


def load(name: str, folder: Path) -> pa.Table:
    """A public set as a table of text columns, null where a value is missing; several files follow each other.

    The names: adult, adult-test, adult-arx, fars, fars-subset, heart, heart-cleveland, heart76, diabetes130, nhanes.
    """
    paths = find(name, folder)
    return pa.concat_tables([_read(path, PUBLIC_SETS[name]) for path in paths])


def _read(path: Path, public: PublicSet) -> pa.Table:
    names = public.header.split(",") if public.header else _first_line(path, public.delimiter)
    table = csv.read_csv(
        path,
        read_options=csv.ReadOptions(column_names=names, skip_rows=public.skip + (0 if public.header else 1)),
        parse_options=csv.ParseOptions(delimiter=public.delimiter),
        # Markers are looked for after trimming: Adult writes a blank before each value.
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
    )
    columns = [pc.utf8_trim_whitespace(column) for column in table.columns]
    if public.trailing:
        columns[-1] = pc.utf8_rtrim(columns[-1], public.trailing)
    markers = pa.array(public.missing, type=pa.string())
    columns = [pc.if_else(pc.is_in(c, value_set=markers), pa.scalar(None, pa.string()), c) for c in columns]
    return pa.table(dict(zip(names, columns, strict=True)))


def _first_line(path: Path, delimiter: str) -> list[str]:
    """The names of the columns, as the file itself gives them."""
    with csv.open_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter)) as reader:
        return list(reader.schema.names)
