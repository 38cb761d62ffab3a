#include "world/sweep.h"

#include "base/error.h"
#include "base/memory.h"
#include "world/law/law.h"
#include <stdlib.h>

/* ---- a call ---- */

bool sweeps(const steps_call *c)
{
  bool some = false;
  for (size_t i = 0; i < c->type_count; ++i) {
    some = some || c->types[i].scene->def.sweep;
  }
  return some;
}

static void at_least(size_t *size, size_t needed)
{
  *size = needed > *size ? needed : *size;
}

/* Uploads the meshes of a scene, and enlarges the scratch to the needs of its largest pair. */
static abut_status place_meshes(const loaded_scene *s, size_t place, ccd_room *room)
{
  for (size_t i = 0; s->meshes && i < s->def.pair_count; ++i) {
    const scene_pair *p = &s->def.pairs[i];
    if (p->sweep_half > 0.0) {
      ccd_mesh *one = sweep_mesh(s, p, 0), *two = sweep_mesh(s, p, 1);
      TRY(ccd_mesh_on(one, place));
      TRY(ccd_mesh_on(two, place));
      const ccd_room of = ccd_room_of(one, two);
      at_least(&room->vertices, of.vertices);
      at_least(&room->plane, of.plane);
    }
  }
  return ABUT_SUCCESS;
}

abut_status sweep_place(const steps_call *c, batch_on *on)
{
  steps_on *at = on->user;
  ccd_room room = {0, 0};
  for (size_t i = 0; i < c->type_count; ++i) {
    TRY(place_meshes(c->types[i].scene, on->place, &room));
  }
  TRY(ccd_check_room(&room));
  for (size_t slot = 0; room.vertices && slot < device_slots(on->device); ++slot) {
    TRY(ccd_scratch_make(on->device, &room, c->base.count, &at->sweep[slot]));
  }
  return ABUT_SUCCESS;
}

void sweep_leave(steps_on *at)
{
  for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
    ccd_scratch_free(&at->sweep[slot]);
  }
}

void sweep_bytes(const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS])
{
  bytes[SWEEP_FROM] = bytes[SWEEP_MEET] = (size_t)n->nq * real;
  bytes[SWEEP_TREE] = bytes[SWEEP_END_TREE] = (size_t)n->numbers * real;
  bytes[SWEEP_MARKS] = SWEEP_INTS * sizeof(int);
  bytes[SWEEP_STATE] = SWEEP_REALS * real;
  bytes[SWEEP_ROOM] = SWEEP_WORK((size_t)n->nv) * real;
  for (world_buffer i = SWEEP_FROM_1; i <= SWEEP_TO_2; ++i) {
    bytes[i] = POSE_WIDTH * real;
  }
  bytes[SWEEP_TIME] = real;
  bytes[SWEEP_FOUND] = 1;
  bytes[SWEEP_P1] = bytes[SWEEP_P2] = bytes[SWEEP_NORMAL] = 3 * real;
  bytes[SWEEP_KIND] = bytes[SWEEP_FEATURE_1] = bytes[SWEEP_FEATURE_2] = bytes[SWEEP_CANDIDATES] =
    sizeof(int);
  bytes[SWEEP_PLACES] = 2 * sizeof(int);
}

/* ---- a step ---- */

static ccd_rows rows_of(const stepping *s, size_t i)
{
#define AT(id) world_buffer_of(s, id)
  const loaded_scene *of = s->type->scene;
  const scene_pair *p = &of->def.pairs[i];
  return (ccd_rows){.mesh = {sweep_mesh(of, p, 0), sweep_mesh(of, p, 1)},
                    .place = s->on->place,
                    .count = s->count,
                    .from = {AT(SWEEP_FROM_1), AT(SWEEP_FROM_2)},
                    .to = {AT(SWEEP_TO_1), AT(SWEEP_TO_2)},
                    .width = POSE_WIDTH,
                    .arc = true,
                    .settings = s->tables->sweep->settings[i],
                    .iterations = CCD_ITERATIONS_USUAL,
                    .toi = AT(SWEEP_TIME),
                    .status = AT(SWEEP_FOUND),
                    .kind = AT(SWEEP_KIND),
                    .feature = {AT(SWEEP_FEATURE_1), AT(SWEEP_FEATURE_2)},
                    .p = {AT(SWEEP_P1), AT(SWEEP_P2)},
                    .n = AT(SWEEP_NORMAL),
                    .candidates = AT(SWEEP_CANDIDATES),
                    .places = AT(SWEEP_PLACES)};
#undef AT
}

