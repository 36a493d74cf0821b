"""Makes a folder of legacy JSON records with all that such a folder may hold.

    python tests/data/make_legacy_records.py DIR [--agents N]

Everything is a function of the arguments; nothing is read but the folder it writes to.
"""

import argparse
import json
import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Entry = dict[str, Any]

CREATED = "2025-03-01T08:15:30.250Z"
UPDATED = "2025-03-02T09:00:00+02:00"
CREATED_MS = 1_740_816_930_250
UPDATED_MS = 1_740_898_800_000
ARCHIVED_MS = 1_741_000_000_000

NAMESPACE = uuid.UUID("00000000-0000-0000-0000-00000000000a")
ODD_NAMES = ("plain", "with space", "grüße-日本-🐚", "back\\slash", "quote'\"", "%41 #?")
STATUSES = ("running", "initializing", "idle", "error", "closed", None)


def project(root_path: Path | str, **changes: Any) -> Entry:
    return {
        "projectId": f"project:{root_path}",
        "rootPath": str(root_path),
        "kind": "directory",
        "displayName": "A project",
        "createdAt": CREATED,
        "updatedAt": UPDATED,
        "archivedAt": None,
        **changes,
    }


def workspace(cwd: Path | str, project_path: Path | str, **changes: Any) -> Entry:
    return {
        "workspaceId": f"workspace:{cwd}",
        "projectId": f"project:{project_path}",
        "cwd": str(cwd),
        "kind": "checkout",
        "displayName": "A workspace",
        "createdAt": CREATED,
        "updatedAt": UPDATED,
        "archivedAt": None,
        **changes,
    }


def agent(number: int, cwd: Path | str, **changes: Any) -> Entry:
    return {
        "id": str(uuid.uuid5(NAMESPACE, str(number))),
        "provider": "claude",
        "cwd": str(cwd),
        "title": f"Agent {number}",
        "model": "claude-sonnet-4-5",
        "lastStatus": STATUSES[number % len(STATUSES)],
        "requiresAttention": False,
        "attentionReason": None,
        "createdAt": CREATED,
        "updatedAt": UPDATED,
        "archivedAt": None,
        **changes,
    }


def write_records(
    folder: Path,
    *,
    projects: Sequence[object] | None = None,
    workspaces: Sequence[object] | None = None,
    agents: Mapping[str, object] | None = None,
) -> Path:
    """Writes the files of these records; agents by their path below `agents/`."""
    for name, entries in (("projects", projects), ("workspaces", workspaces)):
        if entries is not None:
            _write(folder / "projects" / f"{name}.json", entries)
    for path, entry in (agents or {}).items():
        _write(folder / "agents" / path, entry)
    return folder


def write_folder(folder: Path, *, places: Path, agents: int) -> Path:
    """A whole legacy folder over odd places below `places`; all of it can be taken.

    Every second agent is archived or needs attention; unknown keys stand everywhere.
    """
    roots = [places / name for name in ODD_NAMES]
    for root in roots[:-1]:
        (root / "tree").mkdir(parents=True, exist_ok=True)
    (roots[0] / ".git").mkdir(exist_ok=True)
    link = places / "link"
    if not link.exists():
        link.symlink_to(roots[0], target_is_directory=True)
    projects = [
        project(root, displayName=root.name, kind="git" if n == 0 else "non_git", color="#fff")
        for n, root in enumerate(roots)
    ]
    projects[3]["archivedAt"] = ARCHIVED_MS
    projects.append(project(f"{roots[1]}{os.sep}", displayName="again, with a slash"))
    projects.append(project(link, displayName="again, by a link"))
    workspaces = [workspace(root, root, kind="local_checkout") for root in roots]
    workspaces += [workspace(root / "tree", root, kind="worktree") for root in roots]
    return write_records(
        folder,
        projects=projects,
        workspaces=workspaces,
        agents={
            f"{n % 7}/agent-{n:05}.json": agent(
                n,
                f"{roots[n % len(roots)]}{os.sep * (n % 2)}",
                archivedAt=ARCHIVED_MS if n % 4 == 1 else None,
                requiresAttention=n % 4 == 3,
                attentionReason="permission" if n % 4 == 3 else None,
                config={"extra": n},
            )
            for n in range(agents)
        },
    )


def _write(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--agents", type=int, default=100)
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    write_folder(folder, places=folder / "places", agents=arguments.agents)


if __name__ == "__main__":
    main()
