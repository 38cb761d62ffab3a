/* How the faces of a mesh meet at its edges, and the normal cones of edges and vertices that follow
 * from them (docs/features.md). */
#ifndef ABUT_BODY_CONES_H
#define ABUT_BODY_CONES_H

#include <abut/body.h>

/* A side of a face: its ends as one number (edge_code), and whether the face runs from the lower
 * end to the higher. The width is the face's across the side: the height of a triangle, the mean
 * width of a polygon. */
typedef struct face_side {
  uint64_t code;
  double width; /* [m] */
  uint32_t face;
  bool forward;
} face_side;

/* The faces of a mesh. Points are its vertices and, behind them, others that are only looked up. */
typedef struct mesh_faces {
  abut_surface of;
  size_t point_count;
  uint32_t *place;  /* (point_count) the first point at the place of each; without welding each
                       point itself */
  double *normals;  /* (faces, 3) of length 1, outward; zeros for faces without area, which are
                       left out */
  face_side *sides; /* (side_count) sorted by code */
  size_t side_count;
  double sense; /* -1 where faces were turned, else 1 */
} mesh_faces;

/* Makes them. `points` are extra_count rows of `stride` numbers that begin with a place. With
 * `weld` points nearer than about 1e-7 of the extent are at one place. Faces are turned if they
 * enclose a negative volume. A mesh with holes is turned only if it does so however these are
 * closed. `out` is empty on failure. */
abut_status mesh_faces_make(const abut_surface *of, bool weld, const double *points, size_t stride,
                            size_t extra_count, mesh_faces *out);
void mesh_faces_free(mesh_faces *m);

typedef enum fold_kind {
  FOLD_BARE, /* no face has this edge */
  FOLD_OPEN, /* not exactly two faces have it, or they run the same way */
  FOLD_CONVEX,
  FOLD_HOLLOW
} fold_kind;

/* How faces meet at an edge. Only the latter two kinds have an angle. */
typedef struct fold {
  fold_kind kind;
  double angle;            /* between the normals [rad] */
  double along[3], length; /* of the edge: its direction, of length 1, and its length [m] */
  double normals[2][3];    /* of its faces */
  double width;            /* of the wider one of its faces [m] */
  double cone[4];          /* axis and half angle [rad]; every normal unless convex */
} fold;

/* Looks an edge between two points up. */
fold mesh_fold(const mesh_faces *m, uint32_t from, uint32_t to);

/* Gives the cones (point_count, 4) of all points. */
abut_status mesh_vertex_cones(const mesh_faces *m, double *cones);

/* Gives `count` cones that every normal is within. */
void cones_of_every(double *cones, size_t count);

#endif
