"""A source distribution has the links of the checkout; all else is said in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

LINKS = ("io", "kernels")


class SourceDistribution(sdist):
    """With the links dask_graphgpu/io and dask_graphgpu/kernels, so that its tests run where it is unpacked."""

    def make_release_tree(self, base_dir, files):
        """Lay out what goes into the archive."""
        super().make_release_tree(base_dir, files)
        for name in LINKS:
            (Path(base_dir) / "dask_graphgpu" / name).symlink_to(f"../{name}")


class Modules(build_py):
    """Says whether the wheel has machine code for GPUs."""

    def run(self):
        """Lay out what goes into the wheel."""
        super().run()
        made = sorted(path.stem for path in Path("kernels", "prebuilt").glob("sm_*.zip"))
        said = ", ".join(made) or "none, so they are compiled where they run"
        self.warn(f"machine code of kernels (by python -m dask_graphgpu.prebuild): {said}")


setup(cmdclass={"build_py": Modules, "sdist": SourceDistribution})
