/* What calls on pairs of clouds share. */
#ifndef ABUT_SPRING_SPRING_H
#define ABUT_SPRING_SPRING_H

#include "spring/pack.h"
#include "spring/run.h"
#include "spring/surfaces.h"

typedef struct spring_call {
  batch_call base;
  const abut_spring *pairs;
  packed_clouds clouds;
  packed_surfaces surfaces;         /* where soft points or vertices' weights are wanted */
  size_t vertex_room;               /* vertices of the largest pair */
  size_t room;                      /* padded points of the largest pair */
  bool tells;                       /* separations, weights, or what is made of these is wanted */
  size_t width;                     /* numbers of their rows */
  abut_spring_gradients *gradients; /* or NULL */
} spring_call;

/* What a call keeps on a device. */
typedef struct spring_on {
  buffer *heads, *shapes;
  buffer *surfaces, *vertices;
  buffer *law, *pair; /* of all pairs, where they have none of their own */
} spring_on;

#endif
