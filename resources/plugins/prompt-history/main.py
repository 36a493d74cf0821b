"""Every prompt of the conversation, newest first, with how long its turn took and how it ended.

A plugin in plain Python: it knows the program by what desktop/plugins/PROTOCOL.md says and nothing
else. It reads the conversation once and follows it from then on; where it missed something it
reads again, at most once a second.
"""

import itertools
import json
import queue
import sys
import threading
import time

PROTOCOL = 2
ROWS_AT_ONCE = 500
LONGEST_TITLE = 300
TRIES = 3
CONVERSATION = "session.conversation."
MARKS = {"": "running", "done": "", "stopped": "stopped", "interrupted": "stopped"}


class Refused(Exception):
    """The host answered a call with an error; `code` is its word for it."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Host:
    """Calls go out and are waited for; what comes meanwhile stands in line."""

    def __init__(self):
        self._numbers = itertools.count(1)
        self._lines = queue.Queue()
        self._waiting = []
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
            if "method" in message:
                self._waiting.append(message)
            elif message.get("id") == number:
                if "error" in message:
                    raise Refused(message["error"]["data"]["code"])
                return message["result"]

    def answer(self, message, result):
        self._say({"id": message["id"], "result": result})

    def _say(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        sys.stdout.buffer.write(line.encode())
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


class History:
    """The prompts and turns of the conversation that is shown, as they stand at `applied`."""

    def __init__(self, host):
        self._host = host
        self._session = self._view = self._subscription = None
        self._loaded_at = 0.0
        self.is_dirty = False
        self._forget()

    def show(self, session, view):
        if self._subscription is not None:
            self._drop()
        self._session, self._view = session, view
        self._forget()
        if session is not None:
            self._follow()

    def changed(self, params):
        if params["subscription"] != self._subscription:
            return
        if params.get("terminal"):
            self._subscription, self.is_dirty = None, False
        elif params.get("check"):
            self.is_dirty = self.is_dirty or not self._stands_at(params)
        else:
            self._take(params["batch"])

    def seconds_until_load(self):
        """None where there is nothing to load."""
        return max(0.0, self._loaded_at + 1 - time.monotonic()) if self.is_dirty else None

    def load(self):
        """The whole conversation at one revision, newest first; tried anew a few times."""
        self._loaded_at = time.monotonic()
        for _ in range(TRIES):
            self._forget()
            self._tell(clear=True)
            try:
                self._read_all()
            except Refused as fault:
                if fault.code in ("reconciliation_required", "cursor_expired"):
                    continue
                self.is_dirty = fault.code == "upstream_failure"
            else:
                self.is_dirty = False
            return

    def _follow(self):
        name = f"view {self._view}"
        try:
            self._host.call(
                CONVERSATION + "subscribe",
                protocolVersion=PROTOCOL,
                subscription=name,
                sessionId=self._session,
                roles=["user"],
                turns=True,
            )
        except Refused:
            return
        self._subscription = name
        self.load()

    def _drop(self):
        name, self._subscription = self._subscription, None
        try:
            self._host.call(CONVERSATION + "unsubscribe", subscription=name)
        except Refused:
            pass

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
        for what, more in (("messages", {"roles": ["user"]}), ("turns", {})):
            page = {"hasMore": True}
            while page["hasMore"]:
                if page.get("cursor"):
                    more = {**more, "cursor": page["cursor"]}
                if self._applied is not None:
                    more = {**more, "expectedRevision": str(self._applied)}
                page = self._host.call(CONVERSATION + what, sessionId=self._session, **more)
                self._epoch, self._applied = page["epoch"], int(page["revision"])
                self._put(page["records"])

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
        rows = [self._row(one) for one in touched.values() if not one["isRetracted"]]
        for start in range(0, len(rows), ROWS_AT_ONCE):
            self._tell(rows=rows[start : start + ROWS_AT_ONCE])
        for start in range(0, len(gone), ROWS_AT_ONCE):
            self._tell(remove=gone[start : start + ROWS_AT_ONCE])

    def _row(self, prompt):
        row = {
            "id": prompt["id"],
            "sort": prompt["seq"],
            "title": " ".join(prompt["text"].split())[:LONGEST_TITLE] or "(no text)",
            "time": prompt["createdAt"],
            "place": {"sessionId": self._session, "seq": prompt["seq"]},
        }
        turn = self._turns.get(prompt["turnId"])
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
            history.show(params["sessionId"], params["view"])
        elif method == "session.conversation.changed":
            history.changed(params)


if __name__ == "__main__":
    try:
        main()
    except (EOFError, BrokenPipeError):
        pass
