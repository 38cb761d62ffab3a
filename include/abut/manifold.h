/* Contact manifolds of a pair of bodies over a batch of poses.
 *
 * Method: Beker et al., "Smoothly Differentiable and Efficiently Vectorizable Contact Manifold
 * Generation"; each function names the part that it takes from the paper. An array named `real`
 * holds float or double by the context's precision. N is the number of poses. C is the number of
 * contact slots of the pair, the same for every pose.
 *
 * Order of slots: [vertices of 1 in SDF 2] [vertices of 2 in SDF 1] [edge pairs, point on 1] [edge
 * pairs, point on 2]. Among edge pairs the edge of body 1 varies slowest.
 *
 * Signs: a distance is negative inside; a normal points out of the opposing body. A vertex
 * contact's normal has length 1. An edge-edge contact's distance and normal are those of the edges'
 * witness points times the same smooth sign in (-1, 1) (IV-D). Both fade where it is undecided
 * which side is inside. The normal's length is the magnitude of that sign, from 0 to 1, and the
 * distance is meaningful only if the activity is not near 0.
 */
#ifndef ABUT_MANIFOLD_H
#define ABUT_MANIFOLD_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum abut_select {
  ABUT_SELECT_SOFTSORT = 0, /* averages elements of nearly equal score */
  ABUT_SELECT_GATE = 1      /* keeps true elements in rank order, weighted to 0 where they leave;
                               if a tie is cut, all elements of the tie have weight 0 */
} abut_select;

/* How edges make contacts (docs/dev/spec.md, sections 6 and 10). */
typedef enum abut_edge_contacts {
  ABUT_EDGES_PAIRS = 0, /* each edge of one body against each edge of the other */
  ABUT_EDGES_FIELD = 1  /* each edge against the other body's field: two slots for each edge */
} abut_edge_contacts;

#define ABUT_SAMPLES_MOST 64

/* Smoothing coefficients. [m] marks lengths, in [1e-6, 1e9]. The other coefficients have no unit
 * and are in [1e-18, 1e9]. */
typedef struct abut_smoothing {
  double length;      /* [m]   unit of length of a witness problem */
  double union_;      /* [m]   soft union and subtraction of primitives */
  double plane;       /* [m]   soft maximum over a polyhedron's planes */
  double normal;      /*       unit(g) = g / sqrt(normal + g.g) */
  double penetration; /* [m]   activity = sigmoid(-d / penetration) */
  double neighbour;   /* [m]   soft nearest edge, among edges whose gate weight is above 0 */
  double clash;       /*       n1.n2 <= 0 */
  double sign;        /*       sign of n.nbar */
  double sort;        /* [m]   scores of the selection */
  double clip;        /*       witness problem: clip to [0, 1] */
  double minimum;     /*       witness problem: soft minimum over the boundary */
  double compare;     /*       witness problem: interior test */
  double ridge;       /*       witness problem: regularisation */
  double distance;    /* [m^2] under the root of nbar */
  uint32_t trace;     /* sphere-tracing steps of edge-edge witness points, 0 to 64 */
  bool inside;        /* scale edge-edge activity by [own phi <= 0] */
  abut_select select;
  bool edge_edge;       /* off: no edge-edge contacts */
  bool two_sided;       /* off: no contacts of body 2's vertices */
  double floor;         /* activities up to this become 0, smoothly, and stay unchanged from
                           twice this; in [0, 0.5]; below 1e-18 it is taken as 0 */
  double margin;        /* [m] distance at which a contact is half active, 0 by default; depths
                           do not change */
  uint32_t edges[2];    /* retained edges of each body, 0 for all in mesh order */
  uint32_t vertices[2]; /* retained vertices of each body, 0 for all in mesh order */
  abut_edge_contacts edge_contacts;
  /* The coefficients below are for ABUT_EDGES_FIELD, which requires selection by gates. */
  double tilt;      /* slope of a field against which an edge's point is drawn to the edge's end;
                       in [1e-6, 0.5] */
  double inset;     /* [m] distance by which the point is then moved back from the place to which
                       it was drawn; may be 0 */
  double part;      /* [m] distance below which an edge's two points count as one, and likewise a
                       point and the edge's far end */
  double gain;      /* [m] depth beyond the depth of its end from which an edge's point counts */
  double slope;     /* under the root of the field's slope, by which distances of edges are
                       divided; negative: they are not divided */
  uint32_t samples; /* intervals of an edge in which its least field is searched, 1 to
                       ABUT_SAMPLES_MOST; 1 suits convex fields */
  /* Normal cones (docs/dev/spec.md, section 11) weigh contacts if cone_outer exceeds cone_inner.
     They need ABUT_EDGES_FIELD, two_sided and edge_edge. The three angles are in [0, 180]. */
  double cone_inner; /* [degrees] a contact counts fully up to this angle outside its feature's
                        cone */
  double cone_outer; /* [degrees] a contact does not count from this angle on; 0: no cones */
  double cone_hold;  /* [degrees] allowed angle of a normal outside a cone that is narrower than
                        30 degrees */
  double cone_inset; /* [m] how far inside its own body, along its cone's axis, a sharp feature
                        evaluates the other body's field. The field is taken to be flat from
                        there to the feature, so that a corner exactly on a rim has the normal of
                        the face; may be 0 */
  uint32_t cookie;   /* set by abut_default_smoothing */
} abut_smoothing;

