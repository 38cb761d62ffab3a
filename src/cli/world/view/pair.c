/* Frames of a pair: contacts of one frame, and curves over several. */
#include "world/view/live_parts.h"

#include "core/reductions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Results for `count` poses. Arrays of floats follow one another in `memory`. */
typedef struct contacts {
  size_t count;
  abut_pose_kind kind;
  float *pose1, *pose2;               /* (count, 6 or 7) */
  float *minimum, *activity, *energy; /* (count) */
  float reduced;
  uint8_t *status; /* (count) */
  abut_compact list;
  double gradient[6]; /* for body 2, along the world's axes, about its origin */
  float *memory;
} contacts;

/* Returns the pair that a request's contacts are computed with. */
static abut_pair pair_of(const live *l, const request *r)
{
  return *r->smoothing ? l->pair : l->session->pair;
}

/* Makes the pair for a request's smoothing, unless it exists. After a failure the previous one
 * remains. */
static bool take_smoothing(live *l, const char *text, answer *out)
{
  abut_smoothing smoothing;
  abut_pair pair;
  if (!*text || (l->smoothing && strcmp(text, l->smoothing) == 0)) {
    return true; /* the command's own pair exists, and that of the sliders is retained for their
                    next request */
  }
  if (answer_error(out, abut_parse_smoothing("smoothing", text, strlen(text), &smoothing)) ||
      answer_error(out, abut_create_pair(l->session->bodies[0], l->session->bodies[1], &smoothing,
                                         &pair))) {
    return false;
  }
  char *kept = strdup(text);
  if (!kept) {
    abut_destroy_pair(pair);
    answer_text(out, FAILED, "no memory");
    return false;
  }
  pair_end(l);
  l->pair = pair;
  l->smoothing = kept;
  return true;
}

static void put_pose(float *to, const double *from, size_t width)
{
  for (size_t i = 0; i < width; ++i) {
    to[i] = to_float(from[i]);
  }
}

static bool take_poses(const live *l, const request *r, contacts *c, answer *out)
{
  c->count = r->what == OF_POSES ? 1 : r->count;
  c->kind = r->what == OF_POSES ? r->kind : l->poses->kind;
  const size_t width = pose_width(c->kind), n = c->count;
  c->memory = calloc(n * (2 * width + 3), sizeof *c->memory);
  c->status = calloc(n, 1);
  if (!c->memory || !c->status) {
    answer_text(out, FAILED, "no memory for %zu poses", n);
    return false;
  }
  c->pose1 = c->memory;
  c->pose2 = c->pose1 + n * width;
  c->minimum = c->pose2 + n * width;
  c->activity = c->minimum + n;
  c->energy = c->activity + n;
  for (size_t i = 0; i < n; ++i) {
    const size_t at = (r->first + i) * width;
    put_pose(c->pose1 + i * width, r->what == OF_POSES ? r->pose1 : l->poses->pose1 + at, width);
    put_pose(c->pose2 + i * width, r->what == OF_POSES ? r->pose2 : l->poses->pose2 + at, width);
  }
  return true;
}

/* The values are bitwise those of `abut contacts`. Gradients are computed in a separate call,
 * because that rounds values differently. */
static abut_status find_contacts(const live *l, const request *r, contacts *c)
{
  abut_batch batch = abut_default_batch();
  c->list = (abut_compact){.threshold = r->threshold, .grows = true};
  batch.count = c->count;
  batch.poses = c->kind;
  batch.pose1 = c->pose1;
  batch.pose2 = c->pose2;
  batch.status = c->status;
  batch.compact = r->what != OF_CURVES || r->follows ? &c->list : NULL;
  batch.reductions.minimum_distance = c->minimum;
  batch.reductions.activity = c->activity;
  batch.reductions.energy = c->energy;
  if (r->reduction >= 0 && r->what != OF_CURVES) {
    want_reduction(&batch, (abut_reduction)r->reduction, &c->reduced);
  }
  const abut_status status = abut_contacts(pair_of(l, r), &batch);
  *c->activity = r->reduction == ABUT_REDUCE_ACTIVITY && r->what != OF_CURVES ? c->reduced
                                                                              : *c->activity;
  *c->energy = r->reduction == ABUT_REDUCE_ENERGY && r->what != OF_CURVES ? c->reduced : *c->energy;
  return status;
}

