/* How deep a field says that places within a mesh lie, over how deep they do: a superquadric's
 * depth is along the ray from its centre, so that the middle of a thin wall counts as deep as the
 * wall is wide. */
#ifndef ABUT_SURFACE_DEPTHS_H
#define ABUT_SURFACE_DEPTHS_H

#include <abut/status.h>
#include <stddef.h>

/* Of the diagonal: what lies nearer to the surface tells of the surfaces' distance, not of
 * depth. */
#define DEPTH_LEAST 0.005

typedef struct depths {
  void *places;
  size_t count, room;
} depths;

/* Of the ratios field / depth, by the places' weights: half of them, and 95 % of them, lie below.
 * All are 0 where there is no place. */
typedef struct depth_ratios {
  double median, of_95, most;
  double most_at[3];
} depth_ratios;

/* Adds a place, unless it lies less than `least` within the mesh or outside the field. field,
 * distance: negative inside; weight: above 0. Fails with ABUT_ERROR_MEMORY. */
abut_status depths_add(depths *d, const double x[3], double field, double distance, double least,
                       double weight);

/* Finds the ratios; sorts the places. */
depth_ratios depths_measure(depths *d);
void depths_free(depths *d);

#endif
