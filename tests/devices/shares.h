/* Contexts of several equal devices. */
#ifndef ABUT_TESTS_SHARES_H
#define ABUT_TESTS_SHARES_H

#include "support/check.h"

enum { MOST = 1023 }; /* poses */

extern abut_precision precision;

typedef struct variant {
  const char *name;
  abut_device_choice choices[ABUT_DEVICES_MOST];
  size_t count;
} variant;

enum { WHOLE, PARTS, MORE, ALL, VARIANTS };

/* Devices of one kind, each way that there is; a count of 0 where it is none. False, after a line
 * that says so, where there is no such device. */
bool find_variants(const char *device, variant v[VARIANTS]);

/* A pair of bodies of all primitives that keeps some elements of each kind. */
typedef struct world {
  abut_context context;
  abut_body body;
  abut_pair pair;
} world;

bool world_open(const variant *v, uint32_t chunk, abut_select select, world *out);
void world_close(world *w);

/* One pose in sixteen is none. */
void make_poses(double *poses, size_t count, uint64_t seed);

/* Progress comes in order, on the caller's thread, and stops a call. */
void test_progress(const variant *v);

/* Spans of the timeline cover each pose once in each phase. */
void test_timeline(const variant *v, uint32_t chunk);

#endif
