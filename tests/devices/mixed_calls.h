/* Every call on poses, with all that it reads and writes, a row an entry. */
#ifndef ABUT_TESTS_MIXED_CALLS_H
#define ABUT_TESTS_MIXED_CALLS_H

#include "support/check.h"

enum { MOST = 211, WIDTH = 7, BLOCK = 8 * 2 * WIDTH };

extern abut_precision precision;

enum {
  POSE,
  ALONG = POSE + 2,
  BARS = ALONG + 2,
  VALUES = BARS + 4,
  REDUCED = VALUES + 4,
  WEIGHT = REDUCED + 7,
  TANGENTS = WEIGHT + 1,
  GRADIENT = TANGENTS + 4,
  PRODUCT = GRADIENT + 2,
  ARRAYS = PRODUCT + 2
};

typedef struct set {
  size_t count, contacts;
  void *arrays[ARRAYS];
  uint8_t status[MOST];
  uint32_t own[MOST];
  size_t rejected;
  abut_compact list;
  void *blocks;
} set;

enum {
  CONTACTS,
  VJP,
  JVP,
  REDUCTIONS,
  HESSIANS = REDUCTIONS + 6,
  JACOBIAN = HESSIANS + 6,
  ACTIVE,
  VJP_TANGENT,
  CALLS
};

/* Numbers of an array in a row. */
size_t width_of(int array, size_t contacts);

void set_create(set *s, size_t count, size_t contacts, size_t capacity);
void set_free(set *s);

/* One pose in sixteen is none. */
void fill_inputs(set *s);

bool gives_list(int call);

/* Whatever is not the caller's comes in `b`: pairs and their indices. */
abut_status run(set *s, abut_pair pair, abut_pair second, abut_batch b, int call);

/* Which arrays a call writes. */
bool writes(int call, int array);

#endif
