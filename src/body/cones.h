/* The angles between a mesh's faces at its edges, and the normal cones of edges and vertices that
 * follow from them (docs/features.md). */
#ifndef ABUT_BODY_CONES_H
#define ABUT_BODY_CONES_H

#include <abut/body.h>

/* A side of a face: its ends as one number (edge_code), and whether the face traverses it from the
 * lower to the higher end. The width is that of the face across the side: the height of a triangle,
 * or the mean width of a polygon. */
typedef struct face_side {
  uint64_t code;
  double width; /* [m] */
  uint32_t face;
  bool forward;
} face_side;

/* The faces of a mesh. The points are its vertices, followed by extra points for lookups. */
typedef struct mesh_faces {
  abut_surface of;
  size_t point_count;
  uint32_t *place; /* (point_count) the first point at the same position; without welding, the point
                      itself */
  double *normals; /* (faces, 3) unit, outward; zeros for faces without area, which are ignored */
  face_side *sides; /* (side_count) sorted by code */
  size_t side_count;
  double sense; /* -1 if faces were turned; otherwise 1 */
} mesh_faces;

/* `points` are extra_count rows of `stride` numbers that begin with a position. With `weld`, points
 * within about 1e-7 of the extent coincide. Faces are turned if they enclose a negative volume. A
 * mesh with holes is turned only if every way of closing them gives a negative volume. `out` is
 * empty on failure. */
abut_status mesh_faces_make(const abut_surface *of, bool weld, const double *points, size_t stride,
                            size_t extra_count, mesh_faces *out);
void mesh_faces_free(mesh_faces *m);

typedef enum fold_kind {
  FOLD_BARE, /* no face has this edge */
  FOLD_OPEN, /* the number of faces is not two, or both traverse it in the same direction */
  FOLD_CONVEX,
  FOLD_HOLLOW
} fold_kind;

/* How faces meet at an edge. Only the last two kinds have an angle. */
typedef struct fold {
  fold_kind kind;
  double angle;         /* between the normals [rad] */
  double length;        /* of the edge [m] */
  double normals[2][3]; /* of its faces */
  double width;         /* of the wider of its faces [m] */
  double cone[4];       /* axis and half angle [rad]; contains all normals unless convex */
} fold;

/* Looks up the edge between two points. */
fold mesh_fold(const mesh_faces *m, uint32_t from, uint32_t to);

/* Gives the cones (point_count, 4) of all points. */
abut_status mesh_vertex_cones(const mesh_faces *m, double *cones);

/* Gives `count` cones that contain every normal. */
void cones_of_every(double *cones, size_t count);

#endif
