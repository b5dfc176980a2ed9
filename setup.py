"""A source distribution has the links of the checkout; all else is said in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.sdist import sdist

LINKS = ("io", "kernels")


class SourceDistribution(sdist):
    """With the links dask_graphgpu/io and dask_graphgpu/kernels, so that its tests run where it is unpacked."""

    def make_release_tree(self, base_dir, files):
        """Lay out what goes into the archive."""
        super().make_release_tree(base_dir, files)
        for name in LINKS:
            (Path(base_dir) / "dask_graphgpu" / name).symlink_to(f"../{name}")


setup(cmdclass={"sdist": SourceDistribution})
