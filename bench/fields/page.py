"""The tables of docs/benchmarks/fields.md, from bench/results/fields-*.json."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "benchmarks" / "fields.md"
PARTS = ("judge", "poses", "rates", "torture")


def digits(x):
    """Two digits, without an exponent unless it is tiny."""
    if x is None:
        return "none"
    if x == 0:
        return "0"
    return f"{x:,.0f}" if abs(x) >= 99.5 else f"{x:.2g}" if abs(x) >= 1e-3 else f"{x:.0e}"


def three(found):
    return ", ".join(digits(found[k]) for k in ("median", "95", "most")) if found else "none"


def judged(found):
    """A line for who watches."""
    if "refused" in found:
        return f"refused: {found['refused']}"
    wrong = ", ".join(f"{digits(s['wrong'])} {place}" for place, s in found["signs"].items())
    return f"faces {three(found['face'])}; edges {three(found['edge'])}; wrong signs [%] {wrong}"


def posed(found):
    if "refused" in found:
        return f"refused: {found['refused']}"
    return (f"{found['false']} of {found['apart']} apart active (most {found.get('most', 0):.3f}), "
            f"{found['missed']} of {found['deep']} deep missed, {found['unseen']} of {found['crossing']} "
            "crossing unseen")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(c) for c in line) + " |" for line in lines]


def errors_table(result):
    head = ["mesh", "triangles", "contact mesh: vertices, edges", "field, kB",
            "made in s; from the cache", "faces: median, 95 %, most", "at edges: median, 95 %, most",
            "steepest", "jumps: value, slope, curvature"]
    rows = []
    for name, row in meshes(result):
        found = row["file"]
        if "refused" in found:
            refused = f"refused: {found['refused']}"
            rows.append([name, f"{row['faces']:,}", refused, *[""] * 6])
            continue
        seconds, jumps = found.get("seconds", {}), found["jumps"]
        rows.append([name, f"{row['faces']:,}", f"{found['vertices']:,}, {found['edges']:,}",
                     f"{found['bytes'] / 1e3:,.0f}",
                     f"{digits(seconds.get('without cache'))}; {digits(seconds.get('with cache'))}",
                     three(found["face"]), three(found["edge"]),
                     digits(jumps["steepest"]),
                     ", ".join(digits(jumps[k]) for k in ("value", "slope", "curvature"))])
    return table(head, rows)


def signs_table(result):
    places = ("box", "twice", "far")
    head = ["mesh", "wrong signs: box, twice, far", "distance off: box; twice; far",
            "wrong signs of the point cloud: box, twice, far"]
    rows = []
    for name, row in meshes(result):
        cells = [name]
        if "signs" in row["file"]:
            signs = row["file"]["signs"]
            cells += [", ".join(digits(signs[p]["wrong"]) for p in places),
                      "; ".join(three(signs[p]["off"]) for p in places)]
        else:
            cells += ["refused", ""]
        cloud = row.get("cloud", {}).get("signs")
        rows.append([*cells, ", ".join(digits(cloud[p]["wrong"]) for p in places) if cloud else ""])
    return table(head, rows)


def meshes(result):
    return ((name, row) for name, row in result.items() if isinstance(row, dict) and "file" in row)


def poses_table(result):
    head = ["pair", "poses apart", "active all the same", "largest activity", "poses deep", "missed",
            "least activity", "crossing, of them unseen",
            "with point clouds: active of those apart, missed of those deep"]
    rows = []
    for name, row in meshes(result):
        found, cloud = row["file"], row.get("cloud", {})
        if "refused" in found:
            rows.append([name, f"refused: {found['refused']}", *[""] * 7])
            continue
        most, least = (f"{found[k]:.3f}" if k in found else "none" for k in ("most", "least"))
        before = (f"{cloud['false']} of {cloud['apart']}, {cloud['missed']} of {cloud['deep']}"
                  if "apart" in cloud else "")
        rows.append([name, found["apart"], found["false"], most, found["deep"], found["missed"],
                     least, f"{found['crossing']}, {found['unseen']}", before])
    return table(head, rows)


def rates_table(result):
    names = {"file": "as loaded", "quadrics": "18 superquadrics under the same vertices and edges",
             "cloud": "point clouds of the raw meshes"}
    head = ["bodies", "vertices", "edges", "contacts a pose", "batch",
            "poses a second: median (extremes)", "rate of the first row over it"]
    rows = []
    for key, name in names.items():
        row = result.get(key)
        if not row:
            continue
        rate, over = row["poses_per_s"], result.get(f"file over {key}")
        rows.append([name, " and ".join(f"{b['vertices']:,}" for b in row["bodies"]),
                     " and ".join(f"{b['edges']:,}" for b in row["bodies"]), f"{row['contacts']:,}",
                     f"{row['batch']:,}",
                     f"{digits(rate['median'])} ({digits(rate['least'])} to {digits(rate['most'])})",
                     f"{digits(over['median'])} ({digits(over['least'])} to {digits(over['most'])})"
                     if over else ""])
    lines = table(head, rows)
    for what, row in result.get("abut-dev bench", {}).items():
        lines += ["", f"`abut-dev bench armadillo.obj spot.obj --what {what} --batch {row['batch']}`: "
                      f"{digits(row['poses_per_s'])} poses a second."]
    return lines


def torture_table(result):
    rows = []
    files = result["files"]
    for row in files:
        if row["end"] != "body" or row["said"]:
            said = row["said"].splitlines()[-1] if row["said"] else ""
            rows.append([row["file"], row["end"], said.removeprefix("abut: ").replace("|", "\\|")])
    bodies = sum(r["end"] == "body" for r in files)
    refused = sum(r["end"] == "refused" for r in files)
    return [f"Of {len(files)} files {bodies} end in a body, {refused} are refused, "
            f"{len(files) - bodies - refused} fail. Those that are refused, fail or draw a remark:", "",
            *table(["file", "end", "what is said"], rows)]


def circumstances(result):
    about = result["measured"]
    text = f"{about['processor']}; {about['driver']}; commit {about['commit']}, {about['date']}"
    if about["load before"] > 1.0:
        text += f". The load before was {about['load before']}: times are not those of a machine at rest"
    return text + "."


TABLES = {"errors": ("judge", errors_table), "signs": ("judge", signs_table),
          "poses": ("poses", poses_table), "rates": ("rates", rates_table),
          "torture": ("torture", torture_table)}


def filled(text, results):
    """The page with every table that there is a result for."""
    for name, (part, make) in TABLES.items():
        path = results / f"fields-{part}.json"
        if not path.exists():
            continue
        result = json.loads(path.read_text())
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        head, rest = text.split(begin)
        lines = [begin, *make(result), "", circumstances(result), end]
        text = head + "\n".join(lines) + rest.split(end)[1]
    return text


def write(page, results):
    page.write_text(filled(page.read_text(), results))


def check(page, results):
    """Says whether the tables are those of the results, as tests do."""
    text = page.read_text()
    same = filled(text, results) == text
    if not same:
        print(f"{page.name} is not what bench/fields/run.py --page makes")
    print(f"{int(same)} passed, {int(not same)} failed")
    return int(not same)
