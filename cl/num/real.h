// The scalar, its lanes and the math builtins, which other files use by the names defined here.
//
// The same source is compiled as OpenCL C 1.2 for devices and as C11 for the host. The build passes
//   REAL_DOUBLE  0 for float, 1 for double
//   LANES        1, 4, 8 or 16: number of elements per work-item
//   WIDE         1 if the device has float64; poses are then converted to frames in float64, even
//                if REAL_DOUBLE is 0
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
#if defined(WITH_MERGED) && WITH_MERGED
#define LOCAL
#else
#define LOCAL __local
#endif
#define CONSTANT __constant
#else
#include <math.h>
#define GLOBAL
#define LOCAL
#define CONSTANT static const
#endif

// A build includes the forward kernels, the adjoint ones or, by default, both. The others become
// unused functions. This saves time, because drivers compile for seconds to minutes, and few calls
// need everything.
//
// A kernel in which work-items synchronise (BARRIER) must not return before its last barrier, even
// if all of a group would return: PoCL 3.1 would then treat the rest as code of a single work-item.
// If there is nothing to do, the kernel's loops are empty.
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

// Kernels whose work-items share a group (get_group_id, get_local_id) are GROUPED or
// ADJOINT_GROUPED, and are launched in groups of WG. A compiler that knows the size needs no
// barriers if a group is one warp or wave.
#if defined(__OPENCL_VERSION__) && WG > 1 && WITH_FORWARD
#define GROUPED __attribute__((reqd_work_group_size(WG, 1, 1)))
#else
#define GROUPED
#endif
#if defined(__OPENCL_VERSION__) && WG > 1 && WITH_ADJOINT
#define ADJOINT_GROUPED __attribute__((reqd_work_group_size(WG, 1, 1)))
#else
#define ADJOINT_GROUPED
#endif

// A launch costs a CPU's driver as much as hundreds of contacts. Several launches of a kernel that
// is MERGED are combined into one, on devices with groups of a single work-item and with buffers at
// plain addresses. tools/embed_kernels.py makes a second kernel of it. A work-item of that kernel
// finds its launch and the arguments in a table. No work-items synchronise in it.
#define MERGED
#ifndef WITH_MERGED
#define WITH_MERGED 0
#endif

#if REAL_DOUBLE
typedef double real;
#define REAL_NAME double
#define R(x) x
#define REAL_BIG 1e300
#define REAL_MOST 1.7976931348623157e308
#define REAL_TINY 2.2250738585072014e-308
#define REAL_EPSILON 2.2204460492503131e-16
#define REAL_SPLITTER 134217729.0 // 2^27 + 1
#define WEIGHT_CUTOFF (-1080.0)   // 2^x below it is 0
#else
typedef float real;
#define REAL_NAME float
#define R(x) x##f
#define REAL_BIG 1e30f
#define REAL_MOST 3.40282347e38f
#define REAL_TINY 1.17549435e-38f
#define REAL_EPSILON 1.1920929e-7f
#define REAL_SPLITTER 4097.0f   // 2^12 + 1
#define WEIGHT_CUTOFF (-130.0f) // 2^x below it is 0
#endif

// LANE_FMA, if it is defined, is a b + c rounded once, by an instruction of the device.
// real_exponent is the e of 2^e <= |a| < 2^(e + 1). real_by_power_of_2 is a 2^e, exactly if that is
// a normal number.

// Whether a scalar counts as zero. Devices differ in whether they keep subnormal numbers. A number
// that is rejected as zero must be rejected on all devices.
#define real_is_none(a) (((a) < R(0.0) ? -(a) : (a)) < REAL_TINY)

