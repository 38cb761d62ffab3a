#!/usr/bin/env python3
"""Makes help, manual and completions of the command from one table: make_help.py SRC CL OUT_DIR

The table is three files in SRC/cli/help: options.txt, commands.txt and manual.txt. Writes into OUT_DIR
  option_table.c  what the command parses options by, and the text of each --help
  abut.1          the manual
  abut            the completion for bash
  _abut           the completion for zsh
  abut.fish       the completion for fish
The manual and the completions leave out the commands of abut-dev.

An entry begins at the left edge. Its properties are indented by two columns, and the text of a property by four. A blank
line separates paragraphs. A paragraph may end with a list, whose items are "* name: text". Lines that begin with # are
comments.

  group NAME COMMAND...      names several commands; @NAME stands for them, and * for all
  option NAME [VALUE]        the option --NAME, which takes VALUE
    short LETTER
    takes files ENDING...    what shells complete its value with
    takes words WORD...
    repeat                   it may be given more than once
    not with OPTION...       shells do not offer it beside these
    of COMMAND... [; VALUE] [; takes ...]
      Text for these commands. Every command that takes the option must be in one of these lines.
  command NAME               a command of abut, or of another `program`
    summary, usage (repeatable), operands, text, example CAPTION (repeatable)
  program NAME, manual, section NAME

The first sentence of a text describes the option in completions. The first paragraph is the text in --help. The manual has
all paragraphs; those after the first are in one place if several commands share them. In texts, `words` are literal, and
{meshes}, {assimp}, {reductions} and others in braces are replaced by what headers and the table list.
"""
import pathlib
import re
import sys
import textwrap
from typing import NamedTuple

WIDTH = 100
COLUMN = 29  # column of option texts in --help
KINDS = {"body": ["body.json", "{meshes}"], "mesh": ["{meshes}"], "model": ["xml", "urdf"]}
SHARED = "OPTIONS OF SEVERAL COMMANDS"


def fail(place, text):
    sys.exit(f"{place}: {text}")


class Property(NamedTuple):
    place: str
    name: str
    rest: str
    text: list  # paragraphs, each a text or a list of items


class Block(NamedTuple):
    """The meaning of an option for some commands."""
    commands: list
    value: str
    kind: str  # "files", "words" or ""
    words: list
    text: list


class Option(NamedTuple):
    name: str
    value: str
    short: str
    repeat: bool
    without: list
    blocks: list

    def block(self, command):
        return next((b for b in self.blocks if command in b.commands), None)


class Command(NamedTuple):
    name: str
    program: str
    summary: str
    usages: list
    operands: list
    text: list
    examples: list  # (caption, line)


# ---- the table ----


def paragraphs_of(lines):
    """Joins lines: texts, and lists of items for lines that begin with "* "."""
    found, open_ = [], False
    for line in lines:
        if not line:
            open_ = False
        elif line.startswith("* "):
            if not found or isinstance(found[-1], str) or not open_:
                found.append([])
            found[-1].append(line[2:])
            open_ = True
        elif open_ and isinstance(found[-1], list):
            found[-1][-1] += " " + line.strip()
        elif open_:
            found[-1] += " " + line.strip()
        else:
            found.append(line.strip())
            open_ = True
    return found


def entries_of(path):
    """Returns (place, words of the first line, properties) for each entry."""
    entries, pending = [], []

    def end_text():
        if any(pending):
            last = entries[-1][2][-1]
            last.text.extend(paragraphs_of(pending))
        pending.clear()

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        place = f"{path}:{number}"
        indent = len(line) - len(line.lstrip())
        if line.startswith("#"):
            continue
        if not line.strip():
            pending.append("")
        elif indent == 0:
            end_text()
            entries.append((place, line.split(), []))
        elif indent == 2 and entries:
            end_text()
            name, _, rest = line.strip().partition(" ")
            entries[-1][2].append(Property(place, name, rest.strip(), []))
        elif indent >= 4 and entries and entries[-1][2]:
            pending.append(line[4:])
        else:
            fail(place, "is not indented as an entry, a property or a text")
    end_text()
    return entries


def formats_of(header, name):
    return re.findall(r"FORMAT\((\w+), \w+\)", re.search(rf"#define {name}\(.*?\n\n", header, re.S)[0])


