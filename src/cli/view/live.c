#include "view/live.h"

#include "reductions.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK 200u
#define BAD 400u
#define FAILED 500u
#define PLACE 7
#define MAGIC "abut"
#define VERSION 1u
#define INTEGERS 12 /* version, contacts in the list, a pair's nine numbers, flags */
#define HAS_GRADIENT 1u

typedef struct request {
  abut_pose_kind kind;
  double pose1[PLACE], pose2[PLACE];
  double threshold;
  int reduction;    /* abut_reduction; -1: none */
  char smoothing[]; /* its text; "": that of the command */
} request;

/* What is computed of one. */
typedef struct contacts {
  float pose1[PLACE], pose2[PLACE];
  uint8_t status;
  abut_batch batch;
  abut_compact list;
  float minimum, activity, energy, reduced;
  double gradient[6]; /* of body 2, along the world's axes, about its origin */
} contacts;

/* ---- the request, in the server's thread ---- */

static bool read_pose(const json_t *root, const char *name, size_t *width, double *out, answer *refusal)
{
  const json_t *pose = json_object_get(root, name);
  const size_t count = json_array_size(pose);
  if (!json_is_array(pose) || (count != 6 && count != PLACE)) {
    answer_text(refusal, BAD, "%s: %zu numbers, not 6 of a twist or 7 of a position and a quaternion", name, count);
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const json_t *number = json_array_get(pose, i);
    if (!json_is_number(number)) {
      answer_text(refusal, BAD, "%s: number %zu, counted from 0, is not one", name, i);
      return false;
    }
    out[i] = json_number_value(number);
  }
  if (*width && *width != count) {
    answer_text(refusal, BAD, "pose1 has %zu numbers and %s %zu", *width, name, count);
    return false;
  }
  *width = count;
  return true;
}

static bool read_threshold(const json_t *root, double *out, answer *refusal)
{
  const json_t *value = json_object_get(root, "threshold");
  *out = value ? json_number_value(value) : 0.0;
  if (value && (!json_is_number(value) || !(*out >= 0.0 && *out <= 1.0))) {
    answer_text(refusal, BAD, "threshold: not a number from 0 to 1");
    return false;
  }
  return true;
}

static bool read_reduction(const json_t *root, int *out, answer *refusal)
{
  const json_t *value = json_object_get(root, "reduction");
  *out = -1;
  for (int i = 0; json_is_string(value) && i < REDUCTION_COUNT; ++i) {
    *out = strcmp(json_string_value(value), reduction_names[i]) == 0 ? i : *out;
  }
  if (value && *out < 0) {
    answer_text(refusal, BAD, "reduction: there is none of that name");
    return false;
  }
  return true;
}

static bool has_other_keys(const json_t *root, answer *refusal)
{
  static const char *const keys[] = {"pose1", "pose2", "threshold", "reduction", "smoothing"};
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)root, key, value) {
    size_t i = 0;
    while (i < sizeof keys / sizeof *keys && strcmp(key, keys[i]) != 0) {
      ++i;
    }
    if (i == sizeof keys / sizeof *keys) {
      answer_text(refusal, BAD, "`%s`: a request has no such key", key);
      return true;
    }
  }
  return false;
}

