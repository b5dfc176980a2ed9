"""Components of a graph beyond the limit in one call: the answer of memory, with no rows and nothing on disk."""

import re

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu
from places import skewed, sparse

from dask_graphgpu import last_report
from dask_graphgpu.errors import InvalidEdges, LimitTooSmall
from dask_graphgpu.io import parquet

pytestmark = on_one_cpu

IDS = {
    "small": lambda ids: ids.astype("int16"),
    "wide": lambda ids: ids * 10**14 - 5 * 10**16,
    "near the end": lambda ids: np.iinfo(np.int64).max - ids,
    "strings": lambda ids: "v" + ids.astype(str),
}


@pytest.fixture
def limited(tmp_path):
    return {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "pages")],
    }


def same(frame, limited, **options):
    """Hold that the answer is that of memory, and that no row is written."""
    wanted = frame.graph(**options).weakly_connected_components()
    with dask.config.set(limited):
        graph = frame.graph(**options)
        assert "bytes in pages" in str(graph.explain())
        found = graph.weakly_connected_components()
    assert last_report().attrs["disk_bytes"] == 0
    pd.testing.assert_frame_equal(found, wanted)
    return found


def many_components():
    """Trees of all sizes, each edge many times and in both directions, and loops."""
    rng = np.random.default_rng(2)
    child = np.arange(1, 2500)
    parent = child - 1 - rng.integers(0, 3, len(child)) % child
    kept = rng.random(len(child)) < 0.7
    ends = np.stack([child[kept], parent[kept]])
    ends = np.concatenate([ends, ends[::-1], [[2600, 7], [2600, 7]]], axis=1)
    order = rng.permutation(np.tile(np.arange(ends.shape[1]), 20))
    return pd.DataFrame(ends[:, order].T, columns=["src", "dst"])


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("ids", IDS)
def test_ids(limited, ids, directed):
    frame = many_components().apply(IDS[ids])
    found = same(frame, limited, directed=directed)
    assert 300 < found["component"].nunique() < len(found) - 300


def test_several_id_columns_and_a_vertices_frame(limited):
    frame = many_components()
    frame = frame.assign(a=frame["src"] % 7, b=frame["dst"] % 7)
    same(frame, limited, source=["src", "a"], destination=["dst", "b"])
    alone = pd.DataFrame({"vertex": np.arange(-50, 60)})
    found = same(frame[["src", "dst"]], limited, vertices=alone)
    assert found["component"].iloc[:50].tolist() == [*range(-50, 0)]


def test_weights_are_not_read(limited):
    """Not to tell edges apart either, but by a score they are."""
    frame = skewed()
    frame["weight"] = frame["weight"].where(frame.index > 5)  # some are missing
    same(frame, limited, directed=False)
    with dask.config.set(limited | {"graphgpu.host-memory-limit": "1500kB"}):
        skewed().graph().weakly_connected_components(thresholds=3)
        assert last_report().attrs["disk_bytes"] > 0


@pytest.mark.parametrize("duplicates", ["sum", "keep", "auto"])
def test_a_weight_that_only_some_files_have_is_not_read(limited, tmp_path, duplicates):
    frame = many_components()
    frame.assign(weight=1).to_parquet(tmp_path / "0.parquet", row_group_size=5000)
    frame.to_parquet(tmp_path / "1.parquet", row_group_size=5000)
    wanted = frame.graph(directed=False).weakly_connected_components()
    for settings in ({}, limited):
        with dask.config.set(settings | {"scheduler": "threads"}):
            files = dd.read_parquet([tmp_path / "0.parquet", tmp_path / "1.parquet"])
            graph = files.graph(weight="weight", directed=False, duplicates=duplicates)
            found = graph.weakly_connected_components().compute()
        pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


def test_several_files_leave_nothing_on_disk(limited, tmp_path):
    frame = many_components()
    wanted = frame.graph().weakly_connected_components()
    parts = [frame[i::4] for i in range(4)]
    (tmp_path / "edges").mkdir()
    for i, part in enumerate(parts):
        part.to_parquet(tmp_path / "edges" / f"{i}.parquet", row_group_size=5000)
    with dask.config.set(limited | {"scheduler": "threads"}):
        found = dd.read_parquet(tmp_path / "edges").graph().weakly_connected_components().compute()
    assert last_report().attrs["disk_bytes"] == 0
    assert not (tmp_path / "pages").exists()
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


def test_the_limit_that_an_error_names_is_enough_and_less_than_rows_need(limited):
    frame = sparse()
    with dask.config.set(limited | {"graphgpu.host-memory-limit": "50kB"}):
        with pytest.raises(LimitTooSmall, match=r"graph of (at least )?\d,\d+ vertices") as raised:
            frame.graph().weakly_connected_components()
        with pytest.raises(LimitTooSmall) as with_rows:
            frame.graph().strongly_connected_components()
    named, of_rows = (
        int(re.search(r"needs ([\d,]+) bytes", str(error.value))[1].replace(",", ""))
        for error in (raised, with_rows)
    )
    assert named < of_rows
    same(frame, limited | {"graphgpu.host-memory-limit": named})


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("change", ["a row less", "an id more", "an id between"])
def test_files_that_change_between_two_looks_are_an_error(
    limited, tmp_path, monkeypatch, ids, change
):
    """Of a build without rows and of one with them, whatever ids are looked up in."""
    frame, path = many_components(), tmp_path / "edges.parquet"
    if change == "a row less":
        changed = frame[:-1]
    else:  # none of the ids is 2601, or 2550
        changed = frame.assign(
            src=frame["src"].replace(7, 2601 if change == "an id more" else 2550)
        )
    read = parquet.read_tables

    def reading(*given, **options):
        path.unlink(missing_ok=True)
        looks.append((frame if not looks else changed).apply(IDS[ids]))
        looks[-1].to_parquet(path, row_group_size=5000)
        return read(*given, **options)

    monkeypatch.setattr(parquet, "read_tables", reading)
    for method in ("weakly_connected_components", "strongly_connected_components"):
        looks = []
        frame.apply(IDS[ids]).to_parquet(path, row_group_size=5000)
        with dask.config.set(limited | {"scheduler": "synchronous"}):
            wanted = getattr(dd.read_parquet(path).graph(), method)()
            with pytest.raises(InvalidEdges, match="the edges changed while they were read"):
                wanted.compute()
        assert len(looks) == 2