/* Returns the method's reference values, for bodies of about a metre. All edges and vertices are
 * retained. */
ABUT_API abut_smoothing abut_default_smoothing(void);

/* Fits smoothing to the size of two bodies. A body's scale is its bounding diagonal or 8 times its
 * thickness, whichever is less; D is the smaller scale of the two. length is 0.06 D, plane 0.004 D,
 * penetration 0.0056 D, neighbour twice penetration, distance 1e-10 D^2. sort is 0.005 of the
 * larger diagonal, at most 0.01 of the smaller. union is the temperature that the bodies were
 * fitted with, the smaller of two. A body of several primitives whose file states no temperature
 * counts with 0.004 of its scale. Selection is by gates.
 *
 * Edges make contacts with the other body's field (ABUT_EDGES_FIELD), all edges, with normal cones.
 * inset is the penetration, part is twice the penetration and gain half of it. samples is 1 if both
 * fields are of one convex primitive, else 8. slope is 0.05, and -1 beside a height field.
 * cone_inner is 15, cone_outer 35 and cone_hold 2 degrees; cone_inset is 3 penetrations. Cones need
 * two_sided and edge_edge: if you turn one off, set cone_outer to 0, too. */
ABUT_API abut_status abut_fit_smoothing(abut_body body1, abut_body body2,
                                        abut_smoothing *smoothing);

/* Fits smoothing for contacts of edges with edges (ABUT_EDGES_PAIRS), without cones: the method of
 * Beker et al. Contacts are of the meshes' own edges and vertices, and have no radii. A body
 * with more than 32 edges retains as many edges as it has primitives, between 16 and 32. All
 * else is as in abut_fit_smoothing. */
ABUT_API abut_status abut_fit_edge_pairs(abut_body body1, abut_body body2,
                                         abut_smoothing *smoothing);

typedef struct abut_pair {
  uint32_t index, generation;
} abut_pair;

/* Makes a pair of two bodies of one context, with their smoothing. The bodies may be the same, and
 * must outlive the pair. With pairs of edges, `length` must not be so short beside a body's
 * diagonal (from about 1e-6 of it) that float32 overflows, and no feature of either body may have a
 * radius. If more vertices or edges are to be retained than a body has, all are. Errors:
 * ABUT_ERROR_ARGUMENT names the coefficient that is out of range. */
ABUT_API abut_status abut_create_pair(abut_body body1, abut_body body2,
                                      const abut_smoothing *smoothing, abut_pair *pair);

/* Destroys a pair. Its bodies remain. */
ABUT_API abut_status abut_destroy_pair(abut_pair pair);

