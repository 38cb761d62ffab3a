/* Contacts as solids: a ball at the point, an arrow along the normal. */
#ifndef ABUT_RENDER_MARKS_H
#define ABUT_RENDER_MARKS_H

#include "view/render/canvas.h"

typedef struct mark {
  v3 point, normal; /* in the world; normal of length 1, or 0 for none */
  double length;    /* of the arrow [m] */
  colour paint;
} mark;

/* Intersects a ray with a mark: returns the distance along it, HUGE_VAL if it misses, and the
 * normal there. */
double meet_mark(const mark *m, v3 eye, v3 ray, v3 *normal);

/* Computes a ball around a mark. */
void bound_mark(const mark *m, v3 *centre, double *radius);

/* Draws marks into the canvas; marks behind a body are fainter. */
abut_status draw_marks(canvas *c, const scene *s, const mark *marks, size_t count);

#endif
