#include "core/option_table.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* getopt's code of option 0; above every character. */
#define FIRST_CODE 256

const char *option_name(option_id id)
{
  static char name[32];
  snprintf(name, sizeof name, "--%s", option_table[id].name);
  return name;
}

/* The leading '-' makes getopt return operands in order, so that options may appear anywhere, even
 * with POSIXLY_CORRECT. The ':' distinguishes a missing argument from an unknown option. */
static void fill_getopt(struct option longs[OPTION_COUNT + 1], char letters[8 + 2 * OPTION_COUNT])
{
  char *at = letters;
  *at++ = '-';
  *at++ = ':';
  for (int i = 0; i < OPTION_COUNT; ++i) {
    longs[i] = (struct option){option_table[i].name,
                               option_table[i].metavar ? required_argument : no_argument, NULL,
                               FIRST_CODE + i};
    if (option_table[i].letter) {
      *at++ = option_table[i].letter;
      if (option_table[i].metavar) {
        *at++ = ':';
      }
    }
  }
  longs[OPTION_COUNT] = (struct option){NULL, 0, NULL, 0};
  *at = '\0';
}

static option_id id_of(int got)
{
  for (int i = 0; i < OPTION_COUNT && got < FIRST_CODE; ++i) {
    if (option_table[i].letter == got) {
      return (option_id)i;
    }
  }
  return (option_id)(got - FIRST_CODE);
}

static void take_operand(options *o, const char *word)
{
  o->operands[o->operand_count++] = word;
}

static const command *find_command(const program *p, const char *name)
{
  for (size_t i = 0; i < p->command_count; ++i) {
    if (strcmp(p->commands[i].name, name) == 0) {
      return &p->commands[i];
    }
  }
  return NULL;
}

#define LONGEST 32 /* longest command names that are compared */

/* Returns the number of letters to insert, delete or change to turn one word into the other; more
 * than LONGEST if one of them is longer than that. */
static size_t letters_apart(const char *a, const char *b)
{
  const size_t rows = strlen(a), columns = strlen(b);
  size_t row[LONGEST + 1];
  if (rows > LONGEST || columns > LONGEST) {
    return LONGEST + 1;
  }
  for (size_t k = 0; k <= columns; ++k) {
    row[k] = k;
  }
  for (size_t i = 1; i <= rows; ++i) {
    size_t aslant = row[0];
    row[0] = i;
    for (size_t k = 1; k <= columns; ++k) {
      const size_t changed = aslant + (a[i - 1] != b[k - 1]);
      const size_t other = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);
      aslant = row[k];
      row[k] = changed < other ? changed : other;
    }
  }
  return row[columns];
}

/* Returns the command that a mistyped `name` probably means, or NULL. */
static const command *nearest_command(const program *p, const char *name)
{
  const command *best = NULL;
  size_t least = 3;
  for (size_t i = 0; i < p->command_count; ++i) {
    const size_t apart = letters_apart(p->commands[i].name, name);
    if (apart < least && apart < strlen(name)) {
      least = apart;
      best = &p->commands[i];
    }
  }
  return best;
}

static exit_code no_command(const program *p, const char *name)
{
  for (const char *const *of = p->of_developers; of && *of; ++of) {
    if (strcmp(*of, name) == 0) {
      return usage_error(NULL,
                         "`%s` is a command of abut-dev; build it with `meson compile -C build "
                         "abut-dev` (docs/dev/testing.md)",
                         name);
    }
  }
  const command *near = nearest_command(p, name);
  return near ? usage_error(NULL, "unknown command `%s`: did you mean `%s`?", name, near->name)
              : usage_error(NULL, "unknown command `%s`", name);
}

/* Only --device and --also may be given several times, and all their arguments are retained. An
 * empty device name is refused: the library would take it for the default device, which a user of
 * --device does not mean. */
static exit_code take_option(options *o, option_id id, const char *word)
{
  if (o->value[id] && word && !option_table[id].repeat) {
    return usage_error(o->operand_count ? find_command(o->program, o->operands[0]) : NULL,
                       "%s is given twice", option_name(id));
  }
  if ((id == OPTION_DEVICE || id == OPTION_TIMELINE || id == OPTION_ALSO) && !*word) {
    return usage_error(o->command, "%s: the value is empty", option_name(id));
  }
  if (id == OPTION_DEVICE) {
    if (o->device_count == ABUT_DEVICES_MOST) {
      return usage_error(o->command, "--device is given more than %d times", ABUT_DEVICES_MOST);
    }
    o->devices[o->device_count++] = word;
  }
  if (id == OPTION_ALSO) {
    o->also[o->also_count++] = word;
  }
  o->value[id] = word ? word : "";
  return EXIT_GOOD;
}

