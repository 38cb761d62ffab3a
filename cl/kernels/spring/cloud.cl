// The field of an oriented point cloud; docs/dev/spring-formulas.md, "Field, separation, force", 1.
// At a point x, with r_i = x - p_i, it is
//   phi(x) = sum_i w_i n_i . r_i, w = softmax(l), l_i = logw_i - |r_i|^2 / eps1_i,
// or l_i = logw_i - r_i' E_i^-1 r_i if points have their own kernels. Exponents are powers of two:
// logw, 1 / eps1 and E^-1 are packed times log2(e).
//
// The cloud is traversed once, in tiles of SPRING_TILE neighbouring points. Each tile computes its
// exponents first and then its terms of the sums. A tile is skipped if its bounding sphere shows
// that all of its weights are negligible.
#ifndef KERNELS_SPRING_CLOUD
#define KERNELS_SPRING_CLOUD

#if REAL_DOUBLE
#define SPRING_TAIL R(50.0) // weights below e^-50 of the largest one are neglected
#else
#define SPRING_TAIL R(25.0)
#endif
// Rounding error of a bound and of the bounded exponent, relative to the squared distance.
#if REAL_DOUBLE
#define SPRING_ROUNDED R(1e-14)
#else
#define SPRING_ROUNDED R(4e-6)
#endif
#define SPRING_ITS_OWN R(1.0) // a tail, in powers of two, that includes only the nearest points

// The layout of a packed cloud (geometry/spring.h). `about` holds SPRING_ABOUT numbers of the whole
// cloud, `records` is (count, SPRING_RECORD), `planes` is (SPRING_PLANE_COUNT, padded) and
// `tile_records` is (tiles, SPRING_TILE_RECORD). If `general` is set, points have their own
// `kernels` (count, SPRING_KERNEL). `order` (count) gives the caller's index of each point.
typedef struct spring_cloud {
  int count, padded, tiles, general;
  GLOBAL const real *about, *records, *kernels, *planes, *tile_records;
  GLOBAL const int *order;
} spring_cloud;

static spring_cloud spring_cloud_of(GLOBAL const int *heads, GLOBAL const real *shapes, int cloud)
{
  GLOBAL const int *head = heads + cloud * SPRING_HEAD_INTS;
  spring_cloud s;
  s.count = head[SPRING_COUNT];
  s.padded = head[SPRING_PADDED];
  s.tiles = head[SPRING_TILES];
  s.general = head[SPRING_KERNELS] >= 0;
  s.records = shapes + head[SPRING_RECORDS];
  s.about = s.records - SPRING_ABOUT;
  s.kernels = shapes + (s.general ? head[SPRING_KERNELS] : 0);
  s.planes = shapes + head[SPRING_PLANES];
  s.tile_records = shapes + head[SPRING_TILE_RECORDS];
  s.order = heads + head[SPRING_ORDER];
  return s;
}

// A place is one point x per lane in the cloud's frame, with y = x minus the cloud's centre, and
// whether x is far from the cloud. Far away, |x - p_i|^2 rounds to the same number for all points.
// So there -|y|^2 / eps1, the exponent of the reference kernel at the centre, is subtracted from
// every l_i, which leaves w unchanged. With r from the centre to p_i, l_i less logw_i becomes
//   (2 y - r) . r / eps1_i - (1 / eps1_i - 1 / eps1) |y|^2.
typedef struct spring_place {
  vec x, y;
  ilane far;
  int some_far;
  lane lift; // |y|^2 / eps1, added to far exponents, plus a rounding margin; else 0
} spring_place;

// Returns (K - less O) v. K and O are symmetric matrices of six numbers: xx, xy, xz, yy, yz, zz.
static vec spring_by(GLOBAL const real *k, GLOBAL const real *other, real less, vec v)
{
  const real xx = k[0] - less * other[0], xy = k[1] - less * other[1], xz = k[2] - less * other[2];
  const real yy = k[3] - less * other[3], yz = k[4] - less * other[4], zz = k[5] - less * other[5];
  return FN(make)(n_smad(v.x, xx, n_smad(v.y, xy, n_scale(v.z, xz))),
                  n_smad(v.x, xy, n_smad(v.y, yy, n_scale(v.z, yz))),
                  n_smad(v.x, xz, n_smad(v.y, yz, n_scale(v.z, zz))));
}