def either(words):
    return ", ".join(words[:-1]) + " or " + words[-1]


class Table:
    def __init__(self, src, cl):
        folder = src / "cli" / "help"
        header = (src / "base" / "mesh_formats.h").read_text(encoding="utf-8")
        meshes, assimp = formats_of(header, "MESH_FORMATS"), formats_of(header, "ASSIMP_FORMATS")
        sloped = re.search(r"#define SLOPED_REDUCTIONS.*?clang-format on",
                           (cl / "geometry" / "reductions.h").read_text(encoding="utf-8"), re.S)[0]
        reductions = re.findall(r'REDUCTION\(\w+, \w+, "([\w-]+)"', sloped)
        self.meshes = meshes + assimp
        self.names = {"meshes": " ".join("." + m for m in meshes), "meshes_or": either(["." + m for m in meshes]),
                      "assimp": " ".join("." + m for m in assimp), "assimp_or": either(["." + m for m in assimp]),
                      "reductions": " ".join(reductions), "reductions_or": either(reductions)}
        self.options, self.commands, self.groups, self.programs, self.sections = [], [], {}, {}, []
        for place, words, properties in entries_of(folder / "commands.txt"):
            self.commands.append(self.command_of(place, words, properties))
        for place, words, properties in entries_of(folder / "options.txt"):
            if words[0] == "group":
                self.groups[words[1]] = self.listed(place, words[2:])
            else:
                self.options.append(self.option_of(place, words, properties))
        names = [o.name for o in self.options]
        if names != sorted(names) or len(set(names)) != len(names):
            fail(folder / "options.txt", "options are not in alphabetical order")
        for option in self.options:
            if not set(option.without) <= set(names):
                fail(folder / "options.txt", f"--{option.name} is not with an option that is not there")
        self.names["repeated"] = either(["--" + o.name for o in self.options if o.repeat]).replace(" or ", " and ")
        self.names["folder_commands"] = either([f"`abut {c}`" for c in self.option("shard").blocks[0].commands +
                                                self.option("shard").blocks[1].commands])
        self.date = ""
        for place, words, properties in entries_of(folder / "manual.txt"):
            found = {p.name: p for p in properties}
            if words[0] == "program":
                self.programs[words[1]] = found["about"].rest
            elif words[0] == "manual":
                self.date = found["date"].rest
            elif words[0] == "section":
                self.sections.append((" ".join(words[1:]), self.filled(place, found["text"].text)))
            else:
                fail(place, f"there is no entry `{words[0]}`")

    def option(self, name):
        return next(o for o in self.options if o.name == name)

    def of(self, command):
        """Returns the command's options, with the meaning of each."""
        return [(o, o.block(command)) for o in self.options if o.block(command)]

    def fill(self, place, text):
        def name(found):
            if found[1] not in self.names:
                fail(place, f"there is no {found[0]}")
            return self.names[found[1]]
        return re.sub(r"\{(\w+)\}", name, text)

    def filled(self, place, text):
        return [self.fill(place, p) if isinstance(p, str) else [self.fill(place, item) for item in p] for p in text]

    def listed(self, place, words):
        found = []
        for word in words:
            if word == "*":
                found += [c.name for c in self.commands]
            elif word[0] == "@" and word[1:] in self.groups:
                found += self.groups[word[1:]]
            elif any(c.name == word for c in self.commands):
                found.append(word)
            else:
                fail(place, f"there is no command `{word}`")
        return found

    def taken(self, place, words):
        """Parses takes KIND WORD...: the kind and its words."""
        if words[0] not in ("files", "words"):
            fail(place, "`takes` needs files or words")
        found = []
        for word in words[1:]:
            found += self.meshes if word == "{meshes}" else self.fill(place, word).split()
        return words[0], found

    def option_of(self, place, words, properties):
        if words[0] != "option" or len(words) > 3:
            fail(place, "is not `option NAME [VALUE]`")
        value, short, repeat, without, kind, blocks, seen = words[2] if len(words) > 2 else "", "", False, [], ("", []), [], set()
        for p in properties:
            if p.name == "short":
                short = p.rest
            elif p.name == "repeat":
                repeat = True
            elif p.name == "not":
                without = p.rest.split()[1:]
            elif p.name == "takes":
                kind = self.taken(p.place, p.rest.split())
            elif p.name == "of":
                parts = [part.strip() for part in p.rest.split(";")]
                own = next((part.split()[1:] for part in parts[1:] if part.startswith("takes ")), None)
                own_value = next((part for part in parts[1:] if not part.startswith("takes ")), value)
                commands = self.listed(p.place, parts[0].split())
                if seen & set(commands) or len(set(commands)) != len(commands):
                    fail(p.place, "a command is there twice")
                seen |= set(commands)
                if not p.text or not isinstance(p.text[0], str):
                    fail(p.place, "there is no text")
                blocks.append(Block(commands, own_value, *(self.taken(p.place, own) if own else kind),
                                    self.filled(p.place, p.text)))
            else:
                fail(p.place, f"an option has no `{p.name}`")
        return Option(words[1], value, short, repeat, without, blocks)

    def command_of(self, place, words, properties):
        if words[0] != "command" or len(words) != 2:
            fail(place, "is not `command NAME`")
        found = {p.name: p for p in properties}
        for p in properties:
            if p.name not in ("program", "summary", "usage", "operands", "text", "example"):
                fail(p.place, f"a command has no `{p.name}`")
        for name in ("summary", "usage", "text", "example"):
            if name not in found:
                fail(place, f"there is no `{name}`")
        return Command(words[1], found["program"].rest if "program" in found else "abut", found["summary"].rest,
                       [p.rest for p in properties if p.name == "usage"],
                       found["operands"].rest.split() if "operands" in found else [],
                       self.filled(place, found["text"].text),
                       [(p.rest, line) for p in properties if p.name == "example" for line in p.text])

    def public(self):
        return [c for c in self.commands if c.program == "abut"]


