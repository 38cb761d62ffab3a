/* Contact manifolds of a pair of bodies over a batch of poses.
 *
 * Method: Beker et al., "Smoothly Differentiable and Efficiently Vectorizable Contact Manifold
 * Generation"; each function names the part it takes from there. An array named `real` holds float
 * or double by the context's precision. N is the number of poses, C the number of contact slots of
 * the pair, the same for every pose.
 *
 * Order of slots: [vertices of 1 in SDF 2] [vertices of 2 in SDF 1] [edge pairs, point on 1]
 * [edge pairs, point on 2]; the slot k of body 1 varies slowest among edge pairs.
 *
 * Signs: a distance is negative inside; a normal points out of the opposing body. A vertex
 * contact's normal has length 1. An edge-edge contact's distance and normal are those of the edges'
 * witness points times the same smooth sign in (-1, 1) (IV-D), so that both fade where it is
 * undecided which side is inside: its normal's length is that sign's, from 0 to 1, and its distance
 * means something only where its activity is not near 0.
 */
#ifndef ABUT_MANIFOLD_H
#define ABUT_MANIFOLD_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum abut_select {
  ABUT_SELECT_SOFTSORT = 0, /* averages elements of near-equal score */
  ABUT_SELECT_GATE = 1      /* keeps true elements in rank order, weighted to 0 where they leave;
                               where a tie is cut through, all of it weighs 0 */
} abut_select;

/* How edges make contacts (docs/dev/spec.md, sections 6 and 10). */
typedef enum abut_edge_contacts {
  ABUT_EDGES_PAIRS = 0, /* each edge of one body with each edge of the other */
  ABUT_EDGES_FIELD = 1  /* each edge with the other body's field: two slots for each edge */
} abut_edge_contacts;

#define ABUT_SAMPLES_MOST 64

/* Smoothing coefficients. [m] marks lengths, in [1e-6, 1e9]; the rest have no unit and lie in
 * [1e-18, 1e9]. */
typedef struct abut_smoothing {
  double length;      /* [m]   lengths are divided by it before a witness problem */
  double union_;      /* [m]   soft union and subtraction of primitives */
  double plane;       /* [m]   soft maximum over a polyhedron's planes */
  double normal;      /*       unit(g) = g / sqrt(normal + g.g) */
  double penetration; /* [m]   activity = sigmoid(-d / penetration) */
  double neighbour;   /* [m]   soft nearest edge, among those of a gate weight above 0 */
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
  double floor;         /*       activities up to it become 0, smoothly, from twice of it they
                           stay; in [0, 0.5], below 1e-18 as 0 */
  double margin;        /* [m] distance at which a contact is half active, 0 unless set; depths
                           stay what they are */
  uint32_t edges[2];    /* kept edges of each body, 0 for all in mesh order */
  uint32_t vertices[2]; /* kept vertices of each body, 0 for all in mesh order */
  abut_edge_contacts edge_contacts;
  /* The coefficients that follow are of ABUT_EDGES_FIELD. With it, selections are by gates. */
  double tilt;      /* slope of a field against which an edge's point is drawn to its end; in
                       [1e-6, 0.5] */
  double inset;     /* [m] how far the point is then moved back from where the pull took it;
                       may be 0 */
  double part;      /* [m] distance below which an edge's two points count as one, and
                       likewise a point and the edge's far end */
  double gain;      /* [m]   depth beyond its end's from which an edge's point counts */
  double slope;     /* under the root of the field's slope, by which distances of edges are
                       divided; negative: they are not divided */
  uint32_t samples; /* parts of an edge in which its least field is looked for, 1 to
                       ABUT_SAMPLES_MOST; 1 suits convex fields */
  /* Normal cones (docs/dev/spec.md, section 11) weigh contacts where cone_outer exceeds cone_inner.
   * They need ABUT_EDGES_FIELD, two_sided and edge_edge. Each of the three lies in [0, 180]. */
  double cone_inner; /* [degrees] a contact counts fully up to so far outside its feature's
                        cone */
  double cone_outer; /* [degrees] from so far on it does not count; 0: no cones */
  double cone_hold;  /* [degrees] how far outside a cone narrower than 30 degrees a normal may
                        lie */
  double cone_inset; /* [m] how far inside its own body, along its cone's axis, a sharp
                        feature asks the other body's field, which is taken to be flat from
                        there to the feature: so a corner that lies just on a rim has the
                        normal of the face; may be 0 */
  uint32_t cookie;   /* set by abut_default_smoothing */
} abut_smoothing;

