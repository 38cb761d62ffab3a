/* The arrays of a call over a batch of poses: for each, the buffer and the run that use it. */
#include "geometry/layout.h"
#include "contact/call.h"
#include <string.h>

#define REDUCTION_ARRAY(member, id, word, file, over, bars, reads) r->member,

/* Lists the arrays of a batch's reductions in the order of their numbers in SCRATCH_REDUCED. */
void list_reductions(const abut_reductions *r, void *arrays[REDUCED_REALS])
{
  void *const all[REDUCED_REALS] = {ALL_REDUCTIONS(REDUCTION_ARRAY)};
  memcpy(arrays, all, sizeof all);
}

#define REDUCTION_NAME(member, id, word, file, over, bars, reads) #member,

static const char *const reduction_names[REDUCED_REALS] = {ALL_REDUCTIONS(REDUCTION_NAME)};

/* Describes rows in a run's buffer pool with `each` reals per contact, or `width` reals if `each`
 * is 0. */
static batch_array rows(const call *c, int which, const char *name, size_t id, size_t each,
                        size_t width)
{
  return (batch_array){.name = name,
                       .memory = c->batch->memory,
                       .width = each ? each * c->contacts : width,
                       .each = each,
                       .size = c->real_bytes,
                       .pool = (size_t)which,
                       .buffer = id};
}

static void add_input(call *c, int which, const char *name, scratch_id id, const void *array,
                      size_t each, size_t width)
{
  batch_array a = rows(c, which, name, id, each, width);
  a.in = array;
  a.zeros = !array;
  a.in_place = true;
  batch_add(&c->base, a);
}

/* Adds an output. `in_place` allows kernels on plain numbers to write into the caller's memory. */
static void add_output(call *c, int which, const char *name, size_t id, size_t part, void *array,
                       size_t each, size_t width, bool in_place)
{
  const program_id program = c->runs[which].program;
  batch_array a = rows(c, which, name, id, each, width);
  a.out = array;
  a.form = program == PROGRAM_PLAIN ? FORM_ROWS : FORM_DUAL_ROWS;
  a.parts = number_parts(program);
  a.part = part;
  a.in_place = in_place && program == PROGRAM_PLAIN;
  if (array) {
    batch_add(&c->base, a);
  }
}

/* Adds an input to one part of dual numbers: 0 for values, 1 for derivatives. */
static void add_input_part(call *c, int which, const char *name, scratch_id id, size_t part,
                           const void *array, size_t each)
{
  batch_array a = rows(c, which, name, id, each, 0);
  a.in = array;
  a.zeros = !array;
  a.form = FORM_DUAL_ROWS;
  a.parts = number_parts(c->runs[which].program);
  a.part = part;
  batch_add(&c->base, a);
}

void call_add_bars(call *c, const contact_output *o, const void *array, const void *tangents)
{
  const int which = c->run_count - 1;
  if (!array && !tangents) {
    return;
  }
  if (c->runs[which].program == PROGRAM_PLAIN) {
    add_input(c, which, o->names[OUTPUT_COTANGENTS], o->bars, array, o->components, 0);
    return;
  }
  add_input_part(c, which, o->names[OUTPUT_COTANGENTS], o->bars, 0, array, o->components);
  add_input_part(c, which, o->names[OUTPUT_COTANGENT_TANGENTS], o->bars, 1, tangents,
                 o->components);
}

void call_add_tangents(call *c, const contact_output *o, void *array)
{
  add_output(c, c->run_count - 1, o->names[OUTPUT_TANGENTS], o->values, 1, array, o->components, 0,
             false);
}

void call_add_rows(call *c, const char *name, scratch_id id, void *array, size_t width)
{
  batch_array a = rows(c, c->run_count - 1, name, id, 0, width);
  a.out = array;
  a.in_place = c->base.state != NULL;
  if (array) {
    batch_add(&c->base, a);
  }
}