# ---- --help ----


def kept_together(text):
    """Makes blanks unbreakable within short `words`, in shapes of arrays and before %."""
    return re.sub(r"`[^`]{1,24}`|\d %|\([^() ]{1,6}(?:, ?[^(), ]{1,6}| \w{1,3}(?=[,)]))+\)", lambda found: found[0].replace(" ", "\xa0"), text)


def wrapped(text, width, first="", later=""):
    return [line.replace("\xa0", " ") for line in
            textwrap.wrap(kept_together(text), width, initial_indent=first, subsequent_indent=later, break_on_hyphens=False,
                          break_long_words=False)]


def in_lines(line, width, end):
    """Breaks a command line before words that are not option values, with `end` after all lines except the last."""
    lines = [""]
    for word in re.findall(r"-\S+ [^-\s|]\S*|\S+", line):
        if lines[-1] and len(lines[-1]) + 1 + len(word) + len(end) > width:
            lines.append("  ")
        lines[-1] += (" " if lines[-1].strip() else "") + word
    return [part + end for part in lines[:-1]] + lines[-1:]


def option_lines(option, block):
    left = f"  {f'-{option.short}, ' if option.short else '    '}--{option.name}{' ' if block.value else ''}{block.value}"
    lines = wrapped(block.text[0], WIDTH, " " * COLUMN, " " * COLUMN)
    return [left + lines[0][len(left):], *lines[1:]] if len(left) < COLUMN else [left, *lines]


def usage_of(command, usage):
    return " ".join(f"{command.program} {command.name} {usage}".split())


def command_help(table, command):
    lines = []
    for i, usage in enumerate(command.usages):
        lines.append(f"{'usage:' if i == 0 else '      '} {usage_of(command, usage)} [options]")
    lines += ["", *wrapped(command.text[0], WIDTH), "", "options:"]
    for option, block in table.of(command.name):
        lines += option_lines(option, block)
    lines += ["", "examples, from the root of a checkout where they name assets:"]
    for caption, line in command.examples:
        lines += [f"  # {caption}", *("  " + part for part in in_lines(line, WIDTH - 2, " \\"))]
    return lines


