"""``python -m dask_graphgpu.prebuild``: machine code of the usual kernels, for a wheel that is built next.

It goes to ``kernels/prebuilt`` in the checkout, from where the wheel takes it. This takes NVRTC and no GPU. Code of
vertex programs is good for the Python only that made it: call this by each that the wheel is for, and what one has made
stays beside what the next one makes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from dask_graphgpu.kernels import cuda_build, prebuilt
from dask_graphgpu.prebuild.usual import usual

# One of each generation: later ones of the same generation run its code.
ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "sm_120")


def _take_for_device(arch: str) -> None:
    """Have Numba compile for this architecture what functions call, whichever GPU is here, or none."""
    device = SimpleNamespace(compute_capability=(int(arch[3:-1]), int(arch[-1])))
    dispatcher: Any = import_module("numba.cuda.dispatcher")
    dispatcher.get_current_device = lambda: device


def compiled(arch: str, share: int, shares: int) -> dict[str, bytes]:
    """Every so many of the kernels, by the names that they have in the archive."""
    made = {}
    for asked in list(usual())[share::shares]:
        whole = cuda_build.joined(asked.source, asked.defines, asked.text)
        name = prebuilt.name_of(cuda_build.texts(whole, asked.functions))
        made[name] = cuda_build.cubin(
            asked.source, arch, defines=asked.defines, text=asked.text, functions=asked.functions
        )
    return made


@click.command()
@click.option(
    "--arch",
    "archs",
    multiple=True,
    default=ARCHITECTURES,
    show_default=True,
    help="Of GPUs; repeatable.",
)
@click.option(
    "--folder", type=click.Path(path_type=Path), default=prebuilt.FOLDER, show_default=True
)
def main(archs: Sequence[str], folder: Path) -> None:
    """Compile the usual kernels for some architectures, on all cores."""
    shares = os.cpu_count() or 1
    for arch in archs:
        with ProcessPoolExecutor(
            shares, get_context("spawn"), initializer=_take_for_device, initargs=(arch,)
        ) as processes:
            parts = processes.map(compiled, [arch] * shares, range(shares), [shares] * shares)
            codes = {name: code for part in parts for name, code in part.items()}
        path = prebuilt.write(folder, arch, codes)
        click.echo(f"{path}: {len(codes)} kernels, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
