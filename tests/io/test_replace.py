"""Replacing a folder in one step, with writers that die at every point."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from dask_graphgpu.io import locks, replace
from dask_graphgpu.io.replace import NotOnDisk, sweep

# A child process per step: it is killed just before the n-th change of the file system that Python reports. The last
# one lives. Prints, for each, what the destination holds before and after the next sweep, and what is left beside it.
KILLED_AT_EVERY_STEP = """
import os, signal, sys
from pathlib import Path
from dask_graphgpu.io import locks, replace

parent, exchanges = Path(sys.argv[1]), sys.argv[2] == "exchange"
destination = parent / "result"
EVENTS = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "open", "fcntl.flock", "shutil.rmtree", "renameat2"}

def content():
    return "+".join(sorted(p.name + "=" + p.read_text() for p in destination.glob("*"))) or "nothing"

def write(text, kill_at):
    steps = 0
    def hook(event, args):
        nonlocal steps
        if event in EVENTS:
            steps += 1
            if steps == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    exchange = replace._exchange
    def announced(one, other):
        sys.audit("renameat2")
        return exchange(one, other) if exchanges else False
    replace._exchange = announced
    with replace.replacing(destination, lambda path: []) as folder:
        (folder / "a").write_text(text)
        (folder / "b").write_text(text)
    os._exit(0)

destination.mkdir()
for name in "ab":
    (destination / name).write_text("0")
step = 0
while True:
    step += 1
    child = os.fork()
    if child == 0:
        write(str(step), step)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    at_once = content()
    replace.sweep(destination)
    print(step, int(killed), at_once, content(), len(list(parent.iterdir())))
    if not killed:
        break
"""


@pytest.fixture(params=["exchange", "two steps"])
def way(request, monkeypatch):
    """The two ways to replace a folder: in one step, and where the file system cannot do that."""
    if request.param == "two steps":
        monkeypatch.setattr(replace, "_renameat2", lambda: None)
    return request.param


def others(folder):
    """Whatever is not `fill`'s."""
    return [entry.name for entry in folder.iterdir() if entry.name != "data"]


def replacing(destination):
    return replace.replacing(destination, others)


def fill(folder, text):
    (folder / "data").write_text(text)


def test_makes_the_folder_and_its_parents(tmp_path, way):
    destination = tmp_path / "a" / "b"
    with replacing(destination) as folder:
        fill(folder, "new")
    assert (destination / "data").read_text() == "new"
    assert list(destination.parent.iterdir()) == [destination]


def test_replaces_a_folder(tmp_path, way):
    destination = tmp_path / "result"
    for text in ("first", "second"):
        with replacing(destination) as folder:
            fill(folder, text)
    assert (destination / "data").read_text() == "second"
    assert list(tmp_path.iterdir()) == [destination]


def test_failure_leaves_the_old_folder_alone(tmp_path, way):
    destination = tmp_path / "result"
    with replacing(destination) as folder:
        fill(folder, "old")
    with pytest.raises(FileNotFoundError), replacing(destination) as folder:
        fill(folder, "new"), fill(folder / "missing", "new")
    assert (destination / "data").read_text() == "old"
    assert list(tmp_path.iterdir()) == [destination]


def test_failed_second_step_brings_the_old_folder_back(tmp_path, monkeypatch):
    monkeypatch.setattr(replace, "_renameat2", lambda: None)
    destination = tmp_path / "result"
    with replacing(destination) as folder:
        fill(folder, "old")
    rename = Path.rename

    def refuse_the_new_one(self, target):
        if self.name == "new" and not destination.exists():
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse_the_new_one)
    with pytest.raises(OSError, match="Input/output error"), replacing(destination) as folder:
        fill(folder, "new")
    assert (destination / "data").read_text() == "old"
    assert list(tmp_path.iterdir()) == [destination]


@pytest.mark.parametrize("exchange", ["exchange", "two-step"])
def test_killed_writer_leaves_old_or_new(tmp_path, exchange):
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_STEP, str(tmp_path), exchange],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    assert len(rows) > 10
    assert [row[1] for row in rows] == ["1"] * (len(rows) - 1) + ["0"]
    before = "0"
    for step, _, at_once, after_sweep, entries in rows:
        whole = {f"a={text}+b={text}" for text in (before, step)}
        assert after_sweep in whole
        assert at_once in whole | ({"nothing"} if exchange == "two-step" else set())
        assert entries == "1", f"something was left behind at step {step}"
        before = after_sweep[2:].split("+")[0]
    assert before == rows[-1][0]


