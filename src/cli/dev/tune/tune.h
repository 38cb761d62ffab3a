/* What `tune` measures: settings of speed on one device, whose answers are checked first. */
#ifndef ABUT_CLI_TUNE_TUNE_H
#define ABUT_CLI_TUNE_TUNE_H

#include "dev/bench/bench.h"

/* ---- answers.c ---- */

enum { TUNE_P, TUNE_D, TUNE_N, TUNE_ACTIVITY, TUNE_GRADIENT, TUNE_OUTPUTS };

/* How far answers are off, and how far they may be. */
typedef struct tune_error {
  double worst[TUNE_OUTPUTS];  /* of every entry; a gradient's is relative to the largest entry */
  double beyond[TUNE_OUTPUTS]; /* which share of the entries is beyond the lower tolerance */
} tune_error;

/* What a setting must answer: the host path's float64, at a few poses. */
typedef struct tune_answers {
  abut_poses poses;  /* the first ones of the caller's */
  size_t contacts;   /* of a pose */
  double *values;    /* p, n, d, activity of all poses, one behind the other */
  double *gradients; /* (2, poses, numbers of a pose): of the mean distance */
  double length;     /* tolerances of p and d are times this */
  double largest;    /* entry of the gradients */
  tune_error allowed;
} tune_answers;

/* The pair of the operands, else the figures of `bench`. */
exit_code tune_load(session *s, const options *o);
/* Answers at some of the poses, as many as take the host no more than `seconds`. Tolerances are
 * those of docs/dev/spec.md; where the host path's own float32 meets one with less than a factor of
 * 2 to spare, twice what that is off by. Without poses, *poses becomes random ones, the caller's to
 * free; for float32, poses are rounded to it. */
exit_code tune_answers_make(tune_answers *a, const options *o, abut_precision precision,
                            abut_poses *poses, double seconds);
void tune_answers_free(tune_answers *a);
/* Of calls that have filled `m`, whose poses repeat those of the answers. */
tune_error tune_judge(const tune_answers *a, const bench_memory *m, abut_precision precision);
/* Says in `trouble` what is off by more than it may be; false then. */
bool tune_right(const tune_error *allowed, const tune_error *e, char *trouble, size_t room);

/* ---- setting.c ---- */

#define TUNE_ROUNDS 9
#define TUNE_CALLS 2 /* forward, and the gradient of the mean distance */
#define TUNE_SETTINGS 64

typedef struct tune_setting {
  abut_tuning t;
  session s;
  bool good;         /* runs, and answers rightly */
  char trouble[160]; /* else, why not */
  double ready;      /* from nothing to the first answers [s] */
  double seconds[TUNE_CALLS][TUNE_ROUNDS];
  double rate[TUNE_CALLS]; /* poses a second */
  double ratio;            /* of speed to the present setting's; 0 where not timed */
} tune_setting;

typedef struct tuner {
  const options *o;
  abut_device_choice choices[ABUT_DEVICES_MOST]; /* devices and parts of them, by turns */
  size_t choice_count;
  const abut_device_choice *choice; /* the one whose turn it is */
  abut_device_info device;          /* its device, whole */
  double timeout;                   /* [s]; 0: the library's */
  abut_precision precision;
  const char *module; /* whose settings are wanted; NULL: those for all */
  abut_poses poses;
  tune_answers answers;
  bench_memory memory; /* of the calls that are timed */
  double seconds, end; /* how long it may take, and till when */
  double longest;      /* that a setting took until it was ready [s] */
  double call;         /* both calls with the present setting [s] */
  tune_setting settings[TUNE_SETTINGS];
  size_t count;
} tuner;

/* Opens a setting and checks what it answers. A setting that cannot run, or answers wrongly, is
 * said to be no good and closed; failures are those of the command. */
exit_code tune_try(tuner *u, const abut_tuning *t, tune_setting **out);
void tune_close(tune_setting *c);
/* Sets how many poses a timed call has, by the speed of an open setting. */
exit_code tune_size(tuner *u, tune_setting *present);
/* Times open settings by turns, against the first. */
exit_code tune_race(tuner *u, tune_setting **list, size_t count, double seconds);

/* ---- search.c ---- */

/* Prints a row for each setting that it tries; `*best` is open. `*complete` becomes false where
 * time ran out. */
exit_code tune_search(tuner *u, tune_setting *present, tune_setting **best, bool *complete);
void tune_print_title(const tuner *u);
void tune_print(const tuner *u, const tune_setting *c, const char *remark);

#endif
