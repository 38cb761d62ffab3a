/* Features of a body: the vertices and edges that touch the field of another body, and their normal
 * cones (docs/features.md). */
#ifndef ABUT_BODY_FEATURES_H
#define ABUT_BODY_FEATURES_H

#include "body/body.h"

#define CIRCLE_PARTS 4 /* edges per circle */

/* Half angle of a cone that contains every normal [rad]. */
#define CONE_EVERY 3.14159265358979323846

typedef struct body_features body_features;

struct body_features {
  size_t vertex_count, edge_count;
  size_t held; /* The first `held` vertices may be in contact. The others are only ends of edges. */
  double *vertices; /* (vertex_count, 4) position and radius [m] */
  uint32_t *names;  /* (vertex_count) index of each in the body's mesh, or among the stated
                       features */
  /* (edge_count) by indices of these vertices, from < to, in lexicographic order. An arc has a unit
   * axis, and its centre is in the plane of the arc. */
  abut_feature_edge *edges;
  /* The last `quarters` edges are those of the circles, four for each, right-handed about its axis.
   * Their ends are never in contact, `to` of the fourth is `from` of the first, and their names
   * follow those of the other edges. */
  size_t quarters;
  uint32_t *edge_names; /* (edge_count) index of each in the body's edges or the stated ones */
  bool of_surface;      /* They belong to the surface of a body whose contact mesh has no faces, and
                           names refer to the surface's vertices. */
  double *vertex_cones; /* (vertex_count, 4) unit axis, half angle [rad]; CONE_EVERY: all normals */
  double *edge_cones;   /* (edge_count, 4) */
};

/* Makes the features of a body. For a part of a body (body/cut.h), they are the whole's.
 *
 * Without stated features, they are the mesh's vertices and some of the body's edges: those with
 * two faces that meet convexly at an angle of more than `sharp` between their normals, some between
 * long facets, and those without exactly two faces. Faces are turned first if they enclose a
 * negative volume. These criteria also apply with cones; the smaller angle of the reference for
 * cones is not used. A body without faces has all of its vertices and edges.
 *
 * With cones, coinciding vertices are merged for their cones and for the faces of an edge, and only
 * the first of coinciding edges is included. Vertices with a half angle below 1 degree are left
 * out, or are never in contact if an edge needs them. Stated features at the mesh's vertices or on
 * its edges have the mesh's cones, unless cones are given. Without cones, every vertex may be in
 * contact and every cone contains all normals.
 *
 * Needs no device. `out` is empty on failure, and may be passed to body_features_free. */
abut_status body_features_make(const body *b, bool with_cones, body_features *out);
void body_features_free(body_features *f);

#endif
