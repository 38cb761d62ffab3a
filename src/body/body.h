/* A body has its mesh and packed primitives on the host, and all of its data on the devices that
 * use it. */
#ifndef ABUT_BODY_BODY_H
#define ABUT_BODY_BODY_H

#include "base/reals.h"
#include "body/parts.h"
#include "engine/device/context.h"
#include <abut/field.h>

/* A body on one device. The sizes are valid from the start. The buffers and the lengths of edges
 * are valid after the upload. */
typedef struct resident_body {
  const abut_body_info *info;
  device *device;
  bool there;
  size_t vertex_padded; /* vertices, rounded up to whole blocks of lanes */
  size_t edge_padded;
  size_t held;           /* as in the body */
  buffer *head, *shape;  /* primitives: cl/geometry/layout.h; a part has the whole's */
  bool borrows;          /* the buffers belong to the whole */
  buffer *vertex_planes; /* 3 planes of vertex_padded, in mesh order */
  buffer *sorted_planes; /* the same in spatial order: neighbours are adjacent */
  buffer *order;         /* mesh index of each sorted vertex */
  buffer *names; /* for a part: each vertex's index in the mesh of the whole; otherwise `order` */
  buffer *rank;  /* index of each mesh vertex in the sorted order */
  buffer *edge_index;        /* 2 planes of edge_padded: indices in the sorted order */
  buffer *edge_starts;       /* (vertices + 1) where each sorted vertex's edges begin in: */
  buffer *edges_at;          /* (2 edges) edges by their ends, in the order of sorted vertices */
  buffer *edge_ends;         /* 6 planes of edge_padded: first end, second end */
  size_t balls, ball_padded; /* spheres, each around BALL_VERTICES consecutive sorted vertices */
  buffer *vertex_balls;      /* VERTEX_BALL_PLANES planes of ball_padded */
  buffer *longest_edges;     /* vertex_padded lengths: the longest edge at each sorted vertex [m] */
  double mean_edge, longest_edge; /* [m] */
  buffer *radii, *rails;      /* for features (body/touching.h), else NULL: RADII_PLANES planes of
                                 vertex_padded, EDGE_PLANES planes of edge_padded */
  bool rounds, arcs, circles; /* whether a feature vertex has a radius, an edge is an arc, or an
                                 edge belongs to a circle */
  double most_radius;         /* largest radius of the feature vertices [m] */
} resident_body;

/* Kinds of queries whose rates are measured separately. */
enum { BODY_DISTANCES, BODY_NORMALS, BODY_RAYS, BODY_RATES };

typedef struct body body;

struct body {
  owned base;
  context *context;
  abut_body_info info;
  abut_field_report report; /* of the mesh it was loaded from; otherwise 0 */
  char *name;               /* the file it was loaded from, or NULL */
  double *vertices;         /* (vertices, 3) */
  uint32_t *face_sizes;     /* (faces) */
  uint32_t *face_indices;   /* the vertices of all faces, one face after the other */
  uint32_t *edges;          /* (edges, 2) */
  body_parts parts;
  int *head; /* primitives, packed as devices read them */
  size_t head_count;
  reals shape;
  resident_body *on[MEMBERS];        /* by the context's members; NULL: not uploaded */
  double rates[BODY_RATES][MEMBERS]; /* points or rays per second; see batch_group.rates */
  double middle[4]; /* its deepest point, and the radius of a ball around it inside the body [m]; 0:
                       none was found */
  size_t held; /* The first `held` vertices may be in contact. The others are only ends of edges. */
  body *whole; /* for a part (body/cut.h): the body whose field it uses; otherwise NULL */
  uint32_t *names; /* for a part (vertices): indices in the whole's mesh; else NULL */
  body **touching; /* (touching_count) its features as parts (body/touching.h), one for each setting
                      that pairs have requested */
  size_t touching_count, touching_room;
  bool coned; /* for such a part: whether it has cones, and the inset [m] */
  double inset;
  struct body_features *touches; /* for such a part: the features it was made of; otherwise NULL */
  bool borrows_touches;          /* shared with an earlier part of another inset */
};

/* Gives the body on a member of its context. Uploads it on first use. */
abut_status body_on(body *b, size_t place, const resident_body **out);

/* Gives the same for its sizes, without an upload. */
abut_status body_sized_on(body *b, size_t place, const resident_body **out);
void resident_body_free(resident_body *r);

/* Returns the body of a handle, or NULL with an error text. */
body *body_get(abut_body b);

bool same_body(abut_body a, abut_body b);

/* Uploads a new body to its context's devices. The context then owns it. Frees it on failure. */
abut_status body_adopt(body *b, abut_body *out);
void body_free(void *object);

/* Returns twice the greatest depth inside, by the field [m], for a body whose mesh and primitives
 * are packed; 0 if no inside was found. Neither allocates memory nor uses a device. */
double body_thickness(const body *b, double middle[4]);

/* Returns `count` rounded up to whole blocks of lanes, at least one block. */
size_t padded(size_t count, uint32_t lanes);

#endif
