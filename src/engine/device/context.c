#include "engine/device/context.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/device/discovery.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab070101u
#define TIMEOUT 300.0 /* [s] */

abut_context_def abut_default_context_def(void)
{
  abut_context_def def = {0};
  def.device = ABUT_DEVICE_DEFAULT;
  def.precision = ABUT_FLOAT32;
  def.cookie = COOKIE;
  return def;
}

static bool same_choice(const abut_device_choice *a, const abut_device_choice *b)
{
  return a->device == b->device && a->units == b->units && (!a->units || a->part == b->part);
}

/* Host paths are threads, so a context may have several. */
static abut_status check_once(const abut_device_choice *choice)
{
  found_device found;
  char part[64] = "";
  TRY(discover(choice->device, &found));
  if (!found.platform) {
    return ABUT_SUCCESS;
  }
  if (choice->units) {
    snprintf(part, sizeof part, "part %u of %u units of ", choice->part, choice->units);
  }
  return fail(ABUT_ERROR_ARGUMENT, "%sdevice %u (%s) is named twice in one context", part,
              choice->device, found.info.name);
}

static abut_status check_devices(const abut_context_def *def)
{
  if ((def->devices != NULL) != (def->device_count > 0) || def->device_count > ABUT_DEVICES_MOST) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the count is %u devices%s; give 1 to %d devices, or a count of 0 without an array",
                def->device_count, def->devices ? "" : " without an array", ABUT_DEVICES_MOST);
  }
  if (def->opencl_queue && def->devices) {
    return fail(ABUT_ERROR_ARGUMENT,
                "a context that is made from the caller's command queue takes no list of devices");
  }
  for (uint32_t i = 0; i < def->device_count; ++i) {
    for (uint32_t k = 0; k < i; ++k) {
      if (same_choice(&def->devices[i], &def->devices[k])) {
        TRY(check_once(&def->devices[i]));
        break;
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_def(const abut_context_def *def)
{
  if (def->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the context definition was not made by abut_default_context_def");
  }
  if (def->precision != ABUT_FLOAT32 && def->precision != ABUT_FLOAT64) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown precision %d", (int)def->precision);
  }
  const uint32_t n = def->lanes;
  if (n != 0 && n != 1 && n != 4 && n != 8 && n != 16) {
    return fail(ABUT_ERROR_ARGUMENT, "the lane width is %u; it must be 1, 4, 8 or 16", n);
  }
  if (def->group > 1024 || (def->group & (def->group - 1)) || def->items > 1024) {
    return fail(ABUT_ERROR_ARGUMENT,
                "work-groups have %u and %u work-items: the first must be a power of two, and both "
                "must be at most 1024",
                def->group, def->items);
  }
  if (def->fallback != ABUT_FALLBACK_HOST && def->fallback != ABUT_FALLBACK_NONE) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown fallback %d", (int)def->fallback);
  }
  if (!(def->timeout >= 0.0 && def->timeout <= 1e9)) {
    return fail(ABUT_ERROR_ARGUMENT, "the timeout is %g s, not in [0, 1e9]", def->timeout);
  }
  return check_devices(def);
}

static abut_status open_member(context *c, size_t place, const abut_device_choice *choice)
{
  const device_options options = {.choice = *choice,
                                  .queue = c->def.opencl_queue,
                                  .precision = c->def.precision,
                                  .lanes = c->def.lanes,
                                  .group = c->def.group,
                                  .items = c->def.items,
                                  .kernel_directory = c->kernel_directory,
                                  .timeout = c->def.timeout};
  return device_open(&options, &c->members[place].device);
}

static abut_status keep_directory(context *c, const char *directory)
{
  void *memory = NULL;
  if (directory) {
    TRY(allocate(&memory, strlen(directory) + 1, 1));
    c->kernel_directory = strcpy(memory, directory);
  }
  return ABUT_SUCCESS;
}

/* Copies the definition, because the caller's pointers need not stay valid. */
static abut_status keep_def(context *c, const abut_context_def *def)
{
  c->def = *def;
  c->def.kernel_directory = NULL;
  c->def.devices = NULL;
  c->def.timeout = def->timeout > 0.0 ? def->timeout : TIMEOUT;
  c->by_preference = def->device == ABUT_DEVICE_DEFAULT && !def->devices && !def->opencl_queue;
  if (def->opencl_queue) { /* the host path cannot access the caller's memory */
    c->def.fallback = ABUT_FALLBACK_NONE;
  }
  return keep_directory(c, def->kernel_directory);
}

static abut_status open_chosen(context *c, const abut_context_def *def)
{
  const abut_device_choice whole = {def->device, 0, 0};
  for (size_t i = 0; i < c->count; ++i) {
    TRY(open_member(c, i, def->devices ? &def->devices[i] : &whole));
  }
  return ABUT_SUCCESS;
}

/* ---- devices in the order of preference ---- */

static bool is_member(const abut_device_info *info, const void *user)
{
  const context *c = user;
  bool is = false;
  for (size_t i = 0; i < MEMBERS && c->members[i].device; ++i) {
    is = is || device_info(c->members[i].device)->index == info->index;
  }
  return is;
}

static abut_status open_found(context *c, size_t place, const found_device *found)
{
  const abut_device_choice choice = {found->info.index, 0, 0};
  return open_member(c, place, &choice);
}

/* A device that cannot be opened is marked as failed, like one that fails later. */
static abut_status fail_found(context *c, size_t place, const found_device *found,
                              abut_status status)
{
  TRY(device_describe(found, &c->members[place].device));
  context_fail(c, place, status);
  return ABUT_SUCCESS;
}

/* An error in the definition, in memory or in the user's file is not a device's fault. */
static bool is_passed_over(abut_status status)
{
  return is_device_error(status) || status == ABUT_ERROR_PRECISION;
}

/* Opens the first device in the order of preference. */
static abut_status open_preferred(context *c)
{
  found_device found;
  TRY(discover_preferred(is_member, c, &found));
  const abut_status status = open_found(c, 0, &found);
  if (!is_passed_over(status) || !context_can_stand_in(c)) {
    return status;
  }
  TRY(fail_found(c, 0, &found, status));
  return context_stand_in(c);
}

abut_status context_open(const abut_context_def *def, context **out)
{
  *out = NULL;
  TRY(check_def(def));
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(context)));
  context *c = memory;
  abut_status status = ABUT_SUCCESS;
  pthread_mutex_init(&c->lock, NULL);
  c->count = def->devices ? def->device_count : 1;
  TRY_DONE(keep_def(c, def));
  TRY_DONE(c->by_preference ? open_preferred(c) : open_chosen(c, def));
  TRY_DONE(call_lock_reserve(false, &c->call_lock));
  TRY_DONE(pool_add(&context_pool, c, c->call_lock, &c->self));
  *out = c;
  c = NULL;
