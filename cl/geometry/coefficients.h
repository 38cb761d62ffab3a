// Smoothing coefficients as kernels read them: temperatures are inverted, and base-2 factors
// included.
//
// One list: X(name, value), with the value that src/contact/smoothing.c computes in double from an
// abut_smoothing *s. All members are reals, so that host and device agree on the layout.
#ifndef GEOMETRY_COEFFICIENTS_H
#define GEOMETRY_COEFFICIENTS_H

#define LN2_DOUBLE 0.69314718055994530942
#define LOG2E_DOUBLE 1.44269504088896340736
#define RADIANS_DOUBLE 0.017453292519943295769 // one degree

#define COEFFICIENTS(X)                                                                          \
  X(length_inv, 1.0 / s->length)                                                                 \
  X(union_ln2, s->union_ *LN2_DOUBLE)                                                            \
  X(union_log2e, LOG2E_DOUBLE / s->union_)                                                       \
  X(plane_ln2, s->plane *LN2_DOUBLE)                                                             \
  X(plane_log2e, LOG2E_DOUBLE / s->plane)                                                        \
  X(normal, s->normal) /* under the root of unit() */                                            \
  X(penetration, s->penetration)                                                                 \
  X(penetration_inv, 1.0 / s->penetration)                                                       \
  X(margin_share, s->margin / s->penetration)                                                    \
  X(neighbour_log2e, LOG2E_DOUBLE / s->neighbour)                                                \
  X(clash_inv, 1.0 / s->clash)                                                                   \
  X(sign_inv, 1.0 / s->sign)                                                                     \
  X(sort_inv, 1.0 / s->sort)                                                                     \
  X(sort_log2e, LOG2E_DOUBLE / s->sort)                                                          \
  X(clip, s->clip)                                                                               \
  X(clip_inv, 1.0 / s->clip)                                                                     \
  X(minimum_log2e, LOG2E_DOUBLE / s->minimum)                                                    \
  X(compare_inv, 1.0 / s->compare)                                                               \
  X(ridge, s->ridge)                                                                             \
  X(distance, s->distance)                                                                       \
  X(inside, s->inside ? 1.0 : 0.0)            /* [own phi <= 0] scales edge-edge activity */     \
  X(floor, s->floor < 1e-18 ? 0.0 : s->floor) /* 0: off */                                       \
  X(floor_inv, s->floor < 1e-18 ? 0.0 : 1.0 / s->floor)                                          \
  X(tilt, s->tilt) /* from here on of edges in fields */                                         \
  X(inset, s->inset)                                                                             \
  X(part_inv, 1.0 / s->part)                                                                     \
  X(gain_inv, 1.0 / s->gain)                                                                     \
  X(slope, s->slope) /* below 0: off */                                                          \
  X(slope_most_inv, s->slope < 0.0                                                               \
                      ? 1.0                                                                      \
                      : sqrt(s->slope / (1.0 + s->slope))) /* 1 / the most that it divides by */ \
  X(samples, s->samples)                                                                         \
  X(cones, s->cone_outer > s->cone_inner ? 1.0 : 0.0) /* 1: on; cones from here on */            \
  X(cone_inner, s->cone_inner *RADIANS_DOUBLE)                                                   \
  X(cone_inner_cos, cos(s->cone_inner *RADIANS_DOUBLE))                                          \
  X(cone_inner_sin, sin(s->cone_inner *RADIANS_DOUBLE))                                          \
  X(cone_outer, s->cone_outer *RADIANS_DOUBLE)                                                   \
  X(cone_outer_cos, cos(s->cone_outer *RADIANS_DOUBLE))                                          \
  X(cone_outer_sin, sin(s->cone_outer *RADIANS_DOUBLE))                                          \
  X(cone_hold, s->cone_hold *RADIANS_DOUBLE)                                                     \
  X(cone_hold_cos, cos(s->cone_hold *RADIANS_DOUBLE))                                            \
  X(cone_hold_sin, sin(s->cone_hold *RADIANS_DOUBLE))                                            \
  X(cone_inset, s->cone_outer > s->cone_inner ? s->cone_inset : 0.0)

#define COEFFICIENT_MEMBER(name, value) real name;
typedef struct coefficients {
  COEFFICIENTS(COEFFICIENT_MEMBER)
} coefficients;
#undef COEFFICIENT_MEMBER

#endif
