#include "depths.h"

#include <stdio.h>

/* Bodies of what is round all over have less, those of walls and flanges more: docs/decompose.md, Depths. */
#define RATIO_MOST 2.0

void tell_depths(const abut_fit *fit)
{
  const double *at = fit->depth_ratio_most_at;
  printf("depth by the field over that in the mesh: %.3g in the median, 95 %% below %.3g, at most %.3g at (%.4g, %.4g, "
         "%.4g)\n", fit->depth_ratio_median, fit->depth_ratio_95, fit->depth_ratio_most, at[0], at[1], at[2]);
}

void warn_depths(const char *path, const abut_decompose_report *r)
{
  if (r->depth_ratio_median > RATIO_MOST) {
    const double *at = r->depth_ratio_most_at;
    warn("%s: depths within the body are %.3g times those in the mesh in the median, %.3g times at (%.4g, %.4g, %.4g): "
         "thin parts push too hard where bodies sink in (a grid by `abut field` has the depths of the mesh)", path,
         r->depth_ratio_median, r->depth_ratio_most, at[0], at[1], at[2]);
  }
}
