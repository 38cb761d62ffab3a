#include "dev/tune/tune.h"

#include <stdio.h>

/* A smaller gain is noise. */
#define GAIN 1.02
/* Share of the available time for one race. */
#define RACE_SHARE 0.05
#define RIVALS 4

/* Work-group sizes as in the library's table: for devices whose work-items have one lane, and for
 * those with several. */
#define GROUP_OF_SCALARS 64
#define ITEMS_OF_LANES 8

typedef enum coordinate { COORDINATE_ITEMS, COORDINATE_SCRATCH, COORDINATE_GROUP } coordinate;

void tune_print_title(const tuner *u)
{
  if (u->o->value[OPTION_QUIET]) {
    return;
  }
  const abut_device_info *d = &u->settings[0].s.device; /* a part of a device if that was named */
  printf("%s (%s), %s: %zu contacts a pose, %zu poses a call\n"
         "%5s %5s %5s %10s %-7s %9s %12s %12s %6s\n",
         d->name, d->platform, precision_name(u->precision), u->answers.contacts,
         u->memory.poses.count, "lanes", "group", "items", "scratch", "answers", "ready [s]",
         "forward/s", "gradient/s", "ratio");
  fflush(stdout);
}

void tune_print(const tuner *u, const tune_setting *c, const char *remark)
{
  if (u->o->value[OPTION_QUIET]) {
    return;
  }
  char scratch[32];
  const uint64_t bytes = c->t.scratch_bytes;
  snprintf(scratch, sizeof scratch, "%.4g MiB", (double)bytes / (1 << 20));
  printf("%5u %5u %5u %10s ", c->t.lanes, c->t.group, c->t.items, scratch);
  if (c->good) {
    printf("%-7s %9.2f %12.1f %12.1f %6.2f%s%s\n", "right", c->ready, c->rate[0], c->rate[1],
           c->ratio, *remark ? " " : "", remark);
  } else {
    printf("%s\n", c->trouble);
  }
  fflush(stdout);
}

/* Returns whether there is time to build one more setting and to compare it with another. */
static bool enough_time(const tuner *u)
{
  return u->count < TUNE_SETTINGS && now() + u->longest + 6.0 * u->call < u->end;
}

static bool same(const abut_tuning *a, const abut_tuning *b)
{
  return a->lanes == b->lanes && a->group == b->group && a->items == b->items &&
         a->scratch_bytes == b->scratch_bytes;
}

static bool tried(const tuner *u, const abut_tuning *t)
{
  size_t i = 0;
  while (i < u->count && !same(&u->settings[i].t, t)) {
    ++i;
  }
  return i < u->count;
}

/* Opens settings that were not tried before, times them against the best, and leaves only the
 * winner open. *winner becomes its index, 0 for the previous best. */
static exit_code challenge(tuner *u, tune_setting **best, const abut_tuning *rivals, size_t count,
                           size_t *winner, bool *complete)
{
  tune_setting *list[1 + RIVALS] = {*best};
  size_t places[1 + RIVALS] = {0}, open = 1;
  *winner = 0;
  for (size_t i = 0; i < count; ++i) {
    if (tried(u, &rivals[i])) {
      continue;
    }
    if (!enough_time(u)) {
      *complete = false;
      break;
    }
    CLI_TRY(tune_try(u, &rivals[i], &list[open]));
    if (list[open]->good) {
      places[open++] = i + 1;
    } else {
      tune_print(u, list[open], "");
    }
  }
  if (open == 1) {
    return EXIT_GOOD;
  }
  CLI_TRY(tune_race(u, list, open, RACE_SHARE * u->seconds));
  size_t first = 0;
  for (size_t i = 1; i < open; ++i) {
    tune_print(u, list[i], "");
    first = list[i]->ratio > list[first]->ratio * (first ? 1.0 : GAIN) ? i : first;
  }
  for (size_t i = 0; i < open; ++i) {
    if (i != first && list[i] != &u->settings[0]) { /* needed for the last race */
      tune_close(list[i]);
    }
  }
  *best = list[first];
  *winner = places[first];
  return EXIT_GOOD;
}

