#include "worlds_golden.h"

#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const abut_array *find(const abut_npz *npz, const char *name)
{
  for (size_t i = 0; i < npz->count; ++i) {
    if (!strcmp(npz->arrays[i].name, name)) {
      return &npz->arrays[i];
    }
  }
  return NULL;
}

static size_t entries(const abut_array *a)
{
  size_t count = 1;
  for (uint32_t i = 0; i < a->dimensions; ++i) {
    count *= a->shape[i];
  }
  return count;
}

static bool is_whole(const abut_array *a)
{
  return a->type == ABUT_ARRAY_INT64;
}

static bool starts_with(const char *text, const char *start)
{
  return !strncmp(text, start, strlen(start));
}

/* Arrays of one world alone have no axis of worlds. */
static size_t worlds_of(const abut_array *a)
{
  return strstr(a->name, "_world0") || !a->dimensions ? 1 : a->shape[0];
}

/* ---- cases ---- */

/* What is compared bit by bit says how status is read; it is no answer itself. */
static bool is_answer(const abut_array *a)
{
  return strcmp(a->name, "status_mask") != 0 && strcmp(a->name, "status_float32") != 0;
}

static bool check_case(const golden_case *c)
{
  const abut_array *q = find(&c->inputs, "q"), *v = find(&c->inputs, "v");
  bool ok = check(q && v && q->dimensions == 2, "%s has no states", c->name) &&
            check(c->expected.count <= GOLDEN_ARRAYS_MOST, "%s has %zu arrays", c->name,
                  c->expected.count) &&
            check(find(&c->expected, "status") != NULL, "%s has no status", c->name);
  for (size_t i = 0; ok && i < c->expected.count; ++i) {
    const abut_array *a = &c->expected.arrays[i];
    ok =
      check(is_whole(a) || a->type == ABUT_ARRAY_FLOAT64, "%s: %s is of type %d", c->name, a->name,
            (int)a->type) &&
      check(worlds_of(a) <= q->shape[0], "%s: %s is of %zu worlds", c->name, a->name, worlds_of(a));
  }
  return ok;
}

bool golden_open(const char *folder, abut_precision precision, golden_case *c)
{
  char path[1024];
  const char *slash = strrchr(folder, '/');
  *c = (golden_case){.folder = folder, .name = slash ? slash + 1 : folder, .precision = precision};
  snprintf(c->scene, sizeof c->scene, "%s/scene.json", folder);
  snprintf(path, sizeof path, "%s/inputs.npz", folder);
  bool ok = CHECK_OK(abut_read_npz(path, &c->inputs));
  snprintf(path, sizeof path, "%s/expected.npz", folder);
  ok = ok && CHECK_OK(abut_read_npz(path, &c->expected)) && check_case(c);
  if (!ok) {
    golden_close(c);
    return false;
  }
  c->worlds = find(&c->inputs, "q")->shape[0];
  c->given = find(&c->inputs, "p") != NULL;
  c->manifold = !c->given && find(&c->expected, "P_friction") != NULL;
  return true;
}

void golden_close(golden_case *c)
{
  abut_free_npz(&c->inputs);
  abut_free_npz(&c->expected);
  c->inputs = c->expected = (abut_npz){0};
}

static int by_name(const void *a, const void *b)
{
  return strcmp(a, b);
}

size_t golden_each(const char *root, void (*visit)(const char *folder, void *data), void *data)
{
  char(*paths)[1024] = NULL;
  size_t count = 0;
  DIR *d = opendir(root);
  for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    if (starts_with(e->d_name, "cone-")) {
      void *more = realloc(paths, (count + 1) * sizeof *paths);
      REQUIRE(more != NULL);
      paths = more;
      snprintf(paths[count++], sizeof *paths, "%s/%s", root, e->d_name);
    }
  }
  if (d) {
    closedir(d);
  }
  if (count) {
    qsort(paths, count, sizeof *paths, by_name);
  }
  for (size_t i = 0; i < count; ++i) {
    visit(paths[i], data);
  }
  free(paths);
  return count;
}

void *golden_input(const golden_case *c, const char *name, size_t *count)
{
  const abut_array *a = find(&c->inputs, name);
  if (!a || a->type != ABUT_ARRAY_FLOAT64) {
    return NULL;
  }
  if (count) {
    *count = a->shape[0] ? entries(a) / a->shape[0] : 0;
  }
  return to_reals(a->data, entries(a), c->precision);
}

int *golden_indices(const golden_case *c, const char *name, size_t *count)
{
  const abut_array *a = find(&c->inputs, name);
  if (!a || !is_whole(a)) {
    return NULL;
  }
  int *out = calloc(entries(a) ? entries(a) : 1, sizeof *out);
  for (size_t i = 0; out && i < entries(a); ++i) {
    out[i] = (int)((const int64_t *)a->data)[i];
  }
  *count = entries(a);
  return out;
}

/* ---- answers ---- */