def test_living_writer_is_not_swept(tmp_path):
    destination = tmp_path / "result"
    with replacing(destination) as folder:
        fill(folder, "mine")
        sweep(destination)
        with replacing(destination) as other:
            fill(other, "other")
    assert (destination / "data").read_text() == "mine"
    assert list(tmp_path.iterdir()) == [destination]


def test_names_with_wildcards(tmp_path):
    bystander = tmp_path / ".resulta.0123456789abcdef.partial"
    bystander.mkdir()
    left_behind = tmp_path / ".result[a].0123456789abcdef.partial"
    left_behind.mkdir()
    sweep(tmp_path / "result[a]")
    assert bystander.exists()
    assert not left_behind.exists()


def test_another_destination_is_left_alone(tmp_path):
    """A writer of result.v2 was killed between its two renames: its last copy is in its folder."""
    others = tmp_path / ".result.v2.0123456789abcdef.partial"
    (others / "previous").mkdir(parents=True)
    (others / "lock").touch()
    fill(others / "previous", "v2")
    with replacing(tmp_path / "result") as folder:
        fill(folder, "v1")
    sweep(tmp_path / "result.v2")
    assert (tmp_path / "result.v2" / "data").read_text() == "v2"
    assert (tmp_path / "result" / "data").read_text() == "v1"


def test_without_locks_nothing_is_swept_and_writing_works(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", no_locks)
    left_behind = tmp_path / ".result.0123456789abcdef.partial"
    left_behind.mkdir()
    (left_behind / "lock").touch()
    with replacing(tmp_path / "result") as folder:
        fill(folder, "new")
    assert (tmp_path / "result" / "data").read_text() == "new"
    assert left_behind.exists()


def test_what_somebody_has_put_there_meanwhile_is_kept(tmp_path, way):
    destination = tmp_path / "result"
    with replacing(destination) as folder:
        fill(folder, "old")

    def replace_it():
        with replacing(destination) as folder:
            fill(folder, "new")
            (destination / "notes.txt").write_text("mine")

    with pytest.warns(UserWarning, match=r"held notes\.txt, .* as .*result\.[0-9a-f]{8}\.kept"):
        replace_it()
    assert (destination / "data").read_text() == "new"
    kept, _ = sorted(tmp_path.iterdir(), key=lambda path: path.suffix != ".kept")
    assert {entry.name: entry.read_text() for entry in kept.iterdir()} == {
        "data": "old",
        "notes.txt": "mine",
    }
    assert len(list(tmp_path.iterdir())) == 2


def test_a_last_step_that_fails_says_that_the_new_folder_is_there(tmp_path, monkeypatch, way):
    destination, sync = tmp_path / "result", replace._sync

    def no_sync(path):
        if path == tmp_path:
            raise OSError(errno.EIO, "Input/output error")
        sync(path)

    monkeypatch.setattr(replace, "_sync", no_sync)
    with pytest.raises(NotOnDisk, match=r"is in place at .*result, .* Input/output error"):
        with replacing(destination) as folder:
            fill(folder, "new")
    assert (destination / "data").read_text() == "new"
    assert list(tmp_path.iterdir()) == [destination]


@pytest.mark.parametrize("planted", ["staging", "lock", "new", "previous"])
def test_links_are_not_followed(tmp_path, planted):
    """Somebody else may write where the result is to come; what links lead to is not touched."""
    mine = tmp_path / "home"
    mine.mkdir()
    for name in ("new", "previous"):
        (mine / name).mkdir()
        fill(mine / name, "mine")
    (mine / "lock").write_text("mine")
    shared = tmp_path / "shared"
    shared.mkdir()
    staging = shared / ".result.0123456789abcdef.partial"
    if planted == "staging":
        staging.symlink_to(mine)
    else:
        staging.mkdir()
        for name in ("lock", "new", "previous"):
            if name == planted:
                (staging / name).symlink_to(mine / name)
            elif name == "lock":
                (staging / name).touch()
    sweep(shared / "result")
    assert not (shared / "result").exists()
    with replacing(shared / "result") as folder:
        fill(folder, "new")
    assert (shared / "result" / "data").read_text() == "new"
    assert sorted(str(path.relative_to(mine)) for path in mine.rglob("*")) == [
        "lock", "new", "new/data", "previous", "previous/data",
    ]  # fmt: skip
