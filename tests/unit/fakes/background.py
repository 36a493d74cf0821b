"""A request in the background of a test, joined at the end and its exception raised."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


@contextlib.contextmanager
def in_background(act: Callable[[], Any]) -> Generator[Future[Any]]:
    """Run `act` on a thread while the body of the `with` runs."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(act)
        yield future
        future.result(timeout=10)