bool answers_create(const golden_case *c, answers *out)
{
  *out = (answers){.of = c};
  for (size_t i = 0; i < c->expected.count; ++i) {
    const abut_array *a = &c->expected.arrays[i];
    const size_t size = is_whole(a) ? sizeof(uint32_t) : real_size(c->precision);
    out->memory[i] = calloc(entries(a) ? entries(a) : 1, size);
    if (!out->memory[i]) {
      answers_free(out);
      return check(false, "%s: no memory for %s", c->name, a->name);
    }
  }
  return true;
}

void answers_free(answers *a)
{
  for (size_t i = 0; i < GOLDEN_ARRAYS_MOST; ++i) {
    free(a->memory[i]);
    a->memory[i] = NULL;
  }
}

void *answers_put(answers *a, const char *name, size_t *count)
{
  const abut_array *expected = find(&a->of->expected, name);
  if (!expected || !is_answer(expected)) {
    return NULL;
  }
  const size_t i = (size_t)(expected - a->of->expected.arrays);
  a->there[i] = true;
  if (count) {
    *count = entries(expected);
  }
  return a->memory[i];
}

/* ---- how near ---- */

enum { INERTIA, SOLUTION, STATE, DERIVATIVE, ROLLOUT, ROLLOUT_GRADIENT, CLASSES };

static int class_of(const char *array)
{
  static const char *const inertia[] = {"M", "bias", "energy", "momentum"};
  static const char *const solution[] = {"qacc", "qacc_smooth", "constraint", "multipliers",
                                         "multipliers_world0"};
  if (starts_with(array, "rollout_grad_")) {
    return ROLLOUT_GRADIENT;
  }
  if (starts_with(array, "rollout_")) {
    return ROLLOUT;
  }
  for (size_t i = 0; i < sizeof inertia / sizeof *inertia; ++i) {
    if (!strcmp(array, inertia[i])) {
      return INERTIA;
    }
  }
  for (size_t i = 0; i < sizeof solution / sizeof *solution; ++i) {
    if (!strcmp(array, solution[i])) {
      return SOLUTION;
    }
  }
  return strcmp(array, "q1") && strcmp(array, "v1") ? DERIVATIVE : STATE;
}

/* The specification's table. It states rollouts with manifolds only; others are held to the
 * same. */
double golden_limit(const golden_case *c, const char *array)
{
  static const double table[2][2][CLASSES] = {
    {{2e-6, 2e-3, 2e-5, 1e-2, 1e-2, INFINITY}, {2e-6, 2e-2, 1e-3, 5e-2, 1e-2, INFINITY}},
    {{1e-11, 1e-8, 1e-11, 1e-7, 1e-6, 1e-4}, {1e-11, 1e-6, 1e-8, 1e-5, 1e-6, 1e-4}},
  };
  return table[c->precision == ABUT_FLOAT64][c->manifold][class_of(array)];
}

/* Whole numbers must be equal, status in the bits that the case states. */
static agreement compare_whole(const golden_case *c, const abut_array *expected,
                               const uint32_t *got)
{
  const bool status = !strcmp(expected->name, "status");
  const abut_array *mask = status ? find(&c->expected, "status_mask") : NULL;
  const abut_array *narrow =
    status && c->precision == ABUT_FLOAT32 ? find(&c->expected, "status_float32") : NULL;
  const int64_t *want = (narrow ? narrow : expected)->data;
  const size_t row = entries(expected) / worlds_of(expected);
  agreement out = {.compared = entries(expected), .holds = true};
  for (size_t i = 0; i < out.compared; ++i) {
    const uint32_t bits = mask ? (uint32_t)((const int64_t *)mask->data)[i] : UINT32_MAX;
    if (out.holds && (got[i] & bits) != ((uint32_t)want[i] & bits)) {
      out.holds = false;
      out.worst = (double)got[i];
      out.world = i / row;
      out.entry = i % row;
    }
  }
  return out;
}

/* What is not finite in the file is not stated, nor what the precision cannot hold. */
static bool stated(const golden_case *c, double want)
{
  return fabs(want) <= (c->precision == ABUT_FLOAT64 ? DBL_MAX : (double)FLT_MAX);
}

static double largest_of(const golden_case *c, const double *x, size_t count)
{
  double largest = 0.0;
  for (size_t i = 0; i < count; ++i) {
    largest = stated(c, x[i]) ? fmax(largest, fabs(x[i])) : largest;
  }
  return largest;
}

static double largest_of_world(const golden_case *c, const abut_array *a, size_t world)
{
  const size_t row = entries(a) / worlds_of(a);
  return largest_of(c, (const double *)a->data + world * row, row);
}

/* A derivative that is 0 but for rounding, as that by friction where everything sticks, is held to
 * the derivative by the state beside it: 0 has no largest entry. */
static const abut_array *beside(const golden_case *c, const char *array)
{
  return starts_with(array, "rollout_grad_") ? find(&c->expected, "rollout_grad_v")
         : starts_with(array, "vjp_")        ? find(&c->expected, "vjp_state")
         : starts_with(array, "P_")          ? find(&c->expected, "A")
                                             : NULL;
}

