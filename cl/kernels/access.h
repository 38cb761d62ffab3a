// Reading and writing numbers in buffers. A block is LANES consecutive elements of one pose. Lanes
// past the last element repeat it and write nothing.
//
// A buffer of numbers has one row per pose: `stride` values, followed for duals by as many
// derivatives along each tangent. A stride of 0 means that all poses share one row, which is
// constant and has no derivatives.
#ifndef KERNELS_ACCESS_H
#define KERNELS_ACCESS_H

#define NO_ORDER ((GLOBAL const int *)0)
#define PARTS (1 + TANGENTS)
#define EACH_PART(i) for (int i = 0; i < PARTS; ++i)

// PART_DO repeats a statement for the value and each tangent, TANGENT_DO for each tangent. Both are
// unrolled, because a compiler keeps a number in registers only if no part is indexed by a
// variable. Functions that every kernel calls use them.
// The result of clang-format on these lines differs from run to run.
// clang-format off
#define AT_PART(i, place, statement) { enum { i = place }; statement }
#if TANGENTS == 6
#define TANGENT_DO(i, statement) \
  { AT_PART(i, 1, statement) AT_PART(i, 2, statement) AT_PART(i, 3, statement) \
    AT_PART(i, 4, statement) AT_PART(i, 5, statement) AT_PART(i, 6, statement) }
#elif TANGENTS == 1
#define TANGENT_DO(i, statement) AT_PART(i, 1, statement)
#else
#define TANGENT_DO(i, statement)
#endif
#define PART_DO(i, statement) { AT_PART(i, 0, statement) TANGENT_DO(i, statement) }
// clang-format on

// ROW is the row of a pose in a buffer of integers, NUMS in a buffer of numbers. Both use 64-bit
// offsets, because the buffer of a chunk may hold more than 2^31 elements.
#define ROW(buffer, pose, stride) ((buffer) + (size_t)(pose) * (size_t)(stride))
#define NUMS(buffer, pose, stride) ROW(buffer, pose, PARTS *(stride))

// ---- a block of consecutive numbers ----
static num load(GLOBAL const real *p, int stride)
{
  num r = n_lit(R(0.0));
  PART_DO(i, {
    if (i == 0 || stride) {
      r = n_with_part(r, i, lane_load(p + i * stride));
    }
  })
  return r;
}

static void store(GLOBAL real *p, int stride, num x)
{
  PART_DO(i, { lane_store(n_get_part(x, i), p + i * stride); })
}

// These limits keep the values and derivatives that one kernel passes to the next finite:
// cotangents, and the Jacobian of a normal, which reaches 1e18 at a superquadric's centre. They are
// far beyond the digits of `real`. A product of both limits and a distance stays in range.
#if REAL_DOUBLE
#define COTANGENT_LIMIT 1e60
#define JACOBIAN_LIMIT 1e30
#define WRENCH_LIMIT 1e160
#else
#define COTANGENT_LIMIT 1e15f
#define JACOBIAN_LIMIT 1e10f
#define WRENCH_LIMIT 1e33f
#endif

// Returns x clamped to +-most. NaN stays NaN: a NaN from the caller or from a fault must show.
static lane bounded_part(lane x, real most)
{
  const lane high = lane_lit(most), low = lane_lit(-most);
  return lane_select(x > high, high, lane_select(x < low, low, x));
}

// Clamps only the derivatives of x, so plain numbers stay unchanged. Second derivatives that
// overflow to NaN become 0 (at a superquadric's centre, astronomically far away).
static num steady(num x, real most)
{
  num r = x;
  TANGENT_DO(i, {
    const lane part = bounded_part(n_get_part(x, i), most);
    r = n_with_part(r, i, lane_select(part == part, part, lane_lit(R(0.0))));
  })
  (void)most;
  return r;
}

static vec steady3(vec v, real most)
{
  return FN(make)(steady(v.x, most), steady(v.y, most), steady(v.z, most));
}

static num bounded(num x, real most)
{
  const num r = n_with_value(x, bounded_part(n_value(x), most));
  return steady(r, most);
}

static vec bounded3(vec v, real most)
{
  return FN(make)(bounded(v.x, most), bounded(v.y, most), bounded(v.z, most));
}

// Vectors are stored in three planes of `plane` numbers.
static vec load3(GLOBAL const real *p, int stride, int plane)
{
  return FN(make)(load(p, stride), load(p + plane, stride), load(p + 2 * plane, stride));
}

static void store3(GLOBAL real *p, int stride, int plane, vec v)
{
  store(p, stride, v.x);
  store(p + plane, stride, v.y);
  store(p + 2 * plane, stride, v.z);
}

