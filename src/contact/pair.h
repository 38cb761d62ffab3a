/* A pair of bodies, with its smoothing and its slots. */
#ifndef ABUT_CONTACT_PAIR_H
#define ABUT_CONTACT_PAIR_H

#include "body/body.h"
#include "geometry/layout.h"
#include "geometry/pair.h"
#include <abut/manifold.h>

#define SCRATCH_OUTPUT(member, id, reals) SCRATCH_##id
#define SCRATCH_OUTPUT_BAR(member, id, reals) SCRATCH_##id##_BAR

/* The scratch and output buffers of one chunk, by their index in a buffer pool. Buffers of both
 * bodies are adjacent, body 1's first. */
typedef enum scratch_id {
  SCRATCH_POSE_1,
  SCRATCH_POSE_2,
  SCRATCH_TANGENT_1,
  SCRATCH_TANGENT_2, /* the poses' tangents, for programs on duals */
  SCRATCH_FRAMES,
  SCRATCH_STATUS,
  SCRATCH_FIELD_1,
  SCRATCH_FIELD_2, /* the opposing field at all vertices */
  SCRATCH_SCORES,
  SCRATCH_VERTEX_INDEX_1,
  SCRATCH_VERTEX_INDEX_2, /* ranked elements */
  SCRATCH_VERTEX_TOP_1,
  SCRATCH_VERTEX_TOP_2, /* their scores */
  SCRATCH_KEPT_VERTICES_1,
  SCRATCH_KEPT_VERTICES_2,
  SCRATCH_KEPT_FIELD_1,
  SCRATCH_KEPT_FIELD_2,
  SCRATCH_VERTEX_WEIGHTS_1,
  SCRATCH_VERTEX_WEIGHTS_2, /* gates' weights, or SoftSort's 1 / sums */
  SCRATCH_EDGE_INDEX_1,
  SCRATCH_EDGE_INDEX_2,
  SCRATCH_EDGE_TOP_1,
  SCRATCH_EDGE_TOP_2,
  SCRATCH_ENDS_1,
  SCRATCH_ENDS_2,
  SCRATCH_EDGE_WEIGHTS_1,
  SCRATCH_EDGE_WEIGHTS_2,
  SCRATCH_WITNESS,
  SCRATCH_OWN_1,
  SCRATCH_OWN_2,
  SCRATCH_OPPOSING_1,
  SCRATCH_OPPOSING_2,
  SCRATCH_PLACES_1,
  SCRATCH_PLACES_2, /* for edges in fields: positions of their points along them */
  SCRATCH_FACTORS,
  SCRATCH_WEIGHT_FACTORS, /* for activities, and for weights */
  CONTACT_OUTPUTS(SCRATCH_OUTPUT, AND_COMMA),
  SCRATCH_MIDDLES, /* upper bounds on the bodies' distance, from the middle of each */
  SCRATCH_REDUCED,
  SCRATCH_COUNTS,
  SCRATCH_OFFSETS,
  SCRATCH_LIST,
  SCRATCH_VALUES,
  /* only active contacts */
  SCRATCH_BALL_BOUNDS_1,
  SCRATCH_BALL_BOUNDS_2,
  SCRATCH_TOUCH,
  SCRATCH_PLAN,
  SCRATCH_REACHES,
  SCRATCH_VERTEX_LIST_1,
  SCRATCH_VERTEX_LIST_2,
  SCRATCH_LISTED_AT_1,
  SCRATCH_LISTED_AT_2,
  SCRATCH_VERTEX_VALUES_1,
  SCRATCH_VERTEX_VALUES_2,
  SCRATCH_NEAR_PAIRS,
  SCRATCH_NEAR_LIST,
  SCRATCH_PAIR_LIST,
  SCRATCH_PAIR_VALUES,
  SCRATCH_PAIR_BARS,
  SCRATCH_WEIGHTS_BAR_1,
  SCRATCH_WEIGHTS_BAR_2,
  /* the caller's entries */
  SCRATCH_SLOTS,
  SCRATCH_ROWS,
  SCRATCH_SEGMENTS,
  SCRATCH_PAIR_ENTRIES,
  /* the reverse pass: cotangents */
  CONTACT_OUTPUTS(SCRATCH_OUTPUT_BAR, AND_COMMA),
  SCRATCH_MIDDLES_BAR,
  SCRATCH_FACTORS_BAR,
  SCRATCH_WEIGHT_FACTORS_BAR,
  SCRATCH_WITNESS_BAR,
  SCRATCH_PAIR_ENDS_BAR,
  SCRATCH_ENDS_BAR,
  SCRATCH_KEPT_BAR,
  SCRATCH_WEIGHTS_BAR,
  SCRATCH_RANKED_PARTS,
  SCRATCH_RANKED_BAR,
  SCRATCH_SCORES_BAR,
  SCRATCH_FIELD_BAR_1,
  SCRATCH_FIELD_BAR_2, /* of phi at all vertices, from selections */
  /* derivatives with respect to shapes (manifold/shape.h): for each body's field, and for its
     vertices */
  SCRATCH_SITES_1,
  SCRATCH_SITES_2,
  SCRATCH_VERTEX_BAR_1,
  SCRATCH_VERTEX_BAR_2, /* for all vertices in sorted order */
  SCRATCH_KEPT_SPREAD_1,
  SCRATCH_KEPT_SPREAD_2, /* for all vertices in mesh order, from retained ones */
  SCRATCH_ENDS_SPREAD_1,
  SCRATCH_ENDS_SPREAD_2, /* for the ends of all edges */
  SCRATCH_SITE_SHARES,
  SCRATCH_SITE_PARTS,
  SCRATCH_SHAPE_1,
  SCRATCH_SHAPE_2, /* rows */
  SCRATCH_MOVED_SORTED_1,
  SCRATCH_MOVED_SORTED_2, /* moving meshes: vertices in sorted order */
  SCRATCH_MOVED_MESH_1,
  SCRATCH_MOVED_MESH_2, /* in mesh order */
  SCRATCH_MOVED_ENDS_1,
  SCRATCH_MOVED_ENDS_2, /* ends of all edges */
  SCRATCH_MOVED_RADII_1,
  SCRATCH_MOVED_RADII_2, /* features' radii, and edges in fields */
  SCRATCH_MOVED_RAILS_1,
  SCRATCH_MOVED_RAILS_2,
  SCRATCH_WRENCHES,
  SCRATCH_GRADIENT_1,
  SCRATCH_GRADIENT_2,
  SCRATCH_STEPS,
  SCRATCH_JACOBIAN, /* for Jacobian blocks */
  SCRATCH_SLOPES,
  SCRATCH_HESSIAN,
  SCRATCH_COLUMNS, /* for states, columns of SCRATCH_REDUCED: a buffer each */
  SCRATCH_COLUMNS_END = SCRATCH_COLUMNS + REDUCED_REALS,
  SCRATCH_BUFFERS = SCRATCH_COLUMNS_END
} scratch_id;

