"""Every prompt of the conversation or of its workspace, newest first, with how its turn went.

A plugin in plain Python: it knows the program by what desktop/plugins/PROTOCOL.md says and nothing
else. It reads each conversation once and follows it from then on; where it missed something it
reads that one again, at most once a second.
"""

import itertools
import json
import queue
import sys
import threading
import time

PROTOCOL = 2
ROWS_AT_ONCE = 200
MOST_ROWS = 20_000
MOST_SESSIONS = 100
MOST_PAGES = 10  # of each conversation, where a whole workspace is shown
LONGEST_TITLE = 300
TRIES = 3
CONVERSATION = "session.conversation."
MARKS = {"": "running", "done": "", "stopped": "stopped", "interrupted": "stopped"}
HERE, WORKSPACE = "conversation", "workspace"
CHOICES = [
    {"id": HERE, "title": "This conversation"},
    {"id": WORKSPACE, "title": "This workspace"},
]


class Refused(Exception):
    """The host answered a call with an error; `code` is its word for it."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Overtaken(Exception):
    """What is being read is for a view that is over."""


class Pace:
    """How much may be said: a little less than the host takes, so that a large workspace is slow
    and not the end."""

    LINES, LINES_A_SECOND = 300, 80
    BYTES, BYTES_A_SECOND = 1_500_000, 400_000

    def __init__(self):
        self._lines, self._bytes, self._since = self.LINES, self.BYTES, time.monotonic()

    def take(self, size):
        now = time.monotonic()
        passed, self._since = now - self._since, now
        self._lines = min(self._lines + passed * self.LINES_A_SECOND, self.LINES) - 1
        self._bytes = min(self._bytes + passed * self.BYTES_A_SECOND, self.BYTES) - size
        behind = max(-self._lines / self.LINES_A_SECOND, -self._bytes / self.BYTES_A_SECOND)
        if behind > 0:
            time.sleep(behind)


class Host:
    """Calls go out and are waited for; what comes meanwhile stands in line."""

    def __init__(self):
        self._numbers = itertools.count(1)
        self._lines = queue.Queue()
        self._waiting = []
        self._pace = Pace()
        threading.Thread(target=self._read, daemon=True).start()

    def next(self, timeout):
        """The next message that is no answer; None at the timeout. Raises EOFError at the end."""
        if self._waiting:
            return self._waiting.pop(0)
        try:
            return self._take(timeout)
        except queue.Empty:
            return None

    def call(self, method, **params):
        number = next(self._numbers)
        self._say({"id": number, "method": method, "params": params})
        while True:
            message = self._take(None)
            if message.get("method") == "host.ping":
                self.answer(message, {})  # a long reading is no silence
            elif "method" in message:
                self._waiting.append(message)
            elif message.get("id") == number:
                if "error" in message:
                    raise Refused(message["error"]["data"]["code"])
                return message["result"]

    def answer(self, message, result):
        self._say({"id": message["id"], "result": result})

    def is_shown_anew(self):
        """Whether what is being done is for a view that is over."""
        return any(one["method"] == "panel.show" for one in self._waiting)

    def _say(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n"
        data = line.encode("utf-8", "replace")
        self._pace.take(len(data))
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def _take(self, timeout):
        line = self._lines.get(timeout=timeout)
        if line is None:
            raise EOFError
        return json.loads(line)

    def _read(self):
        for line in sys.stdin.buffer:
            self._lines.put(line)
        self._lines.put(None)


class Conversation:
    """The prompts and turns of one, as they stand at `applied`. `show` takes prompts that changed."""

    def __init__(self, host, session, *, pages, show):
        self._host = host
        self._pages = pages
        self._show = show
        self.session = session
        self.title = ""
        self.is_dirty = self.is_over = False
        self._loaded_at = 0.0
        self._forget()

    def follow(self):
        """Subscribed first, then read. Raises Refused where it is not there any more."""
        self._host.call(
            CONVERSATION + "subscribe",
            protocolVersion=PROTOCOL,
            subscription=self.session,
            sessionId=self.session,
            roles=["user"],
            turns=True,
        )
        self.load()

    def leave(self):
        try:
            self._host.call(CONVERSATION + "unsubscribe", subscription=self.session)
        except Refused:
            pass

    def changed(self, params):
        if params.get("terminal"):
            self.is_over, self.is_dirty = True, False
        elif params.get("check"):
            self.is_dirty = self.is_dirty or not self._stands_at(params)
        else:
            self._take(params["batch"])

    def seconds_until_load(self):
        """None where there is nothing to load."""
        return max(0.0, self._loaded_at + 1 - time.monotonic()) if self.is_dirty else None

    def load(self):
        """The whole conversation at one revision, newest first; tried anew a few times."""
        for _ in range(TRIES):
            self._loaded_at = time.monotonic()
            before = self._prompts
            self._forget()
            try:
                self._read_all()
            except Overtaken:
                self.is_dirty = True
            except Refused as fault:
                if fault.code in ("reconciliation_required", "cursor_expired"):
                    continue
                self._prompts = self._prompts or before
                self.is_dirty = fault.code in ("upstream_failure", "too_many")
            else:
                self.is_dirty = False
                self._show(self, [], [id_ for id_ in before if id_ not in self._prompts])
            return
        self.is_dirty = True

    def prompts(self):
        return list(self._prompts.values())

    def turn_of(self, prompt):
        return self._turns.get(prompt["turnId"])

    def _forget(self):
        self._prompts, self._turns = {}, {}
        self._epoch = self._applied = None

    def _stands_at(self, params):
        return (self._epoch, self._applied) == (params["epoch"], int(params["revision"]))

    def _take(self, batch):
        """A batch counts only where it begins at what is here; an old one says nothing new."""
        is_mine = batch["epoch"] == self._epoch and self._applied is not None
        if is_mine and int(batch["revision"]) <= self._applied:
            return
        if self.is_dirty or batch["reset"] or not is_mine:
            self.is_dirty = True
        elif int(batch["baseRevision"]) != self._applied:
            self.is_dirty = True
        else:
            self._applied = int(batch["revision"])
            self._put([one["record"] for one in batch["operations"] if one["op"] == "upsert"])

    def _read_all(self):
        # Turns first: a row is shown once, with how it went.
        for what, more in (("turns", {}), ("messages", {"roles": ["user"]})):
            page, pages = {"hasMore": True}, 0
            while page["hasMore"] and pages < self._pages:
                if self._host.is_shown_anew():
                    raise Overtaken
                if page.get("cursor"):
                    more = {**more, "cursor": page["cursor"]}
                if self._applied is not None:
                    more = {**more, "expectedRevision": str(self._applied)}
                page = self._host.call(CONVERSATION + what, sessionId=self.session, **more)
                self._epoch, self._applied = page["epoch"], int(page["revision"])
                self._put(page["records"])
                pages += 1

    def _put(self, records):
        """Takes records in and shows what they change."""
        touched, turns = {}, set()
        for record in records:
            if record["kind"] == "turn":
                self._turns[record["id"]] = record
                turns.add(record["id"])
            elif record["role"] == "user" and not record.get("isDamaged"):
                self._prompts[record["id"]] = touched[record["id"]] = record
        if turns:
            touched.update((id_, one) for id_, one in self._prompts.items() if one["turnId"] in turns)
        gone = [id_ for id_, one in touched.items() if one["isRetracted"]]
        for id_ in gone:
            del self._prompts[id_]
        self._show(self, [one for id_, one in touched.items() if id_ not in gone], gone)


class History:
    """What is shown: one conversation, or all of a workspace, each followed by itself."""

    def __init__(self, host):
        self._host = host
        self._session = self._view = self._choice = None
        self._followed = {}
        self._owners = {}

    def show(self, session, view, choice):
        choice = choice or HERE
        is_other = choice != self._choice
        self._session, self._view, self._choice = session, view, choice
        self._owners = {}
        if session is None:
            return  # nobody looks; what is followed goes on being followed
        self._tell(choices=CHOICES)
        wanted = self._wanted()
        for name in [one for one in self._followed if one not in wanted or is_other]:
            self._followed.pop(name).leave()
        for one in list(self._followed.values()):
            self._changed(one, one.prompts(), [])
        self._follow(wanted)

    def changed(self, params):
        one = self._followed.get(params["subscription"])
        if one is not None:
            one.changed(params)
            if one.is_over:
                del self._followed[one.session]
                if self._is_whole and self._session is not None:
                    self._changed(one, [], [prompt["id"] for prompt in one.prompts()])

    def look(self):
        """Conversations that came meanwhile."""
        if self._is_whole and self._session is not None:
            self._follow(self._wanted())

    def seconds_until_load(self):
        times = [one.seconds_until_load() for one in self._followed.values()]
        return min((one for one in times if one is not None), default=None)

    def load(self):
        for one in list(self._followed.values()):
            if one.seconds_until_load() == 0:
                one.load()

    @property
    def _is_whole(self):
        return self._choice == WORKSPACE

    def _wanted(self):
        """Titles by conversation, the one in view first."""
        wanted = {self._session: ""}
        if self._is_whole:
            try:
                page = self._host.call(
                    "session.list", beside=self._session, size=MOST_SESSIONS - 1
                )
            except Refused:
                return wanted
            wanted.update((one["id"], one["title"]) for one in page["sessions"])
        return wanted

    def _follow(self, wanted):
        for name, title in wanted.items():
            if self._host.is_shown_anew():
                return
            if name in self._followed:
                self._followed[name].title = title
            elif len(self._followed) < MOST_SESSIONS:
                pages = MOST_PAGES if self._is_whole else MOST_ROWS
                one = Conversation(self._host, name, pages=pages, show=self._changed)
                one.title = title
                self._followed[name] = one
                try:
                    one.follow()
                except Refused:
                    del self._followed[name]

    def _changed(self, one, prompts, gone):
        """A fork has the prompts of what it was made from: each is shown once."""
        if self._session is None or (one.session != self._session and not self._is_whole):
            return
        rows = [self._row(one, prompt) for prompt in prompts if self._is_owner(one, prompt["id"])]
        gone = [id_ for id_ in gone if self._owners.get(id_) == one.session]
        for id_ in gone:
            del self._owners[id_]
        for start in range(0, len(rows), ROWS_AT_ONCE):
            self._tell(rows=rows[start : start + ROWS_AT_ONCE])
        for start in range(0, len(gone), ROWS_AT_ONCE):
            self._tell(remove=gone[start : start + ROWS_AT_ONCE])

    def _is_owner(self, one, id_):
        if id_ not in self._owners and len(self._owners) >= MOST_ROWS:
            return False
        return self._owners.setdefault(id_, one.session) == one.session

    def _row(self, one, prompt):
        row = {
            "id": prompt["id"],
            "sort": prompt["createdAt"] if self._is_whole else prompt["seq"],
            "title": " ".join(prompt["text"].split())[:LONGEST_TITLE] or "(no text)",
            "time": prompt["createdAt"],
            "place": {"sessionId": one.session, "seq": prompt["seq"]},
        }
        if self._is_whole and one.title:
            row["subtitle"] = one.title[:LONGEST_TITLE]
        turn = one.turn_of(prompt)
        if turn is not None:
            row["mark"] = MARKS.get(turn["outcome"], "failed")
            if turn["endedAt"] is not None:
                row["durationMs"] = turn["durationMs"]
        return row

    def _tell(self, **what):
        try:
            self._host.call("panel.update", view=self._view, **what)
        except Refused as fault:
            print(f"the panel took no rows: {fault.code}", file=sys.stderr)


def main():
    host = Host()
    history = History(host)
    while True:
        message = host.next(history.seconds_until_load())
        if message is None:
            history.load()
            continue
        method, params = message["method"], message.get("params", {})
        if method == "host.initialize":
            host.answer(message, {"protocolVersion": PROTOCOL})
        elif "id" in message:
            host.answer(message, {})
        if method == "panel.show":
            history.show(params["sessionId"], params["view"], params["choice"])
        elif method == "session.conversation.changed":
            history.changed(params)
        elif method == "host.ping":
            history.look()


if __name__ == "__main__":
    try:
        main()
    except (EOFError, BrokenPipeError):
        pass
