"""Importing this has Numba read what it knows of Python and NumPy, which it does else at the first kernel."""

from numba.core.registry import cpu_target

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
