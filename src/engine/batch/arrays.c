#include "engine/batch/arrays.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/ranges.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions of rows ---- */

static size_t row_of(const batch_array *a)
{
  return a->width * a->size;
}

/* Returns the bytes per row of the slot's group. Such a row may be narrower than a row of the
 * caller's array. */
static size_t own_of(const batch_on *on, size_t slot, const batch_array *a)
{
  return a->each ? a->each * on->units[slot] * a->size : row_of(a);
}

static bool is_dual(const batch_array *a)
{
  return a->form == FORM_DUAL_ROWS || a->form == FORM_DUAL_HALVES;
}

/* Returns the distance in bytes between the starts of two rows of `own` bytes in the buffer. */
static size_t pitch_of(const batch_array *a, size_t own)
{
  return a->form == FORM_DUAL_ROWS ? a->parts * own : own;
}

/* Returns the offset in bytes of a chunk's first row in the buffer. */
static size_t begin_of(const batch_array *a, size_t own, size_t count)
{
  return is_dual(a) ? a->part * own * (a->form == FORM_DUAL_HALVES ? count : 1) : 0;
}

/* Returns whether a chunk's rows have the same layout in the caller's memory as on the device:
 * contiguous and of the same width. */
static bool is_straight(const batch_on *on, size_t slot, const batch_array *a)
{
  return on->straight[slot] && own_of(on, slot, a) == row_of(a);
}

/* Drops the const of a pointer. A cl_mem is a handle, so a const pointer does not mean that its
 * memory is only read. */
static void *handle_of(const void *array)
{
  void *out = NULL;
  memcpy(&out, &array, sizeof out);
  return out;
}

static const void *memory_of(const batch_array *a)
{
  return a->out ? a->out : a->in;
}

/* ---- arrays of a state ---- */

static size_t number_of(const batch_array *a)
{
  return ((const abut_state_array *)memory_of(a))->array;
}

/* Returns the owning device's buffer that contains a chunk's rows, which start at *offset. */
static buffer *state_buffer(const batch_on *on, const batch_array *a, chunk c, size_t *offset)
{
  const range *r = state_range(on->call->state, c.first);
  *offset = (c.first - r->first) * row_of(a);
  return r->buffers[number_of(a)];
}

