"""The folder of a saved graph: torn, damaged, stale, foreign, replaced, killed half-way."""

import json
import os
import re
import subprocess
import sys

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from full_disks import full_disk, short_files

from dask_graphgpu import errors, load
from dask_graphgpu.store import manifest
from dask_graphgpu.store.saved import is_saved

EDGES = pd.DataFrame(
    {
        "src": [f"v{i % 5}" for i in range(60)],
        "dst": [f"v{i % 11}" for i in range(60)],
        "weight": [i % 5 for i in range(60)],
    }
)
OTHERS = EDGES[:20]
VERTICES = pd.DataFrame({"vertex": [f"v{i}" for i in range(12)], "prior": range(12)})
FILES = sorted(
    {"id-0.arrow", "listed.arrow", "position.arrow", "rank.arrow", "vertex-0.arrow"}
    | {f"given-{part}.arrow" for part in ("offsets", "neighbours", "column-0")}
    | {
        f"one-0-{end}-{part}.arrow"
        for end in ("source", "destination")
        for part in ("offsets", "neighbours")
    }
    | {f"{rule}-source-column-0.arrow" for rule in ("min-1", "sum-2")}
    | {"sum-2-destination-column-0.arrow"}
)


@pytest.fixture
def saved(tmp_path):
    return EDGES.graph(vertices=VERTICES, order="degree").save(tmp_path / "saved")


def distances(path, **options):
    return load(path, **options).sssp("v0").compute()


def assert_holds(path, frame, **options):
    wanted = frame.graph(**options).sssp("v0")
    # Dask reads strings of Parquet into a type of its own.
    pd.testing.assert_frame_equal(distances(path, verify=True), wanted, check_dtype=False)


def refused(path, match, **options):
    with pytest.raises(errors.InvalidSavedGraph, match=match) as caught:
        load(path, **options)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(content)


# -- torn and damaged -------------------------------------------------------------------------


