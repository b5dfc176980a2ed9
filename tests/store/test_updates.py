"""Updates of saved graphs: what is there afterwards is what building the same rows anew gives, bit for bit."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import dask_graphgpu as dg

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


@settings(max_examples=40, deadline=None)
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
    for name, call in CALLS.items():
        with np.errstate(all="ignore"):
            is_same(call(graph).compute(), call(anew)), name
