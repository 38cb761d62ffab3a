#include "core/folder/launcher.h"

#include "core/folder/folder.h"
#include "core/folder/ranks.h"
#include "core/option_table.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* The information that a launcher gives in environment variables. */
typedef struct launch {
  const char *by;          /* the variable that reveals a launcher; NULL: not launched */
  const char *rank, *size; /* variables for rank and size, for use with --shard */
  size_t ranks;
  bool mute; /* the launcher has provided nothing that an MPI could start with */
} launch;

/* Returns a whole number, or 0. */
static size_t number_of(const char *name)
{
  const char *text = getenv(name);
  char *end = NULL;
  const unsigned long long value = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10)
                                                                        : 0;
  return end && !*end ? (size_t)value : 0;
}

/* Interactive shells have a terminal. SLURM tasks have none, even if they are started from such a
 * shell and inherit its variables. */
static bool has_terminal(void)
{
  const int file = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (file >= 0) {
    close(file);
  }
  return file >= 0;
}

/* Any of PMI, PMI 2 and PMIx. */
static bool has_pmi(void)
{
  for (char **at = environ; at && *at; ++at) {
    if (strncmp(*at, "PMI", 3) == 0) {
      return true;
    }
  }
  return false;
}

/* The step's own task count is used: SLURM_NTASKS is also set in the script of a job, which is a
 * single process, however many tasks the job may start. SLURM_STEP_NUM_TASKS is the number of ranks
 * only if a launcher has set up PMI in this very process. */
static launch of_slurm(void)
{
  static const char *const pmi[] = {"PMIX_RANK", "PMI_RANK", "PMI_FD"};
  launch l = {.rank = "SLURM_PROCID",
              .size = "SLURM_STEP_NUM_TASKS",
              .ranks = number_of("SLURM_STEP_NUM_TASKS"),
              .mute = !has_pmi()};
  if (getenv("SLURM_PTY_PORT") && has_terminal()) {
    return (launch){0};
  }
  for (size_t i = 0; i < sizeof pmi / sizeof *pmi && !l.ranks; ++i) {
    if (getenv(pmi[i])) {
      l.size = "SLURM_NTASKS";
      l.ranks = number_of(l.size);
    }
  }
  l.by = l.ranks ? l.size : NULL;
  return l;
}

/* Returns the first launcher that is recognized. */
static launch find_launch(void)
{
  static const launch known[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
                                  "OMPI_COMM_WORLD_SIZE", 0, false},
                                 {"PMI_SIZE", "PMI_RANK", "PMI_SIZE", 0, false}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    launch l = known[i];
    l.ranks = number_of(l.by);
    if (l.ranks) {
      return l;
    }
  }
  launch l = of_slurm();
  if (!l.by && number_of("PMIX_RANK")) { /* PMIx does not report the size in variables, but any rank
                                            except the first implies several ranks */
    l = (launch){"PMIX_RANK", "PMIX_RANK", "N", 2, false};
  }
  return l;
}

/* Starts ranks with MPI, if the plug-in exists. An MPI without launch information ends the process
 * or sees a single rank. */
static exit_code begin_ranks(options *o, const launch *l, bool *there, char *why, size_t room)
{
  const bool says = strcmp(l->size, "N") != 0;
  if (l->mute) {
    snprintf(why, room,
             "; to start MPI ranks, srun needs --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH)");
    return EXIT_GOOD;
  }
  CLI_TRY(ranks_begin(l->by, says ? l->ranks : 0, there, why, room));
  if (!*there) {
    return EXIT_GOOD;
  }
  if (!folder_is_named(o)) {
    return report(EXIT_INPUT,
                  "%s=%s: several ranks need a folder of results: write -o %s/, with a / at the "
                  "end; only one process can write a single file",
                  l->by, getenv(l->by), folder_is_meant(o) ? o->value[OPTION_OUTPUT] : "FOLDER");
  }
  return ranks_set_options(o);
}

exit_code launcher_check(options *o)
{
  const launch l = find_launch();
  char why[512] = "";
  bool there = false;
  if (!o->command || !((int)o->command->bit & option_table[OPTION_SHARD].commands) || l.ranks < 2 ||
      o->value[OPTION_SHARD]) {
    return EXIT_GOOD;
  }
  const char *value = getenv(l.by);
  CLI_TRY(begin_ranks(o, &l, &there, why, sizeof why));
  if (there) {
    return EXIT_GOOD;
  }
  return report(
    EXIT_INPUT,
    "%s=%s: started as one of several ranks, but without MPI: each rank would compute everything "
    "and overwrite the files of the others. Give each rank its part with -o FOLDER/ --shard "
    "$%s/%s%s in a shell that the launcher starts (sh -c '...'), then run abut merge FOLDER/%s",
    l.by, value, l.rank, strcmp(l.size, "N") == 0 ? "" : "$", l.size, why);
}
