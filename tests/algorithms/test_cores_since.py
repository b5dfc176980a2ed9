"""Core numbers of a saved graph that was updated, of those that it had before: what the whole graph gives."""

import contextlib

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from grown_graphs import IDS, PAIRS, SMALL, frame_of, saved
from hypothesis import given, settings
from hypothesis import strategies as st

import dask_graphgpu as dg
from dask_graphgpu import errors, since
from dask_graphgpu.kernels.cpu import core_updates
from dask_graphgpu.partition import cores_since


def cores(graph, **given):
    return graph.core_number(**given).compute()


@settings(max_examples=8, deadline=None)
@given(
    first=st.lists(st.tuples(SMALL, SMALL), max_size=40),
    deltas=st.lists(st.tuples(PAIRS, PAIRS), min_size=20, max_size=20),
    directed=st.booleans(),
    kind=st.sampled_from(sorted(IDS)),
    options=st.fixed_dictionaries(
        {
            "order": st.sampled_from(["input", "degree"]),
            "layout": st.sampled_from(["rows", "layered"]),
        }
    ),
    listed=st.booleans(),
    draw=st.randoms(use_true_random=False),
)
def test_a_chain_of_updates_gives_what_the_whole_graph_gives(
    first, deltas, directed, kind, options, listed, draw, tmp_path_factory
):
    path, ids = tmp_path_factory.mktemp("since") / "saved", IDS[kind]
    vertices = pd.DataFrame({"vertex": ids([3, 13])}) if listed else None
    frame_of(first, ids).graph(directed=directed, vertices=vertices, **options).save(path)
    graph = dg.load(path)
    kept, compacted = [cores(graph)], 0
    for added, removed in deltas:
        gone = removed if draw.random() < 0.5 else []
        graph = graph.update(append=frame_of(added, ids), remove=frame_of(gone, ids))
        if draw.random() < 0.1:
            graph, compacted = graph.compact(), graph.generation
        before = draw.randrange(max(0, len(kept) - 4), len(kept))
        wanted = cores(graph)
        known = before >= compacted  # of what came before some is kept
        with contextlib.nullcontext() if known else contextlib.suppress(errors.InvalidArgument):
            found = cores(graph, start=kept[before], since=before)
            pd.testing.assert_frame_equal(found, wanted)
        kept.append(wanted)


@pytest.fixture
def runs(monkeypatch):
    """Names of methods of which an engine peels the whole graph."""
    found = []
    execute = since.execute.execute
    monkeypatch.setattr(
        since.execute, "execute", lambda *given: found.append(given[0]) or execute(*given)
    )
    return found


