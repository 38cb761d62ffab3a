// Fronts: the times up to which rows are certified, LANES rows side by side, each moved on until it is decided. It is
// included once for each kind of features and of numbers.

#if CCD_KIND == CCD_POINT_POINT
#ifdef NUM_DOUBLED
#define CCD_HALVES 2
#else
#define CCD_HALVES 1
#endif

// What lanes are at work on. A lane is one column, filled and read by scalars.
typedef struct FN(ccd_lanes) {
  real x[CCD_HALVES][CCD_MOTION_NUMBERS][LANES];
  real at[CCD_FRONT_NUMBERS][LANES];
  int exponent[LANES];
} FN(ccd_lanes);

static vec FN(ccd_load3)(const FN(ccd_lanes) *s, int first)
{
  vec r;
#ifdef NUM_DOUBLED
  r.x.hi = lane_load(s->x[0][first]);
  r.y.hi = lane_load(s->x[0][first + 1]);
  r.z.hi = lane_load(s->x[0][first + 2]);
  r.x.lo = lane_load(s->x[1][first]);
  r.y.lo = lane_load(s->x[1][first + 1]);
  r.z.lo = lane_load(s->x[1][first + 2]);
#else
  r.x = lane_load(s->x[0][first]);
  r.y = lane_load(s->x[0][first + 1]);
  r.z = lane_load(s->x[0][first + 2]);
#endif
  return r;
}

// Leaves all lanes idle. What they compute then is finite, and nobody reads it.
static void FN(ccd_idle)(FN(ccd_lanes) *s)
{
  for (int l = 0; l < LANES; ++l) {
    for (int i = 0; i < CCD_MOTION_NUMBERS; ++i) {
      s->x[0][i][l] = R(0.0);
      s->x[CCD_HALVES - 1][i][l] = R(0.0);
    }
    for (int i = 0; i < CCD_FRONT_NUMBERS; ++i) {
      s->at[i][l] = R(0.0);
    }
    s->exponent[l] = 0;
  }
}

// Puts a difference in its place, scaled by a power of two in two steps, as one alone may not be a normal number.
static void FN(ccd_put)(FN(ccd_lanes) *s, int at, int l, real a, real b, real a_low, real b_low, const real scale[2])
{
  const real x = a - b;
  s->x[0][at][l] = x * scale[0] * scale[1];
#ifdef NUM_DOUBLED
  const real other = x - a;
  const real rest = ((a - (x - other)) - (b + other)) + (a_low - b_low), sum = x + rest;
  s->x[0][at][l] = sum * scale[0] * scale[1];
  s->x[1][at][l] = (rest - (sum - x)) * scale[0] * scale[1];
#else
  (void)a_low;
  (void)b_low;
#endif
}

static num FN(ccd_time)(const FN(ccd_lanes) *s)
{
  num t;
#ifdef NUM_DOUBLED
  t.hi = lane_load(s->at[CCD_AT_T]);
  t.lo = lane_load(s->at[CCD_AT_T_LOW]);
#else
  t = lane_load(s->at[CCD_AT_T]);
#endif
  return t;
}

// Returns a lane's front, rounded down.
static real FN(ccd_toi)(const FN(ccd_lanes) *s, int l)
{
  const real t = s->at[CCD_AT_T][l];
#ifdef NUM_DOUBLED
  return s->at[CCD_AT_T_LOW][l] < R(0.0) ? t - t * (2 * CCD_U) : t;
#else
  return t;
#endif
}
#undef CCD_HALVES
#endif

// ---- a row comes in ----

// Returns the largest component of all differences of pairs, or -1 where one of any two vertices is not finite.
static real CN(ccd_extent)(real x[2][12])
{
  real most = R(0.0), all = R(0.0);
  for (int e = 0; e < 2; ++e) {
    for (int k = 0; k < 3; ++k) {
      real low[2] = {REAL_MOST, REAL_MOST}, high[2] = {-REAL_MOST, -REAL_MOST};
      for (int i = 0; i < CCD_FIRST + CCD_SECOND; ++i) {
        const int side = i >= CCD_FIRST;
        const real c = x[e][3 * i + k];
        low[side] = c < low[side] ? c : low[side];
        high[side] = c > high[side] ? c : high[side];
        all += c * R(0.0);
      }
      const real one = high[0] - low[1], two = high[1] - low[0];
      const real least = real_min(low[0], low[1]), greatest = real_max(high[0], high[1]);
      most = real_max(most, real_max(real_abs(one), real_abs(two)));
      all += (greatest - least) * R(0.0);
    }
  }
  return all == R(0.0) ? most : R(-1.0);
}

