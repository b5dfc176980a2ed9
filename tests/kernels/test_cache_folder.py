"""Where compiled code may lie, and what is removed."""

import os
import pwd
import tempfile
import time
from pathlib import Path

import dask
import pytest

from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.kernels import cache_folder

DAY = 24 * 60 * 60
OLD = time.time() - 91 * DAY


def name(kind, letter):
    return kind + letter * 24


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user without a folder of his own choice, and an empty home."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with dask.config.set({"graphgpu.cache-directory": None}):
        yield tmp_path / "home"


@pytest.fixture
def temporary(home):
    return home.parent / "temporary" / f"dask-graphgpu-{os.getuid()}"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_chosen_folder_that_others_may_write_is_refused(tmp_path, mode):
    tmp_path.chmod(mode)
    with (
        dask.config.set({"graphgpu.cache-directory": str(tmp_path)}),
        pytest.raises(EngineUnavailable, match=r"cache-directory.*written by somebody else.*0700"),
    ):
        cache_folder.folder()


NOBODY = 65534


def as_nobody(check):
    """Run a check in a child that may write nothing of ours; whether it has passed."""
    child = os.fork()
    if child == 0:
        passed = False
        try:
            if os.getuid() == 0:
                os.setuid(NOBODY)
            passed = check()
        finally:
            os._exit(0 if passed else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_chosen_folder_that_the_system_has_filled_is_read():
    """As in a container whose image was made by root and that runs as another user."""
    with tempfile.TemporaryDirectory() as parent:
        base = Path(parent, "cache")
        with dask.config.set({"graphgpu.cache-directory": str(base)}):
            kept = cache_folder.entry(name(cache_folder.CUDA, "a"))
            cache_folder.write(kept / "code", b"compiled")
            os.chmod(parent, 0o755)
            for folder in (kept, base):
                folder.chmod(0o555)

            def check():
                found = cache_folder.entry(kept.name)
                missing = cache_folder.entry(name(cache_folder.CUDA, "b"))
                with pytest.raises(OSError, match=missing.name):
                    cache_folder.write(missing / "code", b"compiled")
                return (found / "code").read_bytes() == b"compiled" and not missing.exists()

            assert as_nobody(check)
            for folder in (base, kept):
                folder.chmod(0o700)


@pytest.mark.parametrize("chosen", ["{tmp}/file/below", "~no-such-user-at-all/cache"])
def test_a_chosen_folder_that_cannot_be_is_an_error(tmp_path, chosen):
    (tmp_path / "file").touch()
    with (
        dask.config.set({"graphgpu.cache-directory": chosen.format(tmp=tmp_path)}),
        pytest.raises(EngineUnavailable, match=r"graphgpu.cache-directory is"),
    ):
        cache_folder.folder()


def test_the_default_folder_is_the_users(home, monkeypatch):
    assert cache_folder.folder() == home / ".cache" / "dask-graphgpu"
    assert (home / ".cache" / "dask-graphgpu").stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "elsewhere"))
    assert cache_folder.folder() == home / "elsewhere" / "dask-graphgpu"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # means nothing, says the specification
    assert cache_folder.folder() == home / ".cache" / "dask-graphgpu"


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_a_default_folder_that_others_may_write_is_passed_over(home, temporary, mode):
    (home / ".cache" / "dask-graphgpu").mkdir(parents=True)
    (home / ".cache" / "dask-graphgpu").chmod(mode)
    assert cache_folder.folder() == temporary
    assert temporary.stat().st_mode & 0o777 == 0o700


def test_without_a_home_no_folder_is_named_by_a_tilde(temporary, tmp_path, monkeypatch):
    def nobody(uid):
        raise KeyError(uid)

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.chdir(tmp_path)
    assert cache_folder.folder() == temporary
    assert not (tmp_path / "~").exists()


def test_a_link_in_the_temporary_folder_is_not_followed(home, temporary):
    (home / ".cache").touch()
    (home / "mine").mkdir(mode=0o700)
    temporary.symlink_to(home / "mine")
    with pytest.warns(RuntimeWarning, match="not kept"):
        assert cache_folder.folder() is None


def test_where_no_folder_can_be_written_there_is_none(home, monkeypatch):
    (home / ".cache").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(home / ".cache"))
    with pytest.warns(RuntimeWarning, match=r"not kept.*graphgpu.cache-directory"):
        assert cache_folder.folder() is None
    with pytest.warns(RuntimeWarning, match="not kept"):
        assert cache_folder.entry(name(cache_folder.PROGRAM, "a")) is None


def test_what_was_not_used_for_long_is_removed_and_nothing_else(home):
    base = cache_folder.folder()
    old, young, kernels = (
        name(cache_folder.PROGRAM, "a"),
        name(cache_folder.PROGRAM, "b"),
        name(cache_folder.KERNELS, "c"),
    )
    foreign = ["photographs", old + ".jpg", "dask_graphgpu_program_of_the_evening"]
    for folder in (old, young, kernels, *foreign):
        (base / folder).mkdir()
        (base / folder / "file").touch()
        if folder != young:
            os.utime(base / folder, (OLD, OLD))
    used = cache_folder.entry(name(cache_folder.PROGRAM, "d"))
    assert sorted(path.name for path in base.iterdir() if path.is_dir()) == sorted(
        [young, used.name, *foreign]
    )


def test_use_keeps_an_entry(home):
    base = cache_folder.folder()
    used = base / name(cache_folder.PROGRAM, "a")
    used.mkdir()
    os.utime(used, (OLD, OLD))
    assert cache_folder.entry(used.name) == used
    assert used.stat().st_mtime > time.time() - DAY


def test_a_sweep_takes_place_once_a_day(home):
    base = cache_folder.folder()
    old = base / name(cache_folder.PROGRAM, "a")
    cache_folder.entry(name(cache_folder.PROGRAM, "b"))
    old.mkdir()
    os.utime(old, (OLD, OLD))
    cache_folder.entry(name(cache_folder.PROGRAM, "b"))
    assert old.exists()
    mark = base / "dask_graphgpu_swept"
    os.utime(mark, (time.time() - 1.1 * DAY,) * 2)
    cache_folder.entry(name(cache_folder.PROGRAM, "b"))
    assert not old.exists()
