// The constant data of a pair on a device, as kernels read it: sizes that follow from both meshes,
// from the smoothing and from the device's lanes. All members are ints, so that host and device
// agree on the layout.
#ifndef GEOMETRY_PAIR_H
#define GEOMETRY_PAIR_H

// The vertices or the edges of one body.
typedef struct pair_elements {
  int count, padded; // the number in the mesh; the same rounded up to whole blocks of lanes
  int kept, slots;   // the number with contacts; the same rounded up
  int plane;         // size of a plane of the retained ones: slots, or padded if all are retained
  int selected;      // 1 if a selection ranks all and retains some
  int weighted;      // 1 if the selection uses gates, which weight the elements
  int contact; // the slot of their first contact; for edges, the first with the point on this body
  int arcs;    // 1 if an edge is an arc, 2 if one is part of a circle
  int of_distance; // for edges: 1 if the other body's field never exceeds the distance
  // for vertices: only the first `held` may have contacts, the others are ends of edges
  int held;
  int radii; // 1 if a vertex has a radius
  // 1 if each pose has its own row of the mesh, with tangents (kernels/shape/moves.cl)
  int moving;
} pair_elements;

// Indices of elements: those of body `side`, 0 or 1.
#define VERTICES_OF(side) (side)
#define EDGES_OF(side) (2 + (side))
#define ELEMENT_KINDS 4

typedef struct pair_sizes {
  int contacts;
  int pairs, pair_slots; // of retained edges; rounded up to whole blocks of lanes
  // if only active contacts are computed: numbers of a plane of pairs, and of all planes of a pose
  int near_plane, near_stride;
  int gated; // 1 if selections use gates
  // 1 if edges have contacts with the other body's field, 0 if in pairs
  int in_fields;
  int listed;                  // LISTED_*: the kinds of possible contacts
  int zones[2];                // of seams of either body, after the head
  int balls[2], ball_slots[2]; // around each body's sorted vertices; rounded up to blocks of lanes
  pair_elements elements[ELEMENT_KINDS];
} pair_sizes;

// Lists of edge contacts of one pose, with their values by place in the list. Pairs have one list
// of pairs and two values of each, by the point on either body. Edges in fields have a list of
// slots for each body, in which both slots of an edge are adjacent.
#define EDGE_LIST_PLANE(n, side) \
  ((n)->in_fields ? 2 * (n)->elements[EDGES_OF(side)].padded : (n)->near_plane)
#define EDGE_LIST_AT(n, side) ((n)->in_fields && (side) ? 1 + EDGE_LIST_PLANE(n, 0) : 0)
#define EDGE_LIST_STRIDE(n) \
  ((n)->in_fields ? 2 + EDGE_LIST_PLANE(n, 0) + EDGE_LIST_PLANE(n, 1) : (n)->near_plane + 1)
#define EDGE_ENTRIES_AT(n, side) ((side) ? EDGE_LIST_PLANE(n, 0) : 0)
#define EDGE_ENTRIES_STRIDE(n) (EDGE_LIST_PLANE(n, 0) + EDGE_LIST_PLANE(n, 1))

// The reals of a pair in addition to the smoothing's, for near*.cl: the largest distance of an
// edge's points from one of its ends, as a part of its length; the distance beyond the nearest
// blocks of each body's vertices within which a selection is exact; and the largest radius of each
// body's vertices. Then each body's middle, for middle.cl: its place; its depth in the body (0:
// there is none); the depth below which the other body's field is not a distance; and 1 if the
// body's edges have no radii, because capsules around edges may extend beyond the body at their
// ends. Outside of the other body its field counts MIDDLE_RISE times, because that of a polyhedron
// is less than the distance there.
#define PAIR_EDGE_PART 0
#define PAIR_SCORED 1
#define PAIR_ROUND 3
#define PAIR_MIDDLE(side) (5 + MIDDLE_REALS * (side))
#define PAIR_REALS (5 + 2 * MIDDLE_REALS)
#define MIDDLE_AT 0
#define MIDDLE_RADIUS 3
#define MIDDLE_LEAST 4
#define MIDDLE_SHARP 5
#define MIDDLE_RISE 6
#define MIDDLE_REALS 7

#endif
