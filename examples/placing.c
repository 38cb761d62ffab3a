#include "placing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* R(q) v of a unit quaternion w, x, y, z; `sign` -1 turns back. */
static void turn(const double q[4], double sign, const double v[3], double out[3])
{
  const double x = sign * q[1], y = sign * q[2], z = sign * q[3];
  const double u[3] = {y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]};
  const double t[3] = {y * u[2] - z * u[1], z * u[0] - x * u[2], x * u[1] - y * u[0]};
  for (int i = 0; i < 3; ++i) {
    out[i] = v[i] + 2.0 * (q[0] * u[i] + t[i]);
  }
}

/* ---- bodies ---- */

static abut_status open_context(abut_context *context)
{
  abut_context_def def = abut_default_context_def();
  def.precision = ABUT_FLOAT64;
  return abut_create_context(&def, context);
}

static abut_status find_centre(abut_body body, const abut_body_info *info, double centre[3])
{
  double *vertices = calloc(info->vertices, 3 * sizeof *vertices);
  const abut_status status = vertices ? abut_get_body_mesh(body, vertices, NULL)
                                      : ABUT_ERROR_MEMORY;
  for (size_t i = 0; !status && i < 3 * info->vertices; ++i) {
    centre[i % 3] += vertices[i] / (double)info->vertices;
  }
  free(vertices);
  return status;
}

static void find_centre_at(const placing *p, const double pose[7], double at[3])
{
  turn(pose + 3, 1.0, p->centre, at);
  for (int i = 0; i < 3; ++i) {
    at[i] += pose[i];
  }
}

static abut_status put_above(placing *p, const abut_body_info *a, const abut_body_info *b)
{
  double start[7] = {0.0, 0.0, 0.0, 1.0}, middle[3], arm[3], at[3];
  for (int i = 0; i < 3; ++i) {
    middle[i] = 0.5 * (b->lower[i] + b->upper[i]);
    start[i] = 0.5 * (a->lower[i] + a->upper[i]);
  }
  start[2] = a->upper[2] - b->lower[2] + middle[2] + 0.02 * p->size; /* of B's middle */
  const double tilt[6] = {0.0, 0.0, 0.0, 0.08, 0.05, 0.3};
  p->pose[0][3] = 1.0;
  const abut_status status = abut_pose_step(ABUT_FLOAT64, ABUT_POSE_QUATERNION, ABUT_FRAME_ALIGNED,
                                            1, start, tilt, p->pose[1]);
  turn(p->pose[1] + 3, 1.0, middle, arm);
  for (int i = 0; i < 3; ++i) {
    p->pose[1][i] -= arm[i];
  }
  find_centre_at(p, p->pose[1], at);
  p->above[0] = at[0];
  p->above[1] = at[1];
  return status;
}

/* What is minimised must not jump, nor have kinks near a minimum: faint contacts fade out before
 * they leave a list, and edges are kept that are far from touching, so that the last of them, where
 * the order of edges shows, counts for nothing. */
static abut_status create_pairs(placing *p, double softness)
{
  abut_smoothing *s = &p->smoothing;
  abut_status status = abut_fit_smoothing(p->bodies[0], p->bodies[1], s);
  status = status ? status : abut_create_pair(p->bodies[0], p->bodies[1], s, &p->fitted);
  s->penetration = softness * p->size;
  /* The union that the larger body was fitted with: with the smaller one's, which is what is
   * fitted, the larger body's seams lie deeper than its mesh, and B would sink into them. */
  s->union_ = s->plane = 0.004 * p->size;
  s->floor = 0.02;
  s->edges[0] = s->edges[1] = 64;
  return status ? status : abut_create_pair(p->bodies[0], p->bodies[1], s, &p->pair);
}

