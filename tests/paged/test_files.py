"""Pages on disk: what is written comes back, and what goes wrong is told by file and page."""

import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from itertools import pairwise

import dask
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu
from full_disks import full_disk
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.errors import EngineUnavailable, LimitTooSmall, SpillError
from dask_graphgpu.kernels.cpu.threads import num_threads
from dask_graphgpu.partition.paged import window as windows
from dask_graphgpu.partition.paged.files import PagedArray, PageWriter
from dask_graphgpu.partition.paged.folder import SpillFolder
from dask_graphgpu.partition.paged.held_array import HeldArray
from dask_graphgpu.partition.paged.huge_pages import aligned
from dask_graphgpu.partition.paged.limits import AT_ONCE, REQUEST, Limits
from dask_graphgpu.partition.paged.window import Window, even_spans

PAGE = 4096


def written(folder, values):
    writer = PageWriter(folder, "values", values.dtype, PAGE)
    for part in np.array_split(values, 7):
        writer.append(part)
    return writer.close()


def passed(array, spans):
    """What stands in some spans, one after the other; the same by threads that take several at once."""
    window = Window({"values": array})
    spans = np.array(spans, np.int64).reshape(-1, 2)
    found = [
        held["values"][lo:hi].copy()
        for (lo, hi), held in zip(spans, window.over(spans), strict=True)
    ]
    with dask.config.set({"graphgpu.threads": 3}):
        again = window.each(spans, lambda i, held: held["values"][slice(*spans[i])].copy())
    for one, other in zip(found, again, strict=True):
        np.testing.assert_array_equal(one, other)
    return found


@pytest.mark.parametrize("directories", [1, 3])
@pytest.mark.parametrize("dtype", ["uint8", "uint32", "float64"])
@pytest.mark.parametrize("size", [0, 1, 5000, 100_001])
def test_pages_come_back(tmp_path, directories, dtype, size):
    values = np.random.default_rng(size).integers(0, 255, size).astype(dtype)
    folder = SpillFolder([str(tmp_path / str(i)) for i in range(directories)])
    array = written(folder, values)
    assert (len(array), array.nbytes, array.dtype) == (size, values.nbytes, values.dtype)
    cuts = np.unique(np.append(np.arange(0, size, 3333), size))
    spans = list(pairwise(cuts)) or [(0, 0)]
    np.testing.assert_array_equal(np.concatenate(passed(array, spans)), values)
    if size > 50_000 and dtype != "uint8":
        assert set(array.place[:, 0]) == set(range(directories))
        few = [(1, 5), (70_000, 70_010), (70_010, 70_010), (99_000, size)]
        for (lo, hi), found in zip(few, passed(array, few), strict=True):
            np.testing.assert_array_equal(found, values[lo:hi])
    with pytest.raises(EngineUnavailable, match="host-memory-limit"):
        np.asarray(array)


@given(
    st.integers(1, 60_000),
    st.lists(st.integers(0, 60_000), max_size=40),
    st.integers(1, 3),
    st.data(),
)
def test_spans_of_any_kind(size, cuts, directories, data):
    """Long and short, empty, overlapping, far apart: beyond the end of the ring and round it again."""
    firsts = sorted(min(cut, size) for cut in cuts)
    spans, stop = [], 0
    for lo in firsts:
        stop = min(max(stop, lo + data.draw(st.sampled_from([0, 1, 700, 5000, 20_000]))), size)
        spans.append((lo, stop))
    values = np.arange(size, dtype=np.uint32)
    with tempfile.TemporaryDirectory() as root:
        array = written(SpillFolder([f"{root}/{i}" for i in range(directories)]), values)
        for (lo, hi), found in zip(spans, passed(array, spans), strict=True):
            np.testing.assert_array_equal(found, values[lo:hi])
        del array


def test_ends_of_columns_are_there_together(tmp_path):
    folder = SpillFolder([str(tmp_path)])
    narrow, wide = np.arange(50_000, dtype=np.uint8), np.arange(50_000, dtype=np.float64)
    window = Window({"narrow": written(folder, narrow), "wide": written(folder, wide)})
    spans = even_spans(np.append(np.arange(0, 50_000, 700), 50_000))
    for (lo, hi), held in zip(spans, window.over(spans), strict=True):
        np.testing.assert_array_equal(held["narrow"][lo:hi], narrow[lo:hi])
        np.testing.assert_array_equal(held["wide"][lo:hi], wide[lo:hi])


