// Fronts: the times up to which rows are certified, for LANES rows side by side. Each front
// advances until its row is decided. The file is included once for each kind of features and of
// numbers.

#if CCD_KIND == CCD_POINT_POINT
#ifdef NUM_DOUBLED
#define CCD_HALVES 2
#else
#define CCD_HALVES 1
#endif

// The data of the lanes: the rows as given, with vertices at times 0 and 1 (and the parts that do
// not fit in `real`), and the fronts. A lane is one column, which scalar code fills and reads.
typedef struct FN(ccd_lanes) {
  real x[CCD_HALVES][2][12][LANES];
  real at[CCD_FRONT_NUMBERS][LANES];
} FN(ccd_lanes);

// Sets all lanes idle. Their results are then finite and unused.
static void FN(ccd_idle)(FN(ccd_lanes) *s)
{
  const lane zero = lane_lit(R(0.0));
  for (int i = 0; i < 24; ++i) {
    for (int part = 0; part < CCD_HALVES; ++part) {
      lane_store(zero, s->x[part][i / 12][i % 12]);
    }
  }
  for (int i = 0; i < CCD_FRONT_NUMBERS; ++i) {
    lane_store(zero, s->at[i]);
  }
}

// Begins a lane's row. Its vertices and settings are already stored.
static void FN(ccd_begin)(FN(ccd_lanes) *s, int l)
{
  s->at[CCD_AT_FRESH][l] = R(1.0);
  s->at[CCD_AT_T][l] = s->at[CCD_AT_T_LOW][l] = s->at[CCD_AT_ROUNDS][l] = R(0.0);
  s->at[CCD_AT_WINDOW][l] = R(1.0);
  s->at[CCD_AT_D0][l] = s->at[CCD_AT_R][l] = R(-1.0);
}

// The difference of two vertices at a time, scaled.
static vec FN(ccd_difference)(FN(ccd_lanes) *s, int end, int a, int b, const lane down[2])
{
  num d[3];
  for (int k = 0; k < 3; ++k) {
    const lane from = lane_load(s->x[0][end][3 * b + k]), to = lane_load(s->x[0][end][3 * a + k]);
#ifdef NUM_DOUBLED
    const lane low = lane_load(s->x[1][end][3 * a + k]) - lane_load(s->x[1][end][3 * b + k]);
    const doubled exact = doubled_sum(to, -from), sum = doubled_sum(exact.hi, exact.lo + low);
    d[k].hi = sum.hi * down[0] * down[1];
    d[k].lo = sum.lo * down[0] * down[1];
#else
    d[k] = (to - from) * down[0] * down[1];
#endif
  }
  return FN(make)(d[0], d[1], d[2]);
}

static num FN(ccd_time)(FN(ccd_lanes) *s)
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
static real FN(ccd_toi)(FN(ccd_lanes) *s, int l)
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

// ---- loading of rows ----