void call_add_gradients(call *c, size_t part, const abut_gradients *to)
{
  static const char *const names[][2] = {{"the gradient of pose1", "the gradient of pose2"},
                                         {"the derivative of the gradient of pose1",
                                          "the derivative of the gradient of pose2"}};
  void *const arrays[] = {to->pose1, to->pose2};
  for (int side = 0; side < 2; ++side) {
    add_output(c, c->run_count - 1, names[part][side], OF_SIDE(SCRATCH_GRADIENT_1, side), part,
               arrays[side], 0, (size_t)c->runs[0].pose_width, c->base.state != NULL);
  }
}

/* Adds poses for every run, since each has its own, and their tangents for duals. */
static void add_poses(call *c)
{
  const abut_batch *b = c->batch;
  const abut_pose_tangents none = {NULL, NULL}, *along = c->along ? c->along : &none;
  for (int i = 0; i < c->run_count; ++i) {
    const size_t width = (size_t)c->runs[i].pose_width;
    add_input(c, i, "pose1", SCRATCH_POSE_1, b->pose1, 0, width);
    add_input(c, i, "pose2", SCRATCH_POSE_2, b->pose2, 0, width);
    if (c->runs[i].program != PROGRAM_PLAIN && !c->runs[i].wanted.motions) {
      add_input(c, i, "the tangent of pose1", SCRATCH_TANGENT_1, along->pose1, 0, width);
      add_input(c, i, "the tangent of pose2", SCRATCH_TANGENT_2, along->pose2, 0, width);
    }
  }
}

/* Adds the batch's arrays. Reductions of a state are columns that stay on the device; other
 * reductions are read separately. */
void call_add_arrays(call *c)
{
  void *reduced[REDUCED_REALS];
  add_poses(c);
  list_reductions(&c->batch->reductions, reduced);
  for (size_t k = 0; c->base.state && k < REDUCED_REALS; ++k) {
    add_output(c, 0, reduction_names[k], SCRATCH_COLUMNS + k, 0, reduced[k], 0, 1, true);
  }
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_output *o = &contact_outputs[i];
    add_output(c, 0, o->names[OUTPUT_BATCH], o->values, 0, output_array(o, OUTPUT_BATCH, c->batch),
               o->components, 0, true);
  }
}

/* ---- memory besides the arrays ---- */

void call_add_range(call *c, const char *name, const void *array, size_t count, size_t row,
                    memory_use use)
{
  if (array && c->base.beside_count < BATCH_BESIDE) {
    c->beside[c->base.beside_count] = (memory_range){name, array, rows_bytes(count, row), use};
  }
  c->base.beside_count += array != NULL;
  c->base.beside = c->beside;
}

/* The library owns the arrays of a growing list. */
static void add_list(call *c, const abut_compact *l)
{
  call_add_range(c, "the list's pose", l->pose, l->capacity, sizeof *l->pose, MEMORY_WRITTEN);
  call_add_range(c, "the list's slot", l->slot, l->capacity, sizeof *l->slot, MEMORY_WRITTEN);
  call_add_range(c, "the list's feature", l->feature, l->capacity, 2 * sizeof *l->feature,
                 MEMORY_WRITTEN);
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_output *o = &contact_outputs[i];
    call_add_range(c, o->names[OUTPUT_LIST], output_array(o, OUTPUT_LIST, l), l->capacity,
                   o->components * c->real_bytes, MEMORY_WRITTEN);
  }
  call_add_range(c, "blocks", c->list.blocks, l->capacity, c->list.block_bytes, MEMORY_WRITTEN);
}

void call_add_ranges(call *c)
{
  const abut_batch *b = c->batch;
  void *reduced[REDUCED_REALS];
  call_add_range(c, "pair", c->lists[0] ? b->pair : NULL, b->count, sizeof *b->pair, MEMORY_READ);
  call_add_range(c, "status", b->status, b->count, sizeof *b->status, MEMORY_WRITTEN);
  call_add_range(c, "contacts", b->contacts, b->count, sizeof *b->contacts, MEMORY_WRITTEN);
  list_reductions(&b->reductions, reduced);
  for (size_t k = 0; !c->base.state && k < REDUCED_REALS; ++k) {
    call_add_range(c, reduction_names[k], reduced[k], b->count, c->real_bytes, MEMORY_WRITTEN);
  }
  if (b->compact && !b->compact->grows) {
    add_list(c, b->compact);
  }
}
