// Decomposition of a mesh into superquadrics (docs/decompose.md): what host and kernels both name.
#ifndef GEOMETRY_DECOMPOSE_H
#define GEOMETRY_DECOMPOSE_H

#define DECOMPOSE_BLOCK 128 // samples of a block
#define DECOMPOSE_MOST 256  // primitives of a set

// Planes of a block of samples: position (3), root of the volume that the sample stands for, signed
// distance to the mesh.
#define SAMPLE_ROOT 3
#define SAMPLE_DISTANCE 4
#define SAMPLE_PLANES 5

// A primitive is packed as those of bodies are, but for what only these need: one that is taken away has -1 here.
#define DECOMPOSE_SIGN SUPERQUADRIC_OUTER

// The ball around a block: centre (3), radius.
#define DECOMPOSE_BALL 4

// An item: a block, and the set of primitives that is looked at there: where it begins among all,
// how many it has, and the row of frozen fields that join its union, or -1. Where primitives may be taken away
// (`mixed`) there are two rows for each: of those that add and of those that are taken away.
#define FIT_BLOCK 0
#define FIT_FIRST 1
#define FIT_COUNT 2
#define FIT_FROZEN 3
#define FIT_INTS 4

// The lists of an item: how many primitives were looked at and how many have a derivative there; the
// former, by their places in the set; the latter, by their places among the former.
#define LIST_KEPT 0
#define LIST_ACTIVE 1
#define LIST_AT 2
#define LIST_INTS(most) (LIST_AT + 2 * (most))

// What the products of an item are made of: which item of the last fields, where its rows begin among
// all rows, and where its products among all products.
#define PRODUCT_ITEM 0
#define PRODUCT_ROW 1
#define PRODUCT_AT 2
#define PRODUCT_INTS 3

// Parameters of a primitive: log axes (3), exponents (2), translation and twist in its own axes (3, 3).
#define DECOMPOSE_PARAMETERS 11

// Planes of a sample's union without one primitive: places in the set of the nearest and of the second
// nearest primitive, their fields, the sum of the union relative to the nearest, and that without it
// relative to the second.
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
