/* What calls on pairs of clouds share. */
#ifndef ABUT_SPRING_SPRING_H
#define ABUT_SPRING_SPRING_H

#include "query/spring/pack.h"
#include "query/spring/run.h"
#include "query/spring/surfaces.h"

typedef struct spring_call {
  batch_call base;
  const abut_spring *pairs;
  packed_clouds clouds;
  packed_surfaces surfaces;         /* packed where soft points or vertices' weights are wanted */
  size_t vertex_room;               /* how many vertices the largest pair has */
  size_t room;                      /* how many padded points it has */
  bool tells;                       /* separations, weights or what is made of them is wanted */
  size_t width;                     /* how many numbers a row of them has */
  abut_spring_gradients *gradients; /* or NULL */
} spring_call;

/* What a call keeps on a device. */
typedef struct spring_on {
  buffer *heads, *shapes;
  buffer *surfaces, *vertices;
  buffer *law, *pair; /* those of all pairs, where pairs have none of their own */
} spring_on;

#endif
