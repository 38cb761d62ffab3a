#include "geometry/layout.h"
#include "manifold/forward.h"

/* reals and ints a pose, before they become bytes */
typedef struct sizes {
  size_t real[SCRATCH_BUFFERS];
  size_t integer[SCRATCH_BUFFERS];
} sizes;

/* Planes of the opposing field at a body's vertices: normals only where they are asked for. */
static size_t field_planes(const forward_run *r)
{
  return r->wanted.arrays & WANT_N ? 4 : 1;
}

static void selection_sizes(const forward_run *r, int side, uint32_t lanes, sizes *s)
{
  const pair *p = r->pair;
  const size_t vertices = p->layout.vertices[side], edges = p->layout.edges[side];
  size_t scores = s->real[SCRATCH_SCORES];
  if (p->selected_vertices[side]) {
    const size_t slots = padded(vertices, lanes);
    const size_t top = vertices + 1 > s->real[SCRATCH_VERTEX_TOP] ? vertices + 1
                                                                 : s->real[SCRATCH_VERTEX_TOP];
    const size_t weights = slots > s->real[SCRATCH_VERTEX_WEIGHTS]
                             ? slots : s->real[SCRATCH_VERTEX_WEIGHTS];
    s->integer[SCRATCH_VERTEX_INDEX_1 + side] = vertices + 1;
    s->real[SCRATCH_VERTEX_TOP] = top;
    s->real[SCRATCH_VERTEX_WEIGHTS] = weights;
    s->real[SCRATCH_KEPT_VERTICES] = 3 * weights;
    s->real[SCRATCH_KEPT_FIELD] = field_planes(r) * weights;
    scores = scores > r->bodies[side]->vertex_padded ? scores : r->bodies[side]->vertex_padded;
  }
  if (p->selected_edges[side]) {
    const size_t slots = padded(edges, lanes);
    s->integer[SCRATCH_EDGE_INDEX_1 + side] = edges + 1;
    s->real[SCRATCH_EDGE_TOP] = edges + 1 > s->real[SCRATCH_EDGE_TOP] ? edges + 1
                                                                     : s->real[SCRATCH_EDGE_TOP];
    s->real[SCRATCH_ENDS_1 + side] = 6 * slots;
    s->real[SCRATCH_EDGE_WEIGHTS_1 + side] = slots;
    scores = scores > r->bodies[side]->edge_padded ? scores : r->bodies[side]->edge_padded;
  }
  s->real[SCRATCH_SCORES] = scores;
}

static void edge_sizes(const forward_run *r, uint32_t lanes, sizes *s)
{
  const size_t pairs = r->pair->layout.edges[0] * r->pair->layout.edges[1];
  if (!pairs) {
    return;
  }
  const size_t slots = padded(pairs, lanes);
  s->real[SCRATCH_WITNESS] = WITNESS_PLANES * slots;
  s->real[SCRATCH_OWN_1] = s->real[SCRATCH_OWN_2] = 4 * slots;
  s->real[SCRATCH_OPPOSING_1] = s->real[SCRATCH_OPPOSING_2] = slots;
  s->real[SCRATCH_FACTORS] = 3 * slots;
}

static void output_sizes(const forward_run *r, sizes *s)
{
  const size_t contacts = r->pair->layout.contacts;
  s->real[SCRATCH_P] = r->wanted.arrays & WANT_P ? 3 * contacts : 0;
  s->real[SCRATCH_D] = r->wanted.arrays & WANT_D ? contacts : 0;
  s->real[SCRATCH_N] = r->wanted.arrays & WANT_N ? 3 * contacts : 0;
  s->real[SCRATCH_ACTIVITY] = r->wanted.arrays & WANT_ACTIVITY ? contacts : 0;
  if (r->wanted.reduced) {
    s->real[SCRATCH_REDUCED] = REDUCED_REALS;
  }
  if (r->wanted.compact) {
    s->integer[SCRATCH_COUNTS] = 1;
    s->integer[SCRATCH_OFFSETS] = 2; /* one more than poses, for any chunk */
    s->integer[SCRATCH_LIST] = contacts * COMPACT_INTS;
    s->real[SCRATCH_VALUES] = contacts * COMPACT_REALS;
  }
}

void scratch_bytes(const forward_run *r, size_t bytes[SCRATCH_BUFFERS])
{
  const uint32_t lanes = device_lanes(r->device);
  const size_t real = device_real_bytes(r->device);
  sizes s = {{0}, {0}};
  s.real[SCRATCH_POSE_1] = s.real[SCRATCH_POSE_2] = (size_t)r->pose_width;
  s.real[SCRATCH_FRAMES] = FRAME_STRIDE;
  s.integer[SCRATCH_STATUS] = 1;
  for (int side = 0; side < 2; ++side) {
    s.real[SCRATCH_FIELD_1 + side] = field_planes(r) * r->bodies[side]->vertex_padded;
    selection_sizes(r, side, lanes, &s);
  }
  edge_sizes(r, lanes, &s);
  output_sizes(r, &s);
  for (int i = 0; i < SCRATCH_BUFFERS; ++i) {
    bytes[i] = s.real[i] * real + s.integer[i] * sizeof(int);
  }
}

abut_status prepare_scratch(const forward_run *r, size_t poses)
{
  size_t bytes[SCRATCH_BUFFERS];
  scratch_bytes(r, bytes);
  for (int i = 0; i < SCRATCH_BUFFERS; ++i) {
    buffer **b = &r->pair->scratch[i];
    const size_t needed = bytes[i] * poses;
    if (!needed || (*b && buffer_bytes(*b) >= needed)) {
      continue;
    }
    buffer_destroy(*b);
    *b = NULL;
    const abut_status status = buffer_create(r->device, needed, b);
    if (status != ABUT_SUCCESS) {
      return status;
    }
  }
  return ABUT_SUCCESS;
}
