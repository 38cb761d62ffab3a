"""What the pages of `abut view` show and do, in a browser without a network. Numbers are compared with those of
`abut contacts` and `abut simulate` of the same poses."""
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).parents[2]
ASSETS = ROOT / "assets"
COMMAND = os.environ["ABUT_TEST_COMMAND"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("Chromium is not there", allow_module_level=True)

NAME = "<img src=x onerror=alert(1)>&amp;"  # a body's
FRAMES, WIDTH, HEIGHT = 24, 1000, 700


def abut(*words, cwd):
    done = subprocess.run([COMMAND, *map(str, words)], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with pages: pair.html of two bodies at FRAMES poses, drop.html of a scene, and what they are of."""
    folder = tmp_path_factory.mktemp("view")
    for ending in ("body.json", "obj"):
        shutil.copy(ASSETS / f"part.{ending}", folder)
    shutil.copy(ASSETS / "part.body.json", folder / f"{NAME}.body.json")
    t = np.linspace(0.0, 1.0, FRAMES)
    s2 = np.zeros((FRAMES, 6))
    s2[:, 0], s2[:, 2] = 0.1 * np.sin(6.0 * t), 0.2 + 0.04 * np.cos(6.0 * t)
    s2[:, 3], s2[:, 5] = 0.5 * t, 2.0 * t
    np.savez(folder / "poses.npz", s1=np.zeros((FRAMES, 6)), s2=s2)
    pair = (f"{NAME}.body.json", "part.body.json", "--poses", "poses.npz", "--device", "host")
    abut("view", *pair, "--index", 5, "-o", "pair.html", cwd=folder)
    abut("contacts", *pair, "-o", "pair.npz", cwd=folder)
    shutil.copy(ASSETS / "drop.scene.json", folder)
    abut("simulate", "drop.scene.json", "--steps", 300, "--record", 20, "--contacts", "--device", "host", "-o", "drop.npz", cwd=folder)
    abut("view", "drop.scene.json", "drop.npz", "--device", "host", "-o", "drop.html", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM,
                                          args=["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"])
        yield made
        made.close()


class Opener:
    """Opens pages, each in a context of its own, and notes what they should not do: errors on the console, requests."""

    def __init__(self, browser, files):
        self.browser, self.files, self.contexts, self.wrong = browser, files, [], []

    def __call__(self, name, *, address="", script=None, ready="html[data-ready]", **settings):
        context = self.browser.new_context(offline=True, **({"viewport": {"width": WIDTH, "height": HEIGHT}} | settings))
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: self.wrong.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: self.wrong.append(str(e)))
        page.on("dialog", lambda d: (self.wrong.append("a dialog"), d.dismiss()))
        page.on("request", lambda r: None if r.url.startswith(("data:", "blob:")) or r.is_navigation_request()
                else self.wrong.append(r.url))
        if script:
            page.add_init_script(script)
        page.goto((self.files / name).as_uri() + address)
        page.wait_for_selector(ready, state="attached")
        return page

    def close(self):
        for context in self.contexts:
            context.close()
        assert self.wrong == []


@pytest.fixture
def open_page(browser, files):
    opener = Opener(browser, files)
    yield opener
    opener.close()


@pytest.fixture(scope="module")
def opened(browser, files):
    opener = Opener(browser, files)
    yield opener("pair.html")
    opener.close()


@pytest.fixture
def pair_page(opened):
    """The page of the pair as it begins, at frame 5; tests share it, since a browser takes its time to open one."""
    page = opened
    page.locator("#canvas").focus()
    page.keyboard.press("Escape")
    for key, name in (("m", "wires"), ("b", "balls"), ("v", "normals")):
        if state(page, f"state.{name}") != (name != "wires"):
            page.keyboard.press(key)
    while not state(page, "solid()"):
        page.keyboard.press("x")
    page.locator("#threshold").fill("0.05")
    page.locator("#frame").fill("5")
    page.locator("#canvas").focus()
    page.keyboard.press("0")
    return page


def state(page, what):
    return page.evaluate(f"abutView.{what}")


def wait(page, what):
    """Until an expression of the page is true. Playwright's own way is one that the page's policy forbids."""
    end = time.monotonic() + 20
    while not page.evaluate(f"() => {what}"):
        assert time.monotonic() < end, what
        time.sleep(0.02)


def picked(page):
    return json.loads(state(page, "json()"))


def settle(page):
    """Until what is wanted is drawn, at rest."""
    wait(page, "abutView.resting()")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def hidden_bodies(page):
    page.locator("#canvas").focus()
    for key in "xx":
        page.keyboard.press(key)


def pixels(page):
    from PIL import Image  # which matplotlib brings
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


def test_names_are_text_and_nothing_is_asked_for(open_page):
    page = open_page("pair.html")
    assert page.locator("h1").text_content() == f"{NAME} and part"
    assert page.locator("h1 img").count() == 0
    assert page.title().startswith(NAME)
    page.evaluate("() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s); setTimeout('window.ran = 2'); }")
    assert page.evaluate("fetch('https://example.com').then(() => 'asked', () => 'refused')") == "refused"
    assert page.evaluate("window.ran") is None
    assert open_page.wrong and all("Content Security Policy" in text for text in open_page.wrong)
    open_page.wrong.clear()  # the refusals that were asked for


def test_a_contact_is_what_contacts_computes(pair_page, files):
    page, all_contacts = pair_page, np.load(files / "pair.npz")
    frame = state(page, "frame()")
    assert frame == 5
    shown = state(page, "contacts()")
    activity, d = all_contacts["activity"][frame], all_contacts["d"][frame]
    assert {c["slot"] for c in shown} == set(np.flatnonzero(activity >= 0.05))
    assert len(shown) > 5
    hidden_bodies(page)
    for number, c in enumerate(shown):
        slot, at = c["slot"], page.evaluate("p => abutView.project(p)", c["p"])
        assert np.allclose(c["p"], all_contacts["p"][frame, slot], atol=1e-7)
        assert np.allclose(c["n"], all_contacts["n"][frame, slot], atol=2e-5)
        assert abs(c["activity"] - activity[slot]) <= 0.5 / 255 + 1e-6
        assert abs(c["d"] - d[slot]) <= np.abs(d).max() / 32767
        if number < 6:
            page.mouse.click(at["x"], at["y"])
            now = picked(page)
            assert np.hypot(*(page.evaluate("p => { const s = abutView.project(p); return [s.x, s.y]; }", now["p"])
                              - np.array([at["x"], at["y"]]))) < 5  # another may lie before it
            table = page.locator("#picked").text_content()
            assert f"slot{now['slot']}" in table and str(now["frame"]) == str(frame)


def test_colours_at_the_centres(pair_page):
    page = pair_page
    hidden_bodies(page)
    page.keyboard.press("v")  # no normals
    settle(page)
    picture, shown = pixels(page), state(page, "contacts()")
    at = [page.evaluate("p => abutView.project(p)", c["p"]) for c in shown]
    least, compared = state(page, "radius()")["least"], 0
    for i, c in enumerate(shown):
        nearer = [k for k, other in enumerate(at) if k != i and np.hypot(other["x"] - at[i]["x"], other["y"] - at[i]["y"]) < 2 * least]
        if nearer:
            continue
        wanted = 255 * np.array(page.evaluate("a => abutView.ramp(a)", c["activity"]))
        assert np.abs(picture[int(at[i]["y"]), int(at[i]["x"])] - wanted).max() <= 12, c
        compared += 1
    assert compared >= 3


ALL_FACES = """() => {
  const {enable} = WebGL2RenderingContext.prototype;
  window.left_out = 0;
  WebGL2RenderingContext.prototype.enable = function (what) {
    if (what === this.CULL_FACE) ++window.left_out;
    else enable.call(this, what);
  };
}"""


def test_faces_that_are_left_out_are_not_seen(open_page):
    """Pictures without the faces that look away are those with them but for lines along outlines; from inside none are left out."""
    small = {"viewport": {"width": 700, "height": 500}}
    usual, whole = open_page("pair.html", **small), open_page("pair.html", script=f"({ALL_FACES})()", **small)
    for keys, leaves_out in ((["0"], True), (["Shift+3", "x"], True), (["x", "x", "0"] + 18 * ["+"], False)):
        seen = []
        for page in (usual, whole):
            page.locator("#canvas").focus()
            for key in keys:
                page.keyboard.press(key)
            settle(page)
            page.evaluate("window.left_out = 0; abutView.draw(false)")
            seen.append(pixels(page))
        assert (whole.evaluate("left_out") > 0) is leaves_out, keys
        assert np.mean(np.abs(seen[0] - seen[1]).max(axis=2) > 12) < 0.005, keys
        assert len(np.unique(seen[0][100:250, 50:350].reshape(-1, 3), axis=0)) > 50, keys  # there are bodies


def test_keys(pair_page):
    page = pair_page
    page.locator("#canvas").focus()
    for key, frame in (("ArrowRight", 6), ("ArrowLeft", 5), ("Shift+ArrowRight", 15), ("End", FRAMES - 1), ("Home", 0)):
        page.keyboard.press(key)
        assert state(page, "frame()") == frame, key
    before = state(page, "camera().azimuth")
    page.keyboard.press("a")
    assert state(page, "camera().azimuth") != before
    for key, (azimuth, elevation) in {"1": (0.0, 0.0), "2": (np.pi / 2, 0.0), "Shift+1": (np.pi, 0.0), "3": (-np.pi / 2, np.pi / 2)}.items():
        page.keyboard.press(key)
        assert np.allclose([state(page, "camera().azimuth"), state(page, "camera().elevation")], [azimuth, elevation]), key
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("n")
    first = state(page, "state.picked.slot")
    page.keyboard.press("n")
    assert state(page, "state.picked.slot") != first
    page.keyboard.press("p")
    assert state(page, "state.picked.slot") == first
    page.keyboard.press("Escape")
    assert state(page, "state.picked") is None
    for key, name in (("m", "wires"), ("b", "balls"), ("v", "normals")):
        before = state(page, f"state.{name}")
        page.keyboard.press(key)
        assert state(page, f"state.{name}") is not before
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("]")
    assert state(page, "state.speed") == 2
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    wait(page, "abutView.frame() > 3")
    page.keyboard.press(" ")
    assert state(page, "state.playing") is False


def test_mouse(pair_page):
    page = pair_page
    box = page.locator("#canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = state(page, "camera()")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 20, steps=3)
    page.mouse.up()
    turned = state(page, "camera()")
    assert turned["azimuth"] != before["azimuth"] and turned["elevation"] > before["elevation"]
    assert turned["target"] == before["target"]
    page.mouse.down(button="right")
    page.mouse.move(x, y, steps=3)
    page.mouse.up(button="right")
    assert state(page, "camera()")["target"] != before["target"]
    page.mouse.wheel(0, -300)
    wait(page, f"abutView.camera().distance < {turned['distance']}")
    page.locator("#fit").click()
    curves = page.locator("#curves").bounding_box()
    page.mouse.click(curves["x"] + curves["width"] / 2, curves["y"] + 10)
    assert abs(state(page, "frame()") - (FRAMES - 1) / 2) <= 1
    page.locator("#threshold").fill("0.5")
    assert all(c["activity"] >= 0.5 - 1 / 255 for c in state(page, "contacts()"))
    assert page.locator("#list button").count() == len(state(page, "contacts()"))
    page.locator("#threshold").fill("0.05")
    page.locator("#frame").fill("3")
    page.locator("#frame").press("Enter")
    assert state(page, "frame()") == 3
    page.locator("#last").click()
    page.locator("#back").click()
    assert state(page, "frame()") == FRAMES - 2
    page.locator("#scrub").fill("5")
    page.locator("#list button").first.click()
    page.locator("#copy").click()
    copied = json.loads(page.locator("#copied").input_value())
    assert copied == picked(page) and copied["frame"] == 5 and len(copied["pose2"]) == 7


def test_two_fingers(open_page):
    page = open_page("pair.html", has_touch=True)
    before = state(page, "camera().distance")
    session = page.context.new_cdp_session(page)

    def touch(kind, *points):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]})

    touch("touchStart", (300, 300), (400, 300))
    touch("touchMove", (250, 300), (450, 300))
    touch("touchEnd")
    wait(page, f"abutView.camera().distance < {0.7 * before}")


def test_the_address_keeps_the_view(open_page):
    page = open_page("pair.html")
    page.locator("#canvas").focus()
    for key in ("ArrowRight", "2", "n"):
        page.keyboard.press(key)
    wait(page, "location.hash.includes('frame=6') && location.hash.includes('contact=')")
    kept, slot = page.evaluate("location.hash"), state(page, "state.picked.slot")
    again = open_page("pair.html", address=kept)
    assert state(again, "frame()") == 6 and state(again, "state.picked.slot") == slot
    assert np.allclose(state(again, "camera().azimuth"), np.pi / 2, atol=1e-5)
    broken = open_page("pair.html", address="#frame=99999&camera=1,2&contact=7.&threshold=x")
    assert state(broken, "frame()") == FRAMES - 1


def test_dark_and_small(open_page):
    page = open_page("pair.html", color_scheme="dark", viewport={"width": 380, "height": 640})
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert page.locator("#canvas").bounding_box()["height"] > 150
    settle(page)
    assert pixels(page)[5, 375].max() < 60
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


CUT = """() => [...document.querySelectorAll('.body span, #list button span, #picked td, #pushedRows td')]
  .filter(e => e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right > innerWidth).map(e => e.textContent)"""


def test_names_are_whole(open_page, files):
    """Long names of bodies and links are on several lines, and not cut."""
    names = ["a_table_with_a_long_name", "the_left_finger_of_the_gripper", "Anobjectthatisgraspedandhasnosignsinitsname"]
    links = [{"name": name, "position": [0.3 * i, 0, 0.149 * (i > 0)], "density": 500, "bodies": [{"box": [1, 1, 0.1] if i == 0 else [0.1] * 3}],
              **({"joint": {"type": "free"}} if i else {})} for i, name in enumerate(names)]
    (files / "named.scene.json").write_text(json.dumps({"links": links, "pairs": [{"a": 1, "b": 0}, {"a": 2, "b": 0}]}))
    abut("simulate", "named.scene.json", "--steps", 20, "--contacts", "--device", "host", "-o", "named.npz", cwd=files)
    abut("view", "named.scene.json", "named.npz", "--device", "host", "-o", "named.html", cwd=files)
    for width in (900, 1600):
        page = open_page("named.html", viewport={"width": width, "height": HEIGHT})
        page.locator("#list button").last.click()
        assert page.evaluate(CUT) == [] and page.evaluate("document.documentElement.scrollWidth") <= width
        row = page.locator("#list button").last
        assert any(f"{name}\u2013{names[0]} " in row.locator("span").first.text_content() for name in names)
        assert page.locator("#bodies .body span").all_text_contents() == [name + " (box)" for name in names]


def test_the_report_of_inspect_fits(browser, open_page, files):
    """Whatever the name of its devices, which is on one line nowhere."""
    abut("inspect", "part.body.json", "--device", "host", "-o", "report.html", cwd=files)
    report, devices = (files / "report.html").read_text(), "pthread-sapphire-rapids-avx512-Intel(R) Xeon(R) Platinum 8480C Processor, f32"
    assert report.count(" poses on host<") == 1
    (files / "report.html").write_text(report.replace(" poses on host<", f" poses on {devices}<"))
    for width in (1100, 380):
        page = open_page("report.html", ready="table", viewport={"width": width, "height": HEIGHT})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width


def test_without_webgl(open_page):
    page = open_page("pair.html", ready="p.plain", script="HTMLCanvasElement.prototype.getContext = () => null")
    assert "no WebGL 2" in page.locator("p.plain").first.text_content()
    assert page.locator("#picture").is_visible() and page.evaluate("document.getElementById('picture').naturalWidth") == 640
    assert not page.locator("#app").is_visible()


def test_a_scene(open_page, files):
    page, kept = open_page("drop.html"), np.load(files / "drop.npz")
    counts = kept["contact_count"][:, 0].sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(counts)])
    frame = int(np.argmax(counts))
    page.locator("#frame").fill(str(frame))
    page.locator("#frame").press("Enter")
    assert page.locator("#of").text_content() == f"of 0\u2013{len(counts) - 1}, t = {kept['time'][frame]:.4f} s"
    shown, rows = state(page, "contacts()"), slice(int(starts[frame]), int(starts[frame + 1]))
    assert len(shown) == counts[frame] > 3
    assert np.allclose([c["p"] for c in shown], kept["contact_p"][rows], atol=1e-7)
    assert [c["slot"] for c in shown] == list(kept["contact_slot"][rows])
    assert page.locator("#bodies .body").count() == 5
    assert "--controls" in page.locator("#unforced").text_content() and not page.locator("#forces").is_visible()
    assert "force" not in shown[0] or shown[0]["force"] is None


SLIDES = 0.3  # the friction of a box that slides without gravity, and is pressed onto a plane by its speed


@pytest.fixture(scope="module")
def sliding(files):
    """slide.html of six states, slide.scene.json and slide.npz."""
    scene = {"gravity": [0, 0, 0], "links": [{"name": "floor", "bodies": [{"plane": [2, 2]}]},
                                             {"name": "box", "position": [0, 0, 0.059], "density": 500, "joint": {"type": "free"}, "bodies": [{"box": [0.1, 0.08, 0.06]}]}],
             "pairs": [{"a": "floor", "b": "box", "friction": SLIDES}]}
    (files / "slide.scene.json").write_text(json.dumps(scene))
    np.savez(files / "slides.npz", q=[[0, 0, 0.059, 1, 0, 0, 0]], v=[[1.0, 0, -0.2, 0, 0, 0]])
    abut("simulate", "slide.scene.json", "--states", "slides.npz", "--steps", 5, "--device", "host", "-o", "slide.npz", cwd=files)
    abut("view", "slide.scene.json", "slide.npz", "--threshold", 0.004, "--device", "host", "-o", "slide.html", cwd=files)
    return files


def check_forces_shown(page):
    """Each contact is rubbed with its friction times what it is pressed with, and all together push what the box is pushed with."""
    settle(page)
    shown, links = [c["force"] for c in state(page, "contacts()")], state(page, "forces()")
    pressed = [f for f in shown if f["normal"] > 1e-3]
    assert len(pressed) >= 4 and {f["on"] for f in shown} == {"box (box)"} and len(links) == 1
    for f in pressed:
        assert abs(f["friction"] - SLIDES * f["normal"]) < 2e-3 * f["normal"] and f["vector"][2] > 0 > f["vector"][0]
    total = np.sum([f["vector"] for f in shown], axis=0)
    assert np.allclose(total, links[0][1], atol=2e-3 * total[2]) and total[2] > 1
    arrows = state(page, "pushes()")
    assert 4 <= len(arrows) <= len(pressed) and all(np.dot(way, (-SLIDES, 0, 1)) > 0.99 * np.linalg.norm(way) for _, way, *_ in arrows)
    page.locator("#list button").first.click()
    own, text = picked(page)["force"], page.locator("#picked").text_content()
    assert "force on box (box) [N]" in text and f"{own['normal']:.3g}"[:3] in text
    assert page.locator("#course").bounding_box()["height"] == 220
    return total


def test_forces_of_contacts(browser, open_page, sliding):
    """Forces in a file, and served; a frame whose curves are refused is a gap, and told."""
    page = open_page("slide.html")
    page.locator("#frame").fill("2")
    page.locator("#frame").press("Enter")
    total = check_forces_shown(page)
    page.keyboard.press("k")
    assert state(page, "pushes()") == [] and not page.locator("#pushes").is_checked()

    process = subprocess.Popen([COMMAND, "view", "slide.scene.json", "slide.npz", "--threshold", "0.004", "--device", "host", "-q"], cwd=sliding, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    if not address and "libmicrohttpd" in process.stderr.read():
        pytest.skip("the command has no server")
    context, refused = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}), []
    live, wrong = context.new_page(), []
    live.on("pageerror", lambda e: wrong.append(str(e)))

    def refuse(route):
        first, count = json.loads(route.request.post_data).get("curves", [0, 0])
        if first <= 3 < first + count:
            refused.append(count)
            route.fulfill(status=400, body="not this one")
        else:
            route.continue_()

    live.route("**/contacts", refuse)
    live.goto(address + "#frame=2")
    live.wait_for_selector("html[data-ready]", state="attached")
    assert np.allclose(check_forces_shown(live), total, rtol=1e-3)
    assert state(live, "scale()") >= np.linalg.norm(total) - 0.1  # there is no weight to draw arrows by
    wait(live, "abutView.live().curve === 6 && abutView.live().course === 6")
    assert refused[-1] == 1 and "1 frame was refused, the last one 3: not this one" in live.locator("#gaps").text_content()
    course = state(live, "course()")
    for values in course.values():
        assert np.isnan(values).tolist() == [f == 3 for f in range(6)]
    assert abs(course["normal"][2] - picked(live)["force"]["normal"]) < 1e-4 * course["normal"][2]
    context.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0 and wrong == []


@pytest.fixture
def served(files):
    """The address of a server of the pair, begun at frame 5; None where the command has none."""
    process = subprocess.Popen([COMMAND, "view", "part.body.json", "part.body.json", "--poses", "poses.npz", "--index", "5", "--device", "host"],
                               cwd=files, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    if not address and "libmicrohttpd" in process.stderr.read():
        pytest.skip("the command has no server")
    yield address, process
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0


def check_frames(page, computed):
    """A frame is shown with contacts of its own, whatever is asked, refused or late: the page's, or what was computed for it."""
    canvas = page.locator("#canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    computed()
    own = state(page, "contacts()")
    page.keyboard.press("ArrowLeft")
    page.locator('[data-key="penetration"]').fill("30")
    computed()
    kept = page.locator('[data-key="edges1"]')
    before = kept.input_value()
    kept.fill("-1")  # which is refused
    kept.press("Enter")
    wait(page, "!document.getElementById('refused').hidden")
    last, six = state(page, "contacts()"), state(page, "frame()") + 1
    canvas.focus()
    page.keyboard.press("ArrowRight")
    assert state(page, "frame()") == six and state(page, "contacts()") == own != last
    page.locator("#list button").first.click()
    refused = picked(page)
    kept.fill(before)
    kept.press("Enter")
    computed()
    softer = state(page, "contacts()")
    assert softer != own and refused["frame"] == six and refused["pose2"] == pytest.approx(picked(page)["pose2"], abs=1e-6)

    # What is drawn while it plays: each frame with its own answer.
    page.evaluate("""() => {
      const gl = document.getElementById('canvas').getContext('webgl2'), clear = gl.clear;
      window.drawn = [];
      gl.clear = mask => { drawn.push([abutView.frame(), (abutView.live().shown || {frame: null}).frame]); clear.call(gl, mask); };
    }""")
    canvas.focus()
    page.keyboard.press(" ")
    wait(page, "new Set(drawn.map(d => d[0])).size > 3 && drawn.filter(d => d[1] !== null).length > 2")
    page.keyboard.press(" ")
    assert all(shown in (None, frame) for frame, shown in page.evaluate("drawn"))

    held = []
    page.route("**/contacts", lambda route: held.append(route))  # answers that do not come
    page.locator("#frame").fill(str(six))
    page.locator("#frame").press("Enter")
    wait(page, "abutView.live().busy")
    assert state(page, "contacts()") == own
    for route in held:
        route.continue_()
    page.unroute("**/contacts")
    computed()
    assert state(page, "contacts()") == softer
    page.locator("#reset").click()
    canvas.focus()
    for key in ("Escape", "ArrowLeft"):
        page.keyboard.press(key)


def check_lost(page, computed):
    """A request that is lost is asked again, an error of the page's own is told, and a server that answers again is used again."""
    softer, lost = page.locator('[data-key="penetration"]'), []

    def lose_one(route):
        own = "smoothing" in route.request.post_data
        lost.extend([route.request.url] if own else [])
        if own and len(lost) == 1:
            route.abort()
        else:
            route.continue_()

    page.route("**/contacts", lose_one)
    softer.fill("30")
    computed()
    page.unroute("**/contacts")
    assert len(lost) == 2 and state(page, "live().shown") and page.locator("#gone").is_hidden()

    page.route("**/contacts", lambda route: route.fulfill(status=200, body="short"))
    softer.fill("31")
    wait(page, "!document.getElementById('refused').hidden")
    assert "cannot be shown" in page.locator("#refused").text_content() and page.locator("#gone").is_hidden()
    page.unroute("**/contacts")

    page.route("**/*", lambda route: route.abort())
    softer.fill("30")
    wait(page, "!document.getElementById('gone').hidden")
    assert softer.is_disabled() and state(page, "live().shown") is None
    page.unroute("**/*")
    wait(page, "document.getElementById('gone').hidden && !abutView.live().busy")
    assert softer.is_enabled() and state(page, "live().shown")
    page.locator("#reset").click()


def test_live(browser, served, files):
    address, process = served
    context, asked, wrong = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}), [], []
    page = context.new_page()
    page.on("request", lambda r: asked.append(r.url))
    page.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    before = state(page, "contacts()")

    def computed():
        """After the answer to what was asked last."""
        wait(page, "!abutView.live().busy")
        assert page.locator("#refused").is_hidden(), page.locator("#refused").text_content()

    def copied(button):
        page.locator(button).click()
        return json.loads(page.locator("#copiedLive").input_value())

    slider = page.locator('[data-key="penetration"]')
    slider.focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    page.locator('[data-key="edges1"]').fill("9")
    page.locator('[data-key="edges1"]').press("Enter")
    page.locator("#reduction").select_option("energy")
    page.locator("#move").check()
    page.mouse.move(400, 300)
    page.mouse.down()
    page.mouse.move(400, 304, steps=2)
    page.mouse.move(403, 309, steps=3)
    page.mouse.up()
    page.locator("#move").uncheck()
    computed()
    smoothing, poses = copied("#copySmoothing"), copied("#copyPose")
    assert smoothing["edges"][0] == 9
    (files / "live.json").write_text(json.dumps(smoothing))
    np.savez(files / "live.npz", **{key: np.array([poses[key]]) for key in ("pose1", "pose2")})
    abut("contacts", "part.body.json", "part.body.json", "--poses", "live.npz", "--smoothing", "live.json", "--device", "host", "-o", "there.npz", cwd=files)
    there, shown = np.load(files / "there.npz"), state(page, "contacts()")
    assert shown != before and [c["slot"] for c in shown] == list(np.flatnonzero(there["activity"][0] >= 0.05)) != []
    for c in shown:
        for key in ("p", "d", "n", "activity"):
            assert np.array_equal(np.float32(c[key]), there[key][0, c["slot"]]), key
    numbers = dict(row.split("\t") for row in page.locator("#numbers").inner_text().splitlines())
    assert np.isclose(float(numbers["−gradient"].split(",")[0]), state(page, "live().shown.descent")[0], rtol=1e-2)
    assert len(state(page, "live().shown.descent")) == 6
    assert state(page, "pushes()") == [] and not any(c.get("force") for c in shown)  # a gradient is no force of contacts
    followed = []  # a slot of other features than the page was loaded with has no course
    page.on("request", lambda r: followed.append(r.post_data) if r.post_data and '"contact"' in r.post_data else None)
    page.locator("#list button").first.click()
    page.wait_for_timeout(400)
    assert state(page, "state.picked.slot") == picked(page)["slot"] and followed == []
    page.keyboard.press("Escape")

    page.locator("#pose").fill("0, 0, 1, 0, 0, 0, 0")  # a quaternion of length 0
    page.locator("#pose").press("Enter")
    wait(page, "!document.getElementById('refused').hidden")
    assert "length 0" in page.locator("#refused").text_content()
    assert state(page, "contacts()") == shown  # the last good picture stays
    page.locator("#reset").click()
    assert state(page, "contacts()") == before and page.locator("#refused").is_hidden()
    check_frames(page, computed)
    assert state(page, "contacts()") == before
    assert all(url.startswith(address) for url in asked) and any(url.endswith("/contacts") for url in asked)
    assert [text for text in wrong if "400" not in text] == []
    wrong.clear()

    check_lost(page, computed)
    assert state(page, "contacts()") == before

    process.send_signal(signal.SIGTERM)
    process.wait(timeout=30)
    page.locator("#reduction").select_option("activity")
    wait(page, "!document.getElementById('gone').hidden")
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowRight")
    assert state(page, "frame()") == 6 and state(page, "contacts()") != []
    context.close()


def resident(process):
    """Bytes of a process's memory."""
    return int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


MANY = 10_000
SCRUB = """async ([frames, each]) => {
  const gl = document.getElementById('canvas').getContext('webgl2'), clear = gl.clear, scrub = document.getElementById('scrub'), drawn = {};
  gl.clear = mask => { // what is drawn of each frame
    const s = abutView.contacts();
    if (s.length) drawn[abutView.frame()] = s.map(c => [c.slot, ...c.p, c.d, ...c.n, c.activity]);
    clear.call(gl, mask);
  };
  for (const f of frames) {
    scrub.value = f;
    scrub.dispatchEvent(new Event('input'));
    await new Promise(done => setTimeout(done, 5));
    for (let k = 0; each && k < 500 && !(abutView.frame() === f && !abutView.live().busy && (drawn[f] || !abutView.contacts().length)); ++k)
      await new Promise(done => setTimeout(done, 10));
  }
  for (let k = 0; k < 500 && (abutView.frame() !== frames.at(-1) || abutView.live().busy || !abutView.resting()); ++k) await new Promise(done => setTimeout(done, 20));
  gl.clear = clear;
  return drawn;
}"""


def test_many_frames(browser, files, tmp_path):
    """Of 10,000 frames each that is drawn has its own contacts, whichever way they are scrubbed through; the server's memory does
    not grow, nor that of the page beyond its bound."""
    t = np.linspace(0.0, 40.0, MANY)
    s2 = np.zeros((MANY, 6))
    s2[:, 0], s2[:, 2], s2[:, 5] = 0.1 * np.sin(6.0 * t), 0.2 + 0.04 * np.cos(5.0 * t), 2.0 * t
    np.savez(tmp_path / "poses.npz", s1=np.zeros((MANY, 6)), s2=s2)
    words = [str(files / "part.body.json")] * 2 + ["--device", "host", "--poses"]
    process = subprocess.Popen([COMMAND, "view", *words, "poses.npz", "-q"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    if not address and "libmicrohttpd" in process.stderr.read():
        pytest.skip("the command has no server")
    context = browser.new_context(viewport={"width": 420, "height": 300})
    page, wrong = context.new_page(), []
    page.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    room = 30_000
    page.evaluate(f"abutView.live().room({room})")  # less than what is scrubbed through
    frames = np.linspace(0, MANY - 1, 140).astype(int).tolist()
    drawn = page.evaluate(SCRUB, [frames, False])  # as fast as the machine draws, which leaves frames out;
    before, each = resident(process), frames[5::8]
    drawn |= page.evaluate(SCRUB, [frames[::-1], False])
    drawn |= page.evaluate(SCRUB, [each, True])  # each one of these
    if pathlib.Path("/proc").is_dir():
        assert resident(process) < before + (4 << 20)
    kept = state(page, "live()")
    assert room / 2 < kept["held"] <= room + 20_000 and len(kept["kept"]) < kept["answers"], kept

    # Where the frames ahead cannot be kept together, each is asked for once, and then the page rests.
    page.evaluate("abutView.live().room(1)")
    page.locator("#canvas").focus()
    answers = state(page, "live().answers")
    page.keyboard.press("ArrowLeft")
    wait(page, f"abutView.live().answers > {answers}")
    page.wait_for_timeout(500)
    assert state(page, "live().answers") <= answers + 5
    page.evaluate(f"abutView.live().room({room})")

    some = sorted(set(map(int, drawn)) | set(each))
    np.savez(tmp_path / "some.npz", s1=np.zeros((len(some), 6)), s2=s2[some])
    abut("contacts", *words, "some.npz", "-o", "some.contacts.npz", cwd=tmp_path)
    there = np.load(tmp_path / "some.contacts.npz")
    for i, f in enumerate(some):
        rows = np.array(drawn.get(str(f), [])).reshape(-1, 9)
        slots = rows[:, 0].astype(int)
        assert list(slots) == list(np.flatnonzero(there["activity"][i] >= 0.05)), f
        for key, columns in (("p", slice(1, 4)), ("d", 4), ("n", slice(5, 8)), ("activity", 8)):
            assert np.array_equal(np.float32(rows[:, columns]), there[key][i, slots]), (f, key)
    assert len(drawn) > len(each) / 3
    wait(page, "abutView.live().curve > 500")  # curves come by themselves
    assert wrong == []
    status, text = page.evaluate("""async () => {
      for (;;) {
        const r = await fetch('contacts', {method: 'POST', body: JSON.stringify({curves: [0, 4096], contact: [0, 0]})});
        if (r.status !== 409) return [r.status, await r.text()]; // else one of the page's own has come
      }
    }""")
    slots = there["activity"].shape[1]
    assert 4096 * slots > 1 << 22 and status == 400 and f"4096 frames of {slots} slots are too many" in text, (status, text)
    context.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0 and [x for x in wrong if "400" not in x and "409" not in x] == []


DRAG = """async key => {
  const slider = document.querySelector(`[data-key="${key}"]`), seen = new Set(), until = performance.now() + 10000;
  for (let x = 0; seen.size < 4 && performance.now() < until; ++x) {
    slider.value = 10 + x % 50;
    slider.dispatchEvent(new Event('input'));
    await new Promise(done => setTimeout(done, 0));
    seen.add(JSON.stringify(abutView.contacts().map(c => c.activity)));
  }
  return seen.size;
}"""


def test_a_live_scene(browser, files):
    """A world's frames come from its server, by its sliders, too: each kind of pairs has its own."""
    process = subprocess.Popen([COMMAND, "view", "drop.scene.json", "drop.npz", "--device", "host", "-q"], cwd=files, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    if not address and "libmicrohttpd" in process.stderr.read():
        pytest.skip("the command has no server")
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    page, wrong = context.new_page(), []
    page.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    kept = np.load(files / "drop.npz")
    counts = kept["contact_count"][:, 0].sum(axis=1)
    frame, starts = int(np.argmax(counts)), np.concatenate([[0], np.cumsum(counts)])
    page.locator("#frame").fill(str(frame))
    page.locator("#frame").press("Enter")
    wait(page, "!abutView.live().busy")
    own, rows = state(page, "contacts()"), slice(int(starts[frame]), int(starts[frame + 1]))
    assert np.array_equal(np.float32([c["p"] for c in own]), kept["contact_p"][rows]) and len(own) == counts[frame] > 3
    page.locator("#list button").first.click()  # its course is computed by the server
    wait(page, f"abutView.live().curve === {len(counts)}")
    assert page.locator("#course").is_visible() and not page.locator("#pose").is_visible()
    kinds = page.locator("#kind option")
    assert kinds.count() > 1 and "floor" in kinds.first.text_content()
    pair = picked(page)
    page.locator("#kind").select_option(str(state(page, f"kindOf({state(page, 'state.picked.pair')})")))
    page.locator('[data-key="penetration"]').fill("60")
    wait(page, "!abutView.live().busy && abutView.live().shown")
    assert page.evaluate(DRAG, "penetration") == 4  # what it says meanwhile is shown, too
    page.locator('[data-key="penetration"]').fill("60")
    wait(page, "!abutView.live().busy")
    softer = state(page, "contacts()")
    assert page.locator("#refused").is_hidden() and softer != own and picked(page)["slot"] == pair["slot"]
    assert picked(page)["d"] == pair["d"] and picked(page)["activity"] != pair["activity"]
    page.locator("#reset").click()
    assert state(page, "contacts()") == own and state(page, "live().shown") is None
    context.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0 and wrong == []


def test_sizes(files):
    text = (files / "pair.html").read_text()
    parts = {name: re.search(rf'id="{name}">(.*?)</script>', text, re.S)[1] for name in ("object", "arrays")}
    picture = re.search(r'src="data:image/png;base64,([^"]*)"', text)[1]
    page = text.replace(parts["arrays"], "").replace(picture, "")
    assert len(gzip.compress(page.encode())) < 60_000
    made = json.loads(parts["object"])
    # 300 frames of 100 contacts, if each contact takes what one takes here, with all that is there beside them.
    bodies = sum(a["rows"] * a["columns"] * int(a["type"][1]) for name, a in made["arrays"].items() if name.startswith("m"))
    contacts = made["arrays"]["p"]["rows"]
    assert contacts > 300
    assert (len(parts["arrays"]) - 0.4 * bodies) / contacts * 30_000 + 1.4 * bodies + len(page) + len(picture) < 1_000_000


@pytest.mark.parametrize("words, error", [
    (("part.body.json", "part.body.json", "-o", "x.html"), "view needs --poses"),
    (("part.body.json", "part.body.json", "--poses", "poses.npz", "-o", "x.png"), "x.png"),
    (("part.body.json", "part.body.json", "--poses", "poses.npz", "--index", "99", "-o", "x.html"), "pose 99 does not exist (poses 0-23)"),
    (("part.body.json", "part.body.json", "--poses", "poses.npz", "--threshold", "0", "-o", "x.html"), "--threshold"),
    (("drop.scene.json", "drop.npz", "--poses", "poses.npz", "-o", "x.html"), "--poses works only with two bodies"),
    (("drop.scene.json", "poses.npz", "-o", "x.html"), "poses.npz: contains no q"),
    (("drop.scene.json", "drop.npz", "--world", "3", "-o", "x.html"), "drop.npz: world 3 does not exist (only world 0)"),
])
def test_refusals(files, words, error):
    done = subprocess.run([COMMAND, "view", *words, "--device", "host"] if "-o" in words else [COMMAND, "view", *words],
                          cwd=files, capture_output=True, text=True)
    assert done.returncode == 2 and error in done.stderr, done.stderr
    assert not (files / "x.html").exists()
