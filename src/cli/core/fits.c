#include "core/fits.h"

#include <stdio.h>

/* Round bodies have less, thin-walled bodies and flanges more: docs/decompose.md, Depths. */
#define RATIO_MOST 2.0
/* Bodies whose limbs and bores are preserved have more: docs/decompose.md, How accurate the fit is.
 */
#define IOU_LEAST 0.8

void tell_depths(const abut_fit *fit)
{
  const double *at = fit->depth_ratio_most_at;
  printf("depth in the field divided by depth in the mesh: median %.3g, 95 %% below %.3g, maximum "
         "%.3g at (%.4g, %.4g, %.4g)\n",
         fit->depth_ratio_median, fit->depth_ratio_95, fit->depth_ratio_most, at[0], at[1], at[2]);
}

void tell_holes(const abut_fit *fit)
{
  if (fit->over_holes > 0.0) {
    printf("%.3g %% of the field's surface covers closed holes of the mesh, and is left out of the "
           "distances\n",
           100.0 * fit->over_holes);
  }
}

bool depths_are_off(double median)
{
  return median > RATIO_MOST;
}

void warn_depths(const char *path, double median, double most, const double at[3])
{
  if (depths_are_off(median)) {
    warn("%s: penetration depths in the body are %.3g times those in the mesh (median), and %.3g "
         "times at (%.4g, %.4g, %.4g): thin parts will push too hard on penetrating bodies (a grid "
         "from `abut field` has the depths of the mesh)",
         path, median, most, at[0], at[1], at[2]);
  }
}

void warn_poor(const char *path, double iou, double coverage, size_t primitives)
{
  if (iou < IOU_LEAST) {
    warn("%s: poor fit: with %zu primitive%s the IoU is %.2f, below %.1f, and %.0f %% of the mesh "
         "is covered (use more --primitives, or --error E to get as many as an IoU of 1 - E needs, "
         "or a grid from `abut field`)",
         path, primitives, plural(primitives), iou, IOU_LEAST, 100.0 * coverage);
  }
}
