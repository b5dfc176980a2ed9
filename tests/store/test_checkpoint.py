"""Checkpoints: the state of a run is found again, whoever wrote it; anything else is refused."""

import json
import os
import signal
import time
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mesh_teams import PATIENCE, Team

from dask_graphgpu.checkpoint import Checkpoint, CheckpointKeeper
from dask_graphgpu.errors import InvalidArgument, InvalidCheckpoint, OutputError, RankLost
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.partition import fingerprint
from dask_graphgpu.partition.csr import Adjacency, from_edges
from dask_graphgpu.store import checkpoint

N = 50


class Ids:
    """Vertices in an order of memory other than that of the ids."""

    def __init__(self, position):
        self.position = position


def graph(seed=0):
    made = np.random.default_rng(seed)
    source, destination = made.integers(0, N, 200), made.integers(0, N, 200)
    return source, destination, made.integers(1, 9, 200)


def rows(edges, position=None):
    """Rows of edges whose ends are numbers, with vertices where ``position`` puts them."""
    source, destination, weight = edges
    if position is not None:
        source, destination = position[source], position[destination]
    return from_edges(N, source, destination, {"weight": weight})


def keeper(path, *, resume=False, position=None, call="sssp abc", **choice):
    rank = None
    if position is not None:
        rank = np.empty(N, np.uint32)
        rank[position] = np.arange(N, dtype=np.uint32)
    return CheckpointKeeper(
        Checkpoint(path, **choice),
        resume=resume, call=call, ids=Ids(position), numbers=rank, num_owned=N,
    )  # fmt: skip


def state(position=None):
    values = {"distance": np.arange(N, dtype=np.int64) ** 2, "far": np.arange(N) % 3 == 0}
    if position is None:
        return values
    placed = {name: np.empty_like(column) for name, column in values.items()}
    for name, column in values.items():
        placed[name][position] = column
    return placed


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "kept"
    one = keeper(path)
    assert one.begin("program", rows(graph()), "source", state()) is None
    columns = {"distance": state()["distance"] + 1, "active": np.ones(N, np.uint8)}
    one.write(7, columns, {"residual": 0.1 + 0.2, "count": 2**60})
    return path


def test_another_order_of_memory_goes_on(written):
    position = np.random.default_rng(3).permutation(N).astype(np.uint32)
    other = keeper(written, resume=True, position=position)
    kept = other.begin("program", rows(graph(), position), "source", state(position))
    assert kept.superstep == 7
    assert kept.aggregates == {"residual": 0.1 + 0.2, "count": 2**60}
    np.testing.assert_array_equal(kept.columns["distance"], state(position)["distance"] + 1)
    assert kept.columns["distance"].dtype == np.int64
    assert kept.columns["active"].dtype == np.uint8


def test_rows_by_destination_are_the_same_graph(written):
    source, destination, weight = graph()
    into = from_edges(N, destination, source, {"weight": weight})
    assert keeper(written, resume=True).begin("program", into, "destination", state()) is not None


def test_without_resume_it_is_not_looked_at(written):
    assert keeper(written).begin("program", rows(graph()), "source", state()) is None


def test_nothing_there_is_a_start(tmp_path):
    for path in (tmp_path / "none", tmp_path / "none" / "below", tmp_path):
        one = keeper(path, resume=True)
        assert one.begin("program", rows(graph()), "source", state()) is None


def test_a_later_program_of_the_call(tmp_path):
    path = tmp_path / "kept"
    one = keeper(path)
    one.begin("first", rows(graph()), "source", state())
    one.begin("second", rows(graph()), "source", state())
    one.write(3, state(), {})
    other = keeper(path, resume=True)
    assert other.begin("first", rows(graph()), "source", state()) is None
    assert other.begin("second", rows(graph()), "source", state()).superstep == 3


def test_other_runs_are_refused(written):
    with pytest.raises(InvalidCheckpoint, match="the method or its arguments differ"):
        keeper(written, resume=True, call="sssp xyz")
    one = keeper(written, resume=True)
    with pytest.raises(InvalidCheckpoint, match="the program differ"):
        one.begin("other", rows(graph()), "source", state())
    for other in (graph(1), (*graph()[:2], graph()[2][::-1]), (*graph()[1::-1], graph()[2])):
        with pytest.raises(InvalidCheckpoint, match="the edges or their weights differ"):
            keeper(written, resume=True).begin("program", rows(other), "source", state())
    start = state() | {"distance": np.zeros(N, np.int64)}
    with pytest.raises(InvalidCheckpoint, match="the values that it starts from differ"):
        keeper(written, resume=True).begin("program", rows(graph()), "source", start)


def begin(path):
    return keeper(path, resume=True).begin("program", rows(graph()), "source", state())


def test_torn_and_damaged_ones_are_refused(written):
    part, listed = written / "part.00000.parquet", written / "manifest.json"
    whole, manifest = part.read_bytes(), listed.read_text()
    part.write_bytes(whole[:-1])
    with pytest.raises(InvalidCheckpoint, match=r"torn: part\.00000\.parquet has"):
        begin(written)
    part.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    with pytest.raises(InvalidCheckpoint, match="damaged: its checksum differs; remove it"):
        begin(written)
    part.write_bytes(whole)
    listed.write_text(manifest.replace('"superstep": 7', '"superstep": 8'))
    with pytest.raises(InvalidCheckpoint, match=r"manifest\.json is damaged"):
        begin(written)
    listed.write_text(json.dumps(json.loads(manifest) | {"version": 99}))
    with pytest.raises(InvalidCheckpoint, match="format version 99"):
        begin(written)
    listed.unlink()
    with pytest.raises(InvalidCheckpoint, match=r"torn: it has no manifest\.json"):
        begin(written)
    part.unlink()
    assert begin(written) is None


