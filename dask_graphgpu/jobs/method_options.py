"""Options of one method: an option for each argument, with its choices and default from the dataclass."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_origin, get_type_hints

import click

from dask_graphgpu.jobs.list_option import ListOption
from dask_graphgpu.jobs.steps import IDS

_COMMON_FIELDS = {"columns", "checkpoint", "resume"}  # of methods, whose options all commands have
_SAID = re.compile(
    r"^.*?\.(?= |$)|(?<= )Default: .*?\.(?= |$)"
)  # the first sentence, and the default
_CHOICE = re.compile(r'"([^"]*)"')


@dataclasses.dataclass(frozen=True)
class _Said:
    """What a docstring says of a parameter: its type, and the sentences that help shows."""

    kind: str = ""
    text: str = ""

    @property
    def choices(self) -> list[str]:
        return _CHOICE.findall(self.kind) if self.kind.startswith("{") else []


def number(text: str) -> int | float:
    """An integer where the text is one, so that large ones stay exact; else a float."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise click.BadParameter(f"{text!r} is not a number.")


def numbers(text: str) -> int | float | list[int | float]:
    """A number, or where the text has commas a list."""
    if "," not in text:
        return number(text)
    return [number(each.strip()) for each in text.split(",") if each.strip()]


def number_or_text(text: str) -> int | float | str:
    """A number where the text is one."""
    try:
        return number(text)
    except click.BadParameter:
        return text


def algorithm_options(algorithm: type) -> list[click.Parameter]:
    """An option for each field of an algorithm's dataclass, with the help of its docstring."""
    hints, texts = get_type_hints(algorithm), _parameter_texts(algorithm.__doc__ or "")
    options: list[click.Parameter] = []
    for field in dataclasses.fields(algorithm):
        if field.name in _COMMON_FIELDS:
            continue
        said = texts.get(field.name, _Said())
        required = field.default is dataclasses.MISSING
        more: dict[str, Any] = {"required": required, "help": _help(field, said)}
        name = "--" + field.name.replace("_", "-")
        # None stands for "not given", so that the algorithm's own default holds.
        kinds = _kinds(hints[field.name])
        lists = [kind for kind in kinds if get_origin(kind) is Sequence]
        option: type[click.Option] = ListOption if lists else click.Option
        or_frame = Any in kinds and "list of ids" in said.kind
        if field.name in IDS or or_frame:
            metavar = "ID" if field.name in IDS else "ID|PATH"
            more |= {"multiple": True, "metavar": metavar, "default": None if required else ()}
        elif "pandas.Timestamp" in said.kind:
            more |= {"metavar": "NUMBER|TIME", "type": number_or_text}
        elif "length of time" in said.kind:
            more |= {"metavar": "NUMBER|LENGTH", "type": number_or_text}
        elif Any in kinds:  # a frame, a column of the vertices frame, and where it says so a number
            more["metavar"] = "NUMBER|PATH|COL" if float in kinds else "PATH|COL"
            more["type"] = number_or_text if float in kinds else str
        elif kinds == {bool}:
            name += f"/--no-{name[2:]}"
            more["default"] = None
        elif kinds == {int}:
            more["type"] = int
        elif lists and get_args(lists[0]) == (str,):
            table = any(get_origin(kind) is Mapping for kind in kinds)
            more |= {"metavar": "NAME[,NAME...]", "type": str, "table": table}
        elif lists:
            more |= {"metavar": "NUMBER[,NUMBER...]", "type": numbers}
        elif float in kinds:
            more |= {"metavar": "NUMBER", "type": number}
        elif said.choices:
            more["type"] = click.Choice(said.choices)
        options.append(option([name, field.name], **more))
        if field.name == "sources" and "int" in said.kind:
            options.append(
                click.Option(
                    ["--draw"],
                    type=click.IntRange(min=1),
                    metavar="N",
                    help="Draw N vertices at random that paths start from, instead of --sources.",
                )
            )
    return options


def _kinds(hint: Any) -> set[Any]:
    """What a value may be beside None."""
    whole = get_origin(hint) is Sequence or not get_args(hint)
    return {hint} if whole else set(get_args(hint)) - {types.NoneType}


def _help(field: Any, said: _Said) -> str:
    """The help of an option, with its default."""
    if "Default:" in said.text or field.default in (None, dataclasses.MISSING):
        return said.text
    default = field.default
    if isinstance(default, bool):
        default = f"--{'' if default else 'no-'}{field.name.replace('_', '-')}"
    return f"{said.text} Default: {default}.".strip()


def _parameter_texts(doc: str) -> dict[str, _Said]:
    """What a numpydoc docstring says of each parameter: the first sentence, and the one on its default."""
    _, _, section = inspect.cleandoc(doc).partition("\nParameters\n----------\n")
    section = re.split(r"\n[^\n]+\n-+\n", section)[0]
    texts = {}
    for head, body in re.findall(r"^(\w[^\n]*)\n?((?:[ ]+[^\n]*\n?)*)", section, re.M):
        name, _, kind = head.partition(" : ")
        text = " ".join(_SAID.findall(" ".join(body.split())))
        texts[name] = _Said(kind, text.replace("``", ""))
    return texts