abut_status placing_open(placing *p, const char *a, const char *b, double softness)
{
  abut_body_info info[2];
  abut_layout layout;
  abut_status status;
  *p = (placing){.size = 0.0};
  if ((status = open_context(&p->context)) ||
      (status = abut_load_body(p->context, a, &p->bodies[0])) ||
      (status = abut_load_body(p->context, b, &p->bodies[1])) ||
      (status = abut_get_body_info(p->bodies[0], &info[0])) ||
      (status = abut_get_body_info(p->bodies[1], &info[1]))) {
    return status;
  }
  p->size = fmax(info[0].diagonal, info[1].diagonal);
  p->lever = info[1].diagonal / 3.0;
  if ((status = create_pairs(p, softness)) || (status = abut_get_layout(p->pair, &layout)) ||
      (status = find_centre(p->bodies[1], &info[1], p->centre))) {
    return status;
  }
  p->edges = layout.edge_offset[0];
  return put_above(p, &info[0], &info[1]);
}

/* ---- what pulls ---- */

double placing_height(const placing *p, const double pose[7])
{
  double at[3];
  find_centre_at(p, pose, at);
  return at[2];
}

void placing_drift(const placing *p, const double pose[7], double drift[2])
{
  double at[3];
  find_centre_at(p, pose, at);
  drift[0] = at[0] - p->above[0];
  drift[1] = at[1] - p->above[1];
}

/* In the body's own frame a unit force at the centre is the axis, and its moment centre x axis. */
void placing_centre_slope(const placing *p, const double pose[7], int axis, double slope[6])
{
  const double unit[3] = {axis == 0, axis == 1, axis == 2}, *c = p->centre;
  turn(pose + 3, -1.0, unit, slope);
  slope[3] = c[1] * slope[2] - c[2] * slope[1];
  slope[4] = c[2] * slope[0] - c[0] * slope[2];
  slope[5] = c[0] * slope[1] - c[1] * slope[0];
}

double placing_length(const placing *p, const double step[6])
{
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) {
    sum += i < 3 ? step[i] * step[i] : p->lever * p->lever * step[i] * step[i];
  }
  return sqrt(sum);
}

/* ---- the check ---- */

enum { SLIDES = 4, CONTACTS_LEAST = 3 };

#define ACTIVITY_LEAST 0.25  /* of a contact that counts */
#define DEPTH_MOST 0.003     /* of the size: between vertices surfaces may meet a little early */
#define UNBALANCED_MOST 0.05 /* of the weight */
#define ASIDE_MOST 0.5       /* of the weight: what friction can hold */

typedef struct samples {
  size_t count;
  double *points, *distance, *normal; /* (count, 3), (count), (count, 3) */
} samples;

static void drop_samples(samples *s)
{
  free(s->points);
  free(s->distance);
  free(s->normal);
}

/* Vertices and middles of edges, in the body's own frame. */
static abut_status take_samples(abut_body body, samples *s)
{
  abut_body_info info;
  abut_status status = abut_get_body_info(body, &info);
  if (status) {
    return status;
  }
  s->count = info.vertices + info.edges;
  s->points = calloc(s->count, 3 * sizeof *s->points);
  s->distance = calloc(s->count, sizeof *s->distance);
  s->normal = calloc(s->count, 3 * sizeof *s->normal);
  uint32_t *edges = calloc(info.edges + 1, 2 * sizeof *edges);
  status = s->points && s->distance && s->normal && edges
             ? abut_get_body_mesh(body, s->points, edges)
             : ABUT_ERROR_MEMORY;
  for (size_t i = 0; !status && i < 3 * info.edges; ++i) {
    s->points[3 * info.vertices + i] =
      0.5 * (s->points[3 * edges[i / 3 * 2] + i % 3] + s->points[3 * edges[i / 3 * 2 + 1] + i % 3]);
  }
  free(edges);
  return status;
}

static abut_status evaluate(const placing *p, int body, samples *s)
{
  return abut_evaluate_body(p->bodies[body], p->smoothing.union_, p->smoothing.plane, s->count,
                            s->points, s->distance, s->normal);
}

