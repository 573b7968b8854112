"""What is checked of every new factor set, whatever it is built from."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from ir_measures.measures import Measure

from ir_std._system.files import read_bounded
from ir_std.errors import InputError, UsageError, abbreviate
from ir_std.factors.schema import FIELDS
from ir_std.factors.store import LARGEST
from ir_std.measures import Measures, canonical, has_standardized, parse_measure


def judge_fields(judge: str | Mapping[str, str]) -> dict[str, Any]:
    """What ``set.json`` says of a set whose labels are a language model's; nothing without one."""
    if not judge:
        return {}
    fields = {"name": judge} if isinstance(judge, str) else dict(judge)
    if wrong := FIELDS["judge"](fields):
        raise UsageError(f"judge is {judge!r}: {wrong}")
    return {"kind": "judge", "judge": fields}


Teams = Mapping[str, str] | str | os.PathLike[str] | None
"""Whose systems are, by their names, or a file of lines ``SYSTEM TEAM``; None where names tell."""


def team_fields(teams: Teams, systems: Collection[str]) -> dict[str, Any]:
    """What ``set.json`` says of the systems' teams; nothing if they are not given."""
    if teams is None:
        return {}
    if not isinstance(teams, Mapping):
        teams = _teams_in(teams)
    if len(set(systems)) < len(systems):
        raise UsageError("teams of systems with the same name: give each run's file another name")
    if unknown := [system for system in teams if system not in systems]:
        raise UsageError(f"teams name {abbreviate(unknown)}, of which there are no scores")
    if wrong := FIELDS["teams"](teams):
        raise UsageError(f"teams: {wrong}")
    return {"teams": dict(sorted(teams.items()))}


def _teams_in(file: str | os.PathLike[str]) -> dict[str, str]:
    teams: dict[str, str] = {}
    expected = "a system and its team are expected, one system a line"
    try:
        lines = read_bounded(file, LARGEST, "name a readable file of teams").decode().splitlines()
    except UnicodeDecodeError:
        raise InputError.at(file, "not UTF-8", "UTF-8 text is expected") from None
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if fields and (len(fields) != 2 or fields[0] in teams):
            twice = f"{fields[0]} a second time" if fields[0] in teams else repr(line)
            raise InputError.at(file, twice, expected, line=number)
        teams |= dict([fields]) if fields else {}
    if not teams:
        raise InputError.at(file, "no line has a system", expected)
    return teams


def check_measure_names(measures: Measures) -> tuple[str, ...]:
    """The names of raw measures that can be standardized, each once; strings stay as written."""
    names: dict[str, str] = {}
    for given in [measures] if isinstance(measures, (str, Measure)) else measures:
        measure = parse_measure(given)
        if not has_standardized(measure):
            raise UsageError(f"{measure} cannot be standardized: name raw measures")
        name = canonical(measure)
        if name in names:
            raise UsageError(f"{given} is given twice")
        names[name] = given if isinstance(given, str) else name
    if not names:
        raise UsageError("no measure is given")
    return tuple(names.values())