static abut_status find_gradient(const live *l, const request *r, contacts *c)
{
  float by_pose[PLACE] = {0}, along[6];
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.poses = c->kind;
  batch.pose1 = c->pose1;
  batch.pose2 = c->pose2;
  const abut_gradients gradients = {NULL, by_pose};
  abut_status status =
    abut_gradient(pair_of(l, r), ABUT_SAME_PAIR, &batch, (abut_reduction)r->reduction, &gradients);
  if (status == ABUT_SUCCESS) {
    status = abut_gradient_to_frame(ABUT_FLOAT32, c->kind, ABUT_FRAME_ALIGNED, 1, c->pose2, by_pose,
                                    along);
  }
  for (int i = 0; i < 6 && status == ABUT_SUCCESS; ++i) {
    c->gradient[i] = (double)along[i];
  }
  return status;
}

static void answer_contacts(const live *l, const request *r, contacts *c, answer *out)
{
  abut_layout n;
  const bool has_pose = !(*c->status & ABUT_POSE_REJECTED);
  if (!has_pose && r->what == OF_POSES) {
    answer_text(out, BAD,
                *c->status == ABUT_POSE_NO_QUATERNION ? "a pose's quaternion has length 0"
                                                      : "a pose's numbers are not finite");
    return;
  }
  if ((r->reduction >= 0 && has_pose && answer_error(out, find_gradient(l, r, c))) ||
      answer_error(out, abut_get_layout(pair_of(l, r), &n))) {
    return;
  }
  frame_answer f = {.has_gradient = r->reduction >= 0 && has_pose,
                    .numbers = {(double)*c->minimum, (double)*c->activity, (double)*c->energy,
                                (double)c->reduced},
                    .list = &c->list};
  layout_numbers(&n, f.layout);
  memcpy(f.numbers + REAL_gradient, c->gradient, sizeof c->gradient);
  answer_frame(out, &f);
}

/* Writes rows of the three curves, and of the activity and the distance of one slot, NaN if it is
 * not in the list. */
static void answer_pair_curves(const request *r, const contacts *c, answer *out)
{
  const size_t n = c->count, rows = r->follows ? 5 : 3;
  float *values = calloc(rows * n, sizeof *values);
  if (!values) {
    answer_text(out, FAILED, "no memory for curves of %zu frames", n);
    return;
  }
  memcpy(values, c->minimum, 3 * n * sizeof *values);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < rows; ++k) {
      values[k * n + i] = k >= 3 || (c->status[i] & ABUT_POSE_REJECTED) ? NAN : values[k * n + i];
    }
  }
  for (size_t i = 0; r->follows && i < c->list.count; ++i) {
    if (c->list.slot[i] == r->contact[1]) {
      values[3 * n + c->list.pose[i]] = ((const float *)c->list.activity)[i];
      values[4 * n + c->list.pose[i]] = ((const float *)c->list.d)[i];
    }
  }
  answer_curves(out, rows, n, values);
  free(values);
}

/* Returns whether the curves of a contact need more contacts than are listed together. */
static bool is_too_much(const live *l, const request *r, answer *out)
{
  abut_layout n;
  if (!r->follows || answer_error(out, abut_get_layout(pair_of(l, r), &n))) {
    return r->follows;
  }
  if (n.contacts && r->count > CONTACTS_MOST / n.contacts) {
    answer_text(out, BAD,
                "curves: with a contact, %zu frames of %zu slots are too many; at most %zu slots "
                "are possible together",
                r->count, n.contacts, CONTACTS_MOST);
    return true;
  }
  return false;
}

void pair_compute(live *l, const request *r, answer *out)
{
  contacts c = {0};
  if (take_smoothing(l, r->smoothing, out) && !is_too_much(l, r, out) &&
      take_poses(l, r, &c, out) && !answer_error(out, find_contacts(l, r, &c))) {
    if (r->what == OF_CURVES) {
      answer_pair_curves(r, &c, out);
    } else {
      answer_contacts(l, r, &c, out);
    }
  }
  abut_free_compact(&c.list);
  free(c.memory);
  free(c.status);
}

void pair_end(live *l)
{
  if (l->smoothing) {
    abut_destroy_pair(l->pair);
    free(l->smoothing);
    l->smoothing = NULL;
  }
}