#if REAL_DOUBLE || WIDE
typedef double wide;
#define WIDE_EPSILON 2.2204460492503131e-16
#else
typedef float wide;
#define WIDE_EPSILON REAL_EPSILON
#endif
#define wide_max(a, b) ((a) > (b) ? (a) : (b))
#define wide_min(a, b) ((a) < (b) ? (a) : (b))

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
#define ILANE_NAME long
#else
typedef NUM_CAT(float, LANES) lane;
typedef NUM_CAT(int, LANES) ilane;
#define LANE_AS_INT NUM_CAT(as_int, LANES)
#define LANE_AS_REAL NUM_CAT(as_float, LANES)
#define LANE_TO_INT NUM_CAT(convert_int, LANES)
#define LANE_TO_REAL NUM_CAT(convert_float, LANES)
#define ILANE_NAME int
#endif
typedef ILANE_NAME ilane_scalar;
#define lane_select(mask, a, b) select(b, a, mask)
#define lane_load(p) NUM_CAT(vload, LANES)(0, p)
#define lane_store(v, p) NUM_CAT(vstore, LANES)(v, 0, p)
#define lane_first(v) ((v).s0)
// Stores bytes: 1 where the mask holds, otherwise 0.
#define lane_store_bytes(mask, p) \
  NUM_CAT(vstore, LANES)(NUM_CAT(convert_uchar, LANES)((mask)&1), 0, p)
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
#define lane_first(v) (v)
#define LANE_TO_INT(x) ((ilane)(x))
#define LANE_TO_REAL(x) ((real)(x))
#endif
#define lane_lit(x) ((lane)(x))

#if defined(__OPENCL_VERSION__) || REAL_DOUBLE || WIDE
#define wide_sqrt(a) sqrt(a)
#define wide_abs(a) fabs(a)
#define wide_sin(a) sin(a)
#define wide_cos(a) cos(a)
#define wide_atan2(y, x) atan2(y, x)
#else
#define wide_sqrt(a) sqrtf(a)
#define wide_abs(a) fabsf(a)
#define wide_sin(a) sinf(a)
#define wide_cos(a) cosf(a)
#define wide_atan2(y, x) atan2f(y, x)
#endif

#ifndef __OPENCL_VERSION__
// Like fmax and fmin, which return the other argument if one is NaN, but without a library call.
static real host_max(real a, real b)
{
  const real most = a > b ? a : b;
  return b == b ? most : a;
}

static real host_min(real a, real b)
{
  const real least = a < b ? a : b;
  return b == b ? least : a;
}

#define lane_max(a, b) host_max(a, b)
#define lane_min(a, b) host_min(a, b)
#endif

#ifdef __OPENCL_VERSION__
#define lane_max(a, b) fmax(a, b)
#define lane_min(a, b) fmin(a, b)
#define lane_abs(a) fabs(a)
#define lane_floor(a) floor(a)
#define lane_sqrt(a) sqrt(a)
#define lane_sin(a) sin(a)
#define lane_cos(a) cos(a)
#define real_isfinite(a) isfinite(a)
#elif REAL_DOUBLE
#define lane_abs(a) fabs(a)
#define lane_floor(a) floor(a)
#define lane_sqrt(a) sqrt(a)
#define lane_sin(a) sin(a)
#define lane_cos(a) cos(a)
#define real_isfinite(a) isfinite(a)
#else
#define lane_abs(a) fabsf(a)
#define lane_floor(a) floorf(a)
#define lane_sqrt(a) sqrtf(a)
#define lane_sin(a) sinf(a)
#define lane_cos(a) cosf(a)
#define real_isfinite(a) isfinite(a)
#endif

#ifdef __OPENCL_VERSION__
#if WITH_MERGED
#define BARRIER
#define BARRIER_GLOBAL
#else
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define BARRIER_GLOBAL barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif
#define real_min(a, b) fmin(a, b)
#define real_max(a, b) fmax(a, b)
#define real_abs(a) fabs(a)
#define real_sqrt(a) sqrt(a)
#define real_pow(a, b) pow(a, b)
#define real_power_of_2(a) exp2(a)
#define real_exponent(a) ilogb(a)
#define real_by_power_of_2(a, e) ldexp(a, e)
#if REAL_DOUBLE || defined(FP_FAST_FMAF)
#define LANE_FMA(a, b, c) fma(a, b, c)
#endif
#else
#define BARRIER
#define BARRIER_GLOBAL
#define real_min(a, b) lane_min(a, b)
#define real_max(a, b) lane_max(a, b)
#define real_abs(a) lane_abs(a)
#define real_sqrt(a) lane_sqrt(a)
#if REAL_DOUBLE
#define real_pow(a, b) pow(a, b)
#define real_power_of_2(a) exp2(a)
#define real_exponent(a) ilogb(a)
#define real_by_power_of_2(a, e) ldexp(a, e)
#ifdef FP_FAST_FMA
#define LANE_FMA(a, b, c) fma(a, b, c)
#endif
#else
#define real_pow(a, b) powf(a, b)
#define real_power_of_2(a) exp2f(a)
#define real_exponent(a) ilogbf(a)
#define real_by_power_of_2(a, e) ldexpf(a, e)
#ifdef FP_FAST_FMAF
#define LANE_FMA(a, b, c) fmaf(a, b, c)
#endif
#endif
#endif