/* The method's reference values, for bodies of about a metre; keeps all edges and vertices. */
ABUT_API abut_smoothing abut_default_smoothing(void);

/* Values that follow the bodies' scale D, the smaller of theirs. A body's is its bounding diagonal
 * or 8 times its thickness, whichever is less: length 0.06 D, plane 0.004 D, penetration 0.0056 D,
 * neighbour twice that, distance 1e-10 D^2. sort is 0.005 of the larger diagonal, at most 0.01 of
 * the smaller. union is what the bodies were fitted with, the smaller of two; of one of several
 * primitives whose file states none 0.004 of its scale. Selection is by gates.
 *
 * Contacts of edges are with the other body's field (ABUT_EDGES_FIELD), of all edges, with normal
 * cones: inset is the penetration, part twice and gain half of it; samples is 1 where both fields
 * are of one convex primitive, else 8; slope is 0.05, and -1 beside a height field; cone_inner is
 * 15, cone_outer 35, cone_hold 2 degrees, cone_inset 3 penetrations. Cones need two_sided and
 * edge_edge: who turns one off sets cone_outer to 0, too. */
ABUT_API abut_status abut_fit_smoothing(abut_body body1, abut_body body2,
                                        abut_smoothing *smoothing);

/* The same for contacts of edges with edges (ABUT_EDGES_PAIRS), without cones: the method of Beker
 * et al. They are of the meshes' own edges and vertices, and take no radii. A body of more than 32
 * edges keeps as many as it has primitives, between 16 and 32. */
ABUT_API abut_status abut_fit_edge_pairs(abut_body body1, abut_body body2,
                                         abut_smoothing *smoothing);

typedef struct abut_pair {
  uint32_t index, generation;
} abut_pair;

/* Two bodies of one context with their smoothing. The bodies may be the same; they must outlive it.
 * With pairs of edges, `length` must not be so short beside a body's diagonal (from about 1e-6 of
 * it) that float32 overflows, and no feature of either body may have a radius. Where more vertices
 * or edges are to be kept than a body has, all are. Errors: ABUT_ERROR_ARGUMENT names the
 * coefficient that is out of range. */
ABUT_API abut_status abut_create_pair(abut_body body1, abut_body body2,
                                      const abut_smoothing *smoothing, abut_pair *pair);
ABUT_API abut_status abut_destroy_pair(abut_pair pair);

/* How the slots of a pair are laid out. A side that a variant drops has count 0. */
typedef struct abut_layout {
  size_t contacts;         /* C */
  size_t vertices[2];      /* kept vertices of each body */
  size_t edges[2];         /* kept edges of each body */
  size_t vertex_offset[2]; /* first slot of each body's vertex contacts */
  size_t edge_offset[2];   /* first slot of the edge pairs with the point on each body, or of each
                              body's edges in the other one's field */
  size_t edge_slots[2];    /* how many slots these have: edges[0] edges[1], or 2 of each edge */
} abut_layout;

/* Says which slots of a pair are of what. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_layout(abut_pair pair, abut_layout *layout);

/* The smoothing that a pair was created with: of a scene's pair (abut_get_scene_pair) what the
 * scene states, and what was fitted where it states nothing. */
ABUT_API abut_status abut_get_smoothing(abut_pair pair, abut_smoothing *smoothing);

/* The bodies that a pair was created with, which may have been destroyed since. NULL: not wanted.
 * Error: ABUT_ERROR_HANDLE. */
ABUT_API abut_status abut_get_pair_bodies(abut_pair pair, abut_body *body1, abut_body *body2);

typedef enum abut_pose_kind {
  ABUT_POSE_TWIST = 0,     /* (N, 6): s = (rho, omega), T = exp(s), translation part first */
  ABUT_POSE_QUATERNION = 1 /* (N, 7): x, y, z, qw, qx, qy, qz; normalised inside */
} abut_pose_kind;

typedef enum abut_pose_status {
  ABUT_POSE_OK = 0,
  ABUT_POSE_NOT_FINITE = 1,    /* a NaN or an infinity among the pose's numbers */
  ABUT_POSE_NO_QUATERNION = 2, /* a quaternion of length 0 */
  ABUT_POSE_DEEP = 4,          /* The bodies lie so deep in each other that contacts within their
                                  cones have less than half of the depth. `distance` and
                                  `soft_distance` know more of it than contacts do. The pose has
                                  all its results; it is looked for where one of these two is
                                  wanted. */
  /* with either a pose has no results */
  ABUT_POSE_REJECTED = ABUT_POSE_NOT_FINITE | ABUT_POSE_NO_QUATERNION
} abut_pose_status;

