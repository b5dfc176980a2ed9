"""Every kind of frame that Dask can make is a graph, with the ids that the same rows of pandas have."""

import itertools
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

INTEGERS = pd.DataFrame(
    {
        "src": [0, 1, 2, 3, 3, 5],
        "dst": [1, 2, 3, 0, 1, 6],
        "weight": [1.0, 2.0, 3.0, 4.0, 1.0, 2.0],
        "note": list("abcdef"),
    }
)
TEXTS = INTEGERS.assign(
    src="v" + INTEGERS["src"].astype(str), dst="v" + INTEGERS["dst"].astype(str)
)
ENDS = ["src", "dst"]


def cast(frame, dtype):
    return frame.astype(dict.fromkeys(ENDS, dtype))


def arrow(frame, kind, *, encoded=False):
    columns = {name: pa.array(frame[name]).cast(kind) for name in ENDS}
    if encoded:
        columns = {name: values.dictionary_encode() for name, values in columns.items()}
    return frame.assign(**{n: pd.array(v, pd.ArrowDtype(v.type)) for n, v in columns.items()})


IDS = {
    "integers": INTEGERS,
    "narrow and wide": INTEGERS.astype({"dst": "int32"}),
    "masked": cast(INTEGERS, "Int64"),
    "arrow integers": arrow(INTEGERS, pa.int64()),
    "objects of integers": cast(INTEGERS, object),
    "categories of integers": cast(INTEGERS, "category"),
    "dictionaries of integers": arrow(INTEGERS, pa.int64(), encoded=True),
    "texts": TEXTS,
    "arrow texts": arrow(TEXTS, pa.string()),
    "objects of texts": cast(TEXTS, object),
    "categories of texts": cast(TEXTS, "category"),
    "dictionaries of texts": arrow(TEXTS, pa.large_string(), encoded=True),
}


def split(frame, **options):
    return dd.from_pandas(frame, npartitions=3, **options)


def thirds(frame):
    return [frame.iloc[i : i + 2] for i in (0, 2, 4)]


def halves(frame):
    return [dd.from_pandas(frame.iloc[:3], npartitions=2), dd.from_pandas(frame.iloc[3:], 1)]


def written(frame, folder):
    for i, part in enumerate(thirds(frame)):
        part.to_parquet(folder / f"{i}.parquet")
    return folder


def light(frame):
    return frame[frame["weight"] < 100]


READ = {
    "": lambda frame: frame,
    "a choice of columns": lambda frame: frame[["dst", "src"]],
    "filtered": light,
    "persisted": lambda frame: frame.persist(),
    "repartitioned": lambda frame: frame.repartition(npartitions=2),
    "concatenated": lambda frame: dd.concat([frame.partitions[:1], frame.partitions[1:]]),
    "merged": lambda frame: frame.merge(frame[["note"]], on="note"),
    "shuffled": lambda frame: frame.shuffle("note"),
    "grouped": lambda frame: frame.groupby(ENDS, observed=True)["weight"].sum().reset_index(),
    "without repeats": lambda frame: frame.drop_duplicates(ENDS),
    "by an index": lambda frame: frame.set_index("note"),
}

MADE = {
    "from pandas": split,
    "unsorted": lambda frame: split(frame, sort=False),
    "from delayed": lambda frame: dd.from_delayed(list(map(dask.delayed, thirds(frame)))),
    "from delayed with a meta": lambda frame: dd.from_delayed(
        list(map(dask.delayed, thirds(frame))), meta=frame.iloc[:0]
    ),
    "from map": lambda frame: dd.from_map(lambda part: part, thirds(frame)),
    "persisted": lambda frame: split(frame).persist(),
    "persisted and filtered": lambda frame: light(split(frame).persist()),
    "categorized": lambda frame: split(frame).categorize(columns=ENDS),
    "cast to categories": lambda frame: cast(split(frame), "category"),
    "categories by column": lambda frame: split(frame).assign(
        **{name: split(frame)[name].astype("category") for name in ENDS}
    ),
    "concatenated": lambda frame: dd.concat(halves(frame)),
    "interleaved": lambda frame: dd.concat(
        [half.clear_divisions() for half in halves(frame)], interleave_partitions=True
    ),
    "by an index": lambda frame: split(frame).set_index("note"),
    "by the source as index": lambda frame: split(frame).set_index("src", drop=False),
    "an index made a column": lambda frame: split(frame).set_index("src").reset_index(),
    "without divisions": lambda frame: split(frame).clear_divisions(),
    "partitions mapped": lambda frame: split(frame).map_partitions(lambda part: part),
    "overlaps mapped": lambda frame: split(frame).map_overlap(lambda part: part, 0, 0),
    "assigned": lambda frame: split(frame).assign(more=1),
    "renamed": lambda frame: split(frame.rename(columns={"src": "a"})).rename(columns={"a": "src"}),
    "some partitions": lambda frame: split(frame).partitions[:],
    "sorted": lambda frame: split(frame).sort_values("note"),
    "without nulls": lambda frame: split(frame).dropna(),
    "queried": lambda frame: split(frame).query("weight < 100"),
    "located": lambda frame: split(frame).loc[0:5],
    "sampled": lambda frame: split(frame).sample(frac=1.0, random_state=1),
    "exploded": lambda frame: split(frame.assign(note=[[1]] * 6)).explode("note"),
    "merged": lambda frame: split(frame).merge(split(frame[["note"]]), on="note"),
    "merged by index": lambda frame: split(frame).merge(
        split(frame[["note"]].add_suffix("s")), left_index=True, right_index=True
    ),
    "shuffled": lambda frame: split(frame).shuffle("note"),
    "grouped": lambda frame: (
        split(frame).groupby(ENDS, observed=True)["weight"].sum().reset_index()
    ),
}

