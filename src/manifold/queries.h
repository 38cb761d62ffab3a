/* Calls of many small queries that need no pair, on one device after the other until one does them
 * all. */
#ifndef ABUT_MANIFOLD_QUERIES_H
#define ABUT_MANIFOLD_QUERIES_H

#include "body/body.h"
#include <abut/manifold.h>

#define QUERY_ARRAYS 8
#define QUERY_WIDEST 9 /* reals a query of the widest array */

/* An array of a query call: `width` elements of `size` bytes a query. On duals the derivatives of
 * all of a chunk's queries follow their values. */
typedef struct query_array {
  const void *in; /* caller's memory to upload, or NULL */
  void *out;      /* caller's memory to download to, or NULL */
  size_t width, size;
  buffer *memory;
  bool absent;    /* an input that the caller has not given: zeros */
  const void *tangent_in; /* the same for derivatives; NULL: zero */
  void *tangent_out;
} query_array;

typedef struct query_call {
  context *context;
  device *device;   /* the one that does it, and what lies there */
  body *of;         /* of abut_evaluate_body */
  const resident_body *body;
  const abut_smoothing *smoothing;
  kernel_id kernel;
  buffer *coefficients;
  query_array arrays[QUERY_ARRAYS];
  int count; /* of arrays */
  program_id program;
  void *zeros; /* (chunk, QUERY_WIDEST) for inputs that are not given; NULL without one */
  void *staged; /* a chunk's outputs until all have come, where they overlap inputs; or NULL */
  bool borrows; /* kernels work in the caller's arrays, without copies */
} query_call;

/* Does queries first .. first + count - 1 whole, or fails with their inputs as they were. */
typedef abut_status (*query_chunk)(size_t first, size_t count, query_call *c);

/* All queries of a call, in chunks that fit the device's memory. */
abut_status run_queries(query_call *c, size_t count, query_chunk run);

/* What a chunk of witness points begins and ends with. */
abut_status upload_arrays(query_call *c, size_t first, size_t count);
abut_status download_arrays(query_call *c, size_t first, size_t count);

#endif
