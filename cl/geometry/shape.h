// Convex shapes as kernels read them (docs/closest.md): names that the host and the kernels share.
//
// A list of shapes is two buffers. Integers begin with a head of SHAPE_INTS for each shape,
// followed by the rings of hulls. Numbers have each shape's record of SHAPE_REALS, and a hull's
// vertices.
#ifndef GEOMETRY_SHAPE_H
#define GEOMETRY_SHAPE_H

// Kinds, with the numbers of abut_shape_kind. A sphere is packed as a point with a radius.
#define SHAPE_HULL 0
#define SHAPE_POINT 1
#define SHAPE_BOX 2
#define SHAPE_ELLIPSOID 3
#define SHAPE_CAPSULE 4 // packed as a segment with a radius
#define SHAPE_CYLINDER 5
#define SHAPE_CONE 6
#define SHAPE_SUPERQUADRIC 7

// Kinds whose support maps are smooth somewhere, except points and segments.
#define SHAPE_IS_CURVED(kind)                                                               \
  ((kind) == SHAPE_ELLIPSOID || (kind) == SHAPE_SUPERQUADRIC || (kind) == SHAPE_CYLINDER || \
   (kind) == SHAPE_CONE)

// A head. Offsets are relative to the beginning of the list's buffers.
enum {
  SHAPE_KIND,
  SHAPE_COUNT,  // vertices of a hull; 8 for a box; otherwise 0
  SHAPE_PADDED, // the same rounded up to whole blocks of SHAPE_PAD
  SHAPE_RECORD, // offset of its record in the numbers
  SHAPE_PLANES, // offset of its vertices: planes of x, y and z, SHAPE_PADDED each
  // Offset of its rings in the integers: SHAPE_COUNT + 1 offsets, relative to this place, of each
  // vertex's neighbours and of the end; then the neighbours.
  SHAPE_RINGS,
  SHAPE_PLACING, // bits SHAPE_TURNED and SHAPE_MOVED
  SHAPE_INTS
};

// Whether a shape's own frame is rotated relative to the frame of poses, or has another origin.
#define SHAPE_TURNED 1
#define SHAPE_MOVED 2

// A record. Vertices and sizes are in the shape's own frame, whose origin is the centre of its box.
enum {
  SHAPE_RADIUS,                         // of rounding, including a sphere's and a capsule's own
  SHAPE_DIAGONAL,                       // L, without the definition's radius
  SHAPE_SPAN,                           // the same with that radius
  SHAPE_SIZE,                           // 3; a segment's half length is the first
  SHAPE_EXPONENTS = SHAPE_SIZE + 3,     // 2: those of the dual norm, 2 / (2 - e)
  SHAPE_ROTATION = SHAPE_EXPONENTS + 2, // 9, row by row: the own frame in the frame of poses
  SHAPE_OFFSET = SHAPE_ROTATION + 9,    // 3
  SHAPE_REALS = SHAPE_OFFSET + 3
};

#define SHAPE_PAD 16 // vertices are padded with the first one, to whole blocks of the most lanes

#endif
