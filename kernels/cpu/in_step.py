"""Threads that go through many steps in one call, and wait for each other after each.

To wake a thread takes as long as tens of thousands of edges. Here each is woken once; it takes blocks of the step that
is under way, whoever's, waits until all are done, and goes on to the next. One that comes late, or never, is
not waited for: it finds the steps behind done, and goes past them.

Encoding
--------
claimed, done : int64 a step, 0 at first. Blocks of a step that were taken, and that are done.
"""

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add, atomic_load, fence, nap

# Looks, some ten microseconds, after which a thread that waits sleeps: another one has no processor then, and who only
# looks takes it from it.
LOOKS = 1 << 14


@jit
def claim(claimed, step):
    """A block of a step that is this thread's, if it is below the number of blocks."""
    return atomic_add(claimed, step, 1)


@jit
def finish(done, step):
    """Say that a block is done: whoever has waited for the step sees what was written."""
    fence()
    atomic_add(done, step, 1)


@jit
def wait(done, step, blocks):
    """Wait until all blocks of a step are done."""
    looks = 0
    while atomic_load(done, step) < blocks:
        looks += 1
        if looks > LOOKS:
            nap()
    fence()
