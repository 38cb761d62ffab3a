#include "contact/pair_head.h"

#include "base/memory.h"
#include "contact/smoothing.h"
#include <stdlib.h>
#include <string.h>

static pair_elements elements_of(size_t count, size_t kept, bool selected, bool gated,
                                 size_t contact, uint32_t lanes)
{
  const size_t all = padded(count, lanes), slots = padded(kept, lanes);
  return (pair_elements){.count = (int)count,
                         .padded = (int)all,
                         .kept = (int)kept,
                         .slots = (int)slots,
                         .plane = (int)(selected ? slots : all),
                         .selected = selected,
                         .weighted = selected && gated,
                         .contact = (int)contact};
}

pair_sizes pair_sizes_of(const pair *p, const resident_body *const bodies[2], uint32_t lanes)
{
  const abut_layout *l = &p->layout;
  const bool in_fields = is_in_fields(p);
  const size_t pairs = in_fields ? 0 : l->edges[0] * l->edges[1], slots = padded(pairs, lanes);
  const bool gated = p->smoothing.select == ABUT_SELECT_GATE;
  pair_sizes n = {.contacts = (int)l->contacts,
                  .pairs = (int)pairs,
                  .pair_slots = (int)slots,
                  .gated = gated,
                  .in_fields = in_fields,
                  .listed = l->edge_slots[0] + l->edge_slots[1] ? LISTED_PAIRS : 0};
  for (int side = 0; side < 2; ++side) {
    const abut_body_info *info = bodies[side]->info;
    n.balls[side] = (int)bodies[side]->balls;
    n.ball_slots[side] = (int)bodies[side]->ball_padded;
    n.listed |= l->vertices[side] ? LISTED_VERTICES_1 << side : 0;
    n.elements[VERTICES_OF(side)] = elements_of(info->vertices, l->vertices[side],
                                                p->selected_vertices[side], gated,
                                                l->vertex_offset[side], lanes);
    n.elements[EDGES_OF(side)] = elements_of(info->edges, l->edges[side], p->selected_edges[side],
                                             gated, l->edge_offset[side], lanes);
    n.elements[VERTICES_OF(side)].held = (int)bodies[side]->held;
    n.elements[VERTICES_OF(side)].radii = bodies[side]->rounds;
    n.elements[EDGES_OF(side)].arcs = bodies[side]->circles ? 2 : bodies[side]->arcs;
    n.elements[EDGES_OF(side)].of_distance = bodies[!side]->info->grids > 0;
  }
  n.near_plane = (int)(slots + lanes); /* rows begin anywhere; blocks may extend beyond */
  n.near_stride = (int)near_stride_of(&n, lanes);
  return n;
}

/* A pose has planes of pairs, followed by body 2's ends in body 1's frame. Blocks of lanes may
 * extend beyond these, too. */
size_t near_stride_of(const pair_sizes *n, uint32_t lanes)
{
  return NEAR_PLANES * (size_t)n->near_plane +
         ENDS_PLANES * (size_t)n->elements[EDGES_OF(1)].plane + lanes;
}

abut_status upload_head(device *d, const abut_smoothing *s, const double reals_[PAIR_REALS],
                        const pair_sizes *n, const double *zones, buffer **out)
{
  const size_t count = ZONE_REALS * (size_t)(n->zones[0] + n->zones[1]);
  reals r, of_zones = {.data = NULL};
  void *all = NULL;
  TRY(coefficients_of(s, device_real_bytes(d), PAIR_REALS, &r));
  for (size_t i = 0; i < PAIR_REALS; ++i) {
    reals_set(&r, r.count - PAIR_REALS + i, reals_[i]);
  }
  const size_t bytes = r.count * r.size;
  /* the kernels' sizeof(pair_head) */
  const size_t head = (bytes + sizeof *n + r.size - 1) / r.size * r.size;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(reals_create(&of_zones, count, r.size));
  for (size_t i = 0; i < count; ++i) {
    reals_set(&of_zones, i, zones[i]);
  }
  TRY_DONE(allocate(&all, 1, head + count * r.size));
  memcpy(all, r.data, bytes);
  memcpy((char *)all + bytes, n, sizeof *n);
  if (count) {
    memcpy((char *)all + head, of_zones.data, count * r.size);
  }
  status = buffer_upload(d, head + count * r.size, all, out);
done:
  free(all);
  free(of_zones.data);
  free(r.data);
  return status;
}
