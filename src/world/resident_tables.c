/* The tables of a scene on a device. */
#include "base/reals.h"
#include "world/broad.h"
#include "world/law/law.h"
#include "world/loaded.h"
#include "world/seams.h"
#include "world/sweep.h"
#include <stdlib.h>
#include <string.h>

#define BODY_POSE 7 /* position, quaternion */
#define TOLERANCE_DOUBLE 1e-10
#define TOLERANCE_FLOAT 1e-5

abut_status upload_reals(device *d, const double *from, size_t count, buffer **out)
{
  reals r;
  TRY(reals_create(&r, count + 1, device_real_bytes(d)));
  for (size_t i = 0; i < count; ++i) {
    reals_set(&r, i, from[i]);
  }
  const abut_status status = buffer_upload(d, (count + 1) * r.size, r.data, out);
  free(r.data);
  return status;
}

static abut_status upload_bodies(const loaded_scene *s, device *d, buffer **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, 2 * s->group_count + 1, BODY_POSE * sizeof(double)));
  double *to = memory;
  for (size_t i = 0; i < 2 * s->group_count; ++i, to += BODY_POSE) {
    const scene_pair *p = &s->def.pairs[s->groups[i / 2].pair];
    const int side = (int)(i % 2);
    if (s->seams && s->parts[i / 2].tile == PART_BRIDGE && s->parts[i / 2].side == side) {
      memcpy(to, s->seams->all[s->parts[i / 2].seam].place, BODY_POSE * sizeof *to);
    } else if (p->link[side] != WORLD) {
      const scene_body *b = scene_side(&s->def, p, side);
      memcpy(to, b->position, sizeof b->position);
      memcpy(to + 3, b->quaternion, sizeof b->quaternion);
    }
  }
  const abut_status status = upload_reals(d, memory, 2 * s->group_count * BODY_POSE, out);
  free(memory);
  return status;
}

/* Uploads the groups ordered by type. If they are not the scene's own, or have no types, they keep
 * their order. */
static abut_status upload_order(const loaded_scene *s, device *d, const contact_group *groups,
                                size_t count, buffer **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, count + 1, sizeof(int)));
  int *order = memory;
  for (size_t i = 0; i < count; ++i) {
    order[i] = groups == s->groups && s->pair_type_count ? s->pair_order[i] : (int)i;
  }
  const abut_status status = buffer_upload(d, (count + 1) * sizeof(int), order, out);
  free(memory);
  return status;
}

void resident_free_tables(resident_tables *r)
{
  buffer_destroy(r->order);
  broad_free(r->broad);
  buffer_destroy(r->springs.heads);
  buffer_destroy(r->springs.shapes);
  buffer_destroy(r->springs.pairs);
  buffer_destroy(r->head);
  buffer_destroy(r->ints);
  buffer_destroy(r->reals);
  buffer_destroy(r->parameters);
  buffer_destroy(r->bodies);
  sweep_free(r->sweep);
  memset(r, 0, sizeof *r);
}

abut_status resident_make(const loaded_scene *s, device *d, const contact_group *groups,
                          size_t count, resident_tables *out)
{
  scene_tables m;
  const double usual = device_real_bytes(d) == sizeof(double) ? TOLERANCE_DOUBLE : TOLERANCE_FLOAT;
  const double tolerance = s->def.tolerance > 0.0 ? s->def.tolerance : usual;
  memset(out, 0, sizeof *out);
  TRY(tables_make(&s->def, &s->constants, groups, count, device_lanes(d), tolerance, &m));
  abut_status status = ABUT_SUCCESS;
  out->sizes = m.sizes;
  TRY_DONE(buffer_upload(d, sizeof m.sizes, &m.sizes, &out->head));
  TRY_DONE(buffer_upload(d, m.int_count * sizeof(int), m.ints, &out->ints));
  TRY_DONE(upload_reals(d, m.reals, m.real_count, &out->reals));
  TRY_DONE(upload_reals(d, m.parameters, m.parameter_count, &out->parameters));
  TRY_DONE(upload_bodies(s, d, &out->bodies));
  TRY_DONE(upload_order(s, d, groups, count, &out->order));
  TRY_DONE(s->def.law->upload ? s->def.law->upload(s, d, out) : ABUT_SUCCESS);
  TRY_DONE(groups == s->groups ? broad_upload(s, d, &out->broad) : ABUT_SUCCESS);
  TRY_DONE(s->meshes ? sweep_upload(s, d, &out->sweep) : ABUT_SUCCESS);
done:
  tables_free(&m);
  if (status != ABUT_SUCCESS) {
    resident_free_tables(out);
  }
  return status;
}

abut_status scene_on(loaded_scene *s, size_t place, const resident_tables **out)
{
  if (!s->on[place]) {
    void *memory = NULL;
    TRY(allocate(&memory, 1, sizeof(resident_tables)));
    const abut_status status =
      resident_make(s, s->context->members[place].device, s->groups, s->group_count, memory);
    if (status != ABUT_SUCCESS) {
      free(memory);
      return status;
    }
    s->on[place] = memory;
  }
  *out = s->on[place];
  return ABUT_SUCCESS;
}
