#include "manifold/queries.h"

#include "base/error.h"
#include "base/memory.h"
#include "geometry/layout.h"
#include "manifold/self_test.h"
#include "manifold/smoothing.h"
#include "schedule/schedule.h"
#include <stdlib.h>
#include <string.h>

#define QUERY_CHUNK ((size_t)1 << 20)
#define COPIED_CHUNK ((size_t)1 << 15) /* where copies are to stay in a CPU's cache */
#define LEAST_CHUNK ((size_t)1 << 10)  /* a device without the memory for that is of no use */

static bool is_borrowed(const query_call *c, const query_array *a)
{
  return c->borrows && (a->in || a->out);
}

/* The caller's memory of an array; `end` of that of `count` queries. */
static uintptr_t begin_of(const query_array *a)
{
  return a->out ? (uintptr_t)a->out : (uintptr_t)a->in;
}

static uintptr_t end_of(const query_array *a, size_t count)
{
  return begin_of(a) ? begin_of(a) + count * a->width * a->size : 0;
}

/* Two OpenCL buffers must not share host memory, and numbers lie at multiples of their size. On
 * duals an array is made of two of the caller's, for body fields it is in another order. */
static bool can_borrow(const query_call *c, size_t count)
{
  bool can = device_on_host_memory(c->device) && c->program == PROGRAM_PLAIN && !c->of;
  for (int i = 0; i < c->count; ++i) {
    const query_array *a = &c->arrays[i];
    can = can && begin_of(a) % a->size == 0;
    for (int k = 0; k < i; ++k) {
      const query_array *b = &c->arrays[k];
      can = can && (begin_of(a) >= end_of(b, count) || begin_of(b) >= end_of(a, count));
    }
  }
  return can;
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
  const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a && b && x < y + b_bytes && y < x + a_bytes;
}

/* Whether an output of `count` queries lies in what some input is read from: points that are
 * projected in place. */
static bool is_in_place(const query_call *c, size_t count)
{
  bool found = false;
  for (int i = 0; i < c->count; ++i) {
    const query_array *to = &c->arrays[i];
    const size_t bytes = count * to->width * to->size;
    for (int k = 0; k < c->count; ++k) {
      const query_array *from = &c->arrays[k];
      const size_t read = count * from->width * from->size;
      found = found || overlap(to->out, bytes, from->in, read) ||
              overlap(to->out, bytes, from->tangent_in, read) ||
              overlap(to->tangent_out, bytes, from->in, read) ||
              overlap(to->tangent_out, bytes, from->tangent_in, read);
    }
  }
  return found;
}

static abut_status create_stage(query_call *c, size_t room)
{
  size_t row = 0;
  for (int i = 0; i < c->count; ++i) {
    const query_array *a = &c->arrays[i];
    row += a->width * a->size * ((a->out ? 1 : 0) + (a->tangent_out ? 1 : 0));
  }
  return allocate(&c->staged, room, row);
}

/* Whether some input goes up as zeros. */
static bool needs_zeros(const query_call *c)
{
  bool needs = false;
  for (int i = 0; i < c->count; ++i) {
    const query_array *a = &c->arrays[i];
    needs = needs || a->absent || (a->in && c->program == PROGRAM_DUAL && !a->tangent_in);
  }
  return needs;
}

/* Room for whole blocks of lanes. */
static abut_status create_arrays(query_call *c, size_t room)
{
  room = padded(room, device_lanes(c->device));
  const size_t parts = c->program == PROGRAM_DUAL ? DUAL_PARTS : 1;
  for (int i = 0; i < c->count; ++i) {
    query_array *a = &c->arrays[i];
    if (is_borrowed(c, a)) {
      continue;
    }
    TRY(buffer_create(c->device, parts * room * a->width * a->size, &a->memory));
  }
  return needs_zeros(c) ? allocate(&c->zeros, room, QUERY_WIDEST * device_real_bytes(c->device))
                        : ABUT_SUCCESS;
}

static abut_status borrow_array(query_call *c, query_array *a, size_t first, size_t count)
{
  const size_t row = a->width * a->size;
  buffer_destroy(a->memory);
  a->memory = NULL;
  return buffer_borrow(c->device, count * row, (char *)begin_of(a) + first * row, a->out != NULL,
                       &a->memory);
}

abut_status upload_arrays(query_call *c, size_t first, size_t count)
{
  for (int i = 0; i < c->count; ++i) {
    query_array *a = &c->arrays[i];
    const size_t row = a->width * a->size;
    if (is_borrowed(c, a)) {
      TRY(borrow_array(c, a, first, count));
    } else if (a->in) {
      TRY(buffer_write(a->memory, 0, count * row, (const char *)a->in + first * row));
    } else if (a->absent) {
      TRY(buffer_write(a->memory, 0, count * row, c->zeros));
    }
    if (a->in && c->program == PROGRAM_DUAL) {
      const char *tangent = a->tangent_in;
      TRY(buffer_write(a->memory, count * row, count * row,
                       tangent ? tangent + first * row : c->zeros));
    }
  }
  return ABUT_SUCCESS;
}

/* A wait costs two switches of threads, so there is one for all, also where the caller wants no
 * output: it may free the inputs. */
static abut_status sync_arrays(const query_call *c)
{
  double ended;
  for (int i = 0; i < c->count; ++i) {
    if (c->arrays[i].out) {
      TRY(buffer_sync(c->arrays[i].memory));
    }
  }
  TRY(device_submit(c->device));
  return device_wait(c->device, &ended);
}