static vec spring_scaled(vec v, real s)
{
  return FN(make)(n_scale(v.x, s), n_scale(v.y, s), n_scale(v.z, s));
}

static spring_place spring_place_of(const spring_cloud *s, vec x)
{
  spring_place o;
  GLOBAL const real *c = s->about;
  o.x = x;
  o.y = FN(make)(n_shift(x.x, -c[0]), n_shift(x.y, -c[1]), n_shift(x.z, -c[2]));
  o.far = n_value(FN(dot3)(o.y, o.y)) > lane_lit(c[SPRING_FAR2]);
  o.some_far = lane_any(o.far);
  o.lift = lane_lit(R(0.0));
  if (o.some_far) {
    GLOBAL const real *k = c + SPRING_REFERENCE;
    const vec by = s->general ? spring_by(k, k, R(0.0), o.y) : spring_scaled(o.y, k[0]);
    const lane lift = n_value(FN(dot3)(by, o.y));
    o.lift = lane_select(o.far, lift + SPRING_ROUNDED * lift, o.lift);
  }
  return o;
}

// Returns r = x - p_i, the vector from the point of record p to x.
static vec spring_way(GLOBAL const real *p, vec x)
{
  return FN(make)(n_shift(x.x, -p[0]), n_shift(x.y, -p[1]), n_shift(x.z, -p[2]));
}

// Returns n_i . r, the height over the plane of record p. It is phi_i if r = x - p_i.
static num spring_height(GLOBAL const real *p, vec r)
{
  return n_smad(r.x, p[3], n_smad(r.y, p[4], n_scale(r.z, p[5])));
}

// Returns point i's exponent l_i at a far place, in the form above.
static num spring_far_exponent(const spring_cloud *s, const spring_place *o, int i)
{
  GLOBAL const real *p = s->records + i * SPRING_RECORD, *c = s->about;
  const num zero = n_lit(R(0.0));
  const vec to =
    FN(make)(n_shift(zero, p[0] - c[0]), n_shift(zero, p[1] - c[1]), n_shift(zero, p[2] - c[2]));
  GLOBAL const real *k = s->kernels + i * SPRING_KERNEL, *all = c + SPRING_REFERENCE;
  const vec by = s->general ? spring_by(k, k, R(0.0), to) : spring_scaled(to, p[7]);
  const vec rest = s->general ? spring_by(k, all, R(1.0), o->y)
                              : spring_scaled(o->y, p[7] - all[0]);
  const vec twice = FN(sub3)(spring_scaled(o->y, R(2.0)), to);
  return n_shift(n_sub(FN(dot3)(by, twice), FN(dot3)(rest, o->y)), p[6]);
}

// Returns q = E_i^-1 r, minus half of the gradient of point i's exponent, where r = x - p_i.
static vec spring_pull(const spring_cloud *s, int i, vec r)
{
  GLOBAL const real *k = s->kernels + i * SPRING_KERNEL;
  return s->general ? spring_by(k, k, R(0.0), r)
                    : spring_scaled(r, s->records[i * SPRING_RECORD + 7]);
}

// Returns point i's exponent l_i, where r = x - p_i and q = E_i^-1 r.
static num spring_exponent(const spring_cloud *s, const spring_place *o, int i, vec r, vec q)
{
  const num near = n_shift(n_neg(FN(dot3)(r, q)), s->records[i * SPRING_RECORD + 6]);
  return o->some_far ? n_select(o->far, spring_far_exponent(s, o, i), near) : near;
}

// Returns an upper bound of the exponents of a tile's points: the tile's largest logw, minus its
// least 1 / eps1 times the squared distance from x to the tile's sphere.
static lane spring_reach(const spring_cloud *s, const spring_place *o, int tile)
{
  GLOBAL const real *t = s->tile_records + tile * SPRING_TILE_RECORD;
  const lane x = n_value(o->x.x) - t[0], y = n_value(o->x.y) - t[1], z = n_value(o->x.z) - t[2];
  const lane gap = lane_max(lane_sqrt(x * x + y * y + z * z) - t[3], lane_lit(R(0.0)));
  return t[4] - t[5] * gap * gap + o->lift;
}

