"""Measurements: one module each, run by name with `python -m tests.bench NAME…`.

A module offers `figures()` or `figures(options)`, which measures and returns its figures. A goal is
an upper or a lower bound, wherever possible of a ratio to something measured in the same run, so
that it holds on a slow machine too.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says: `runs` and `seed` of `kill`, `rows` of a large log, `purge_rows`
    to purge, `seconds` of what goes on for a time."""

    runs: int = 200
    seed: int = 1
    rows: int = 1_000_000
    purge_rows: int = 300_000
    seconds: float = 15.0


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value and the bound it should keep; `at_least` turns the bound around. `reason`
    says what the rules force on it."""

    id: str
    value: float
    unit: str
    goal: float
    at_least: bool = False
    reason: str = ""

    @property
    def met(self) -> bool:
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    def line(self) -> str:
        """`id value unit goal ok|short`, and the reason where there is one."""
        bound = f"{'>=' if self.at_least else '<='}{self.goal:g}"
        said = f"{self.id} {self.value:.4g} {self.unit} {bound} {'ok' if self.met else 'short'}"
        return f"{said} ({self.reason})" if self.reason else said
