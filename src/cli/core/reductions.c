#include "core/reductions.h"

const char *const reduction_names[REDUCTION_COUNT] = {[ABUT_REDUCE_MEAN_DISTANCE] = "mean-distance",
                                                      [ABUT_REDUCE_ACTIVITY] = "activity",
                                                      [ABUT_REDUCE_ENERGY] = "energy",
                                                      [ABUT_REDUCE_SOFT_MINIMUM] = "soft-minimum",
                                                      [ABUT_REDUCE_DISTANCE] = "distance",
                                                      [ABUT_REDUCE_SOFT_DISTANCE] =
                                                        "soft-distance"};

void want_reduction(abut_batch *batch, abut_reduction reduction, void *values)
{
  abut_reductions *r = &batch->reductions;
  switch (reduction) {
  case ABUT_REDUCE_MEAN_DISTANCE:
    r->mean_distance = values;
    break;
  case ABUT_REDUCE_ACTIVITY:
    r->activity = values;
    break;
  case ABUT_REDUCE_ENERGY:
    r->energy = values;
    break;
  case ABUT_REDUCE_SOFT_MINIMUM:
    r->soft_minimum = values;
    break;
  case ABUT_REDUCE_DISTANCE:
    r->distance = values;
    break;
  case ABUT_REDUCE_SOFT_DISTANCE:
    r->soft_distance = values;
    break;
  }
}