_Static_assert(SCRATCH_BUFFERS <= POOL_BUFFERS, "a buffer pool holds all scratch of a run");

/* A pair on one device. Its sizes are valid from the start. */
typedef struct resident_pair {
  pair_sizes sizes;
  buffer *head; /* coefficients, reals and sizes: cl/kernels/manifold/pair.h; NULL until uploaded */
  buffer *mean_bar, *one_bar; /* C numbers 1 / C, and C numbers 1; made on first use */
} resident_pair;

/* Kinds of work with different times per pose: each program, Jacobians, and Hessians. */
#define RATE_JACOBIAN PROGRAM_KINDS
#define RATE_HESSIAN (PROGRAM_KINDS + 1)
#define RATE_KINDS (PROGRAM_KINDS + 2)

typedef struct pair {
  owned base;
  context *context;
  abut_body bodies[2];
  body *touching[2]; /* for edges in fields: the bodies' features (body/touching.h), owned by the
                        bodies; otherwise NULL */
  abut_smoothing smoothing;
  abut_layout layout;
  bool selected_vertices[2], selected_edges[2];
  size_t slot[4]; /* the worlds' numbers of the first contact of either body's vertices, and of
                     edges by points on either body: as in the layout, but for parts of bodies as in
                     the layout of the whole bodies */
  resident_pair *on[MEMBERS];        /* by the context's members; NULL: not uploaded */
  double rates[RATE_KINDS][MEMBERS]; /* poses per second by kind of work, see job.rates */
  double *zones; /* (zone_count[0] + zone_count[1], ZONE_REALS) for both bodies' seams, or NULL */
  size_t zone_count[2];
} pair;

/* Zones of seams (geometry/seam.inl) in the frames of a pair's bodies, ZONE_REALS numbers each. */
typedef struct pair_zones {
  const double *of[2];
  size_t count[2];
} pair_zones;

/* Makes a pair like abut_create_pair, whose contacts are weighted by zones. Only contacts with
 * normal cones can have zones. The upload is done `now` or on first use, since most of a scene's
 * pairs are never near. */
abut_status pair_create_with_zones(abut_body body1, abut_body body2,
                                   const abut_smoothing *smoothing, const pair_zones *zones,
                                   bool now, abut_pair *out);

extern const pair_zones no_zones;

/* Makes a copy of a pair on a member, for calls with derivatives with respect to shapes that move
 * the meshes of the given bodies. resident_pair_free frees its contents. */
abut_status pair_moving(const pair *p, size_t place, const bool moving[2], resident_pair *out);

void resident_pair_free(resident_pair *r);

/* Gives the pair on a member of its context. Uploads it on first use. */
abut_status pair_on(pair *p, size_t place, resident_pair **out);

/* Gives the same for its sizes, without uploading it or its bodies. */
abut_status pair_sized_on(pair *p, size_t place, resident_pair **out);

/* Returns whether a handle refers to a pair; ABUT_SAME_PAIR and similar values do not. */
static inline bool has_pair(abut_pair p)
{
  return p.index || p.generation;
}

/* Returns the pair of a handle, or NULL with an error text. */
pair *pair_get(abut_pair p);

/* Returns whether a pair's edges make contacts with the other body's field. */
static inline bool is_in_fields(const pair *p)
{
  return p->smoothing.edge_contacts == ABUT_EDGES_FIELD;
}

/* Returns the body whose vertices and edges a pair's kernels read: its features, or its whole mesh.
 * Returns NULL with an error text if the body has been destroyed. */
body *pair_body(const pair *p, int side);

/* Whether a pair has these bodies, coefficients and zones. */
bool pair_is(const pair *p, const abut_body bodies[2], const abut_smoothing *smoothing,
             const pair_zones *zones);

/* Whether two pairs have the same bodies, coefficients, zones and slots, so that they have the same
 * manifold. */
bool pair_is_like(const pair *a, const pair *b);

#endif