/* Layout of the slots of a pair. A side that a variant drops has count 0. */
typedef struct abut_layout {
  size_t contacts;         /* C */
  size_t vertices[2];      /* retained vertices of each body */
  size_t edges[2];         /* retained edges of each body */
  size_t vertex_offset[2]; /* first slot of each body's vertex contacts */
  size_t edge_offset[2];   /* first slot of the edge pairs with the point on each body, or of
                              each body's edges in the other body's field */
  size_t edge_slots[2];    /* number of these slots: edges[0] edges[1], or 2 for each edge */
} abut_layout;

/* Gets the layout of a pair's contact slots. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_layout(abut_pair pair, abut_layout *layout);

/* Gets the smoothing that a pair was created with. A scene's pair (abut_get_scene_pair) has the
 * values that the scene states, and fitted values for the rest. */
ABUT_API abut_status abut_get_smoothing(abut_pair pair, abut_smoothing *smoothing);

/* Gets the bodies that a pair was created with. They may have been destroyed since. NULL: not
 * wanted. Error: ABUT_ERROR_HANDLE. */
ABUT_API abut_status abut_get_pair_bodies(abut_pair pair, abut_body *body1, abut_body *body2);

typedef enum abut_pose_kind {
  ABUT_POSE_TWIST = 0,     /* (N, 6): s = (rho, omega), T = exp(s), translation part first */
  ABUT_POSE_QUATERNION = 1 /* (N, 7): x, y, z, qw, qx, qy, qz; normalised internally */
} abut_pose_kind;

typedef enum abut_pose_status {
  ABUT_POSE_OK = 0,
  ABUT_POSE_NOT_FINITE = 1,    /* a NaN or an infinity among the pose's numbers */
  ABUT_POSE_NO_QUATERNION = 2, /* a quaternion of length 0 */
  ABUT_POSE_DEEP = 4,          /* The bodies are so deep in each other that contacts within their
                                  cones have less than half of the depth. `distance` and
                                  `soft_distance` include more of the depth than contacts do. The
                                  pose has all its results. This bit is computed only if one of
                                  these two reductions is wanted. */
  /* a pose with either bit has no results */
  ABUT_POSE_REJECTED = ABUT_POSE_NOT_FINITE | ABUT_POSE_NO_QUATERNION
} abut_pose_status;

/* Contacts whose activity is at least `threshold`, sorted by pose, then by slot. Activities are in
 * [0, 1]: a threshold of 0 or below lists every slot, one above 1 none. NaN is ABUT_ERROR_ARGUMENT.
 *
 * An array that is NULL is not written. `count` is set to the number of contacts found. If it
 * exceeds `capacity`, the call returns ABUT_ERROR_OVERFLOW; the first `capacity` entries are then
 * right, and every other output of the call is complete.
 *
 * With `grows` the arrays belong to the library and are in host memory, whatever the batch's
 * memory. A call makes all of them `count` long once the count is known, and sets `capacity` to
 * that; nothing is computed twice. Initialise the list to zeros, except `threshold` and `grows`.
 * The list may be used for call after call, and each call replaces its arrays. A call that fails
 * leaves no arrays, unless it refuses its arguments first. Free the list before you switch `grows`
 * off. abut_free_compact frees the arrays.
 */
typedef struct abut_compact {
  double threshold;
  bool grows;
  size_t capacity;
  size_t count;       /* out */
  uint32_t *pose;     /* (capacity) index of the pose in the batch */
  uint32_t *slot;     /* (capacity) in 0 .. C-1 */
  uint32_t *feature;  /* (capacity, 2) vertex or edge of body 1, of body 2, numbered as in the
                         mesh; ABUT_NO_FEATURE if the contact has none. With SoftSort it is the
                         slot's ranked element, around which the slot averages. */
  void *p, *n;        /* real (capacity, 3) */
  void *d, *activity; /* real (capacity) */
  void *weight;       /* real (capacity); a list with `grows` has it only if `weights` is set */
  bool weights;       /* with `grows`: the weight is wanted */
  void *blocks;       /* with `grows`, from abut_jacobian: real (capacity, 8, 2 P); else not used */
  uint32_t cookie;    /* set by the library while it owns the arrays */
} abut_compact;

