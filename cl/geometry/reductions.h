// Reductions of a manifold, one number per pose. The kernels, the library, the command, Python and
// XLA share this table. docs/dev/extending.md describes the requirements of a new line.
//
// REDUCTION(member, ID, word, file, over, bars, reads): the member of abut_reductions, which is
// also its name in Python; the suffix of ABUT_REDUCE_* and REDUCED_*; the command's word for it;
// the array in files of contacts, or "" if these omit it; the contacts that it covers; and for its
// gradient, the outputs that get cotangents, and the outputs whose values are needed.
#ifndef GEOMETRY_REDUCTIONS_H
#define GEOMETRY_REDUCTIONS_H

#include "geometry/outputs.h"

#define OVER_ALL 0      // all contacts equally
#define OVER_ACTIVE 1   // a sum to which inactive contacts add nothing: bounds may exclude them
#define OVER_VERTICES 2 // contacts of vertices
#define OVER_WEIGHED 3  // all contacts with their weights, and the bodies' middles

// clang-format off
// Those with a gradient, in the order of abut_reduction.
#define SLOPED_REDUCTIONS(REDUCTION) \
  REDUCTION(mean_distance, MEAN_DISTANCE, "mean-distance", "", OVER_ALL, WANT_D, 0) \
  REDUCTION(activity, ACTIVITY, "activity", "activity_sum", OVER_ACTIVE, WANT_ACTIVITY, 0) \
  REDUCTION(energy, ENERGY, "energy", "energy", OVER_ACTIVE, WANT_D | WANT_ACTIVITY, \
            WANT_D | WANT_ACTIVITY) \
  REDUCTION(soft_minimum, SOFT_MINIMUM, "soft-minimum", "soft_minimum", OVER_VERTICES, WANT_D, \
            WANT_D) \
  REDUCTION(distance, DISTANCE, "distance", "distance", OVER_WEIGHED, WANT_D, \
            WANT_D | WANT_WEIGHT) \
  REDUCTION(soft_distance, SOFT_DISTANCE, "soft-distance", "soft_distance", OVER_WEIGHED, \
            WANT_D | WANT_WEIGHT, WANT_D | WANT_WEIGHT)
// clang-format on

#define ALL_REDUCTIONS(REDUCTION) \
  SLOPED_REDUCTIONS(REDUCTION)    \
  REDUCTION(minimum_distance, MINIMUM_DISTANCE, "", "minimum_distance", OVER_VERTICES, 0, 0)

// The places of a pose's reductions.
#define REDUCED_PLACE(member, id, word, file, over, bars, reads) REDUCED_##id,
enum { ALL_REDUCTIONS(REDUCED_PLACE) REDUCED_REALS };
#define REDUCTION_ONE(member, id, word, file, over, bars, reads) +1
#define REDUCTIONS_SLOPED (0 SLOPED_REDUCTIONS(REDUCTION_ONE))

#endif
