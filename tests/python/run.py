#!/usr/bin/env python3
"""Runs one file of pytest's and sums it up: run.py FRAMEWORK FILE [PYTEST-OPTION...]

The last line is "N passed, N failed", which tools/summarize_tests.py adds up; errors count as failed.
Exit status 77 where pytest or FRAMEWORK (a module, such as jax) is missing. torch, which is large, is
also looked for in an environment that .ci/run makes and keeps.
"""
import importlib.util
import os
import pathlib
import sys


class Count:
    """Every test once, by how its worst phase ended."""

    def __init__(self):
        self.worst = {}
        self.uncollected = 0

    def pytest_runtest_logreport(self, report):
        if report.failed or report.when == "call":
            now = "failed" if report.failed else "skipped" if report.skipped else "passed"
            if self.worst.get(report.nodeid) != "failed":
                self.worst[report.nodeid] = now

    def pytest_collectreport(self, report):
        self.uncollected += report.failed

    def of(self, outcome):
        return list(self.worst.values()).count(outcome)


def kept_environment(framework):
    """The interpreter of an environment with a framework that this one does not have."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(cache) / f"abut-{framework}-env"
    library = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    # One of another Python's would not take the module that was built for this one.
    return folder / "bin/python" if (library / "site-packages" / framework).is_dir() else None


def main():
    framework, path, *options = sys.argv[1:]
    for name in (framework, "pytest"):
        if importlib.util.find_spec(name) is None:
            kept = kept_environment(framework)
            if kept is not None and pathlib.Path(sys.prefix) != kept.parent.parent:
                sys.stdout.flush()
                os.execv(kept, [str(kept), *sys.argv])
            print(f"Python's {name} is not there")
            return 77
    import pytest

    count = Count()
    status = pytest.main(["-q", "-p", "no:cacheprovider", *options, path], plugins=[count])
    failed = count.of("failed") + count.uncollected
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not failed:
        failed = 1  # pytest itself: nothing collected, a wrong option, an interruption
    sys.stdout.flush()
    print(f"{count.of('passed')} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