static request *read_request(const json_t *root, answer *refusal)
{
  request r = {0};
  size_t width = 0;
  if (!json_is_object(root)) {
    answer_text(refusal, BAD, "a request is an object");
    return NULL;
  }
  if (has_other_keys(root, refusal) || !read_pose(root, "pose1", &width, r.pose1, refusal) ||
      !read_pose(root, "pose2", &width, r.pose2, refusal) || !read_threshold(root, &r.threshold, refusal) ||
      !read_reduction(root, &r.reduction, refusal)) {
    return NULL;
  }
  r.kind = width == PLACE ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
  const json_t *smoothing = json_object_get(root, "smoothing");
  if (smoothing && !json_is_object(smoothing)) {
    answer_text(refusal, BAD, "smoothing: not an object");
    return NULL;
  }
  char *text = smoothing ? json_dumps(smoothing, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : strdup("");
  const size_t bytes = text ? strlen(text) + 1 : 0;
  request *out = text ? malloc(sizeof *out + bytes) : NULL;
  if (out) {
    *out = r;
    memcpy(out->smoothing, text, bytes);
  } else {
    answer_text(refusal, FAILED, "no memory");
  }
  free(text);
  return out;
}

void *live_parse(const char *bytes, size_t count, answer *refusal)
{
  json_error_t error;
  json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
  if (!root) {
    answer_text(refusal, BAD, "line %d of the request: %s", error.line, error.text);
    return NULL;
  }
  request *r = read_request(root, refusal);
  json_decref(root);
  return r;
}

/* ---- the answer, in the thread that calls the library ---- */

static bool refuse(answer *out, abut_status status)
{
  if (status == ABUT_SUCCESS) {
    return false;
  }
  const bool bad = status == ABUT_ERROR_ARGUMENT || status == ABUT_ERROR_FORMAT;
  answer_text(out, bad ? BAD : FAILED, "%s", abut_last_error());
  return true;
}

/* Makes the pair that a request's smoothing asks for, unless it is there. One that cannot be made leaves the last. */
static bool take_smoothing(live *l, const char *text, answer *out)
{
  abut_smoothing smoothing;
  abut_pair pair = l->scene->pair;
  if (strcmp(text, l->smoothing ? l->smoothing : "") == 0) {
    return true;
  }
  char *kept = NULL;
  if (*text) {
    if (refuse(out, abut_parse_smoothing("smoothing", text, strlen(text), &smoothing)) ||
        refuse(out, abut_create_pair(l->scene->bodies[0], l->scene->bodies[1], &smoothing, &pair))) {
      return false;
    }
    kept = strdup(text);
    if (!kept) {
      abut_destroy_pair(pair);
      answer_text(out, FAILED, "no memory");
      return false;
    }
  }
  live_end(l);
  l->pair = pair;
  l->smoothing = kept;
  return true;
}

/* The values are those of `abut contacts`, to the bit: gradients come by a call of their own, which rounds them
 * differently. */
static abut_status find_contacts(const live *l, const request *r, contacts *c)
{
  const size_t width = pose_width(r->kind);
  for (size_t i = 0; i < width; ++i) {
    c->pose1[i] = (float)fmin(fmax(r->pose1[i], -FLT_MAX), FLT_MAX); /* as those of a file */
    c->pose2[i] = (float)fmin(fmax(r->pose2[i], -FLT_MAX), FLT_MAX);
  }
  c->list = (abut_compact){.threshold = r->threshold, .grows = true};
  c->batch = abut_default_batch();
  c->batch.count = 1;
  c->batch.poses = r->kind;
  c->batch.pose1 = c->pose1;
  c->batch.pose2 = c->pose2;
  c->batch.status = &c->status;
  c->batch.compact = &c->list;
  c->batch.reductions.minimum_distance = &c->minimum;
  c->batch.reductions.activity = &c->activity;
  c->batch.reductions.energy = &c->energy;
  if (r->reduction >= 0) {
    want_reduction(&c->batch, (abut_reduction)r->reduction, &c->reduced);
  }
  abut_status status = abut_contacts(l->pair, &c->batch);
  c->activity = r->reduction == ABUT_REDUCE_ACTIVITY ? c->reduced : c->activity;
  c->energy = r->reduction == ABUT_REDUCE_ENERGY ? c->reduced : c->energy;
  return status;
}

static abut_status find_gradient(const live *l, const request *r, contacts *c)
{
  float by_pose[PLACE] = {0}, along[6];
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.poses = r->kind;
  batch.pose1 = c->pose1;
  batch.pose2 = c->pose2;
  const abut_gradients gradients = {NULL, by_pose};
  abut_status status = abut_gradient(l->pair, ABUT_SAME_PAIR, &batch, (abut_reduction)r->reduction, &gradients);
  if (status == ABUT_SUCCESS) {
    status = abut_gradient_to_frame(ABUT_FLOAT32, r->kind, ABUT_FRAME_ALIGNED, 1, c->pose2, by_pose, along);
  }
  for (int i = 0; i < 6 && status == ABUT_SUCCESS; ++i) {
    c->gradient[i] = (double)along[i];
  }
  return status;
}

/* ---- the answer's bytes, little-endian ---- */

static uint8_t *put_bits(uint8_t *to, uint64_t bits, int bytes)
{
  for (int i = 0; i < bytes; ++i) {
    *to++ = (uint8_t)(bits >> 8 * i);
  }
  return to;
}

static uint8_t *put_double(uint8_t *to, double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return put_bits(to, bits, 8);
}

static uint8_t *put_floats(uint8_t *to, const void *from, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, (const float *)from + i, sizeof bits);
    to = put_bits(to, bits, 4);
  }
  return to;
}

