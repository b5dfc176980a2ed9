"""Partitions of a frame that are computed for what is done with them."""

import threading

import dask
import dask.dataframe as dd
import pandas as pd
import pytest

from dask_graphgpu.io.computing import for_partitions

FRAME = pd.DataFrame({"vertex": [1, 2, 3, 4]})


def frame_of(partitions, threads=None):
    """A Dask frame, which notes the thread that makes each partition."""

    def part(i):
        if threads is not None:
            threads.append(threading.current_thread().name)
        return FRAME.iloc[i : i + 1]

    return dd.from_map(part, range(partitions), meta=FRAME.iloc[:0])


def computed(frame):
    """What becomes of each partition, and in which threads."""
    rows, threads = {}, []

    def note(partition, i):
        rows[i] = partition["vertex"].tolist()
        threads.append(threading.current_thread().name)

    for_partitions(note, frame)
    return rows, threads


def test_each_partition_comes_with_its_number():
    rows, _ = computed(frame_of(3))
    assert rows == {0: [1], 1: [2], 2: [3]}
    assert computed(frame_of(1))[0] == {0: [1]}


def test_a_chain_of_tasks_stays_in_one_thread():
    made: list[str] = []
    frame = frame_of(1, made).map_partitions(lambda part: part.copy(), meta=FRAME.iloc[:0])
    _, (name,) = computed(frame)
    assert made == [name] == ["graphgpu-call"]


def test_several_partitions_are_of_dasks_threads():
    _, threads = computed(frame_of(2))
    assert all(name.startswith("ThreadPoolExecutor") for name in threads)


def test_a_scheduler_that_is_set_is_taken():
    with dask.config.set(scheduler="sync"):
        _, threads = computed(frame_of(1))
    assert threads == [threading.current_thread().name]


def fails(partition, i):
    raise ValueError("no room")


@pytest.mark.parametrize("partitions", [1, 2])
def test_an_error_is_raised(partitions):
    with pytest.raises(ValueError, match="no room"):
        for_partitions(fails, frame_of(partitions))


def test_progress_is_shown_of_a_chain(capsys):
    from dask.diagnostics import ProgressBar

    with ProgressBar():
        computed(frame_of(1))
    assert "100% Completed" in capsys.readouterr().out