// Returns whether every point of a tile has an exponent below `least` in all lanes.
static int spring_passes(const spring_cloud *s, const spring_place *o, int tile, lane least)
{
  return lane_all(spring_reach(s, o, tile) < least);
}

// Returns the tile with the largest bound in the first lane. Sums start with this tile: it probably
// has the largest exponents, so that most other tiles can be skipped.
static int spring_nearest(const spring_cloud *s, const spring_place *o)
{
  int nearest = 0;
  real most = -REAL_MOST;
  for (int tile = 0; tile < s->tiles; ++tile) {
    const real reach = lane_first(spring_reach(s, o, tile));
    nearest = reach > most ? tile : nearest;
    most = real_max(reach, most);
  }
  return nearest;
}

#define SPRING_EACH(s, i, tile) \
  for (int i = (tile)*SPRING_TILE; i < MIN_INT(((tile) + 1) * SPRING_TILE, (s)->count); ++i)

// Returns the larger of `top` and l, or `top` if l is NaN. fmax would do the same, but is slower.
static lane spring_higher(lane top, num l)
{
  return lane_select(n_value(l) > top, n_value(l), top);
}

// Writes the exponents of a tile's points. Returns the largest of them and `top`. Clouds without
// kernels of their own have a separate loop for places that are not far, because compilers do not
// inline the functions of the general loop.
static lane spring_exponents(const spring_cloud *s, const spring_place *o, int tile, lane top,
                             num exponents[SPRING_TILE])
{
  if (!s->general && !o->some_far) {
    SPRING_EACH (s, i, tile) {
      GLOBAL const real *p = s->records + i * SPRING_RECORD;
      const vec r = spring_way(p, o->x);
      const num l = n_shift(n_neg(FN(dot3)(r, spring_scaled(r, p[7]))), p[6]);
      exponents[i - tile * SPRING_TILE] = l;
      top = spring_higher(top, l);
    }
    return top;
  }
  SPRING_EACH (s, i, tile) {
    const vec r = spring_way(s->records + i * SPRING_RECORD, o->x);
    const num l = spring_exponent(s, o, i, r, spring_pull(s, i, r));
    exponents[i - tile * SPRING_TILE] = l;
    top = spring_higher(top, l);
  }
  return top;
}

// Returns phi(x), and the largest exponent in *top. The sums of weights are relative to the largest
// exponent so far, and are scaled down when a tile has a larger one. Far away every phi_i is as
// large as the distance, and their mean would lose digits. There the differences from one point's
// phi_i, `pivot`, are averaged instead.
static num spring_phi(const spring_cloud *s, const spring_place *o, lane *top)
{
  const int nearest = spring_nearest(s, o);
  num sum = n_lit(R(0.0)), all = sum, exponents[SPRING_TILE];
  GLOBAL const real *first = s->records + nearest * SPRING_TILE * SPRING_RECORD;
  const num pivot = n_select(o->far, spring_height(first, spring_way(first, o->x)), n_lit(R(0.0)));
  lane high = lane_lit(-REAL_MOST);
  for (int k = -1; k < s->tiles; ++k) {
    const int tile = k < 0 ? nearest : k;
    if (k == nearest || spring_passes(s, o, tile, high - SPRING_TAIL * LOG2E)) {
      continue;
    }
    const lane higher = spring_exponents(s, o, tile, high, exponents);
    const num keep = n_of(lane_exp2(high - higher));
    high = higher;
    sum = n_mul(sum, keep);
    all = n_mul(all, keep);
    SPRING_EACH (s, i, tile) {
      GLOBAL const real *p = s->records + i * SPRING_RECORD;
      const num exponent = n_sub(exponents[i - tile * SPRING_TILE], n_of(high));
      if (!lane_any(n_value(exponent) > lane_lit(-SPRING_TAIL * LOG2E))) {
        continue;
      }
      const num w = n_exp2(exponent);
      sum = n_add(sum, w);
      all = n_mad(w, n_sub(spring_height(p, spring_way(p, o->x)), pivot), all);
    }
  }
  *top = high;
  return n_add(pivot, n_div(all, sum));
}

#endif