def test_these_are_all_files(saved):
    assert sorted(file.name for file in saved.glob("*.arrow")) == FILES


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_checked(name, saved):
    file = saved / name
    whole = file.read_bytes()
    file.unlink()
    refused(saved, f"torn: {name} cannot be read")
    file.write_bytes(whole[:-1])
    refused(saved, f"torn: {name} has [0-9,]+ bytes instead of {len(whole):,}")
    file.write_bytes(whole + b"x")
    refused(saved, f"torn: {name} has")
    for place in (0, 20, len(whole) // 2, len(whole) - 12, len(whole) - 1):
        file.write_bytes(whole)
        flip(file, place)
        refused(saved, f"damaged: the checksum of {name} differs", verify=True)
    file.write_bytes(whole)
    assert_holds(saved, EDGES, vertices=VERTICES)


def test_damage_at_the_ends_of_a_file_is_seen_without_checksums(saved):
    for name in FILES:
        whole = (saved / name).read_bytes()
        for damage in (b"\0" * len(whole), whole[:-64] + b"\0" * 64):
            (saved / name).write_bytes(damage)
            refused(saved, "damaged")
        (saved / name).write_bytes(whole)


def test_every_byte_of_the_manifest_is_checked(saved):
    file = saved / "manifest.json"
    whole = file.read_bytes()
    for place in range(0, len(whole), 29):
        flip(file, place)
        if json_of(file) == json.loads(whole):  # a blank between two values
            load(saved)
        else:
            refused(saved, "manifest|newer|format version")
        file.write_bytes(whole)
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused(saved, "manifest.json is damaged")
    file.unlink()
    refused(saved, "torn: it has no manifest.json, which is written last")


def json_of(file):
    try:
        return json.loads(file.read_text())
    except ValueError:
        return None


def test_files_of_another_graph_do_not_fit(saved, tmp_path):
    other = OTHERS.graph(order="degree").save(tmp_path / "other")
    (saved / "given-offsets.arrow").write_bytes((other / "given-offsets.arrow").read_bytes())
    refused(saved, "torn|damaged")


# -- foreign ----------------------------------------------------------------------------------


def test_a_folder_of_a_newer_version(saved):
    content = json.loads((saved / "manifest.json").read_text())
    content |= {"version": 6, "library": "7.0", "files": "in another form"}
    (saved / "manifest.json").write_text(json.dumps(content))
    refused(saved, r"format version 6, written by dask_graphgpu 7\.0.*reads version 5: upgrade")
    (saved / "manifest.json").write_text(json.dumps(content | {"version": 4}))
    refused(saved, r"format version 4, .*reads version 5: save the graph again")


def test_what_is_no_saved_graph(tmp_path):
    refused(tmp_path / "missing", "there is no folder")
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file", "is a file")
    refused(tmp_path, "not a saved graph: it has no manifest.json")
    EDGES.to_parquet(tmp_path / "edges.parquet")
    refused(tmp_path, "not a saved graph")
    for text in ("[]", "{}", '{"format": "of another program"}', "3"):
        (tmp_path / "manifest.json").write_text(text)
        refused(tmp_path, "not a saved graph: its manifest.json is of something else")


def test_what_is_taken_for_a_saved_graph(saved, tmp_path):
    assert is_saved(saved)
    assert is_saved(str(saved))
    (saved / "manifest.json").unlink()
    assert is_saved(saved)  # torn: load says so
    assert not is_saved(tmp_path)
    assert not is_saved(tmp_path / "missing")
    assert not is_saved("s3://bucket/edges")
    EDGES.to_parquet(tmp_path / "edges.parquet")
    (tmp_path / "manifest.json").write_text("{}")
    assert not is_saved(tmp_path)
    assert not is_saved(tmp_path / "edges.parquet")


@pytest.mark.parametrize("stale", [True, "warn", None])
def test_arguments(stale, saved):
    with pytest.raises(errors.InvalidArgument, match="'error', 'ignore'"):
        load(saved, stale=stale)
    with pytest.raises(errors.InvalidArgument, match="steam"):
        load(saved, engine="steam")


# -- stale ------------------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path):
    """A folder of two Parquet files."""
    (tmp_path / "edges").mkdir()
    EDGES[:30].to_parquet(tmp_path / "edges" / "a.parquet")
    EDGES[30:].to_parquet(tmp_path / "edges" / "b.parquet")
    return tmp_path / "edges"


def add_a_file(folder):
    OTHERS.to_parquet(folder / "c.parquet")
    return "c.parquet is new"


def write_again(folder):
    EDGES[30:].to_parquet(folder / "b.parquet")
    os.utime(folder / "b.parquet", ns=(1, 1))
    return "b.parquet was written again"


def other_size(folder):
    state = (folder / "b.parquet").stat()
    OTHERS[:1].to_parquet(folder / "b.parquet")
    os.utime(folder / "b.parquet", ns=(state.st_atime_ns, state.st_mtime_ns))
    return "b.parquet was written again"


def remove_one(folder):
    (folder / "a.parquet").unlink()
    return "a.parquet is gone"


@pytest.mark.parametrize("change", [add_a_file, write_again, other_size, remove_one])
@pytest.mark.parametrize("persisted", [False, True])
def test_parquet_that_changed(change, persisted, parquet, tmp_path):
    graph = dd.read_parquet(parquet).graph()
    path = (graph.persist() if persisted else graph).save(tmp_path / "saved")
    wanted = distances(path)
    news = change(parquet)
    refused(path, f"stale: of the Parquet it was built from, .*{re.escape(news)}.*stale='ignore'")
    pd.testing.assert_frame_equal(distances(path, stale="ignore"), wanted)
    copy = load(path, stale="ignore").save(tmp_path / "copy")
    refused(copy, "stale")  # a copy is not newer


def test_new_file_of_a_pattern(parquet, tmp_path):
    path = dd.read_parquet(str(parquet / "*.parquet")).graph().save(tmp_path / "saved")
    assert_holds(path, EDGES)
    refused(path, add_a_file(parquet))


def test_new_file_beside_those_that_were_named(parquet, tmp_path):
    files = [str(parquet / "a.parquet"), str(parquet / "b.parquet")]
    path = dd.read_parquet(files).graph().save(tmp_path / "saved")
    one = dd.read_parquet(files[0]).graph().save(tmp_path / "one")
    add_a_file(parquet)
    assert_holds(path, EDGES)
    assert_holds(one, EDGES[:30])


def test_parquet_that_changed_between_persist_and_save(parquet, tmp_path):
    graph = dd.read_parquet(parquet).graph().persist()
    write_again(parquet)
    refused(graph.save(tmp_path / "saved"), "stale")


def test_parquet_of_vertices_that_changed(parquet, tmp_path):
    VERTICES.to_parquet(tmp_path / "vertices.parquet")
    vertices = dd.read_parquet(tmp_path / "vertices.parquet")
    path = dd.read_parquet(parquet).graph(vertices=vertices).save(tmp_path / "saved")
    assert_holds(path, EDGES, vertices=VERTICES)
    os.utime(tmp_path / "vertices.parquet", ns=(1, 1))
    refused(path, "vertices.parquet was written again")


def test_parquet_beside_a_frame_in_memory(parquet, tmp_path):
    path = dd.read_parquet(parquet).graph(vertices=VERTICES).save(tmp_path / "saved")
    assert_holds(path, EDGES, vertices=VERTICES)
    refused(path, write_again(parquet))


def test_parquet_that_is_gone_is_not_missed(parquet, tmp_path):
    path = dd.read_parquet(parquet).graph().save(tmp_path / "saved")
    parquet.rename(tmp_path / "elsewhere")
    assert len(distances(path)) == 11


def test_frames_that_were_computed_are_not_looked_after(parquet, tmp_path):
    frame = dd.read_parquet(parquet)
    path = frame[frame["weight"] > 0].graph().save(tmp_path / "saved")
    assert json.loads((path / "manifest.json").read_text())["source_files"] is None
    write_again(parquet)
    assert len(distances(path)) == 11


# -- replacing --------------------------------------------------------------------------------


def test_a_saved_graph_is_replaced(saved):
    assert OTHERS.graph(directed=False).save(saved) == saved
    assert_holds(saved, OTHERS, directed=False)
    assert [file.name for file in saved.parent.iterdir()] == ["saved"]


def test_a_torn_one_is_replaced(saved):
    (saved / "given-offsets.arrow").unlink()
    EDGES.graph().save(saved)
    assert_holds(saved, EDGES)


def test_parents_are_made_and_empty_folders_taken(tmp_path):
    assert_holds(EDGES.graph().save(tmp_path / "a" / "b"), EDGES)
    (tmp_path / "empty").mkdir()
    assert_holds(EDGES.graph().save(str(tmp_path / "empty")), EDGES)


def test_the_folder_behind_a_link_is_replaced(saved, tmp_path):
    (tmp_path / "link").symlink_to(saved)
    OTHERS.graph().save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert_holds(saved, OTHERS)


def test_anything_else_is_not_replaced(saved, tmp_path):
    (tmp_path / "file").write_text("kept")
    (tmp_path / "results").mkdir()
    EDGES.to_parquet(tmp_path / "results" / "part.0.parquet")
    (tmp_path / "arrow").mkdir()
    (tmp_path / "arrow" / "mine.arrow").write_text("kept")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "manifest.json").write_text('{"format": "of another program"}')
    (saved / "notes.arrow").write_text("kept")
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    for name, what in [
        ("file", "is a file"),
        ("results", "not a saved graph: it holds part.0.parquet"),
        ("arrow", "not a saved graph: it holds mine.arrow"),
        ("foreign", "not a saved graph: it holds manifest.json"),
        ("saved", "not a saved graph: it holds notes.arrow"),
    ]:
        with pytest.raises(errors.OutputError, match=what):
            EDGES.graph().save(tmp_path / name)
    with pytest.raises(errors.OutputError, match="folder of its own"):
        EDGES.graph().save("/")
    with pytest.raises(errors.InvalidArgument, match="give a path"):
        EDGES.graph().save("")
    with pytest.raises(errors.InvalidArgument, match="is a URL of 'ftp'; allowed are"):
        EDGES.graph().save("ftp://host/saved")
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_a_graph_is_not_built_for_a_folder_that_is_refused(tmp_path):
    (tmp_path / "file").write_text("kept")
    frame = dd.from_map(lambda i: pytest.fail("read"), range(2), meta=EDGES[:0])
    with pytest.raises(errors.OutputError, match="is a file"):
        frame.graph().save(tmp_path / "file")


