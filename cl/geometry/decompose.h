// Decomposition of a mesh into superquadrics and polyhedra (docs/decompose.md): names that the host
// and the kernels share.
#ifndef GEOMETRY_DECOMPOSE_H
#define GEOMETRY_DECOMPOSE_H

#define DECOMPOSE_BLOCK 128 // samples of a block
#define DECOMPOSE_MOST 256  // entries of a set

// Planes of a block of samples: position (3), root of the volume that the sample represents, signed
// distance to the mesh.
#define SAMPLE_ROOT 3
#define SAMPLE_DISTANCE 4
#define SAMPLE_PLANES 5

// A set consists of entries. A superquadric is one entry, packed like those of bodies, with two
// additional numbers. A polyhedron is one to three consecutive entries, its parts. Each part has
// three planes and the length of a superquadric, so that equations and lists have blocks of one
// size. Subtracted primitives have the sign -1.
#define DECOMPOSE_SIGN 30
#define DECOMPOSE_PART 31 // 0 for a superquadric, otherwise PART_CODE

// A part's code combines the number of parts and its own number, starting with 0.
#define PARTS_MOST 3
#define PART_CODE(parts, part) (4 * (parts) + (part))
#define PART_COUNT(code) ((code) / 4)
#define PART_NUMBER(code) ((code) % 4)

// A part: for each of its planes the outward normal (3), the distance from the centre, and a unit
// vector across the normal (3); and the centre (3), shared by all parts of a polyhedron. An absent
// plane has no normal and the distance PLANE_NONE.
#define PLANES_EACH 3
#define PLANES_STRIDE 7
#define PLANES_OFFSET 3
#define PLANES_ACROSS 4
#define PLANES_CENTRE (PLANES_EACH * PLANES_STRIDE)
#define PLANE_NONE 1000.0

// The ball around a block: centre (3), radius.
#define DECOMPOSE_BALL 4

// An item: a block, and the set of primitives evaluated there. It has the set's start among all
// primitives, its size, and the row of frozen fields that joins its union, or -1. With subtracted
// primitives (`mixed`) there are two frozen rows: one for added and one for subtracted primitives.
#define FIT_BLOCK 0
#define FIT_FIRST 1
#define FIT_COUNT 2
#define FIT_FROZEN 3
#define FIT_INTS 4

// The lists of an item: the number of evaluated primitives and of entries with a derivative there,
// then both by their places in the set. An evaluated polyhedron has the place of its first part.
#define LIST_KEPT 0
#define LIST_ACTIVE 1
#define LIST_AT 2
#define LIST_INTS(most) (LIST_AT + 2 * (most))

// The input of an item's products: the item's number among the last fields, the start of the item's
// rows among all rows, and the start of its products among all products.
#define PRODUCT_ITEM 0
#define PRODUCT_ROW 1
#define PRODUCT_AT 2
#define PRODUCT_INTS 3

// Parameters of an entry. A superquadric has log axes (3), exponents (2), translation and twist in
// its own axes (3, 3). A part has three for each plane: its distance from the centre, and the
// changes of its normal along the vector across it and along their cross product. Two more are
// unused.
#define DECOMPOSE_PARAMETERS 11

// Planes of a sample's union without one primitive: places in the set of the nearest and of the
// second nearest primitive, their fields, the sum of the union relative to the nearest, and the sum
// without the nearest relative to the second.
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
