"""File systems on which writing fails, for a while."""

import os
import resource
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def full_disk(folder, size):
    """A folder is a small file system; skips the test where it may not be made."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("may not mount a small file system here")
    try:
        yield
    finally:
        unmount(folder)


def unmount(folder):
    """Takes a file system away; what was to write there must have closed its files.

    A process that another thread has just forked holds them for a moment, too.
    """
    deadline = time.monotonic() + 5
    while subprocess.run(["umount", str(folder)], capture_output=True, check=False).returncode:
        if time.monotonic() > deadline:
            held = open_files(folder)
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
            assert not held, f"left open: {held}"
            return
        time.sleep(0.05)


def open_files(folder):
    """The files in a folder that this process has open or mapped."""
    described = (Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd"))
    opened = {os.readlink(link) for link in described if link.is_symlink()}
    mapped = {
        line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines()
    }
    return sorted(path for path in opened | mapped if path.startswith(f"{folder}/"))


@contextmanager
def short_files(size):
    """Files of this process end at so many bytes."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
