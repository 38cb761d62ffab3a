// The scalar, its lanes and every math builtin: the only place that names one.
//
// One text is compiled as OpenCL C 1.2 for devices and as C11 for the host. The build passes
//   REAL_DOUBLE  0 float, 1 double
//   LANES        1, 4, 8 or 16: how many elements one work-item carries
//   WIDE         1 where the device has float64: poses become frames in it, whatever REAL_DOUBLE
#ifndef NUM_REAL_H
#define NUM_REAL_H

#ifndef REAL_DOUBLE
#define REAL_DOUBLE 0
#endif
#ifndef LANES
#define LANES 1
#endif
#ifndef WIDE
#define WIDE 0
#endif

#ifdef __OPENCL_VERSION__
#if REAL_DOUBLE || WIDE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT ON
#define GLOBAL __global
#define LOCAL __local
#else
#include <math.h>
#define GLOBAL
#define LOCAL
#endif

// A build takes the forward kernels, the adjoint ones or, by default, both: what it leaves out is
// an unused function. Drivers compile for seconds to minutes, and few calls need everything.
#ifndef WITH_FORWARD
#define WITH_FORWARD 1
#endif
#ifndef WITH_ADJOINT
#define WITH_ADJOINT 1
#endif
#if defined(__OPENCL_VERSION__) && WITH_FORWARD
#define KERNEL __kernel
#else
#define KERNEL static
#endif
#if defined(__OPENCL_VERSION__) && WITH_ADJOINT
#define ADJOINT_KERNEL __kernel
#else
#define ADJOINT_KERNEL static
#endif

#if REAL_DOUBLE
typedef double real;
#define REAL_NAME double
#define R(x) x
#define REAL_BIG 1e300
#define REAL_MOST 1.7976931348623157e308
#define REAL_TINY 2.2250738585072014e-308
#define REAL_EPSILON 2.2204460492503131e-16
#define WEIGHT_CUTOFF (-1080.0) // 2^x below it is 0
#else
typedef float real;
#define REAL_NAME float
#define R(x) x##f
#define REAL_BIG 1e30f
#define REAL_MOST 3.40282347e38f
#define REAL_TINY 1.17549435e-38f
#define REAL_EPSILON 1.1920929e-7f
#define WEIGHT_CUTOFF (-130.0f) // 2^x below it is 0
#endif

#if REAL_DOUBLE || WIDE
typedef double wide;
#else
typedef float wide;
#endif

// ---- lanes: `lane` holds LANES reals, `ilane` integers of the same width (comparisons give these)
// ----
#define NUM_CAT_(a, b) a##b
#define NUM_CAT(a, b) NUM_CAT_(a, b)

#if LANES > 1
#if REAL_DOUBLE
typedef NUM_CAT(double, LANES) lane;
typedef NUM_CAT(long, LANES) ilane;
#define LANE_AS_INT NUM_CAT(as_long, LANES)
#define LANE_AS_REAL NUM_CAT(as_double, LANES)
#define LANE_TO_INT NUM_CAT(convert_long, LANES)
#define LANE_TO_REAL NUM_CAT(convert_double, LANES)
typedef long ilane_scalar;
#else
typedef NUM_CAT(float, LANES) lane;
typedef NUM_CAT(int, LANES) ilane;
#define LANE_AS_INT NUM_CAT(as_int, LANES)
#define LANE_AS_REAL NUM_CAT(as_float, LANES)
#define LANE_TO_INT NUM_CAT(convert_int, LANES)
#define LANE_TO_REAL NUM_CAT(convert_float, LANES)
typedef int ilane_scalar;
#endif
#define lane_select(mask, a, b) select(b, a, mask)
#define lane_load(p) NUM_CAT(vload, LANES)(0, p)
#define lane_store(v, p) NUM_CAT(vstore, LANES)(v, 0, p)
#define lane_any(mask) any(mask)
#define lane_all(mask) all(mask)
#define lane_first(v) ((v).s0)
// Bytes: 1 where the mask holds, else 0.
#define lane_store_bytes(mask, p) \
  NUM_CAT(vstore, LANES)(NUM_CAT(convert_uchar, LANES)((mask) & 1), 0, p)