def test_other_folders_are_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"is not a checkpoint: it holds mine\.txt"):
        keeper(tmp_path)
    with pytest.raises(OutputError, match="is a file"):
        keeper(tmp_path / "mine.txt")
    with pytest.raises(InvalidArgument, match="is a URL"):
        keeper("ftp://host/kept")


def test_two_runs_in_one_folder_are_told(tmp_path):
    columns = {"distance": state()["distance"]}
    first, second = (keeper(tmp_path / "kept") for _ in range(2))
    for one in (first, second):
        one.begin("program", rows(graph()), "source", state())
        one.write(1, columns, {})
    second.write(2, columns, {})
    with pytest.raises(OutputError, match=r"another run has written its checkpoint to .*kept"):
        first.write(2, columns, {})
    first.end()
    assert keeper(tmp_path / "kept", resume=True).begin(
        "program", rows(graph()), "source", state()
    ), "that of the run that goes on is still there"
    second.end()
    assert not (tmp_path / "kept").exists()


def test_the_end_removes_it(written):
    one = keeper(written, resume=True)
    one.end()
    assert not written.exists()
    one.end()


def test_when_one_is_due(tmp_path):
    every = keeper(tmp_path / "a", seconds=None, supersteps=10)
    every.begin("program", rows(graph()), "source", state())
    assert [s for s in range(1, 12) if every.due(s)] == [10, 11]
    every.write(10, state(), {})
    assert not every.due(19)
    assert every.due(20)
    now = keeper(tmp_path / "b", seconds=0)
    now.begin("program", rows(graph()), "source", state())
    assert now.due(1)
    assert not keeper(tmp_path / "c").due(10**6)


@pytest.mark.parametrize(
    "choice",
    [{"seconds": None}, {"seconds": -1}, {"seconds": "1"}, {"supersteps": 0}, {"supersteps": 1.5}],
)
def test_choices_that_are_refused(choice):
    with pytest.raises(InvalidArgument, match=r"seconds|supersteps"):
        Checkpoint("kept", **choice)


def test_a_full_disk_leaves_the_former_one(written, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    before = pq.read_table(written / "part.00000.parquet")
    one = keeper(written)
    one.begin("program", rows(graph()), "source", state())
    with monkeypatch.context() as patched:
        patched.setattr(pq, "write_table", full)
        with pytest.raises(OutputError, match="No space left on device; free space"):
            one.write(9, state(), {})
    assert pq.read_table(written / "part.00000.parquet").equals(before)
    assert begin(written).superstep == 7
    assert [entry.name for entry in written.parent.iterdir()] == ["kept"]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_ranks_write_parts_that_one_rank_reads(tmp_path, size):
    path = tmp_path / "kept"
    source, destination, weight = graph()

    def work(ranks):
        own = np.arange(ranks.rank, N, size)  # who owns what: some ranks' local ids are no numbers
        place = np.full(N, N)
        place[own] = np.arange(len(own))
        others = np.setdiff1d(np.arange(N), own)
        place[others] = len(own) + np.arange(len(others))
        mine = np.isin(source, own)
        edges = from_edges(
            N, place[source[mine]], place[destination[mine]], {"weight": weight[mine]}
        )
        numbers = np.concatenate([own, others]).astype(np.uint32)
        one = CheckpointKeeper(
            Checkpoint(path), resume=False, call="sssp abc", ids=None, numbers=numbers,
            num_owned=len(own), ranks=ranks,
        )  # fmt: skip
        values = {name: column[numbers] for name, column in state().items()}
        assert one.begin("program", edges, "source", values) is None
        one.write(5, values, {"a": 1})

    run_local(size, work)
    assert len([*path.glob("part.*.parquet")]) == size
    kept = begin(path)
    assert kept.superstep == 5
    np.testing.assert_array_equal(kept.columns["distance"], state()["distance"])
    np.testing.assert_array_equal(kept.columns["far"], state()["far"])


def write_beside_one_that_dies(ranks, folder):
    """Rank 2 dies at its part; rank 1 comes to its own when rank 0 has taken the folder away."""
    write_table = pq.write_table

    def write(table, part, **options):
        if ranks.rank == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        until = time.monotonic() + PATIENCE / 2
        while ranks.rank == 1 and part.parent.exists():
            assert time.monotonic() < until
            time.sleep(0.005)
        write_table(table, part, **options)

    with patch.object(pq, "write_table", write):
        checkpoint.write(folder, pa.table({"x": [ranks.rank]}), {}, ranks)


def test_a_peer_that_dies_meanwhile_is_what_is_told(written):
    with Team(3, write_beside_one_that_dies, written) as team:
        errors = [team.hear(rank)[1] for rank in (0, 1)]
    for error in errors:
        assert isinstance(error, RankLost), error
        assert error.rank == 2, error
    assert begin(written).superstep == 7, "the one that was there is untouched"


def test_fingerprints_tell_columns_apart():
    offsets, neighbours = np.array([0, 1, 2]), np.array([1, 0], np.uint32)
    a, b = np.array([1.0, 2.0]), np.array([2.0, 1.0])

    def of(**columns):
        return fingerprint.of_edges(Adjacency(offsets, neighbours, columns), None, 2, "source")

    assert of(x=a, y=b) != of(x=b, y=a) != of(x=b, y=b)
    assert of(x=a) != of(y=a)
    assert of() != fingerprint.of_edges(
        Adjacency(offsets, np.array([1, 1], np.uint32)), None, 2, "source"
    )
