"""A plugin of plain Python without the program's package, in the hand of a test.

It knows nothing of the protocol: what a test sends through the socket is printed byte for byte,
what the host says goes to the test. Words before the socket make it misbehave:

    python plain_plugin.py SOCKET          prints and passes on
    python plain_plugin.py SOCKET deaf     never reads what the host says
    python plain_plugin.py SOCKET parent   has a child that outlives it, if nobody ends it
"""

import os
import socket
import subprocess
import sys
import threading


def main() -> None:
    place, *faults = sys.argv[1:]
    test = socket.socket(socket.AF_UNIX)
    test.connect(place)
    hello = f"pid {os.getpid()}"
    if "parent" in faults:
        child = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True
        )
        hello += f" {child.pid}"
    test.sendall(hello.encode() + b"\n")
    if "deaf" not in faults:
        threading.Thread(target=listen, args=(test,), daemon=True).start()
    while data := test.recv(65_536):
        write_all(data)


def write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def listen(test: socket.socket) -> None:
    while data := os.read(0, 65_536):
        test.sendall(data)
    os._exit(0)


if __name__ == "__main__":
    main()
