// The height fields of one operation, and bounds of their distances.

#if !NUM_DUAL
// Returns the largest sqrt(1 + |slope|^2) of the ground within a radius of (x, y). Each lane reads
// the level of the map at which its range covers at most two blocks per side.
static lane height_slant(GLOBAL const real *s, int levels, lane x, lane y, lane radius)
{
  const real flat = (real)HEIGHT_FLAT, beside = R(0.01); // cells: more than the rounding of u
  const int nodes_x = (int)s[HEIGHT_NODES], nodes_y = (int)s[HEIGHT_NODES + 1];
  const lane u = height_cells(x, s[0], s[HEIGHT_CELLS], s[HEIGHT_NODES]) + flat;
  const lane v = height_cells(y, s[1], s[HEIGHT_CELLS + 1], s[HEIGHT_NODES + 1]) + flat;
  const lane by_x = radius * s[HEIGHT_CELLS] + beside;
  const lane by_y = radius * s[HEIGHT_CELLS + 1] + beside;
  const lane none = lane_lit(R(0.0));
  int side_x = HEIGHT_MAP_SIDE(nodes_x), side_y = HEIGHT_MAP_SIDE(nodes_y);
  int first = HEIGHT_STRIDE + HEIGHT_SIDE(nodes_x) * HEIGHT_SIDE(nodes_y);
  real block = (real)HEIGHT_MAP_CELLS;
  lane most = none;
  for (int level = 0; level < levels; ++level) {
    const lane reach = lane_max(by_x, by_y) * R(2.0);
    const ilane fits = reach <= lane_lit(level + 1 < levels ? block : REAL_BIG);
    const ilane now = fits & (most <= none);
    if (lane_any(now)) {
      const real last_x = (real)(side_x - 1), last_y = (real)(side_y - 1), scale = R(1.0) / block;
      const ilane low_x = LANE_TO_INT(grid_below((u - by_x) * scale, R(0.0), last_x)) + first;
      const ilane high_x = LANE_TO_INT(grid_below((u + by_x) * scale, R(0.0), last_x)) + first;
      const ilane low_y = LANE_TO_INT(grid_below((v - by_y) * scale, R(0.0), last_y)) * side_x;
      const ilane high_y = LANE_TO_INT(grid_below((v + by_y) * scale, R(0.0), last_y)) * side_x;
      const lane below = lane_max(lane_gather(s, low_x + low_y), lane_gather(s, high_x + low_y));
      const lane above = lane_max(lane_gather(s, low_x + high_y), lane_gather(s, high_x + high_y));
      most = lane_select(now, lane_max(below, above), most);
    }
    first += side_x * side_y;
    side_x = HEIGHT_MAP_NEXT(side_x);
    side_y = HEIGHT_MAP_NEXT(side_y);
    block *= R(2.0);
  }
  return most;
}

// Returns a lower bound of the distance, without reading the heights.
static lane height_beyond(GLOBAL const real *s, vec3_r x)
{
  const height_walls_r walls = height_walls_at_r(s, x);
  const lane above = (x.z - s[HEIGHT_MOST]) / s[HEIGHT_SLANT];
  return lane_max(height_most_of_r(&walls),
                  lane_select(above > lane_lit(R(0.0)), above, lane_lit(-REAL_BIG)));
}
#endif

// Returns whether the height field does not count at any point: it is beyond `reach` and the
// nearest primitive so far, by more than rounding.
static int FN(height_counts_not)(GLOBAL const real *s, const FN(blend) *b,
                                 GLOBAL const coefficients *c, vec x, real reach)
{
  const vec3_r at = make_r(n_value(x.x), n_value(x.y), n_value(x.z));
  const lane limit = lane_min(n_value(b->least), lane_lit(reach)) + c->union_ln2 * CULL_BITS;
  return lane_all(height_beyond(s, at) > limit);
}

// Adds the height fields. ranges has the start of each record and the number of levels of its map.
static void FN(height_fields_add)(FN(blend) *b, int count, GLOBAL const int *ranges,
                                  GLOBAL const real *numbers, GLOBAL const coefficients *c, vec x,
                                  const int want, real reach)
{
  FN(surface) surface;
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    GLOBAL const real *s = numbers + ranges[0];
    if (!FN(height_counts_not)(s, b, c, x, reach)) {
      FN(height_field)(s, c, x, want, &surface);
      FN(blend_add)(b, c, &surface, want);
    }
  }
}

#if !NUM_DUAL
// A soft maximum is at least any of its terms. Within the radius z - h falls by at most sqrt(1 +
// |slope|^2) times the radius, and its divisor is at most that root.
static lane FN(height_bound)(GLOBAL const real *s, int levels, vec x, lane radius)
{
  const FN(height_walls) walls = FN(height_walls_at)(s, x);
  const lane gap = x.z - height_spline(s, x.x, x.y, 0).jet.h - s[HEIGHT_ROUNDING];
  const lane above = gap / height_slant(s, levels, x.x, x.y, radius) - radius;
  const lane beside = FN(height_most_of)(&walls) - radius;
  return lane_max(beside, lane_select(above > lane_lit(R(0.0)), above, lane_lit(-REAL_BIG)));
}

static lane FN(height_fields_bound)(int count, GLOBAL const int *ranges, GLOBAL const real *numbers,
                                    vec x, lane radius)
{
  lane least = lane_lit(REAL_BIG);
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    least = lane_min(least, FN(height_bound)(numbers + ranges[0], ranges[1], x, radius));
  }
  return least;
}

// A ray advances as far as the ground below cannot reach it. This length follows from the slope of
// all of the ground, or from that of the part within HEIGHT_NEAR. The ray may also advance by the
// distance of a wall or the base.
static void FN(height_fields_march)(FN(marching) *m, int count, GLOBAL const int *ranges,
                                    GLOBAL const real *numbers, GLOBAL const coefficients *c, vec x)
{
  FN(surface) surface;
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    GLOBAL const real *s = numbers + ranges[0];
    FN(height_field)(s, c, x, 0, &surface);
    FN(blend_add)(&m->blend, c, &surface, 0);
    const FN(height_walls) walls = FN(height_walls_at)(s, x);
    const lane gap = x.z - height_spline(s, x.x, x.y, 0).jet.h - s[HEIGHT_ROUNDING];
    const lane near = lane_lit(s[HEIGHT_NEAR]);
    const lane nearby = gap / height_slant(s, ranges[1], x.x, x.y, near);
    const lane above = lane_max(gap / s[HEIGHT_SLANT], lane_min(nearby, near));
    const lane step = lane_max(above, FN(height_most_of)(&walls)) - m->margin;
    m->step = lane_min(m->step, lane_max(step, lane_lit(m->creep)));
  }
}
#endif
