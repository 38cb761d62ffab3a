"""bench/peers/many.py's own promises, with peers made up here: rows, refusals, ratios, and the page that it writes."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "peers"))
import many  # noqa: E402

SPEEDS = {"abut": 200.0, "mujoco": 1000.0, "mjx": 20.0}
ABOUT = dict.fromkeys(("processor", "driver", "versions", "commit", "date"), "?") | {"load before": "0.5"}


class Made:
    """A peer whose speed grows by rounds, all engines' alike; abut refuses the largest pile, MJX is not there."""
    asked = []

    def __init__(self, python, name):
        self.rounds = 0

    def ask(self, request, limit):
        self.rounds += 1
        Made.asked.append(request)
        if request["engine"] == "mjx":
            return {"absent": "mujoco-mjx"}
        if request["engine"] == "abut" and "boxes-200" in request["model"]:
            return {"error": "Error: boxes-200.scene.json:1: links: 1200 degrees of freedom; 512 are the most"}
        rate = self.rounds * SPEEDS[request["engine"]]
        return {"steps_per_s": rate, "cpu_us": 1e6 / rate, "iterations": 2.0, "first_call_s": 0.1, "peak_MB": 10.0, "precision": "f32"}

    def stop(self):
        pass


class Many(unittest.TestCase):
    def rows(self, *words):
        Made.asked = []
        options = many.read_options(["--page", *words])  # which asks for no build
        with unittest.mock.patch.object(many.run, "Peer", Made), unittest.mock.patch.object(many, "counters", lambda *_: {"contacts": 12.0}), \
                contextlib.redirect_stdout(io.StringIO()):
            return many.measure(options, pathlib.Path("folder"), sys.executable)

    def test_rows_of_all_engines_in_turns(self):
        rows = self.rows("--quick")
        self.assertEqual(len(rows), len(many.QUICK) * 2 * len(many.ENGINES))
        first = {r["engine"]: r for r in rows[:len(many.ENGINES)]}
        self.assertEqual((first["abut"]["steps_per_s"], first["abut"]["contacts"]), (200.0, 12.0))
        self.assertEqual(first["mujoco"]["abut_over"], 0.2)
        self.assertEqual(first["mujoco-one"]["abut_over_a_core_each"], 0.2)
        self.assertEqual(first["mjx"]["result"], "not run: no package mujoco-mjx")
        self.assertEqual([r["engine"] for r in Made.asked[:5]], ["abut", "abut", "mujoco", "mujoco", "mjx"])
        self.assertEqual([r["device"] for r in Made.asked[:2]], ["pocl", "pocl/1.0"])
        self.assertEqual([r["threads"] for r in Made.asked[2:4]], [many.CORES, 1])

    def test_ratios_are_those_of_rounds(self):
        rows = self.rows("--only", "boxes-2", "--batches", "1", "--rounds", "5")
        self.assertEqual(next(r for r in rows if r["engine"] == "mujoco")["abut_over"], 0.2)
        self.assertEqual(sum(r["engine"] == "mujoco" for r in Made.asked), 10)

    def test_what_is_refused_keeps_its_row(self):
        rows = self.rows("--only", "boxes-200", "--batches", "1,64", "--rounds", "2")
        ours = [r for r in rows if r["engine"].startswith("abut")]
        self.assertEqual([r["result"] for r in ours], ["refused"] * 4)
        self.assertEqual(sum(r["engine"] == "abut" for r in Made.asked), 2)  # once each, and no more
        self.assertEqual([r["result"] for r in rows if r["engine"] == "mujoco"], ["ok"] * 2)
        self.assertTrue(all("pairs" in r["result"] for r in rows if r["engine"] == "mjx"))

    def test_what_would_take_too_long_is_not_begun(self):
        rows = self.rows("--only", "boxes-10", "--batches", "1,1024", "--rounds", "2", "--limit", "10", "--seconds", "1")
        late = {r["engine"]: r["result"] for r in rows if r["batch"] == 1024}
        # Three steps of 1,024 worlds at the 200 (abut) and the 1,000 steps/s (MuJoCo) of the first round.
        self.assertEqual(late["abut"], "not run: it would take 16 s, longer than --limit 10")
        self.assertEqual(late["mujoco"], "ok")
        self.assertFalse(any(r["size"] == 1024 for r in Made.asked if r["engine"] == "abut"))
        self.assertEqual(sum(r["size"] == 1024 for r in Made.asked), 4)

    def test_the_page(self):
        kept = {"about": ABOUT, "rows": self.rows("--only", "boxes-2,boxes-200", "--batches", "1,1024", "--rounds", "1")}
        with tempfile.TemporaryDirectory() as folder:
            page, picture = pathlib.Path(folder, "many.md"), pathlib.Path(folder, "many.png")
            page.write_text((ROOT / "docs" / "benchmarks" / "many.md").read_text())
            for _ in range(2):  # what is there already is replaced
                many.renew(page, kept)
            text = page.read_text()
            self.assertEqual(text.count("| boxes-2 | 1 | abut, all cores | 200 |"), 1)
            self.assertRegex(text, r"\| boxes-200 \| 1,024 \| abut, one core \| refused \|")
            self.assertIn("## What is compared", text)
            with contextlib.redirect_stdout(io.StringIO()) as said:
                many.draw(kept, picture)
            self.assertTrue(picture.exists() or "matplotlib" in said.getvalue())
            self.assertNotIn("![", text)
            picture.touch()
            many.renew(page, kept)
            self.assertIn("](many.png)", page.read_text())

    def test_unknown_scenes_are_refused(self):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            many.read_options(["--page", "--only", "boxes-3"])
        self.assertIn("boxes-10", said.getvalue())


if __name__ == "__main__":
    unittest.main()
