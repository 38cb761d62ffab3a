#include "dev/tune/tune.h"
#include "dev/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECONDS 120.0
/* Share of the available time for the host's reference. */
#define ANSWERS_SHARE 0.1

/* ---- output file ---- */

/* Creates the folders above the user's configuration file; other folders are not created. */
static exit_code make_folders(char *path)
{
  struct stat info;
  exit_code code = EXIT_GOOD;
  for (char *slash = path; code == EXIT_GOOD && (slash = strchr(slash + 1, '/'));) {
    *slash = '\0';
    if (stat(path, &info) != 0 && mkdir(path, 0700) != 0 && errno != EEXIST) {
      code = report(EXIT_RUN, "%s: %s", path, strerror(errno));
    }
    *slash = '/';
  }
  return code;
}

static exit_code find_output(const options *o, char **path)
{
  const char *given = o->value[OPTION_OUTPUT];
  if (given) {
    CLI_TRY(check_own_output(o));
    CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
    *path = strdup(given);
    return *path ? EXIT_GOOD : report(EXIT_RUN, "no memory");
  }
  char *users = NULL;
  CLI_TRY(report_status(abut_tuning_path(&users)));
  if (!users) {
    return usage_error(o->command,
                       "there is no default place for a file of settings: name a file with -o");
  }
  *path = strdup(users);
  abut_free(users);
  CLI_TRY(*path ? EXIT_GOOD : report(EXIT_RUN, "no memory"));
  CLI_TRY(make_folders(*path));
  return check_output(*path);
}

