/* Closest points of convex shapes: what `abut closest` computes. */
#ifndef ABUT_CLI_CLOSEST_CLOSEST_H
#define ABUT_CLI_CLOSEST_CLOSEST_H

#include "core/outputs.h"

typedef struct closest {
  const options *o;
  session session;
  abut_poses poses;
  pose_arrays arrays;
  size_t width;        /* of a pose */
  abut_body_part part; /* what of a body is taken as shapes */
  abut_shape *shapes;  /* (shape_count) of --shapes, or body 1's and then body 2's */
  size_t shape_count;
  size_t counts[2];     /* how many of them are of each body; 0 with --shapes */
  abut_pose_file *file; /* of blocks of a folder, which poses are of which shapes; else NULL */
  uint32_t *one, *two;  /* (N) which of `shapes` a pose is of; NULL: 0 and 1 */
  abut_closest_batch batch;
  bool derives; /* --jacobian */
  abut_closest_smoothing smoothing;
  abut_closest_jacobians jacobians;
  double seconds; /* that the library took */
} closest;

/* ---- settings.c ---- */

/* --jacobian, and what belongs to its methods. */
exit_code closest_read_settings(closest *c, abut_precision precision);
/* The word of the method. */
const char *closest_method(const closest *c);

/* ---- shapes.c ---- */

/* --as. */
exit_code closest_read_part(closest *c);
/* Loads the shapes of --shapes, or of both bodies. */
exit_code closest_load_shapes(closest *c);
/* Finds which shapes every pose is of, of which the batch has `first` before: what the file of
 * --poses says; of bodies of several shapes the two that are nearest to each other, and progress is
 * shown unless somebody else shows that of all blocks. */
exit_code closest_find_rows(closest *c, size_t first);
/* Whether a body may be several shapes, of which the answer tells one. */
bool closest_tells_rows(const closest *c);
void closest_free_rows(closest *c);
void closest_free_shapes(closest *c);

/* ---- answers.c ---- */

exit_code closest_take_memory(closest *c);
exit_code closest_compute(closest *c, progress *p);
/* Of rows that were rejected or did not converge. */
extern const status_note closest_notes[];
void closest_add(const closest *c, outputs *l);
/* Prints the line that sums up. */
void closest_summarise(const closest *c);
void closest_free_answers(closest *c);

#endif
