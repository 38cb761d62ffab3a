#!/usr/bin/env python3
"""PROGRAM ARGUMENT...: runs a test, and once more where the leak checker itself has broken down, which it may at a program's
end, as it looks at a driver's thread that is just ending. What the test finds stands."""
import subprocess
import sys

done = subprocess.run(sys.argv[1:], stderr=subprocess.PIPE, check=False)
sys.stderr.buffer.write(done.stderr)
if done.returncode and b"LeakSanitizer has encountered a fatal error" in done.stderr:
    print("the leak checker broke down: once more", file=sys.stderr)
    done = subprocess.run(sys.argv[1:], check=False)
sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
