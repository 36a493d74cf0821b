"""Measurements: one module each, run by name with `python -m tests.bench NAME…`.

A module offers `figures()`, which measures and returns its figures. A goal is an upper or a lower
bound, wherever possible of a ratio to something measured in the same run, so that it holds on a
slow machine too.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value and the bound it should keep; `at_least` turns the bound around."""

    id: str
    value: float
    unit: str
    goal: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    def line(self) -> str:
        """`id value unit goal ok|short`."""
        bound = f"{'>=' if self.at_least else '<='}{self.goal:g}"
        return f"{self.id} {self.value:.4g} {self.unit} {bound} {'ok' if self.met else 'short'}"
