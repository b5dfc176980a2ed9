"""Parquet files that are damaged: what plain Arrow reads of them, or an error that names the file."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz_answers import OF_SOURCE, OPTIONS, WEIGHTED, answer, difference
from fuzz_children import Wrong, asks_oracle, outcome, run
from fuzz_damage import commanded, damage

from dask_graphgpu.errors import UnreadableParquet

CASES = 150
KINDS = ["int8", "int32", "int64", "uint16", "Int64", "str", "category"]
WEIGHTS = [None, "int64", "uint8", "float64", "float32", "Int32"]
METHODS = ["degree", "bfs", "weakly_connected_components", "core_number", "sssp", "pagerank"]
NUMBERS = {kind for kind in KINDS if "int" in kind.lower()}


def frame(rng, kind, weight, rows):
    ends = [[rng.randint(0, 30) for _ in range(rows)] for _ in range(2)]
    if kind not in NUMBERS:
        ends = [[f"v{number}" for number in column] for column in ends]
    made = pd.DataFrame(
        {name: pd.Series(end, dtype=kind) for name, end in zip(("src", "dst"), ends, strict=True)}
    )
    if weight is not None:
        made["weight"] = pd.Series([rng.randint(0, 9) for _ in range(rows)]).astype(weight)
    for extra in range(rng.choice([0, 0, 1, 2])):
        made.insert(rng.randrange(len(made.columns) + 1), f"x{extra}", np.arange(rows) / 3)
    return made


def written(path, rng, made):
    """Write a frame in one of many shapes."""
    table = pa.Table.from_pandas(made, preserve_index=rng.choice([None, True, False]))
    if rng.random() < 0.4:
        table = table.replace_schema_metadata()
    pq.write_table(
        table,
        path,
        row_group_size=rng.choice([None, 7, 50]),
        compression=rng.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"]),
        use_dictionary=rng.random() < 0.6,
        write_statistics=rng.random() < 0.6,
        data_page_version=rng.choice(["1.0", "2.0"]),
        data_page_size=rng.choice([None, 64]),
        version=rng.choice(["1.0", "2.4", "2.6"]),
        write_page_index=rng.random() < 0.3,
        write_page_checksum=rng.random() < 0.3,
        store_schema=rng.random() < 0.7,
    )


def files(rng, folder):
    """One file, or several in a folder that may differ in the width and kind of columns."""
    kind, weight = rng.choice(KINDS), rng.choice(WEIGHTS)
    if rng.random() < 0.5:
        path = folder / "edges.parquet"
        written(path, rng, frame(rng, kind, weight, rng.choice([1, 20, 200])))
        return path
    path = folder / "edges"
    path.mkdir()
    for number in range(rng.randint(1, 3)):
        kind = rng.choice([kind, kind, *KINDS])
        weight = rng.choice([weight, weight, *WEIGHTS])
        rows = rng.choice([0, 1, 20, 100])
        written(path / f"part.{number}.parquet", rng, frame(rng, kind, weight, rows))
    return path


def read(path, weighted):
    """Rows of all files as plain Arrow reads them; None if it cannot."""
    names = ["src", "dst", "weight"][: 2 + weighted]
    rows = []
    for file in sorted(path.glob("*")) if path.is_dir() else [path]:
        try:
            table = pq.ParquetFile(file).read(columns=names, use_threads=False)
            if table.num_rows:
                columns = [table[name].to_pylist() for name in names]
                rows += zip(*columns, *[[1] * len(table)][weighted:], strict=True)
        except Exception:
            return None
    return rows


def check(name, found, rows, source):
    """What is wrong with an answer, of the rows that the files are said to hold."""
    if rows is None:
        return "an answer of files that Arrow cannot read"
    try:
        vertices = sorted({v for row in rows for v in row[:2]})
        wanted = answer(name, rows, True, vertices, *source)
    except Exception as error:
        return f"an answer of rows that have none ({type(error).__name__}: {error})"
    return difference(name, found, wanted)


def weighs(path, name):
    """Whether the method reads weights of these files."""
    parts = sorted(path.glob("*")) if path.is_dir() else [path]
    has = ["weight" in pq.read_schema(file).names for file in parts]
    return any(has) and name in WEIGHTED


def case(rng, folder, _):
    path = files(rng, folder)
    name = rng.choice(METHODS)
    weighted = weighs(path, name)
    if name == "sssp" and not weighted:
        name, weighted = "degree", False
    whole = read(path, weighted)
    source = [rng.choice(whole)[0]] if whole and name in OF_SOURCE else []
    if name in OF_SOURCE and not source:
        name, weighted, whole = "degree", False, read(path, False)
    parts = sorted(path.glob("*")) if path.is_dir() else [path]
    victim = rng.choice(parts)
    other = rng.choice(parts).read_bytes()
    if other == victim.read_bytes():
        written(folder / "other", rng, frame(rng, rng.choice(KINDS), "int64", 30))
        other = (folder / "other").read_bytes()
    late = rng.random() < 0.5 and rng.choice(["dask", "arrow"])
    made = None
    if late:
        try:
            made = dd.read_parquet(path, filesystem="fsspec" if late == "dask" else "arrow")
        except Exception:
            return "no frame"  # Dask does not take files that differ so
    how = "nothing" if rng.random() < 0.1 else damage(victim, rng, other)
    options = {**OPTIONS.get(name, {})}
    text = f"{name}({source}) {'weighted' if weighted else ''} late={late} {how} of {victim.name}"
    if made is not None:
        given = {"source": "src", "destination": "dst"}

        def call():
            graph = made.graph(**given)
            return getattr(graph, name)(*source, **options).compute()

        found, error = outcome(call)
        said = str(error)
    else:
        words = [name, path, *[f"--source={source[0]}" for _ in source]]
        words += [f"--{key.replace('_', '-')}={value}" for key, value in options.items()]
        found, said = commanded(words, folder / "out")
        error = None
    if found is None:
        named = victim.name in said or str(path) in said
        if not named and (isinstance(error, UnreadableParquet) or "Parquet" in said):
            raise Wrong(f"an error without the file: {said}: {text}")
        return "an error" if how != "nothing" else "an error of whole files"
    asks_oracle()
    now = [read(path, weighted)]
    if name in WEIGHTED:  # a file that has come may have brought weights, or none
        now.append(read(path, not weighted))
    wrongs = [check(name, found, rows, source) for rows in (*now, whole)]
    if None not in wrongs:
        raise Wrong(f"{wrongs}: {text}")
    return "right"


@pytest.mark.timeout(0)
def test_parquet(fuzz_cases, tmp_path):
    counts = run(case, fuzz_cases, tmp_path)
    assert counts["right"] > fuzz_cases / 10
    assert counts["an error"] > fuzz_cases / 10
