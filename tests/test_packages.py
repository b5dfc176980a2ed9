"""What is installed: every package and data file is listed, and the links show the folders at the top."""

import fnmatch
import tomllib
from pathlib import Path

import pytest
from package_modules import MODULES, ROOT, TOP_LEVEL

SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def test_every_package_is_listed():
    folders = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    folder_of = SETUPTOOLS["package-dir"]
    listed = {
        name if name.startswith("dask_graphgpu") else folder_of[name].replace("/", ".")
        for name in SETUPTOOLS["packages"]
    }
    assert folders == listed


def test_every_folder_of_modules_is_a_package():
    without = {path.parent for path in MODULES.values()} - {
        path.parent for path in MODULES.values() if path.name == "__init__.py"
    }
    assert not without


def test_every_data_file_is_shipped():
    patterns = {
        f"{SETUPTOOLS['package-dir'].get(package, package.replace('.', '/'))}/{pattern}"
        for package, globs in SETUPTOOLS["package-data"].items()
        for pattern in globs
    }
    developer_files = {"dask_graphgpu/algorithms/ruff.toml"}
    for folder in ("dask_graphgpu", *TOP_LEVEL):
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.is_dir() or path.suffix == ".py" or "__pycache__" in name or "/." in name:
                continue
            assert name in developer_files or any(fnmatch.fnmatch(name, p) for p in patterns), (
                f"{name} is in no package-data pattern of pyproject.toml: a wheel would lack it"
            )


@pytest.mark.parametrize("folder", TOP_LEVEL)
def test_link_shows_the_folder_at_the_top(folder):
    link = ROOT / "dask_graphgpu" / folder
    assert link.is_symlink()
    assert link.readlink() == Path("..") / folder
    assert SETUPTOOLS["package-dir"][TOP_LEVEL[folder]] == folder
    assert not (ROOT / folder).is_symlink()
