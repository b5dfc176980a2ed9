"""``python -m dask_graphgpu.prebuild``: machine code of the usual kernels, for a wheel that is built next.

It goes to ``kernels/prebuilt`` in the checkout, from where the wheel takes it. This takes NVRTC and no GPU. Code of
vertex programs is good for the Python only that made it: call this by each that the wheel is for, and what one has made
stays beside what the next one makes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import click

from dask_graphgpu.kernels import prebuilt
from dask_graphgpu.prebuild.compiling import compiled, take_for_device

# One of each generation: later ones of the same generation run its code.
ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "sm_120")


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
@click.option(
    "--source", "sources", multiple=True, help="Only of these files of kernels/cuda; repeatable."
)
def main(archs: Sequence[str], folder: Path, sources: Sequence[str]) -> None:
    """Compile the usual kernels for some architectures, on all cores."""
    shares = os.cpu_count() or 1
    for arch in archs:
        with ProcessPoolExecutor(
            shares, get_context("spawn"), initializer=take_for_device, initargs=(arch,)
        ) as processes:
            parts = processes.map(partial(compiled, arch, shares, sources), range(shares))
            codes = {name: code for part in parts for name, code in part.items()}
        path = prebuilt.write(folder, arch, codes)
        click.echo(f"{path}: {len(codes)} kernels, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
