// What is constant for a pair on a device, as kernels read it: sizes that follow from both meshes,
// from the smoothing and from the device's lanes. All members are ints, so that host and device
// agree on the layout.
#ifndef GEOMETRY_PAIR_H
#define GEOMETRY_PAIR_H

// The vertices or the edges of one body.
typedef struct pair_elements {
  int count, padded; // how many the mesh has; rounded up to whole blocks of lanes
  int kept, slots;   // how many have contacts; likewise rounded up
  int plane;         // numbers of a plane of the kept ones: slots, or padded where all are kept
  int selected;      // 1 where a selection ranks all and keeps some
  int weighted;      // 1 where the selection is by gates, which weigh them
  int contact;       // the slot of their first contact; of edges, with the point on this body
  int arcs;          // 1 where an edge is an arc, 2 where one is a circle's
  int of_distance;   // of edges: 1 where the other body's field is nowhere more than the distance
  int held;          // of vertices: the first so many may have contacts, the others are ends of
                     // edges
  int radii;         // 1 where a vertex has a radius
  int moving;        // 1 where each pose has the mesh's in a row of its own, with tangents
                     // (kernels/shape/moves.cl)
} pair_elements;

// Which elements are meant: those of body `side`, 0 or 1.
#define VERTICES_OF(side) (side)
#define EDGES_OF(side) (2 + (side))
#define ELEMENT_KINDS 4

typedef struct pair_sizes {
  int contacts;
  int pairs, pair_slots;       // of kept edges; rounded up to whole blocks of lanes
  int near_plane, near_stride; // where only active contacts are computed: numbers of a plane of
                               // pairs, and of all that a pose has of them
  int gated;                   // 1 where selections are by gates
  int in_fields;               // 1 where edges make contacts with the other body's field, else in
                               // pairs
  int listed;                  // LISTED_*: what contacts can be of
  int zones[2];                // of seams of either body, behind the head
  int balls[2], ball_slots[2]; // around each body's sorted vertices; rounded up to blocks of lanes
  pair_elements elements[ELEMENT_KINDS];
} pair_sizes;

// Lists of edge contacts of one pose, with their values by place in the list. Pairs have one list
// of pairs and two values of each, by the point on either body. Edges in fields have a list of
// slots for each body, in which both of an edge follow each other.
#define EDGE_LIST_PLANE(n, side) \
  ((n)->in_fields ? 2 * (n)->elements[EDGES_OF(side)].padded : (n)->near_plane)
#define EDGE_LIST_AT(n, side) ((n)->in_fields && (side) ? 1 + EDGE_LIST_PLANE(n, 0) : 0)
#define EDGE_LIST_STRIDE(n) \
  ((n)->in_fields ? 2 + EDGE_LIST_PLANE(n, 0) + EDGE_LIST_PLANE(n, 1) : (n)->near_plane + 1)
#define EDGE_ENTRIES_AT(n, side) ((side) ? EDGE_LIST_PLANE(n, 0) : 0)
#define EDGE_ENTRIES_STRIDE(n) (EDGE_LIST_PLANE(n, 0) + EDGE_LIST_PLANE(n, 1))

// The reals of a pair beside the smoothing's, for near*.cl: which part of its length an edge's
// points are at most from one of its ends; how far beyond the nearest blocks of each body's
// vertices a selection looks; the largest radius of each body's vertices; and each body's middle,
// for middle.cl: its place, how deep it lies in the body (0: there is none), below which depth the
// other body's field is no distance, and 1 where the body's edges have no radii: capsules around
// edges may reach out of the body at their ends. Off the other body its field counts MIDDLE_RISE
// times, since that of a polyhedron is less than the distance there.
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