// A group of WG work-items, a power of two, shares local memory. WG is 1 on CPUs, where a work-item
// has lanes.
#ifndef WG
#define WG 1
#endif
#ifdef __OPENCL_VERSION__
#define LOCAL_ARRAY(type, name, count) LOCAL type name[count]
#else
#define LOCAL_ARRAY(type, name, count) type name[count]
#endif
#define REAL_NAN ((real)NAN)

#if WITH_MERGED
// The number of table entries for an argument that is a struct. An argument that is a buffer
// without an address uses `common`.
#define MERGED_SLOTS(type) ((sizeof(type) + sizeof(ulong) - 1) / sizeof(ulong))
#define MERGED_MEMORY(address) ((address) ? (GLOBAL char *)(address) : common)

// Returns the row of the launch that contains a work-item, among `count` rows of `stride` numbers.
// A row begins with the launch's first work-item.
static GLOBAL const ulong *merged_row(GLOBAL const ulong *launches, int count, int stride, int item)
{
  int low = 0, high = count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (item < (int)launches[middle * stride]) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return launches + low * stride;
}
#endif

#define MIN_INT(a, b) ((a) < (b) ? (a) : (b))
#define MAX_INT(a, b) ((a) > (b) ? (a) : (b))
#define LN2 R(0.69314718055994530942)
#define LOG2E R(1.44269504088896340736)

// ---- base-2 exponential and logarithm ---- Lanes use polynomials, because a call of a CPU
// runtime's functions costs more than inlined code. Scalars use the builtin, which GPUs have in
// hardware. tools/fit_polynomials.py computes the coefficients. These bounds, over the whole range,
// are tested: 2 ulp for exp2, for log2 1.5e-7 (float) and 3e-16 (double) absolute plus 1 ulp, and 5
// ulp for log2_1p.
#if LANES > 1 || defined(NUM_FORCE_POLYNOMIALS)

#if LANES == 1
#define LANE_AS_INT(x) real_as_int(x)
#define LANE_AS_REAL(x) real_as_real(x)
#endif

// The polynomials are summed by pairs, pairs of pairs and so on, which makes the chain of
// operations half as long as Horner's.
#if REAL_DOUBLE
// Returns (2^f - 1) / f on [-1/2, 1/2], to 1.3e-17.
static lane lane_exp2_poly(lane f)
{
  const lane f2 = f * f, f4 = f2 * f2, f8 = f4 * f4;
  const lane a = f * 0.24022650695910097 + 0.69314718055994529;
  const lane b = f * 0.0096181291076068882 + 0.055504108664821597;
  const lane c = f * 0.0001540353044173605 + 0.0013333558146416936;
  const lane d = f * 1.3215442587921689e-06 + 1.5252733829836119e-05;
  const lane e = f * 7.0725859492692234e-09 + 1.0178062445845774e-07;
  const lane high = f2 * 4.4549605981865186e-10 + e;
  const lane ab = b * f2 + a, cd = d * f2 + c;
  return high * f8 + (cd * f4 + ab);
}

// Returns log2(m) / s = 2 atanh(s) / (s ln 2), where s = (m - 1) / (m + 1) and |s| < 0.1716, to
// 3.4e-18.
static lane lane_log2_poly(lane s)
{
  const lane z = s * s, z2 = z * z, z4 = z2 * z2;
  const lane a = z * 0.96179669392598977 + 2.8853900817779268;
  const lane b = z * 0.41219858584090191 + 0.57707801634552025;
  const lane c = z * 0.26233435251228127 + 0.32059853491381096;
  const lane d = z * 0.21365895921126299 + 0.22091308401429963;
  return (d * z2 + c) * z4 + (b * z2 + a);
}
#define LOG2_ARGUMENT(m) (((m)-1.0) / ((m) + 1.0))

