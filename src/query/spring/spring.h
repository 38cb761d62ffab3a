/* Declarations shared by calls on pairs of clouds. */
#ifndef ABUT_SPRING_SPRING_H
#define ABUT_SPRING_SPRING_H

#include "query/spring/pack.h"
#include "query/spring/run.h"
#include "query/spring/surfaces.h"

typedef struct spring_call {
  batch_call base;
  const abut_spring *pairs;
  packed_clouds clouds;
  packed_surfaces surfaces; /* packed if soft points or vertices' weights are wanted */
  size_t vertex_room;       /* vertices of the largest pair */
  size_t room;              /* padded points of the largest pair */
  bool tells;               /* separations, weights or results computed from them are wanted */
  size_t width;             /* numbers per row of them */
  abut_spring_gradients *gradients; /* or NULL */
} spring_call;

/* The data of a call on a device. */
typedef struct spring_on {
  buffer *heads, *shapes;
  buffer *surfaces, *vertices;
  buffer *law, *pair; /* those of all pairs, if pairs have none of their own */
} spring_on;

#endif
