"""Components of new edges with labels of an earlier result: those of all edges, and of any labels what is written."""

import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from commands import call, refused, result
from hypothesis import given, settings
from hypothesis import strategies as st
from places import FRAMES, rows_of
from strategies import KINDS, partitioned

from dask_graphgpu import errors, load

OLD = pd.DataFrame({"vertex": [1, 2, 3, 5, 6], "component": [1, 1, 1, 5, 5]})
NEW = pd.DataFrame({"src": [3, 9], "dst": [5, 0]})
BOTH = {0: 0, 1: 1, 2: 1, 3: 1, 5: 1, 6: 1, 9: 0}


def of(frame):
    frame = rows_of(frame)
    assert list(frame["vertex"]) == sorted(frame["vertex"])
    return dict(zip(frame["vertex"], frame["component"], strict=True))


def components(edges, labels=None, **options):
    return edges.graph(**options).weakly_connected_components(labels=labels)


def joined(edges, labels):
    """The smallest id in each one's component, where labels are vertices too."""
    graph = nx.Graph()
    graph.add_edges_from((("id", a), ("id", b)) for a, b in edges)
    graph.add_edges_from((("id", vertex), ("label", label)) for vertex, label in labels)
    found = {}
    for part in nx.connected_components(graph):
        ids = [value for kind, value in part if kind == "id"]
        found |= dict.fromkeys(ids, min(ids, default=None))
    return found


@settings(max_examples=8)
@given(data=st.data(), kind=st.sampled_from([name for name in KINDS if name != "category"]))
def test_a_chain_of_new_edges_gives_what_all_of_them_give(data, kind):
    dtype, values = KINDS[kind]
    ids = data.draw(st.lists(values, min_size=4, max_size=60, unique=True))
    ends = st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=6)
    deltas = [data.draw(ends) for _ in range(20)]
    labels, every = None, []
    for delta in deltas:
        every += delta
        edges = pd.DataFrame(delta, columns=["src", "dst"]).astype(dtype)
        labels = components(edges, labels)
        whole = components(pd.DataFrame(every, columns=["src", "dst"]).astype(dtype))
        pd.testing.assert_frame_equal(labels, whole)


@given(
    edges=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=15),
    labels=st.dictionaries(st.integers(-5, 35), st.integers(0, 9), max_size=25),
    names=st.sampled_from([str, float, int, lambda label: f"golden {label}", lambda label: -label]),
    seed=st.integers(0, 9),
)
def test_any_labels_join(edges, labels, names, seed):
    given = pd.DataFrame({"vertex": labels.keys(), "who": map(names, labels.values())})
    given = given.astype({"vertex": "int64"}).sample(frac=1, random_state=seed)
    frame = pd.DataFrame(edges, columns=["src", "dst"], dtype="int64")
    assert of(components(frame, given)) == joined(edges, labels.items())


@pytest.mark.parametrize("frame", FRAMES)
def test_every_place(place, frame):
    """Of every second edge, and labels of the others."""
    edges = frame()
    labels = components(edges[::2], engine="cpu", ranks=1)
    (found,) = place.same(
        lambda graph: graph.weakly_connected_components(labels=labels), frames=[edges[1::2]]
    )
    wanted = components(edges, engine="cpu", ranks=1)
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)


KINDS_OF_FRAMES = {
    "polars": pl.from_pandas,
    "lazy polars": lambda frame: pl.from_pandas(frame).lazy(),
    "Arrow": pa.Table.from_pandas,
    "Dask": lambda frame: dd.from_pandas(frame, npartitions=2),
    "Arrow columns": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "categories": lambda frame: frame.astype({"component": "category"}),
    "unsorted": lambda frame: frame[::-1],
    "repeated": lambda frame: pd.concat([frame, frame]),
    "more columns": lambda frame: frame.assign(size=1, name="x"),
    "another name": lambda frame: frame.rename(columns={"component": "golden"}),
    "narrow": lambda frame: frame.astype("int8"),
}


@pytest.mark.parametrize("kind", KINDS_OF_FRAMES)
@pytest.mark.parametrize("edges", ["pandas", "Dask"])
def test_kinds_of_labels(kind, edges):
    frame = NEW if edges == "pandas" else dd.from_pandas(NEW, npartitions=2)
    found = components(frame, KINDS_OF_FRAMES[kind](OLD))
    assert isinstance(found, type(frame))
    assert of(found) == BOTH
    assert list(found.columns) == ["vertex", "component"]


def test_a_graph_of_polars_gives_polars():
    found = components(pl.from_pandas(NEW), pl.from_pandas(OLD))
    assert isinstance(found, pl.DataFrame)
    assert dict(found.iter_rows()) == BOTH


def test_as_many_partitions_as_the_larger_frame():
    labels = partitioned(pd.DataFrame({"vertex": range(100), "component": 0}), 5)
    found = components(partitioned(NEW, 2), labels, ranks=2)
    assert found.npartitions == 5
    pieces = [part.compute() for part in found.partitions]
    assert [len(piece) for piece in pieces] == [20] * 5
    assert [int(piece.index[0]) for piece in pieces] == [0, 20, 40, 60, 80]


