"""The parts of the stand-in for the Messages API; `tests.fakes.messages_api` is the door."""
