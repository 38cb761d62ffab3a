/* Features of a body: the vertices and edges by which it touches the field of another one, and
 * their normal cones (docs/features.md). */
#ifndef ABUT_BODY_FEATURES_H
#define ABUT_BODY_FEATURES_H

#include "body/body.h"

#define CIRCLE_PARTS 4 /* edges that a circle is made of */

/* Half angle of a cone that every normal is within [rad]. */
#define CONE_EVERY 3.14159265358979323846

typedef struct body_features body_features;

struct body_features {
  size_t vertex_count, edge_count;
  size_t held;      /* The first so many vertices may be in contact, the others are only ends
                       of edges. */
  double *vertices; /* (vertex_count, 4) place and radius [m] */
  uint32_t *names;  /* (vertex_count) index of each in the body's mesh, or among the stated
                       features */
  abut_feature_edge *edges; /* (edge_count) by indices of these vertices, from < to, in
                               lexicographic order; the axis of an arc has length 1, and its
                               centre lies in the plane of the arc */
  size_t quarters;          /* The last so many edges are those of the circles, four of each,
                               right-handed about its axis. Their ends are not held, `to` of the
                               fourth is `from` of the first, and their names follow those of the
                               other edges. */
  uint32_t *edge_names; /* (edge_count) index of each among the body's edges, or among the stated
                           ones */
  bool of_surface;      /* They are of the surface of a body whose contact mesh has no faces, and
                           names its vertices. */
  double *vertex_cones; /* (vertex_count, 4) axis of length 1 and half angle [rad]; CONE_EVERY:
                           every normal */
  double *edge_cones;   /* (edge_count, 4) */
};

/* Makes the features of a body; those of a part of a body (body/cut.h) are the whole's.
 *
 * Features that are not stated are the mesh's vertices, and of the body's edges those at which two
 * faces meet convexly with more than `sharp` between their normals, and those that have not two
 * faces. Faces are turned first where they enclose a negative volume. This angle is the one rule
 * for edges, also with cones; the narrower one of the reference for cones is not used. A body
 * without faces has all of its vertices and edges.
 *
 * With cones, vertices at one place are one for cones and for which faces an edge has, and of edges
 * at one place the first stays. Vertices whose half angle is below 1 degree are left out, or, where
 * an edge needs them, are not held. Stated features have the mesh's cones where they lie at its
 * vertices and on its edges, unless cones are given. Without cones every vertex is held and every
 * normal is within each cone.
 *
 * Needs no device. `out` is empty on failure; body_features_free takes it, too. */
abut_status body_features_make(const body *b, bool with_cones, body_features *out);
void body_features_free(body_features *f);

#endif
