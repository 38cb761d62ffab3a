// The grids of one operation, and bounds of their distances.
//
// If clipping moved a point, distances phi_c at clipped points are positive, at least the rim's
// least, and phi^2 >= phi_c^2 + 2 m phi_c d + d^2. d is the length of the move, and m the least
// outward slope of the spline there (GRID_OUTWARD). Clipping increases neither the distance between
// two points nor that between their moves.

// Returns a lower bound of the distance if clipping moved the point by at least d, from a place
// with a value within low to high. If m < 0, which a true distance never has, the angle with d is
// also unknown: then phi^2 >= phi_c^2 - 2 k phi_c d + d^2 with k = -m, whose least is either at
// `high` or at phi_c = k d.
#if !NUM_DUAL
static lane FN(grid_rise)(GLOBAL const real *s, lane low, lane high, lane d)
{
  const real m = s[GRID_OUTWARD];
  const lane none = lane_lit(R(0.0));
  if (m >= R(0.0)) {
    return lane_sqrt(low * low + d * (d + R(2.0) * m * low));
  }
  const lane rest = d + high * m;
  const lane far = rest * rest - (m * m - R(1.0)) * high * high;
  const ilane beyond = (rest > none) & (high < -m * d);
  const lane near = d * d * real_max(R(1.0) - m * m, R(0.0));
  const lane least = lane_sqrt(lane_max(lane_select(beyond, far, near), near));
  return lane_max(least, low * R(0.5));
}

static lane FN(grid_moved)(const FN(grid_place) *p)
{
  return lane_sqrt(FN(dot3)(p->moved, p->moved));
}

// Returns a lower bound of the grid's distance at a point without reading its coefficients, or 0
// inside.
static lane FN(grid_beyond)(GLOBAL const real *s, const FN(grid_place) *p)
{
  const lane least = lane_lit(s[GRID_RIM_LEAST]), most = lane_lit(s[GRID_RIM_MOST]);
  const lane bound = FN(grid_rise)(s, least, most, FN(grid_moved)(p));
  return lane_select(p->out, bound, lane_lit(R(0.0)));
}
#endif

// Returns whether the grid does not count at any point: it is beyond `reach` and the nearest
// primitive so far, by more than rounding.
static int FN(grid_counts_not)(GLOBAL const real *s, const FN(blend) *b,
                               GLOBAL const coefficients *c, vec x, real reach)
{
  const vec3_r at = make_r(n_value(x.x), n_value(x.y), n_value(x.z));
  const grid_place_r p = grid_place_at_r(s, at);
  const lane limit = lane_min(n_value(b->least), lane_lit(reach)) + c->union_ln2 * CULL_BITS;
  return lane_all(grid_beyond_r(s, &p) > limit);
}

// Adds the grids. ranges has the start of each grid's record and its number of correction levels.
static void FN(grids_add)(FN(blend) *b, int count, GLOBAL const int *ranges,
                          GLOBAL const real *numbers, GLOBAL const coefficients *c, vec x,
                          const int want, real reach)
{
  FN(surface) surface;
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    GLOBAL const real *s = numbers + ranges[0];
    if (!FN(grid_counts_not)(s, b, c, x, reach)) {
      const FN(grid_place) p = FN(grid_place_at)(s, x);
      FN(grid)(s, ranges[1], c, &p, want, &surface);
      FN(blend_add)(b, c, &surface, want);
    }
  }
}

#if !NUM_DUAL
// The largest slope and the largest correction within GRID_NEAR of a clipped point.
typedef struct grid_nearby {
  lane slope, correction;
} grid_nearby;

