"""Packages that need not be installed."""

from __future__ import annotations

import importlib
from types import ModuleType

from dask_graphgpu.errors import MissingPackage


def imported(module: str, extra: str, what: str) -> ModuleType:
    """A module of a package that an extra of this one installs; imported when it is first used.

    Raises
    ------
    MissingPackage
        It cannot be imported, and ``what`` needs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingPackage(
            f"{what} needs {package}, which cannot be imported ({error}): pip install "
            f"'dask-graphgpu[{extra}]'"
        ) from None