static exit_code search_lanes(tuner *u, tune_setting **best, bool *complete)
{
  static const uint32_t widths[RIVALS] = {16, 8, 4, 1};
  abut_tuning rivals[RIVALS];
  size_t winner;
  for (int i = 0; i < RIVALS; ++i) {
    rivals[i] = (*best)->t;
    rivals[i].lanes = widths[i];
    if (widths[i] == 1 && (*best)->t.lanes != 1) {
      rivals[i].group = rivals[i].items = GROUP_OF_SCALARS;
    } else if (widths[i] != 1 && (*best)->t.lanes == 1) {
      rivals[i].group = 1;
      rivals[i].items = ITEMS_OF_LANES;
    }
  }
  return challenge(u, best, rivals, RIVALS, &winner, complete);
}

/* Returns the neighbour with half or twice the value; false outside the useful range. */
static bool neighbour(const abut_tuning *t, coordinate along, bool up, abut_tuning *out)
{
  const uint64_t least[] = {1, (uint64_t)1 << 20, 1}, most[] = {1024, (uint64_t)1 << 33, 1024};
  *out = *t;
  uint64_t value = along == COORDINATE_ITEMS   ? t->items
                   : along == COORDINATE_GROUP ? t->group
                                               : t->scratch_bytes;
  value = up ? value * 2 : value / 2;
  if (along == COORDINATE_ITEMS) {
    out->items = (uint32_t)value;
  } else if (along == COORDINATE_GROUP) {
    out->group = (uint32_t)value;
  } else {
    out->scratch_bytes = value;
  }
  return value >= least[along] && value <= most[along];
}

/* Tries both directions from the best, then continues in the direction that wins. */
static exit_code search_along(tuner *u, coordinate along, tune_setting **best, bool *complete)
{
  bool ways[2] = {true, true}; /* down, up */
  while (ways[0] || ways[1]) {
    abut_tuning rivals[2];
    bool up[2] = {false, false};
    size_t count = 0, winner = 0;
    for (int i = 0; i < 2; ++i) {
      if (ways[i] && neighbour(&(*best)->t, along, i == 1, &rivals[count])) {
        up[count++] = i == 1;
      }
    }
    CLI_TRY(challenge(u, best, rivals, count, &winner, complete));
    ways[0] = winner && !up[winner - 1];
    ways[1] = winner && up[winner - 1];
  }
  return EXIT_GOOD;
}

/* The winner of several noisy races must still win against the present setting. */
static exit_code confirm(tuner *u, tune_setting *present, tune_setting **best)
{
  tune_setting *list[2] = {present, *best};
  if (*best == present) {
    return EXIT_GOOD;
  }
  CLI_TRY(tune_race(u, list, 2, RACE_SHARE * u->seconds));
  if ((*best)->ratio > 1.0) {
    tune_print(u, *best, "once more");
    return EXIT_GOOD;
  }
  tune_print(u, *best, "once more: no gain");
  *best = present;
  return EXIT_GOOD;
}

exit_code tune_search(tuner *u, tune_setting *present, tune_setting **best, bool *complete)
{
  *best = present;
  *complete = true;
  if (u->device.type != ABUT_DEVICE_HOST) { /* the host path has one lane and no groups */
    if (!u->module) {                       /* `lanes` is common to all modules */
      CLI_TRY(search_lanes(u, best, complete));
    }
    CLI_TRY(search_along(u, COORDINATE_SCRATCH, best, complete));
    CLI_TRY(search_along(u, COORDINATE_ITEMS, best, complete));
    CLI_TRY(search_along(u, COORDINATE_GROUP, best, complete));
  } else {
    CLI_TRY(search_along(u, COORDINATE_SCRATCH, best, complete));
  }
  return confirm(u, present, best);
}
