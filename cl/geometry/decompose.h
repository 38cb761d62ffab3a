// Decomposition of a mesh into superquadrics and polyhedra (docs/decompose.md): what host and
// kernels both name.
#ifndef GEOMETRY_DECOMPOSE_H
#define GEOMETRY_DECOMPOSE_H

#define DECOMPOSE_BLOCK 128 // samples of a block
#define DECOMPOSE_MOST 256  // entries of a set

// Planes of a block of samples: position (3), root of the volume that the sample stands for, signed
// distance to the mesh.
#define SAMPLE_ROOT 3
#define SAMPLE_DISTANCE 4
#define SAMPLE_PLANES 5

// A set is of entries. A superquadric is one, packed as those of bodies are, but for what only
// these need. A polyhedron is one to three entries in a row, its parts, each of three planes and as
// long as a superquadric, so that equations and lists have blocks of one size. What is taken away
// has -1 as its sign.
#define DECOMPOSE_SIGN 30
#define DECOMPOSE_PART 31 // 0 of a superquadric, else PART_CODE

// A part is told by how many there are and which of them it is, from 0.
#define PARTS_MOST 3
#define PART_CODE(parts, part) (4 * (parts) + (part))
#define PART_COUNT(code) ((code) / 4)
#define PART_NUMBER(code) ((code) % 4)

// A part: of each of its planes the outward normal (3), the distance from the centre, and a unit
// vector across the normal (3); and the centre (3), which all parts of a polyhedron share. A plane
// that is none has no normal and lies PLANE_NONE away.
#define PLANES_EACH 3
#define PLANES_STRIDE 7
#define PLANES_OFFSET 3
#define PLANES_ACROSS 4
#define PLANES_CENTRE (PLANES_EACH * PLANES_STRIDE)
#define PLANE_NONE 1000.0

// The ball around a block: centre (3), radius.
#define DECOMPOSE_BALL 4

// An item: a block, and the set of primitives that is looked at there: where it begins among all,
// how many it has, and the row of frozen fields that join its union, or -1. Where primitives may be
// taken away (`mixed`) there are two rows for each: of those that add and of those that are taken
// away.
#define FIT_BLOCK 0
#define FIT_FIRST 1
#define FIT_COUNT 2
#define FIT_FROZEN 3
#define FIT_INTS 4

// The lists of an item: how many primitives were looked at and how many entries have a derivative
// there; both by their places in the set, a polyhedron that was looked at by that of its first
// part.
#define LIST_KEPT 0
#define LIST_ACTIVE 1
#define LIST_AT 2
#define LIST_INTS(most) (LIST_AT + 2 * (most))

// What the products of an item are made of: which item of the last fields, where its rows begin
// among all rows, and where its products among all products.
#define PRODUCT_ITEM 0
#define PRODUCT_ROW 1
#define PRODUCT_AT 2
#define PRODUCT_INTS 3

// Parameters of an entry: of a superquadric log axes (3), exponents (2), translation and twist in
// its own axes (3, 3); of a part three for each plane, its distance from the centre and what is
// added to its normal along the vector across it and along their cross product, and two that are
// none.
#define DECOMPOSE_PARAMETERS 11

// Planes of a sample's union without one primitive: places in the set of the nearest and of the
// second nearest primitive, their fields, the sum of the union relative to the nearest, and that
// without it relative to the second.
#define NEAREST_FIRST 0
#define NEAREST_SECOND 1
#define NEAREST_FIELD 2
#define NEAREST_NEXT 3
#define NEAREST_SUM 4
#define NEAREST_REST 5
#define NEAREST_PLANES 6

// Products of n rows: the lower triangle.
#define DECOMPOSE_PRODUCTS(n) ((n) * ((n) + 1) / 2)

#endif
