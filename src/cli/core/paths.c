/* Checks of input and output files before any computation. */
#include "mesh/fields.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

exit_code check_readable(const char *path)
{
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return report(EXIT_INPUT, "%s: %s", path, strerror(errno));
  }
  close(file);
  return EXIT_GOOD;
}

/* Options whose values are files to read. */
static const option_id file_options[] = {OPTION_PAIRS,    OPTION_POSES,      OPTION_SMOOTHING,
                                         OPTION_SOFT,     OPTION_COTANGENTS, OPTION_HESSIAN,
                                         OPTION_TANGENTS, OPTION_STATES,     OPTION_CONTROLS,
                                         OPTION_SHAPES,   OPTION_FROM,       OPTION_TO,
                                         OPTION_IMPORT};
#define FILE_OPTIONS (sizeof file_options / sizeof *file_options)

exit_code check_inputs(const options *o)
{
  CLI_TRY(check_field_options(o, o->value[OPTION_PAIRS] != NULL));
  for (int i = 0; i < o->operand_count; ++i) {
    CLI_TRY(check_readable(o->operands[i]));
  }
  for (size_t i = 0; i < FILE_OPTIONS; ++i) {
    if (o->value[file_options[i]]) {
      CLI_TRY(check_readable(o->value[file_options[i]]));
    }
  }
  return EXIT_GOOD;
}

static bool same_file(const char *a, const char *b)
{
  struct stat of_a, of_b;
  return a && b && stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

exit_code check_not_body(const char *output, const char *body)
{
  char *mesh = NULL;
  if (!output || access(output, F_OK) != 0) {
    return EXIT_GOOD; /* nothing is overwritten, so the body need not be read */
  }
  if (same_file(output, body)) {
    return report(EXIT_INPUT, "%s: is also an input of this command; use another output file",
                  output);
  }
  bool named = abut_find_mesh(body, &mesh) == ABUT_SUCCESS && same_file(output, mesh);
  abut_free(mesh); /* errors in a body are reported when it is loaded */
  mesh = NULL;
  named = named || (abut_find_surface(body, &mesh) == ABUT_SUCCESS && same_file(output, mesh));
  abut_free(mesh);
  return named ? report(EXIT_INPUT,
                        "%s: would be overwritten, but %s, an input of this command, uses it as "
                        "its mesh; use another output file",
                        output, body)
               : EXIT_GOOD;
}

exit_code check_not_input(const options *o, const char *output)
{
  bool input = false;
  for (size_t i = 0; i < FILE_OPTIONS; ++i) {
    input = input || same_file(output, o->value[file_options[i]]);
  }
  for (int i = 0; i < o->operand_count; ++i) {
    CLI_TRY(check_not_body(output, o->operands[i]));
  }
  return input ? report(EXIT_INPUT, "%s: is also an input of this command; use another output file",
                        output)
               : EXIT_GOOD;
}

/* Returns whether a file is written in place instead of being replaced. */
static bool is_in_place(const struct stat *info)
{
  return S_ISCHR(info->st_mode) || S_ISFIFO(info->st_mode);
}

exit_code check_output(const char *path)
{
  struct stat info;
  if (stat(path, &info) == 0) {
    if (!S_ISREG(info.st_mode) && !is_in_place(&info)) {
      return report(EXIT_RUN, "%s: exists and is not a regular file", path);
    }
    return access(path, W_OK) == 0 ? EXIT_GOOD : report(EXIT_RUN, "%s: %s", path, strerror(errno));
  }
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  exit_code code = EXIT_GOOD;
  if (!folder) {
    code = report(EXIT_RUN, "no memory");
  } else if (!*path || (slash && !slash[1])) {
    code = report(EXIT_INPUT, "-o `%s` does not name a file", path);
  } else if (stat(folder, &info) != 0) {
    code = report(EXIT_INPUT, "%s: the folder %s: %s", path, folder, strerror(errno));
  } else if (access(folder, W_OK | X_OK) != 0) {
    code = report(EXIT_RUN, "%s: %s", path, strerror(errno));
  }
  free(folder);
  return code;
}

/* Standard output has no extension of its own, whatever file it is. */
static bool is_device(const char *path)
{
  struct stat info;
  return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0 ||
         strncmp(path, "/dev/fd/", 8) == 0 || (stat(path, &info) == 0 && is_in_place(&info));
}

bool ends_with(const char *path, const char *ending)
{
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* devices: the output may be a device. */
static exit_code check_ending(const options *o, option_id id, const char *ending, bool devices)
{
  const char *path = o->value[id], *name = id == OPTION_OUTPUT ? "-o" : option_name(id);
  if (strcmp(path, "-") == 0) {
    return usage_error(o->command, "%s -: give the name of a file%s", name,
                       devices ? "; for standard output, use /dev/stdout" : "");
  }
  CLI_TRY(check_output(path));
  return (devices && is_device(path)) || ends_with(path, ending)
           ? EXIT_GOOD
           : usage_error(o->command, "%s %s: the output of %s must end with %s", name, path,
                         o->command->name, ending);
}

exit_code check_series(const options *o)
{
  return check_ending(o, OPTION_SERIES, ".npz", true);
}

exit_code check_own_output(const options *o)
{
  const bool import = o->command->bit == COMMAND_IMPORT;
  const bool field = (o->command->bit & (COMMAND_FIELD | COMMAND_DECOMPOSE)) != 0,
             tune = o->command->bit == COMMAND_TUNE;
  const char *ending = field                                                ? ".body.json"
                       : import                                             ? ".scene.json"
                       : tune                                               ? ".json"
                       : o->command->bit & (COMMAND_INSPECT | COMMAND_VIEW) ? ".html"
                       : o->command->bit & (COMMAND_RENDER | COMMAND_COMPARE | COMMAND_SUGGEST)
                         ? ".png"
                         : ".npz";
  /* `tune` reads the file first, and the others write a second file named after it. */
  return check_ending(o, OPTION_OUTPUT, ending, !tune && !field && !import);
}

exit_code check_beside(const options *o, const char *ending)
{
  const char *path = o->value[OPTION_OUTPUT];
  const size_t stem = strlen(path) - strlen(".body.json"), bytes = strlen(ending) + 1;
  char *other = malloc(stem + bytes);
  if (!other) {
    return report(EXIT_RUN, "no memory");
  }
  memcpy(other, path, stem);
  memcpy(other + stem, ending, bytes);
  exit_code code = check_not_input(o, other);
  code = code == EXIT_GOOD ? check_output(other) : code;
  free(other);
  return code;
}

static bool is_stdout(const char *path)
{
  struct stat output, standard;
  return path && stat(path, &output) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
         output.st_dev == standard.st_dev && output.st_ino == standard.st_ino;
}

bool sums_up(const options *o)
{
  return !o->value[OPTION_QUIET] && !is_stdout(o->value[OPTION_OUTPUT]);
}

bool keeps_stdout(const options *o)
{
  return !is_stdout(o->value[OPTION_OUTPUT]) && !is_stdout(o->value[OPTION_SERIES]);
}

bool find_own_file(const char *name, const char *folder, const char *whole, char *path, size_t room)
{
  char here[4096];
  const ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
  here[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(here, '/');
  if (slash) {
    *slash = '\0';
    if ((snprintf(path, room, "%s/%s", here, name) < (int)room && access(path, R_OK) == 0) ||
        (snprintf(path, room, "%s/../%s/abut/%s", here, folder, name) < (int)room &&
         access(path, R_OK) == 0)) {
      return true;
    }
  }
  return snprintf(path, room, "%s/abut/%s", whole, name) < (int)room && access(path, R_OK) == 0;
}
