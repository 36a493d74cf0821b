"""Another process that wants to write: `python -m tests.bench.drivers.lock_watch DATABASE`.

Asks for the write lock again and again without waiting in line, until its input ends; then prints
how many times it got it, the longest time in which it did not, and the longest that a pause of half
a millisecond took it (what the machine itself holds up), in seconds.
"""

import sqlite3
import sys
import threading
import time
from contextlib import closing

PAUSE_SECONDS = 0.0005


def main(database: str) -> None:
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    longest, late, count, refused_since = 0.0, 0.0, 0, 0.0
    with closing(sqlite3.connect(database, isolation_level=None, timeout=0)) as connection:
        print("ready", flush=True)
        while not over.is_set():
            began = time.perf_counter()
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            except sqlite3.OperationalError:
                refused_since = refused_since or began
            else:
                if refused_since:
                    longest = max(longest, time.perf_counter() - refused_since)
                refused_since = 0.0
                count += 1
            asleep = time.perf_counter()
            time.sleep(PAUSE_SECONDS)
            late = max(late, time.perf_counter() - asleep)
    print(count, longest, late)


if __name__ == "__main__":
    main(sys.argv[1])
