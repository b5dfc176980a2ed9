"""What a graph method shows of itself: its parameters, its documentation, and what is wrong with a call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from inspect import Parameter, Signature
from typing import Any, get_type_hints

from dask_graphgpu.algorithms.algorithm import Algorithm, Resumable
from dask_graphgpu.errors import InvalidArgument

_NAMING = """
columns : dict of str to str, optional
    Other names for the columns that the method makes, by those below. Columns of the edge frame keep
    theirs, and one that would be called as one of them is ``<method>_<column>``.
"""
_KEEPING = """\
checkpoint : str, Path or Checkpoint, optional
    Folder in which the run writes its state down, until it has its result.
resume : bool
    Go on from the checkpoint; from the start if there is none.
"""

# What others call an argument of ours.
_OTHERWISE = {
    "target": "destination", "dst": "destination", "to": "destination", "src": "source",
    "edge_attr": "weight", "weights": "weight", "alpha": "damping", "tol": "tolerance",
    "max_iter": "max_iterations", "iterations": "max_iterations", "iters": "max_iterations",
}  # fmt: skip


def signature_of(algorithm: Callable[..., Algorithm]) -> Signature:
    """The parameters of the dataclass, those that all methods share last."""
    given, kinds = inspect.signature(algorithm).parameters, get_type_hints(algorithm)
    shared = [field.name for field in fields(Resumable) if field.name in given]
    names = [*(name for name in given if name not in shared), *shared]
    parameters = [given[name].replace(annotation=kinds[name]) for name in names]
    return Signature(parameters, return_annotation="DataFrame")


def options_of(graph: type) -> Signature:
    """The parameters of the class `Graph` but for the frame."""
    _, *options = inspect.signature(graph).parameters.values()
    return Signature(options, return_annotation="Graph")


def of_method(signature: Signature) -> Signature:
    """The same with ``self`` first, as the function in the class has it."""
    this = Parameter("self", Parameter.POSITIONAL_ONLY)
    return signature.replace(parameters=[this, *signature.parameters.values()])


def documentation_of(algorithm: Any) -> str | None:
    """The docstring of the dataclass, with the parameters that all methods share; None under ``python -OO``."""
    if algorithm.__doc__ is None:
        return None
    text = inspect.cleandoc(algorithm.__doc__)
    before, returns, after = text.partition("\nReturns\n-------\n")
    assert returns, f"{algorithm.__name__} does not say what it returns"
    if "\nParameters\n----------\n" not in before:
        before += "\nParameters\n----------\n"
    shared = _NAMING + _KEEPING * issubclass(algorithm, Resumable)
    return before.rstrip("\n") + shared + returns + after


def check_call(
    name: str, signature: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Raise TypeError for arguments that a method does not take, or lacks; with how it is called.

    Raises
    ------
    TypeError
    InvalidArgument
        A checkpoint is asked of a method that has none.
    """
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        unknown = [each for each in kwargs if each not in signature.parameters]
        if {"checkpoint", "resume"} & set(unknown):
            raise InvalidArgument(
                f"{name} has no checkpoints: they are of methods that run vertex programs, such as sssp "
                "and pagerank; leave checkpoint= and resume= out"
            ) from None
        plain = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
        raise TypeError(
            f"{name}(): {error}{_guess(unknown, signature)}; it is called as {name}{Signature(plain)}"
        ) from None


def _guess(unknown: list[str], signature: Signature) -> str:
    """What the first name that is none may have meant."""
    for name in unknown[:1]:
        other = _OTHERWISE.get(name)
        near = [other] if other in signature.parameters else []
        near += get_close_matches(name, signature.parameters, 1)
        if near:
            return f" (did you mean {near[0]}=?)"
    return ""
