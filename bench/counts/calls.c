/* The calls whose kernels are counted: contacts of a pair of bodies and their derivatives, float32,
 * as a GPU would compute them, with a lane a work-item and work-groups of 64.
 *
 *   calls COUNTS A B SMOOTHING POSES N
 *
 * Computes each call for the first N poses and appends a line "# call" to the file COUNTS before
 * it; Oclgrind, under which this runs, appends what each launch did (counts.cpp). What a device is
 * asked before it is used stands behind "# unmeasured". */
#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct calls {
  const char *counts;
  abut_context context;
  abut_pair softsort, gate;
  abut_layout layout;
  size_t poses, width;
  float *pose1, *pose2, *ones, *gradient1, *gradient2, *values;
} calls;

static int fail_with(const char *what)
{
  fprintf(stderr, "calls: %s: %s\n", what, abut_last_error());
  return 1;
}

static bool mark(const calls *c, const char *call)
{
  FILE *file = fopen(c->counts, "a");
  return file && fprintf(file, "# %s\n", call) > 0 && fclose(file) == 0;
}

static abut_batch batch_of(const calls *c, size_t poses)
{
  abut_batch b = abut_default_batch();
  b.count = poses;
  b.poses = c->width == 6 ? ABUT_POSE_TWIST : ABUT_POSE_QUATERNION;
  b.pose1 = c->pose1;
  b.pose2 = c->pose2;
  return b;
}

/* Room for p, d, n and activity of all poses. */
static void want_all(const calls *c, abut_batch *b)
{
  const size_t slots = c->poses * c->layout.contacts;
  b->p = c->values;
  b->d = c->values + 3 * slots;
  b->n = c->values + 4 * slots;
  b->activity = c->values + 7 * slots;
}

static abut_status contacts(const calls *c, abut_pair pair, size_t poses)
{
  abut_batch b = batch_of(c, poses);
  want_all(c, &b);
  return abut_contacts(pair, &b);
}

static abut_status contacts_softsort(const calls *c, size_t poses)
{
  return contacts(c, c->softsort, poses);
}

static abut_status contacts_gate(const calls *c, size_t poses)
{
  return contacts(c, c->gate, poses);
}

static abut_status reductions(const calls *c, size_t poses)
{
  abut_batch b = batch_of(c, poses);
  b.reductions.energy = c->gradient1;
  b.reductions.soft_minimum = c->gradient2;
  return abut_contacts(c->softsort, &b);
}

static abut_status list(const calls *c, abut_pair pair, size_t poses, abut_compact *entries)
{
  abut_batch b = batch_of(c, poses);
  *entries = (abut_compact){.threshold = 0.1, .grows = true};
  b.compact = entries;
  return abut_contacts(pair, &b);
}

static abut_status compact_softsort(const calls *c, size_t poses)
{
  abut_compact entries;
  const abut_status status = list(c, c->softsort, poses, &entries);
  abut_free_compact(&entries);
  return status;
}

static abut_status list_gate(const calls *c, size_t poses)
{
  abut_compact entries;
  const abut_status status = list(c, c->gate, poses, &entries);
  abut_free_compact(&entries);
  return status;
}

static abut_status list_vjp(const calls *c, size_t poses)
{
  abut_compact entries;
  abut_status status = list(c, c->gate, poses, &entries);
  abut_batch b = batch_of(c, poses);
  const abut_cotangents bars = {.p = c->ones, .d = c->ones, .n = c->ones, .activity = c->ones};
  const abut_gradients gradients = {c->gradient1, c->gradient2};
  if (status == ABUT_SUCCESS && !mark(c, poses == c->poses ? "list VJP" : "unmeasured")) {
    status = ABUT_ERROR_WRITE;
  }
  if (status == ABUT_SUCCESS) {
    status = abut_list_vjp(c->gate, &b, &entries, &bars, &gradients);
  }
  abut_free_compact(&entries);
  return status;
}

static abut_status vjp(const calls *c, abut_pair pair, size_t poses)
{
  abut_batch b = batch_of(c, poses);
  const abut_cotangents bars = {.p = c->ones, .d = c->ones, .n = c->ones, .activity = c->ones};
  const abut_gradients gradients = {c->gradient1, c->gradient2};
  return abut_vjp(pair, ABUT_SAME_PAIR, &b, &bars, &gradients);
}

static abut_status vjp_softsort(const calls *c, size_t poses)
{
  return vjp(c, c->softsort, poses);
}