done:
  context_close(c);
  return status;
}

abut_status abut_create_context(const abut_context_def *def, abut_context *out)
{
  if (!def || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_context: the definition or the handle is NULL");
  }
  context *c = NULL;
  TRY(context_open(def, &c));
  *out = (abut_context){c->self.index, c->self.generation};
  return ABUT_SUCCESS;
}

/* Frees the newest first: pairs before the bodies that they use. */
static void destroy_all(context *c)
{
  while (c->newest) {
    context_discard(c, c->newest);
  }
}

abut_status context_buffer_pools(context *c, size_t place, buffer_pools **out)
{
  member *m = &c->members[place];
  if (!m->pools) {
    void *memory = NULL;
    TRY(allocate(&memory, 1, sizeof(buffer_pools)));
    m->pools = memory;
  }
  *out = m->pools;
  return ABUT_SUCCESS;
}

void member_close(member *m)
{
  buffer_pools_free(m->pools);
  device_close(m->device);
  *m = (member){0};
}

void context_close(context *c)
{
  if (!c) {
    return;
  }
  destroy_all(c);
  if (c->self.generation) {
    pool_remove(&context_pool, c->self);
  }
  call_lock_give_back(c->call_lock);
  for (size_t i = 0; i < MEMBERS; ++i) {
    member_close(&c->members[i]);
  }
  pthread_mutex_destroy(&c->lock);
  free(c->kernel_directory);
  free(c->spans);
  free(c);
}

abut_status context_lend(context *c, size_t place, context **out)
{
  void *memory = NULL;
  *out = NULL;
  TRY(allocate(&memory, 1, sizeof(context)));
  context *lent = memory;
  pthread_mutex_init(&lent->lock, NULL);
  lent->def = c->def;
  lent->def.chunk = 0;
  lent->def.scratch_bytes = 0;
  lent->def.fallback = ABUT_FALLBACK_NONE;
  lent->count = 1;
  lent->members[0].device = c->members[place].device;
  abut_status status = call_lock_reserve(true, &lent->call_lock);
  if (status == ABUT_SUCCESS) {
    status = pool_add(&context_pool, lent, lent->call_lock, &lent->self);
  }
  if (status != ABUT_SUCCESS) {
    context_take_back(lent);
    return status;
  }
  *out = lent;
  return ABUT_SUCCESS;
}

void context_take_back(context *lent)
{
  if (lent) {
    destroy_all(lent);
    buffer_pools_free(lent->members[0].pools);
    lent->members[0].pools = NULL;
    lent->members[0].device = NULL;
    context_close(lent);
  }
}

context *context_get(abut_context c)
{
  return pool_get(&context_pool, (handle){c.index, c.generation});
}

abut_status abut_destroy_context(abut_context handle_)
{
  ENTER_ALONE(context_pool, handle_);
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  context_close(c);
  return ABUT_SUCCESS;
}

size_t context_real_bytes(const context *c)
{
  return c->def.precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float);
}

