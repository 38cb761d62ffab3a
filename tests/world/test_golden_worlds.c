/* That golden answers of worlds are read whole, and that no wrong number passes for one of them:
 *   test_golden_worlds PRECISION ROOT
 *
 * ROOT holds the cases; those of $ABUT_SHARED/golden-dynamics that ROOT lacks are read too. */
#include "worlds_golden.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Spoils one entry of one array of answers that are otherwise what is expected. */
typedef struct spoiler {
  const char *array; /* NULL: none */
  size_t entry;
  double by;    /* added, relative to the array's own limit and scale; NAN puts NAN there */
  bool missing; /* the array is not computed at all */
} spoiler;

static size_t entries_of(const abut_array *a)
{
  size_t count = 1;
  for (uint32_t i = 0; i < a->dimensions; ++i) {
    count *= a->shape[i];
  }
  return count;
}

static size_t world_of(const abut_array *a, size_t entry)
{
  return strstr(a->name, "_world0") ? 0 : entry / (entries_of(a) / a->shape[0]);
}

static void spoil(const golden_case *c, const abut_array *a, const spoiler *s, void *out)
{
  if (a->type == ABUT_ARRAY_INT64) {
    ((uint32_t *)out)[s->entry] ^= 2u;
    return;
  }
  const double limit = golden_limit(c, a->name);
  const double by =
    s->by * (isfinite(limit) ? limit : 1.0) * golden_scale(c, a, world_of(a, s->entry));
  real_put(out, c->precision, s->entry, ((const double *)a->data)[s->entry] + by);
}

/* Answers what the file says, rounded to the precision, but for what is spoiled. */
static bool echo(const golden_case *c, answers *out, void *data)
{
  const spoiler *s = data;
  for (size_t i = 0; i < c->expected.count; ++i) {
    const abut_array *a = &c->expected.arrays[i];
    const bool mine = s->array && !strcmp(s->array, a->name);
    size_t count;
    void *put = mine && s->missing ? NULL : answers_put(out, a->name, &count);
    if (!put) {
      continue;
    }
    const bool narrow = c->precision == ABUT_FLOAT32 && !strcmp(a->name, "status");
    for (size_t k = 0; a->type == ABUT_ARRAY_INT64 && k < count; ++k) {
      ((uint32_t *)put)[k] = (uint32_t)((const int64_t *)a->data)[k];
    }
    for (size_t j = 0; narrow && j < c->expected.count; ++j) {
      const abut_array *b = &c->expected.arrays[j];
      for (size_t k = 0; !strcmp(b->name, "status_float32") && k < count; ++k) {
        ((uint32_t *)put)[k] = (uint32_t)((const int64_t *)b->data)[k];
      }
    }
    for (size_t k = 0; a->type == ABUT_ARRAY_FLOAT64 && k < count; ++k) {
      real_put(put, c->precision, k, ((const double *)a->data)[k]);
    }
    if (mine) {
      spoil(c, a, s, put);
    }
  }
  return true;
}

/* Whether array `a` holds among answers that are spoiled. */
static bool passes(const golden_case *c, const abut_array *a, spoiler s,
                   const golden_exception *exceptions)
{
  answers out;
  REQUIRE(answers_create(c, &out));
  echo(c, &out, &s);
  const agreement found = golden_compare(c, a, out.memory[a - c->expected.arrays], exceptions);
  answers_free(&out);
  return found.holds;
}

static bool stated(const golden_case *c, const abut_array *a, size_t entry)
{
  return a->type == ABUT_ARRAY_INT64 ||
         fabs(((const double *)a->data)[entry]) <=
           (c->precision == ABUT_FLOAT64 ? DBL_MAX : (double)FLT_MAX);
}

/* Rounding to float32 alone may cost what the table allows; twice the limit is then beyond it. */
static void check_entry(const golden_case *c, const abut_array *a, size_t entry)
{
  const spoiler off = {a->name, entry, 2.0, false}, near = {a->name, entry, 0.5, false};
  const spoiler none = {a->name, entry, NAN, false};
  if (a->type == ABUT_ARRAY_INT64) {
    check(!passes(c, a, off, NULL), "%s: a wrong %s passes", c->name, a->name);
    return;
  }
  const bool held = isfinite(golden_limit(c, a->name));
  if (!stated(c, a, entry)) {
    check(passes(c, a, none, NULL), "%s: %s is compared where nothing is stated", c->name, a->name);
    return;
  }
  check(passes(c, a, off, NULL) == !held, "%s: entry %zu of %s beyond its limit", c->name, entry,
        a->name);
  check(passes(c, a, near, NULL), "%s: entry %zu of %s within its limit", c->name, entry, a->name);
  check(!passes(c, a, none, NULL), "%s: entry %zu of %s is not a number", c->name, entry, a->name);
}

/* An exception widens the limit of its world alone, in float32. */
static void check_exception(const golden_case *c, const abut_array *a)
{
  const golden_exception list[] = {{c->name, a->name, 0, 4.0 * golden_limit(c, a->name)},
                                   {NULL, NULL, 0, 0.0}};
  const size_t last = entries_of(a) - 1;
  const bool narrow = c->precision == ABUT_FLOAT32;
  if (a->type != ABUT_ARRAY_FLOAT64 || a->shape[0] < 2 || !isfinite(golden_limit(c, a->name)) ||
      strstr(a->name, "_world0")) {
    return;
  }
  if (stated(c, a, 0)) {
    check(passes(c, a, (spoiler){a->name, 0, 2.0, false}, list) == narrow, "%s: an exception of %s",
          c->name, a->name);
  }
  if (stated(c, a, last)) {
    check(!passes(c, a, (spoiler){a->name, last, 2.0, false}, list),
          "%s: an exception of %s of another world", c->name, a->name);
  }
}

