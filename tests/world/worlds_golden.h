/* Golden cases of worlds: folders of scene.json, inputs.npz and expected.npz whose first axis is
 * the world, and how near answers must be to them. Whoever computes the answers is a function. */
#ifndef ABUT_TESTS_WORLDS_GOLDEN_H
#define ABUT_TESTS_WORLDS_GOLDEN_H

#include "support/check.h"

typedef struct golden_case {
  const char *folder, *name; /* the name is the folder's last part */
  char scene[1024];          /* path of scene.json */
  abut_precision precision;
  abut_npz inputs, expected;
  size_t worlds;
  bool given;    /* the contacts are among the inputs */
  bool manifold; /* the contacts are those of bodies */
} golden_case;

/* False after a failed check. `folder` must outlive the case. */
bool golden_open(const char *folder, abut_precision precision, golden_case *c);
void golden_close(golden_case *c);

/* Calls `visit` with each folder of `root` whose name starts with "cone-", by name; the number of
 * them. */
size_t golden_each(const char *root, void (*visit)(const char *folder, void *data), void *data);

/* An input in the case's precision, which the caller frees; NULL where the case has none.
 * *count is its number of entries a world, unless `count` is NULL. */
void *golden_input(const golden_case *c, const char *name, size_t *count);

/* A whole-numbered input: owner, opposing, pair. NULL where the case has none. */
int *golden_indices(const golden_case *c, const char *name, size_t *count);

/* ---- answers ---- */

enum { GOLDEN_ARRAYS_MOST = 48 };

/* Memory for each array that the case expects: reals of its precision, of the same shape; whole
 * numbers (status, rollout_status, iterations) as uint32_t. */
typedef struct answers {
  const golden_case *of;
  void *memory[GOLDEN_ARRAYS_MOST]; /* by the array's place in expected.npz */
  bool there[GOLDEN_ARRAYS_MOST];
} answers;

bool answers_create(const golden_case *c, answers *out);
void answers_free(answers *a);

/* Where to put an answer, which then counts as computed; NULL where the case does not expect it.
 * *count is its number of entries, unless `count` is NULL. */
void *answers_put(answers *a, const char *name, size_t *count);

/* Computes what it can of a case; false where the case could not be run, after a failed check. */
typedef bool (*solve_case)(const golden_case *c, answers *out, void *data);

/* ---- how near ---- */

typedef struct agreement {
  double worst, limit; /* relative to golden_scale */
  size_t world, entry; /* where the worst is */
  size_t compared;     /* entries that the case states */
  bool holds;
} agreement;

/* What errors are relative to: the largest entry of the array's world. */
double golden_scale(const golden_case *c, const abut_array *expected, size_t world);

/* The table of the specification; infinite where it states none. */
double golden_limit(const golden_case *c, const char *array);

/* What float32 cannot hold within the table, and what it is held to. A list ends with a NULL case.
 * Why stands beside each entry. */
typedef struct golden_exception {
  const char *name, *array;
  size_t world;
  double limit;
} golden_exception;

/* One array of the answers with what is expected of it. `exceptions` may be NULL. */
agreement golden_compare(const golden_case *c, const abut_array *expected, const void *got,
                         const golden_exception *exceptions);

/* Prints and checks each array of the answers; what is expected and not computed is a failure but
 * for `iterations`. Returns the number of arrays that do not hold. */
size_t golden_report(const answers *a, const golden_exception *exceptions);

/* Opens, solves and reports. */
void golden_run(const char *folder, abut_precision precision, solve_case solve, void *data,
                const golden_exception *exceptions);

#endif