def test_a_window_is_no_larger_than_it_is_said_to_be(tmp_path):
    directories = [str(tmp_path / str(i)) for i in range(3)]
    limits = Limits(1, tuple(directories), PAGE)
    values = np.arange(100_000, dtype=np.uint32)
    held = HeldArray(written(SpillFolder(directories), values))
    held.begin(even_spans(np.arange(0, 100_000, PAGE // 4 - 10)), AT_ONCE, [])
    assert held._ring.nbytes == limits.window_bytes(1)
    held.end()


@pytest.mark.parametrize("size", [1, 4096, (2 << 20) - 1, 2 << 20, (5 << 20) + 4096])
def test_memory_begins_where_a_page_does(size):
    memory = aligned(size)
    memory[:] = 7
    assert len(memory) == size
    assert memory.ctypes.data % (mmap.PAGESIZE if size < 2 << 20 else 2 << 20) == 0


def test_files_in_memory_are_read_too():
    """A file system that has nothing but the cache."""
    if not os.path.isdir("/dev/shm"):
        pytest.skip("no file system in memory here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as root:
        values = np.arange(100_000)
        array = written(SpillFolder([root]), values)
        np.testing.assert_array_equal(passed(array, [(5, 99_990)])[0], values[5:99_990])
        del array


def test_only_the_pages_of_spans_are_read(tmp_path):
    array = written(SpillFolder([str(tmp_path)]), np.arange(100_000, dtype=np.uint32))
    window = Window({"values": array})
    for _ in window.over(np.array([[10, 20], [50_000, 50_001]])):
        pass
    assert window.read_bytes == 2 * PAGE


def test_a_flipped_bit_is_told(tmp_path):
    array = written(SpillFolder([str(tmp_path)]), np.arange(10_000, dtype=np.uint32))
    path, _ = array.files[0]
    with open(path, "r+b") as file:
        file.seek(5 * PAGE + 77)
        byte = file.read(1)
        file.seek(5 * PAGE + 77)
        file.write(bytes([byte[0] ^ 8]))
    assert passed(array, [(0, 5 * 1024)])
    with pytest.raises(SpillError, match=f"page 5 of {path} is not what was written; the disk"):
        passed(array, [(0, 10_000)])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_page_is_checked_once_by_who_works_on_it(tmp_path, monkeypatch, threads):
    """Two spans lie in most pages. Threads that read do not check, so that the disk does not wait."""
    checked = []
    check = PagedArray.check

    def noted(self, page, block, held):
        checked.append((page, threading.current_thread().name))
        check(self, page, block, held)

    monkeypatch.setattr(PagedArray, "check", noted)
    window = Window({"values": written(SpillFolder([str(tmp_path)]), np.arange(100_000))})
    spans = even_spans(np.arange(0, 100_001, 100))
    with dask.config.set({"graphgpu.threads": threads}):
        for passes in (1, 2):
            window.each(spans, lambda i, held: int(held["values"][100 * i]))
            assert sorted(page for page, _ in checked) == sorted([*range(196)] * passes)
    assert not any(name.startswith("graphgpu-pages") for _, name in checked)


def test_large_pages_are_read_piece_by_piece(tmp_path, monkeypatch):
    values = np.arange(700_000, dtype=np.uint32)
    writer = PageWriter(SpillFolder([str(tmp_path)]), "values", values.dtype, 2 * REQUEST + 8192)
    writer.append(values)
    array, asked, preadv = writer.close(), [], os.preadv

    def noted(file, blocks, start):
        asked.append((start, sum(map(len, blocks))))
        return preadv(file, blocks, start)

    monkeypatch.setattr(os, "preadv", noted)
    np.testing.assert_array_equal(passed(array, [(0, 700_000)])[0], values)
    last = 4 * 700_000 - 2 * REQUEST - 8192
    assert sorted(set(asked)) == [
        (0, REQUEST),
        (REQUEST, REQUEST),
        (2 * REQUEST, 8192),
        (2 * REQUEST + 8192, -(-last // 4096) * 4096),
    ]


def test_memory_stays_for_the_next_pass(tmp_path):
    array = written(SpillFolder([str(tmp_path)]), np.arange(100_000))
    window = Window({"values": array}, stays=True)
    (held,) = window._held.values()

    def over(*bounds):
        spans = np.array([bounds], np.int64)
        (found,) = [each["values"][slice(*bounds)].tolist() for each in window.over(spans)]
        return found

    assert over(100, 5000) == list(range(100, 5000))
    ring = held._ring
    assert over(30_000, 30_100) == list(range(30_000, 30_100))
    assert held._ring is ring
    assert over(0, 90_000) == list(range(90_000)), "more than there was room for"
    assert len(held._ring) > len(ring)
    window.release()
    assert held._ring is None
    assert over(5, 9) == [5, 6, 7, 8]


def test_a_run_leaves_no_pages_in_memory(tmp_path, monkeypatch):
    """Though what it was made of may stay until it is found that nobody needs it."""
    windows, begun = [], Window.__init__

    def noted(self, arrays, **options):
        windows.append(self)
        begun(self, arrays, **options)

    monkeypatch.setattr(Window, "__init__", noted)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 500, (100_000, 2)), columns=["src", "dst"])
    settings = {
        "graphgpu.host-memory-limit": 800_000,
        "graphgpu.page-bytes": PAGE,
        "graphgpu.spill-directories": [str(tmp_path)],
    }
    with dask.config.set(settings):
        graph = frame.graph()
        graph.pagerank()
        graph.bfs(0)
    assert len(windows) >= 2
    for window in windows:
        assert all(held._ring is None for held in window._held.values())


def test_an_error_of_the_work_ends_the_pass(tmp_path):
    """Threads that wait for pages are not left waiting for a slot that nobody gives back."""
    window = Window({"values": written(SpillFolder([str(tmp_path)]), np.arange(100_000))})
    spans = even_spans(np.arange(0, 100_000, 100))

    def work(i, held):
        if i in (5, 6):
            raise ValueError(f"span {i}")
        return int(held["values"][100 * i])

    with dask.config.set({"graphgpu.threads": 2}):
        with pytest.raises(ValueError, match=r"span [56]"):
            window.each(spans, work)
        assert window.each(spans[10:], lambda i, held: int(held["values"][100 * i + 1000])) == list(
            range(1000, 99_900, 100)
        )


def test_an_error_of_a_reader_ends_the_pass(tmp_path):
    """Also in a thread that waits for pages which are not asked for any more."""
    array = written(SpillFolder([str(tmp_path)]), np.arange(100_000))
    window = Window({"values": array})

    def work(i, held):
        if i == 0:  # the other thread goes on to where the ring is full
            time.sleep(0.3)
            array.folder.readers[0].shutdown()

    spans = even_spans(np.arange(0, 100_001, 500))
    with dask.config.set({"graphgpu.threads": 2}), pytest.raises(RuntimeError, match="shutdown"):
        window.each(spans, work)


@pytest.mark.parametrize(
    ("threads", "spans", "each", "then"),
    [
        (1, 9, 1, 1),
        (2, 9, 1, 1),
        (3, 9, 1, 1),
        (8, 9, 1, 2),
        (8, 1, 8, 8),
        (8, 2, 1, 4),
        (3, 0, 3, 3),
    ],
)
def test_threads_are_shared_out(tmp_path, threads, spans, each, then, monkeypatch):
    """One a span, and more of them once the disk was not waited for, if that is faster."""
    monkeypatch.setattr(windows, "_LITTLE", 100.0)  # so it is, however busy the machine is
    window = Window({"values": written(SpillFolder([str(tmp_path)]), np.arange(10_000))})
    bounds = even_spans(np.arange(0, 1000 * spans + 1, 1000))

    def passed(seconds):
        """How many threads a span had, of which the work took so long."""

        def work(i, held):
            time.sleep(seconds)
            return num_threads()

        return window.each(bounds, work)

    with dask.config.set({"graphgpu.threads": threads}):
        found = [passed(0.05)]
        found += [passed(seconds) for seconds in (0.1, 0.05, 0.05)]
        assert num_threads() == threads
    assert found[0] == [each] * spans
    assert found[1] == [then] * spans
    assert found[2] == found[3] == found[0], "what was faster"


def test_a_slow_span_keeps_its_memory(tmp_path):
    """Others go on meanwhile as far as the ring has room, and wait then."""
    window = Window({"values": written(SpillFolder([str(tmp_path)]), np.arange(100_000))})
    spans = even_spans(np.arange(0, 100_001, 500))
    others = []

    def work(i, held):
        values = held["values"][500 * i : 500 * (i + 1)]
        if i == 3:
            before = -1
            while before != len(others):
                before = len(others)
                time.sleep(0.1)
        others.append(i)
        return values.sum()

    with dask.config.set({"graphgpu.threads": 2}):
        found = window.each(spans, work)
    assert found == np.arange(100_000).reshape(-1, 500).sum(1).tolist()
    assert 3 < others.index(3) < 20


def test_a_page_that_cannot_be_read_is_told(tmp_path):
    array = written(SpillFolder([str(tmp_path)]), np.arange(10_000, dtype=np.uint32))
    path, file = array.files[0]
    os.truncate(file, 3 * PAGE + 100)
    with pytest.raises(SpillError, match=f"page 3 of {path} ends before it"):
        passed(array, [(0, 10_000)])
    os.close(file)
    array.files.clear()
    array.files.append((path, os.open(path, os.O_WRONLY)))
    with pytest.raises(SpillError, match=f"page 0 of {path} cannot be read: .*Bad file"):
        passed(array, [(0, 10)])


def test_folders_go_with_what_they_hold(tmp_path):
    array = written(SpillFolder([str(tmp_path)]), np.arange(10_000))
    assert len(list(tmp_path.iterdir())) == 2
    del array
    assert not list(tmp_path.iterdir())


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpillError, match="spill-directories"):
        SpillFolder([str(tmp_path / "file" / "below")])


CHILD = """
import sys, time
import numpy as np
from dask_graphgpu.partition.paged.files import PagedArray, PageWriter
from dask_graphgpu.partition.paged.folder import SpillFolder

writer = PageWriter(SpillFolder([sys.argv[1]]), "values", "int64", 4096)
writer.append(np.arange(100_000))
print("written", flush=True)
time.sleep(600)
"""


def test_what_a_killed_process_leaves_is_swept(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout.readline() == "written\n"
        theirs = set(tmp_path.iterdir())
        assert len(theirs) == 2
        first = SpillFolder([str(tmp_path)])
        assert theirs < set(tmp_path.iterdir()), "what a living process has is left alone"
        child.send_signal(signal.SIGKILL)
    first.remove()
    assert set(tmp_path.iterdir()) == theirs
    second = SpillFolder([str(tmp_path)])
    assert not theirs & set(tmp_path.iterdir())
    second.remove()


def test_folders_of_others_are_not_swept(tmp_path):
    """A file that says that a folder is ours, and links, which somebody else may have put there."""
    mine = tmp_path / "graphgpu-mywork_1"
    mine.mkdir()
    (mine / "thesis.tex").write_text("mine")
    (tmp_path / "graphgpu-mywork_1.lock").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.pages").write_text("mine")
    (elsewhere / "lock").write_text("mine")
    (tmp_path / "graphgpu-abcdefgh").symlink_to(elsewhere)
    (tmp_path / "graphgpu-abcdefgh.lock").touch()
    (tmp_path / "graphgpu-results").mkdir()
    (tmp_path / "graphgpu-results.lock").symlink_to(elsewhere / "lock")
    (tmp_path / "graphgpu-my-results").mkdir()
    (tmp_path / "graphgpu-my-results.lock").touch()
    SpillFolder([str(tmp_path)]).remove()
    assert (mine / "thesis.tex").read_text() == "mine"
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {
        "a.pages": "mine", "lock": "mine",
    }  # fmt: skip
    assert (tmp_path / "graphgpu-my-results").is_dir()
    assert (tmp_path / "graphgpu-results").is_dir()


@on_one_cpu
def test_full_disk(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 500, (100_000, 2)), columns=["src", "dst"])
    settings = {
        "graphgpu.host-memory-limit": 800_000,
        "graphgpu.page-bytes": PAGE,
        "graphgpu.spill-directories": [str(tmp_path)],
    }
    wanted = f"cannot write {tmp_path}/.*No space left on device; make room there"
    with full_disk(tmp_path, "200k"):
        with dask.config.set(settings), pytest.raises(SpillError, match=wanted):
            frame.graph().pagerank()
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("directed", [True, False])
def test_the_limit_that_a_build_names_is_the_least(tmp_path, directed):
    """Rows of hubs that lie far apart, of which the longest is not the first to be sorted."""
    rng, n = np.random.default_rng(1), 4000
    hubs = np.concatenate([np.full(7000, 5), np.full(14_000, 3000), rng.integers(0, n, 90_000)])
    frame = pd.DataFrame({"src": rng.permutation(hubs), "dst": rng.permutation(hubs)})

    def build(limit):
        with dask.config.set({
            "graphgpu.host-memory-limit": limit,
            "graphgpu.page-bytes": PAGE,
            "graphgpu.spill-directories": str(tmp_path),
        }):  # fmt: skip
            return frame.graph(directed=directed).persist()

    with pytest.raises(LimitTooSmall, match=r"a vertex with (14|2.),") as raised:
        build("450kB")
    named = int(re.search(r"needs ([\d,]+) bytes", str(raised.value))[1].replace(",", ""))
    build(named)
    with pytest.raises(LimitTooSmall, match="a vertex with"):
        build(named * 9 // 10)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("hub", ["src", "dst"])
def test_edges_that_repeat_name_one_limit(tmp_path, directed, hub):
    """All are of one vertex: not more is asked for than memory would take, and sides of edges not by turns."""
    frame = pd.DataFrame({"src": np.arange(30), "dst": np.arange(30), "weight": 1}).assign(
        **{hub: 7}
    )
    frame = pd.concat([frame] * 1000, ignore_index=True)
    call = lambda: frame.graph(directed=directed).sssp(7)  # noqa: E731
    settings = {"graphgpu.page-bytes": PAGE, "graphgpu.spill-directories": str(tmp_path)}
    with dask.config.set(settings | {"graphgpu.host-memory-limit": "150kB"}):
        with pytest.raises(LimitTooSmall) as raised:
            call()
        named = int(re.search(r"needs ([\d,]+) bytes", str(raised.value))[1].replace(",", ""))
        with dask.config.set({"graphgpu.host-memory-limit": named}):
            found = call()
    assert named <= len(frame) * (16 + 2 * 8) * (1 if directed else 2)
    pd.testing.assert_frame_equal(found, call())


def test_while_ids_are_read_a_limit_is_named_that_is_enough_whatever_follows(tmp_path):
    """A larger part of the ids needs more: what is needed so far is not all."""
    ends = np.random.default_rng(2).permutation(800_000)
    frame = pd.DataFrame({"src": ends[:400_000], "dst": ends[400_000:]})
    folders = {"graphgpu.spill-directories": [str(tmp_path)], "graphgpu.page-bytes": PAGE}
    limit = {"graphgpu.host-memory-limit": 500_000}
    with dask.config.set(folders | limit), pytest.raises(LimitTooSmall) as raised:
        frame.graph().degree()
    so_far, enough = (
        int(re.search(rf"{before} ([\d,]+)", str(raised.value))[1].replace(",", ""))
        for before in ("needs", "or to")
    )
    assert 500_000 < so_far < enough
    assert str(raised.value).endswith("which is enough: not all ids are read yet")
    with dask.config.set(folders | {"graphgpu.host-memory-limit": so_far}):
        with pytest.raises(LimitTooSmall, match=f"or to {enough:,}, which"):
            frame.graph().degree()
        dask.config.set({"graphgpu.host-memory-limit": enough})
        assert len(frame.graph().degree()) == 800_000
