/* The ratio of a field's depth to the true depth at points inside a mesh. The depth in a
 * superquadric is measured along the ray from its centre, so in the middle of a thin wall it is as
 * large as the wall is wide. */
#ifndef ABUT_SURFACE_DEPTHS_H
#define ABUT_SURFACE_DEPTHS_H

#include <abut/status.h>
#include <stddef.h>

/* Share of the diagonal. Points closer to the surface measure the distance between surfaces rather
 * than depth. */
#define DEPTH_LEAST 0.005

typedef struct depths {
  void *places;
  size_t count, room;
} depths;

/* Ratios field / depth: weighted quantiles at 50 % and 95 %. All are 0 without points. */
typedef struct depth_ratios {
  double median, of_95, most;
  double most_at[3];
} depth_ratios;

/* Adds a point unless its depth in the mesh is below `least` or it is outside the field. field,
 * distance: negative inside. weight: positive. Fails with ABUT_ERROR_MEMORY. */
abut_status depths_add(depths *d, const double x[3], double field, double distance, double least,
                       double weight);

/* Computes the ratios, and sorts the points. */
depth_ratios depths_measure(depths *d);
void depths_free(depths *d);

#endif
