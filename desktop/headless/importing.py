"""`nacre import-records`: takes over legacy records. It loads the log and nothing else."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from desktop import paths, settings
from desktop.core.errors import UnknownFolder
from desktop.headless.opening import open_log, prepared
from desktop.headless.printing import printable
from desktop.store.folders import folder_name
from desktop.store.legacy import Remark
from desktop.store.records import ImportReport

DONE, SKIPPED, BAD_USE = 0, 1, 2


def import_records(data_dir: str | None, folder: str, *, as_json: bool) -> int:
    """Imports and reports; 0 when all is in, 1 when something was skipped, 2 for a wrong folder."""
    try:
        # Before anything is opened: a wrong folder makes no database.
        source = folder_name(Path(folder))
        report = _with_notices(data_dir, source)
    except UnknownFolder as error:
        print(f"nacre: {_one_line(str(error))}", file=sys.stderr)
        return BAD_USE
    if as_json:
        print(json.dumps(_as_json(report)))
    else:
        _print(report)
    return SKIPPED if report.skips else DONE


def _with_notices(data_dir: str | None, source: Path) -> ImportReport:
    choice = paths.choose(data_dir)
    for notice in (*choice.notices, *prepared(choice.folder)):
        print(f"nacre: {notice}", file=sys.stderr)
    return asyncio.run(_taken_over(choice.folder, source))


async def _taken_over(folder: paths.DataFolder, source: Path) -> ImportReport:
    log = await asyncio.to_thread(open_log, folder)
    try:
        preferences = settings.read(await log.catalogue.settings())
        return await log.legacy.take_over(source, model=preferences.value(settings.MODEL))
    finally:
        await log.close()


def _as_json(report: ImportReport) -> dict[str, Any]:
    counts = {
        kind: {
            "imported": taken.imported,
            "alreadyThere": taken.already_there,
            "skipped": sum(one.kind == kind for one in report.skips),
        }
        for kind, taken in report.taken().items()
    }
    return {
        **counts,
        "skips": [_remark(one) for one in report.skips],
        "notes": [_remark(one) for one in report.notes],
        "copy": None if report.copy is None else str(report.copy),
    }


def _remark(remark: Remark) -> dict[str, str]:
    return {
        "kind": remark.kind,
        "path": remark.path,
        "entry": remark.entry,
        "reason": remark.reason,
    }


def _print(report: ImportReport) -> None:
    for kind, taken in report.taken().items():
        skipped = sum(one.kind == kind for one in report.skips)
        print(
            f"{kind}: {taken.imported} imported, {taken.already_there} already there,"
            f" {skipped} skipped"
        )
    if report.copy is not None:
        print(f"The database as it was before: {printable(str(report.copy))}")
    for word, remarks in (("skipped", report.skips), ("note", report.notes)):
        for one in remarks:
            where = f"{one.path}, {one.entry}" if one.entry else one.path
            print(_one_line(f"{word}: {where}: {one.reason}"))


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))