def program_help(table, name):
    lines = [table.programs[name], "", "usage:"]
    for command in table.commands:
        if command.program == name:
            left = "  " + usage_of(command, command.usages[0])
            line = f"{left:47} {command.summary}"
            lines += [line] if len(left) < 48 and len(line) <= WIDTH else [left, " " * 48 + command.summary]
    lines += ["", "options of all commands:"]
    for option in table.options:
        if all(option.block(c.name) for c in table.commands):
            lines += option_lines(option, option.blocks[0])
    more = ["`man abut` describes the commands in full."] if name == "abut" else []
    return lines + ["", f"`{name} COMMAND --help`, or `{name} help COMMAND`, lists the options of a command.", *more,
                    "Exit status: 0; 1 for a failure at run time; 2 for bad usage or input."]


def c_text(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def c_name(prefix, name):
    return f"{prefix}_{name.upper().replace('-', '_')}"


def c_table(table):
    """option_table.c."""
    every = [c.name for c in table.commands]
    texts = {name: program_help(table, name) for name in table.programs}
    texts |= {c.name: command_help(table, c) for c in table.commands}
    out = ["/* Made by tools/make_help.py from src/cli/help. */", '#include "core/option_table.h"', ""]
    for name, lines in texts.items():
        for line in lines:
            if len(line) > WIDTH:
                fail(f"help of {name}", f"longer than {WIDTH} columns: {line}")
        out.append(f"static const char *const help_{name.replace('-', '_')}[] = {{")
        out += [f"  {c_text(line)}," for line in lines] + ["  NULL};", ""]
    out.append("const help_entry help_table[] = {")
    out += [f"  {{{c_text(name)}, help_{name.replace('-', '_')}}}," for name in texts]
    out += ["  {NULL, NULL}};", "", "const option_entry option_table[OPTION_COUNT] = {"]
    for option in table.options:
        commands = [c for c in every if option.block(c)]
        bits = "COMMAND_ALL" if commands == every else " | ".join(c_name("COMMAND", c) for c in commands)
        out.append(f"  [{c_name('OPTION', option.name)}] = {{{c_text(option.name)}, "
                   f"{c_text(option.value) if option.value else 'NULL'}, {repr(option.short) if option.short else 0}, "
                   f"{'true' if option.repeat else 'false'}, {bits}}},")
    return out + ["};", f'_Static_assert(OPTION_COUNT == {len(table.options)}, "option_id has other options than options.txt");']


# ---- the manual ----


def escaped(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def marked(text, values=()):
    """In mdoc: literal `words` and options are bold, values are italic."""
    def mark(found):
        word = found[0]
        if word[0] == "`":
            return rf"\fB{escaped(word[1:-1])}\fR"
        return rf"\fB{escaped(word)}\fR" if word[0] == "-" else rf"\fI{word}\fR"
    names = "|".join(sorted(map(re.escape, values), key=len, reverse=True))
    pattern = r"`[^`]*`|(?<![\w-])--[a-z][\w-]*|(?<![\w(-])-[a-z](?!\w)" + (rf"|(?<![\w.])(?:{names})(?![\w.]\w|\w)" if names else "")
    pieces, end = [], 0
    for found in re.finditer(pattern, text):
        pieces += [escaped_text(text[end:found.start()]), mark(found)]
        end = found.end()
    return "".join(pieces) + escaped_text(text[end:])


def escaped_text(text):
    """Escapes a minus before a digit or a blank, which is not a hyphen."""
    return re.sub(r"-(?=[\d ])|(?<=\()-", r"\\-", text.replace("\\", "\\e"))


def mdoc_text(text, values=()):
    """Starts each sentence on a new line."""
    lines = []
    for sentence in re.split(r"(?<=[.!?])[ ](?=\S)", text):
        for line in textwrap.wrap(marked(kept_together(sentence), values), 78, break_on_hyphens=False, break_long_words=False):
            line = line.replace("\xa0", "\\ ")
            lines.append((r"\&" if line[0] in ".'" else "") + line)
    return lines


def mdoc_paragraphs(paragraphs, values=()):
    lines = []
    for i, paragraph in enumerate(paragraphs):
        if isinstance(paragraph, str):
            lines += ([".Pp"] if i else []) + mdoc_text(paragraph, values)
            continue
        named = all(re.match(r"[^:]{1,90}: ", item) for item in paragraph)
        lines.append(".Bl -tag -width Ds" if named else ".Bl -bullet")
        for item in paragraph:
            name, _, rest = item.partition(": ") if named else ("", "", item)
            rest = rest[0].upper() + rest[1:] if named and not re.match(r"\w\d", rest) else rest
            lines += [f".It {mdoc_words(name)}" if named else ".It", *mdoc_text(rest, values)]
        lines.append(".El")
    return lines


def mdoc_words(text):
    """Escapes words of a macro's line that are not macros."""
    return " ".join(("\\&" if re.fullmatch(r"[A-Z][a-z]", w) else "") + escaped_text(w) for w in text.split())


def mdoc_tag(option, block):
    return (f".It {f'Fl {option.short} , ' if option.short else 'Fl '}-{option.name}" +
            (f" Ar {block.value}" if block.value else ""))


def mdoc_usage(command, usage):
    lines = [".Nm", f".Cm {command.name}"]
    for part in re.findall(r"\[[^]]*\]|--?\S+(?: [A-Z][^ []*)?|[^ []+(?: [A-Z][^ [-]*)*", usage):
        inside = part.strip("[]")
        words = inside.split()
        flag = f"Fl {words[0][1:]} Ar {' '.join(words[1:])}" if words[0][0] == "-" else f"Ar {inside}"
        lines.append(f".Op {flag}" if part[0] == "[" else f".{flag}")
    return [*lines, ".Op Ar options"]


def values_of(value):
    """Returns the names within a value, which are italic in its texts; not for files, whose letters are also shapes."""
    return [] if "." in value else re.findall(r"[A-Z][A-Z0-9]*", value)


def is_shared(table, block):
    """Returns whether the manual has the later paragraphs in a separate place."""
    return len(block.text) > 1 and sum(c.name in block.commands for c in table.public()) > 1


def manual(table):
    """abut.1, in mdoc."""
    public = table.public()
    everywhere = [o for o in table.options if all(o.block(c.name) for c in table.commands)]
    out = [r'.\" Made by tools/make_help.py from src/cli/help.', f".Dd {table.date}", ".Dt ABUT 1", ".Os", ".Sh NAME", ".Nm abut",
           f".Nd {table.programs['abut']}", ".Sh SYNOPSIS"]
    for command in public:
        for usage in command.usages:
            out += mdoc_usage(command, usage)
    for name, text in table.sections:
        if name == "DIAGNOSTICS":
            out.append(".Sh EXAMPLES")
            for i, (caption, line) in enumerate(e for c in public for e in c.examples):
                out += [*([".Pp"] if i else []), *mdoc_text(caption + ":"), ".Bd -literal -offset indent",
                        *(escaped(part) for part in in_lines(line, 70, " \\")), ".Ed"]
        out += [f".Sh {name}", *mdoc_paragraphs(text)]
        if name == "DESCRIPTION":
            out += [".Pp", "Options of all commands:", ".Bl -tag -width Ds"]
            for option in everywhere:
                out += [mdoc_tag(option, option.blocks[0]), *mdoc_text(option.blocks[0].text[0])]
            out += [".El", ".Sh COMMANDS", *commands_in_manual(table, everywhere), f".Sh {SHARED}", *shared_in_manual(table)]
    return out


def commands_in_manual(table, everywhere):
    out = []
    for command in table.public():
        out += [f".Ss abut {command.name}", *mdoc_paragraphs(command.text)]
        options = [(o, b) for o, b in table.of(command.name) if o not in everywhere]
        if options:
            out += [".Pp", "Options:", ".Bl -tag -width Ds"]
        for option, block in options:
            values = values_of(block.value)
            shared = is_shared(table, block)
            out += [mdoc_tag(option, block), *mdoc_paragraphs(block.text[:1] if shared else block.text, values)]
            out += ["See", f".Sx {SHARED} ."] if shared else []
        out += [".El"] if options else []
    return out


def shared_in_manual(table):
    out = [".Bl -tag -width Ds"]
    for option in table.options:
        for block in option.blocks:
            if is_shared(table, block):
                names = [f"`{c.name}`" for c in table.public() if c.name in block.commands]
                out += [mdoc_tag(option, block), *mdoc_text(f"Commands: {', '.join(names)}."), ".Pp", *mdoc_paragraphs(block.text, values_of(block.value))]
    return [*out, ".El"]


# ---- completions ----


def described(block):
    """Returns the first sentence for a menu, without its final dot and the part after a colon."""
    return re.split(r"\.(?= [A-Z]|$)|: ", block.text[0])[0].replace("`", "")


def endings_of(table, operand):
    return [e for kind in operand.removesuffix("...").split("|") for word in KINDS.get(kind, [kind])
            for e in (table.meshes if word == "{meshes}" else [word])]


def flags_of(option):
    return [f"--{option.name}"] + ([f"-{option.short}"] if option.short else [])


def bash_answer(block):
    if not block.value:
        return ""
    return {"files": f"_abut_files {' '.join(block.words)}", "words": f"_abut_words '{' '.join(block.words)}'"}.get(block.kind, ":")


def bash(table):
    commands = " ".join(c.name for c in table.public())
    out = ["# Completion of abut for bash. Made by tools/make_help.py from src/cli/help.", "", "_abut()", "{",
           "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' options='' i",
           f"  local commands='{commands}'", "  COMPREPLY=()", "  for ((i = 1; i < COMP_CWORD; i++)); do",
           "    if [[ \" help $commands \" == *\" ${COMP_WORDS[i]} \"* ]]; then", "      command=${COMP_WORDS[i]}", "      break",
           "    fi", "  done", "", "  case $command:$prev in"]
    answers = {}
    for option in table.options:
        of = {c.name: bash_answer(option.block(c.name)) for c in table.public() if option.block(c.name)}
        for command, answer in of.items():
            alike = len(set(of.values())) == 1
            answers.setdefault(answer, {}).update(dict.fromkeys(f"{'*' if alike else command}:{f}" for f in flags_of(option)))
    for answer, patterns in answers.items():
        if answer:
            out += ["    " + line for line in in_lines(" | ".join(patterns) + ")", WIDTH - 4, " \\")]
            out += [f"      {answer}", "      return", "      ;;"]
    out += ["  esac", "", "  case $command in"]
    for command in table.public():
        flags = " ".join(f"--{o.name}" for o, _ in table.of(command.name))
        out += [f"    {command.name}) options='{flags}' ;;"]
    everywhere = " ".join(f"--{o.name}" for o in table.options if all(o.block(c.name) for c in table.commands))
    out += [f"    '') options=\"{everywhere} help $commands\" ;;", "    help) options=$commands ;;", "  esac",
            "  if [[ $cur == -* || -z $command || $command == help ]]; then", "    _abut_words \"$options\"", "    return", "  fi",
            "  case $command in"]
    for command in table.public():
        if command.operands:
            endings = [] if "folder" in command.operands else list(dict.fromkeys(
                e for operand in command.operands for e in endings_of(table, operand)))
            out.append(f"    {command.name}) {' '.join(['_abut_files', *endings])} ;;")
    return out + ["  esac", "}", "", "_abut_words()", "{", '  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")', "}", "",
                  "# Folders, and files that end with one of the given suffixes.", "_abut_files()", "{", "  local suffix",
                  "  compopt -o filenames 2> /dev/null", "  mapfile -t COMPREPLY < <(", '    compgen -d -- "$cur"',
                  "    for suffix; do", '      compgen -f -X "!*.$suffix" -- "$cur"', "    done", "  )", "}", "",
                  "complete -F _abut abut"]


def zsh_quoted(text):
    return text.replace("'", "'\\''")


def zsh_action(kind, words):
    if kind == "files":
        endings = f"({'|'.join(words)})" if len(words) > 1 else "".join(words)  # (word) at the end is a glob qualifier
        return f'_files -g "*.{endings}"' if words else "_files -/"
    return f"({' '.join(words)})" if kind == "words" else " "


def zsh_option(table, command, option, block):
    others = [f"--{w}" for w in option.without if table.option(w).block(command)]
    excluded = " ".join(others + (flags_of(option) if option.short else []))
    excluded = "- *" if option.name in ("help", "version") else excluded
    text = re.sub(r"([\[\]:\\])", r"\\\1", described(block))
    value = re.sub(r"[:\[\]]", " ", block.value)
    action = zsh_action(block.kind, block.words)
    if block.kind == "words" and ",..." in block.value:
        action = f"_values -s , {option.name} {' '.join(block.words)}"
    spec = zsh_quoted(f"[{text}]" + (f":{value}:{action}" if block.value else ""))
    before = "*" if option.repeat else f"({excluded})" if excluded else ""
    return (f"'{before}'{{-{option.short},--{option.name}}}'{spec}'" if option.short else f"'{before}--{option.name}{spec}'")


def zsh(table):
    out = ["#compdef abut", "# Completion of abut for zsh. Made by tools/make_help.py from src/cli/help.", "", "_abut()", "{",
           "  local curcontext=$curcontext state line", "  local -a commands", "  commands=(", "    'help:print help on a command'"]
    out += [f"    '{c.name}:{zsh_quoted(c.summary)}'" for c in table.public()]
    everywhere = [zsh_option(table, "", o, o.blocks[0]) for o in table.options if all(o.block(c.name) for c in table.commands)]
    out += ["  )", f"  _arguments -C {' '.join(everywhere)} \\", "    '1: :->command' '*:: :->arguments'", "  case $state in",
            "    command) _describe command commands ;;", "    arguments)", "      curcontext=${curcontext%:*}-$words[1]:",
            "      case $words[1] in", "        help) _describe command commands ;;"]
    for command in table.public():
        specs = [zsh_option(table, command.name, o, b) for o, b in table.of(command.name)]
        for i, operand in enumerate(command.operands, 1):
            endings = [] if operand == "folder" else endings_of(table, operand)
            label = "*" if operand.endswith("...") else i
            specs.append(f"'{label}:{operand.replace('...', '').replace('|', ' or ')}:{zsh_action('files', endings)}'")
        out += [f"        {command.name})", "          _arguments \\", *(f"            {s} \\" for s in specs[:-1]),
                f"            {specs[-1]}", "          ;;"]
    return out + ["      esac", "      ;;", "  esac", "}", "", '_abut "$@"']


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_files(endings):
    if not endings:
        return "'(__fish_complete_directories)'"
    return "'(" + "; ".join(f"__fish_complete_suffix .{e}" for e in endings) + ")'"


def fish(table):
    out = ["# Completion of abut for fish. Made by tools/make_help.py from src/cli/help.", "complete -c abut -f",
           "complete -c abut -n __fish_use_subcommand -a help -d 'print help on a command'"]
    names = " ".join(c.name for c in table.public())
    out.append(f"complete -c abut -n '__fish_seen_subcommand_from help' -a '{names}'")
    out += [f"complete -c abut -n __fish_use_subcommand -a {c.name} -d {fish_quoted(c.summary)}" for c in table.public()]
    for option in table.options:
        if all(option.block(c.name) for c in table.commands):
            out.append(f"complete -c abut{f' -s {option.short}' if option.short else ''} -l {option.name} "
                       f"-d {fish_quoted(described(option.blocks[0]))}")
            continue
        for block in option.blocks:
            names = [c.name for c in table.public() if c.name in block.commands]
            if not names:
                continue
            line = (f"complete -c abut -n '__fish_seen_subcommand_from {' '.join(names)}'"
                    f"{f' -s {option.short}' if option.short else ''} -l {option.name} -d {fish_quoted(described(block))}")
            if block.value:
                line += " -x" + (f" -k -a {fish_files(block.words)}" if block.kind == "files" else
                                 f" -a '{' '.join(block.words)}'" if block.kind == "words" else "")
            out.append(line)
    for command in table.public():
        if command.operands:
            endings = [] if "folder" in command.operands else list(dict.fromkeys(
                e for operand in command.operands for e in endings_of(table, operand)))
            out.append(f"complete -c abut -n '__fish_seen_subcommand_from {command.name}' -k -a {fish_files(endings)}")
    return out


def main():
    table = Table(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    out = pathlib.Path(sys.argv[3])
    for name, made in {"option_table.c": c_table, "abut.1": manual, "abut": bash, "_abut": zsh, "abut.fish": fish}.items():
        (out / name).write_text("\n".join(made(table)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