/* Frees the arrays that calls have made for a list with `grows`, and empties the list. `threshold`,
 * `grows` and arrays of the caller's do not change. NULL is allowed. */
ABUT_API void abut_free_compact(abut_compact *list);

#define ABUT_NO_FEATURE UINT32_MAX

/* One number for each pose. An array that is NULL is not computed. All real (N). */
typedef struct abut_reductions {
  void *mean_distance;    /* mean of d over all C contacts, of any activity [m]: smooth at any
                             distance, but it is not a depth. With gates it jumps when the
                             retained elements change, because distances have no weight */
  void *activity;         /* sum of activity over all C contacts */
  void *energy;           /* sum of activity max(-d, 0)^2 over all C contacts [m^2] */
  void *minimum_distance; /* smallest d of the vertex contacts [m] */
  void *soft_minimum;     /* -tau log sum exp(-d / tau) of the vertex contacts, tau = penetration */
  void *distance;         /* distance or depth: the smallest d of all contacts whose weight is at
                             least 1/2 [m]. Continuous, with the exceptions of docs/limits.md,
                             but not smooth */
  void *soft_distance;    /* -T log sum weight exp(-d / T) over all contacts [m] */
  double temperature;     /* T [m], in [1e-12, 1e9]; 0: penetration / 16 */
} abut_reductions;

/* Called between chunks, on the calling thread, with the number of poses done; returning false
 * stops the call. */
typedef bool (*abut_progress)(size_t done, size_t total, void *user);

/* Where the arrays of a batch are. */
typedef enum abut_memory {
  ABUT_MEMORY_HOST = 0,
  ABUT_MEMORY_OPENCL = 1, /* cl_mem objects of the context's cl_context, which must have been
                             made from the caller's queue. Kernels read and write them without a
                             copy if whole chunks are aligned as the device requires. The host
                             does not access them, so that they may be CL_MEM_HOST_NO_ACCESS.
                             Poses, p, d, n, activity and the derivatives' arrays of the same
                             call are of this kind; status, compact with a Jacobian's blocks, and
                             reductions stay in host memory. */
  ABUT_MEMORY_STATE = 2   /* pointers to abut_state_array: arrays of one state of the context
                             (state.h), with as many rows as there are poses; reductions, too.
                             status and compact with a Jacobian's blocks stay in host memory, and
                             the call waits for them. Without a status array `rejected` stays 0:
                             only its NaN shows a pose that is not finite. No array is both read
                             and written. `progress` is not called. */
} abut_memory;

/* Value of a call's `pair` for a batch whose entries have different pairs. `pairs` lists pairs of
 * one context, which may differ in bodies and smoothing, and `pair` holds the index in `pairs` of
 * each entry. All calls that take a batch accept this. Every entry gets the same results, to the
 * bit, as in a call with only its pair, in any order of entries.
 *
 * C is the largest number of contacts among the listed pairs, whether or not they have entries. An
 * entry of a pair with fewer contacts uses the first slots. Its other slots are 0 in p, d, n,
 * activity and tangents, and their cotangents are not read. `contacts` holds each entry's own
 * number. Reductions, a compact list's slots and features, and Jacobian blocks are those of the
 * entry's pair. The list is sorted by entry, then by slot. Lists and indices are in host memory.
 *
 * `derivatives` sets a second smoothing: one pair for each of `pairs`, with the conditions of
 * <abut/derivatives.h>. The calls' own argument stays ABUT_SAME_PAIR. Calls that take no second
 * pair refuse it, except abut_contacts, which ignores it.
 *
 * Entries are sorted by pair and processed pair by pair. A chunk, also of a timeline, counts them
 * in this order. Errors: ABUT_ERROR_ARGUMENT names an entry whose index is out of range.
 * ABUT_ERROR_HANDLE names a pair that is destroyed, has lost a body, or is of another context than
 * the first. */
