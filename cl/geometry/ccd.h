// Collision in time as host and kernels both name it: docs/ccd.md.
#ifndef GEOMETRY_CCD_H
#define GEOMETRY_CCD_H

// Kinds of features and ends of rows, by the numbers of abut_ccd_kind, abut_ccd_status and
// abut_ccd_feature.
#define CCD_POINT_POINT 0
#define CCD_POINT_EDGE 1
#define CCD_POINT_TRIANGLE 2
#define CCD_EDGE_EDGE 3

#define CCD_FREE 0
#define CCD_HIT 1
#define CCD_LIMIT 2
#define CCD_WITHIN 3
#define CCD_BAD_INPUT 4
#define CCD_ROUGH 8
#define CCD_UNDECIDED 16 // added between kernels alone: the stage in doubled numbers takes the row

#define CCD_VERTEX_TRIANGLE 0
#define CCD_TRIANGLE_VERTEX 1
#define CCD_EDGES 2
#define CCD_EDGE_TRIANGLE 3 // through each other at time 0
#define CCD_TRIANGLE_EDGE 4

// Settings of all rows, in the order of the buffer that has them, and bits of those that each row
// has of its own.
enum {
  CCD_SEPARATION,
  CCD_KEEP,
  CCD_TOLERANCE,
  CCD_END,
  CCD_ERROR,
  CCD_RELATIVE_ERROR,
  CCD_SETTINGS
};

// A mesh is two buffers. Integers begin with a head of CCD_MESH_INTS; places count from the
// buffers' beginnings. Vertices, triangles and edges are each sorted in space, so that any
// CCD_GROUP of them, one behind the other, lie close together; triangles and edges name vertices by
// their places among the sorted.
enum {
  CCD_MESH_VERTICES, // how many there are
  CCD_MESH_TRIANGLES,
  CCD_MESH_EDGES,
  CCD_MESH_TRIANGLE_ENDS, // where (triangles, 3) begins among the integers
  CCD_MESH_EDGE_ENDS,     // (edges, 2)
  CCD_MESH_VERTEX_IDS,    // (vertices): which the caller's each one is
  CCD_MESH_TRIANGLE_IDS,  // (triangles)
  CCD_MESH_EDGE_IDS,      // (edges)
  CCD_MESH_VERTEX_BALLS,  // where, among the numbers, balls around each CCD_GROUP of vertices begin
  CCD_MESH_TRIANGLE_BALLS,
  CCD_MESH_EDGE_BALLS,
  CCD_MESH_INTS
};

// Numbers: the largest |x| + |y| + |z| of a vertex, rounded up; the mesh's origin, which all places
// are seen from; then the vertices (vertices, 3), and balls around groups, each a centre and a
// radius, rounded up.
#define CCD_MESH_SIZE 0
#define CCD_MESH_ORIGIN 1
#define CCD_MESH_POINTS 4
#define CCD_BALL_REALS 4

#define CCD_GROUP 16
#define CCD_GROUPS(features) (((features) + CCD_GROUP - 1) / CCD_GROUP)

#define CCD_ITERATIONS_USUAL 32 // where a caller names none

// So many rows a work-item takes: on CPUs, whose items have lanes, enough to keep all lanes busy.
// Rows that doubled numbers take are few, and a work-item looks for them among more: so many at
// most.
#define CCD_SEGMENT(lanes) ((lanes) == 1 ? 1 : 16 * (lanes))
#define CCD_SEGMENT_AGAIN(lanes) (32 * (lanes))

// Two meshes. Settings of all rows, in one buffer; and what a work-item's scratch has: reals for
// each vertex of both meshes, boxes of the features of mesh 2, in planes, and of groups of them;
// integers for these features and for pairs that wait. A feature has a box at either end: least
// coordinates of the first and of the second, then the greatest.
enum {
  CCD_BODIES_SEPARATION,
  CCD_BODIES_KEEP,
  CCD_BODIES_TOLERANCE,
  CCD_BODIES_EXACT,   // 1: times are those at which the distance is kept, to rounding, and no
                      // longer certified
  CCD_BODIES_CENTRES, // 3 of each mesh
  CCD_BODIES_SETTINGS = CCD_BODIES_CENTRES + 6
};
enum {
  CCD_SPOT_BOX_FROM, // along the axes of boxes: at time 0, at the horizon, at time 1
  CCD_SPOT_BOX_UNTIL = 3,
  CCD_SPOT_BOX_TO = 6,
  CCD_SPOT_FROM = 9, // in the world: at time 0, at time 1
  CCD_SPOT_TO = 12,
  CCD_SPOT_BEND = 15,
  CCD_SPOT_REALS
};
#define CCD_BOX_PLANES 12
#define CCD_QUEUE 256
#define CCD_GROUP_PLANE(plane) (((plane) / CCD_GROUP + CCD_GROUP - 1) / CCD_GROUP * CCD_GROUP)
#define CCD_SCRATCH_REALS(vertices, plane) \
  ((vertices)*CCD_SPOT_REALS + CCD_BOX_PLANES * ((plane) + CCD_GROUP_PLANE(plane)))
#define CCD_SCRATCH_INTS(plane) ((plane) + 2 * CCD_QUEUE)

#endif