def big(number):
    rng = np.random.default_rng(number)
    return pd.DataFrame({"src": rng.integers(0, 99, 50_000), "dst": rng.integers(0, 99, 50_000)})


def failing_save(path, reason):
    wanted = OTHERS.graph().save(path)
    with pytest.raises(errors.OutputError, match=f"{reason}.*what was there before is untouched"):
        big(1).graph().save(path)
    assert_holds(wanted, OTHERS)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_full_disk(tmp_path):
    with full_disk(tmp_path, "200k"):
        failing_save(tmp_path / "saved", "No space left on device")


def test_file_too_large(tmp_path):
    with short_files(100_000):
        failing_save(tmp_path / "saved", "File too large")


# A child process per step, killed just before the n-th step of saving; the last one lives. Prints,
# for each, the rows of the graph that the folder holds then, checked byte by byte.
KILLED_AT_EVERY_STEP = """
import os, signal, sys
import pandas as pd
import dask_graphgpu
from dask_graphgpu.io import replace
from dask_graphgpu.store import manifest, save
from dask_graphgpu.store.saved import open_partition, read

path = sys.argv[1]
frame = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 3, 3], "weight": [3, 2, 1, 4]})
frame.graph().save(path)
graph = frame[:2].graph().persist()

def rows():
    found = read(path, verify=True)
    return open_partition(path, found.fingerprint).num_rows

def killing(module, name, kill_at, steps=[0]):
    function = getattr(module, name)
    def counted(*args):
        steps[0] += 1
        if steps[0] == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args)
    setattr(module, name, counted)

step, killed = 0, True
while killed:
    step += 1
    child = os.fork()
    if child == 0:
        for module, name in [(save, "write_column"), (manifest, "write"), (save, "digest"),
                             (replace, "_sync"), (replace, "_put"), (replace, "_exchange"),
                             (replace, "_clear")]:
            killing(module, name, step)
        graph.save(path)
        os._exit(0)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    print(step, int(killed), rows(), flush=True)
print(len(os.listdir(os.path.dirname(path))))
"""


def test_a_killed_save_leaves_the_old_graph_or_the_new_one(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_STEP, str(tmp_path / "saved")],
        capture_output=True,
        text=True,
        check=True,
    )
    *lines, beside = done.stdout.splitlines()
    steps = [tuple(map(int, line.split())) for line in lines]
    assert len(steps) > 25
    assert [killed for _, killed, _ in steps] == [1] * (len(steps) - 1) + [0]
    held = [rows for _, _, rows in steps]
    assert set(held) == {4, 2}
    assert held == sorted(held, reverse=True)  # once the new one is there, it stays
    assert beside == "1"  # what killed ones left is gone


def test_manifest_is_written_last(saved):
    times = {file.name: file.stat().st_mtime_ns for file in saved.iterdir()}
    assert max(times.values()) == times[manifest.NAME]
