#include "core/folder/ranks.h"

#include "mpi/own_device.h"
#include "mpi/plugin.h"
#include "mpi/shares.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  const mpi_plugin *mpi; /* NULL: no ranks */
  bool ended;            /* all ranks have agreed on a failure */
  exit_code code;
  shares shares;
} team;

bool ranks_started(void)
{
  return team.mpi != NULL;
}

size_t ranks_own(void)
{
  return team.mpi ? (size_t)team.mpi->rank() : 0;
}

size_t ranks_count(void)
{
  return team.mpi ? (size_t)team.mpi->size() : 1;
}

/* ---- the plug-in ---- */

/* Returns $ABUT_MPI_PLUGIN, else the command's own file. */
static bool find_plugin(char *path, size_t room)
{
  const char *named = getenv("ABUT_MPI_PLUGIN");
  if (named && *named) {
    return snprintf(path, room, "%s", named) < (int)room && access(path, R_OK) == 0;
  }
  return find_own_file(MPI_PLUGIN_NAME, ABUT_LIBDIR, ABUT_LIBDIR_WHOLE, path, room);
}

/* Since Open MPI 3.0, libmpi's own plug-ins resolve its symbols themselves, so the symbols need not
 * be global. */
static const mpi_plugin *open_plugin(const char *path, char *why, size_t room)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const mpi_plugin *mpi = library ? dlsym(library, MPI_PLUGIN_SYMBOL) : NULL;
  if (!mpi) {
    const char *error = dlerror();
    snprintf(why, room, "; %s", error ? error : path);
    return NULL;
  }
  if (mpi->format != MPI_PLUGIN_FORMAT || strcmp(mpi->abut, abut_version()) != 0) {
    snprintf(why, room, "; %s belongs to abut %s, but this is abut %s", path, mpi->abut,
             abut_version());
    return NULL;
  }
  return mpi;
}

exit_code ranks_begin(const char *by, size_t said, bool *there, char *why, size_t room)
{
  char path[4096 + 128];
  const char *cannot = NULL;
  *why = '\0';
  const mpi_plugin *mpi = find_plugin(path, sizeof path) ? open_plugin(path, why, room) : NULL;
  *there = mpi != NULL;
  if (!mpi) {
    return EXIT_GOOD;
  }
  if (!mpi->begin(&cannot)) {
    return report(EXIT_INPUT, "%s, %s: %s", path, mpi->mpi, cannot);
  }
  const size_t ranks = (size_t)mpi->size();
  if (ranks < 2 || (said && ranks != said)) {
    mpi->finish();
    return report(EXIT_INPUT,
                  "%s=%s: started as one of several ranks, but %s sees %zu: use the MPI library of "
                  "the launcher",
                  by, getenv(by), mpi->mpi, ranks);
  }
  team.mpi = mpi;
  report_as_rank(mpi->rank());
  return EXIT_GOOD;
}

/* ---- agreement ---- */

exit_code ranks_agree(exit_code code)
{
  if (!team.mpi) {
    return code;
  }
  if (team.ended) {
    return team.code;
  }
  /* The first rank that failed and its status, combined in one number. */
  uint64_t failed = code == EXIT_GOOD ? RANKS_MOST : (uint64_t)ranks_own() << 8 | (uint64_t)code;
  team.mpi->least(&failed, 1);
  if (failed == RANKS_MOST) {
    return EXIT_GOOD;
  }
  team.ended = true;
  team.code = (exit_code)(failed & 255);
  if (failed >> 8 == ranks_own()) {
    report_kept();
  }
  return team.code;
}

exit_code ranks_end(exit_code code)
{
  if (!team.mpi) {
    return code;
  }
  code = ranks_agree(code);
  if (code == EXIT_GOOD) {
    report_kept(); /* reports that did not end the call */
  }
  fflush(NULL); /* before the launcher considers the process as ended */
  team.mpi->finish();
  team.mpi = NULL;
  return code;
}

/* ---- exchange ---- */

uint64_t ranks_from_first(uint64_t number)
{
  team.mpi->broadcast(&number, sizeof number);
  return number;
}

exit_code ranks_broadcast(void **bytes, size_t *count)
{
  *count = (size_t)ranks_from_first(*count);
  if (ranks_own() != 0) {
    *bytes = malloc(*count ? *count : 1);
  }
  CLI_TRY(ranks_agree(
    *bytes ? EXIT_GOOD : report(EXIT_RUN, "not enough memory for %zu bytes of rank 0", *count)));
  team.mpi->broadcast(*bytes, *count);
  return EXIT_GOOD;
}

void ranks_sum(uint64_t *numbers, int count)
{
  team.mpi->sum(numbers, count);
}

void ranks_least(uint64_t *numbers, int count)
{
  team.mpi->least(numbers, count);
}

void ranks_wait(void)
{
  team.mpi->barrier();
}

/* ---- distribution ---- */

static void answer(void *user, int rank, double asked, uint64_t out[2])
{
  shares_next(user, (size_t)rank, asked, out);
}

exit_code ranks_handing_begin(uint64_t total, uint64_t most)
{
  CLI_TRY(ranks_agree(shares_begin(&team.shares, total, most, ranks_count())
                        ? EXIT_GOOD
                        : report(EXIT_RUN, "not enough memory for %zu ranks", ranks_count())));
  team.mpi->asking_begin(answer, &team.shares);
  return EXIT_GOOD;
}

void ranks_take(double speed, uint64_t of[2])
{
  team.mpi->ask(speed, of);
}

void ranks_handing_end(void)
{
  team.mpi->asking_end();
  shares_end(&team.shares);
}

/* ---- devices ---- */

exit_code ranks_set_options(options *o)
{
  static char name[64];
  own_device own;
  if (ranks_own() != 0) {
    o->value[OPTION_QUIET] = "";
  }
  if (o->device_count) {
    return EXIT_GOOD;
  }
  CLI_TRY(report_status(
    find_own_device((size_t)team.mpi->node_rank(), (size_t)team.mpi->node_size(), &own)));
  if (!own.chosen) {
    return EXIT_GOOD;
  }
  if (own.choice.units) {
    snprintf(name, sizeof name, "%u/%u.%u", own.choice.device, own.choice.units, own.choice.part);
  } else {
    snprintf(name, sizeof name, "%u", own.choice.device);
  }
  o->devices[o->device_count++] = name;
  if (own.idle) {
    warn("a rank is bound to %u core%s, fewer than the %u cores of its part of the device: use "
         "mpirun --bind-to none",
         own.choice.units, own.choice.units == 1 ? "" : "s", own.choice.units + own.idle);
  }
  return EXIT_GOOD;
}

void ranks_check_cores(const session *s)
{
  const size_t cores = own_cores();
  if (team.mpi && s->device.type == ABUT_DEVICE_CPU && cores && cores < s->device.compute_units) {
    warn("a rank is bound to %zu core%s, but %s has %u threads: use mpirun --bind-to none, or "
         "leave out --device so that each rank takes its own part",
         cores, cores == 1 ? "" : "s", s->device.name, s->device.compute_units);
  }
}
