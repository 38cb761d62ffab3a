#!/usr/bin/env python3
"""What another test nearly repeats, for when every one is asked for: when_all.py PROGRAM ARGUMENT..."""
import os
import sys

if os.environ.get("ABUT_TEST_ALL") != "1":
    print("not run: another test does nearly the same; ABUT_TEST_ALL=1 lets it")
    sys.exit(77)
os.execvp(sys.argv[1], sys.argv[1:])
