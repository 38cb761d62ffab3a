// Blocks of lanes in and out of buffers. A block runs over LANES consecutive elements of one pose;
// past the last element lanes repeat it and write nothing.
#ifndef KERNELS_ACCESS_H
#define KERNELS_ACCESS_H

#define NO_ORDER ((GLOBAL const int *)0)
#define MIN_INT(a, b) ((a) < (b) ? (a) : (b))

// Row of a pose in a buffer: 64-bit, for a chunk's buffer may hold more than 2^31 numbers.
#define ROW(buffer, pose, stride) ((buffer) + (size_t)(pose) * (size_t)(stride))

static vec3_r load_planes(GLOBAL const real *p, int stride, int block)
{
  const int i = block * LANES;
  return make_r(lane_load(p + i), lane_load(p + stride + i), lane_load(p + 2 * stride + i));
}

static void store_planes(GLOBAL real *p, int stride, int block, vec3_r v)
{
  const int i = block * LANES;
  lane_store(v.x, p + i);
  lane_store(v.y, p + stride + i);
  lane_store(v.z, p + 2 * stride + i);
}

// Writes lane i of x to p[first + i] for first + i < count, or to p[order[first + i]] where
// `ordered`.
static void store_row(GLOBAL real *p, GLOBAL const int *order, int ordered, int first, int count,
                      lane x)
{
#if LANES == 1
  (void)count;
  p[ordered ? order[first] : first] = x;
#else
  if (!ordered && first + LANES <= count) {
    lane_store(x, p + first);
    return;
  }
  real t[LANES];
  lane_store(x, t);
  for (int i = 0; i < MIN_INT(LANES, count - first); ++i) {
    p[ordered ? order[first + i] : first + i] = t[i];
  }
#endif
}

// The same for vectors, interleaved as x, y, z.
static void store_row3(GLOBAL real *p, GLOBAL const int *order, int ordered, int first, int count,
                       vec3_r v)
{
  real x[LANES], y[LANES], z[LANES];
  lane_store(v.x, x);
  lane_store(v.y, y);
  lane_store(v.z, z);
  for (int i = 0; i < MIN_INT(LANES, count - first); ++i) {
    GLOBAL real *at = p + 3 * (ordered ? order[first + i] : first + i);
    at[0] = x[i];
    at[1] = y[i];
    at[2] = z[i];
  }
}

// Lane i reads p[index_i] with index_i = min(first + i, last) * stride.
static lane gather(GLOBAL const real *p, int first, int last, int stride)
{
#if LANES == 1
  return p[MIN_INT(first, last) * stride];
#else
  real t[LANES];
  for (int i = 0; i < LANES; ++i) {
    t[i] = p[MIN_INT(first + i, last) * stride];
  }
  return lane_load(t);
#endif
}

static vec3_r gather3(GLOBAL const real *p, int first, int last, int stride)
{
  return make_r(gather(p, first, last, stride), gather(p + 1, first, last, stride),
                gather(p + 2, first, last, stride));
}

#endif
