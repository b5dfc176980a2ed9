"""Pages on disk have to be gone once their graph is, at once: not when Python next looks for cycles."""

import gc
import time
from contextlib import contextmanager


@contextmanager
def no_collector():
    """Objects go only once nothing refers to them. Those of before that wait for a collection go on waiting."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def assert_swept(folder):
    """Nothing is left. A thread that has read, or compiles for a run that is over, may let go of it later."""
    for _ in range(500):
        left = [each for directory in folder.iterdir() for each in directory.iterdir()]
        if not left:
            return
        time.sleep(0.02)
    raise AssertionError(left)
