"""Help, manual and completions against each other and against the command: test_help.py MADE ABUT MAKE_HELP

MADE is the folder of what MAKE_HELP, tools/make_help.py, made, and the root of the sources follows from the latter. Shells and
mandoc that are not installed are passed over.
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

MADE = pathlib.Path(sys.argv.pop(1)).resolve()
MAKE_HELP = pathlib.Path(sys.argv.pop(2)).resolve()

from support import *

DEV = ["gradcheck", "bench", "tune"]
EVERYWHERE = ["help", "quiet", "version"]


@functools.cache
def commands():
    """As the command itself lists them."""
    said = run(2, "").err
    return re.findall(r"[\w-]+", re.search(r"a command is missing: use (.*?)(?: or ([\w-]+))?\n", said)[0].split(": use ")[1].replace(" or ", " "))


@functools.cache
def help_of(name, dev=False):
    return command(f"{name} --help", dev=dev).out


def options_of(text):
    """The long options that a help lists, with their values."""
    return dict(re.findall(r"(?m)^  (?:-\w, |    )--([\w-]+) ?(\S*)", text))


def made(name):
    return (MADE / name).read_text(encoding="utf-8")


def bash(words, folder="."):
    """What bash offers in place of the last word."""
    line = " ".join(f"'{word}'" for word in words)
    done = subprocess.run(["bash", "-c", f"source '{MADE / 'abut'}'\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words) - 1}\n"
                           'compopt() { :; }\n_abut\nprintf "%s\\n" "${COMPREPLY[@]}"'],
                          cwd=folder, capture_output=True, text=True)
    check(done.returncode == 0 and not done.stderr, f"bash: {done.stderr}")
    return sorted(done.stdout.split())


def test_lines_fit():
    for dev, names in ((False, ["", *commands()]), (True, ["", *DEV])):
        for name in names:
            for line in help_of(name, dev).splitlines():
                check(len(line) <= 100, f"{name} --help has a line of {len(line)} columns: {line}")


def test_every_command_and_option_is_everywhere():
    names = commands()
    check(len(names) > 20, f"commands: {names}")
    manual, zsh, fish = made("abut.1"), made("_abut"), made("abut.fish")
    check(re.findall(r"(?m)^\.Ss abut (\S+)$", manual) == names, "the manual has other commands")
    check(bash(["abut", "help", ""]) == sorted(names), "bash has other commands")
    overview = command("--help").out
    for name in names:
        has(overview, f"^  abut {name}\\b")
        options = options_of(help_of(name))
        check(set(EVERYWHERE) <= set(options), f"{name} --help lacks options of all commands")
        section = manual.split(f".Ss abut {name}\n")[1].split(".Ss ")[0].split(".Sh ")[0]
        check(sorted(EVERYWHERE + re.findall(r"(?m)^\.It Fl (?:\w , )?-([\w-]+)", section)) == sorted(options),
              f"the manual has other options of {name}")
        check(bash(["abut", name, "--"]) == sorted("--" + o for o in options), f"bash has other options of {name}")
        section = zsh.split(f"\n        {name})\n")[1].split(";;")[0]
        for option, value in options.items():
            check(re.search(rf"'[^\n]*?--{option}(?:}}')?\[[^\n]*\]{':' if value else ''}", section) is not None,
                  f"zsh lacks --{option} of {name}")
            check(option in EVERYWHERE or any(f" {name} " in f" {line.split(chr(39))[1]} " for line in fish.splitlines()
                                              if f" -l {option} " in line), f"fish lacks --{option} of {name}")
        check(len(re.findall(r"(?m)^            '", section)) - section.count("            '1:") - section.count("            '2:") -
              section.count("            '*:") == len(options), f"zsh has other options of {name}")


def test_values_and_examples():
    for name in commands():
        text = help_of(name)
        options = options_of(text)
        for dashes in re.findall(r"(?<![\w-])--([a-z][\w-]*)", text.split("\nexamples, ")[1]):
            check(dashes in options, f"an example of {name} has --{dashes}")
    for name, option in (("gradient", "reduce"), ("contacts", "precision"), ("gradient", "by"), ("closest", "as"),
                         ("closest", "jacobian"), ("ccd", "motion"), ("gradient", "full-hessian"), ("compare", "models"),
                         ("decompose", "family")):
        words = {"ccd": "cube.obj slab.obj --from poses.csv --to poses.csv -o no.npz", "decompose": "cube.obj -o no.body.json",
                 "compare": f"{TESTS.parent}/assets/drop.scene.json --steps 1"}.get(name, "cube.obj slab.obj --poses poses.csv -o no.npz")
        more = "--mean-distance" if name == "gradient" and option != "reduce" else ""
        said = command(f"{name} {words} {more} --{option} no-such-word").err
        found = re.search(r"(?:possible values: |` must be )(.*)", said)
        check(found is not None, f"{name} --{option} does not say what is possible: {said}")
        if found:
            check(sorted(set(re.split(r"[ ,.]+", found[1])) - {"", "nor", "or"}) == bash(["abut", name, f"--{option}", ""]),
                  f"bash has other words of {name} --{option}")


def test_texts_differ_by_command():
    """An option that means something else to another command has a text of its own there."""
    for option, names in {"tolerance": ("field", "ccd"), "vertices": ("field", "contacts", "remesh", "decompose"), "follow": (
            "film", "gradient", "jvp"), "threshold": ("simulate", "film", "render", "view", "jacobian"), "width": (
            "render", "film"), "samples": ("closest", "suggest"), "contacts": ("simulate", "film"), "record": (
            "simulate", "compare", "rollout-gradient"), "temperature": ("contacts", "gradient", "closest")}.items():
        found = [re.search(rf"(?m)^      --{option}( \S+)?\s+(.*(?:\n {{29}}.*)*)", help_of(name)) for name in names]
        check(None not in found and len({f[2] for f in found}) == len(names), f"texts of --{option}: {found}")
    run(0, "field --help", out=r"--tolerance T +Sets the error, as a share of the diagonal")
    run(0, "ccd --help", out=r"--tolerance T +Sets how much farther apart than --separation")


def test_bash_completes_files():
    os.makedirs("folder", exist_ok=True)
    for name in ("a.npz", "a.txt", "a.body.json", "a.obj", "a.scene.json"):
        put(f"folder/{name}", "")
    check(bash(["abut", "contacts", "--poses", "a"], "folder") == ["a.npz"], "bash: --poses")
    check(bash(["abut", "contacts", "a"], "folder") == ["a.body.json", "a.obj"], "bash: bodies")
    check(bash(["abut", "simulate", "a"], "folder") == ["a.scene.json"], "bash: scenes")
    check(bash(["abut", "contacts", "--chunk", ""], "folder") == [], "bash: numbers")
    check(bash(["abut", "contacts", "--vertices", ""]) == ["all"] and bash(["abut", "remesh", "--vertices", ""]) == [],
          "bash: a value by command")
    check(bash(["abut", "--device", "cpu", "fi"]) == ["field", "film"], "bash: commands behind options")


def test_other_shells():
    lacks(made("_abut"), r"\*\.\([^|]*\)")  # parentheses around one ending are qualifiers of a glob, which match nothing
    if shutil.which("zsh"):
        done = subprocess.run(["zsh", "-n", MADE / "_abut"], capture_output=True, text=True)
        check(done.returncode == 0, f"zsh: {done.stderr}")
    if shutil.which("fish"):
        def fish(line):
            done = subprocess.run(["fish", "-c", f"source '{MADE / 'abut.fish'}'; complete -C '{line}'"],
                                  capture_output=True, text=True, env={**os.environ, "HOME": os.getcwd(),
                                                                        "XDG_CONFIG_HOME": os.getcwd()})
            check(done.returncode == 0 and not done.stderr, f"fish: {done.stderr}")
            return [row.split("\t")[0] for row in done.stdout.splitlines()]
        check(set(commands()) <= set(fish("abut ")), "fish: commands")
        check(fish("abut contacts --prec") == ["--precision"], "fish: options")
        check(sorted(fish("abut contacts --precision ")) == ["f32", "f64"], "fish: words")
        check("a.npz" not in fish("abut field --cells "), "fish: numbers")


def test_manual_is_sound():
    if not shutil.which("mandoc"):
        print("mandoc is not installed: the manual is not checked by it")
        return
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", MADE / "abut.1"], capture_output=True, text=True)
    check(done.returncode == 0, f"mandoc: {done.stdout}{done.stderr}")


def test_bad_tables_are_refused():
    """Each with its file and line."""
    root = MAKE_HELP.parents[1]
    for name, old, new, said in (
        ("options.txt", "option cells N\n", "option cells N M\n", "is not `option NAME [VALUE]`"),
        ("options.txt", "  of gradcheck\n", "  of gradchec\n", "there is no command `gradchec`"),
        ("options.txt", "  of render inspect\n", "  of render render\n", "a command is there twice"),
        ("options.txt", "option all\n", "option zzz\n", "options are not in alphabetical order"),
        ("options.txt", "  repeat\n", "  repeated\n", "an option has no `repeated`"),
        ("options.txt", "takes words all cpu", "takes word all cpu", "`takes` needs files or words"),
        ("commands.txt", "({meshes};", "({mesh};", "there is no {mesh}"),
        ("commands.txt", "  summary step worlds", "  summer step worlds", "a command has no `summer`"),
        ("commands.txt", "  summary step worlds of a scene\n", "  summary " + "step worlds " * 9 + "\n", "longer than 100 columns"),
    ):
        for folder in ("src/cli", "src/base", "cl/geometry", "out"):
            os.makedirs(f"bad/{folder}", exist_ok=True)
        shutil.copytree(root / "src/cli/help", "bad/src/cli/help", dirs_exist_ok=True)
        shutil.copy(root / "src/base/mesh_formats.h", "bad/src/base")
        shutil.copy(root / "cl/geometry/reductions.h", "bad/cl/geometry")
        path = pathlib.Path("bad/src/cli/help", name)
        text = path.read_text(encoding="utf-8")
        check(old in text, f"{name} has no {old!r}")
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        done = subprocess.run([sys.executable, MAKE_HELP, "bad/src", "bad/cl", "bad/out"], capture_output=True, text=True)
        check(done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr, f"{said}: {done.stderr}")
        if "columns" not in said:
            has(done.stderr, rf"^bad/src/cli/help/{name}(:[0-9]+)?: ")


if __name__ == "__main__":
    main()