/* Middles of edges lie off the surface where it is round: down or up to it. */
static abut_status slide_to_surface(const placing *p, int body, samples *s)
{
  abut_status status = ABUT_SUCCESS;
  for (int k = 0; !status && k < SLIDES; ++k) {
    status = evaluate(p, body, s);
    for (size_t i = 0; !status && i < 3 * s->count; ++i) {
      s->points[i] -= s->distance[i / 3] * s->normal[i];
    }
  }
  return status;
}

static void move_samples(const double own[7], const double other[7], samples *s)
{
  for (size_t i = 0; i < s->count; ++i) {
    double world[3];
    turn(own + 3, 1.0, s->points + 3 * i, world);
    for (int k = 0; k < 3; ++k) {
      world[k] += own[k] - other[k];
    }
    turn(other + 3, -1.0, world, s->points + 3 * i);
  }
}

static abut_status depth_of(const placing *p, int body, double *depth)
{
  samples s = {0};
  abut_status status = take_samples(p->bodies[body], &s);
  status = status ? status : slide_to_surface(p, body, &s);
  if (!status) {
    move_samples(p->pose[body], p->pose[1 - body], &s);
    status = evaluate(p, 1 - body, &s);
  }
  for (size_t i = 0; !status && i < s.count; ++i) {
    *depth = fmax(*depth, -s.distance[i]);
  }
  drop_samples(&s);
  return status;
}

static abut_status count_contacts(const placing *p, size_t *count)
{
  abut_compact list = {.threshold = ACTIVITY_LEAST, .grows = true};
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = p->pose[0];
  batch.pose2 = p->pose[1];
  batch.compact = &list;
  const abut_status status = abut_contacts(p->fitted, &batch);
  *count = list.count;
  abut_free_compact(&list);
  return status;
}

/* Forces and moments together, a moment as the force at the lever's end. */
static double force_length(const placing *p, const double gradient[6])
{
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) {
    const double force = i < 3 ? gradient[i] : gradient[i] / p->lever;
    sum += force * force;
  }
  return sqrt(sum);
}

abut_status placing_judge(const placing *p, const double gradient[6], bool *placed)
{
  double depth = -HUGE_VAL, drift[2];
  size_t contacts = 0;
  abut_status status;
  if ((status = depth_of(p, 0, &depth)) || (status = depth_of(p, 1, &depth)) ||
      (status = count_contacts(p, &contacts))) {
    return status;
  }
  placing_drift(p, p->pose[1], drift);
  const double unbalanced = force_length(p, gradient);
  const double aside = hypot(drift[0], drift[1]) / (PLACING_TETHER * p->size);
  *placed = contacts >= CONTACTS_LEAST && unbalanced < UNBALANCED_MOST && aside < ASIDE_MOST &&
            depth < DEPTH_MOST * p->size;
  printf("%s: %zu contacts of activity %g, forces unbalanced by %.0e of the weight, held aside by "
         "%.2f of it\n",
         *placed ? "placed" : "not placed", contacts, ACTIVITY_LEAST, unbalanced, aside);
  printf("surfaces sampled in the other's field: %.5f m %s (%.5f m may pass)\n", fabs(depth),
         depth > 0.0 ? "deep" : "apart", DEPTH_MOST * p->size);
  return ABUT_SUCCESS;
}

abut_status placing_save(const placing *p, const char *out, const char *name)
{
  char path[4096];
  const abut_array arrays[2] = {{"pose1", ABUT_ARRAY_FLOAT64, 2, {1, 7}, p->pose[0]},
                                {"pose2", ABUT_ARRAY_FLOAT64, 2, {1, 7}, p->pose[1]}};
  snprintf(path, sizeof path, "%s-%s.npz", out, name);
  return abut_write_npz(path, arrays, 2);
}
