"""Components of a saved graph that was updated, of those that it had before: what the whole graph gives."""

import dask.dataframe as dd
import pandas as pd
import pytest
from grown_graphs import IDS, PAIRS, SMALL, frame_of, saved
from hypothesis import given, settings
from hypothesis import strategies as st

import dask_graphgpu as dg
from dask_graphgpu import errors


def components(graph, **given):
    return graph.weakly_connected_components(**given).compute()


@settings(max_examples=6)
@given(
    first=st.lists(st.tuples(SMALL, SMALL), max_size=12),
    deltas=st.lists(st.tuples(PAIRS, PAIRS), min_size=20, max_size=20),
    directed=st.booleans(),
    kind=st.sampled_from(sorted(IDS)),
    listed=st.booleans(),
    draw=st.randoms(use_true_random=False),
)
def test_a_chain_of_updates_gives_what_the_whole_graph_gives(
    first, deltas, directed, kind, listed, draw, tmp_path_factory
):
    path, ids = tmp_path_factory.mktemp("since") / "saved", IDS[kind]
    vertices = pd.DataFrame({"vertex": ids([3, 13])}) if listed else None
    frame_of(first, ids).graph(directed=directed, vertices=vertices).save(path)
    graph = dg.load(path)
    kept, compacted = [components(graph)], 0
    for added, removed in deltas:
        graph = graph.update(append=frame_of(added, ids), remove=frame_of(removed, ids))
        if draw.random() < 0.1:
            graph, compacted = graph.compact(), graph.generation
        since = draw.randrange(max(0, len(kept) - 4), len(kept))
        wanted = components(graph)
        try:
            found = components(graph, labels=kept[since], since=since)
        except errors.InvalidArgument:
            assert since < compacted  # of what came before some is kept
        else:
            pd.testing.assert_frame_equal(found, wanted)
        kept.append(wanted)


def test_a_component_that_loses_a_row_falls_apart_and_no_other_row_is_read(tmp_path, monkeypatch):
    graph = saved(tmp_path, [(0, 1), (1, 2), (5, 6), (6, 7), (8, 9)])
    old = components(graph)
    graph = graph.update(append=frame_of([(9, 7), (3, 4)]), remove=frame_of([(1, 2)]))
    looked = []
    from dask_graphgpu.partition.growth import Growth

    edges_at = Growth.edges_at
    monkeypatch.setattr(
        Growth, "edges_at", lambda self, rows: looked.append(len(rows)) or edges_at(self, rows)
    )
    found = components(graph, labels=old, since=0)
    assert looked == [2]  # of 0, 1 and 2 the last is gone
    groups = found.groupby("component")["vertex"].apply(lambda ids: [(i + 20) // 7 for i in ids])
    assert [*groups] == [[0, 1], [3, 4], [5, 6, 7, 8, 9]]


def test_labels_may_be_any_that_tell_components_apart_in_any_order_and_kind_of_frame(tmp_path):
    graph = saved(tmp_path, [(0, 1), (2, 3), (4, 5)])
    old = components(graph).assign(
        component=lambda rows: "g" + rows["component"].astype(str), other=1
    )
    graph = graph.update(append=frame_of([(1, 2)]), remove=frame_of([(4, 5)]))
    wanted = components(graph)
    shuffled = old.sample(frac=1, random_state=0)
    for labels in (
        shuffled,
        dd.from_pandas(old, npartitions=3),
        shuffled.astype({"vertex": "int8"}),
    ):
        pd.testing.assert_frame_equal(components(graph, labels=labels, since=0), wanted)


def test_nothing_new_and_nothing_left(tmp_path):
    graph = saved(tmp_path, [(0, 1)])
    old = components(graph)
    pd.testing.assert_frame_equal(components(graph, labels=old, since=0), old)
    graph = graph.remove(frame_of([(0, 1)]))
    found = components(graph, labels=old, since=0)
    pd.testing.assert_frame_equal(found, components(graph))
    assert not len(found)


def test_what_is_not_to_be_had_says_what_to_do(tmp_path):
    frame = frame_of([(0, 1), (2, 3)])
    graph = saved(tmp_path, [(0, 1), (2, 3)])
    old = components(graph)
    graph = graph.append(frame_of([(1, 2)]))
    with pytest.raises(errors.InvalidArgument, match="give labels="):
        graph.weakly_connected_components(since=0)
    with pytest.raises(errors.InvalidArgument, match="since=0 is of saved graphs"):
        frame.graph().weakly_connected_components(labels=old, since=0)
    for wrong in (-1, 1.5, "last", True):
        with pytest.raises(errors.InvalidArgument, match="since="):
            graph.weakly_connected_components(labels=old, since=wrong)
    with pytest.raises(errors.InvalidArgument, match="give one from 0"):
        graph.weakly_connected_components(labels=old, since=2)
    with pytest.raises(errors.InvalidArgument, match="not those of generation 0"):
        components(graph, labels=old[:3], since=0)
    with pytest.raises(errors.InvalidArgument, match="two different labels"):
        components(graph, labels=pd.concat([old, old[:1].assign(component=9)]), since=0)
    with pytest.raises(errors.InvalidVertices, match="labels"):
        components(graph, labels=old.astype({"vertex": "str"}), since=0)
    graph = graph.compact()
    with pytest.raises(errors.InvalidArgument, match="begin from the whole graph"):
        graph.weakly_connected_components(labels=old, since=0)
