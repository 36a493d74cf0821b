"""Pure values and functions of a conversation: what the other layers share.

Standard library only: no I/O, no clock, no randomness, no asyncio. Times and ids are handed in.
"""