// ---- one number on all lanes ----
static num load_one(GLOBAL const real *p, int stride)
{
  num r = n_lit(R(0.0));
  PART_DO(i, {
    if (i == 0 || stride) {
      r = n_with_part(r, i, lane_lit(p[i * stride]));
    }
  })
  return r;
}

// Stores the sum over lanes as one number.
static void store_sum(GLOBAL real *p, int stride, num x)
{
  PART_DO(i, { p[i * stride] = lane_sum(n_get_part(x, i)); })
}

// Stores only the first lane of a number that is equal on all lanes.
static void store_first(GLOBAL real *p, int stride, num x)
{
  PART_DO(i, { p[i * stride] = lane_first(n_get_part(x, i)); })
}

// Returns the sum over lanes on every lane.
static num all_lanes(num x)
{
  num r = x;
  PART_DO(i, { r = n_with_part(r, i, lane_lit(lane_sum(n_get_part(x, i)))); })
  return r;
}

static void store_sum3(GLOBAL real *p, int stride, vec v)
{
  store_sum(p, stride, v.x);
  store_sum(p + 1, stride, v.y);
  store_sum(p + 2, stride, v.z);
}

// ---- rows of outputs: element first + i, or order[first + i] if `ordered`, for first + i < count;
// step is the distance between elements ----
static void store_part(GLOBAL real *p, GLOBAL const int *order, int ordered, int first, int count,
                       int step, lane x)
{
#if LANES == 1
  (void)count;
  p[step * (ordered ? order[first] : first)] = x;
#else
  if (!ordered && step == 1 && first + LANES <= count) {
    lane_store(x, p + first);
    return;
  }
  real t[LANES];
  lane_store(x, t);
  for (int i = 0; i < MIN_INT(LANES, count - first); ++i) {
    p[step * (ordered ? order[first + i] : first + i)] = t[i];
  }
#endif
}

static void store_step(GLOBAL real *p, int stride, GLOBAL const int *order, int ordered, int first,
                       int count, int step, num x)
{
  PART_DO(i, { store_part(p + i * stride, order, ordered, first, count, step, n_get_part(x, i)); })
}

static void store_row(GLOBAL real *p, int stride, GLOBAL const int *order, int ordered, int first,
                      int count, num x)
{
  store_step(p, stride, order, ordered, first, count, 1, x);
}

// Stores vectors whose x, y and z are adjacent; `step` is the distance between vectors.
static void store_step3(GLOBAL real *p, int stride, GLOBAL const int *order, int ordered, int first,
                        int count, int step, vec v)
{
  store_step(p, stride, order, ordered, first, count, step, v.x);
  store_step(p + 1, stride, order, ordered, first, count, step, v.y);
  store_step(p + 2, stride, order, ordered, first, count, step, v.z);
}

static void store_row3(GLOBAL real *p, int stride, GLOBAL const int *order, int ordered, int first,
                       int count, vec v)
{
  store_step3(p, stride, order, ordered, first, count, 3, v);
}

// ---- gathered: lane i reads element min(first + i, last); elements are `step` reals apart ----
static lane gather_part(GLOBAL const real *p, int first, int last, int step)
{
#if LANES == 1
  return p[MIN_INT(first, last) * step];
#else
  real t[LANES];
  for (int i = 0; i < LANES; ++i) {
    t[i] = p[MIN_INT(first + i, last) * step];
  }
  return lane_load(t);
#endif
}

static num gather(GLOBAL const real *p, int stride, int first, int last, int step)
{
  num r = n_lit(R(0.0));
  PART_DO(i, {
    if (i == 0 || stride) {
      r = n_with_part(r, i, gather_part(p + i * stride, first, last, step));
    }
  })
  return r;
}

static vec gather3(GLOBAL const real *p, int stride, int first, int last, int step)
{
  return FN(make)(gather(p, stride, first, last, step), gather(p + 1, stride, first, last, step),
                  gather(p + 2, stride, first, last, step));
}

// In the gather_..._at functions lane i reads element at[min(first + i, count - 1)]. Vectors are
// stored in planes.
static lane gather_part_at(GLOBAL const real *p, GLOBAL const int *at, int first, int count)
{
#if LANES == 1
  (void)count;
  return p[at[first]];
#else
  real t[LANES];
  for (int i = 0; i < LANES; ++i) {
    t[i] = p[at[MIN_INT(first + i, count - 1)]];
  }
  return lane_load(t);
#endif
}