// Returns log2(1 + x) by the same series with s = x / (x + 2), s < 1/3, to 3.9e-18.
static lane lane_log2_1p(lane x)
{
  const lane s = x / (x + 2.0);
  const lane z = s * s, z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
  const lane a = z * 0.96179669392596812 + 2.8853900817779268;
  const lane b = z * 0.41219858273639987 + 0.57707801635826517;
  const lane c = z * 0.26230707333709513 + 0.32059892478820007;
  const lane d = z * 0.19188383637234871 + 0.2219819177651261;
  const lane e = z * 0.1200972347505444 + 0.17471280544176823;
  const lane high = z2 * 0.24589531742274842 + e;
  const lane ab = b * z2 + a, cd = d * z2 + c;
  return (high * z8 + (cd * z4 + ab)) * s;
}
#define EXP2_MAGIC 6755399441055744.0 // 1.5 * 2^52: adding it rounds to an integer
#define EXPONENT_SHIFT 52
#define EXPONENT_ONE 0x3ff0000000000000L
#define EXPONENT_SQRT_HALF 0x3fe6a09e667f3bcdL
#define EXP2_LOW (-1022.0)
#define EXP2_HIGH 1023.0
#else
// Returns (2^f - 1) / f on [-1/2, 1/2].
static lane lane_exp2_poly(lane f)
{
  const lane f2 = f * f;
  const lane a = f * 0.240226515f + 0.6931472067f;
  const lane b = f * 0.009617994531f + 0.05550327216f;
  const lane c = f * 0.0001547801773f + 0.001340043167f;
  return (c * f2 + b) * f2 + a;
}

// Returns log2(1 + t) / t, given the coefficients of 1, t, ... t^8.
static lane lane_log2_sum(lane t, real a, real b, real c, real d, real e, real f, real g, real h,
                          real i)
{
  const lane t2 = t * t, t4 = t2 * t2;
  const lane ab = t * b + a, cd = t * d + c, ef = t * f + e, gh = t * h + g;
  const lane low = cd * t2 + ab, high = gh * t2 + ef;
  return (t4 * i + high) * t4 + low;
}

static lane lane_log2_poly(lane t)
{
  return lane_log2_sum(t, 1.442694896f, -0.7213471372f, 0.4809206539f, -0.3607201491f,
                       0.2876938455f, -0.23855072f, 0.2171335858f, -0.2100599136f, 0.1256948806f);
}
#define LOG2_ARGUMENT(m) ((m)-1.0f)

// Returns log2(1 + x) for 0 <= x <= 1.
static lane lane_log2_1p(lane x)
{
  return x * lane_log2_sum(x, 1.442695f, -0.72134107f, 0.48071094f, -0.35855219f, 0.27620555f,
                           -0.19832163f, 0.1142767f, -0.04344079f, 0.00776752f);
}
#define EXP2_MAGIC 12582912.0f // 1.5 * 2^23
#define EXPONENT_SHIFT 23
#define EXPONENT_ONE 0x3f800000
#define EXPONENT_SQRT_HALF 0x3f3504f3
#define EXP2_LOW (-126.0f)
#define EXP2_HIGH 127.0f
#endif

// Returns 2^x. Below the smallest normal number it is 0, and above the largest power it saturates.
static lane lane_exp2(lane x)
{
  const lane c = lane_max(lane_min(x, lane_lit(EXP2_HIGH)), lane_lit(EXP2_LOW));
  const lane shifted = c + EXP2_MAGIC;
  const lane f = c - (shifted - EXP2_MAGIC);
  const ilane bits = (LANE_AS_INT(shifted) << EXPONENT_SHIFT) + EXPONENT_ONE;
  const lane power = LANE_AS_REAL(bits);
  const lane scaled = lane_exp2_poly(f) * (f * power) + power;
  return lane_select(x < lane_lit(EXP2_LOW), lane_lit(R(0.0)), scaled);
}

// Returns log2(x) for positive normal x.
static lane lane_log2(lane x)
{
  const ilane bits = LANE_AS_INT(x);
  const ilane e = (bits - EXPONENT_SQRT_HALF) >> EXPONENT_SHIFT;
  const lane m = LANE_AS_REAL(bits - (e << EXPONENT_SHIFT));
  const lane t = LOG2_ARGUMENT(m);
  return lane_log2_poly(t) * t + LANE_TO_REAL(e);
}

