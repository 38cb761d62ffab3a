// The sites of a call with derivatives with respect to the bodies' shapes: all places at which a
// pose evaluates a body's field, with the cotangents of its distance and of its normal there.
#ifndef GEOMETRY_SITES_H
#define GEOMETRY_SITES_H

// A site's planes: the place (3), the cotangents of phi, of the normal (3) and of the gradient of
// phi (3), all in the frame of the field's body. A plane has one number for each of the field's
// sites.
#define SITE_PHI 3
#define SITE_NORMAL 4
#define SITE_GRADIENT 7
#define SITE_PLANES 10

// An edge evaluates the field at three places for each of its two contacts: at the contact, at the
// place before it is shifted, and at the edge's end.
#define SITES_OF_EDGE 6

// The number of sites of each body's field, in whole blocks of lanes, and the starts of those of
// each kind: of the other body's vertices, all and retained; of witness points, the body's own
// after each tracing step in turn and the other body's; of the other body's edges in the field; and
// of the other body's middle.
typedef struct field_sites {
  int count[2];
  int vertices[2], kept[2], own[2], opposing[2], edges[2], middles[2];
} field_sites;

// A site's contribution to each operation's union: its distance, the cotangents of the distance and
// of the mean of its normals (3), that mean times its cotangent, the cotangent of the distance's
// gradient (3), which is a direction, and the growth of the distance along that direction. Added
// primitives are the first.
#define SHARE_PHI 0
#define SHARE_PHI_BAR 1
#define SHARE_NORMAL_BAR 2
#define SHARE_ALONG 5
#define SHARE_GRADIENT_BAR 6
#define SHARE_RISE 9
#define SHARE_OPERATION 10
#define SHARE_PLANES (2 * SHARE_OPERATION)

// A site's contribution to one polyhedron or cloud: its distance, the cotangents of the distance
// and of its raw normal, and the growth of the distance along v. Here v is the cotangent g_bar of
// the raw normal; it is a direction because a raw normal is a gradient. A cloud also has log2 of
// the sum of its weights, and the growth of that sum's natural logarithm along v.
#define PART_PHI 0
#define PART_PHI_BAR 1
#define PART_V 2
#define PART_ALONG 5
#define PART_TOP 6
#define PART_TOP_ALONG 7
#define PART_PLANES 8

// A site's contribution to a grid: the clipped place in cells (3), and the cotangents of the spline
// there, of its derivatives with respect to the place (3) and of its second derivatives (6: xx, yy,
// zz, xy, xz, yz).
#define NODE_SITE_PHI 3
#define NODE_SITE_SLOPE 4
#define NODE_SITE_CURVE 7
#define NODE_SITE_PLANES 13

// The numbers of a primitive's derivative in a row. A plane's derivatives are with respect to its
// normal, with n . p fixed, and minus the derivative with respect to n . p. The last derivative of
// a point is with respect to the logarithm of its width.
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
