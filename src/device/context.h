/* A context: an open device and what was made in it. */
#ifndef ABUT_DEVICE_CONTEXT_H
#define ABUT_DEVICE_CONTEXT_H

#include "base/handle.h"
#include "device/device.h"

/* Embedded first in bodies and pairs, so that a context can free them. */
typedef struct owned {
  struct owned *next, *previous;
  void (*destroy)(struct owned *self);
} owned;

typedef struct context {
  device *device;
  abut_context_def def;
  owned *newest;
  handle self;
} context;

/* The context of a handle, or NULL with an error text. */
context *context_get(abut_context c);

void context_adopt(context *c, owned *object);
void context_release(context *c, owned *object);

/* Uploads host memory into a new resident buffer. */
abut_status context_upload(context *c, size_t bytes, const void *from, buffer **out);

#endif
