"""What is kept of one conversation is read and written one by one, whichever page of it does so.

A conversation may leave one window while it comes into view in another: the new page must read what
the old one is still writing.
"""

import asyncio
from weakref import WeakValueDictionary

_LOCKS: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()


def one_by_one(what: str, tab_id: str) -> asyncio.Lock:
    """The lock of this matter of this conversation; it lives as long as somebody holds it."""
    return _LOCKS.setdefault((what, tab_id), asyncio.Lock())