/* The mesh of a side of pair i, its outward directions, and where those at its edges begin. */
#define MESH(s, i, rows, side)                                                                  \
  ARG_BUFFER((rows)->mesh[side]->ints_on[(rows)->place]),                                       \
    ARG_BUFFER((rows)->mesh[side]->numbers_on[(rows)->place]),                                  \
    ARG_BUFFER((s)->tables->sweep->outward[sweep_body((s)->type->scene,                         \
                                                      &(s)->type->scene->def.pairs[i], side)]), \
    ARG_INT((rows)->mesh[side]->info.triangles)

static abut_status check_pair(const stepping *s, size_t i, int event)
{
  const ccd_rows rows = rows_of(s, i);
  TRY(keep_pace(s));
  TRY(LAUNCH(s->device, KERNEL_WORLD_SWEEP_POSES, s->count, 1, TABLES(s), REALS(s),
             ARG_BUFFER(s->tables->bodies), ARG_INT(2 * POSE_WIDTH * i), ARG_INT(i),
             OF(s, SWEEP_TREE), OF(s, SWEEP_END_TREE), OF(s, SWEEP_MARKS), OF(s, SWEEP_FROM_1),
             OF(s, SWEEP_TO_1), OF(s, SWEEP_FROM_2), OF(s, SWEEP_TO_2), ARG_INT(s->count)));
  TRY(ccd_launch(s->device, &rows, &s->at->sweep[s->slot]));
  return LAUNCH(s->device, KERNEL_WORLD_SWEEP_LEAST, s->count, 1, TABLES(s), REALS(s), ARG_INT(i),
                OF(s, SWEEP_TREE), OF(s, SWEEP_END_TREE), OF(s, SWEEP_FROM_1), OF(s, SWEEP_FROM_2),
                OF(s, SWEEP_TIME), OF(s, SWEEP_FOUND), OF(s, SWEEP_P1), OF(s, SWEEP_P2),
                OF(s, SWEEP_NORMAL), OF(s, SWEEP_KIND), OF(s, SWEEP_FEATURE_1),
                OF(s, SWEEP_FEATURE_2), MESH(s, i, &rows, 0), MESH(s, i, &rows, 1),
                OF(s, SWEEP_PLACES), OF(s, WORLD_SCRATCH), OF(s, SWEEP_MARKS), OF(s, SWEEP_STATE),
                ARG_INT(s->keeps_impacts ? event : -1), OF(s, SWEEP_KEPT), OF(s, SWEEP_KEPT_ROWS),
                OF(s, OUT_STATUS), FAST_LINKS(s), ARG_INT(s->count));
}

static abut_status place_links(const stepping *s, world_buffer q, world_buffer tree)
{
  return LAUNCH(s->device, KERNEL_WORLD_PLACE, world_blocks(s), 1, TABLES(s), REALS(s), OF(s, q),
                OF(s, WORLD_U), ARG_INT(s->count), OF(s, tree));
}

/* Finds the first impact of each world between SWEEP_FROM and WORLD_NEXT_Q. */
static abut_status find_impacts(const stepping *s, int event)
{
  TRY(place_links(s, SWEEP_FROM, SWEEP_TREE));
  TRY(place_links(s, WORLD_NEXT_Q, SWEEP_END_TREE));
  for (size_t i = 0; i < s->tables->sweep->pairs; ++i) {
    TRY(s->tables->sweep->settings[i] ? check_pair(s, i, event) : ABUT_SUCCESS);
  }
  return ABUT_SUCCESS;
}

