/* A body on a device: its mesh and primitives as kernels read them. */
#include "base/error.h"
#include "base/reals.h"
#include "body/body.h"
#include "body/touching.h"
#include "geometry/layout.h"
#include <math.h>
#include <stdlib.h>

/* Frees a buffer and clears the pointer. */
static void take_off(buffer **b)
{
  buffer_destroy(*b);
  *b = NULL;
}

/* Frees everything that was uploaded. */
static void take_away(resident_body *r)
{
  buffer **const all[] = {&r->vertex_planes, &r->sorted_planes, &r->order,       &r->rank,
                          &r->edge_index,    &r->edge_ends,     &r->edge_starts, &r->edges_at,
                          &r->vertex_balls,  &r->longest_edges, &r->radii,       &r->rails};
  if (r->borrows) {
    r->head = r->shape = NULL;
  }
  take_off(&r->head);
  take_off(&r->shape);
  if (r->names == r->order) {
    r->names = NULL;
  }
  take_off(&r->names);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    take_off(all[i]);
  }
  r->there = false;
}

void resident_body_free(resident_body *r)
{
  if (r) {
    take_away(r);
    free(r);
  }
}

/* Uploads vertices as planes in an order (NULL: the mesh's). Padding repeats the last one. */
static abut_status upload_vertices(const body *b, const resident_body *r, const uint32_t *order,
                                   buffer **out)
{
  const size_t count = b->info.vertices, padding = r->vertex_padded;
  reals planes;
  TRY(reals_create(&planes, POINT_PLANES * padding, device_real_bytes(r->device)));
  for (size_t i = 0; i < padding; ++i) {
    const size_t at = i < count ? i : count - 1;
    const size_t from = order ? order[at] : at;
    for (size_t k = 0; k < 3; ++k) {
      reals_set(&planes, k * padding + i, b->vertices[3 * from + k]);
    }
  }
  const abut_status status = buffer_upload(r->device, planes.count * planes.size, planes.data, out);
  free(planes.data);
  return status;
}

/* Finds a sphere around a run of sorted vertices, centred at the middle of their box. */
static void ball_around(const body *b, const uint32_t *order, size_t first, size_t end,
                        double ball[VERTEX_BALL_PLANES])
{
  double radius = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = first; i < end; ++i) {
      low = fmin(low, b->vertices[3 * (size_t)order[i] + k]);
      high = fmax(high, b->vertices[3 * (size_t)order[i] + k]);
    }
    ball[k] = 0.5 * (low + high);
  }
  for (size_t i = first; i < end; ++i) {
    const double *v = b->vertices + 3 * (size_t)order[i];
    radius = fmax(radius, hypot(hypot(v[0] - ball[0], v[1] - ball[1]), v[2] - ball[2]));
  }
  const double size = fabs(ball[0]) + fabs(ball[1]) + fabs(ball[2]);
  ball[3] = radius + 1e-6 * (radius + size); /* more than the rounding error in either precision */
}

static abut_status upload_balls(const body *b, resident_body *r, const uint32_t *order)
{
  const size_t count = b->info.vertices;
  reals planes;
  TRY(reals_create(&planes, VERTEX_BALL_PLANES * r->ball_padded, device_real_bytes(r->device)));
  for (size_t i = 0; i < r->balls; ++i) {
    const size_t first = i * BALL_VERTICES;
    double ball[VERTEX_BALL_PLANES];
    ball_around(b, order, first, first + BALL_VERTICES < count ? first + BALL_VERTICES : count,
                ball);
    for (size_t k = 0; k < VERTEX_BALL_PLANES; ++k) {
      reals_set(&planes, k * r->ball_padded + i, ball[k]);
    }
  }
  const abut_status status =
    buffer_upload(r->device, planes.count * planes.size, planes.data, &r->vertex_balls);
  free(planes.data);
  return status;
}

static double edge_length(const body *b, size_t edge)
{
  const double *from = b->vertices + 3 * (size_t)b->edges[2 * edge];
  const double *to = b->vertices + 3 * (size_t)b->edges[2 * edge + 1];
  return hypot(hypot(to[0] - from[0], to[1] - from[1]), to[2] - from[2]);
}

/* Uploads the longest edge at each sorted vertex, and finds the overall longest and mean length.
 * rank: indices in the sorted order. Lengths are rounded up by more than the rounding error of
 * either precision. Padding repeats the last vertex. */