/* Contacts whose activity is at least `threshold`, sorted by pose, then by slot. Activities lie in
 * [0, 1]: at 0 or below every slot is listed, above 1 none; NaN is ABUT_ERROR_ARGUMENT.
 *
 * An array of NULL is not written. `count` is set to the number of contacts found; where it exceeds
 * `capacity`, the call returns ABUT_ERROR_OVERFLOW, the first `capacity` entries are right,
 * and every other output of the call is complete.
 *
 * With `grows` the arrays are the library's, in host memory whatever the batch's is: a call makes
 * all of them as long as `count` says once it is known, sets `capacity` to that, and nothing is
 * computed twice. The list begins as zeros but for `threshold` and `grows`. It may be used for call
 * after call, each of which replaces its arrays; a call that fails leaves none, unless it refuses
 * its arguments before. Where `grows` is to be switched off, free the list first.
 * abut_free_compact frees them.
 */
typedef struct abut_compact {
  double threshold;
  bool grows;
  size_t capacity;
  size_t count;       /* out */
  uint32_t *pose;     /* (capacity) index in the batch */
  uint32_t *slot;     /* (capacity) in 0 .. C-1 */
  uint32_t *feature;  /* (capacity, 2) vertex or edge of body 1, of body 2, in the mesh's numbering;
                         ABUT_NO_FEATURE where the contact has none. With SoftSort the slot's ranked
                         element, around which it averages. */
  void *p, *n;        /* real (capacity, 3) */
  void *d, *activity; /* real (capacity) */
  void *weight;       /* real (capacity); a list that grows makes it only where `weights` is set */
  bool weights;       /* with `grows`: outputs that lists have no values of, the weight, are
                         wanted */
  void *blocks;       /* with `grows`, of abut_jacobian: real (capacity, 8, 2 P); else not used */
  uint32_t cookie;    /* set by the library while arrays are its own */
} abut_compact;

/* Frees the arrays that calls have made for a list that grows, and empties it; `threshold`, `grows`
 * and arrays of the caller's it leaves alone. NULL is allowed. */
ABUT_API void abut_free_compact(abut_compact *list);

#define ABUT_NO_FEATURE UINT32_MAX

/* One number a pose. An array of NULL is not computed. All real (N). */
typedef struct abut_reductions {
  void *mean_distance;    /* mean of d over all C contacts, of whatever activity: smooth at any
                             distance, but no depth; with gates it steps where kept elements change,
                             for distances have no weight [m] */
  void *activity;         /* sum of activity over all C contacts */
  void *energy;           /* sum of activity max(-d, 0)^2 over all C contacts [m^2] */
  void *minimum_distance; /* least d of the vertex contacts [m] */
  void *soft_minimum;     /* -tau log sum exp(-d / tau) of the vertex contacts, tau = penetration */
  void *distance;         /* how far apart, or how deep: least d of all contacts whose weight is
                             at least 1/2; continuous but for what docs/limits.md says, not smooth
                             [m] */
  void *soft_distance;    /* -T log sum weight exp(-d / T) over all contacts [m] */
  double temperature;     /* T [m], in [1e-12, 1e9]; 0: penetration / 16 */
} abut_reductions;

/* Called between chunks, on the calling thread, with the number of poses done; returning false
 * stops the call. */
typedef bool (*abut_progress)(size_t done, size_t total, void *user);

/* Where the arrays of a batch lie. */
typedef enum abut_memory {
  ABUT_MEMORY_HOST = 0,
  ABUT_MEMORY_OPENCL = 1, /* cl_mem objects of the context's cl_context, which must have been made
                            from the caller's queue; kernels read and write them without a copy
                            where whole chunks are aligned as the device asks; the host touches
                            none of it, so that it may be CL_MEM_HOST_NO_ACCESS. Of this kind are
                            poses, p, d, n, activity and the derivatives' arrays of the same call;
                            status, compact with a Jacobian's blocks, and reductions stay in host
                            memory. */
  ABUT_MEMORY_STATE = 2   /* pointers to abut_state_array: arrays of one state of the context
                             (state.h), with as many rows as there are poses; reductions, too.
                             status and compact with a Jacobian's blocks stay in host memory, and
                             are waited for. Without a status array `rejected` stays 0: a pose
                             that is not finite shows by its NaN alone. No array is both read and
                             written. `progress` is not called. */
} abut_memory;

