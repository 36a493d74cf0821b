"""What the installed program is tried with beyond a turn: what it lacks, what it loads late, what
it starts, and two of it at once."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chroots import PERSON_ID
from facts import ROOT
from installed import HOME, Installed, check, until

DATA = ".local/share/nacre"
# The rows of buttons of the right pane from the top of the window, and places in them from its
# right edge; the pane's own cross is nearer to that.
PANE_ROWS = (41, 76)
PANE_PLACES = range(290, 60, -25)
SIZE = (1400, 900)
SCHEMA = 1  # the oldest that a release wrote

PLUGIN = """\
import json, os, sqlite3, ssl, sys
try:
    import PySide6
    found = "PySide6"
except ModuleNotFoundError:
    found = ""
def say(**what):
    print(json.dumps({"jsonrpc": "2.0", **what}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "host.initialize":
        say(id=message["id"], result={"protocolVersion": message["params"]["protocolVersion"]})
        there = sorted(name for name in os.environ if "PYI" in name or "KEY" in name)
        with open(os.path.join(os.environ["NACRE_PLUGIN_DATA"], "proof.json"), "w") as file:
            json.dump({"python": sys.version, "found": found, "environment": there}, file)
    elif "id" in message:
        say(id=message["id"], result={})
"""
MANIFEST = """\
id = "proof"
name = "Proof"
version = "1"
minimum_host = "0"
command = ["{python}", "main.py"]
capabilities = []
"""


def names_what_is_broken(there: Installed) -> str:
    """The self-test ends with 1 and names the part: certificates of the machine, the keyring's
    backend, files of the program."""
    inside = there.machine.root / "usr/lib/nacre/_internal"
    with _away(there.machine.root / "etc/ssl/certs"):
        _fails(there, {"certificates"})
    with _away(inside / "resources"):
        _fails(there, {"tour"})
    with _away(inside / "desktop"):
        _fails(there, {"tour"})
    (metadata,) = inside.glob("nacre-*.dist-info")
    with _away(metadata):
        _fails(there, {"versions"})
    _fails(there, {"keyring"}, PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring")
    return "certificates, resources, migrations, metadata, keyring"


def _fails(there: Installed, parts: set[str], **more: str) -> None:
    done = there.machine.run(
        *("nacre", "--selftest"),
        as_person=True,
        more={**there.environment(), **more},
        may_fail=True,
    )
    report = json.loads(done.stdout)
    wrong = {name for name, one in report.items() if name != "ok" and not one["ok"]}
    check(wrong == parts and not report["ok"], f"{wrong} instead of {parts}: {done.stdout}")
    check(done.returncode == 1, f"it ended with {done.returncode} without {parts}")
    check(all(report[one].get("problem") for one in parts), f"no word on {parts}")
    check("Traceback" not in done.stderr, done.stderr)


@contextmanager
def _away(place: Path) -> Generator[None]:
    kept = place.with_name(f"{place.name}.away")
    place.rename(kept)
    try:
        yield
    finally:
        kept.rename(place)


def past_schema(there: Installed) -> str:
    """A database of the first release is brought up to date, with a copy beside it."""
    from tests.data import make_released_database as released  # noqa: PLC0415

    place = _folder(there, HOME / "past")
    database = released.make(_outside(there, place) / "nacre.db", SCHEMA)
    before = released.content(database)
    _give(there, _outside(there, place))
    told = there.nacre("tabs", "--json", "--data-dir", str(place)).stdout
    check("A fork" in told, told)
    check(released.content(database) == before, "rows are not what they were")
    (copy,) = database.parent.glob("nacre.db.before-*")
    check(released.content(copy) == before, "the copy is not what was there")
    return copy.name


def tool_server(there: Installed) -> str:
    """A server that is set up is started, heard and called; this machine's only Python for it is
    the program's own, as a plugin has it."""
    from tests.fakes.messages_api import MessagesServer, reply, text, tool_use  # noqa: PLC0415

    place, work = _folder(there, HOME / "served"), str(_folder(there, HOME / "work"))
    script = HOME / "tool_server.py"
    _outside(there, script).write_bytes((ROOT / "tests/fakes/plain_tool_server.py").read_bytes())
    entry = {
        "command": "/usr/lib/nacre/nacre",
        "args": ["--plugin-script", str(script), "ok"],
        "sandbox": False,
    }
    settings = json.dumps({"mcpServers": {"plain": entry}})
    _outside(there, place / "mcp.json").write_text(settings, encoding="utf-8")
    _give(there, _outside(there, place))
    heard = f"until test -s {place}/tool-servers.json; do sleep 0.1; done"
    answers = [
        reply(tool_use("shell", {"command": heard})),
        reply(text("It is there.")),
        reply(tool_use("mcp__plain__echo", {"text": "from over there"})),
        reply(text("Heard.")),
    ]
    words = ("run", "--json", "--permission", "auto", "--data-dir", str(place), "--workspace", work)
    with MessagesServer(answers) as server:
        there.nacre(*words, "wait for it", url=server.base_url)
        told = there.nacre(*words, "ask it", url=server.base_url).stdout
        check(not server.rejected, str(server.rejected))
    events = [json.loads(line) for line in told.splitlines()]
    results = [one["data"] for one in events if one.get("data", {}).get("result")]
    check([one["result"] for one in results] == ["from over there"], told[-2000:])
    return ""


def plugins(there: Installed) -> str:
    """The plugin that comes with the program, and one that was installed: both run in the program's
    own Python, alone, and end with the window."""
    from psutil import NoSuchProcess, Process  # noqa: PLC0415

    source = _outside(there, _folder(there, HOME / "plugin"))
    (source / "main.py").write_text(PLUGIN, encoding="utf-8")
    (source / "plugin.toml").write_text(MANIFEST, encoding="utf-8")
    data = _outside(there, HOME / DATA)
    _install(data, source)
    _give(there, data)

    def running() -> dict[str, Process]:
        found: dict[str, Process] = {}
        for one in Process(there.started).children(recursive=True):
            try:
                if "--plugin-script" in one.cmdline():
                    found[_plugin_of(Path(one.cwd()))] = one
            except NoSuchProcess:
                continue
        return found

    both = {"prompt-history", "proof"}
    proof = data / "plugins" / "proof" / "proof.json"
    with there.window() as titled:
        until(lambda: titled(".* – Nacre"), "no conversation was opened")
        _open_pane(there.display, lambda: running().keys() >= both)
        until(lambda: running().keys() == both and proof.exists(), f"only {running().keys()} run")
        processes = list(running().values())
    left = [one for one in processes if one.is_running()]
    check(not left, f"left behind: {left}")
    told = json.loads(proof.read_text(encoding="utf-8"))
    check((told["found"], told["environment"]) == ("", []), str(told))
    log = (data / "logs" / "nacre.log").read_text(encoding="utf-8")
    check("Traceback" not in log, log[-3000:])
    return f"Python {told['python'].split()[0]}"


def _plugin_of(place: Path) -> str:
    """By its folder: of the program's resources, or one that was installed, by generation."""
    return next((name for name in ("prompt-history", "proof") if name in place.parts), str(place))


def _install(data: Path, source: Path) -> None:
    """As Settings → Plugins → Install from folder does it, with what was asked for granted."""
    from desktop.feed.hub import Hub  # noqa: PLC0415
    from desktop.headless import plugging  # noqa: PLC0415
    from desktop.headless.plugin_list import Plugins  # noqa: PLC0415
    from desktop.paths import DataFolder  # noqa: PLC0415
    from desktop.tools.sandbox import Sandbox  # noqa: PLC0415
    from tests.unit.store.builders import open_log, run  # noqa: PLC0415

    async def navigate(place: object) -> None:
        raise AssertionError(place)

    folder, sandbox = DataFolder(data), Sandbox(environment={}, find=lambda: None)

    async def install(log: Any) -> None:
        loop = asyncio.get_running_loop()
        plugins = Plugins(
            folder,
            resources=ROOT / "resources",
            notes=log.plugins,
            sandbox=sandbox,
            launches=plugging.launches(folder, sandbox),
            host_version="1.0",
            around=lambda: plugging.surroundings(
                folder,
                sources=log.sources_in_use,
                catalogue=log.catalogue,
                hub=Hub(),
                navigate=navigate,
                start=lambda work, name: loop.create_task(work, name=name),
                later=loop.call_later,
            ),
        )
        offer = await plugins.examine(source)
        check(offer is not None, "the plugin was not read")
        if offer is not None:
            await plugins.install(offer)
        await plugins.close()

    with open_log(data) as log:
        run(install(log))


def _open_pane(display: str, is_seen: Any) -> None:
    """Opens the right pane and clicks along its buttons: there is no name to find one by."""
    window = _xdotool(display, "search", "--onlyvisible", "--name", "^.*Nacre$").split()[-1]
    _xdotool(display, "windowfocus", window, "windowsize", window, *map(str, SIZE))

    def clicked() -> bool:
        for top in PANE_ROWS:
            for place in PANE_PLACES:
                at = ("mousemove", "--window", window, str(SIZE[0] - place), str(top))
                _xdotool(display, *at, "click", "1", "sleep", "0.2")
                if is_seen():
                    return True
        return False

    _xdotool(display, "key", "ctrl+j", "sleep", "1")
    until(clicked, "the pages of the plugins were not opened")


def _xdotool(display: str, *words: str) -> str:
    done = subprocess.run(
        ["xdotool", *words],
        env={**os.environ, "DISPLAY": display},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def side_by_side(there: Installed) -> str:
    """A second start hands over and ends; on another data folder there is a window beside it."""
    other = str(_folder(there, HOME / "other"))
    seen = "^.*Nacre$"

    def windows() -> int:
        return len(_xdotool(there.display, "search", "--onlyvisible", "--name", seen).split())

    with there.window():
        again = there.nacre(str(HOME / "work"))
        check("Traceback" not in again.stderr, again.stderr)
        check(windows() == 1, f"{windows()} windows after a second start")
        with there.window("--data-dir", other, beside=1):
            check(windows() == 2, f"{windows()} windows on two data folders")
            there.nacre("--data-dir", other)
            check(windows() == 2, f"{windows()} windows after a second start on the other")
    return ""


def _outside(there: Installed, place: Path) -> Path:
    return there.machine.root / str(place).lstrip("/")


def _folder(there: Installed, place: Path) -> Path:
    there.machine.run("mkdir", "-p", str(place), as_person=True)
    return place


def _give(there: Installed, place: Path) -> None:
    """What was written from outside is the person's."""
    for one in (place, *place.rglob("*")):
        os.chown(one, PERSON_ID, PERSON_ID, follow_symlinks=False)
