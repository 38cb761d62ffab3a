"""bench/peers/run.py's own promises: limits, absent packages, failures, rows; with peers made up here."""
import csv
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "peers"))
import run  # noqa: E402
import table  # noqa: E402

SLEEPER = """
import sys, time
sys.path.insert(0, {folder!r})
import worker
print("words that are no answer")
def answer(request):
    if request["what"] == "sleep" and request["size"] > 1:
        time.sleep(600)
    if request["what"] == "fail":
        raise ValueError("made up")
    if request["what"] == "end":
        sys.exit(0)
    return worker.timed(lambda: time.sleep(0.001 * request["size"]), precision="f32")
worker.serve(answer)
"""


class Peers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        script = pathlib.Path(self.folder.name, "sleeper.py")
        script.write_text(SLEEPER.format(folder=str(run.HERE)))
        self.before = run.Peer.__init__

        def begin(peer, python, name):
            self.before(peer, python, name)
            peer.command = [str(python), str(script)]
        run.Peer.__init__ = begin
        self.addCleanup(setattr, run.Peer, "__init__", self.before)

    def rows(self, *whats, limit=60.0):
        series = [run.Series("made-up", f"peer {what}", {"what": what}, [1, 2, 3]) for what in whats]
        return run.measure(series, sys.executable, limit, 10)

    def test_times_are_those_of_the_calls(self):
        rows = self.rows("contacts")
        self.assertEqual([row["size"] for row in rows], [1, 2, 3])
        for row in rows:
            self.assertEqual((row["result"], row["rounds"], row["precision"]), ("ok", run.ROUNDS, "f32"))
            self.assertGreaterEqual(row["seconds"], 0.001 * row["size"])
            self.assertLessEqual(row["seconds_least"], row["seconds"])

    def test_a_passed_limit_is_the_result_and_ends_the_series_alone(self):
        rows = self.rows("sleep", "contacts", limit=8.0)
        self.assertEqual([row["result"] for row in rows if row["what"] == "sleep"],
                         ["ok", "timed out after 8 s"])
        self.assertEqual([row["result"] for row in rows if row["what"] == "contacts"], ["ok"] * 3)

    def test_a_failure_is_told(self):
        self.assertEqual([row["result"] for row in self.rows("fail")], ["failed: ValueError: made up"])

    def test_an_end_without_an_answer_is_told(self):
        self.assertEqual([row["result"] for row in self.rows("end")], ["failed: it ended without an answer"])

    def test_a_table_reads_back(self):
        path = pathlib.Path(self.folder.name, "table.csv")
        run.write_csv(path, {"device": "a, b"}, self.rows("contacts", "fail"))
        lines = path.read_text().splitlines()
        self.assertEqual(lines[0], "# device: a, b")
        read = list(csv.DictReader(lines[1:]))
        self.assertEqual([row["result"] for row in read], ["ok"] * 3 + ["failed: ValueError: made up"])
        self.assertGreaterEqual(float(read[2]["seconds"]), 0.003)


    def test_a_page_gets_times_ratios_and_limits(self):
        folder = pathlib.Path(self.folder.name)
        series = [run.Series("abut", "abut", {"what": "contacts"}, [1, 64]),
                  run.Series("made-up", "MJX", {"what": "contacts"}, [1, 64])]
        rows = run.measure(series, sys.executable, 60.0, 10)
        rows += [{"peer": "MJX", "what": "contacts", "size": 64, "result": "timed out after 8 s"}]
        about = dict.fromkeys(("processor", "driver", "commit", "date", "versions"), "?") | {"load before": "0.5"}
        run.write_csv(folder / "peers-manifold.csv", about, rows)
        (folder / "peers.md").write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
        table.write(folder / "peers.md", folder)
        lines = (folder / "peers.md").read_text().splitlines()
        self.assertEqual((lines[0], lines[-1], "old" in lines), ("before", "after", False))
        self.assertRegex(lines[4], r"^\| abut \| yes \| [0-9.]+ \|")
        self.assertRegex(lines[5], r"^\| MJX \| yes \| [0-9.]+ \([0-9.]+ x\) \| timed out after 8 s \|")


class Absent(unittest.TestCase):
    def test_a_peer_without_its_packages_is_not_run_by_name(self):
        for name in ("jax", "qpax", "lbfgs", "mujoco", "mjx"):
            peer = run.Peer(sys.executable, name)
            peer.command.insert(1, "-S")  # without the folder of installed packages
            reply = peer.ask({"what": "edges", "size": 1}, 60)
            peer.stop()
            self.assertRegex(run.result_of(reply, 60), "^not run: no package (jax|mujoco)$")


if __name__ == "__main__":
    unittest.main()