#else
typedef real lane;
#if REAL_DOUBLE && defined(NUM_FORCE_POLYNOMIALS)
typedef long ilane; // holds the bits of a double
typedef long ilane_scalar;
#else
typedef int ilane;
typedef int ilane_scalar;
#endif
#define lane_select(mask, a, b) ((mask) ? (a) : (b))
#define lane_load(p) (*(p))
#define lane_store(v, p) (*(p) = (v))
#define lane_any(mask) (mask)
#define lane_all(mask) (mask)
#define lane_first(v) (v)
#endif
#define lane_lit(x) ((lane)(x))

#if defined(__OPENCL_VERSION__) || REAL_DOUBLE || WIDE
#define wide_sqrt(a) sqrt(a)
#define wide_abs(a) fabs(a)
#define wide_sin(a) sin(a)
#define wide_cos(a) cos(a)
#else
#define wide_sqrt(a) sqrtf(a)
#define wide_abs(a) fabsf(a)
#define wide_sin(a) sinf(a)
#define wide_cos(a) cosf(a)
#endif

#ifdef __OPENCL_VERSION__
#define lane_max(a, b) fmax(a, b)
#define lane_min(a, b) fmin(a, b)
#define lane_abs(a) fabs(a)
#define lane_sqrt(a) sqrt(a)
#define lane_sin(a) sin(a)
#define lane_cos(a) cos(a)
#define real_isfinite(a) isfinite(a)
#elif REAL_DOUBLE
#define lane_max(a, b) fmax(a, b)
#define lane_min(a, b) fmin(a, b)
#define lane_abs(a) fabs(a)
#define lane_sqrt(a) sqrt(a)
#define lane_sin(a) sin(a)
#define lane_cos(a) cos(a)
#define real_isfinite(a) isfinite(a)
#else
#define lane_max(a, b) fmaxf(a, b)
#define lane_min(a, b) fminf(a, b)
#define lane_abs(a) fabsf(a)
#define lane_sqrt(a) sqrtf(a)
#define lane_sin(a) sinf(a)
#define lane_cos(a) cosf(a)
#define real_isfinite(a) isfinite(a)
#endif

#ifdef __OPENCL_VERSION__
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define real_min(a, b) fmin(a, b)
#define real_max(a, b) fmax(a, b)
#else
#define BARRIER
#define real_min(a, b) lane_min(a, b)
#define real_max(a, b) lane_max(a, b)
#endif

// Groups of WG work-items, a power of two, share local memory: 1 on CPUs, where an item has lanes.
#ifndef WG
#define WG 1
#endif
#ifdef __OPENCL_VERSION__
#define LOCAL_ARRAY(type, name, count) LOCAL type name[count]
#else
#define LOCAL_ARRAY(type, name, count) type name[count]
#endif
#define REAL_NAN ((real)NAN)

#define LN2 R(0.69314718055994530942)
#define LOG2E R(1.44269504088896340736)

// ---- base-2 exponential and logarithm ---- Polynomials on lanes: a call into a CPU runtime's own
// costs more than the inlined text. Scalars take the builtin, which GPUs have in hardware.
// tools/fit_polynomials.py makes the coefficients; the bounds, over the whole range, are tested: 2
// ulp for exp2, and for log2 1.5e-7 (float) and 3e-16 (double) absolute beside 1 ulp.
#if LANES > 1 || defined(NUM_FORCE_POLYNOMIALS)

#if LANES == 1
#define LANE_AS_INT(x) real_as_int(x)
#define LANE_AS_REAL(x) real_as_real(x)
#define LANE_TO_REAL(x) ((real)(x))
#endif

#if REAL_DOUBLE
// 2^f on [-1/2, 1/2]: Taylor series, 14 terms; the rest is below 5e-18.
static lane lane_exp2_poly(lane f)
{
  const lane x = f * LN2;
  lane p = lane_lit(1.6059043836821613e-10);
  p = p * x + 2.08767569878681e-09;
  p = p * x + 2.505210838544172e-08;
  p = p * x + 2.755731922398589e-07;
  p = p * x + 2.7557319223985893e-06;
  p = p * x + 2.48015873015873e-05;
  p = p * x + 0.0001984126984126984;
  p = p * x + 0.001388888888888889;
  p = p * x + 0.008333333333333333;
  p = p * x + 0.041666666666666664;
  p = p * x + 0.16666666666666666;
  p = p * x + 0.5;
  p = p * x + 1.0;
  return p * x + 1.0;
}

