// The cores of one operation, and bounds of their distances.

#if !NUM_DUAL
// Returns a lower bound of the distance where the bound is above 0. There some plane is farther
// than w, so `inner` is 0, and |delta| is at least the distance from the core without its radius.
static lane core_outside(GLOBAL const real *s, vec3_r x)
{
  const vec3_r y = core_place_r(s, x);
  const lane none = lane_lit(R(0.0));
  lane across, along;
  if (s[CORE_KIND] > R(0.5)) {
    across = lane_max(lane_sqrt(y.x * y.x + y.y * y.y) - s[CORE_HALF], none);
    along = lane_max(lane_abs(y.z) - s[CORE_HALF + 1], none);
  } else {
    const lane by_x = lane_max(lane_abs(y.x) - s[CORE_HALF], none);
    const lane by_y = lane_max(lane_abs(y.y) - s[CORE_HALF + 1], none);
    across = lane_sqrt(by_x * by_x + by_y * by_y);
    along = lane_max(lane_abs(y.z) - s[CORE_HALF + 2], none);
  }
  return lane_sqrt(across * across + along * along) - s[CORE_OFFSET];
}
#endif

// Returns whether the core does not count at any point: it is beyond `reach` and the nearest
// primitive so far, by more than rounding.
static int FN(core_counts_not)(GLOBAL const real *s, const FN(blend) *b,
                               GLOBAL const coefficients *c, vec x, real reach)
{
  const vec3_r at = make_r(n_value(x.x), n_value(x.y), n_value(x.z));
  const lane limit = lane_min(n_value(b->least), lane_lit(reach)) + c->union_ln2 * CULL_BITS;
  return lane_all(core_outside(s, at) > lane_max(limit, lane_lit(R(0.0))));
}

static void FN(cores_add)(FN(blend) *b, int count, GLOBAL const int *ranges,
                          GLOBAL const real *numbers, GLOBAL const coefficients *c, vec x,
                          const int want, real reach)
{
  FN(surface) surface;
  (void)ranges;
  for (int i = 0; i < count; ++i, numbers += CORE_STRIDE) {
    const int first = b->terms == 0 && reach >= REAL_BIG; // always counts
    if (first || !FN(core_counts_not)(numbers, b, c, x, reach)) {
      FN(core)(numbers, c, x, want, &surface);
      FN(blend_add)(b, c, &surface, want);
    }
  }
}

#if !NUM_DUAL
// The distance changes by at most the displacement of a point, also inside.
static lane FN(cores_bound)(int count, GLOBAL const int *ranges, GLOBAL const real *numbers, vec x,
                            lane radius)
{
  lane least = lane_lit(REAL_BIG);
  (void)ranges;
  for (int i = 0; i < count; ++i, numbers += CORE_STRIDE) {
    const lane phi = FN(core_jet_at)(numbers, x, 0).phi;
    least = lane_min(least, phi - radius - numbers[CORE_ROUNDING]);
  }
  return least;
}

static void FN(cores_march)(FN(marching) *m, int count, GLOBAL const int *ranges,
                            GLOBAL const real *numbers, GLOBAL const coefficients *c, vec x)
{
  FN(surface) surface;
  (void)ranges;
  for (int i = 0; i < count; ++i, numbers += CORE_STRIDE) {
    FN(core)(numbers, c, x, 0, &surface);
    FN(blend_add)(&m->blend, c, &surface, 0);
    const lane step = surface.phi - m->margin - numbers[CORE_ROUNDING];
    m->step = lane_min(m->step, lane_max(step, lane_lit(m->creep)));
  }
}
#endif
