"""Peak memory while a graph is built, beside the size of what is read."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow

ROWS = 3_000_000
FEW = 20_000

CHILD = """
import sys
import dask.dataframe as dd
import pandas as pd
import dask_graphgpu

path, weighted, directed = sys.argv[1], sys.argv[2] == "weighted", sys.argv[3] == "directed"


def graph(path):
    weight = "weight" if weighted else None
    return dd.read_parquet(path).graph(weight=weight, directed=directed, ranks=int(sys.argv[6]))


def kilobytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))


graph(sys.argv[4]).persist()  # the same types: compiles the kernels
resident = kilobytes("VmRSS")
kept = graph(path).persist()
# Not ru_maxrss, which a process has from the one that started it.
peak = kilobytes("VmHWM")
assert kept.explain().rows == int(sys.argv[5])
print((peak - resident) * 1024)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Random edges over integers, with weights, as Parquet: many rows, and few of the same types."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(20)
    for name, number in (("many", ROWS), ("few", FEW)):
        ends = rng.integers(0, number // 10, (2, number))
        table = pa.table({"src": ends[0], "dst": ends[1], "weight": rng.random(number)})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=1 << 20)
    yield folder
    for file in folder.iterdir():
        file.unlink()


def child(*words):
    """What a process of its own prints."""
    command = [sys.executable, "-c", CHILD, *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


@pytest.mark.parametrize(
    ("columns", "kind"),
    [(["src", "dst"], "unweighted"), (["src", "dst", "weight"], "weighted")],
    ids=["two columns", "three columns"],
)
@pytest.mark.parametrize("directed", ["directed"])
def test_peak_while_building(files, columns, kind, directed):
    few, many = files / "few.parquet", files / "many.parquet"
    size = ROWS * 8 * len(columns)
    # What is measured is the peak of the process so far, and compiling kernels has one of its own:
    # a first process leaves them to the second in the cache.
    child(few, kind, directed, few, FEW, 1)
    extra = int(child(many, kind, directed, few, ROWS, 1))
    assert size / 4 < extra <= 3 * size, f"{extra / size:.2f} times the bytes of the columns"


def shuffled_grid(side, rng):
    """A grid under random ids, its edges in random order, with weights."""
    ids = rng.permutation(side * side).reshape(side, side)
    source = np.r_[ids[:, :-1].ravel(), ids[:-1].ravel()]
    destination = np.r_[ids[:, 1:].ravel(), ids[1:].ravel()]
    order = rng.permutation(len(source))
    ends = {"src": source[order], "dst": destination[order]}
    return pa.table(ends | {"weight": rng.random(len(source))})


@pytest.mark.parametrize(("directed", "ranks"), [("directed", 2), ("undirected", 4)])
def test_peak_on_ranks_where_most_neighbours_are_remote(tmp_path, directed, ranks, monkeypatch):
    """Ranks of one process; of a grid each vertex has two edges only, and tables weigh most.

    Memory is given back to the system as by Dask's workers, which are started with this setting.
    """
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    few, many = (
        shuffled_grid(100, np.random.default_rng(1)),
        shuffled_grid(1500, np.random.default_rng(2)),
    )
    for name, table in (("few", few), ("many", many)):
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=1 << 19)
    few_path, many_path = tmp_path / "few.parquet", tmp_path / "many.parquet"
    child(few_path, "weighted", directed, few_path, few.num_rows, ranks)
    extra = int(child(many_path, "weighted", directed, few_path, many.num_rows, ranks))
    size = many.num_rows * 8 * 3
    assert size < extra <= 3 * size, f"{extra / size:.2f} times the bytes of the columns"
