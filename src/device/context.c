#include "device/context.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>

#define COOKIE 0xab070001u

abut_context_def abut_default_context_def(void)
{
  abut_context_def def = {0};
  if (abut_find_device(NULL, &def.device) != ABUT_SUCCESS) {
    def.device = 0;
  }
  def.precision = ABUT_FLOAT32;
  def.cookie = COOKIE;
  return def;
}

static abut_status check_def(const abut_context_def *def)
{
  if (def->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "make context definitions by abut_default_context_def");
  }
  if (def->precision != ABUT_FLOAT32 && def->precision != ABUT_FLOAT64) {
    return fail(ABUT_ERROR_ARGUMENT, "there is no precision %d", (int)def->precision);
  }
  const uint32_t n = def->lanes;
  if (n != 0 && n != 1 && n != 4 && n != 8 && n != 16) {
    return fail(ABUT_ERROR_ARGUMENT, "a lane width of %u is not one of 1, 4, 8 and 16", n);
  }
  if (def->group > 1024 || (def->group & (def->group - 1)) || def->items > 1024) {
    return fail(ABUT_ERROR_ARGUMENT, "work-groups of %u and %u work-items: the first must be a "
                "power of two, both at most 1024", def->group, def->items);
  }
  return ABUT_SUCCESS;
}

abut_status abut_create_context(const abut_context_def *def, abut_context *out)
{
  if (!def || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_context needs a definition and a handle");
  }
  TRY(check_def(def));
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(context)));
  context *c = memory;
  abut_status status = ABUT_SUCCESS;
  c->def = *def;
  c->def.kernel_directory = NULL; /* the caller's text need not last */
  const device_options options = {def->device, def->precision, def->lanes,
                                  def->group,  def->items,     def->kernel_directory};
  TRY_DONE(device_open(&options, &c->device));
  TRY_DONE(pool_add(&context_pool, c, &c->self));
  *out = (abut_context){c->self.index, c->self.generation};
  c = NULL;
done:
  if (c) {
    device_close(c->device);
    free(c);
  }
  return status;
}

context *context_get(abut_context c)
{
  return pool_get(&context_pool, (handle){c.index, c.generation});
}

abut_status abut_destroy_context(abut_context handle_)
{
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  while (c->newest) { /* newest first: pairs before the bodies that they use */
    owned *object = c->newest;
    context_release(c, object);
    object->destroy(object);
  }
  pool_remove(&context_pool, c->self);
  device_close(c->device);
  free(c);
  return ABUT_SUCCESS;
}

abut_status abut_context_device(abut_context handle_, abut_device_info *info)
{
  if (!info) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_context_device needs a place for its answer");
  }
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  *info = *device_info(c->device);
  return ABUT_SUCCESS;
}

abut_status abut_context_precision(abut_context handle_, abut_precision *precision)
{
  if (!precision) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_context_precision needs a place for its answer");
  }
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  *precision = c->def.precision;
  return ABUT_SUCCESS;
}

abut_status abut_get_counters(abut_context handle_, abut_counters *counters)
{
  if (!counters) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_counters needs a place for its answer");
  }
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  *counters = *device_counters(c->device);
  return ABUT_SUCCESS;
}

void context_adopt(context *c, owned *object)
{
  object->previous = NULL;
  object->next = c->newest;
  if (c->newest) {
    c->newest->previous = object;
  }
  c->newest = object;
}

void context_release(context *c, owned *object)
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

abut_status context_upload(context *c, size_t bytes, const void *from, buffer **out)
{
  TRY(buffer_create(c->device, bytes, out));
  const abut_status status = buffer_write(*out, 0, bytes, from);
  if (status != ABUT_SUCCESS) {
    buffer_destroy(*out);
    *out = NULL;
  }
  return status;
}
