"""The modules of the package, by the folders where they really are."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
TOP_LEVEL = {"kernels": "dask_graphgpu.kernels", "io": "dask_graphgpu.io"}


def modules():
    """Dotted name -> file of every module in the package, by the real folders."""
    found = {}
    for folder, name in {"dask_graphgpu": "dask_graphgpu", **TOP_LEVEL}.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            if folder == "dask_graphgpu" and parts[0] in TOP_LEVEL:
                continue  # the link
            found[".".join((name, *parts)).removesuffix(".__init__")] = path
    return found


MODULES = modules()
