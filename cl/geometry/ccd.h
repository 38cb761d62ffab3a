// Continuous collision detection: names that the host and the kernels share (docs/ccd.md).
#ifndef GEOMETRY_CCD_H
#define GEOMETRY_CCD_H

// Kinds of features and statuses of rows, with the numbers of abut_ccd_kind, abut_ccd_status and
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
#define CCD_UNDECIDED 16 // only between kernels: the stage in doubled numbers handles the row

#define CCD_VERTEX_TRIANGLE 0
#define CCD_TRIANGLE_VERTEX 1
#define CCD_EDGES 2
#define CCD_EDGE_TRIANGLE 3 // penetrating at time 0
#define CCD_TRIANGLE_EDGE 4

// Settings of all rows, in the order of their buffer, and bits of the settings that each row has
// separately.
enum {
  CCD_SEPARATION,
  CCD_KEEP,
  CCD_TOLERANCE,
  CCD_END,
  CCD_ERROR,
  CCD_RELATIVE_ERROR,
  CCD_SETTINGS
};

// A mesh is two buffers. Integers begin with a head of CCD_MESH_INTS; offsets are relative to the
// buffers' beginnings. Vertices, triangles and edges are each sorted in space, so that CCD_GROUP
// consecutive ones are close together. Triangles and edges refer to vertices by their sorted
// indices.
enum {
  CCD_MESH_VERTICES, // the number of vertices
  CCD_MESH_TRIANGLES,
  CCD_MESH_EDGES,
  CCD_MESH_TRIANGLE_ENDS, // offset of (triangles, 3) in the integers
  CCD_MESH_EDGE_ENDS,     // (edges, 2)
  CCD_MESH_VERTEX_IDS,    // (vertices): index of each in the caller's mesh
  CCD_MESH_TRIANGLE_IDS,  // (triangles)
  CCD_MESH_EDGE_IDS,      // (edges)
  CCD_MESH_VERTEX_BALLS,  // offset in the numbers of the balls around each CCD_GROUP of vertices
  CCD_MESH_TRIANGLE_BALLS,
  CCD_MESH_EDGE_BALLS,
  CCD_MESH_INTS
};

// Numbers: the largest |x| + |y| + |z| of a vertex, rounded up; the mesh's origin; then, relative
// to this origin, the vertices (vertices, 3) and the balls around groups. A ball has a centre and a
// radius, which is rounded up.
#define CCD_MESH_SIZE 0
#define CCD_MESH_ORIGIN 1
#define CCD_MESH_POINTS 4
#define CCD_BALL_REALS 4

#define CCD_GROUP 16
#define CCD_GROUPS(features) (((features) + CCD_GROUP - 1) / CCD_GROUP)

#define CCD_ITERATIONS_USUAL 32 // the default

// The number of rows per work-item. On CPUs, whose work-items have lanes, it is large enough to
// keep all lanes busy. Few rows need doubled numbers, and a work-item searches for them among more
// rows: at most CCD_SEGMENT_AGAIN.
#define CCD_SEGMENT(lanes) ((lanes) == 1 ? 1 : 16 * (lanes))
#define CCD_SEGMENT_AGAIN(lanes) (32 * (lanes))

// Two meshes: settings of all rows, in one buffer, and the layout of a work-item's scratch. The
// reals are numbers of each vertex of both meshes, and boxes, in planes, of the features of mesh 2
// and of groups of them. The integers are indices of these features and queued pairs. A feature has
// a box at either end: first the least coordinates of both boxes, then the greatest.
enum {
  CCD_BODIES_SEPARATION,
  CCD_BODIES_KEEP,
  CCD_BODIES_TOLERANCE,
  // 1: times at which the distance is the kept one, to rounding, and no longer certified
  CCD_BODIES_EXACT,
  CCD_BODIES_CENTRES, // 3 for each mesh
  CCD_BODIES_SETTINGS = CCD_BODIES_CENTRES + 6
};
enum {
  CCD_SPOT_BOX_FROM, // along the axes of boxes: at time 0, at the horizon, at time 1
  CCD_SPOT_BOX_UNTIL = 3,
  CCD_SPOT_BOX_TO = 6,
  CCD_SPOT_FROM = 9, // in world coordinates: at time 0, at time 1
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
