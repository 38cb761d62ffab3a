// Conversion of rows of 3, 6 or 9 reals, one row per query, to lanes and back. Whole blocks of
// LANES consecutive reals are loaded and stored, and swizzles convert rows to columns. A gather
// would need one load per real, and cost as much as the witness problem itself.
#ifndef KERNELS_ROWS_H
#define KERNELS_ROWS_H

#if LANES > 1

// In LANES rows of three numbers, number k of row i is in one of three blocks, at place j = (3 i +
// k) mod LANES. The places j of one k in the three blocks are disjoint. Three blocks therefore
// blend into one with all numbers k, which a permutation sorts, and back.
#if LANES == 4
#define SPLIT_X(v) (v).s0321
#define SPLIT_Y(v) (v).s1032
#define SPLIT_Z(v) (v).s2103
#define JOIN_X(v) (v).s0321
#define JOIN_Y(v) (v).s1032
#define JOIN_Z(v) (v).s2103
#elif LANES == 8
#define SPLIT_X(v) (v).s03614725
#define SPLIT_Y(v) (v).s14725036
#define SPLIT_Z(v) (v).s25036147
#define JOIN_X(v) (v).s03614725
#define JOIN_Y(v) (v).s50361472
#define JOIN_Z(v) (v).s25036147
#else
#define SPLIT_X(v) (v).s0369cf258be147ad
#define SPLIT_Y(v) (v).s147ad0369cf258be
#define SPLIT_Z(v) (v).s258be147ad0369cf
#define JOIN_X(v) (v).s0b61c72d83e94fa5
#define JOIN_Y(v) (v).s50b61c72d83e94fa
#define JOIN_Z(v) (v).sa50b61c72d83e94f
#endif

// Returns the lane whose element j is from a if j mod 3 is 0, from b if it is 1, from c if it is 2.
static lane blend(lane a, lane b, lane c)
{
  const ilane third = LANE_TO_INT(lane_iota()) % 3;
  return lane_select(third == 0, a, lane_select(third == 1, b, c));
}

// Converts three blocks of triples to the triples' first, second and third numbers; join3 does the
// opposite.
static vec3_r split3(vec3_r v)
{
#if LANES % 3 == 1
  return make_r(SPLIT_X(blend(v.x, v.z, v.y)), SPLIT_Y(blend(v.y, v.x, v.z)),
                SPLIT_Z(blend(v.z, v.y, v.x)));
#else
  return make_r(SPLIT_X(blend(v.x, v.y, v.z)), SPLIT_Y(blend(v.z, v.x, v.y)),
                SPLIT_Z(blend(v.y, v.z, v.x)));
#endif
}

static vec3_r join3(vec3_r v)
{
  const lane x = JOIN_X(v.x), y = JOIN_Y(v.y), z = JOIN_Z(v.z);
#if LANES % 3 == 1
  return make_r(blend(x, y, z), blend(y, z, x), blend(z, x, y));
#else
  return make_r(blend(x, y, z), blend(z, x, y), blend(y, z, x));
#endif
}

static vec3_r load_blocks(GLOBAL const real *p)
{
  return make_r(lane_load(p), lane_load(p + LANES), lane_load(p + 2 * LANES));
}

static void store_blocks(GLOBAL real *p, vec3_r v)
{
  lane_store(v.x, p);
  lane_store(v.y, p + LANES);
  lane_store(v.z, p + 2 * LANES);
}

// Convert LANES rows of 6 or 9 reals to vectors, and back. Each width has its own function, so that
// the width is a constant even without inlining.
static void load_rows6(GLOBAL const real *p, vec3_r out[2])
{
  const vec3_r v = load_blocks(p), w = load_blocks(p + 3 * LANES);
  const vec3_r even = split3(
    make_r((lane)(v.x.even, v.y.even), (lane)(v.z.even, w.x.even), (lane)(w.y.even, w.z.even)));
  const vec3_r odd =
    split3(make_r((lane)(v.x.odd, v.y.odd), (lane)(v.z.odd, w.x.odd), (lane)(w.y.odd, w.z.odd)));
  out[0] = make_r(even.x, odd.x, even.y);
  out[1] = make_r(odd.y, even.z, odd.z);
}

static void load_rows9(GLOBAL const real *p, vec3_r out[3])
{
  const vec3_r s0 = split3(load_blocks(p)), s1 = split3(load_blocks(p + 3 * LANES));
  const vec3_r s2 = split3(load_blocks(p + 6 * LANES));
  const vec3_r x = split3(make_r(s0.x, s1.x, s2.x)), y = split3(make_r(s0.y, s1.y, s2.y));
  const vec3_r z = split3(make_r(s0.z, s1.z, s2.z));
  out[0] = make_r(x.x, y.x, z.x);
  out[1] = make_r(x.y, y.y, z.y);
  out[2] = make_r(x.z, y.z, z.z);
}

// Return the first and the second block of a0 b0 a1 b1 ...
static lane mixed_low(lane a, lane b)
{
  lane r;
  r.even = a.lo;
  r.odd = b.lo;
  return r;
}

static lane mixed_high(lane a, lane b)
{
  lane r;
  r.even = a.hi;
  r.odd = b.hi;
  return r;
}

static void store_rows6(GLOBAL real *p, const vec3_r v[2])
{
  const vec3_r even = join3(make_r(v[0].x, v[0].z, v[1].y));
  const vec3_r odd = join3(make_r(v[0].y, v[1].x, v[1].z));
  store_blocks(p, make_r(mixed_low(even.x, odd.x), mixed_high(even.x, odd.x),
                         mixed_low(even.y, odd.y)));
  store_blocks(p + 3 * LANES, make_r(mixed_high(even.y, odd.y), mixed_low(even.z, odd.z),
                                     mixed_high(even.z, odd.z)));
}

static void store_rows9(GLOBAL real *p, const vec3_r v[3])
{
  const vec3_r x = join3(make_r(v[0].x, v[1].x, v[2].x));
  const vec3_r y = join3(make_r(v[0].y, v[1].y, v[2].y));
  const vec3_r z = join3(make_r(v[0].z, v[1].z, v[2].z));
  store_blocks(p, join3(make_r(x.x, y.x, z.x)));
  store_blocks(p + 3 * LANES, join3(make_r(x.y, y.y, z.y)));
  store_blocks(p + 6 * LANES, join3(make_r(x.z, y.z, z.z)));
}

#endif
#endif
