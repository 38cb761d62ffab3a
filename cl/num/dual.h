// Duals of lanes (dual_...) and of wide scalars (wide_dual_...): num/dual.inl is included twice.
#ifndef NUM_DUAL_H
#define NUM_DUAL_H

#ifndef DUAL_TANGENTS
#define DUAL_TANGENTS 3
#endif

#if REAL_DOUBLE
#define DUAL_LEAST 1e-100
#else
#define DUAL_LEAST 1e-12f
#endif
#define DN(name) dual_##name
#define part lane
#define part_mask ilane
#define part_lit(x) lane_lit(x)
#define part_select(mask, a, b) lane_select(mask, a, b)
#define part_sqrt(a) lane_sqrt(a)
#define part_abs(a) lane_abs(a)
#define part_sin(a) lane_sin(a)
#define part_cos(a) lane_cos(a)
#include "num/dual.inl"
typedef dual_number dual;
static dual dual_exp2(dual a)
{
  const lane v = lane_exp2(a.v);
  return dual_chain(a, v, v * LN2);
}
static dual dual_log2(dual a)
{
  return dual_chain(a, lane_log2(a.v), LOG2E / a.v);
}
static dual dual_log2_1p(dual a)
{
  return dual_chain(a, lane_log2_1p(a.v), LOG2E / (a.v + R(1.0)));
}
#include "num/part_off.h"

#undef DUAL_LEAST
#if REAL_DOUBLE || WIDE
#define DUAL_LEAST 1e-100
#else
#define DUAL_LEAST 1e-12f
#endif
#define DN(name) wide_dual_##name
#define part wide
#define part_mask int
#define part_lit(x) ((wide)(x))
#define part_select(mask, a, b) ((mask) ? (a) : (b))
#define part_sqrt(a) wide_sqrt(a)
#define part_abs(a) wide_abs(a)
#define part_sin(a) wide_sin(a)
#define part_cos(a) wide_cos(a)
#include "num/dual.inl"
typedef wide_dual_number wide_dual;
#include "num/part_off.h"

#endif // NUM_DUAL_H