#elif defined(__OPENCL_VERSION__) || REAL_DOUBLE
#define lane_exp2(x) exp2(x)
#define lane_log2(x) log2(x)
#define lane_log2_1p(x) log2(R(1.0) + (x))
#else
#define lane_exp2(x) exp2f(x)
#define lane_log2(x) log2f(x)
#define lane_log2_1p(x) log2f(1.0f + (x))
#endif

// ---- across lanes ----
// Reads each lane's own element of an array.
static lane lane_gather(GLOBAL const real *p, ilane at)
{
#if LANES == 1
  return p[at];
#elif LANES == 4
  return (lane)(p[at.s0], p[at.s1], p[at.s2], p[at.s3]);
#elif LANES == 8
  return (lane)(p[at.s0], p[at.s1], p[at.s2], p[at.s3], p[at.s4], p[at.s5], p[at.s6], p[at.s7]);
#else
  return (lane)(p[at.s0], p[at.s1], p[at.s2], p[at.s3], p[at.s4], p[at.s5], p[at.s6], p[at.s7],
                p[at.s8], p[at.s9], p[at.sa], p[at.sb], p[at.sc], p[at.sd], p[at.se], p[at.sf]);
#endif
}

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

// Returns one number for all lanes, by halving and always in the same order; `fold` joins two
// halves. For masks this is much cheaper than any() of a CPU's runtime, which needs one branch per
// lane.
#if LANES == 16
#define LANE_FOLD(name, value, fold)                            \
  const NUM_CAT(name, 8) fold_8 = fold((value).lo, (value).hi); \
  const NUM_CAT(name, 4) fold_4 = fold(fold_8.lo, fold_8.hi);   \
  const NUM_CAT(name, 2) fold_2 = fold(fold_4.lo, fold_4.hi);   \
  return fold(fold_2.x, fold_2.y)
#elif LANES == 8
#define LANE_FOLD(name, value, fold)                            \
  const NUM_CAT(name, 4) fold_4 = fold((value).lo, (value).hi); \
  const NUM_CAT(name, 2) fold_2 = fold(fold_4.lo, fold_4.hi);   \
  return fold(fold_2.x, fold_2.y)
#elif LANES == 4
#define LANE_FOLD(name, value, fold)                            \
  const NUM_CAT(name, 2) fold_2 = fold((value).lo, (value).hi); \
  return fold(fold_2.x, fold_2.y)
#else
#define LANE_FOLD(name, value, fold) return value
#endif
#define FOLD_SUM(a, b) ((a) + (b))
#define FOLD_OR(a, b) ((a) | (b))
#define FOLD_LEAST(a, b) ((a) < (b) ? (a) : (b))
#define FOLD_MOST(a, b) ((a) > (b) ? (a) : (b))

static real lane_sum(lane x)
{
  LANE_FOLD(REAL_NAME, x, FOLD_SUM);
}
static real lane_least(lane x)
{
  LANE_FOLD(REAL_NAME, x, FOLD_LEAST);
}
static real lane_most(lane x)
{
  LANE_FOLD(REAL_NAME, x, FOLD_MOST);
}

// lane_bits converts a mask's lanes to bits, lane 0 the lowest. lowest_bit finds the place of the
// lowest bit.
static ilane_scalar lane_joined(ilane mask)
{
  LANE_FOLD(ILANE_NAME, mask, FOLD_OR);
}
#if LANES > 1
#define lane_any(mask) (lane_joined(mask) != 0)
#define lane_all(mask) (!lane_any(~(mask)))
#if LANES == 4
#define LANE_BITS (ilane)(1, 2, 4, 8)
#elif LANES == 8
#define LANE_BITS (ilane)(1, 2, 4, 8, 16, 32, 64, 128)
#else
#define LANE_BITS \
  (ilane)(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
#endif
#define lane_bits(mask) ((int)lane_joined((mask)&LANE_BITS))
#else
#define lane_any(mask) (mask)
#define lane_all(mask) (mask)
#define lane_bits(mask) ((int)((mask) != 0))
#endif
#ifdef __OPENCL_VERSION__
#define lowest_bit(bits) ((int)popcount(((bits) & -(bits)) - 1))
#else
static int lowest_bit(unsigned int bits)
{
  int i = 0;
  for (; !(bits >> i & 1); ++i) {
  }
  return i;
}
#endif

#endif // NUM_REAL_H
