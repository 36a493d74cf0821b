"""What Nacre knows of models before a provider was asked, and what a provider adds when it answers.

The shipped list is `resources/models.json`; its text is handed in. A model that is not in the table
gets the plainest request there is: another server may know nothing of thinking or cache markers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from desktop.core.model import ModelInfo

PLAIN_OUTPUT = 8192
PLAIN_WINDOW = 200_000


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What one model takes. `thinking` are the accepted types; sizes are tokens."""

    id: str
    name: str
    thinking: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ()
    default_effort: str = ""
    window: int = PLAIN_WINDOW
    max_output: int = PLAIN_OUTPUT
    caches: bool = True
    sees_images: bool = True
    reads_documents: bool = True

    @property
    def info(self) -> ModelInfo:
        """The model as one to choose."""
        kinds = [kind for kind in ("adaptive", "enabled") if kind in self.thinking]
        return ModelInfo(
            id=self.id,
            name=self.name,
            efforts=self.efforts,
            default_effort=self.default_effort,
            thinking=kinds[0] if kinds else "",
            window=self.window,
            max_output=self.max_output,
            caches=self.caches,
        )


class ModelTable:
    """Models by id; never changed, `with_listed` makes a new table."""

    def __init__(self, models: Iterable[KnownModel]) -> None:
        self._models = {model.id: model for model in models}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ModelTable":
        """The table of `models.json`."""
        return cls(
            KnownModel(
                id=row["id"],
                name=row["name"],
                thinking=tuple(row["thinking"]),
                efforts=tuple(row["efforts"]),
                default_effort=row["default_effort"],
                window=row["window"],
                max_output=row["max_output"],
                sees_images=row.get("image_input", True),
                reads_documents=row.get("pdf_input", True),
            )
            for row in data["models"]
        )

    def find(self, id_: str) -> KnownModel | None:
        """The model of an id; a dated id (`…-20251001`) is the model without the date."""
        return self._models.get(id_) or self._models.get(undated(id_))

    def infos(self) -> tuple[ModelInfo, ...]:
        return tuple(model.info for model in self._models.values())

    def with_listed(self, rows: Iterable[object]) -> tuple["ModelTable", tuple[ModelInfo, ...]]:
        """The table with what a Models endpoint lists, and the listed models to choose from.

        Rows may be as bare as `{"id": …}` (other servers); retired models are left out.
        """
        listed = [
            self._listed(cast("Mapping[str, Any]", row))
            for row in rows
            if isinstance(row, Mapping)
            and isinstance(row.get("id"), str)
            and row.get("lifecycle") != "retired"
        ]
        table = ModelTable([*self._models.values(), *listed])
        return table, tuple(model.info for model in listed)

    def _listed(self, row: Mapping[str, Any]) -> KnownModel:
        id_ = str(row["id"])
        known = self.find(id_)
        base = known or KnownModel(id=id_, name=id_, caches="capabilities" in row)
        can = _mapping(row.get("capabilities"))
        efforts = _supported(can.get("effort"), ("low", "medium", "high", "xhigh", "max"))
        thinking = _supported(
            _mapping(can.get("thinking")).get("types"),
            ("adaptive", "between_tools", "enabled", "disabled"),
        )
        return replace(
            base,
            id=id_,
            name=str(row.get("display_name") or base.name),
            window=_size(row.get("max_input_tokens"), base.window),
            max_output=_size(row.get("max_tokens"), base.max_output),
            efforts=base.efforts if efforts is None else efforts,
            thinking=base.thinking if thinking is None else thinking,
            sees_images=_says_yes(can.get("image_input", base.sees_images)),
            reads_documents=_says_yes(can.get("pdf_input", base.reads_documents)),
        )


def undated(id_: str) -> str:
    """The id without a trailing date of eight digits."""
    head, _, tail = id_.rpartition("-")
    return head if head and len(tail) == 8 and tail.isdigit() else id_


def _supported(value: object, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Those names that a capability object says yes to; None where it says nothing at all."""
    can = _mapping(value)
    if not can:
        return None
    return tuple(name for name in names if _says_yes(can.get(name)))


def _says_yes(value: object) -> bool:
    return bool(_mapping(value).get("supported")) if isinstance(value, Mapping) else bool(value)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _size(value: object, default: int) -> int:
    return value if isinstance(value, int) and value > 0 else default