static bool is_in_use(const char *path)
{
  char *users = NULL;
  struct stat a, b;
  const bool same = abut_tuning_path(&users) == ABUT_SUCCESS && users && stat(path, &a) == 0 &&
                    stat(users, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  abut_free(users);
  return same;
}

static exit_code write_setting(const tuner *u, const char *path, const tune_setting *best)
{
  CLI_TRY(
    report_status(abut_save_tuning(path, u->device.index, u->precision, u->module, &best->t)));
  if (!u->o->value[OPTION_QUIET]) {
    printf("%s: %s%s%u lanes, work-groups of %u and %u, %.4g MiB of scratch\n", path,
           u->module ? u->module : "", u->module ? ", with " : "", best->t.lanes, best->t.group,
           best->t.items, (double)best->t.scratch_bytes / (1 << 20));
  }
  return EXIT_GOOD;
}

/* ---- the present setting ---- */

/* Opens the present setting. If it does not work, for example because of a wrong file, the simplest
 * setting is the reference. */
static exit_code open_present(tuner *u, tune_setting **present)
{
  abut_tuning t;
  CLI_TRY(report_status(abut_device_tuning(u->device.index, u->precision, u->module, &t)));
  CLI_TRY(tune_try(u, &t, present));
  if (!(*present)->good) {
    report(EXIT_GOOD, "the present setting (%s) does not work: %s", t.source, (*present)->trouble);
    t.group = t.items = 1;
    t.scratch_bytes = (uint64_t)16 << 20;
    u->count = 0;
    CLI_TRY(tune_try(u, &t, present));
  }
  if ((*present)->good) {
    CLI_TRY(tune_size(u, *present));
  }
  if (!(*present)->good) {
    return report(EXIT_RUN, "%s: %s", u->device.name, (*present)->trouble);
  }
  (*present)->ratio = 1.0;
  return EXIT_GOOD;
}

/* ---- one device ---- */

static void forget_device(tuner *u)
{
  for (size_t i = 0; i < u->count; ++i) {
    tune_close(&u->settings[i]);
  }
  bench_memory_close(&u->memory);
  u->count = 0;
  u->longest = u->call = 0.0;
}

static exit_code tune_device(tuner *u, const char *path)
{
  tune_setting *present = NULL, *best = NULL;
  bool complete = false;
  CLI_TRY(open_present(u, &present));
  CLI_TRY(tune_race(u, &present, 1, 0.0));
  u->call = present->seconds[0][0] + present->seconds[1][0];
  tune_print_title(u);
  tune_print(u, present, "as it is");
  CLI_TRY(tune_search(u, present, &best, &complete));
  if (!complete && !u->o->value[OPTION_QUIET]) {
    printf("The %g s were too short for some settings; use a larger --seconds.\n", u->seconds);
  }
  return write_setting(u, path, best);
}

/* ---- all devices ---- */

/* Parts of a device use the settings of the device. If a device and its parts are named, only the
 * first of them is measured. */
static bool has_turn(const tuner *u, size_t i)
{
  size_t k = 0;
  while (k < i && u->choices[k].device != u->choices[i].device) {
    ++k;
  }
  return k == i;
}

static exit_code find_infos(abut_device_info **infos, size_t *count)
{
  CLI_TRY(report_status(abut_list_devices(NULL, 0, count)));
  const size_t room = *count;
  *infos = calloc(room, sizeof **infos);
  if (!*infos) {
    return report(EXIT_RUN, "no memory for %zu devices", room);
  }
  CLI_TRY(report_status(abut_list_devices(*infos, room, count)));
  *count = *count < room ? *count : room;
  return EXIT_GOOD;
}

/* Tunes one device after the other, each with its own time, against the same reference. */
static exit_code run(tuner *u, const char *path)
{
  abut_device_info *infos = NULL;
  size_t there = 0;
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(find_infos(&infos, &there));
  CLI_TRY_DONE(
    tune_answers_make(&u->answers, u->o, u->precision, &u->poses, ANSWERS_SHARE * u->seconds));
  for (size_t i = 0; i < u->choice_count; ++i) {
    if (has_turn(u, i) && u->choices[i].device < there) {
      u->choice = &u->choices[i];
      u->device = infos[u->choice->device];
      u->end = now() + u->seconds;
      code = tune_device(u, path);
      forget_device(u);
      CLI_TRY_DONE(code);
    }
  }
  if (!u->o->value[OPTION_QUIET] && !is_in_use(path)) {
    printf("To use it, set the environment variable ABUT_TUNING to its path.\n");
  }
done:
  free(infos);
  return code;
}

/* Only contacts and their gradient are timed. */
static exit_code find_module(tuner *u)
{
  u->module = u->o->value[OPTION_MODULE];
  return !u->module || strcmp(u->module, "manifold") == 0
           ? EXIT_GOOD
           : usage_error(u->o->command, "--module %s: only manifold can be measured", u->module);
}

static exit_code load_poses(tuner *u)
{
  const char *path = u->o->value[OPTION_POSES];
  if (!path) {
    return EXIT_GOOD;
  }
  CLI_TRY(report_status(abut_load_poses(path, &u->poses)));
  return u->poses.count ? EXIT_GOOD : report(EXIT_INPUT, "%s: contains no poses", path);
}

exit_code cmd_tune(const options *o)
{
  if (o->operand_count) {
    CLI_TRY(need_operands(o, 2, "two bodies, A and B, or neither"));
  }
  abut_precision precision = ABUT_FLOAT32;
  double seconds = SECONDS, timeout = 0.0;
  char *path = NULL;
  exit_code code = EXIT_GOOD;
  CLI_TRY(option_precision(o, &precision));
  CLI_TRY(option_real(o, OPTION_SECONDS, 1.0, 86400.0, &seconds));
  CLI_TRY(option_real(o, OPTION_TIMEOUT, 1e-3, 1e6, &timeout));
  CLI_TRY(check_inputs(o));
  tuner *u = calloc(1, sizeof *u);
  CLI_TRY(u ? EXIT_GOOD : report(EXIT_RUN, "no memory"));
  u->o = o;
  u->precision = precision;
  u->seconds = seconds;
  u->timeout = timeout;
  CLI_TRY_DONE(find_module(u));
  CLI_TRY_DONE(find_devices(o, u->choices, &u->choice_count));
  CLI_TRY_DONE(load_poses(u));
  CLI_TRY_DONE(find_output(o, &path));
  code = run(u, path);
done:
  tune_answers_free(&u->answers);
  abut_free_poses(&u->poses);
  free(u);
  free(path);
  return code;
}
