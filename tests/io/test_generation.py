"""A folder that others replace while it is read is seen whole, the old one or the new one."""

import os
import threading
import time

import pytest

from dask_graphgpu.errors import GraphError
from dask_graphgpu.io import generation, replace
from dask_graphgpu.io.generation import OpenFolder, of_one_generation
from dask_graphgpu.io.replace import replacing

NAMES = [f"file-{i}" for i in range(20)]


def write(folder, text):
    with replacing(folder, lambda _: []) as new:
        for name in NAMES:
            (new / name).write_text(text)


def texts(folder):
    """What is in the files, opened one after the other."""
    found = set()
    for name in NAMES:
        with folder.open(name) as file:
            found.add(file.read())
    return found


def test_files_are_those_of_the_folder_that_was_opened(tmp_path):
    write(tmp_path / "a", "old")
    with OpenFolder(tmp_path / "a") as folder, replacing(tmp_path / "a", lambda _: []) as new:
        (new / "other").touch()
        assert not folder.is_replaced()
        (tmp_path / "a").rename(tmp_path / "aside")
        write(tmp_path / "a", "new")
        assert texts(folder) == {b"old"}
        assert folder.is_replaced()


def test_it_is_looked_at_again_when_it_was_replaced(tmp_path):
    write(tmp_path / "a", "0")
    looks = []

    def look(folder):
        looks.append(len(looks))
        if len(looks) < 4:
            with folder.open(NAMES[0]):
                write(tmp_path / "a", str(len(looks)))
        return texts(folder)

    assert of_one_generation(tmp_path / "a", look) == {b"3"}
    assert looks == [0, 1, 2, 3]


def test_an_error_of_what_is_there_is_raised_at_once(tmp_path):
    write(tmp_path / "a", "old")
    looks = []

    def look(folder):
        looks.append(1)
        raise GraphError("not what I want")

    with pytest.raises(GraphError, match="not what I want"):
        of_one_generation(tmp_path / "a", look)
    assert len(looks) == 1
    with pytest.raises(FileNotFoundError):
        of_one_generation(tmp_path / "missing", look)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        of_one_generation(tmp_path / "file", look)


@pytest.mark.parametrize("way", ["exchange", "two steps"])
def test_a_reader_beside_a_writer(tmp_path, monkeypatch, way):
    if way == "two steps":
        monkeypatch.setattr(replace, "_renameat2", lambda: None)
    write(tmp_path / "a", "0")
    stop = threading.Event()

    def replace_it():
        number = 0
        while not stop.is_set():
            number += 1
            write(tmp_path / "a", str(number))

    writer = threading.Thread(target=replace_it)
    writer.start()
    seen, end = set(), time.monotonic() + 60
    try:
        while len(seen) < 20 and time.monotonic() < end:
            (text,) = of_one_generation(tmp_path / "a", texts)
            seen.add(text)
    finally:
        stop.set()
        writer.join()
    assert len(seen) == 20


def test_a_writer_killed_between_two_renames_is_put_right(tmp_path):
    write(tmp_path / "a", "old")
    staging = tmp_path / ".a.0123456789abcdef.partial"
    staging.mkdir()
    (staging / "lock").touch()
    (tmp_path / "a").rename(staging / "previous")
    assert of_one_generation(tmp_path / "a", texts) == {b"old"}
    assert os.listdir(tmp_path) == ["a"]


def test_a_writer_that_stands_still_between_two_renames_is_not_waited_for_long(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(generation, "_PATIENCE", 0.05)
    write(tmp_path / "a", "old")
    staging, lock = replace._stage(tmp_path / "a")
    (tmp_path / "a").rename(staging / "previous")
    with lock, pytest.raises(FileNotFoundError):
        of_one_generation(tmp_path / "a", texts)


def test_only_plain_files_of_the_folder_are_opened(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("secret")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "folder").mkdir()
    os.mkfifo(inside / "pipe")
    with OpenFolder(inside) as folder:
        for name, what in [
            ("link", "is a link"),
            ("folder", "is no plain file"),
            ("pipe", "is no plain file"),
            ("../secret", "is not the name of a file"),
            (str(tmp_path / "secret"), "is not the name of a file"),
            ("..", "is not the name of a file"),
            ("", "is not the name of a file"),
            ("a\0b", "is not the name of a file"),
            ("\ud800", "is not the name of a file"),
            ("none", "No such file"),
        ]:
            with pytest.raises(OSError, match=what):
                folder.open(name)
        assert folder.names() == ["folder", "link", "pipe"]
