"""What the program brings along for its agents: the models with their prices, the prompt, the
tour."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Shipped:
    """`models` is the JSON of `resources/models.json`, `tour` the lines of a recorded answer."""

    models: Any
    prompt: str
    tour: tuple[str, ...]


def read(folder: Path) -> Shipped:
    """From the folder `resources`. Blocks."""
    return Shipped(
        models=json.loads((folder / "models.json").read_text("utf-8")),
        prompt=(folder / "prompts" / "system.md").read_text("utf-8"),
        tour=tuple((folder / "tour" / "tour.jsonl").read_text("utf-8").splitlines()),
    )