bool context_works(const context *c, size_t i)
{
  return c->members[i].device && c->members[i].status == ABUT_SUCCESS;
}

size_t context_first(const context *c)
{
  size_t i = 0;
  while (i < MEMBERS && !context_works(c, i)) {
    ++i;
  }
  return i;
}

bool is_device_error(abut_status status)
{
  return (status < 0 && status > -2000) || status == ABUT_ERROR_TIMEOUT ||
         status == ABUT_ERROR_SELF_TEST;
}

bool is_memory_error(abut_status status)
{
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
         status == CL_OUT_OF_HOST_MEMORY || status == CL_INVALID_BUFFER_SIZE;
}

abut_status too_many_elements(void)
{
  return CL_OUT_OF_RESOURCES;
}

void context_fail(context *c, size_t i, abut_status status)
{
  member *m = &c->members[i];
  pthread_mutex_lock(&c->lock);
  if (m->status == ABUT_SUCCESS) {
    m->status = status;
    m->failure = ++c->failures;
    keep_error_text(m->text);
  }
  pthread_mutex_unlock(&c->lock);
}

/* A single failed device gives its own error text; several give that of the last failure. */
static abut_status none_left(const context *c)
{
  const member *m = &c->members[0];
  for (size_t i = 1; i < MEMBERS; ++i) {
    m = c->members[i].failure > m->failure ? &c->members[i] : m;
  }
  return fail(m->status, "device %s failed, and no other device is left: %s",
              device_info(m->device)->name, m->text);
}

size_t context_members(const context *c)
{
  size_t i = c->count;
  while (i < MEMBERS && c->members[i].device) {
    ++i;
  }
  return i;
}

bool context_can_stand_in(const context *c)
{
  const size_t next = context_members(c);
  const bool host_stands_in = next > c->count &&
                              device_info(c->members[next - 1].device)->type == ABUT_DEVICE_HOST;
  return c->def.fallback == ABUT_FALLBACK_HOST && !host_stands_in;
}

/* Opens the next device in the order of preference that can be opened. The last place is the host
 * path's. */
static abut_status add_preferred(context *c, bool *added)
{
  found_device found;
  *added = false;
  for (size_t place = context_members(c); c->by_preference && !*added; ++place) {
    if (place + 1 == MEMBERS || discover_preferred(is_member, c, &found) != ABUT_SUCCESS ||
        !found.platform) {
      break;
    }
    const abut_status status = open_found(c, place, &found);
    *added = status == ABUT_SUCCESS;
    if (!*added) {
      TRY(is_passed_over(status) ? fail_found(c, place, &found, status) : status);
    }
  }
  return ABUT_SUCCESS;
}

abut_status context_stand_in(context *c)
{
  bool added = false;
  if (!context_can_stand_in(c)) {
    return none_left(c);
  }
  TRY(add_preferred(c, &added));
  if (added) {
    return ABUT_SUCCESS;
  }
  const device_options options = {.host = true, .precision = c->def.precision};
  return device_open(&options, &c->members[context_members(c)].device);
}

/* If memory runs out, the memory that a device holds for chunks is freed and the function is tried
 * again. */
static abut_status run_on(context *c, size_t i, member_function run, void *user)
{
  member *m = &c->members[i];
  abut_status status = run(c, i, user);
  if (is_memory_error(status) && m->pools) {
    device_drain(m->device);
    buffer_pools_free(m->pools);
    m->pools = NULL;
    status = run(c, i, user);
  }
  if (status != ABUT_SUCCESS) {
    device_drain(m->device);
  }
  return status;
}

abut_status context_on_each(context *c, member_function run, void *user)
{
  for (size_t i = 0; i < MEMBERS; ++i) {
    if (!context_works(c, i)) {
      continue;
    }
    const abut_status status = run_on(c, i, run, user);
    if (is_device_error(status)) {
      context_fail(c, i, status);
    } else if (status != ABUT_SUCCESS) {
      return status;
    }
  }
  return context_first(c) < MEMBERS || c->def.fallback == ABUT_FALLBACK_HOST ? ABUT_SUCCESS
                                                                             : none_left(c);
}

abut_status context_adopt(context *c, pool *p, owned *object, void (*destroy)(void *object))
{
  TRY(pool_add(p, object, c->call_lock, &object->self));
  object->pool = p;
  object->destroy = destroy;
  object->previous = NULL;
  object->next = c->newest;
  if (c->newest) {
    c->newest->previous = object;
  }
  c->newest = object;
  return ABUT_SUCCESS;
}

static void release(context *c, owned *object)
{
  if (object->previous) {
    object->previous->next = object->next;
  } else if (c->newest == object) {
    c->newest = object->next;
  }
  if (object->next) {
    object->next->previous = object->previous;
  }
  object->next = object->previous = NULL;
}

void context_discard(context *c, owned *object)
{
  release(c, object);
  pool_remove(object->pool, object->self);
  object->destroy(object);
}
