// The sites of a call whose derivatives are by the bodies' shapes: all places where a pose asks for
// a body's field, with the cotangents of its distance and of its normal there.
#ifndef GEOMETRY_SITES_H
#define GEOMETRY_SITES_H

// A site's planes: the place (3), the cotangents of phi, of the normal (3) and of the gradient of
// phi (3), all in the frame of the body whose field it is. A plane has a number for each of the
// field's sites.
#define SITE_PHI 3
#define SITE_NORMAL 4
#define SITE_GRADIENT 7
#define SITE_PLANES 10

// An edge in a field asks at three places for each of its two contacts: at the contact, at the
// place before it is moved, and at the edge's end.
#define SITES_OF_EDGE 6

// How many sites each body's field has, whole blocks of lanes, and where those of each kind begin:
// of the other body's vertices, all and kept; of witness points, the own ones after each tracing
// step in turn and the other body's; of the other body's edges in the field; of its middle.
typedef struct field_sites {
  int count[2];
  int vertices[2], kept[2], own[2], opposing[2], edges[2], middles[2];
} field_sites;

// What a site gives to each operation's union: its distance, the cotangents of that and of the mean
// of its normals (3), that mean times its cotangent, the cotangent of the distance's gradient (3),
// which is a direction, and how fast the distance grows along that. Added primitives come first.
#define SHARE_PHI 0
#define SHARE_PHI_BAR 1
#define SHARE_NORMAL_BAR 2
#define SHARE_ALONG 5
#define SHARE_GRADIENT_BAR 6
#define SHARE_RISE 9
#define SHARE_OPERATION 10
#define SHARE_PLANES (2 * SHARE_OPERATION)

// What a site gives to one polyhedron or cloud: its distance, the cotangents of that (v = g_bar in
// what follows: a raw normal is a gradient, so that its cotangent is a direction) and of its raw
// normal, and how fast the distance grows along v. Of a cloud also log2 of the sum of its weights,
// and how fast that sum's natural logarithm grows along v.
#define PART_PHI 0
#define PART_PHI_BAR 1
#define PART_V 2
#define PART_ALONG 5
#define PART_TOP 6
#define PART_TOP_ALONG 7
#define PART_PLANES 8

// What a site gives to a grid: the clipped place in cells (3), and the cotangents of the spline
// there, of its derivatives by the place (3) and of its second ones (6: xx, yy, zz, xy, xz, yz).
#define NODE_SITE_PHI 3
#define NODE_SITE_SLOPE 4
#define NODE_SITE_CURVE 7
#define NODE_SITE_PLANES 13

// The numbers of a primitive's derivative in a row. A plane's are by its normal, with n . p held,
// and minus that by n . p; a point's end with that by the logarithm of its width.
#define BY_AXES 0
#define BY_EXPONENTS 3
#define BY_POSITION 5
#define BY_ROTATION 8
#define BY_SUPERQUADRIC 11
#define BY_PLANE 4
#define BY_CLOUD_NORMAL 3
#define BY_CLOUD_WIDTH 6
#define BY_CLOUD_POINT 7
#define BY_CORE_HALF 0
#define BY_CORE_RADIUS 3
#define BY_CORE_POSITION 4
#define BY_CORE_ROTATION 7
#define BY_CORE 10

// The numbers of a feature edge's derivative in a row: by EDGE_P to EDGE_SCORE of layout.h.
#define BY_RAIL 16

#endif