/* Copies from the chunk's stage where it is there, else reads. Moves *stage past the rows. */
static abut_status fetch(const query_array *a, size_t offset, size_t bytes, void *to, char **stage)
{
  if (!to) {
    return ABUT_SUCCESS;
  }
  TRY(buffer_read(a->memory, offset, bytes, *stage ? *stage : to));
  *stage += *stage ? bytes : 0;
  return ABUT_SUCCESS;
}

static void hand_over(void *to, size_t bytes, const char **stage)
{
  if (to) {
    memcpy(to, *stage, bytes);
    *stage += bytes;
  }
}

/* A read that fails may follow others, and another device takes the chunk's inputs then: they must
 * still be there. */
abut_status download_arrays(query_call *c, size_t first, size_t count)
{
  char *stage = c->staged;
  const char *staged = c->staged;
  if (c->borrows) {
    return sync_arrays(c);
  }
  for (int i = 0; i < c->count; ++i) {
    const query_array *a = &c->arrays[i];
    const size_t row = a->width * a->size, bytes = count * row;
    TRY(fetch(a, 0, bytes, bytes_behind(a->out, first * row), &stage));
    TRY(fetch(a, bytes, bytes, bytes_behind(a->tangent_out, first * row), &stage));
  }
  for (int i = 0; staged && i < c->count; ++i) {
    const query_array *a = &c->arrays[i];
    const size_t row = a->width * a->size, bytes = count * row;
    hand_over(bytes_behind(a->out, first * row), bytes, &staged);
    hand_over(bytes_behind(a->tangent_out, first * row), bytes, &staged);
  }
  return ABUT_SUCCESS;
}

/* As many queries as the context's bounds and the device's memory allow, in whole blocks of
 * lanes. What is borrowed takes no memory of the device's. */
static abut_status size_queries(const query_call *c, size_t count, size_t *out)
{
  const abut_context_def *def = &c->context->def;
  const bool cached = device_on_host_memory(c->device) && !c->borrows;
  const size_t parts = c->program == PROGRAM_DUAL ? DUAL_PARTS : 1;
  const size_t lanes = device_lanes(c->device);
  uint64_t budget = def->scratch_bytes ? def->scratch_bytes : device_scratch_bytes(c->device);
  size_t bytes[QUERY_ARRAYS], most = cached ? COPIED_CHUNK : QUERY_CHUNK, fits = 0;
  budget = c->borrows ? UINT64_MAX : budget;
  for (int i = 0; i < c->count; ++i) {
    bytes[i] = parts * c->arrays[i].width * c->arrays[i].size;
  }
  TRY(size_chunk(bytes, (size_t)c->count, budget, device_info(c->device)->allocation_bytes, &fits));
  fits = fits > lanes ? fits - fits % lanes : fits;
  most = fits < most ? fits : most;
  most = def->chunk && def->chunk < most ? def->chunk : most;
  *out = count < most ? count : most;
  return ABUT_SUCCESS;
}

typedef struct query_run {
  query_call *call;
  size_t count;
  size_t done; /* where another device goes on: arrays may have been replaced in place */
  query_chunk run;
} query_run;

static void free_arrays(query_call *c)
{
  for (int i = 0; i < c->count; ++i) {
    buffer_destroy(c->arrays[i].memory);
    c->arrays[i].memory = NULL;
  }
  free(c->zeros);
  free(c->staged);
  c->zeros = c->staged = NULL;
}

static bool is_adjoint(kernel_id kernel)
{
  return kernel == KERNEL_WITNESS_EDGES_ADJOINT || kernel == KERNEL_WITNESS_FACES_ADJOINT;
}

static abut_status do_chunks(query_run *r, size_t most)
{
  query_call *c = r->call;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(create_arrays(c, most));
  if (!c->borrows && is_in_place(c, r->count)) {
    TRY_DONE(create_stage(c, most));
  }
  while (r->done < r->count) {
    const size_t left = r->count - r->done, count = left < most ? left : most;
    TRY_DONE(r->run(r->done, count, c));
    r->done += count;
  }
done:
  if (status != ABUT_SUCCESS) {
    device_drain(c->device); /* kernels may be at work in the caller's arrays */
  }
  free_arrays(c);
  return status;
}

/* All queries on one device; where it lacks memory, in smaller chunks. */
static abut_status queries_on(context *owner, size_t place, void *user)
{
  query_run *r = user;
  query_call *c = r->call;
  abut_status status = ABUT_SUCCESS;
  size_t most = 0;
  c->device = owner->members[place].device;
  c->borrows = can_borrow(c, r->count);
  TRY(size_queries(c, r->count, &most));
  TRY(test_member(owner, place, c->program, is_adjoint(c->kernel)));
  device_select(c->device, 0);
  if (c->of) {
    TRY(body_on(c->of, place, &c->body));
  }
  TRY(upload_coefficients(c->device, c->smoothing, &c->coefficients));
  do {
    status = do_chunks(r, most);
    most /= 2;
  } while (is_memory_error(status) && most >= LEAST_CHUNK);
  buffer_destroy(c->coefficients);
  c->coefficients = NULL;
  return status;
}

abut_status run_queries(query_call *c, size_t count, query_chunk run)
{
  query_run r = {c, count, 0, run};
  return count ? context_on_any(c->context, queries_on, &r) : ABUT_SUCCESS;
}

