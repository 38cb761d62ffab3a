// Convex shapes as kernels read them (docs/closest.md): what host and kernels both name.
//
// A list of shapes is two buffers. Integers begin with a head of SHAPE_INTS for each shape; behind
// the heads lie the rings of hulls. Numbers hold each shape's record of SHAPE_REALS, and a hull's
// vertices.
#ifndef GEOMETRY_SHAPE_H
#define GEOMETRY_SHAPE_H

// Kinds, by the numbers of abut_shape_kind. A sphere is packed as a point with a radius.
#define SHAPE_HULL 0
#define SHAPE_POINT 1
#define SHAPE_BOX 2
#define SHAPE_ELLIPSOID 3
#define SHAPE_CAPSULE 4 // packed as a segment with a radius
#define SHAPE_CYLINDER 5
#define SHAPE_CONE 6
#define SHAPE_SUPERQUADRIC 7

// Kinds whose support maps are smooth somewhere, beside points and segments.
#define SHAPE_IS_CURVED(kind)                                                               \
  ((kind) == SHAPE_ELLIPSOID || (kind) == SHAPE_SUPERQUADRIC || (kind) == SHAPE_CYLINDER || \
   (kind) == SHAPE_CONE)

// A head. Places count from the beginning of the list's buffers.
enum {
  SHAPE_KIND,
  SHAPE_COUNT,   // vertices of a hull; 8 of a box; else 0
  SHAPE_PADDED,  // these rounded up to whole blocks of SHAPE_PAD
  SHAPE_RECORD,  // where its record begins among the numbers
  SHAPE_PLANES,  // where its vertices begin: planes of x, y and z, SHAPE_PADDED each
  SHAPE_RINGS,   // where its rings begin among the integers: SHAPE_COUNT + 1 places, from there on,
                 // where each vertex's neighbours begin and the last one's end; then the neighbours
  SHAPE_PLACING, // bits SHAPE_TURNED and SHAPE_MOVED
  SHAPE_INTS
};

// Whether a shape's own frame is turned against the frame of poses, or its origin lies elsewhere.
#define SHAPE_TURNED 1
#define SHAPE_MOVED 2

// A record. Vertices and sizes are in the shape's own frame, whose origin is the middle of its box.
enum {
  SHAPE_RADIUS,                         // of rounding, a sphere's and a capsule's own among it
  SHAPE_DIAGONAL,                       // L, without the definition's radius
  SHAPE_SPAN,                           // the same with it
  SHAPE_SIZE,                           // 3; a segment's half length comes first
  SHAPE_EXPONENTS = SHAPE_SIZE + 3,     // 2: those of the dual norm, 2 / (2 - e)
  SHAPE_ROTATION = SHAPE_EXPONENTS + 2, // 9, row by row: the own frame in the frame of poses
  SHAPE_OFFSET = SHAPE_ROTATION + 9,    // 3
  SHAPE_REALS = SHAPE_OFFSET + 3
};

#define SHAPE_PAD 16 // vertices are padded by the first one, to whole blocks of the most lanes

#endif