static uint8_t *put_wholes(uint8_t *to, const uint32_t *from, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    to = put_bits(to, from[i], 4);
  }
  return to;
}

static void put_answer(const live *l, const request *r, const contacts *c, answer *out)
{
  abut_layout n;
  const size_t count = c->list.count, head = 4 + 4 * INTEGERS + 4 + 8 * 10, each = 4 * (1 + 2 + 3 + 1 + 3 + 1);
  if (refuse(out, abut_get_layout(l->pair, &n))) {
    return;
  }
  const size_t of_pair[9] = {n.contacts,         n.vertices[0],      n.vertices[1],    n.edges[0],      n.edges[1],
                             n.vertex_offset[0], n.vertex_offset[1], n.edge_offset[0], n.edge_offset[1]};
  uint8_t *bytes = malloc(head + count * each), *to = bytes;
  if (!bytes) {
    answer_text(out, FAILED, "no memory for %zu contacts", count);
    return;
  }
  memcpy(to, MAGIC, 4);
  to = put_bits(to + 4, VERSION, 4);
  to = put_bits(to, count, 4);
  for (int i = 0; i < 9; ++i) {
    to = put_bits(to, of_pair[i], 4);
  }
  to = put_bits(to, r->reduction >= 0 ? HAS_GRADIENT : 0, 4);
  to = put_bits(to, 0, 4); /* numbers of eight bytes begin at a multiple of eight */
  const double numbers[4] = {(double)c->minimum, (double)c->activity, (double)c->energy, (double)c->reduced};
  for (int i = 0; i < 10; ++i) {
    to = put_double(to, i < 4 ? numbers[i] : c->gradient[i - 4]);
  }
  to = put_wholes(to, c->list.slot, count);
  to = put_wholes(to, c->list.feature, 2 * count);
  to = put_floats(to, c->list.p, 3 * count);
  to = put_floats(to, c->list.d, count);
  to = put_floats(to, c->list.n, 3 * count);
  put_floats(to, c->list.activity, count);
  *out = (answer){OK, (char *)bytes, head + count * each};
}

void live_compute(void *user, const void *request_, answer *out)
{
  live *l = user;
  const request *r = request_;
  contacts c = {0};
  if (!take_smoothing(l, r->smoothing, out)) {
    return;
  }
  if (!refuse(out, find_contacts(l, r, &c))) {
    if (c.status != ABUT_POSE_OK) {
      answer_text(out, BAD, c.status == ABUT_POSE_NO_QUATERNION ? "a pose's quaternion has length 0"
                                                                 : "a pose's numbers are not finite");
    } else if (r->reduction < 0 || !refuse(out, find_gradient(l, r, &c))) {
      put_answer(l, r, &c, out);
    }
  }
  abut_free_compact(&c.list);
}

void live_begin(live *l, const scene *s)
{
  *l = (live){.scene = s, .pair = s->pair};
}

void live_end(live *l)
{
  if (l->smoothing) {
    abut_destroy_pair(l->pair);
    free(l->smoothing);
    l->smoothing = NULL;
  }
}

exit_code live_poses(const scene *s, abut_poses *poses)
{
  abut_body_info one, two;
  CLI_TRY(report_status(abut_get_body_info(s->bodies[0], &one)));
  CLI_TRY(report_status(abut_get_body_info(s->bodies[1], &two)));
  *poses = (abut_poses){.count = 1, .kind = ABUT_POSE_TWIST, .pose1 = calloc(6, sizeof(double)), .pose2 = calloc(6, sizeof(double))};
  if (!poses->pose1 || !poses->pose2) {
    return report(EXIT_RUN, "no memory for a pose");
  }
  for (int k = 0; k < 2; ++k) {
    poses->pose2[k] = 0.5 * (one.lower[k] + one.upper[k] - two.lower[k] - two.upper[k]);
  }
  poses->pose2[2] = one.upper[2] - two.lower[2] - 0.01 * two.diagonal;
  return EXIT_GOOD;
}