// Errors of the input along the axes, unscaled.
static void CN(ccd_errors)(real x[2][12], real error, real relative, real to[3])
{
  for (int k = 0; k < 3; ++k) {
    real most[2] = {R(0.0), R(0.0)};
    for (int i = 0; i < CCD_FIRST + CCD_SECOND; ++i) {
      const int side = i >= CCD_FIRST;
      most[side] = real_max(most[side], real_max(real_abs(x[0][3 * i + k]), real_abs(x[1][3 * i + k])));
    }
    to[k] = (2 * error + relative * (most[0] + most[1])) * (R(1.0) + 8 * CCD_U);
  }
}

// Takes a row: vertices x at times 0 and 1, what `real` leaves of them (0 in plain numbers), settings. Returns
// whether they are in order.
static int CN(ccd_enter)(FN(ccd_lanes) *s, int l, real x[2][12], real low[2][12],
                         const real settings[CCD_SETTINGS])
{
  const real extent = CN(ccd_extent)(x), separation = settings[CCD_SEPARATION];
  if (!(extent >= R(0.0) && ccd_settings_are_good(settings))) {
    return 0;
  }
  const real big = real_max(extent, separation);
  const int exponent = big > R(0.0) ? real_exponent(big) + 1 : 0, part = exponent / 2;
  const real scale[2] = {real_by_power_of_2(R(1.0), -part), real_by_power_of_2(R(1.0), part - exponent)};
  real errors[3];
  for (int e = 0; e < 2; ++e) {
    const int v = e * CCD_MOTION_V1, edges = CCD_MOTION_E0 + e * (CCD_MOTION_E1 - CCD_MOTION_E0);
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < CCD_FIRST; ++i) {
        for (int j = 0; j < CCD_SECOND; ++j) {
          const int a = 3 * i + k, b = 3 * (CCD_FIRST + j) + k;
          FN(ccd_put)(s, v + 3 * (CCD_SECOND * i + j) + k, l, x[e][a], x[e][b], low[e][a], low[e][b], scale);
        }
      }
#if CCD_KIND == CCD_POINT_EDGE
      FN(ccd_put)(s, edges + k, l, x[e][6 + k], x[e][3 + k], low[e][6 + k], low[e][3 + k], scale);
#elif CCD_KIND == CCD_POINT_TRIANGLE
      FN(ccd_put)(s, edges + k, l, x[e][6 + k], x[e][3 + k], low[e][6 + k], low[e][3 + k], scale);
      FN(ccd_put)(s, edges + 3 + k, l, x[e][9 + k], x[e][3 + k], low[e][9 + k], low[e][3 + k], scale);
      FN(ccd_put)(s, edges + 6 + k, l, x[e][9 + k], x[e][6 + k], low[e][9 + k], low[e][6 + k], scale);
#elif CCD_KIND == CCD_EDGE_EDGE
      FN(ccd_put)(s, edges + k, l, x[e][3 + k], x[e][k], low[e][3 + k], low[e][k], scale);
      FN(ccd_put)(s, edges + 3 + k, l, x[e][9 + k], x[e][6 + k], low[e][9 + k], low[e][6 + k], scale);
#else
      (void)edges;
#endif
    }
  }
  CN(ccd_errors)(x, settings[CCD_ERROR], settings[CCD_RELATIVE_ERROR], errors);
  for (int k = 0; k < 3; ++k) {
    s->at[CCD_AT_ERROR + k][l] = errors[k] * scale[0] * scale[1];
    s->at[CCD_AT_N + k][l] = R(0.0);
  }
  s->exponent[l] = exponent;
  s->at[CCD_AT_TINY][l] = CCD_TINY + real_by_power_of_2(CCD_FLUSHED, -exponent);
  s->at[CCD_AT_SEPARATION][l] = separation * scale[0] * scale[1];
  s->at[CCD_AT_TOLERANCE][l] = settings[CCD_TOLERANCE] * scale[0] * scale[1];
  s->at[CCD_AT_GIVEN_ERROR][l] = settings[CCD_ERROR];
  s->at[CCD_AT_KEEP][l] = settings[CCD_KEEP];
  s->at[CCD_AT_END][l] = settings[CCD_END];
  s->at[CCD_AT_T][l] = s->at[CCD_AT_T_LOW][l] = R(0.0);
  s->at[CCD_AT_WINDOW][l] = R(1.0);
  s->at[CCD_AT_ROUNDS][l] = R(0.0);
  s->at[CCD_AT_D0][l] = R(-1.0);
  ccd_set_radius(s->at, l, R(-1.0));
  return 1;
}