/* `abut help COMMAND` is `abut COMMAND --help`, and `abut help` is `abut --help`. */
static exit_code take_help(options *o)
{
  if (o->operand_count > 2) {
    return usage_error(NULL, "help takes only one command");
  }
  o->value[OPTION_HELP] = "";
  --o->operand_count;
  memmove(o->operands, o->operands + 1, (size_t)o->operand_count * sizeof *o->operands);
  return EXIT_GOOD;
}

/* The first word is the subcommand, wherever it appears. */
static exit_code take_command(options *o)
{
  if (o->operand_count && strcmp(o->operands[0], "help") == 0) {
    CLI_TRY(take_help(o));
  }
  if (o->operand_count == 0) {
    return EXIT_GOOD;
  }
  o->command = find_command(o->program, o->operands[0]);
  if (!o->command) {
    return no_command(o->program, o->operands[0]);
  }
  --o->operand_count;
  memmove(o->operands, o->operands + 1, (size_t)o->operand_count * sizeof *o->operands);
  for (int i = 0; i < OPTION_COUNT; ++i) {
    if (o->value[i] && !(option_table[i].commands & (int)o->command->bit)) {
      return usage_error(o->command, "%s has no option %s", o->command->name,
                         option_name((option_id)i));
    }
  }
  return EXIT_GOOD;
}

static exit_code bad_option(const options *o, char **argv, int got)
{
  const command *c = o->operand_count ? find_command(o->program, o->operands[0]) : NULL;
  const char *word = argv[optind - 1];
  if (got == ':') {
    return usage_error(c, "%s needs a value", word);
  }
  if (optopt >= FIRST_CODE) {
    return usage_error(c, "%s takes no value", option_name(id_of(optopt)));
  }
  return optopt ? usage_error(c, "unknown option -%c", optopt)
                : usage_error(c, "option %s is unknown or ambiguous", word);
}

/* -o=FILE is treated like --output=FILE; getopt would include the '=' in the value. */
static const char *value_of(char **argv, int got)
{
  const char *word = argv[optind - 1];
  const bool attached = optarg && got < FIRST_CODE && optarg != word;
  return attached && *optarg == '=' ? optarg + 1 : optarg;
}

exit_code read_options(const program *p, int argc, char **argv, options *o)
{
  struct option longs[OPTION_COUNT + 1];
  char letters[8 + 2 * OPTION_COUNT];
  *o = (options){.program = p};
  o->operands = calloc((size_t)argc + 1, sizeof *o->operands);
  o->also = calloc((size_t)argc + 1, sizeof *o->also);
  if (!o->operands || !o->also) {
    return report(EXIT_RUN, "not enough memory for the command line");
  }
  fill_getopt(longs, letters);
  opterr = 0;
  for (int got; (got = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
    if (got == '?' || got == ':') {
      return bad_option(o, argv, got);
    }
    if (got == 1) {
      take_operand(o, optarg);
    } else {
      CLI_TRY(take_option(o, id_of(got), value_of(argv, got)));
    }
  }
  while (optind < argc) {
    take_operand(o, argv[optind++]);
  }
  return take_command(o);
}

exit_code need_operands(const options *o, int count, const char *names)
{
  if (o->operand_count < count) {
    return usage_error(o->command, "%s needs %s", o->command->name, names);
  }
  if (o->operand_count > count) {
    return usage_error(o->command, "unexpected argument `%s`%s", o->operands[count],
                       o->value[OPTION_PAIRS] ? ": with --pairs, the list already names the bodies"
                       : o->value[OPTION_SHAPES]
                         ? ": with --shapes, the file already has all shapes"
                         : "");
  }
  return EXIT_GOOD;
}

exit_code need_option(const options *o, option_id id)
{
  if (!o->value[id]) {
    return id == OPTION_OUTPUT
             ? usage_error(o->command, "%s needs -o %s", o->command->name,
                           o->command->bit == COMMAND_RENDER ? "OUT.png"
                           : o->command->bit & (COMMAND_FIELD | COMMAND_DECOMPOSE | COMMAND_REMESH)
                             ? "NAME.body.json"
                           : o->command->bit == COMMAND_INSPECT ? "REPORT.html"
                           : o->command->bit == COMMAND_IMPORT  ? "NAME.scene.json"
                           : o->command->bit == COMMAND_FILM    ? "FILM.mp4, FRAMES/ or SHEET.png"
                                                                : "OUT.npz")
             : usage_error(o->command, "%s needs %s %s", o->command->name, option_name(id),
                           option_table[id].metavar);
  }
  return EXIT_GOOD;
}
