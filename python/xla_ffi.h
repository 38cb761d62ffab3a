/* The structs that XLA passes to a foreign function, as of version 0.1 of its interface (jaxlib
 * 0.6.1), limited to those that python/xla.c uses. Newer versions append members.
 * tests/python/test_jax_layout.py compares them with the header of the installed jaxlib. */
#ifndef ABUT_XLA_FFI_H
#define ABUT_XLA_FFI_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_MAJOR = 0, XLA_MINOR = 1 };

/* Every struct starts with its size as known to the caller, and a chain of extensions. */
typedef struct xla_extension {
  size_t size;
  int kind;
  struct xla_extension *next;
} xla_extension;

enum { XLA_EXTENSION_METADATA = 1 };

typedef struct xla_version {
  size_t size;
  xla_extension *extensions;
  int major, minor;
} xla_version;

/* Filled by a handler when XLA asks for it at registration. */
typedef struct xla_metadata {
  size_t size;
  xla_version version;
  uint32_t traits;
} xla_metadata;

typedef struct xla_metadata_query {
  xla_extension base;
  xla_metadata *metadata;
} xla_metadata_query;

/* Error codes. */
enum { XLA_INVALID_ARGUMENT = 3, XLA_RESOURCE_EXHAUSTED = 8, XLA_INTERNAL = 13 };

typedef struct xla_error xla_error;

typedef struct xla_error_args {
  size_t size;
  xla_extension *extensions;
  const char *message;
  int code;
} xla_error_args;

/* Element types. */
enum { XLA_S32 = 4, XLA_S64 = 5, XLA_U8 = 6, XLA_U32 = 8, XLA_F32 = 11, XLA_F64 = 12 };

typedef struct xla_buffer {
  size_t size;
  xla_extension *extensions;
  int type;
  void *data;
  int64_t rank;
  int64_t *shape;
} xla_buffer;

enum { XLA_BUFFER = 1 };

/* Arguments or results. */
typedef struct xla_buffers {
  size_t size;
  xla_extension *extensions;
  int64_t count;
  int *kinds;
  void **items;
} xla_buffers;

typedef struct xla_text {
  const char *characters;
  size_t length;
} xla_text;

typedef struct xla_scalar {
  int type;
  void *value;
} xla_scalar;

typedef struct xla_array {
  int type;
  size_t count;
  void *data;
} xla_array;

enum { XLA_ATTRIBUTE_ARRAY = 1, XLA_ATTRIBUTE_SCALAR = 3 };

typedef struct xla_attributes {
  size_t size;
  xla_extension *extensions;
  int64_t count;
  int *kinds;
  xla_text **names;
  void **items;
} xla_attributes;

/* The first of the functions that XLA offers. */
typedef struct xla_api {
  size_t size;
  xla_extension *extensions;
  xla_version version;
  const void *internal;
  xla_error *(*create_error)(xla_error_args *args);
} xla_api;

enum { XLA_STAGE_EXECUTE = 3 };

typedef struct xla_frame {
  size_t size;
  xla_extension *extensions;
  const xla_api *api;
  void *context;
  int stage;
  xla_buffers arguments;
  xla_buffers results;
  xla_attributes attributes;
} xla_frame;

#endif
