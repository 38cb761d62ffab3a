/* Meshes of closed form, made of triangles. */
#ifndef ABUT_TESTS_SHAPES_H
#define ABUT_TESTS_SHAPES_H

#include "mesh/surface/surface.h"

typedef struct shape {
  double *vertices; /* (vertex_count, 3) */
  uint32_t *faces;  /* (face_count, 3) */
  uint32_t *sizes;  /* made by shape_def */
  size_t vertex_count, face_count, vertex_room, face_room;
} shape;

void shape_free(shape *s);

uint32_t shape_vertex(shape *s, double x, double y, double z);
void shape_face(shape *s, uint32_t a, uint32_t b, uint32_t c);
void shape_quad(shape *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* The box from `low` to `high`, each face of parts x parts squares; corners are not welded. */
void shape_box(shape *s, const double low[3], const double high[3], size_t parts);

/* The unit box with its top, at z = 1, made rough by as much. */
void shape_rough_box(shape *s, size_t parts, double by);

/* A prism over a regular polygon of radius 1, from z = 0 to `height`; caps are fans. */
void shape_prism(shape *s, size_t sides, double height);

/* What a profile (count, 2) of radius and height sweeps, from the axis to the axis, in `sides`
 * steps: a cone, a pencil, a disc, all of whose ends are fans of slivers. */
void shape_turned(shape *s, const double (*profile)[2], size_t count, size_t sides);

/* Two cones over one rim of radius 1 that goes up and down, and in and out, by a tenth. */
void shape_spindle(shape *s, size_t sides);

/* A square plate, 2 wide and 0.2 thick, with a hole of 8 n sides and radius 0.5. */
void shape_plate(shape *s, size_t n);

/* The unit sphere, of an icosahedron whose triangles are cut into four so often; another one. */
void shape_sphere(shape *s, size_t times);
void shape_ball(shape *s, const double centre[3], double radius, size_t times);

/* Turns face i the other way; takes it out, the last one in its place. */
void shape_turn(shape *s, size_t i);
void shape_drop(shape *s, size_t i);

/* The mesh; it points into the shape. */
abut_body_def shape_def(shape *s);

/* Signed distance to a box. */
double box_distance(const double low[3], const double high[3], const double x[3]);

/* The shape's surface; ends the program where there is none. Frees the shape. */
surface shape_surface(shape *s);

#endif
