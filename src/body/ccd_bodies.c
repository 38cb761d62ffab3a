#include "body/ccd_bodies.h"

#include "base/error.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* reciprocal share of a device's scratch for the work-items of a slot */
#define SCRATCH_SHARE 4
/* work-items per CPU core that share rows: enough for balance */
#define WORKERS_OF_CORE 32
#define WORKERS_MOST ((size_t)1 << 14)

/* ---- scratch ---- */

ccd_room ccd_room_of(const ccd_mesh *one, const ccd_mesh *two)
{
  const abut_ccd_mesh_info *m = &two->info;
  const size_t most = m->vertices > m->triangles ? m->vertices : m->triangles,
               all = most > m->edges ? most : m->edges;
  return (ccd_room){one->info.vertices + m->vertices, CCD_GROUPS(all) * CCD_GROUP};
}

static size_t reals_each(const ccd_room *r)
{
  return CCD_SCRATCH_REALS(r->vertices, r->plane);
}

abut_status ccd_check_room(const ccd_room *r)
{
  return reals_each(r) > INT_MAX
           ? fail(ABUT_ERROR_ARGUMENT, "the meshes have too many vertices and features")
           : ABUT_SUCCESS;
}

static size_t workers_of(const device *d, const ccd_room *r, size_t count)
{
  const abut_device_info *info = device_info(d);
  const size_t bytes =
    reals_each(r) * device_real_bytes(d) + CCD_SCRATCH_INTS(r->plane) * sizeof(int);
  const size_t room = (size_t)device_scratch_bytes(d, MODULE_CCD) / (SCRATCH_SHARE * bytes);
  const size_t wanted =
    device_on_host_memory(d) || info->type == ABUT_DEVICE_HOST
      ? WORKERS_OF_CORE * (size_t)(info->compute_units ? info->compute_units : 1)
      : WORKERS_MOST;
  const size_t most = room < wanted ? room : wanted, used = most < count ? most : count;
  return used ? used : 1;
}

abut_status ccd_scratch_make(device *d, const ccd_room *room, size_t count, ccd_scratch *out)
{
  *out = (ccd_scratch){.room = *room, .workers = workers_of(d, room, count)};
  TRY(buffer_create(d, out->workers * reals_each(room) * device_real_bytes(d), &out->reals));
  return buffer_create(d, out->workers * CCD_SCRATCH_INTS(room->plane) * sizeof(int), &out->ints);
}

void ccd_scratch_free(ccd_scratch *s)
{
  buffer_destroy(s->reals);
  buffer_destroy(s->ints);
  memset(s, 0, sizeof *s);
}

/* ---- rows ---- */

abut_status ccd_numbers_upload(device *d, const double *numbers, size_t count, buffer **out)
{
  reals packed = {0};
  TRY(reals_create(&packed, count, device_real_bytes(d)));
  for (size_t i = 0; i < count; ++i) {
    reals_set(&packed, i, numbers[i]);
  }
  const abut_status status = buffer_upload(d, packed.count * packed.size, packed.data, out);
  free(packed.data);
  return status;
}

abut_status ccd_settings_upload(device *d, const ccd_settings *s, buffer **out)
{
  const double all[CCD_BODIES_SETTINGS] = {s->separation,        s->keep,         s->tolerance,
                                           s->exact ? 1.0 : 0.0, s->centre[0][0], s->centre[0][1],
                                           s->centre[0][2],      s->centre[1][0], s->centre[1][1],
                                           s->centre[1][2]};
  return ccd_numbers_upload(d, all, CCD_BODIES_SETTINGS, out);
}

abut_status ccd_launch(device *d, const ccd_rows *r, const ccd_scratch *s)
{
  const size_t workers = s->workers < r->count ? s->workers : r->count;
  return LAUNCH(d, KERNEL_CCD_BODIES, workers, 1, CCD_PATHS(r), ARG_INT(workers),
                ARG_INT(r->iterations), ARG_BUFFER(s->reals), ARG_INT(reals_each(&s->room)),
                ARG_BUFFER(s->ints), ARG_INT(CCD_SCRATCH_INTS(s->room.plane)),
                ARG_INT(s->room.plane), ARG_BUFFER(r->toi), ARG_BUFFER(r->status),
                ARG_BUFFER(r->kind), ARG_BUFFER(r->feature[0]), ARG_BUFFER(r->feature[1]),
                ARG_BUFFER(r->p[0]), ARG_BUFFER(r->p[1]), ARG_BUFFER(r->n),
                ARG_BUFFER(r->candidates), ARG_BUFFER(r->places));
}
