/* `tune` measures speed settings on one device, after checking their results. */
#ifndef ABUT_CLI_TUNE_TUNE_H
#define ABUT_CLI_TUNE_TUNE_H

#include "dev/bench/bench.h"

/* ---- answers.c ---- */

enum { TUNE_P, TUNE_D, TUNE_N, TUNE_ACTIVITY, TUNE_GRADIENT, TUNE_OUTPUTS };

/* Errors of results, and their limits. */
typedef struct tune_error {
  double worst[TUNE_OUTPUTS];  /* over all entries; for a gradient relative to its largest entry */
  double beyond[TUNE_OUTPUTS]; /* share of the entries beyond the lower tolerance */
} tune_error;

/* Reference results: the host path's float64, at a few poses. */
typedef struct tune_answers {
  abut_poses poses;  /* the first of the caller's poses */
  size_t contacts;   /* per pose */
  double *values;    /* p, n, d, activity of all poses, one after the other */
  double *gradients; /* (2, poses, numbers per pose): of the mean distance */
  double length;     /* factor of the tolerances of p and d */
  double largest;    /* entry of the gradients */
  tune_error allowed;
} tune_answers;

/* Loads the pair of the operands, or the figures of `bench`. */
exit_code tune_load(session *s, const options *o);
/* Computes the reference at some of the poses, as many as the host can in `seconds`. Tolerances are
 * those of docs/dev/spec.md. If the host path's own float32 error exceeds half of a tolerance,
 * twice that error is used. Without poses, *poses becomes random ones, which the caller frees; for
 * float32, poses are rounded to it. */
exit_code tune_answers_make(tune_answers *a, const options *o, abut_precision precision,
                            abut_poses *poses, double seconds);
void tune_answers_free(tune_answers *a);
/* Judges calls that have filled `m`, whose poses repeat those of the reference. */
tune_error tune_judge(const tune_answers *a, const bench_memory *m, abut_precision precision);
/* Writes excessive errors to `trouble` and returns false if there are any. */
bool tune_right(const tune_error *allowed, const tune_error *e, char *trouble, size_t room);

/* ---- setting.c ---- */

#define TUNE_ROUNDS 9
#define TUNE_CALLS 2 /* forward, and the gradient of the mean distance */
#define TUNE_SETTINGS 64

typedef struct tune_setting {
  abut_tuning t;
  session s;
  bool good;         /* runs with correct results */
  char trouble[160]; /* reason if not good */
  double ready;      /* from the start to the first results [s] */
  double seconds[TUNE_CALLS][TUNE_ROUNDS];
  double rate[TUNE_CALLS]; /* poses per second */
  double ratio;            /* of speed to the present setting's; 0 if not timed */
} tune_setting;

typedef struct tuner {
  const options *o;
  abut_device_choice choices[ABUT_DEVICES_MOST]; /* devices and parts of them, to tune in turn */
  size_t choice_count;
  const abut_device_choice *choice; /* the current one */
  abut_device_info device;          /* the whole device of `choice` */
  double timeout;                   /* [s]; 0: the library's default */
  abut_precision precision;
  const char *module; /* module to tune; NULL: settings for all modules */
  abut_poses poses;
  tune_answers answers;
  bench_memory memory; /* of the timed calls */
  double seconds, end; /* available time, and its end */
  double longest;      /* longest time until a setting was ready [s] */
  double call;         /* both calls with the present setting [s] */
  tune_setting settings[TUNE_SETTINGS];
  size_t count;
} tuner;

/* Opens a setting and checks its results. A setting that cannot run or is wrong is reported as no
 * good and closed; only errors of the command itself are failures. */
exit_code tune_try(tuner *u, const abut_tuning *t, tune_setting **out);
void tune_close(tune_setting *c);
/* Sets the number of poses per timed call from the speed of an open setting. */
exit_code tune_size(tuner *u, tune_setting *present);
/* Times open settings in turn, relative to the first. */
exit_code tune_race(tuner *u, tune_setting **list, size_t count, double seconds);

/* ---- search.c ---- */

/* Prints a row for each tested setting; `*best` is open. `*complete`: time did not run out. */
exit_code tune_search(tuner *u, tune_setting *present, tune_setting **best, bool *complete);
void tune_print_title(const tuner *u);
void tune_print(const tuner *u, const tune_setting *c, const char *remark);

#endif
