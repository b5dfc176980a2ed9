"""What CUDA sources are compiled for, in tests that need no GPU, and how."""

from contextlib import ExitStack
from functools import partial
from unittest import mock

import numpy as np

# Everything is compiled for the first. What differs by more than its types is for the second, too, which has the fewest
# instructions, and by turns for one of the others.
ARCHITECTURES = ("sm_90", "sm_75", "sm_80", "sm_100", "sm_120")
WIDTHS = {np.uint32: "unsigned int", np.uint64: "unsigned long long"}


def by_turns(number):
    """The architectures beside the first that the case of a number is compiled for."""
    _, oldest, *others = ARCHITECTURES
    return oldest, others[number % len(others)]


def compiles(source, architecture, *, optimised=False, **given):
    """Hold that a source becomes machine code.

    Unless it is ``optimised`` as for a GPU, which takes several times as long: the language, types,
    instructions and limits of an architecture are looked at all the same. That is not kept on disk.
    """
    from cuda import core

    from dask_graphgpu.kernels import cuda_build
    from dask_graphgpu.kernels.compile import cuda_cubin

    quick = {
        "ProgramOptions": {"ofast_compile": "max", "ptxas_options": ["-O0"]},
        "LinkerOptions": {"optimization_level": 0},
    }
    with ExitStack() as stack:
        if not optimised:
            stack.enter_context(mock.patch.object(cuda_build, "_kept", return_value=None))
            for name, options in quick.items():
                made = partial(getattr(core, name), **options)
                stack.enter_context(mock.patch.object(core, name, made))
        assert cuda_cubin(source, architecture, **given)[:4] == b"\x7fELF"


def lowered(program, weight, ids, offsets, *, narrow=None, ranks=False, id_bits=None):
    """A program for a graph of such weights (a dtype, or None), ids and offsets.

    ``narrow``: values are stored in 32 bits. Default: if they fit. ``ranks``: the graph is on several.
    ``id_bits``: edges are words with ids of so many bits, and weights of 7 unless they are floats.
    """
    # They load Numba.
    from dask_graphgpu.engine.cuda.lower import Lowered, may_be_narrow
    from dask_graphgpu.engine.cuda.outline import columns as read_columns
    from dask_graphgpu.engine.cuda.packing import Packing
    from dask_graphgpu.engine.state import Binding
    from dask_graphgpu.partition.csr import from_edges
    from dask_graphgpu.partition.view import View

    columns = {} if weight is None else {"weight": np.ones(2, weight)}
    edges = from_edges(3, np.array([0, 1], ids), np.array([1, 2], ids), columns)
    view = View.of(edges)
    if ranks:
        view.numbers = np.arange(3).astype(ids)
    binding = Binding(program, view)
    packing = None
    if id_bits is not None:
        read = read_columns(binding)
        ranges = {name: (-3, 99) for name, dtype in read.items() if dtype.kind != "f"}
        packing = Packing.of(1 << id_bits, np.dtype(ids), read, ranges)
        assert packing is not None
    return Lowered(
        binding,
        packing=packing,
        narrow=may_be_narrow(binding) if narrow is None else narrow,
        every=program.combine == "sum" and program.active is None,
        defines={"ID": WIDTHS[ids], "OFFSET": WIDTHS[offsets]},
        degree=np.dtype(np.uint32),
        weighted_degree=np.dtype(np.uint32 if weight is None else binding.weight_dtype),
    )
