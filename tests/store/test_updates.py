"""Updates of saved graphs: what is there afterwards is what building the same rows anew gives, bit for bit."""

import json
import pickle
import shutil
from unittest import mock

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from method_calls import IN_PLACES, METHODS

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.store import update
from dask_graphgpu.store.saved import open_growth

SMALL = st.integers(0, 8)
PAIRS = st.tuples(SMALL, SMALL)
ROWS = st.lists(st.tuples(SMALL, SMALL, st.integers(1, 4)), max_size=12)
DELTAS = st.lists(st.tuples(ROWS, st.lists(PAIRS, max_size=4)), max_size=20)
IDS = {
    "integers": lambda numbers: np.asarray(numbers, "int64") * 3 - 5,
    "strings": lambda numbers: [f"v{number}" for number in numbers],
}
CALLS = {
    "degree": lambda graph: graph.degree(),
    "components": lambda graph: graph.weakly_connected_components(),
    "pagerank": lambda graph: graph.pagerank(max_iterations=20, tolerance=0),
    "forest": lambda graph: graph.minimum_spanning_forest(),
    "cores": lambda graph: graph.core_number(),
    "edges": lambda graph: graph.k_core(0),
}


def frame_of(rows, ids, weight="int64"):
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    made = pd.DataFrame({"src": ids(columns[0]), "dst": ids(columns[1])})
    if ids is IDS["strings"]:
        made = made.astype("str")
    return made.assign(weight=np.asarray(columns[2], weight))


class Model:
    """The rows that are to be there, as a list."""

    def __init__(self, rows, directed):
        self.rows, self.directed = list(rows), directed

    def update(self, added, removed):
        gone = {*removed} | (set() if self.directed else {pair[::-1] for pair in removed})
        self.rows = [row for row in self.rows if row[:2] not in gone] + list(added)


def is_same(found, wanted):
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)


@given(
    rows=ROWS,
    deltas=DELTAS,
    kind=st.sampled_from([*IDS]),
    weight=st.sampled_from(["int64", "float64", "float32"]),
    options=st.fixed_dictionaries(
        {
            "directed": st.booleans(),
            "order": st.sampled_from(["input", "degree"]),
            "duplicates": st.sampled_from(["auto", "keep", "sum", "min"]),
            "layout": st.sampled_from(["rows", "rows", "layered"]),
        }
    ),
    names_all=st.booleans(),
    often=st.booleans(),
)
def test_updates_are_as_building_anew(
    tmp_path_factory, rows, deltas, kind, weight, options, names_all, often
):
    ids, path = IDS[kind], tmp_path_factory.mktemp("updates") / "saved"
    vertices = pd.DataFrame({"vertex": ids(range(3, 6)), "prior": [0.5, np.nan, 1.5]})
    more = {"vertices": vertices} if names_all else {}
    if not rows and not names_all:
        rows = [(1, 2, 3)]
    frame_of(rows, ids, weight).graph(**options, **more).save(path)
    model, graph = Model(rows, options["directed"]), dg.load(path)
    for i, (added, removed) in enumerate(deltas):
        model.update(added, removed)
        gone = frame_of([(*pair, 1) for pair in removed], ids)[["src", "dst"]]
        graph = graph.update(frame_of(added, ids, weight), gone)
        assert graph.generation == i + 1
        if often and i % 4 == 3:
            graph = graph.compact()
    if not model.rows and not names_all:
        assert graph.num_vertices() == 0
        return
    anew = frame_of(model.rows, ids, weight).graph(**options, **more)
    assert graph.num_edges() == anew.num_edges()
    assert graph._input.saved.vertices == anew.num_vertices()
    for call in CALLS.values():
        with np.errstate(all="ignore"):
            is_same(call(graph).compute(), call(anew))


RNG = np.random.default_rng(5)
MANY = pd.DataFrame(
    {
        "src": RNG.integers(0, 1000, 12_000),
        "dst": RNG.integers(0, 1000, 12_000),
        "weight": RNG.random(12_000) + 0.1,
        "toll": RNG.integers(0, 9, 12_000),
    }
)