static void check_reading(const golden_case *c)
{
  size_t nq, nv, slots;
  void *q = golden_input(c, "q", &nq), *v = golden_input(c, "v", &nv);
  int *owner = golden_indices(c, "owner", &slots);
  const size_t m = nv * nv * c->worlds;
  check(q && v && nq >= nv && nq <= nv + nv / 3, "%s: %zu positions of %zu dofs", c->name, nq, nv);
  check((owner != NULL) == c->given, "%s: given contacts have owners", c->name);
  CHECK(golden_input(c, "no such input", NULL) == NULL);
  for (size_t i = 0; i < c->expected.count; ++i) {
    const abut_array *a = &c->expected.arrays[i];
    if (!strcmp(a->name, "M")) {
      check(entries_of(a) == m, "%s: M has %zu entries, not %zu", c->name, entries_of(a), m);
    }
  }
  for (size_t i = 0; owner && i < slots; ++i) {
    check(owner[i] >= -1, "%s: owner %zu is %d", c->name, i, owner[i]);
  }
  free(q);
  free(v);
  free(owner);
}

static void check_folder(const char *folder, void *data)
{
  golden_case c;
  if (!golden_open(folder, *(abut_precision *)data, &c)) {
    return;
  }
  check_reading(&c);
  for (size_t i = 0; i < c.expected.count; ++i) {
    const abut_array *a = &c.expected.arrays[i];
    if (!strcmp(a->name, "status_mask") || !strcmp(a->name, "status_float32") || !entries_of(a)) {
      continue;
    }
    check(passes(&c, a, (spoiler){0}, NULL), "%s: its own %s does not hold", c.name, a->name);
    if (strcmp(a->name, "status") != 0) { /* of which some bits are not compared */
      check_entry(&c, a, 0);
      check_entry(&c, a, entries_of(a) - 1);
    }
    check_exception(&c, a);
  }
  golden_close(&c);
  golden_run(folder, *(abut_precision *)data, echo, &(spoiler){0}, NULL);
}

/* A status that differs in a bit that counts, and answers that nobody computed. */
static void check_status(const char *folder, abut_precision precision)
{
  golden_case c;
  answers out;
  if (!golden_open(folder, precision, &c)) {
    return;
  }
  REQUIRE(answers_create(&c, &out));
  echo(&c, &out, &(spoiler){"bias", 0, 0.0, true});
  for (size_t i = 0; i < c.expected.count; ++i) {
    const abut_array *a = &c.expected.arrays[i];
    check(out.there[i] == (strcmp(a->name, "bias") != 0), "%s: whether %s is computed", c.name,
          a->name);
    if (!strcmp(a->name, "status")) {
      check(!passes(&c, a, (spoiler){"status", 0, 0.0, false}, NULL), "%s: a wrong status passes",
            c.name);
    }
  }
  CHECK(answers_put(&out, "no such answer", NULL) == NULL);
  answers_free(&out);
  golden_close(&c);
}

/* Where worlds stop, some bits of status are not stated. */
static void check_masks(const char *folder, abut_precision precision)
{
  golden_case c;
  if (!golden_open(folder, precision, &c)) {
    return;
  }
  const abut_array *status = find_array(&c.expected, "status");
  const abut_array *mask = find_array(&c.expected, "status_mask");
  for (size_t i = 0; status && mask && i < c.worlds; ++i) {
    const bool counts = ((const int64_t *)mask->data)[i] & 2;
    check(passes(&c, status, (spoiler){"status", i, 0.0, false}, NULL) == !counts,
          "%s: status of world %zu", c.name, i);
  }
  golden_close(&c);
}

typedef struct others {
  const char *root;
  abut_precision precision;
} others;

/* A case that lies beside the project alone. */
static void check_other(const char *folder, void *data)
{
  const others *o = data;
  char path[1200];
  snprintf(path, sizeof path, "%s/%s/expected.npz", o->root, strrchr(folder, '/') + 1);
  FILE *here = fopen(path, "rb");
  if (here) {
    fclose(here);
  } else {
    abut_precision precision = o->precision;
    check_folder(folder, &precision);
  }
}

int main(int argc, char **argv)
{
  REQUIRE(argc == 3);
  others o = {argv[2], !strcmp(argv[1], "f64") ? ABUT_FLOAT64 : ABUT_FLOAT32};
  char path[1024];
  check(golden_each(o.root, check_folder, &o.precision) >= 30, "%s lacks cases", o.root);
  snprintf(path, sizeof path, "%s/cone-random-tree", o.root);
  check_status(path, o.precision);
  snprintf(path, sizeof path, "%s/cone-status-stopped", o.root);
  check_masks(path, o.precision);
  const char *shared = getenv("ABUT_SHARED");
  snprintf(path, sizeof path, "%s/golden-dynamics", shared ? shared : "");
  if (!shared || !golden_each(path, check_other, &o)) {
    printf("not run: cone-armadillo-pair, which lies in no ABUT_SHARED\n");
  }
  return check_finish();
}