static abut_status keep_impacts(const stepping *s, int event)
{
  const size_t nv = (size_t)sizes_of(s)->nv;
  TRY(event ? ABUT_SUCCESS : copy_columns(s, WORLD_NEXT_V, nv, 0, SWEEP_V, nv, 0, nv));
  return LAUNCH(s->device, KERNEL_WORLD_SWEEP_KEEP, s->count, 1, ARG_BUFFER(s->tables->head),
                OF(s, SWEEP_FROM), OF(s, WORLD_NEXT_Q), OF(s, WORLD_NEXT_V), OF(s, SWEEP_MARKS),
                OF(s, SWEEP_STATE), ARG_INT(event), ARG_INT(event == SWEEP_EVENTS),
                OF(s, SWEEP_KEPT), OF(s, SWEEP_KEPT_ROWS), ARG_INT(s->count));
}

/* Applies these impacts and restarts the rest of the step. */
static abut_status make_impacts(const stepping *s, int event)
{
  TRY(s->keeps_impacts ? keep_impacts(s, event) : ABUT_SUCCESS);
  TRY(LAUNCH(s->device, KERNEL_WORLD_SWEEP_IMPACT, world_blocks(s), 1, TABLES(s), REALS(s),
             PARAMETERS_OF(s), OF(s, SWEEP_FROM), OF(s, WORLD_NEXT_Q), OF(s, WORLD_U),
             OF(s, SWEEP_MARKS), OF(s, SWEEP_STATE), ARG_INT(s->count), OF(s, SWEEP_MEET),
             OF(s, SWEEP_END_TREE)));
  TRY(LAUNCH(s->device, KERNEL_WORLD_SWEEP_IMPULSE, s->count, 1, TABLES(s), REALS(s),
             PARAMETERS_OF(s), OF(s, IN_SPRINGS), ARG_INT(s->call->worlds->springs != NULL),
             OF(s, SWEEP_END_TREE), OF(s, SWEEP_MARKS), OF(s, SWEEP_STATE),
             ARG_INT(event == SWEEP_EVENTS), OF(s, SWEEP_ROOM), OF(s, WORLD_NEXT_V),
             OF(s, OUT_STATUS), ARG_INT(s->count)));
  return LAUNCH(s->device, KERNEL_WORLD_SWEEP_GO, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, WORLD_NEXT_V), OF(s, SWEEP_MARKS), OF(s, SWEEP_STATE), ARG_INT(s->count),
                OF(s, SWEEP_FROM), OF(s, WORLD_NEXT_Q), OF(s, SWEEP_MEET), OF(s, SWEEP_END_TREE));
}

/* Waits for the device, and sets *some if a world has an impact. Most steps have none, and then
 * launch nothing more. marks: (count, SWEEP_INTS) scratch. */
static abut_status read_impacts(const stepping *s, int *marks, bool *some)
{
  *some = false;
  TRY(buffer_read(world_buffer_of(s, SWEEP_MARKS), 0, s->count * SWEEP_INTS * sizeof(int), marks));
  for (size_t i = 0; i < s->count; ++i) {
    *some = *some || marks[SWEEP_INTS * i + SWEEP_GROUP] >= 0;
  }
  return ABUT_SUCCESS;
}

static abut_status go_through_impacts(const stepping *s, int *marks)
{
  bool some = true;
  for (int i = 0; some && i <= SWEEP_EVENTS; ++i) {
    TRY(find_impacts(s, i));
    TRY(read_impacts(s, marks, &some));
    if (s->impacts) {
      *s->impacts = some ? i + 1 : i;
    }
    TRY(some ? make_impacts(s, i) : ABUT_SUCCESS);
  }
  return ABUT_SUCCESS;
}

abut_status sweep_step(const stepping *s)
{
  void *marks = NULL;
  TRY(LAUNCH(s->device, KERNEL_WORLD_SWEEP_START, s->count, 1, ARG_BUFFER(s->tables->head),
             OF(s, OUT_Q), OF(s, OUT_STATUS), OF(s, SWEEP_FROM), OF(s, SWEEP_MARKS),
             OF(s, SWEEP_STATE), ARG_INT(s->count)));
  TRY(allocate(&marks, s->count, SWEEP_INTS * sizeof(int)));
  const abut_status status = go_through_impacts(s, marks);
  free(marks);
  return status;
}