def pairs_of(frame):
    return pd.MultiIndex.from_frame(frame[["src", "dst"]])


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A saved graph after two updates, for each direction, and the rows that are there."""
    made = {}
    base, first, second = MANY[:9000], MANY[9000:11000], MANY[11000:]
    gone = [base[::9][["src", "dst"]], pd.concat([base[1::9], first[::3]])[["src", "dst"]]]
    for directed in (True, False):
        path = tmp_path_factory.mktemp("grown") / "saved"
        base.graph(directed=directed, order="degree").save(path, columns=["toll"])
        rows = base
        for added, removed in zip((first, second), gone, strict=True):
            dg.load(path).update(added, removed)
            pairs = pairs_of(removed)
            if not directed:
                pairs = pairs.append(pairs.swaplevel())
            rows = pd.concat([rows[~pairs_of(rows).isin(pairs)], added])
        made[directed] = dg.load(path), rows.reset_index(drop=True)
    return made


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("method", [*METHODS, *IN_PLACES])
def test_every_method_gives_what_building_anew_gives(grown, method, directed):
    graph, rows = grown[directed]
    call = (METHODS | IN_PLACES)[method]

    def answer(of):
        try:
            found = call(of)
            return found.compute() if hasattr(found, "compute") else found
        except errors.GraphError as error:
            return str(error)

    found, wanted = answer(graph), answer(rows.graph(directed=directed, order="degree"))
    if isinstance(wanted, str):
        assert found == wanted
    else:
        is_same(found, wanted)


@pytest.mark.parametrize("kind", ["two columns", "strings", "objects", "narrow", "Arrow", "polars"])
def test_ids_of_all_kinds(tmp_path, kind):
    rows = MANY[:600] % 40
    options = {"directed": False}

    def kept(frame):
        frame = frame.assign(weight=frame["toll"] + 1)
        if kind == "two columns":
            return frame.assign(
                a=frame.src % 7, b="v" + frame.src.astype(str), c=frame.dst % 7
            ).assign(d="v" + frame.dst.astype(str))
        if kind == "narrow":
            return frame.astype({"src": "int16", "dst": "int32", "weight": "float32"})
        if kind in ("strings", "objects", "Arrow"):
            frame = frame.assign(src="v" + frame.src.astype(str), dst="v" + frame.dst.astype(str))
        if kind == "objects":
            return frame.astype({"src": object, "dst": object})
        return frame.convert_dtypes(dtype_backend="pyarrow") if kind == "Arrow" else frame

    if kind == "two columns":
        options |= {"source": ["a", "b"], "destination": ["c", "d"]}
    base, added, removed = (kept(part) for part in (rows[:500], rows[500:], rows[100:120]))
    left = kept(rows[:500])
    both = pd.concat(
        [removed[["src", "dst"]], removed[["dst", "src"]].set_axis(["src", "dst"], axis=1)]
    )
    left = left[~pairs_of(left).isin(pairs_of(both))]
    base.graph(**options).save(tmp_path / "saved")
    given = pl.from_pandas(added) if kind == "polars" else added
    grown = dg.load(tmp_path / "saved").update(given, removed)
    anew = pd.concat([left, added], ignore_index=True).graph(**options)
    for method in ("degree", "pagerank"):
        is_same(getattr(grown, method)().compute(), getattr(anew, method)())
    grown = grown.compact()
    is_same(grown.pagerank().compute(), anew.pagerank())
    is_same(
        grown.pagerank().compute(), dg.load(tmp_path / "saved", verify=True).pagerank().compute()
    )


EDGES = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1], "weight": [1, 2, 3]})


@pytest.fixture
def saved(tmp_path):
    EDGES.graph().save(tmp_path / "saved")
    return tmp_path / "saved"


@pytest.mark.parametrize(
    ("append", "remove", "what"),
    [
        (EDGES[["src", "dst"]], None, "weight"),
        (EDGES.assign(src=[*"abc"], dst=[*"bca"]), None, "convert them"),
        (EDGES.assign(weight=[1, -2, 3]), None, "negative"),
        (EDGES.assign(weight=[1, 0.5, 3]), None, "int64 does not hold"),
        (EDGES.assign(src=pd.array([1, None, 3], "Int64")), None, "null"),
        (None, EDGES[["src"]], "dst"),
        (None, [1, 2], "DataFrame"),
    ],
)
def test_rows_that_are_none(saved, append, remove, what):
    before = sorted((path.name, path.stat().st_mtime_ns) for path in saved.iterdir())
    with pytest.raises(errors.InvalidEdges, match=what):
        dg.load(saved).update(append, remove)
    assert before == sorted((path.name, path.stat().st_mtime_ns) for path in saved.iterdir())
    assert dg.load(saved).generation == 0


def test_ids_that_do_not_fit(tmp_path):
    EDGES.astype({"src": "int8", "dst": "int8"}).graph().save(tmp_path / "saved")
    with pytest.raises(errors.InvalidEdges, match="do not fit int8"):
        dg.load(tmp_path / "saved").append(EDGES.assign(src=300))


@pytest.mark.parametrize("call", ["append", "remove", "compact", "changes"])
def test_graphs_that_are_not_saved(call):
    graph = EDGES.graph()
    with pytest.raises(errors.InvalidArgument, match=r"load\(path\)"):
        getattr(graph, call)(*([] if call == "compact" else [0 if call == "changes" else EDGES]))
    assert graph.generation is None
    assert graph.persist().generation is None


def test_nothing_to_do(saved):
    with pytest.raises(errors.InvalidArgument, match="append=, remove= or both"):
        dg.load(saved).update()


def test_a_vertex_without_rows_goes_but_for_those_of_the_vertices_frame(tmp_path):
    vertices = pd.DataFrame({"vertex": [2, 7]})
    EDGES.graph(vertices=vertices).save(tmp_path / "saved")
    found = dg.load(tmp_path / "saved").remove(EDGES)
    assert found.degree().compute()["vertex"].tolist() == [2, 7]
    assert found.num_vertices() == 2
    assert found.num_edges() == 0
    again = found.append(EDGES[:1])
    assert again.degree().compute()["vertex"].tolist() == [1, 2, 7]


def test_a_graph_that_is_emptied_and_filled_again(tmp_path):
    for directed in (True, False):
        path = tmp_path / str(directed)
        EDGES.graph(directed=directed).save(path)
        empty = dg.load(path).remove(EDGES)
        assert empty.num_vertices() == 0
        for graph in (empty, empty.compact()):
            assert graph.num_edges() == 0
        found = dg.load(path).append(EDGES)
        is_same(found.pagerank().compute(), EDGES.graph(directed=directed).pagerank())


def test_the_root_of_layers_stays(tmp_path):
    EDGES.graph(layout="layered", root=1).save(tmp_path / "saved")
    graph = dg.load(tmp_path / "saved")
    with pytest.raises(errors.InvalidArgument, match="counted from 1"):
        graph.remove(EDGES.iloc[[0, 2]])
    is_same(graph.remove(EDGES[:1]).bfs(1).compute(), EDGES[1:].graph().bfs(1))


# -- the log ---------------------------------------------------------------------------------------------


def test_changes(saved):
    graph = dg.load(saved)
    one = graph.append(pd.DataFrame({"src": [5, 6], "dst": [6, 5], "weight": [1, 2]}))
    two = one.update(EDGES[:1], pd.DataFrame({"src": [5, 1, 8], "dst": [6, 2, 8]}))
    assert [each.generation for each in (graph, one, two)] == [0, 1, 2]
    added, removed = two.changes(0)
    pd.testing.assert_frame_equal(
        added, pd.DataFrame({"src": [6, 1], "dst": [5, 2], "weight": [2, 1]})
    )
    assert sorted(removed.itertuples(index=False, name=None)) == [(1, 2), (5, 6)]
    added, removed = two.changes(1)
    assert added["src"].tolist() == [1]
    assert all(frame.empty for frame in two.changes(2))
    with pytest.raises(errors.InvalidArgument, match="generation of the graph is 2"):
        two.changes(3)
    compacted = two.compact()
    assert compacted.generation == 2
    with pytest.raises(errors.InvalidArgument, match="known are changes since 2 to 2"):
        compacted.changes(1)
    assert compacted.append(EDGES).generation == 3


def test_the_newest_entries_are_kept_by_compaction(tmp_path):
    MANY.graph().save(tmp_path / "saved")
    graph = dg.load(tmp_path / "saved").append(MANY[:900]).append(MANY[:700])
    added, _ = graph.compact().changes(1)
    pd.testing.assert_frame_equal(added, MANY[:700].drop(columns="toll"), check_like=True)
    again = dg.load(tmp_path / "saved")
    with pytest.raises(errors.InvalidArgument, match="known are changes since 1 to 2"):
        again.changes(0)


def test_the_log_is_put_into_the_files_where_it_pays(saved, monkeypatch):
    monkeypatch.setattr(update, "MOST_ENTRIES", 3)
    graph, bases = dg.load(saved), []
    for number in range(5):
        graph = graph.append(EDGES.assign(src=number))
        bases.append(json.loads((saved / "manifest.json").read_text())["updates"]["base"])
    assert bases == [0, 0, 0, 4, 4]
    monkeypatch.setattr(update, "FEW", 5)
    graph.append(EDGES)
    assert json.loads((saved / "manifest.json").read_text())["updates"]["base"] == 6


def test_rows_of_some_vertices_are_read_alone(grown):
    for directed, (graph, rows) in grown.items():
        found = graph._input.saved
        growth = open_growth(str(found.path), found.fingerprint)
        numbers, known = growth.numbers_of([pa.array([3, 17, 5000])])
        assert known.tolist() == [True, True, False]
        for incoming in (False, True):
            here, there = growth.edges_at(numbers[:2], incoming=incoming)
            ends = ("dst", "src") if incoming else ("src", "dst")
            wanted = {(a, b) for a, b in rows[[*ends]].itertuples(index=False) if a in (3, 17)}
            if not directed:
                wanted |= {(b, a) for a, b in rows[[*ends]].itertuples(index=False) if b in (3, 17)}
            ids = {}
            for number, (vertex,) in enumerate(
                zip(np.asarray(growth.base.ids.columns[0]), strict=True)
            ):
                ids[int(growth.base.ids._dense(np.array([number]))[0])] = int(vertex)
            ids |= {
                growth.base.num_vertices + i: v for i, v in enumerate(growth.fresh[0].to_pylist())
            }
            assert {
                (ids[a], ids[b]) for a, b in zip(here.tolist(), there.tolist(), strict=True)
            } == wanted


# -- files -----------------------------------------------------------------------------------------------


def test_files_that_are_there_are_not_written(tmp_path):
    MANY.graph().save(tmp_path / "saved")
    before = {path.name: path.stat().st_ino for path in (tmp_path / "saved").iterdir()}
    dg.load(tmp_path / "saved").append(MANY[:5])
    after = {path.name: path.stat().st_ino for path in (tmp_path / "saved").iterdir()}
    assert {name for name in after if after[name] != before.get(name)} == {
        "manifest.json", "log-0000000001-added.arrow",
    }  # fmt: skip


def test_who_loaded_before_an_update_goes_on_and_cannot_update(saved):
    old = dg.load(saved)
    new = old.append(EDGES.assign(src=9))
    is_same(old.degree().compute(), EDGES.graph().degree())
    with pytest.raises(errors.InvalidSavedGraph, match="load it again"):
        old.append(EDGES)
    assert new.generation == 1


def test_a_folder_that_is_gone(saved):
    graph = dg.load(saved)
    shutil.rmtree(saved)
    for change in (lambda: graph.append(EDGES), graph.compact, lambda: graph.changes(0)):
        with pytest.raises(errors.InvalidSavedGraph, match="there is no folder"):
            change()


def test_two_at_once(saved):
    """While an update is written another one fails, and changes nothing."""
    first, second = dg.load(saved), dg.load(saved)
    met = []

    class Meeting(update.Growth):
        def __init__(self, *given):
            super().__init__(*given)
            if not met:
                met.append(True)
                with pytest.raises(errors.OutputError, match="being updated"):
                    second.append(EDGES)

    with mock.patch.object(update, "Growth", Meeting):
        done = first.append(EDGES)
    assert met
    assert done.generation == dg.load(saved).generation == 1


def test_a_save_meanwhile_stays(saved):
    first = dg.load(saved)

    class Meeting(update.Growth):
        def __init__(self, *given):
            super().__init__(*given)
            EDGES[:1].graph().save(saved)

    with (
        mock.patch.object(update, "Growth", Meeting),
        pytest.raises(errors.GraphError, match="load it again"),
    ):
        first.append(EDGES)
    assert dg.load(saved).num_edges() == 1


def test_a_damaged_log_is_found(saved):
    dg.load(saved).append(EDGES)
    file = saved / "log-0000000001-added.arrow"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(errors.InvalidSavedGraph, match="damaged"):
        dg.load(saved).degree().compute()


def test_source_files(tmp_path):
    folder = tmp_path / "edges"
    folder.mkdir()
    EDGES.to_parquet(folder / "a.parquet")
    dd.read_parquet(folder).graph().save(tmp_path / "saved")
    EDGES.assign(src=8).to_parquet(folder / "b.parquet")
    with pytest.raises(errors.InvalidSavedGraph, match="is new"):
        dg.load(tmp_path / "saved")
    stale = dg.load(tmp_path / "saved", stale="ignore")
    stale.append(dd.read_parquet(folder / "b.parquet"))
    assert dg.load(tmp_path / "saved").num_edges() == 6
    EDGES.assign(src=88).to_parquet(folder / "b.parquet")
    with pytest.raises(errors.InvalidSavedGraph, match="written again"):
        dg.load(tmp_path / "saved")


def test_what_is_sent_to_a_worker_is_opened_there(saved):
    graph = dg.load(saved).update(EDGES.assign(src=9), EDGES[:1])
    (held,) = dask.compute(graph._input.held)
    sent = pickle.dumps(held)
    assert len(sent) < 1000
    assert "ids" not in vars(held)
    again = pickle.loads(sent)
    assert again.num_vertices == 4
    assert again.num_rows == 5
    assert again.under("one")[1].num_edges == held.under("one")[1].num_edges == 5