double golden_scale(const golden_case *c, const abut_array *expected, size_t world)
{
  const double part = c->precision == ABUT_FLOAT64 ? 1e-6 : 1e-4;
  const abut_array *other = beside(c, expected->name);
  double scale = largest_of_world(c, expected, world);
  if (other) {
    scale = fmax(scale, part * largest_of_world(c, other, world));
  }
  if (scale == 0.0) {
    scale = largest_of(c, expected->data, entries(expected));
  }
  return scale > 0.0 ? scale : 1.0;
}

/* Of one world: its exception in float32, else the table's. */
static double limit_of(const golden_case *c, const char *array, size_t world,
                       const golden_exception *list)
{
  for (; list && list->name && c->precision == ABUT_FLOAT32; ++list) {
    if (!strcmp(list->name, c->name) && !strcmp(list->array, array) && list->world == world) {
      return list->limit;
    }
  }
  return golden_limit(c, array);
}

/* The largest error of a world; what is not finite in an answer is as wrong as can be. */
static agreement compare_world(const golden_case *c, const double *want, const void *got,
                               size_t first, size_t row, double scale)
{
  agreement out = {0};
  for (size_t i = 0; i < row; ++i) {
    if (!stated(c, want[first + i])) {
      continue;
    }
    const double off = fabs(real_at(got, c->precision, first + i) - want[first + i]) / scale;
    const double error = isfinite(off) ? off : INFINITY;
    ++out.compared;
    if (error > out.worst) {
      out.worst = error;
      out.entry = i;
    }
  }
  return out;
}

/* The world that is shown is the one nearest its limit, or beyond it. */
static agreement compare_reals(const golden_case *c, const abut_array *expected, const void *got,
                               const golden_exception *exceptions)
{
  const double *want = expected->data;
  const size_t worlds = worlds_of(expected), count = entries(expected);
  const size_t row = worlds ? count / worlds : 0;
  agreement out = {.limit = golden_limit(c, expected->name), .holds = true};
  size_t compared = 0;
  double nearest = -1.0;
  for (size_t w = 0; w < worlds; ++w) {
    const double scale = golden_scale(c, expected, w);
    agreement found = compare_world(c, want, got, w * row, row, scale);
    found.world = w;
    found.limit = limit_of(c, expected->name, w, exceptions);
    found.holds = out.holds && isfinite(found.worst) && found.worst <= found.limit;
    compared += found.compared;
    const double near = isfinite(found.limit) ? found.worst / found.limit
                                              : (isfinite(found.worst) ? 0.0 : INFINITY);
    if (near > nearest || (near == nearest && found.worst > out.worst)) {
      nearest = near;
      out = found;
    } else {
      out.holds = found.holds;
    }
  }
  out.compared = compared;
  return out;
}

agreement golden_compare(const golden_case *c, const abut_array *expected, const void *got,
                         const golden_exception *exceptions)
{
  return is_whole(expected) ? compare_whole(c, expected, got)
                            : compare_reals(c, expected, got, exceptions);
}

static bool report_array(const answers *a, size_t i, const golden_exception *exceptions)
{
  const golden_case *c = a->of;
  const abut_array *expected = &c->expected.arrays[i];
  const char *f = c->precision == ABUT_FLOAT64 ? "f64" : "f32";
  const bool information = !strcmp(expected->name, "iterations");
  if (!is_answer(expected) || (information && !a->there[i])) {
    return true;
  }
  if (!check(a->there[i], "%s %s: %s is not computed", c->name, f, expected->name)) {
    return false;
  }
  const agreement found = golden_compare(c, expected, a->memory[i], exceptions);
  if (is_whole(expected)) {
    printf("%-36s %s %-22s %s\n", c->name, f, expected->name, found.holds ? "equal" : "differs");
    return information || check(found.holds, "%s %s: %s of world %zu, step %zu is %.0f", c->name, f,
                                expected->name, found.world, found.entry, found.worst);
  }
  const bool exception = found.limit != golden_limit(c, expected->name);
  printf("%-36s %s %-22s worst %.2e of %.0e%s\n", c->name, f, expected->name, found.worst,
         found.limit, exception ? ", an exception" : "");
  return check(found.holds, "%s %s: entry %zu of %s of world %zu is off by %.2e of %.0e", c->name,
               f, found.entry, expected->name, found.world, found.worst, found.limit);
}

size_t golden_report(const answers *a, const golden_exception *exceptions)
{
  size_t wrong = 0;
  for (size_t i = 0; i < a->of->expected.count; ++i) {
    wrong += !report_array(a, i, exceptions);
  }
  return wrong;
}

void golden_run(const char *folder, abut_precision precision, solve_case solve, void *data,
                const golden_exception *exceptions)
{
  golden_case c;
  answers a;
  if (!golden_open(folder, precision, &c)) {
    return;
  }
  if (answers_create(&c, &a)) {
    if (solve(&c, &a, data)) {
      golden_report(&a, exceptions);
    }
    answers_free(&a);
  }
  golden_close(&c);
}