// log2(m) = 2 atanh(s) / ln 2 with s = (m-1)/(m+1), |s| < 0.1716: 12 odd terms.
static lane lane_log2_poly(lane m)
{
  const lane s = (m - 1.0) / (m + 1.0);
  const lane z = s * s;
  lane p = lane_lit(1.0 / 23.0);
  p = p * z + 1.0 / 21.0;
  p = p * z + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  p = p * z + 1.0;
  return p * s * (2.0 * LOG2E);
}
#define EXP2_MAGIC 6755399441055744.0 // 1.5 * 2^52: adding it rounds to an integer
#define EXPONENT_SHIFT 52
#define EXPONENT_ONE 0x3ff0000000000000L
#define EXPONENT_SQRT_HALF 0x3fe6a09e667f3bcdL
#define EXP2_LOW (-1022.0)
#define EXP2_HIGH 1023.0
#else
static lane lane_exp2_poly(lane f)
{
  lane p = lane_lit(0.0001547801773f);
  p = p * f + 0.001340043167f;
  p = p * f + 0.009617994531f;
  p = p * f + 0.05550327216f;
  p = p * f + 0.240226515f;
  p = p * f + 0.6931472067f;
  return p * f + 1.0f;
}

static lane lane_log2_poly(lane m)
{
  const lane t = m - 1.0f;
  lane p = lane_lit(0.1256948806f);
  p = p * t - 0.2100599136f;
  p = p * t + 0.2171335858f;
  p = p * t - 0.23855072f;
  p = p * t + 0.2876938455f;
  p = p * t - 0.3607201491f;
  p = p * t + 0.4809206539f;
  p = p * t - 0.7213471372f;
  p = p * t + 1.442694896f;
  return p * t;
}
#define EXP2_MAGIC 12582912.0f // 1.5 * 2^23
#define EXPONENT_SHIFT 23
#define EXPONENT_ONE 0x3f800000
#define EXPONENT_SQRT_HALF 0x3f3504f3
#define EXP2_LOW (-126.0f)
#define EXP2_HIGH 127.0f
#endif

// 2^x; 0 below the smallest normal number, saturating above the largest power.
static lane lane_exp2(lane x)
{
  const lane c = lane_max(lane_min(x, lane_lit(EXP2_HIGH)), lane_lit(EXP2_LOW));
  const lane shifted = c + EXP2_MAGIC;
  const lane f = c - (shifted - EXP2_MAGIC);
  const ilane bits = (LANE_AS_INT(shifted) << EXPONENT_SHIFT) + EXPONENT_ONE;
  const lane scaled = lane_exp2_poly(f) * LANE_AS_REAL(bits);
  return lane_select(x < lane_lit(EXP2_LOW), lane_lit(R(0.0)), scaled);
}

// log2(x) for positive normal x.
static lane lane_log2(lane x)
{
  const ilane bits = LANE_AS_INT(x);
  const ilane e = (bits - EXPONENT_SQRT_HALF) >> EXPONENT_SHIFT;
  const lane m = LANE_AS_REAL(bits - (e << EXPONENT_SHIFT));
  return LANE_TO_REAL(e) + lane_log2_poly(m);
}

#elif defined(__OPENCL_VERSION__) || REAL_DOUBLE
#define lane_exp2(x) exp2(x)
#define lane_log2(x) log2(x)
#else
#define lane_exp2(x) exp2f(x)
#define lane_log2(x) log2f(x)
#endif

// ---- across lanes ----
static lane lane_iota(void)
{
#if LANES == 1
  return R(0.0);
#elif LANES == 4
  return (lane)(0, 1, 2, 3);
#elif LANES == 8
  return (lane)(0, 1, 2, 3, 4, 5, 6, 7);
#else
  return (lane)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
}

// Sum over lanes, by halving: always the same order.
static real lane_sum(lane x)
{
#if LANES == 1
  return x;
#else
#if LANES == 16
  const NUM_CAT(REAL_NAME, 8) x8 = x.lo + x.hi;
#elif LANES == 8
  const lane x8 = x;
#endif
#if LANES >= 8
  const NUM_CAT(REAL_NAME, 4) x4 = x8.lo + x8.hi;
#else
  const lane x4 = x;
#endif
  const NUM_CAT(REAL_NAME, 2) x2 = x4.lo + x4.hi;
  return x2.x + x2.y;
#endif
}

#endif // NUM_REAL_H