#define ABUT_BATCH_PAIRS ((abut_pair){0, 0})

typedef struct abut_batch {
  size_t count; /* N, from 0 */
  abut_memory memory;
  abut_pose_kind poses;
  const void *pose1, *pose2; /* real (N, 6) or (N, 7) */
  void *p;                   /* real (N, C, 3) world coordinates [m], or NULL */
  void *d;                   /* real (N, C) signed distance [m], or NULL */
  void *n;                   /* real (N, C, 3) world coordinates, or NULL */
  void *activity;            /* real (N, C) in [0, 1], or NULL */
  void *weight;              /* real (N, C) in [0, 1]: relevance of a contact regardless of its
                                depth; 1 for vertices, and with cones the weight of the cones; or
                                NULL */
  const abut_pair *pairs;    /* (pair_count), or NULL: all entries have the call's own pair */
  size_t pair_count;
  const uint32_t *pair;         /* (N) index of each entry in `pairs` */
  const abut_pair *derivatives; /* (pair_count) second smoothing of each pair, or NULL */
  uint32_t *contacts;           /* (N) out: number of contact slots of each entry, or NULL */
  uint8_t *status;              /* (N) abut_pose_status, or NULL */
  size_t rejected;              /* out: poses with a bit of ABUT_POSE_REJECTED in their status */
  size_t failures;              /* out: devices that failed during the call, and whose share
                                   other devices did: abut_context_devices reports which and why */
  abut_compact *compact;        /* or NULL */
  abut_reductions reductions;
  abut_progress progress; /* or NULL */
  void *user;
  uint32_t cookie; /* set by abut_default_batch */
} abut_batch;

ABUT_API abut_batch abut_default_batch(void);

/* Computes the contacts of every pose. Arrays that are NULL are neither written nor transferred.
 *
 * A pose that is not finite gets its status, NaN in its outputs, and no entry in the compact list;
 * other poses are not affected. Every finite pose gives finite numbers. Translations saturate at
 * 1e37 m, and distances between bodies at 1e12 m, in float32 (1e307 and 1e100 in float64). Results
 * do not depend, to the bit, on how the batch is split into chunks, calls or devices of one kind.
 * After any error except ABUT_ERROR_OVERFLOW the outputs are undefined.
 */
ABUT_API abut_status abut_contacts(abut_pair pair, abut_batch *batch);

/* Computes only the witness points of two edges. It minimises the distance over both edge
 * parameters by a smooth active set (Beker et al., III-B). An edge without length is allowed.
 *
 * edges1, edges2   real (count, 2, 3) [m]
 * points1, points2 real (count, 3) [m], or NULL
 * interior         real (count), near 1 if both parameters are inside, or NULL
 * Edges that are not finite give points of NaN, and 0 or NaN as interior. Coefficients used:
 * length, clip, minimum, compare, ridge. Results do not depend, to the bit, on how devices of one
 * kind share the queries. An output may overlap an input.
 */
ABUT_API abut_status abut_witness_edges(abut_context context, const abut_smoothing *smoothing,
                                        size_t count, const void *edges1, const void *edges2,
                                        void *points1, void *points2, void *interior);

/* Computes only the smooth projection of a point onto a triangle (Beker et al., III-C).
 *
 * points     real (count, 3) [m]
 * triangles  real (count, 3, 3) [m]
 * projected  real (count, 3) [m]
 * status     (count) 0, or 1 if the triangle has no area, an edge has no length, or a number is not
 *            finite (in float32, products of lengths are not finite from about 1e9 m on). The
 *            projected point is then NaN. May be NULL.
 * rejected   set to the number of such queries; may be NULL
 * Coefficients used: length, clip, minimum, compare, distance. Results do not depend, to the bit,
 * on how devices of one kind share the queries. An output may overlap an input.
 */
ABUT_API abut_status abut_witness_faces(abut_context context, const abut_smoothing *smoothing,
                                        size_t count, const void *points, const void *triangles,
                                        void *projected, uint8_t *status, size_t *rejected);

#ifdef __cplusplus
}
#endif
#endif