// Sets the scale and all scaled numbers of fresh lanes. Lanes with invalid numbers are bad.
static void CN(ccd_prepare)(FN(ccd_lanes) *s)
{
  const lane zero = lane_lit(R(0.0));
  const ilane fresh = lane_load(s->at[CCD_AT_FRESH]) > zero;
  lane extent = zero, all = zero, error[3], down[2], up[2];
  for (int k = 0; k < 3; ++k) {
    lane most[2] = {zero, zero};
    for (int e = 0; e < 2; ++e) {
      lane low[2] = {lane_lit(REAL_MOST), lane_lit(REAL_MOST)},
           high[2] = {lane_lit(-REAL_MOST), lane_lit(-REAL_MOST)};
      for (int i = 0; i < CCD_FIRST + CCD_SECOND; ++i) {
        const int side = i >= CCD_FIRST;
        const lane c = lane_load(s->x[0][e][3 * i + k]);
        low[side] = lane_min(low[side], c);
        high[side] = lane_max(high[side], c);
        all += c * R(0.0);
      }
      extent = lane_max(extent, lane_max(high[0] - low[1], high[1] - low[0]));
      all += (lane_max(high[0], high[1]) - lane_min(low[0], low[1])) * R(0.0);
      for (int side = 0; side < 2; ++side) {
        most[side] = lane_max(most[side], lane_max(lane_abs(low[side]), lane_abs(high[side])));
      }
    }
    error[k] = (ccd_setting_of(s->at, CCD_ERROR) * R(2.0) +
                ccd_setting_of(s->at, CCD_RELATIVE_ERROR) * (most[0] + most[1])) *
               (R(1.0) + 8 * CCD_U);
  }
  const lane separation = ccd_setting_of(s->at, CCD_SEPARATION);
  const ilane good = (all == zero) & ccd_settings_are_good(s->at);
  ccd_scale_by(lane_select(good, lane_max(extent, separation), lane_lit(R(1.0))), down, up);
  for (int i = 0; i < 2; ++i) {
    lane_store(lane_select(fresh, down[i], lane_load(s->at[CCD_AT_DOWN + i])),
               s->at[CCD_AT_DOWN + i]);
    lane_store(lane_select(fresh, up[i], lane_load(s->at[CCD_AT_UP + i])), s->at[CCD_AT_UP + i]);
  }
  const lane d0 = lane_load(s->at[CCD_AT_D0]), tolerance = ccd_setting_of(s->at, CCD_TOLERANCE);
  const lane scaled_d0 = lane_select(d0 >= zero, d0 * down[0] * down[1], d0),
             tiny = down[0] * CCD_FLUSHED * down[1] + CCD_TINY;
#define CCD_SET(which, value) \
  lane_store(lane_select(fresh, value, lane_load(s->at[which])), s->at[which])
  for (int k = 0; k < 3; ++k) {
    CCD_SET(CCD_AT_ERROR + k, error[k] * down[0] * down[1]);
    CCD_SET(CCD_AT_N + k, zero);
  }
  CCD_SET(CCD_AT_BAD, lane_select(good, zero, lane_lit(R(1.0))));
  CCD_SET(CCD_AT_TINY, tiny);
  CCD_SET(CCD_AT_SEPARATION, separation * down[0] * down[1]);
  CCD_SET(CCD_AT_TOLERANCE, tolerance * down[0] * down[1]);
  CCD_SET(CCD_AT_D0, scaled_d0);
#undef CCD_SET
  lane_store(zero, s->at[CCD_AT_FRESH]);
  ccd_set_radius(s->at);
}

// ---- a step of all lanes ----

static void CN(ccd_load)(FN(ccd_lanes) *s, CN(ccd_motion) * m)
{
  const lane down[2] = {lane_load(s->at[CCD_AT_DOWN]), lane_load(s->at[CCD_AT_DOWN + 1])};
  for (int i = 0; i < CCD_FIRST; ++i) {
    for (int j = 0; j < CCD_SECOND; ++j) {
      m->v0[CCD_SECOND * i + j] = FN(ccd_difference)(s, 0, i, CCD_FIRST + j, down);
      m->v1[CCD_SECOND * i + j] = FN(ccd_difference)(s, 1, i, CCD_FIRST + j, down);
    }
  }
#if CCD_EDGE_COUNT
  for (int i = 0; i < CCD_EDGE_COUNT; ++i) {
    m->e0[i] = FN(ccd_difference)(s, 0, CCD_EDGE_HEAD(i), CCD_EDGE_TAIL(i), down);
    m->e1[i] = FN(ccd_difference)(s, 1, CCD_EDGE_HEAD(i), CCD_EDGE_TAIL(i), down);
  }
#endif
  for (int k = 0; k < 3; ++k) {
    m->error[k] = lane_load(s->at[CCD_AT_ERROR + k]);
  }
  m->tiny = lane_load(s->at[CCD_AT_TINY]);
}

// The result of evaluating the front.
typedef struct CN(ccd_look) {
  num best;   // the front
  lane gap;   // certified distance at t
  vec3_r n;   // the direction of that distance
  ilane held; // t itself is certified
} CN(ccd_look);

static void CN(ccd_go_straight)(const CN(ccd_motion) * m, const CN(ccd_view) * here, num t, lane r,
                                CN(ccd_look) * to)
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
// Advances by the gap over the greatest closing speed of a pair.
static void CN(ccd_go_by_speed)(const CN(ccd_motion) * m, lane t, lane r, CN(ccd_look) * to)
{
  lane square = lane_lit(R(0.0)), most = lane_lit(R(0.0));
  for (int i = 0; i < CCD_PAIRS; ++i) {
    const vec3_r v = m->v0[i], w = m->v1[i], by = sub3_r(w, v);
    square = lane_max(square, by.x * by.x + by.y * by.y + by.z * by.z);
    most = lane_max(most, lane_max(lane_abs(v.x), lane_max(lane_abs(v.y), lane_abs(v.z))));
    most = lane_max(most, lane_max(lane_abs(w.x), lane_max(lane_abs(w.y), lane_abs(w.z))));
  }
  const lane speed = lane_sqrt(square) * (R(1.0) + 16 * CCD_U) + m->tiny;
  const lane step =
    (to->gap - r * (R(1.0) + 8 * CCD_U) - most * (16 * CCD_U)) / speed * (R(1.0) - 12 * CCD_U);
  const ilane on = step > lane_lit(R(0.0));
  to->best = lane_select(on, lane_min((t + step) * (R(1.0) - 2 * CCD_U), lane_lit(R(1.0))), t);
  to->held |= on;
}
#endif