// ---- a step of all lanes ----

static void CN(ccd_load)(const FN(ccd_lanes) *s, CN(ccd_motion) *m)
{
  for (int i = 0; i < CCD_PAIRS; ++i) {
    m->v0[i] = FN(ccd_load3)(s, 3 * i);
    m->v1[i] = FN(ccd_load3)(s, CCD_MOTION_V1 + 3 * i);
  }
  for (int i = 0; i < CCD_EDGE_COUNT; ++i) {
    m->e0[i] = FN(ccd_load3)(s, CCD_MOTION_E0 + 3 * i);
    m->e1[i] = FN(ccd_load3)(s, CCD_MOTION_E1 + 3 * i);
  }
  for (int k = 0; k < 3; ++k) {
    m->error[k] = lane_load(s->at[CCD_AT_ERROR + k]);
  }
  m->tiny = lane_load(s->at[CCD_AT_TINY]);
}

// What a look at the front tells.
typedef struct CN(ccd_look) {
  num best;      // the front
  lane gap;      // certified distance at t
  vec3_r n;      // its direction
  ilane held;    // t itself is certified
} CN(ccd_look);

static void CN(ccd_go_straight)(const CN(ccd_motion) *m, const CN(ccd_view) *here, num t, lane r, CN(ccd_look) *to)
{
  for (int k = 0; k < CCD_DIRECTIONS; ++k) {
    const CN(ccd_interval) s = CN(ccd_straight)(m, here->n[k], t, r);
    const ilane more = s.gap > to->gap;
    to->n.x = lane_select(more, n_value(here->n[k].x), to->n.x);
    to->n.y = lane_select(more, n_value(here->n[k].y), to->n.y);
    to->n.z = lane_select(more, n_value(here->n[k].z), to->n.z);
    to->gap = lane_select(more, s.gap, to->gap);
    const ilane begun = lane_none(FN(ccd_less)(t, s.low)) & s.good;
    to->held |= begun & lane_none(FN(ccd_less)(s.high, t));
    to->best = n_select(begun & FN(ccd_less)(to->best, s.high), s.high, to->best);
  }
}

#ifndef NUM_DOUBLED
// Goes on by the gap over the greatest speed at which a pair closes.
static void CN(ccd_go_by_speed)(const CN(ccd_motion) *m, lane t, lane r, CN(ccd_look) *to)
{
  lane square = lane_lit(R(0.0)), most = lane_lit(R(0.0));
  for (int i = 0; i < CCD_PAIRS; ++i) {
    const vec3_r v = m->v0[i], w = m->v1[i], by = sub3_r(w, v);
    square = lane_max(square, by.x * by.x + by.y * by.y + by.z * by.z);
    most = lane_max(most, lane_max(lane_abs(v.x), lane_max(lane_abs(v.y), lane_abs(v.z))));
    most = lane_max(most, lane_max(lane_abs(w.x), lane_max(lane_abs(w.y), lane_abs(w.z))));
  }
  const lane speed = lane_sqrt(square) * (R(1.0) + 16 * CCD_U) + m->tiny;
  const lane step = (to->gap - r * (R(1.0) + 8 * CCD_U) - most * (16 * CCD_U)) / speed * (R(1.0) - 12 * CCD_U);
  const ilane on = step > lane_lit(R(0.0));
  to->best = lane_select(on, lane_min((t + step) * (R(1.0) - 2 * CCD_U), lane_lit(R(1.0))), t);
  to->held |= on;
}
#endif