static abut_status vjp_gate(const calls *c, size_t poses)
{
  return vjp(c, c->gate, poses);
}

static abut_status soft_minimum_gradient(const calls *c, size_t poses)
{
  abut_batch b = batch_of(c, poses);
  const abut_gradients gradients = {c->gradient1, c->gradient2};
  return abut_gradient(c->gate, ABUT_SAME_PAIR, &b, ABUT_REDUCE_SOFT_MINIMUM, &gradients);
}

static abut_status energy_gradient(const calls *c, size_t poses)
{
  abut_batch b = batch_of(c, poses);
  const abut_gradients gradients = {c->gradient1, c->gradient2};
  return abut_gradient(c->softsort, ABUT_SAME_PAIR, &b, ABUT_REDUCE_ENERGY, &gradients);
}

typedef struct call {
  const char *name;
  abut_status (*compute)(const calls *c, size_t poses);
} call;

static const call all[] = {
  {"contacts, softsort", contacts_softsort},
  {"contacts, gate", contacts_gate},
  {"reductions, softsort", reductions},
  {"compact list, softsort", compact_softsort},
  {"VJP, softsort", vjp_softsort},
  {"VJP, gate", vjp_gate},
  {"gradient of the energy, softsort", energy_gradient},
  {"gradient of the soft minimum, gate", soft_minimum_gradient},
  {"list, gate", list_gate},
  {"unmeasured", list_vjp}, /* "list VJP" behind the list that it is of */
};

/* The first call of each asks devices first: one pose of it is computed before. */
static int count(const calls *c)
{
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    if (!mark(c, "unmeasured") || all[i].compute(c, 1) || !mark(c, all[i].name) ||
        all[i].compute(c, c->poses)) {
      return fail_with(all[i].name);
    }
  }
  return 0;
}

static abut_status open_pairs(calls *c, char **files)
{
  abut_context_def def = abut_default_context_def();
  abut_body a, b;
  abut_smoothing s;
  def.lanes = 1;
  def.group = def.items = 64;
  abut_status status = abut_find_device("oclgrind", &def.device);
  status = status ? status : abut_create_context(&def, &c->context);
  status = status ? status : abut_load_body(c->context, files[0], &a);
  status = status ? status : abut_load_body(c->context, files[1], &b);
  status = status ? status : abut_load_smoothing(files[2], &s);
  s.select = ABUT_SELECT_SOFTSORT;
  status = status ? status : abut_create_pair(a, b, &s, &c->softsort);
  s.select = ABUT_SELECT_GATE;
  status = status ? status : abut_create_pair(a, b, &s, &c->gate);
  return status ? status : abut_get_layout(c->softsort, &c->layout);
}

static float *floats(size_t number, float value)
{
  float *to = malloc(number * sizeof *to);
  for (size_t i = 0; to && i < number; ++i) {
    to[i] = value;
  }
  return to;
}

/* The file's poses, over and over. */
static bool read_poses(calls *c, const char *path)
{
  abut_poses from;
  if (abut_load_poses(path, &from)) {
    return false;
  }
  c->width = from.kind == ABUT_POSE_TWIST ? 6 : 7;
  c->pose1 = floats(c->poses * c->width, 0.0f);
  c->pose2 = floats(c->poses * c->width, 0.0f);
  const bool good = c->pose1 && c->pose2 && from.count;
  for (size_t i = 0; good && i < c->poses * c->width; ++i) {
    c->pose1[i] = (float)from.pose1[i % (from.count * c->width)];
    c->pose2[i] = (float)from.pose2[i % (from.count * c->width)];
  }
  abut_free_poses(&from);
  return good;
}

int main(int argc, char **argv)
{
  if (argc != 7) {
    fprintf(stderr, "usage: calls COUNTS A B SMOOTHING POSES N\n");
    return 2;
  }
  calls c = {.counts = argv[1], .poses = (size_t)strtoul(argv[6], NULL, 10)};
  if (!c.poses || !read_poses(&c, argv[5]) || open_pairs(&c, argv + 2)) {
    return fail_with("inputs");
  }
  const size_t slots = c.poses * c.layout.contacts;
  c.values = floats(8 * slots, 0.0f);
  c.ones = floats(3 * slots, 1.0f);
  c.gradient1 = floats(7 * c.poses, 0.0f);
  c.gradient2 = floats(7 * c.poses, 0.0f);
  return !c.values || !c.ones || !c.gradient1 || !c.gradient2 || count(&c);
}
