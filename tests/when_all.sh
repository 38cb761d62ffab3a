#!/bin/sh
# What another test nearly repeats, for when every one is asked for: when_all.sh PROGRAM ARGUMENT...
if [ "${ABUT_TEST_ALL:-}" != 1 ]; then
  echo "not run: another test does nearly the same; ABUT_TEST_ALL=1 lets it"
  exit 77
fi
exec "$@"
