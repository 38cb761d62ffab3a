"""What tools/summarize_tests.py says of logs as `meson test` writes them."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "tools/summarize_tests.py"


def entry(name, seconds, result="OK", text="3 passed, 0 failed\n"):
    return {"name": name, "duration": seconds, "result": result, "stdout": text}


class Summary(unittest.TestCase):
    def run_on(self, logs, infos=None, **environment):
        """(exit status, lines): logs are entries, and infos files of Meson's, by the name of their build's folder."""
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for build, entries in logs.items():
                paths.append(pathlib.Path(folder, build, "meson-logs/testlog.json"))
                paths[-1].parent.mkdir(parents=True)
                paths[-1].write_text("".join(json.dumps(one) + "\n" for one in entries))
                for name, content in (infos or {}).get(build, {}).items():
                    file = pathlib.Path(folder, build, "meson-info", name)
                    file.parent.mkdir(exist_ok=True)
                    file.write_text(json.dumps(content))
            done = subprocess.run([sys.executable, PROGRAM, *paths], stdout=subprocess.PIPE, text=True, check=False,
                                  env={**os.environ, "ABUT_TEST_SLOW_FAILS": "", **environment})
            return done.returncode, done.stdout.splitlines()

    def test_the_longest_stand_before_the_total(self):
        logs = {"plain": [entry(f"quick {i}", 0.5 + i / 100) for i in range(9)] + [entry("slow", 12.34)],
                "sanitizers": [entry("slow", 99.96), entry("no device", 500, "SKIP", "no driver\n")]}
        status, lines = self.run_on(logs)
        self.assertEqual(status, 0)
        self.assertEqual(lines[-1], "33 passed, 0 failed")
        begin = lines.index("the longest:")
        self.assertEqual(lines[begin + 1:begin + 4],
                         ["  100.0 s  slow (sanitizers)", "   12.3 s  slow (plain)", "    0.6 s  quick 8 (plain)"])
        self.assertEqual(lines[begin + 11:], ["1 skipped", "33 passed, 0 failed"])

    def test_slow_tests_of_the_usual_run_are_named(self):
        tests = [{"name": name, "suite": ["abut:core"] + more} for name, more in (("slow", []), ("slower", []), ("quick", []), ("whole", ["abut:long"]))]
        logs, infos = {}, {}
        for build, sanitize, optimization in (("plain", "none", "2"), ("sanitizers", "address", "1"), ("clang", "none", "1")):
            logs[build] = [entry(f"abut:core / {name}", seconds) for name, seconds in
                           (("slow", 4.04), ("slower", 30.0), ("quick", 3.9), ("whole", 60.0))]
            infos[build] = {"intro-tests.json": tests, "intro-buildoptions.json": [
                {"name": "b_sanitize", "value": sanitize}, {"name": "optimization", "value": optimization}]}
        line = "usual tests above 4 s: abut:core / slower (30.0 s, plain), abut:core / slow (4.0 s, plain)"
        for environment, wanted in (({}, 0), ({"ABUT_TEST_SLOW_FAILS": "1"}, 1)):
            status, lines = self.run_on(logs, infos, **environment)
            self.assertEqual((status, lines[-2]), (wanted, line))
        del logs["plain"][:2]
        status, lines = self.run_on(logs, infos, ABUT_TEST_SLOW_FAILS="1")
        self.assertEqual(status, 0)
        self.assertFalse([line for line in lines if line.startswith("usual tests")])

    def test_what_fails_is_counted(self):
        crashed = entry("crashed", 1, "FAIL", "")
        hung = entry("hung", 600, "TIMEOUT", "2 passed, 0 failed\n")
        wrong = entry("wrong", 1, "FAIL", "2 passed, 3 failed\n")
        status, lines = self.run_on({"plain": [crashed, hung, wrong, entry("silent", 1, text="")]})
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "5 passed, 5 failed")

    def test_a_log_that_is_not_there_fails(self):
        status, lines = self.run_on({})
        self.assertEqual((status, lines), (1, ["0 passed, 0 failed"]))
        done = subprocess.run([sys.executable, PROGRAM, "/nonexistent"], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
