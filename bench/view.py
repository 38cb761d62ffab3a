#!/usr/bin/env python3
"""What a page of `abut view` takes: to its first picture, from a slider to the picture, turning, and scrubbing through many frames.

    python3 bench/view.py BUILD [--bodies A B] [--frames 10000] [--rounds 10] [--write]

Chromium draws without a GPU (SwiftShader) at 900 x 700; an idle machine is wanted, since the server and the drawing share its
processors. A picture counts as there when its first pixel can be read, for which the browser has to end its drawing. Each
slider's step, each turn and each frame is awaited before the next. Beside frames a second stands the CPU that all processes of the
browser take for a frame, which depends less on what else the machine does. `floor` is what the browser itself takes: a page that holds
nothing but a canvas of WebGL, of the same size, which is cleared. With --write the figures are kept in bench/results/view.json,
with device and commit. Exit status 77 without Playwright, Chromium or a server. Needs NumPy.
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
SIZE = {"width": 900, "height": 700}

COMMON = """
  const gl = document.getElementById('canvas').getContext('webgl2'), pixel = new Uint8Array(4);
  const drawn = () => new Promise(done => requestAnimationFrame(() => { gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); done(); }));
  const times = [];
"""
# Milliseconds from a slider's step to the picture of its answer.
SLIDE = "async count => {" + COMMON + """
  const slider = document.querySelector('[data-key="penetration"]');
  for (let k = 0; k < count; ++k) {
    const answers = abutView.live().answers, start = performance.now();
    slider.value = +slider.min + (+slider.max - +slider.min) * (0.3 + 0.4 * ((k * 7) % 19) / 19);
    slider.dispatchEvent(new Event('input'));
    while (abutView.live().answers === answers || abutView.live().busy) await new Promise(done => setTimeout(done, 0));
    await drawn();
    times.push(performance.now() - start);
  }
  return times;
}"""
TURN = "async count => {" + COMMON + """
  for (let k = 0; k < count; ++k) {
    const start = performance.now();
    abutView.turn(0.02, 0);
    await drawn();
    times.push(performance.now() - start);
  }
  return times;
}"""
# As many contacts as the pair has: nearly all of its slots.
CROWD = """async () => {
  const slider = document.querySelector('[data-key="penetration"]'), {answers} = abutView.live();
  slider.value = 60;
  slider.dispatchEvent(new Event('input'));
  while (abutView.live().answers === answers || abutView.live().busy) await new Promise(done => setTimeout(done, 5));
  return abutView.contacts().length;
}"""
EMPTY = """<!doctype html><body style="margin: 0"><canvas id="canvas" width="596" height="543"></canvas><script>
  const gl = document.getElementById('canvas').getContext('webgl2', {antialias: false, alpha: false});
  let shade = 0;
  const clear = () => { gl.clearColor(shade = (shade + 0.02) % 1, 0.5, 0.5, 1); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT); };
  window.abutView = {turn: () => requestAnimationFrame(clear)};
  clear();
  document.documentElement.dataset.ready = 1;
