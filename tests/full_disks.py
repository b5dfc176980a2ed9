"""File systems on which writing fails, for a while."""

import os
import resource
import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def full_disk(folder, size):
    """A folder is a small file system; skips the test where it may not be made."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("may not mount a small file system here; test_file_too_large takes its place")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def short_files(size):
    """Files of this process end at so many bytes."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