def drawn(number, seed, within=400):
    """Pairs of which some are near each other, so that there are cores."""
    rng = np.random.default_rng(seed)
    return list(zip(*(rng.integers(0, within, (2, number)) ** 2 // within), strict=True))


def test_only_where_numbers_may_change_rows_are_read(tmp_path, runs, monkeypatch):
    pairs = drawn(3000, 0) + [(i, i + 1) for i in range(400, 3000)]
    graph = saved(tmp_path, pairs, directed=False)
    old = cores(graph)
    graph = graph.update(append=frame_of([(500, 502)]), remove=frame_of([(600, 601)]))
    runs.clear()
    read, rise = [], core_updates.rise

    def counted(*given):
        read.append(rise(*given))
        return read[-1]

    monkeypatch.setattr(core_updates, "rise", counted)
    found = cores(graph, start=old, since=0)
    assert 0 < read[0] < 500  # of 9,000: along the path, up to where it is cut
    assert not runs
    pd.testing.assert_frame_equal(found, cores(graph))
    assert dict(found.values)[20 * 7 - 20] > 2


@pytest.mark.parametrize("directed", [True, False])
def test_more_edges_than_peeling_reads_are_peeled(tmp_path, runs, monkeypatch, directed):
    graph = saved(tmp_path, drawn(3000, 0), directed=directed)
    old = cores(graph)
    graph = graph.append(frame_of(drawn(1000, 1)))
    runs.clear()
    found = cores(graph, start=old, since=0)
    assert not runs
    monkeypatch.setattr(cores_since._Changed, "most", lambda _: 1000)
    pd.testing.assert_frame_equal(cores(graph, start=old, since=0), found)
    assert len(runs) == 1
    monkeypatch.setattr(since, "_FEW", 999)  # then it is not even tried
    monkeypatch.setattr(since, "cores_since", None)
    pd.testing.assert_frame_equal(cores(graph, start=old, since=0), found)
    assert len(runs) == 2
    pd.testing.assert_frame_equal(cores(graph), found)


def test_start_may_be_in_any_order_and_kind_of_frame(tmp_path):
    graph = saved(tmp_path, [(0, 1), (1, 2), (2, 3)])
    old = cores(graph)
    graph = graph.update(append=frame_of([(0, 2), (0, 8)]), remove=frame_of([(2, 3)]))
    wanted = cores(graph)
    assert wanted["core_number"].tolist() == [2, 2, 2, 1]
    shuffled = old.sample(frac=1, random_state=0)
    for start in (
        shuffled,
        dd.from_pandas(old, npartitions=3),
        old.astype({"vertex": "int8", "core_number": "uint8"}).assign(other="a"),
        old.rename(columns={"core_number": "level"}),
    ):
        pd.testing.assert_frame_equal(cores(graph, start=start, since=0), wanted)
    pd.testing.assert_frame_equal(cores(graph, start=wanted, since=1), wanted)
    graph = graph.remove(frame_of([(0, 1), (1, 2), (0, 2), (0, 8)]))
    assert not len(cores(graph, start=old, since=0))


def test_rows_of_vertices_that_only_came_later_are_refused(tmp_path):
    graph = saved(tmp_path, [(0, 1), (1, 2), (2, 3)])
    old = cores(graph)
    graph = graph.append(frame_of([(3, 4)]))  # 4 comes
    graph = graph.update(remove=frame_of([(0, 1), (3, 4)]))  # 0 and 4 go
    middle = cores(graph)
    graph = graph.append(frame_of([(0, 3), (4, 5), (1, 5)]))  # these are there again, and 5 is
    later = pd.DataFrame({"vertex": [4], "core_number": [1]})
    for before, right in ((0, old), (2, middle)):
        pd.testing.assert_frame_equal(cores(graph, start=right, since=before), cores(graph))
    for number, before, start in (
        (1, 0, pd.concat([old, later])),
        (2, 0, cores(graph)),  # all that are there now
        (1, 2, pd.concat([middle, old[:1]])),
        (3, 2, cores(graph)),
    ):
        with pytest.raises(errors.InvalidArgument, match=f"{number} of its ids were no vertices"):
            cores(graph, start=start, since=before)


def test_what_cannot_be_right_says_what_to_do(tmp_path):
    frame = frame_of([(0, 1), (1, 2), (0, 2), (2, 3)])
    graph = saved(tmp_path, [(0, 1), (1, 2), (0, 2), (2, 3)])
    old = cores(graph)
    graph = graph.append(frame_of([(3, 4), (1, 3)]))
    for one in ({"start": old}, {"since": 0}):
        with pytest.raises(errors.InvalidArgument, match="go together"):
            graph.core_number(**one)
    with pytest.raises(errors.InvalidArgument, match="start is a str"):
        graph.core_number(start="column", since=0)
    with pytest.raises(errors.InvalidArgument, match="since=0 is of saved graphs"):
        frame.graph().core_number(start=old, since=0)
    wrong = {
        "more than one row": pd.concat([old, old[:1]]),
        "had edges are missing": old[1:],
        "were no vertices": pd.concat([old, old[:1].assign(vertex=5)]),
        "than the degree": old.assign(core_number=[2, 2, 5, 1]),
        "or 0 with edges": old.assign(core_number=[2, 0, 2, 1]),
        "double in place of core numbers": old.assign(core_number=1.0),
        "integers of at least 0": old.assign(core_number=[2, 2, 2, -1]),
        "are null": old.assign(core_number=pd.array([2, 2, 2, None], "Int64")),
    }
    for message, start in wrong.items():
        with pytest.raises(errors.InvalidArgument, match=message):
            cores(graph, start=start, since=0)
    with pytest.raises(errors.InvalidVertices, match="start"):
        cores(graph, start=old.astype({"vertex": "str"}), since=0)
    twice = graph.append(frame_of([(1, 2)]))  # the numbers of both are looked at
    now = cores(twice).assign(core_number=[2, 3, 3, 2, 1])
    with pytest.raises(errors.InvalidArgument, match="neighbours allow"):
        cores(twice, start=now, since=1)
    graph = twice.compact()
    with pytest.raises(errors.InvalidArgument, match="begin from the whole graph"):
        graph.core_number(start=old, since=0)