static abut_status upload_lengths(const body *b, resident_body *r, const uint32_t *rank)
{
  const size_t count = b->info.vertices;
  reals row;
  void *memory = NULL;
  TRY(allocate(&memory, r->vertex_padded, sizeof(double)));
  double *longest = memory;
  r->longest_edge = r->mean_edge = 0.0;
  for (size_t i = 0; i < b->info.edges; ++i) {
    const double length = (1.0 + 1e-6) * edge_length(b, i);
    for (size_t k = 0; k < 2; ++k) {
      double *at = &longest[rank[b->edges[2 * i + k]]];
      *at = fmax(*at, length);
    }
    r->longest_edge = fmax(r->longest_edge, length);
    r->mean_edge += length / (double)b->info.edges;
  }
  abut_status status = reals_create(&row, r->vertex_padded, device_real_bytes(r->device));
  if (status == ABUT_SUCCESS) {
    for (size_t i = 0; i < r->vertex_padded; ++i) {
      reals_set(&row, i, longest[i < count ? i : count - 1]);
    }
    status = buffer_upload(r->device, row.count * row.size, row.data, &r->longest_edges);
    free(row.data);
  }
  free(memory);
  return status;
}

static abut_status upload_edge_ends(const body *b, resident_body *r)
{
  const size_t count = b->info.edges, padding = r->edge_padded;
  reals ends;
  TRY(reals_create(&ends, ENDS_PLANES * padding, device_real_bytes(r->device)));
  for (size_t i = 0; count && i < padding; ++i) {
    const size_t from = i < count ? i : count - 1;
    for (size_t k = 0; k < ENDS_PLANES; ++k) {
      const size_t vertex = b->edges[2 * from + k / 3];
      reals_set(&ends, k * padding + i, b->vertices[3 * vertex + k % 3]);
    }
  }
  const abut_status status =
    buffer_upload(r->device, ends.count * ends.size, ends.data, &r->edge_ends);
  free(ends.data);
  return status;
}

/* Uploads edges as two planes of `edge_padded`. edges: by indices in the sorted order. */
static abut_status upload_edge_index(const body *b, resident_body *r, const uint32_t *edges)
{
  const size_t count = b->info.edges, padding = r->edge_padded;
  void *memory = NULL;
  TRY(allocate(&memory, 2 * padding, sizeof(uint32_t)));
  uint32_t *planes = memory;
  for (size_t i = 0; count && i < padding; ++i) {
    const size_t from = i < count ? i : count - 1;
    planes[i] = edges[2 * from];
    planes[padding + i] = edges[2 * from + 1];
  }
  const abut_status status =
    buffer_upload(r->device, 2 * padding * sizeof *planes, planes, &r->edge_index);
  free(memory);
  return status;
}

/* Uploads the indices of a part's sorted vertices in the mesh of the whole. */
static abut_status upload_names(const body *b, resident_body *r, const uint32_t *order)
{
  void *memory = NULL;
  if (!b->names) {
    r->names = r->order;
    return ABUT_SUCCESS;
  }
  TRY(allocate(&memory, b->info.vertices, sizeof *b->names));
  uint32_t *names = memory;
  for (size_t i = 0; i < b->info.vertices; ++i) {
    names[i] = b->names[order[i]];
  }
  const abut_status status =
    buffer_upload(r->device, b->info.vertices * sizeof *names, names, &r->names);
  free(memory);
  return status;
}

/* Uploads the sorted order, its inverse, and the edges by indices in the sorted order. */
static abut_status upload_order(const body *b, resident_body *r, uint32_t *order, uint32_t *rank,
                                uint32_t *edges)
{
  const size_t count = b->info.vertices;
  for (size_t i = 0; i < count; ++i) {
    rank[order[i]] = (uint32_t)i;
  }
  for (size_t i = 0; i < 2 * b->info.edges; ++i) {
    edges[i] = rank[b->edges[i]];
  }
  TRY(buffer_upload(r->device, count * sizeof(uint32_t), order, &r->order));
  TRY(buffer_upload(r->device, count * sizeof(uint32_t), rank, &r->rank));
  return upload_edge_index(b, r, edges);
}

/* Uploads the edges at each sorted vertex, by a counting sort. An edge with two equal ends is
 * listed twice. edges: by indices in the sorted order. */
