/* What calls on pairs of clouds share. */
#ifndef ABUT_SPRING_SPRING_H
#define ABUT_SPRING_SPRING_H

#include "spring/pack.h"
#include "spring/run.h"

typedef struct spring_call {
  batch_call base;
  const abut_spring *pairs;
  packed_clouds clouds;
  size_t room;                      /* padded points of the largest pair */
  bool tells;                       /* separations or weights are wanted */
  abut_spring_gradients *gradients; /* or NULL */
} spring_call;

/* What a call keeps on a device. */
typedef struct spring_on {
  buffer *heads, *shapes;
  buffer *law, *pair; /* of all pairs, where they have none of their own */
} spring_on;

#endif