/* Refuses an output array of the call that is also another of the call's arrays in the state. */
static abut_status check_apart(const batch_call *c, const batch_array *a)
{
  for (size_t i = 0; i < c->array_count; ++i) {
    const batch_array *b = &c->arrays[i];
    if (b != a && a->out && memory_of(b) && b->memory == ABUT_MEMORY_STATE &&
        number_of(a) == number_of(b)) {
      return fail(ABUT_ERROR_ARGUMENT, "%s and %s are the same array, %zu, of the state", a->name,
                  b->name, number_of(a));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_of_state(const batch_call *c, const batch_array *a)
{
  state *s = NULL;
  TRY(state_of(memory_of(a), &s));
  if (s != c->state) {
    return fail(ABUT_ERROR_ARGUMENT, "%s belongs to another state", a->name);
  }
  if (s->widths[number_of(a)] != a->width) {
    return fail(ABUT_ERROR_ARGUMENT,
                "%s needs %zu numbers per row, but array %zu of the state has %zu", a->name,
                a->width, number_of(a), s->widths[number_of(a)]);
  }
  return c->replaces ? ABUT_SUCCESS : check_apart(c, a);
}

/* ---- the caller's memory ---- */

static abut_status check_array(const batch_call *c, const batch_array *a)
{
  const size_t row = row_of(a);
  if (!memory_of(a) || a->memory == ABUT_MEMORY_HOST ||
      (!c->count && a->memory != ABUT_MEMORY_STATE)) {
    return ABUT_SUCCESS;
  }
  if (a->memory == ABUT_MEMORY_STATE) {
    return check_of_state(c, a);
  }
  if (c->count > SIZE_MAX / row) {
    return fail(ABUT_ERROR_ARGUMENT, "there are too many poses: %zu", c->count);
  }
  return check_memory(c->context->members[0].device, handle_of(memory_of(a)), c->count * row,
                      a->name);
}

/* Returns the bytes of host memory of a whole array, 0 if it is not in host memory. */
static size_t host_bytes(const batch_call *c, const batch_array *a)
{
  return a->memory == ABUT_MEMORY_HOST ? rows_bytes(c->count, row_of(a)) : 0;
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
  const memory_range one = {.at = a, .bytes = a_bytes}, two = {.at = b, .bytes = b_bytes};
  return ranges_meet(&one, &two);
}

/* Checks the memory besides the arrays together with the outputs, the inputs, or both, which are
 * used as `use` states. */
static abut_status check_with(const batch_call *c, bool outputs, bool inputs, memory_use use)
{
  memory_range all[BATCH_ARRAYS + BATCH_BESIDE];
  size_t count = 0;
  for (size_t i = 0; i < c->array_count; ++i) {
    const batch_array *a = &c->arrays[i];
    if (a->out ? outputs : inputs) {
      all[count++] = (memory_range){.name = a->name,
                                    .at = memory_of(a),
                                    .bytes = host_bytes(c, a),
                                    .use = a->out ? MEMORY_WRITTEN : use};
    }
  }
  for (size_t i = 0; i < c->beside_count; ++i) {
    all[count++] = c->beside[i];
  }
  return check_ranges(all, count);
}

/* Refuses outputs that overlap in host memory, with each other or with the memory besides the
 * arrays. Inputs that overlap outputs are handled by arrays_part, unless the call refuses them. */
static abut_status check_in_host(const batch_call *c)
{
  TRY(check_with(c, true, c->wholes, MEMORY_REPLACED));
  return c->beside_count ? check_with(c, false, true, MEMORY_READ) : ABUT_SUCCESS;
}

/* Position of an array in OpenCL memory: a buffer that is no sub-buffer, and the offset in it. */
typedef struct opencl_place {
  const void *whole;
  size_t offset;
} opencl_place;

/* Returns whether an output may be at the position of an input. This needs a copy of at least one
 * of them, so that kernels do not read and write the same rows. */
static bool may_replace(const batch_array *a, opencl_place at, const batch_array *b,
                        opencl_place at_b)
{
  return !(a->out && b->out) && at.offset == at_b.offset && row_of(a) == row_of(b) &&
         !(a->in_place && b->in_place);
}

static abut_status check_in_opencl(const batch_call *c)
{
  opencl_place at[BATCH_ARRAYS];
  for (size_t i = 0; c->count && i < c->array_count; ++i) {
    const batch_array *a = &c->arrays[i];
    at[i] = (opencl_place){NULL, 0};
    if (a->memory != ABUT_MEMORY_OPENCL || !memory_of(a)) {
      continue;
    }
    TRY(memory_place(handle_of(memory_of(a)), &at[i].whole, &at[i].offset));
    const size_t end = at[i].offset + c->count * row_of(a);
    for (size_t k = 0; k < i; ++k) {
      const batch_array *b = &c->arrays[k];
      if (at[k].whole == at[i].whole && (a->out || b->out) && at[k].offset < end &&
          at[i].offset < at[k].offset + c->count * row_of(b) && !may_replace(a, at[i], b, at[k])) {
        return fail(ABUT_ERROR_ARGUMENT, "%s and %s overlap in OpenCL memory, and %s written",
                    b->name, a->name, a->out && b->out ? "both are" : "one is");
      }
    }
  }
  return ABUT_SUCCESS;
}

abut_status arrays_check(const batch_call *c)
{
  bool in_opencl = false;
  for (size_t i = 0; i < c->array_count; ++i) {
    TRY(check_array(c, &c->arrays[i]));
    in_opencl = in_opencl || c->arrays[i].memory == ABUT_MEMORY_OPENCL;
  }
  TRY(in_opencl ? check_in_opencl(c) : ABUT_SUCCESS);
  return check_in_host(c);
}

abut_status arrays_part(batch_call *c, void *copies[BATCH_ARRAYS])
{
  c->in_place = false;
  for (size_t i = 0; i < c->array_count; ++i) {
    batch_array *from = &c->arrays[i];
    const size_t bytes = host_bytes(c, from);
    bool met = false, by_row = true;
    for (size_t k = 0; k < c->array_count; ++k) {
      const batch_array *to = &c->arrays[k];
      if (overlap(to->out, host_bytes(c, to), from->in, bytes)) {
        met = true;
        by_row = by_row && to->out == from->in && row_of(to) == row_of(from);
      }
    }
    c->in_place = c->in_place || (met && by_row);
    if (met && !by_row) {
      TRY(allocate(&copies[i], bytes, 1));
      from->in = memcpy(copies[i], from->in, bytes);
    }
  }
  return ABUT_SUCCESS;
}

void arrays_forget(void *copies[BATCH_ARRAYS])
{
  for (size_t i = 0; i < BATCH_ARRAYS; ++i) {
    free(copies[i]);
  }
}

/* OpenCL buffers must not overlap in host memory, and kernels expect numbers aligned to their size.
 * If one of the caller's arrays breaks either rule or is not in host memory, none is borrowed. */
bool arrays_can_borrow(const batch_on *on)
{
  const batch_call *c = on->call;
  bool can = c->borrows && !c->rows && device_on_host_memory(on->device);
  for (size_t i = 0; can && i < c->array_count; ++i) {
    const batch_array *a = &c->arrays[i];
    can = !memory_of(a) ||
          (a->memory == ABUT_MEMORY_HOST && a->in_place && (uintptr_t)memory_of(a) % a->size == 0);
    for (size_t k = 0; can && k < i; ++k) {
      const batch_array *b = &c->arrays[k];
      can = !overlap(memory_of(a), host_bytes(c, a), memory_of(b), host_bytes(c, b));
    }
  }
  return can;
}

void arrays_bytes(batch_on *on, size_t slot)
{
  const batch_call *c = on->call;
  for (size_t i = 0; i < c->array_count; ++i) {
    const batch_array *a = &c->arrays[i];
    size_t *bytes = &on->bytes[a->pool][a->buffer];
    size_t needed = own_of(on, slot, a) * (is_dual(a) ? a->parts : 1);
    needed += a->form == FORM_PLANES ? a->part * a->size : 0;
    *bytes = needed > *bytes ? needed : *bytes;
    if (c->rows && a->memory == ABUT_MEMORY_OPENCL) {
      on->bytes[0][BATCH_ROWS] = sizeof *c->rows;
    }
  }
}

size_t arrays_copied(const batch_on *on, size_t slot)
{
  const batch_call *c = on->call;
  size_t sum = 0;
  for (size_t i = 0; !on->borrows && i < c->array_count; ++i) {
    const batch_array *a = &c->arrays[i];
    const size_t ways = (a->in != NULL || a->zeros) + (a->out != NULL);
    sum += a->memory == ABUT_MEMORY_HOST ? ways * own_of(on, slot, a) : 0;
  }
  return sum;
}

/* ---- the caller's memory in place of buffers ---- */

static abut_status bind(const batch_on *on, const batch_array *a, chunk c, buffer **out)
{
  const size_t row = row_of(a), offset = c.first * row, bytes = c.count * row;
  char *memory = handle_of(memory_of(a));
  if (!memory || !a->in_place || on->call->rows || *out) {
    return ABUT_SUCCESS;
  }
  if (a->memory == ABUT_MEMORY_STATE) {
    size_t begin;
    buffer *resident = state_buffer(on, a, c, &begin);
    return buffer_part(resident, begin, bytes, out);
  }
  if (a->memory == ABUT_MEMORY_OPENCL) {
    return buffer_wrap(on->device, memory, offset, bytes, out);
  }
  return on->borrows ? buffer_borrow(on->device, bytes, memory + offset, a->out != NULL, out)
                     : ABUT_SUCCESS;
}

abut_status arrays_bind(batch_on *on, size_t slot, chunk c)
{
  for (size_t i = 0; i < on->call->array_count; ++i) {
    const batch_array *a = &on->call->arrays[i];
    TRY(bind(on, a, c, &on->memory[slot][a->pool].external[a->buffer]));
  }
  return ABUT_SUCCESS;
}

void arrays_unbind(batch_on *on, size_t slot)
{
  for (size_t i = 0; i < on->call->array_count; ++i) {
    const batch_array *a = &on->call->arrays[i];
    buffer **external = &on->memory[slot][a->pool].external[a->buffer];
    buffer_destroy(*external);
    *external = NULL;
  }
}

abut_status arrays_sync(batch_on *on, size_t slot)
{
  for (size_t i = 0; on->borrows && i < on->call->array_count; ++i) {
    const batch_array *a = &on->call->arrays[i];
    if (a->out) {
      TRY(buffer_sync(on->memory[slot][a->pool].external[a->buffer]));
    }
  }
  return ABUT_SUCCESS;
}

/* ---- copies ---- */

/* Ensures room for at least `bytes`. New room is filled with zeros, which put_zeros relies on. */
static abut_status reserve_room(struct host_room *r, size_t bytes)
{
  if (bytes > r->bytes || !r->at) {
    free(r->at);
    *r = (struct host_room){NULL, 0};
    TRY(allocate(&r->at, bytes, 1));
    r->bytes = bytes;
  }
  return ABUT_SUCCESS;
}

static size_t whole(const batch_on *on, size_t count)
{
  return (count + on->granule - 1) / on->granule * on->granule;
}

static abut_status put_planes(batch_on *on, buffer *to, const batch_array *a, chunk c)
{
  const size_t size = a->size, row = row_of(a), slots = whole(on, c.count);
  const char *from = (const char *)a->in + c.first * row;
  TRY(reserve_room(&on->planes, slots * row));
  char *planes = on->planes.at;
  for (size_t i = 0; i < slots; ++i) {
    const char *element = from + (i < c.count ? i : c.count - 1) * row;
    for (size_t k = 0; k < a->width; ++k) {
      memcpy(planes + (k * slots + i) * size, element + k * size, size);
    }
  }
  return buffer_write(to, a->part * slots * size, slots * row, planes);
}

static abut_status get_planes(batch_on *on, buffer *from, const batch_array *a, size_t count,
                              char *to)
{
  const size_t size = a->size, row = row_of(a), slots = whole(on, count);
  TRY(reserve_room(&on->planes, slots * row));
  const char *planes = on->planes.at;
  TRY(buffer_read(from, a->part * slots * size, slots * row, on->planes.at));
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < a->width; ++k) {
      memcpy(to + i * row + k * size, planes + (k * slots + i) * size, size);
    }
  }
  return ABUT_SUCCESS;
}

/* Uploads a chunk's rows that may be scattered in host memory. */
static abut_status put_gathered(batch_on *on, buffer *to, const batch_array *a, size_t own, chunk c)
{
  const char *from = a->in;
  const size_t begin = begin_of(a, own, c.count), pitch = pitch_of(a, own);
  const bool direct = buffer_on_host(to);
  if (!direct) {
    TRY(reserve_room(&on->gathered, c.count * own));
  }
  for (size_t i = 0; i < c.count; ++i) {
    const char *row = from + batch_row(on->call, c.first + i) * row_of(a);
    if (direct) {
      TRY(buffer_write(to, begin + i * pitch, own, row));
    } else {
      memcpy((char *)on->gathered.at + i * own, row, own);
    }
  }
  return direct ? ABUT_SUCCESS : buffer_write_rows(to, begin, pitch, own, c.count, on->gathered.at);
}

/* Launches the kernel that writes a chunk's rows to the buffer `to`: the rows found in `from`, or
 * zeros if `from` is NULL. */
static abut_status launch_rows(const batch_on *on, size_t slot, buffer *from, buffer *to,
                               const batch_array *a, size_t own, chunk c)
{
  return LAUNCH(on->device, KERNEL_TAKE_ROWS, own / a->size, c.count, ARG_BUFFER(from),
                ARG_BUFFER(on->memory[slot][0].pool->buffers[BATCH_ROWS]),
                ARG_INT(from ? a->width : 0), ARG_INT(own / a->size),
                ARG_INT(begin_of(a, own, c.count) / a->size), ARG_INT(pitch_of(a, own) / a->size),
                ARG_BUFFER(to));
}

/* Copies possibly scattered rows from the caller's OpenCL memory. */
static abut_status gather_rows(const batch_on *on, size_t slot, buffer *to, const batch_array *a,
                               size_t own, chunk c)
{
  buffer *from;
  TRY(buffer_wrap(on->device, handle_of(a->in), 0, on->call->count * row_of(a), &from));
  const abut_status status = launch_rows(on, slot, from, to, a, own, c);
  buffer_destroy(from);
  return status;
}

/* Copies rows to their places in the caller's OpenCL memory. Narrower rows are padded with zeros to
 * the caller's width. */
static abut_status scatter_rows(const batch_on *on, size_t slot, buffer *from, const batch_array *a,
                                size_t own, chunk c)
{
  buffer *to;
  TRY(buffer_wrap(on->device, a->out, 0, on->call->count * row_of(a), &to));
  const abut_status status = LAUNCH(on->device, KERNEL_GIVE_ROWS, a->width, c.count,
                                    ARG_BUFFER(from), ARG_INT(begin_of(a, own, c.count) / a->size),
                                    ARG_INT(pitch_of(a, own) / a->size), ARG_INT(own / a->size),
                                    ARG_BUFFER(on->memory[slot][0].pool->buffers[BATCH_ROWS]),
                                    ARG_INT(a->width), ARG_BUFFER(to));
  buffer_destroy(to);
  return status;
}

static abut_status put_zeros(batch_on *on, buffer *to, const batch_array *a, size_t own, chunk c)
{
  TRY(reserve_room(&on->zeros, c.count * own));
  return buffer_write_rows(to, begin_of(a, own, c.count), pitch_of(a, own), own, c.count,
                           on->zeros.at);
}

static abut_status put(batch_on *on, size_t slot, const batch_array *a, chunk c)
{
  const chunk_memory *m = &on->memory[slot][a->pool];
  const size_t row = row_of(a), own = own_of(on, slot, a), pitch = pitch_of(a, own);
  const size_t to_begin = begin_of(a, own, c.count);
  buffer *to = m->pool->buffers[a->buffer];
  if ((!a->in && !a->zeros) || m->external[a->buffer]) {
    return ABUT_SUCCESS;
  }
  if (a->zeros && a->memory != ABUT_MEMORY_HOST) { /* a kernel writes them; nothing is uploaded */
    return launch_rows(on, slot, NULL, to, a, own, c);
  }
  if (a->zeros) {
    return put_zeros(on, to, a, own, c);
  }
  if (a->memory == ABUT_MEMORY_STATE) {
    size_t begin;
    buffer *resident = state_buffer(on, a, c, &begin);
    return buffer_copy_rows(resident, begin, row, row, c.count, to, to_begin, pitch);
  }
  if (!is_straight(on, slot, a)) {
    return a->memory == ABUT_MEMORY_OPENCL ? gather_rows(on, slot, to, a, own, c)
                                           : put_gathered(on, to, a, own, c);
  }
  const size_t first = batch_row(on->call, c.first) * row;
  if (a->memory == ABUT_MEMORY_OPENCL) {
    return buffer_take_rows(to, to_begin, pitch, own, c.count, handle_of(a->in), first);
  }
  return a->form == FORM_PLANES
           ? put_planes(on, to, a, c)
           : buffer_write_rows(to, to_begin, pitch, own, c.count, (const char *)a->in + first);
}

static bool are_side_by_side(const batch_call *c, chunk of)
{
  size_t i = 1;
  while (c->rows && i < of.count && c->rows[of.first + i] == c->rows[of.first] + i) {
    ++i;
  }
  return !c->rows || i == of.count;
}

abut_status arrays_up(batch_on *on, size_t slot, chunk c)
{
  on->straight[slot] = are_side_by_side(on->call, c);
  if (on->bytes[0][BATCH_ROWS]) {
    TRY(buffer_write(on->memory[slot][0].pool->buffers[BATCH_ROWS], 0,
                     c.count * sizeof *on->call->rows, on->call->rows + c.first));
  }
  for (size_t i = 0; i < on->call->array_count; ++i) {
    TRY(put(on, slot, &on->call->arrays[i], c));
  }
  return ABUT_SUCCESS;
}

/* Reads a chunk's rows into contiguous host memory. */
static abut_status get(batch_on *on, buffer *from, const batch_array *a, size_t own, size_t count,
                       char *to)
{
  const size_t pitch = pitch_of(a, own), begin = begin_of(a, own, count);
  if (a->form == FORM_PLANES) {
    return get_planes(on, from, a, count, to);
  }
  return pitch == own ? buffer_read(from, begin, count * own, to)
                      : buffer_read_rows(from, begin, pitch, own, count, to);
}

static bool is_downloaded(const batch_on *on, size_t slot, const batch_array *a)
{
  return a->out && !on->memory[slot][a->pool].external[a->buffer];
}

/* Returns whether an output is staged on the host until the chunk is complete. This is needed if it
 * replaces inputs, which a repeated chunk would read again. It also serves rows that must be
 * scattered when each would need its own read command. */
static bool waits(const batch_on *on, size_t slot, const batch_array *a)
{
  return a->out && a->memory == ABUT_MEMORY_HOST &&
         (on->call->in_place ||
          (!is_straight(on, slot, a) &&
           !buffer_on_host(on->memory[slot][a->pool].pool->buffers[a->buffer])));
}

static size_t staged_bytes(const batch_on *on, size_t slot, chunk c)
{
  size_t bytes = 0;
  for (size_t i = 0; i < on->call->array_count; ++i) {
    const batch_array *a = &on->call->arrays[i];
    bytes += waits(on, slot, a) ? c.count * own_of(on, slot, a) : 0;
  }
  return bytes;
}

/* Returns the place of an element's row in the caller's array, and clears the bytes after its first
 * `own`. */
static char *row_to(const batch_call *c, const batch_array *a, size_t own, size_t element)
{
  char *to = (char *)a->out + batch_row(c, element) * row_of(a);
  memset(to + own, 0, row_of(a) - own);
  return to;
}

static abut_status get_each(const batch_on *on, buffer *from, const batch_array *a, size_t own,
                            chunk c)
{
  const size_t begin = begin_of(a, own, c.count), pitch = pitch_of(a, own);
  for (size_t i = 0; i < c.count; ++i) {
    TRY(buffer_read(from, begin + i * pitch, own, row_to(on->call, a, own, c.first + i)));
  }
  return ABUT_SUCCESS;
}

static abut_status down_to_opencl(const batch_on *on, size_t slot, buffer *from,
                                  const batch_array *a, chunk c)
{
  const size_t own = own_of(on, slot, a);
  return is_straight(on, slot, a)
           ? buffer_give_rows(from, begin_of(a, own, c.count), pitch_of(a, own), own, c.count,
                              a->out, batch_row(on->call, c.first) * own)
           : scatter_rows(on, slot, from, a, own, c);
}

/* These are the reads of `get`. */
abut_status arrays_ahead(const batch_on *on, size_t slot, chunk c)
{
  for (size_t i = 0; i < on->call->array_count; ++i) {
    const batch_array *a = &on->call->arrays[i];
    const size_t own = own_of(on, slot, a), slots = whole(on, c.count);
    buffer *from = on->memory[slot][a->pool].pool->buffers[a->buffer];
    if (!is_downloaded(on, slot, a) || a->memory != ABUT_MEMORY_HOST ||
        !(waits(on, slot, a) || is_straight(on, slot, a))) {
      continue;
    }
    if (a->form == FORM_PLANES) {
      TRY(buffer_read_ahead(from, a->part * slots * a->size, slots * row_of(a)));
    } else if (pitch_of(a, own) == own) {
      TRY(buffer_read_ahead(from, begin_of(a, own, c.count), c.count * own));
    }
  }
  return ABUT_SUCCESS;
}

abut_status arrays_down(batch_on *on, size_t slot, chunk c)
{
  const size_t staged = staged_bytes(on, slot, c);
  if (staged) {
    TRY(reserve_room(&on->staged, staged));
  }
  char *stage = on->staged.at;
  for (size_t i = 0; i < on->call->array_count; ++i) {
    const batch_array *a = &on->call->arrays[i];
    const size_t own = own_of(on, slot, a);
    buffer *from = on->memory[slot][a->pool].pool->buffers[a->buffer];
    if (!is_downloaded(on, slot, a)) {
      continue;
    }
    if (a->memory == ABUT_MEMORY_STATE) {
      size_t begin;
      buffer *resident = state_buffer(on, a, c, &begin);
      TRY(buffer_copy_rows(from, begin_of(a, own, c.count), pitch_of(a, own), own, c.count,
                           resident, begin, own));
    } else if (a->memory == ABUT_MEMORY_OPENCL) {
      TRY(down_to_opencl(on, slot, from, a, c));
    } else if (waits(on, slot, a)) {
      TRY(get(on, from, a, own, c.count, stage));
      stage += c.count * own;
    } else if (is_straight(on, slot, a)) {
      TRY(get(on, from, a, own, c.count, row_to(on->call, a, own, c.first)));
    } else {
      TRY(get_each(on, from, a, own, c));
    }
  }
  return ABUT_SUCCESS;
}

static void spread(const batch_call *c, const batch_array *a, size_t own, const char *from,
                   chunk of)
{
  for (size_t i = 0; i < of.count; ++i) {
    memcpy(row_to(c, a, own, of.first + i), from + i * own, own);
  }
}

/* Only staged outputs are scattered here. In a call with staged outputs, no buffer is bound to host
 * memory. */
void arrays_hand_over(const batch_on *on, size_t slot, chunk c)
{
  const char *stage = on->staged.at;
  for (size_t i = 0; i < on->call->array_count; ++i) {
    const batch_array *a = &on->call->arrays[i];
    if (waits(on, slot, a)) {
      const size_t own = own_of(on, slot, a);
      spread(on->call, a, own, stage, c);
      stage += c.count * own;
    }
  }
}