// Tries curved directions on a window for the open lanes, and sets their next windows.
static void CN(ccd_go_curved)(FN(ccd_lanes) *s, const CN(ccd_motion) * m, const CN(ccd_view) * here,
                              num t, lane r, ilane open, CN(ccd_look) * to)
{
  const lane window = lane_load(s->at[CCD_AT_WINDOW]), end = ccd_setting_of(s->at, CCD_END);
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

// Advances all fronts, and sets CCD_AT_OUTCOME of each: CCD_GOES_ON, or how its row ends. A lane
// that must retain a share of its distance at time 0 first measures that distance. With `at_once`
// the step then continues, otherwise it ends.
static void CN(ccd_step)(FN(ccd_lanes) *s, int additive, int at_once)
{
  CN(ccd_motion) m;
  CN(ccd_view) here;
  CN(ccd_look) to;
  CN(ccd_load)(s, &m);
  const num t = FN(ccd_time)(s);
  const lane end = ccd_setting_of(s->at, CCD_END), rounds = lane_load(s->at[CCD_AT_ROUNDS]),
             zero = lane_lit(R(0.0));
  lane r = lane_load(s->at[CCD_AT_R]);
  CN(ccd_look_at)(&m, t, &here);
  for (int again = 1, pass = 0; again; ++pass) {
    to.best = t;
    to.gap = lane_lit(-REAL_MOST);
    to.n = make_r(lane_load(s->at[CCD_AT_N]), lane_load(s->at[CCD_AT_N + 1]),
                  lane_load(s->at[CCD_AT_N + 2]));
    to.held = n_value(t) > zero;
    CN(ccd_go_straight)(&m, &here, t, r, &to);
    ccd_note_first(s->at, (n_value(t) == zero) & (rounds == zero), to.gap);
    again = at_once && pass == 0 && lane_any(r < zero);
    if (again) {
      ccd_set_radius(s->at);
      r = lane_load(s->at[CCD_AT_R]);
    }
  }
  const lane reach = lane_load(s->at[CCD_AT_REACH]);
  const ilane measured = r >= zero;
#ifndef NUM_DOUBLED
  if (additive) {
    to.best = t;
    to.held = t > zero;
    CN(ccd_go_by_speed)(&m, t, r, &to);
  }
#endif
  const ilane open = measured & FN(ccd_less)(to.best, n_of(end)) & (to.gap > reach);
  if (!additive && lane_any(open)) {
    CN(ccd_go_curved)(s, &m, &here, t, r, open, &to);
  }
  const lane window = lane_load(s->at[CCD_AT_WINDOW]), creep = lane_lit(64 * CCD_V);
  const ilane done = lane_none(FN(ccd_less)(to.best, n_of(end))) &
                     (to.held | FN(ccd_less)(t, to.best));
  const ilane close = to.gap <= reach;
  const ilane still = lane_none(FN(ccd_less)(n_add(t, n_times(t, creep)), to.best));
  const ilane stalls = additive ? still : still & (window <= creep);
  lane outcome = lane_select(close | stalls, lane_lit((real)CCD_HIT), lane_lit(CCD_GOES_ON));
  outcome = lane_select(done, lane_lit((real)CCD_FREE), outcome);
  outcome = lane_select(measured, outcome, lane_lit(CCD_GOES_ON));
  outcome =
    lane_select(lane_load(s->at[CCD_AT_BAD]) > zero, lane_lit((real)CCD_BAD_INPUT), outcome);
  lane_store(outcome, s->at[CCD_AT_OUTCOME]);
  // This also holds if r is NaN on a device that lets NaN pass: every row ends.
  lane_store(lane_select(r < zero, rounds, rounds + R(1.0)), s->at[CCD_AT_ROUNDS]);
  const num next = n_select(done, n_of(end), n_select(close, t, to.best)),
            at = n_select(measured, next, t);
  lane_store(n_value(at), s->at[CCD_AT_T]);
#ifdef NUM_DOUBLED
  lane_store(at.lo, s->at[CCD_AT_T_LOW]);
#endif
  lane_store(to.n.x, s->at[CCD_AT_N]);
  lane_store(to.n.y, s->at[CCD_AT_N + 1]);
  lane_store(to.n.z, s->at[CCD_AT_N + 2]);
  ccd_set_radius(s->at);
}