/* Every entry its own pair: `pairs` lists pairs of one context, which may differ in bodies and
 * smoothing, and `pair` tells for each entry which of them it is of. The call's own `pair` is
 * ABUT_BATCH_PAIRS then. All calls that take a batch take such ones, and every entry gets what a
 * call of its pair alone gives, to the bit, in whatever order they stand.
 *
 * C is the largest number of contacts among the pairs of the list, whether they have entries or
 * not. An entry of a pair with fewer has its slots first; those behind are 0 in p, d, n, activity
 * and tangents, and their cotangents are not read. `contacts` tells each entry's own number.
 * Reductions, a compact list's slots and features, and Jacobian blocks are those of the entry's
 * pair; the list is sorted by entry, then by slot. Lists and indices lie in host memory.
 *
 * A second smoothing comes by `derivatives`, a pair for each of `pairs`, which must hold what
 * <abut/derivatives.h> asks of it; the calls' own argument stays ABUT_SAME_PAIR. Calls that take no
 * second pair refuse it, but abut_contacts, which has no use for it.
 *
 * Entries are sorted by pair and done pair by pair: a chunk, of a timeline too, counts them in this
 * order. Errors: ABUT_ERROR_ARGUMENT names an entry whose index is out of range,
 * ABUT_ERROR_HANDLE a pair that is destroyed, has lost a body, or is of another context than the
 * first. */
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
  void *weight;              /* real (N, C) in [0, 1]: what a contact counts apart from its
                                depth; of vertices 1, and with cones their cones' weight; or
                                NULL */
  const abut_pair *pairs;    /* (pair_count), or NULL: the call's own for all entries */
  size_t pair_count;
  const uint32_t *pair;         /* (N) index of each entry in `pairs` */
  const abut_pair *derivatives; /* (pair_count) second smoothing of each, or NULL */
  uint32_t *contacts;           /* (N) out: contact slots of each entry, or NULL */
  uint8_t *status;              /* (N) abut_pose_status, or NULL */
  size_t rejected;              /* out: poses with a bit of ABUT_POSE_REJECTED in their status */
  size_t failures;              /* out: devices that failed during the call, whose share others did:
                                   abut_context_devices says which and why */
  abut_compact *compact;        /* or NULL */
  abut_reductions reductions;
  abut_progress progress; /* or NULL */
  void *user;
  uint32_t cookie; /* set by abut_default_batch */
} abut_batch;

ABUT_API abut_batch abut_default_batch(void);

/* Computes the contacts of every pose. What is NULL is neither written nor transferred.
 *
 * A pose that is not finite gets its status and NaN in its outputs, no entry in the compact list,
 * and touches no other pose. Every finite pose gives finite numbers; translations saturate at
 * 1e37 m, and distances between bodies at 1e12 m, in float32 (1e307 and 1e100 in float64).
 * Results do not depend, to the bit, on how the batch is split into chunks, calls or devices of one
 * kind.
 * After any error but ABUT_ERROR_OVERFLOW the outputs are undefined.
 */
ABUT_API abut_status abut_contacts(abut_pair pair, abut_batch *batch);

/* Witness points of two edges, alone: minimises the distance over both edge parameters by a smooth
 * active set (Beker et al., III-B). An edge without length is allowed.
 *
 * edges1, edges2   real (count, 2, 3) [m]
 * points1, points2 real (count, 3) [m], or NULL
 * interior         real (count), near 1 where both parameters lie inside, or NULL
 * Edges that are not finite give points of NaN, and 0 or NaN as interior.
 * Uses of smoothing: length, clip, minimum, compare, ridge.
 * Results do not depend, to the bit, on how devices of one kind share the queries. An output may
 * lie where an input does.
 */
ABUT_API abut_status abut_witness_edges(abut_context context, const abut_smoothing *smoothing,
                                        size_t count, const void *edges1, const void *edges2,
                                        void *points1, void *points2, void *interior);

/* Smooth projection of a point onto a triangle, alone (Beker et al., III-C).
 *
 * points     real (count, 3) [m]
 * triangles  real (count, 3, 3) [m]
 * projected  real (count, 3) [m]
 * status     (count) 0, or 1 where the triangle has no area, an edge has no length, or a number is
 *            not finite (in float32, from about 1e9 m on, products of lengths are not); the
 *            projected point is NaN there. May be NULL.
 * rejected   set to the number of such queries; may be NULL
 * Uses of smoothing: length, clip, minimum, compare, distance.
 * Results do not depend, to the bit, on how devices of one kind share the queries. An output may
 * lie where an input does.
 */
ABUT_API abut_status abut_witness_faces(abut_context context, const abut_smoothing *smoothing,
                                        size_t count, const void *points, const void *triangles,
                                        void *projected, uint8_t *status, size_t *rejected);

#ifdef __cplusplus
}
#endif
#endif
