/* Closest points of convex shapes, for `abut closest`. */
#ifndef ABUT_CLI_CLOSEST_CLOSEST_H
#define ABUT_CLI_CLOSEST_CLOSEST_H

#include "core/outputs.h"

typedef struct closest {
  const options *o;
  session session;
  abut_poses poses;
  pose_arrays arrays;
  size_t width;        /* numbers per pose */
  abut_body_part part; /* the parts of a body that become shapes */
  abut_shape *shapes;  /* (shape_count) of --shapes, or body 1's followed by body 2's */
  size_t shape_count;
  size_t counts[2];     /* number of shapes of each body; 0 with --shapes */
  abut_pose_file *file; /* for blocks of a folder: assigns shapes to poses; else NULL */
  uint32_t *one, *two;  /* (N) indices of a pose's shapes; NULL: 0 and 1 */
  abut_closest_batch batch;
  bool derives; /* --jacobian */
  abut_closest_smoothing smoothing;
  abut_closest_jacobians jacobians;
  double seconds; /* time in the library */
} closest;

/* ---- settings.c ---- */

/* Reads --jacobian, and the settings of its methods. */
exit_code closest_read_settings(closest *c, abut_precision precision);
/* The method's name on the command line. */
const char *closest_method(const closest *c);

/* ---- shapes.c ---- */

/* --as. */
exit_code closest_read_part(closest *c);
/* Loads the shapes of --shapes, or of both bodies. */
exit_code closest_load_shapes(closest *c);
/* Finds the shapes of every pose; the batch has `first` poses before these. They are given in the
 * file of --poses; for bodies with several shapes they are the two nearest ones. Shows progress,
 * unless the caller shows that of all blocks. */
exit_code closest_find_rows(closest *c, size_t first);
/* Returns whether a body may have several shapes, so that the result names one. */
bool closest_tells_rows(const closest *c);
void closest_free_rows(closest *c);
void closest_free_shapes(closest *c);

/* ---- answers.c ---- */

exit_code closest_take_memory(closest *c);
exit_code closest_compute(closest *c, progress *p);
/* Notes on rows that were rejected or did not converge. */
extern const status_note closest_notes[];
void closest_add(const closest *c, outputs *l);
/* Prints the summary line. */
void closest_summarise(const closest *c);
void closest_free_answers(closest *c);

#endif