# What Dask itself cannot compute.
_DICTIONARIES = {"categorized", "by the source as index", "an index made a column"}
_OBJECTS = {"by the source as index", "an index made a column"}


def check(frame, ids):
    lazy = frame.graph.weakly_connected_components()
    found = lazy.compute()
    wanted = INTEGERS.graph.weakly_connected_components()
    given = frame.compute()["src"].tolist()
    name = str if isinstance(given[0], str) else int
    mark = "v" if name is str and given[0].startswith("v") else ""
    for column in ("vertex", "component"):
        assert found[column].tolist() == [name(f"{mark}{i}") for i in wanted[column]], ids
        assert found[column].dtype == lazy.dtypes[column], ids


@pytest.mark.parametrize(("turn", "kind"), list(enumerate(READ)))
def test_frames_that_are_read(tmp_path, turn, kind):
    """With each kind of ids; both readers, with strings converted and not, by turns."""
    ways = list(itertools.product(["fsspec", "arrow"], [True, False]))
    read = ("integers", "texts", "categories of integers", "categories of texts")
    for i, ids in enumerate(read):
        reader, strings = ways[(turn + i) % 4]
        if kind == "persisted":
            reader = "fsspec"  # with the other Dask itself cannot compute it
        folder = tmp_path / ids
        folder.mkdir()
        with dask.config.set({"dataframe.convert-string": strings, "scheduler": "sync"}):
            frame = dd.read_parquet(written(IDS[ids], folder), filesystem=reader)
            check(READ[kind](frame), ids)


@pytest.mark.parametrize(("turn", "kind"), list(enumerate(MADE)))
def test_frames_that_are_made(turn, kind):
    """With each kind of ids; where the setting makes a difference, strings are converted by turns."""
    for i, (ids, given) in enumerate(IDS.items()):
        if ids.startswith("dictionaries") and kind in _DICTIONARIES:
            continue
        strings = not ids.startswith(("texts", "objects", "categories")) or (turn + i) % 2 == 0
        if ids.startswith("objects") and kind in _OBJECTS:
            strings = True
        with dask.config.set({"dataframe.convert-string": strings, "scheduler": "sync"}):
            check(MADE[kind](given), ids)


@pytest.mark.parametrize("reader", ["fsspec", "arrow"])
@pytest.mark.parametrize("kind", ["", "filtered", "merged", "repartitioned"])
def test_results_have_the_type_of_categories_that_dask_has_not_read(tmp_path, kind, reader):
    for ids, dtype in {"categories of integers": "int64", "categories of texts": "str"}.items():
        folder = tmp_path / ids
        folder.mkdir()
        frame = READ[kind](dd.read_parquet(written(IDS[ids], folder), filesystem=reader))
        assert frame.graph.degree().dtypes["vertex"] == dtype


def test_categories_of_integers_take_integers_as_sources(tmp_path):
    frame = dd.read_parquet(written(IDS["categories of integers"], tmp_path))
    assert frame.graph.bfs(0).compute()["distance"].tolist()[:4] == [0, 1, 2, 3]


def test_asking_takes_no_longer_than_computing_where_there_are_many_partitions():
    edges = pd.DataFrame({"src": np.arange(8000) % 99, "dst": np.arange(8000) % 98})
    frame = dd.from_pandas(edges, npartitions=800, sort=False)

    def seconds(call):
        start = time.process_time()
        call()
        return time.process_time() - start

    frame.graph.degree()
    asked = min(seconds(frame.graph.degree) for _ in range(3))
    assert asked < 2 * seconds(lambda: frame.compute(scheduler="sync"))