def test_ids_of_several_columns():
    columns = {"source": ["a", "b"], "destination": ["c", "d"]}
    edges = pd.DataFrame({"a": [1, 2, 7], "b": ["x"] * 3, "c": [2, 3, 8], "d": ["y"] * 3})
    labels = components(edges[:2], **columns)
    assert list(labels.columns) == ["a", "b", "component_a", "component_b"]
    more = pd.DataFrame({"a": [3, 8], "b": ["y"] * 2, "c": [1, 9], "d": ["a", "y"]})
    found = components(pd.concat([edges[2:], more]), labels, **columns)
    pd.testing.assert_frame_equal(found, components(pd.concat([edges, more]), **columns))
    golden = labels[["a", "b"]].assign(person=[4, 4, 4, 5])
    assert components(edges[:0], golden, **columns)["component_a"].tolist() == [1, 1, 1, 3]


def test_ids_that_only_a_wider_type_holds():
    labels = pd.DataFrame({"vertex": [2**40, 2**41], "component": ["g", "g"]})
    found = components(NEW.astype("int32"), labels)
    assert found.dtypes.tolist() == ["int64", "int64"]
    assert of(found) == {0: 0, 3: 3, 5: 3, 9: 0, 2**40: 2**40, 2**41: 2**40}


def test_nothing_new_and_nothing_old():
    assert of(components(NEW[:0], OLD)) == dict(OLD.values)
    pd.testing.assert_frame_equal(components(NEW, OLD[:0]), components(NEW))
    assert not len(components(NEW[:0], OLD[:0]))


def test_graphs_that_are_kept_and_saved(tmp_path):
    graph = dd.from_pandas(NEW, npartitions=1).graph()
    assert of(graph.persist().weakly_connected_components(labels=OLD)) == BOTH
    graph.save(tmp_path / "saved")
    assert of(load(tmp_path / "saved").weakly_connected_components(labels=OLD)) == BOTH


def test_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    NEW.to_parquet("new.parquet")
    OLD.astype(str).to_csv("old.csv", index=False)
    call("weakly_connected_components", "new.parquet", "--labels", "old.csv", "--output", "out")
    assert of(result()) == BOTH
    line = refused(
        "weakly_connected_components", "new.parquet", "--labels", "component", "--top", 1, code=1
    )
    assert "There is no file or folder component" in line


def test_labels_are_not_written_over(tmp_path):
    components(dd.from_pandas(NEW, npartitions=1)).to_parquet(tmp_path)
    found = components(dd.from_pandas(NEW, npartitions=1), dd.read_parquet(tmp_path))
    with pytest.raises(ValueError, match="Cannot overwrite a path that you are reading"):
        found.to_parquet(tmp_path, overwrite=True)


def test_both_zeros_are_one_label():
    labels = pd.DataFrame({"vertex": [1, 9], "component": [0.0, -0.0]})
    found = components(pd.DataFrame({"src": [1], "dst": [2]}), labels)
    assert found["component"].tolist() == [1, 1, 1]


TWICE = pd.DataFrame({"vertex": [1, 2, 1], "component": ["a", "a", "b"]})
WRONG = {
    "null label": (OLD.assign(component=pd.array([1, 1, 1, None, None])), "2 labels in column 'component' are null"),
    "NaN": (OLD.assign(component=[1, 2, np.nan, 4, 5]), "1 labels in column 'component' are null"),
    "null id": (OLD.assign(vertex=pd.array([1, 2, 3, None, 6])), "labels: id column 'vertex' has 1 nulls"),
    "two labels": (TWICE, "such as 1, has two different labels; give each vertex one"),
    "no labels": (OLD[["vertex"]], "and a column 'component', or one other column of labels"),
    "several": (OLD.rename(columns={"component": "a"}).assign(b=1), "rename the column of labels to 'component'"),
    "no id": (OLD.rename(columns={"vertex": "v"}), "labels has no id column"),
    "text ids": (OLD.astype({"vertex": "str"}), "labels: the edges' ids and its column 'vertex' mix the id types"),
    "mixed": (OLD.assign(component=[1, "a", 2, 3, 4]), "column 'component' mixes types"),
    "lists": (OLD.assign(component=[[1, 2]] * 5), "column 'component' holds list<item: int64>"),
    "named twice": (TWICE.assign(x=1).set_axis(["vertex", "component", "component"], axis=1), "2 columns named"),
    "no text": (TWICE.set_axis(["vertex", 0], axis=1), "the column 0, whose name is no text"),
    "a list": ([1, 2], "labels is a list; give an earlier result"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_labels_that_are_refused(case):
    labels, message = WRONG[case]
    with pytest.raises((errors.InvalidArgument, errors.InvalidVertices), match=message):
        components(NEW, labels)


def test_features_are_of_the_graph_alone():
    with pytest.raises(errors.InvalidArgument, match="labels= may have others: call the method"):
        NEW.graph().features({"weakly_connected_components": {"labels": OLD}})
