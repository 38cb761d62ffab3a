/* What tests share: counted checks, devices to run on, small arrays. */
#ifndef ABUT_TESTS_CHECK_H
#define ABUT_TESTS_CHECK_H

#include <abut/abut.h>
#include <stdio.h>

/* Counts a check and prints its text where it fails. Returns whether it held. */
__attribute__((format(printf, 2, 3))) bool check(bool holds, const char *format, ...);

/* A call that must succeed; prints abut_last_error where it does not. */
#define CHECK_OK(call) check_ok((call), #call)
bool check_ok(abut_status status, const char *call);

/* Prints "N passed, N failed" alone on a line; the process's exit status. */
int check_finish(void);

/* A context on the device that the environment's ABUT_TEST_DEVICE names, the host path by default,
 * with the lane width and the work-items of ABUT_TEST_LANES, _GROUP and _ITEMS, if set.
 * Returns false, after a line that says so, where there is no such device or it lacks the
 * precision. */
bool test_context(abut_precision precision, abut_context *out);

/* Element i of an array of the given precision. */
double real_at(const void *array, abut_precision precision, size_t i);
void real_put(void *array, abut_precision precision, size_t i, double value);
size_t real_size(abut_precision precision);

/* The array of an .npz, or NULL after a failed check. */
const abut_array *find_array(const abut_npz *npz, const char *name);

/* A new array of the given precision from double. The caller frees it. */
void *to_reals(const double *from, size_t count, abut_precision precision);

/* Numbers that look random and are the same everywhere: uniform in [0, 1), and normal. */
double random_uniform(uint64_t *state);
double random_normal(uint64_t *state);

#endif