static num gather_at(GLOBAL const real *p, int stride, GLOBAL const int *at, int first, int count)
{
  num r = n_lit(R(0.0));
  PART_DO(i, {
    if (i == 0 || stride) {
      r = n_with_part(r, i, gather_part_at(p + i * stride, at, first, count));
    }
  })
  return r;
}

static vec gather3_at(GLOBAL const real *p, int stride, int plane, GLOBAL const int *at, int first,
                      int count)
{
  return FN(make)(gather_at(p, stride, at, first, count),
                  gather_at(p + plane, stride, at, first, count),
                  gather_at(p + 2 * plane, stride, at, first, count));
}

// In the following functions lane i reads the cotangent of output first + i, or of order[first + i]
// if `ordered`. Lanes past the last output read 0.
static lane cotangent_part(GLOBAL const real *p, GLOBAL const int *order, int ordered, int first,
                           int count, int step)
{
#if LANES == 1
  return first < count ? p[step * (ordered ? order[first] : first)] : R(0.0);
#else
  if (!ordered && step == 1 && first + LANES <= count) {
    return lane_load(p + first);
  }
  real t[LANES];
  for (int i = 0; i < LANES; ++i) {
    const int at = MIN_INT(first + i, count - 1);
    t[i] = first + i < count ? p[step * (ordered ? order[at] : at)] : R(0.0);
  }
  return lane_load(t);
#endif
}

static num cotangent_step(GLOBAL const real *p, int stride, GLOBAL const int *order, int ordered,
                          int first, int count, int step)
{
  num r = n_lit(R(0.0));
  PART_DO(i, {
    if (i == 0 || stride) {
      r = n_with_part(r, i, cotangent_part(p + i * stride, order, ordered, first, count, step));
    }
  })
  return r;
}

static num cotangent(GLOBAL const real *p, int stride, GLOBAL const int *order, int ordered,
                     int first, int count)
{
  return cotangent_step(p, stride, order, ordered, first, count, 1);
}

static vec cotangent3(GLOBAL const real *p, int stride, GLOBAL const int *order, int ordered,
                      int first, int count)
{
  return FN(make)(cotangent_step(p, stride, order, ordered, first, count, 3),
                  cotangent_step(p + 1, stride, order, ordered, first, count, 3),
                  cotangent_step(p + 2, stride, order, ordered, first, count, 3));
}

// ---- frames (FRAME_* of geometry/layout.h), which have their own derivatives ----

#if TANGENTS
// Adds `move`, tangent i of a point's motion with its frame, to the point's own tangent i.
static vec moved(vec a, int i, vec3_r move)
{
  return FN(make)(n_with_part(a.x, i, n_get_part(a.x, i) + move.x),
                  n_with_part(a.y, i, n_get_part(a.y, i) + move.y),
                  n_with_part(a.z, i, n_get_part(a.z, i) + move.z));
}
#endif

static vec turn(GLOBAL const real *frame, vec a)
{
  vec r = FN(rotate)(frame, a);
#if TANGENTS
  const vec3_r value = make_r(n_value(a.x), n_value(a.y), n_value(a.z));
  TANGENT_DO(i, { r = moved(r, i, rotate_r(frame + i * FRAME_STRIDE, value)); })
#endif
  return r;
}

static vec turn_back(GLOBAL const real *frame, vec a)
{
  vec r = FN(rotate_back)(frame, a);
#if TANGENTS
  const vec3_r value = make_r(n_value(a.x), n_value(a.y), n_value(a.z));
  TANGENT_DO(i, { r = moved(r, i, rotate_back_r(frame + i * FRAME_STRIDE, value)); })
#endif
  return r;
}

static vec place(GLOBAL const real *frame, vec a)
{
  vec r = FN(transform)(frame, a);
#if TANGENTS
  const vec3_r value = make_r(n_value(a.x), n_value(a.y), n_value(a.z));
  TANGENT_DO(i, { r = moved(r, i, transform_r(frame + i * FRAME_STRIDE, value)); })
#endif
  return r;
}

// Prepares x for output: makes the derivatives finite, then adds the poison of the pose (0 or NaN)
// to the value and to every derivative.
static num poisoned(GLOBAL const real *frames, num x)
{
  num r = steady(x, REAL_BIG);
  PART_DO(i, { r = n_with_part(r, i, n_get_part(r, i) + frames[i * FRAME_STRIDE + FRAME_POISON]); })
  return r;
}

static vec poisoned3(GLOBAL const real *frames, vec v)
{
  return FN(make)(poisoned(frames, v.x), poisoned(frames, v.y), poisoned(frames, v.z));
}

#endif
