"""Classes counted by Spark: a table of codes that is written once, and a few queries on it for each node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine.classes import Asked, CountedClasses, Groups, Told
from medveil.engine.links import write_links
from medveil.engine.spark_publication import SparkPublication
from medveil.engine.spark_recoding import places
from medveil.engine.spark_session import ClusterSession
from medveil.table.arrow import number_array, numpy_of, text_array
from medveil.table.labels import ANYTHING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class SparkCodedPublication:
    """`frame` has a row for each record of the source: its line, whether it was kept, and p0, p1, ..., which are its
    labels and after them its plain columns.
    """

    session: ClusterSession
    frame: DataFrame
    labelled: tuple[str, ...]
    plain: tuple[str, ...]
    records: int
    suppressed: int
    stars: bool

    @property
    def published(self) -> SparkPublication:
        of = self.session.functions
        names = (*self.labelled, *self.plain)
        rows = self.frame.where("kept").select(*places(names))
        if self.stars:
            row = [of.lit(ANYTHING).alias(place) for place in places(names)]
            rows = rows.unionAll(self.session.spark.range(self.suppressed).select(*row))
        number = self.records if self.stars else self.records - self.suppressed
        return SparkPublication(self.session, rows, names, number)

    def write_links(self, path: Path) -> None:
        labels = places(self.labelled)
        links = self.session.table(self.frame.select("line", "kept", *labels), coded=labels).sort_by("line")
        texts = links.select(labels).rename_columns(list(self.labelled))
        write_links(path, numpy_of(links["kept"]), texts, numpy_of(links["line"]))


class SparkCodedTable:
    """Distinct codes (c0, c1, ...: the quasi-identifiers, then the sensitive attributes), with whose they are where
    people are counted, and their number of records `n`.
    """

    def __init__(
        self,
        session: ClusterSession,
        data: DataFrame,
        names: Sequence[str],
        quasi: int,
        codes: Sequence[pa.Table],
        column: Callable[[str], str],
        subject: str | None,
    ) -> None:
        """The first `quasi` of the columns are the quasi-identifiers; `column` tells what the engine calls one."""
        of = session.functions
        self._session = session
        self._data = data
        self._names = tuple(names)
        self._quasi = quasi
        self._codes = tuple(codes)
        self._column = column
        self._has_people = subject is not None
        keys = [of.col(f"c{j}") for j in range(len(names))]
        if subject is not None:
            keys.append(person_of(session, column(subject)).alias("person"))
        maps = [table.select(["value", "code"]).rename_columns(["value", f"c{j}"]) for j, table in enumerate(codes)]
        self._coded = session.keep(self._joined(maps).groupBy(*keys).agg(of.count("*").alias("n")))
        self._most_of_one = 1
        if subject is not None:
            each = self._coded.groupBy("person").agg(of.sum("n").alias("n"))
            self._most_of_one = int(session.row(each.agg(of.max("n")))[0])

    def _joined(self, maps: Sequence[pa.Table]) -> DataFrame:
        """Every record of the data with the entry that each of its values has in a map, by its column `value`."""
        of = self._session.functions
        frame = self._data
        for j, (table, name) in enumerate(zip(maps, self._names, strict=True)):
            sent = self._session.send(table).withColumnRenamed("value", f"v{j}")
            frame = frame.join(sent, of.col(self._column(name)).eqNullSafe(of.col(f"v{j}")))
        return frame

    def _people(self) -> Column:
        """What counts people."""
        of = self._session.functions
        return of.countDistinct("person") if self._has_people else of.sum("n")

    # The classes of a node

    def _grouped(self, groups: Mapping[int, NDArray[np.int32]]) -> DataFrame:
        """The table with the groups of some columns beside its codes: g2 beside c2."""
        of = self._session.functions
        frame = self._coded
        for j, group_of in groups.items():
            codes = np.arange(len(group_of), dtype=np.int32)
            grouped = pa.table({f"k{j}": number_array(codes), f"g{j}": number_array(_int32(group_of))})
            sent = self._session.send(grouped)
            frame = frame.join(sent, of.col(f"c{j}") == of.col(f"k{j}")).drop(f"k{j}")
        return frame

    def _judged(self, groups: Groups, asked: Asked, most: int) -> tuple[DataFrame, int]:
        """Classes by their groups g0, g1, ..., with their records `n` and whether each `holds`; and how many records
        fail, at least, where those are more than `most`.
        """
        of = self._session.functions
        keys = [f"g{j}" for j in range(len(groups))]
        coded = self._grouped(dict(enumerate(groups)))
        # Nobody is more people, or has more values, than there are records: this alone rules most nodes out.
        sized = coded.groupBy(*keys).agg(of.sum("n").alias("n"))
        classes = self._session.keep(sized.select("*", (of.col("n") >= asked.records).alias("holds")))
        failing = self._failing(classes)
        if failing <= most and (asked.distinct or (self._has_people and asked.people > 1)):
            classes = self._session.keep(self._looked_closer(classes, coded, keys, asked))
            failing = self._failing(classes)
        return classes, failing

    def _failing(self, classes: DataFrame) -> int:
        of = self._session.functions
        return int(self._session.row(classes.where(~of.col("holds")).agg(of.coalesce(of.sum("n"), of.lit(0))))[0])

    def _looked_closer(self, classes: DataFrame, coded: DataFrame, keys: Sequence[str], asked: Asked) -> DataFrame:
        """Count people and values of the classes that records leave open. Where nobody has more than m records, a class
        of more than (k - 1) m has at least k people.
        """
        of = self._session.functions
        found = of.lit(True)
        for place, number in asked.distinct.items():
            found = found & (of.countDistinct(f"c{self._quasi + place}") >= number)
        left_open = of.col("holds")
        if self._has_people and asked.people > 1:
            found = found & (of.countDistinct("person") >= asked.people)
            if not asked.distinct:
                left_open = left_open & (of.col("n") <= (asked.people - 1) * self._most_of_one)
        if not keys:
            return classes.drop("holds").crossJoin(coded.agg(found.alias("holds")))
        counted = coded.join(classes.where(left_open).select(*keys), list(keys), "left_semi").groupBy(*keys)
        closer = classes.join(counted.agg(found.alias("found")), list(keys), "left")
        return closer.select(*keys, "n", of.coalesce("found", "holds").alias("holds"))

    def check(self, groups: Groups, asked: Asked, most: int) -> CountedClasses:
        classes, failing = self._judged(groups, asked, most)
        if failing > most:
            return CountedClasses(failing)
        of = self._session.functions
        # Squares of sizes may be larger than any whole number of Spark's; those of doubles lose digits.
        squared = of.col("n").cast("decimal(19,0)") * of.col("n").cast("decimal(19,0)")
        holding = classes.where("holds").agg(of.coalesce(of.sum(squared), of.lit(0)), of.count("*"))
        squares, number = self._session.row(holding)
        hidden = self._hidden(classes, groups) if failing else [_nothing(group_of) for group_of in groups]
        return CountedClasses(failing, tuple(hidden), int(squares), int(number))

    def _hidden(self, classes: DataFrame, groups: Groups) -> list[NDArray[np.int64]]:
        """The failing records of each group of each quasi-identifier, counted together: grouping_id() has a bit for
        each column that a set leaves out.
        """
        of = self._session.functions
        keys = [f"g{j}" for j in range(len(groups))]
        failing = classes.where(~of.col("holds"))
        told = self._session.table(
            failing.groupingSets([[key] for key in keys], *keys).agg(
                of.grouping_id().alias("left_out"), of.coalesce(*keys).alias("grp"), of.sum("n").alias("n")
            )
        )
        everything = (1 << len(keys)) - 1
        left_out, group, records = (numpy_of(told[name]) for name in ("left_out", "grp", "n"))
        hidden = []
        for j, group_of in enumerate(groups):
            mine = left_out == everything - (1 << (len(keys) - 1 - j))
            hidden.append(_filled(_nothing(group_of), group[mine], records[mine]))
        return hidden

    def least(self, groups: Groups, attributes: Sequence[int]) -> tuple[int, dict[int, int]]:
        of = self._session.functions
        counted = [self._people().alias("people")]
        counted += [of.countDistinct(f"c{self._quasi + place}").alias(f"v{place}") for place in attributes]
        keys = [f"g{j}" for j in range(len(groups))]
        classes = self._grouped(dict(enumerate(groups))).groupBy(*keys).agg(*counted)
        fewest, *values = self._session.row(classes.agg(of.min("people"), *(of.min(f"v{j}") for j in attributes)))
        return int(fewest), dict(zip(attributes, map(int, values), strict=True))

    # Columns and pairs

    def cross(
        self, first: int, of_first: NDArray[np.int32], second: int, of_second: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        of = self._session.functions
        coded = self._grouped({first: of_first, second: of_second})
        pairs = self._session.table(coded.groupBy(f"g{first}", f"g{second}").agg(of.sum("n").alias("n")))
        found = np.zeros((len(_nothing(of_first)), len(_nothing(of_second))), dtype=np.int64)
        found[numpy_of(pairs[f"g{first}"]), numpy_of(pairs[f"g{second}"])] = numpy_of(pairs["n"])
        return found

    def people(self, column: int, group_of: NDArray[np.int32]) -> NDArray[np.int64]:
        grouped = self._grouped({column: group_of}).groupBy(f"g{column}").agg(self._people().alias("n"))
        found = self._session.table(grouped)
        return _filled(_nothing(group_of), numpy_of(found[f"g{column}"]), numpy_of(found["n"]))

    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        of = self._session.functions
        keys = [f"c{j}" for j in range(self._quasi)]
        classes = self._coded.groupBy(*keys).agg(self._people().alias("size"))
        found = self._session.table(classes.groupBy("size").agg(of.count("*").alias("often"))).sort_by("size")
        return numpy_of(found["size"]), numpy_of(found["often"])

    def told(self, columns: Sequence[int]) -> Told:
        return told_of(self._session, self._coded, [f"c{j}" for j in columns], has_people=self._has_people)

    # What is published

    def publish(
        self,
        groups: Groups,
        asked: Asked,
        labels: Sequence[Sequence[str | None]],
        plain: Sequence[str],
        *,
        stars: bool,
    ) -> SparkCodedPublication:
        """Each value is mapped to its group and label, and the groups of classes that fail are a table to look in."""
        of = self._session.functions
        everybody = int(self._session.row(self._coded.agg(of.sum("n")))[0])
        classes, failing = self._judged(groups, asked, everybody)
        left_out = classes.where(~of.col("holds")).drop("n", "holds").withColumn("failed", of.lit(1))
        maps = []
        for j, (table, texts) in enumerate(zip(self._codes, labels, strict=True)):
            codes = numpy_of(table["code"])
            group = _int32(groups[j][codes] if j < len(groups) else codes)
            label = text_array(texts).take(number_array(group))
            maps.append(pa.table({"value": table["value"], f"g{j}": number_array(group), f"p{j}": label}))
        joined = self._joined(maps)
        keys = [f"g{j}" for j in range(len(groups))]
        judged = joined.join(left_out, keys, "left") if keys else joined.crossJoin(left_out)
        extra = [of.col(self._column(name)).alias(f"p{len(maps) + j}") for j, name in enumerate(plain)]
        frame = judged.select("line", of.col("failed").isNull().alias("kept"), *places(maps), *extra)
        return SparkCodedPublication(self._session, frame, self._names, tuple(plain), everybody, failing, stars)


def person_of(session: ClusterSession, column: str) -> Column:
    """Who a record belongs to, never null: records without a subject are one person together."""
    of = session.functions
    return of.coalesce(of.concat(of.lit("="), of.col(column)), of.lit(""))


def told_of(session: ClusterSession, frame: DataFrame, keys: Sequence[str], *, has_people: bool) -> Told:
    """What the columns `keys` of a table tell of who somebody is, where each of its rows stands for `n` records; see
    the formula beside DuckDB's.
    """
    of = session.functions

    def weighed(column: Any) -> Column:
        return column * of.log2(column)

    if not has_people:
        sizes = frame.groupBy(*keys).agg(of.sum("n").alias("n"))
        n = of.col("n")
        values, lacking, unique, people = session.row(
            sizes.agg(
                of.count("*"),
                of.coalesce(of.sum(weighed(n.cast("double"))), of.lit(0.0)),
                of.count(of.when(n == 1, n)),
                of.coalesce(of.sum(n), of.lit(0)),
            )
        )
    else:
        held = frame.groupBy(*keys, "person").agg(of.sum("n").alias("n"))
        everything = frame.groupBy("person").agg(of.sum("n").alias("all_n"))
        shares = held.join(everything, "person").withColumn("m", of.col("n") / of.col("all_n"))
        combinations = shares.groupBy(*keys).agg(
            of.sum("m").alias("all_of_it"),
            of.sum(weighed(of.col("m"))).alias("by_person"),
            of.count("*").alias("people"),
            of.min("person").alias("who"),
        )
        lacked = of.sum(weighed(of.col("all_of_it")) - of.col("by_person"))
        alone = of.countDistinct(of.when(of.col("people") == 1, of.col("who")))
        values, lacking, unique = session.row(combinations.agg(of.count("*"), of.coalesce(lacked, of.lit(0.0)), alone))
        (people,) = session.row(frame.agg(of.countDistinct("person")))
    return Told(int(values), float(lacking) / max(int(people), 1), int(unique), int(people))


def _int32(groups: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.ascontiguousarray(groups, dtype=np.int32)


def _nothing(group_of: NDArray[np.int32]) -> NDArray[np.int64]:
    """No records yet in each group."""
    return np.zeros(int(group_of.max(initial=-1)) + 1, dtype=np.int64)


def _filled(counts: NDArray[np.int64], at: NDArray[np.int32], values: NDArray[np.int64]) -> NDArray[np.int64]:
    counts[at] = values
    return counts
