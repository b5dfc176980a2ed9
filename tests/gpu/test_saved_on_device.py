"""Saved graphs that are loaded onto the GPU give cuDF frames, as graphs of cuDF frames do."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_graphgpu as dg
from dask_graphgpu.errors import EngineUnavailable, InvalidArgument

cudf = pytest.importorskip("cudf")
pytest.importorskip("dask_cudf")

pytestmark = pytest.mark.gpu


def edges(kind):
    random = np.random.default_rng(3)
    ends = (900 * random.random((5000, 2)) ** (3 if kind == "skewed" else 1)).astype(np.int64)
    frame = pd.DataFrame(ends, columns=["src", "dst"])
    frame["weight"] = random.integers(1, 65, len(frame))
    if kind == "strings":
        frame["src"], frame["dst"] = "v" + frame["src"].astype(str), "v" + frame["dst"].astype(str)
    return frame


def answers(graph, source):
    for name, arguments in {
        "bfs": (source,),
        "sssp": (source,),
        "pagerank": (),
        "degree": (),
        "vertices": (),
        "triangle_count": (),
    }.items():
        yield name, getattr(graph, name)(*arguments)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["random", "skewed", "strings"])
def test_answers_are_those_of_the_frame(kind, directed, tmp_path):
    frame = edges(kind)
    listed = pd.DataFrame({"vertex": ["alone" if kind == "strings" else -1], "x": [0.5]})
    frame.graph(directed=directed, vertices=listed).save(tmp_path / "saved")
    loaded = dg.load(tmp_path / "saved", backend="cudf", npartitions=2)
    graph = cudf.from_pandas(frame).graph(directed=directed, vertices=cudf.from_pandas(listed))
    source = frame["src"].iloc[7]
    for (name, lazy), (_, wanted) in zip(
        answers(loaded, source), answers(graph, source), strict=True
    ):
        assert isinstance(lazy, dd.DataFrame)
        assert isinstance(lazy._meta, cudf.DataFrame)
        found = lazy.compute()
        assert isinstance(found, cudf.DataFrame), name
        found, wanted = (each.to_pandas().reset_index(drop=True) for each in (found, wanted))
        pd.testing.assert_frame_equal(found, wanted.astype(found.dtypes), rtol=1e-9)


def test_nothing_passes_pandas_and_updates_are_there(tmp_path, monkeypatch):
    frame = edges("random")
    frame.iloc[:4000].graph().save(tmp_path / "saved")
    loaded = dg.load(tmp_path / "saved", engine="gpu", backend="cudf")
    wanted = frame.iloc[:4000].graph.degree()
    assert loaded.degree().compute()["out_degree"].sum() == wanted["out_degree"].sum()
    more = loaded.append(frame.iloc[4000:])
    found = more.degree().compute()
    assert isinstance(found, cudf.DataFrame)
    wanted = frame.graph.degree()
    pd.testing.assert_frame_equal(found.to_pandas(), wanted.astype(found.to_pandas().dtypes))
    for kind in (cudf.DataFrame, cudf.Series, cudf.Index):
        monkeypatch.setattr(kind, "to_pandas", None)
    again = dg.load(tmp_path / "saved", engine="gpu", backend="cudf")
    assert len(again.bfs(int(frame["src"].iloc[0])).compute()) == len(wanted)


def test_what_does_not_go_together_is_refused(tmp_path):
    edges("random").graph().save(tmp_path / "saved")
    with pytest.raises(InvalidArgument, match="one rank"):
        dg.load(tmp_path / "saved", backend="cudf", ranks=2)
    with pytest.raises(EngineUnavailable, match="host memory"):
        dg.load(tmp_path / "saved", backend="cudf", engine="cpu")
    edges("random").graph(layout="layered").save(tmp_path / "layers")
    with pytest.raises(EngineUnavailable, match="layered"):
        dg.load(tmp_path / "layers", backend="cudf")
