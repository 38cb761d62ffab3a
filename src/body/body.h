/* A body has its mesh and packed primitives on the host, and all of it resident on devices. */
#ifndef ABUT_BODY_BODY_H
#define ABUT_BODY_BODY_H

#include "base/reals.h"
#include "body/parts.h"
#include "engine/device/context.h"
#include <abut/field.h>

/* This is a body on one device. Its sizes are there from the start, its buffers and the lengths of
 * its edges once it has been brought there. */
typedef struct resident_body {
  const abut_body_info *info;
  device *device;
  bool there;
  size_t vertex_padded; /* vertices, rounded up to whole blocks of lanes */
  size_t edge_padded;
  size_t held;           /* as of the body */
  buffer *head, *shape;  /* primitives: cl/geometry/layout.h; those of the whole, of a part of a
                            body */
  bool borrows;          /* they are the whole's */
  buffer *vertex_planes; /* 3 planes of vertex_padded, in mesh order */
  buffer *sorted_planes; /* the same, neighbours in space side by side */
  buffer *order;         /* mesh index of each sorted vertex */
  buffer *names;         /* of a part the index of each in the mesh of the whole, else `order` */
  buffer *rank;          /* place of each mesh vertex among the sorted */
  buffer *edge_index;    /* 2 planes of edge_padded: places among the sorted vertices */
  buffer *edge_starts;   /* (vertices + 1) where each sorted vertex's edges begin in: */
  buffer *edges_at;      /* (2 edges) edges by their ends, sorted vertices in turn */
  buffer *edge_ends;     /* 6 planes of edge_padded: first end, second end */
  size_t balls, ball_padded; /* spheres around BALL_VERTICES sorted vertices each */
  buffer *vertex_balls;      /* VERTEX_BALL_PLANES planes of ball_padded */
  buffer *longest_edges;     /* vertex_padded lengths, each sorted vertex's longest edge's [m] */
  double mean_edge, longest_edge; /* [m] */
  buffer *radii, *rails;      /* of features (body/touching.h), else NULL: RADII_PLANES planes of
                                 vertex_padded, EDGE_PLANES planes of edge_padded */
  bool rounds, arcs, circles; /* a vertex of theirs has a radius, an edge is an arc, or a
                                 circle's */
  double most_radius;         /* of their vertices [m] */
} resident_body;

/* Each of these takes its own time a point. */
enum { BODY_DISTANCES, BODY_NORMALS, BODY_RAYS, BODY_RATES };

typedef struct body body;

struct body {
  owned base;
  context *context;
  abut_body_info info;
  abut_field_report report; /* of the mesh that it was loaded from; else 0 */
  char *name;               /* the file that it was loaded from, or NULL */
  double *vertices;         /* (vertices, 3) */
  uint32_t *face_sizes;     /* (faces) */
  uint32_t *face_indices;   /* all faces' vertices, one face after the other */
  uint32_t *edges;          /* (edges, 2) */
  body_parts parts;
  int *head; /* primitives, packed as devices read them */
  size_t head_count;
  reals shape;
  resident_body *on[MEMBERS];        /* by the context's members; NULL: not there yet */
  double rates[BODY_RATES][MEMBERS]; /* points a second, rays a second; see batch_group.rates */
  double middle[4]; /* its deepest place, and the radius of a ball around it that lies inside
                       [m]; 0: none was found */
  size_t held;      /* Its first so many vertices may be in contact, the others are ends of edges
                       alone. */
  body *whole;      /* of a part (body/cut.h): the body whose field it has, else NULL */
  uint32_t *names;  /* of a part (vertices): their indices in the mesh of the whole, else NULL */
  body **touching;  /* (touching_count) its features as parts (body/touching.h), by what pairs
                       have asked for */
  size_t touching_count, touching_room;
  bool coned; /* of such a part: whether cones were asked for, and the inset [m] */
  double inset;
  struct body_features *touches; /* of such a part: what it was made of, else NULL */
  bool borrows_touches; /* They are those of a part before it, from which only the inset differs. */
};

/* Gives the body on a member of its context. It is brought there when it is first asked for. */
abut_status body_on(body *b, size_t place, const resident_body **out);

/* Gives the same for its sizes, without bringing it there. */
abut_status body_sized_on(body *b, size_t place, const resident_body **out);
void resident_body_free(resident_body *r);

/* Returns the body of a handle, or NULL with an error text. */
body *body_get(abut_body b);

bool same_body(abut_body a, abut_body b);

/* Brings a new body to the devices of its context, which then owns it. Where that fails the body is
 * freed. */
abut_status body_adopt(body *b, abut_body *out);
void body_free(void *object);

/* Twice the greatest depth inside, by the field [m], of a body whose mesh and primitives are
 * packed; 0 where no inside was found. No memory is taken and no device asked. */
double body_thickness(const body *b, double middle[4]);

/* Returns `count` rounded up to whole blocks of lanes, at least one block. */
size_t padded(size_t count, uint32_t lanes);

#endif