static abut_status upload_incidence(const body *b, resident_body *r, const uint32_t *edges)
{
  const size_t vertices = b->info.vertices, ends = 2 * b->info.edges;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *list = NULL;
  TRY_DONE(allocate(&memory, vertices + 2, sizeof(uint32_t)));
  TRY_DONE(allocate(&list, ends, sizeof(uint32_t)));
  uint32_t *starts = memory, *at = list;
  for (size_t i = 0; i < ends; ++i) {
    ++starts[edges[i] + 2];
  }
  for (size_t i = 2; i < vertices + 2; ++i) {
    starts[i] += starts[i - 1];
  }
  for (size_t i = 0; i < ends; ++i) { /* starts[v + 1] moves to the end of v's edges */
    at[starts[edges[i] + 1]++] = (uint32_t)(i / 2);
  }
  TRY_DONE(buffer_upload(r->device, (vertices + 1) * sizeof(uint32_t), starts, &r->edge_starts));
  TRY_DONE(buffer_upload(r->device, ends * sizeof(uint32_t), at, &r->edges_at));
done:
  free(memory);
  free(list);
  return status;
}

/* Sorts the vertices that may be in contact, followed by the others. */
static void sort_vertices(const body *b, uint32_t lanes, uint32_t *order)
{
  sort_in_space(b->vertices, b->held, lanes, order);
  sort_in_space(b->vertices + 3 * b->held, b->info.vertices - b->held, lanes, order + b->held);
  for (size_t i = b->held; i < b->info.vertices; ++i) {
    order[i] += (uint32_t)b->held;
  }
}

static abut_status upload_mesh(const body *b, resident_body *r)
{
  abut_status status = ABUT_SUCCESS;
  const uint32_t lanes = device_lanes(r->device);
  void *order = NULL, *rank = NULL, *edges = NULL;
  TRY_DONE(allocate(&order, b->info.vertices, sizeof(uint32_t)));
  TRY_DONE(allocate(&rank, b->info.vertices, sizeof(uint32_t)));
  TRY_DONE(allocate(&edges, b->info.edges, 2 * sizeof(uint32_t)));
  sort_vertices(b, lanes, order);
  TRY_DONE(upload_vertices(b, r, NULL, &r->vertex_planes));
  TRY_DONE(upload_vertices(b, r, order, &r->sorted_planes));
  TRY_DONE(upload_order(b, r, order, rank, edges));
  TRY_DONE(upload_names(b, r, order));
  TRY_DONE(upload_balls(b, r, order));
  TRY_DONE(upload_lengths(b, r, rank));
  TRY_DONE(upload_incidence(b, r, edges));
  TRY_DONE(upload_edge_ends(b, r));
  if (b->touches) {
    TRY_DONE(upload_touching(b, order, r));
  }
done:
  free(order);
  free(rank);
  free(edges);
  return status;
}

/* A part's primitives are uploaded with the whole, which context_on_each has handled before. */
static abut_status upload_field(const body *b, size_t place, resident_body *r)
{
  if (b->whole) {
    const resident_body *there;
    TRY(body_on(b->whole, place, &there));
    r->borrows = true;
    r->head = there->head;
    r->shape = there->shape;
    return ABUT_SUCCESS;
  }
  TRY(buffer_upload(r->device, b->head_count * sizeof(int), b->head, &r->head));
  return buffer_lend(r->device, b->shape.count * b->shape.size, b->shape.data, &r->shape);
}

static void measure(const body *b, resident_body *r)
{
  const uint32_t lanes = device_lanes(r->device);
  r->vertex_padded = padded(b->info.vertices, lanes);
  r->held = b->held;
  r->edge_padded = padded(b->info.edges, lanes);
  r->balls = (b->info.vertices + BALL_VERTICES - 1) / BALL_VERTICES;
  r->ball_padded = padded(r->balls, lanes);
  if (b->touches) {
    measure_touching(b, r);
  }
}

/* Returns the body's record on a member, with at least its sizes. */
static abut_status sized_on(body *b, size_t place, resident_body **out)
{
  if (!b->on[place]) {
    void *memory = NULL;
    TRY(allocate(&memory, 1, sizeof(resident_body)));
    resident_body *r = memory;
    r->info = &b->info;
    r->device = b->context->members[place].device;
    measure(b, r);
    b->on[place] = r;
  }
  *out = b->on[place];
  return ABUT_SUCCESS;
}

abut_status body_sized_on(body *b, size_t place, const resident_body **out)
{
  resident_body *r;
  TRY(sized_on(b, place, &r));
  *out = r;
  return ABUT_SUCCESS;
}

abut_status body_on(body *b, size_t place, const resident_body **out)
{
  abut_status status = ABUT_SUCCESS;
  resident_body *r;
  TRY(sized_on(b, place, &r));
  *out = r;
  if (r->there) {
    return ABUT_SUCCESS;
  }
  TRY_DONE(upload_field(b, place, r));
  TRY_DONE(upload_mesh(b, r));
  r->there = true;
done:
  if (status != ABUT_SUCCESS) {
    take_away(r);
  }
  return status;
}