// Tries curved directions on a window for the lanes that are open, and sets their next windows.
static void CN(ccd_go_curved)(FN(ccd_lanes) *s, const CN(ccd_motion) *m, const CN(ccd_view) *here, num t, lane r,
                              ilane open, CN(ccd_look) *to)
{
  const lane window = lane_load(s->at[CCD_AT_WINDOW]), end = lane_load(s->at[CCD_AT_END]);
  CN(ccd_view) there;
  num until = n_add(t, n_of(window)), best = to->best;
  until = n_select(FN(ccd_less)(until, n_of(end)), until, n_of(end));
  CN(ccd_look_at)(m, until, &there);
  ilane whole = (ilane)(0);
  for (int k = 0; k < CCD_DIRECTIONS; ++k) {
    FN(ccd_control) c;
    CN(ccd_bend)(here, &there, k, &c);
    const lane part = CN(ccd_curved)(m, &c, here, &there, r);
    const ilane some = part >= lane_lit(R(0.0)), all = part >= lane_lit(R(1.0));
    num at = n_add(t, n_times(n_sub(until, t), part));
    at = n_sub(at, n_times(at, lane_lit(4 * CCD_V)));
    at = n_select(all, until, at);
    best = n_select(some & FN(ccd_less)(best, at), at, best);
    whole |= all;
  }
  to->best = n_select(open, best, to->best);
  const lane got = n_value(n_sub(best, t)) * R(4.0);
  const lane less = lane_max(lane_min(got, window * R(0.25)), window * (R(1.0) / 4096));
  const lane next = lane_select(whole, lane_min(window * R(4.0), lane_lit(R(1.0))), less);
  lane_store(lane_select(open, next, window), s->at[CCD_AT_WINDOW]);
}

// Moves all fronts on, and sets CCD_AT_OUTCOME of each: CCD_GOES_ON, or how its row ends.
static void CN(ccd_step)(FN(ccd_lanes) *s, int additive)
{
  CN(ccd_motion) m;
  CN(ccd_view) here;
  CN(ccd_look) to;
  CN(ccd_load)(s, &m);
  const num t = FN(ccd_time)(s);
  const lane end = lane_load(s->at[CCD_AT_END]), rounds = lane_load(s->at[CCD_AT_ROUNDS]), zero = lane_lit(R(0.0));
  lane r = lane_load(s->at[CCD_AT_R]), reach = lane_load(s->at[CCD_AT_REACH]);
  const ilane measured = r >= zero;
  CN(ccd_look_at)(&m, t, &here);
  to.best = t;
  to.gap = lane_lit(-REAL_MOST);
  to.n = make_r(lane_load(s->at[CCD_AT_N]), lane_load(s->at[CCD_AT_N + 1]), lane_load(s->at[CCD_AT_N + 2]));
  to.held = n_value(t) > zero;
  CN(ccd_go_straight)(&m, &here, t, r, &to);
#ifndef NUM_DOUBLED
  if (additive) {
    to.best = t;
    to.held = t > zero;
    CN(ccd_go_by_speed)(&m, t, r, &to);
  }
#endif
  ccd_note_first(s->at, (n_value(t) == zero) & (rounds == zero), to.gap);
  const ilane open = measured & FN(ccd_less)(to.best, n_of(end)) & (to.gap > reach);
  if (!additive && lane_any(open)) {
    CN(ccd_go_curved)(s, &m, &here, t, r, open, &to);
  }
  const lane window = lane_load(s->at[CCD_AT_WINDOW]), creep = lane_lit(64 * CCD_V);
  const ilane done = lane_none(FN(ccd_less)(to.best, n_of(end))) & (to.held | FN(ccd_less)(t, to.best));
  const ilane close = to.gap <= reach;
  const ilane still = lane_none(FN(ccd_less)(n_add(t, n_times(t, creep)), to.best));
  const ilane stalls = additive ? still : still & (window <= creep);
  lane outcome = lane_select(close | stalls, lane_lit((real)CCD_HIT), lane_lit(CCD_GOES_ON));
  outcome = lane_select(done, lane_lit((real)CCD_FREE), outcome);
  lane_store(lane_select(measured, outcome, lane_lit(CCD_GOES_ON)), s->at[CCD_AT_OUTCOME]);
  lane_store(lane_select(measured, rounds + R(1.0), rounds), s->at[CCD_AT_ROUNDS]);
  const num next = n_select(done, n_of(end), n_select(close, t, to.best)), at = n_select(measured, next, t);
  lane_store(n_value(at), s->at[CCD_AT_T]);
#ifdef NUM_DOUBLED
  lane_store(at.lo, s->at[CCD_AT_T_LOW]);
#endif
  lane_store(to.n.x, s->at[CCD_AT_N]);
  lane_store(to.n.y, s->at[CCD_AT_N + 1]);
  lane_store(to.n.z, s->at[CCD_AT_N + 2]);
}