static grid_nearby grid_around(GLOBAL const real *s, vec u)
{
  GLOBAL const real *size = s + GRID_SIZES, *map = s + GRID_MAP;
  const int nodes = (int)size[0] * (int)size[1] * (int)size[2];
  const int cells = GRID_PADDED((int)map[0] * (int)map[1] * (int)map[2]);
  const lane quarter = lane_lit(R(1.0) / GRID_MAP_CELLS), none = lane_lit(R(0.0));
  const lane i = grid_below(u.x * quarter, R(0.0), map[0] - R(1.0));
  const lane j = grid_below(u.y * quarter, R(0.0), map[1] - R(1.0));
  const lane k = grid_below(u.z * quarter, R(0.0), map[2] - R(1.0));
  const ilane at =
    grid_at((ilane)(GRID_STRIDE + GRID_PADDED(nodes) + cells), i, j, k, (int)map[1], (int)map[2]);
  grid_nearby n;
  n.slope = lane_max(lane_gather(s, at), none);
  n.correction = lane_gather(s + cells, at);
  return n;
}

// The spline falls by at most its slope times the radius on the way to its zero.
static lane FN(grid_bound)(GLOBAL const real *s, vec x, lane radius)
{
  const FN(grid_place) p = FN(grid_place_at)(s, x);
  const lane none = lane_lit(R(0.0));
  const lane phi = FN(grid_jet_at)(s, 0, p.u, 0).phi;
  const grid_nearby near = grid_around(s, p.u);
  const ilane within = radius <= lane_lit(s[GRID_NEAR]);
  const lane spread = lane_select(within, radius * near.slope + near.correction,
                                  radius * s[GRID_SLOPE] + s[GRID_CORRECTION]);
  const lane low = phi - spread, d = lane_max(FN(grid_moved)(&p) - radius, none);
  const lane rim = lane_max(low, lane_lit(s[GRID_RIM_LEAST]));
  const lane inside = lane_select(low > none, low, lane_lit(-REAL_BIG));
  const lane either = s[GRID_OUTWARD] >= R(0.0) ? inside : inside * R(0.5);
  const lane outside = FN(grid_rise)(s, rim, lane_min(phi + spread, lane_lit(s[GRID_RIM_MOST])), d);
  return lane_select(d > none, outside, either);
}

static lane FN(grids_bound)(int count, GLOBAL const int *ranges, GLOBAL const real *numbers, vec x,
                            lane radius)
{
  lane least = lane_lit(REAL_BIG);
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    least = lane_min(least, FN(grid_bound)(numbers + ranges[0], x, radius));
  }
  return least;
}

// Between two points the spline changes by at most its slope times the distance of the clipped
// points. The move by clipping and the clipped point change in the same directions, so squares add
// up.
static void FN(grids_march)(FN(marching) *m, int count, GLOBAL const int *ranges,
                            GLOBAL const real *numbers, GLOBAL const coefficients *c, vec x)
{
  FN(surface) surface;
  const lane none = lane_lit(R(0.0));
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    GLOBAL const real *s = numbers + ranges[0];
    const FN(grid_place) p = FN(grid_place_at)(s, x);
    const FN(grid_jet) j = FN(grid_jet_at)(s, ranges[1], p.u, p.some_out ? 1 : 0);
    FN(mat3) h;
    FN(grid_inside)(s, &j, &surface, &h);
    if (p.some_out) {
      FN(grid_outside)(&p, 0, &h, &surface);
    }
    FN(blend_add)(&m->blend, c, &surface, 0);
    const lane coarse = (j.phi - R(2.0) * s[GRID_CORRECTION] - m->margin) / s[GRID_SLOPE];
    const lane fine = (j.phi - m->margin) / s[GRID_FINE_SLOPE];
    const grid_nearby n = grid_around(s, p.u);
    const lane away = (j.phi - R(2.0) * n.correction - m->margin) / (n.slope + REAL_TINY);
    const lane near = lane_min(away, lane_lit(s[GRID_NEAR]));
    const lane across = lane_max(lane_max(coarse, near), lane_max(fine, none));
    const lane off = lane_max(FN(grid_moved)(&p) - m->margin, none);
    const real share = s[GRID_OUTWARD] >= R(0.0) ? R(1.0) : R(0.5);
    const lane step = lane_sqrt(across * across + off * off) * share;
    m->step = lane_min(m->step, lane_max(step, lane_lit(m->creep)));
  }
}
#endif
