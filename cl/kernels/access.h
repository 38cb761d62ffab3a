// Blocks of lanes in and out of buffers. A block runs over LANES consecutive elements of one pose; past
// the last element lanes repeat it and write nothing.
#ifndef KERNELS_ACCESS_H
#define KERNELS_ACCESS_H

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

// Writes the first `count - first` lanes of x to p[first], p[first + 1], ...
static void store_row(GLOBAL real *p, int first, int count, lane x)
{
#if LANES == 1
  (void)count;
  p[first] = x;
#else
  if (first + LANES <= count) {
    lane_store(x, p + first);
    return;
  }
  real t[LANES];
  lane_store(x, t);
  for (int i = 0; i < count - first; ++i) {
    p[first + i] = t[i];
  }
#endif
}

// The same for vectors, interleaved as x, y, z.
static void store_row3(GLOBAL real *p, int first, int count, vec3_r v)
{
#if LANES == 1
  (void)count;
  p[3 * first] = v.x;
  p[3 * first + 1] = v.y;
  p[3 * first + 2] = v.z;
#else
  real x[LANES], y[LANES], z[LANES];
  lane_store(v.x, x);
  lane_store(v.y, y);
  lane_store(v.z, z);
  const int n = MIN_INT(LANES, count - first);
  for (int i = 0; i < n; ++i) {
    p[3 * (first + i)] = x[i];
    p[3 * (first + i) + 1] = y[i];
    p[3 * (first + i) + 2] = z[i];
  }
#endif
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
