/* What tests share: counted checks, devices to run on, small arrays. */
#ifndef ABUT_TESTS_CHECK_H
#define ABUT_TESTS_CHECK_H

#include <abut/abut.h>
#include <stdint.h>
#include <stdio.h>

/* Counts a check and prints its text where it fails. Returns whether it held. */
__attribute__((format(printf, 2, 3))) bool check(bool holds, const char *format, ...);

/* A call that must succeed; prints abut_last_error where it does not. */
#define CHECK_OK(call) check_ok((call), #call)
bool check_ok(abut_status status, const char *call);

/* A check that is named by its place and its own text. */
#define CHECK(condition) check((condition), "%s:%d: %s", __FILE__, __LINE__, #condition)

/* The same of whole numbers and of texts; prints both where they differ. */
#define CHECK_EQUAL(got, wanted) \
  check_equal((intmax_t)(got), (intmax_t)(wanted), __FILE__, __LINE__, #got)
#define CHECK_TEXT(got, wanted) check_text((got), (wanted), __FILE__, __LINE__, #got)
bool check_equal(intmax_t got, intmax_t wanted, const char *file, int line, const char *text);
bool check_text(const char *got, const char *wanted, const char *file, int line, const char *text);

/* Checks that nothing can follow: where one fails the program ends. */
#define REQUIRE(condition) require(CHECK(condition))
#define REQUIRE_OK(call) require(CHECK_OK(call))
void require(bool holds);

/* How much of what makes the same calls on other numbers: `few` under AddressSanitizer, which is
 * several times slower and sees the same accesses in them; else `all`, which judges the numbers. */
#ifdef __SANITIZE_ADDRESS__
#define UNLESS_SANITIZED(all, few) (few)
#else
#define UNLESS_SANITIZED(all, few) (all)
#endif

/* Whether ABUT_TEST_USUAL is 1 and ABUT_TEST_ALL is not: the usual run takes a share of what a test
 * sweeps; the long run takes the whole. */
bool usual_share(void);

/* Prints "N passed, N failed" alone on a line; the process's exit status. */
int check_finish(void);

/* A context on the device that the environment's ABUT_TEST_DEVICE names, the host path by default,
 * with the lane width and the work-items of ABUT_TEST_LANES, _GROUP and _ITEMS, if set.
 * Returns false, after a line that says so, where there is no such device or it lacks the
 * precision. */
bool test_context(abut_precision precision, abut_context *out);

/* The same, but ends the program where test_context returns false, with status 77: the test is
 * skipped. finish_context destroys a context and returns what check_finish does. */
abut_context require_context(abut_precision precision);
int finish_context(abut_context context);

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