</script>"""
# Frames a second, where the browser draws one while the page prepares the next.
TURN_RATE = """async seconds => {
  let count = 0;
  const start = performance.now();
  while (performance.now() - start < 1e3 * seconds) {
    abutView.turn(0.02, 0);
    await new Promise(requestAnimationFrame);
    ++count;
  }
  return 1e3 * count / (performance.now() - start);
}"""
# Frames with their own contacts, as fast as they come: each one awaited until it is drawn, or until the browser takes the next.
SCRUB = "async ([count, frames, whole]) => {" + COMMON + """
  const slider = document.getElementById('scrub');
  for (let k = 0; k < count; ++k) {
    const start = performance.now(), to = Math.round(k * (frames - 1) / (count - 1));
    slider.value = to;
    slider.dispatchEvent(new Event('input'));
    while (abutView.frame() !== to || !abutView.live().kept.includes(to)) await new Promise(done => setTimeout(done, 0));
    await (whole ? drawn() : new Promise(requestAnimationFrame));
    times.push(performance.now() - start);
  }
  return times;
}"""


def write_deep(path):
    """Body 2 turned a little, deep in body 1."""
    s2 = np.zeros((2, 6))
    s2[:, 2], s2[:, 5] = 0.05, 0.3
    np.savez(path, s1=np.zeros((2, 6)), s2=s2)


def write_poses(path, frames):
    """Body 2 goes round above body 1, and turns: many frames have contacts."""
    t = np.linspace(0.0, 40.0, frames)
    s2 = np.zeros((frames, 6))
    s2[:, 0], s2[:, 2], s2[:, 5] = 0.1 * np.sin(6.0 * t), 0.2 + 0.04 * np.cos(5.0 * t), 2.0 * t
    np.savez(path, s1=np.zeros((frames, 6)), s2=s2)


def processes(root):
    """A process, its children, and theirs."""
    children = [p.read_text().split() for p in Path(f"/proc/{root}/task").glob("*/children")]
    return [root, *(q for pids in children for pid in pids for q in processes(int(pid)))]


def cpu_seconds():
    """CPU of the browser's processes, by the scheduler's clock."""
    total = 0
    for pid in processes(os.getpid()):
        try:
            if b"chromium" in Path(f"/proc/{pid}/cmdline").read_bytes():
                total += sum(int(t.read_text().split()[0]) for t in Path(f"/proc/{pid}/task").glob("*/schedstat"))
        except OSError:  # it has ended
            pass
    return total / 1e9


def turned(page, seconds=3):
    """Frames a second while the page turns, and CPU a frame."""
    page.evaluate(TURN_RATE, 0.5)
    before = cpu_seconds()
    rate = page.evaluate(TURN_RATE, seconds)
    return {"frames_a_second": rate, "cpu_ms_a_frame": 1e3 * (cpu_seconds() - before) / (rate * seconds)}


class Served:
    """A server of the pair, and when its address was there."""

    def __init__(self, options, poses, threshold):
        self.begun = time.perf_counter()
        self.process = subprocess.Popen([str(options.build / "src/cli/abut"), "view", *map(str, options.bodies), "--poses", str(poses),
                                         "--threshold", threshold, "--device", options.device, "-q"], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.address_s = time.perf_counter() - self.begun

    def memory(self):
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)


def opened(browser, address):
    page = browser.new_context(viewport=SIZE).new_page()
    if address is None:
        page.route("http://empty.test/", lambda route: route.fulfill(status=200, content_type="text/html", body=EMPTY))
    page.goto(address or "http://empty.test/")
    page.wait_for_selector("html[data-ready]", state="attached")
    page.evaluate("async () => {" + COMMON + " await drawn(); }")
    return page


def measure_start(browser, options, poses):
    starts = []
    for _ in range(options.rounds + 1):
        server = Served(options, poses, "0.05")
        page = opened(browser, server.address)
        starts.append((server.address_s, time.perf_counter() - server.begun))
        page.context.close()
        server.end()
    address, picture = zip(*starts[1:])  # the first one compiles kernels, and fills the browser's caches
    return {"start_to_address_s": spread(address), "start_to_picture_s": spread(picture), **measure_floor(browser, options)}


def measure_floor(browser, options):
    opens = []
    for _ in range(options.rounds + 1):
        begun = time.perf_counter()
        page = opened(browser, None)
        opens.append(time.perf_counter() - begun)
        if len(opens) > options.rounds:
            cleared = turned(page)
        page.context.close()
    return {"floor_open_to_picture_s": spread(opens[1:]), "floor_turned": cleared}


def measure_page(browser, options, poses, deep):
    server = Served(options, deep, "0.004")  # as many contacts as a page takes
    page = opened(browser, server.address)
    time.sleep(1.0)
    out = {"contacts": page.evaluate("abutView.contacts().length")}
    out["turned"] = turned(page)
    out["turn_ms"] = spread(page.evaluate(TURN, 100)[10:])
    out["slider_to_picture_ms"] = spread(page.evaluate(SLIDE, 110)[10:])
    out["crowd_contacts"] = page.evaluate(CROWD)
    out["crowd_turned"] = turned(page)
    page.context.close()
    server.end()
    server = Served(options, poses, "0.05")
    page = opened(browser, server.address)
    page.evaluate(SCRUB, [30, options.frames, True])
    before = server.memory()
    times, begun = page.evaluate(SCRUB, [300, options.frames, True]), cpu_seconds()
    rate = page.evaluate(SCRUB, [310, options.frames, False])
    out |= {"scrub_ms": spread(times),
            "scrubbed": {"frames_a_second": 1e3 / statistics.mean(rate), "cpu_ms_a_frame": 1e3 * (cpu_seconds() - begun) / len(rate)},
            "server_before_MB": before, "server_after_MB": server.memory()}
    page.context.close()
    server.end()
    return out


def spread(values):
    return {"median": statistics.median(values), "95 %": float(np.percentile(values, 95))}


def keep(options, figures):
    said = lambda *words: subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False).stdout.strip()
    devices = json.loads(said(str(options.build / "src/cli/abut"), "devices", "--json"))
    kept = {"commit": said("git", "rev-parse", "--short", "HEAD"), "devices": devices, "device": options.device, "frames": options.frames,
            "rounds": options.rounds, "browser": said(CHROMIUM, "--version"), "bodies": [p.name for p in options.bodies], **figures}
    (ROOT / "bench/results/view.json").write_text(json.dumps(kept, indent=1) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=Path)
    p.add_argument("--bodies", type=Path, nargs=2, default=[ROOT / "assets/part.body.json"] * 2)
    p.add_argument("--device", default="pocl")
    p.add_argument("--frames", type=int, default=10000)
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--write", action="store_true")
    options = p.parse_args()
    options.build = options.build.resolve()
    if not sync_playwright or not CHROMIUM:
        print("not run: no Playwright, or no Chromium")
        return 77
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        poses, deep = Path(name) / "poses.npz", Path(name) / "deep.npz"
        write_poses(poses, options.frames)
        write_deep(deep)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        figures = {**measure_start(browser, options, poses), **measure_page(browser, options, poses, deep)}
        browser.close()
    for key, value in figures.items():
        print(f"{key:28}", {k: round(v, 3) for k, v in value.items()} if isinstance(value, dict) else round(value, 3))
    if options.write:
        keep(options, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
