"""Becomes the program lauka: python3 -m lauka ./old ./new"""

from __future__ import annotations

import os
import signal
import sys

import lauka


def main() -> None:
    program = lauka._find_program()
    # Python ignores these signals. Without this, lauka and the commands that it measures would ignore them, too.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"lauka: {program}: {error.strerror}; install the program, or name it in the variable LAUKA")


if __name__ == "__main__":
    main()
