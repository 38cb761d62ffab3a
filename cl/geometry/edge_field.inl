// Contacts of an edge with the other body's field (docs/dev/spec.md, section 10): the two points of
// the edge at which the field is least, each drawn to its own end, and the data for their
// derivatives. All quantities are in the frame of the field's body.
//
// An edge runs from s = 0 to s = 1. End 0 is at s = 0 and end 1 at s = 1. The point of end e is the
// place at which phi + tilt L (s - e)^2 / 2 is least.
//
// A quarter of a circle has two places, m = 0 and m = 1/2, instead of ends. Its points are the
// places at which phi + tilt L (s - m)^2 / 2 is least, at most 1/2 from m. The ranges of a circle's
// eight points therefore overlap. A point has the weight cos^2(pi (s - m)), so that two points at
// the same place have a total weight of 1.

// A straight edge or an arc: x(s) = p + s u + e1 (cos(angle s) - 1) + e2 sin(angle s). A straight
// edge has e1 = e2 = 0 and the angle 0, an arc has u = 0.
typedef struct FN(rail) {
  vec p, u, e1, e2;
  num angle, length, radius;
  lane quarter;  // 1 for a quarter of a circle
  int arcs;      // 0: all lanes' edges are straight; 2: some are quarters
  FN(cone) cone; // if cones are on
} FN(rail);

// A point of an edge, its derivative with respect to s, and the second one.
typedef struct FN(rail_point) {
  vec x, slope, bend;
} FN(rail_point);

static FN(rail_point) FN(rail_at)(const FN(rail) *r, num s)
{
  const num zero = n_lit(R(0.0));
  FN(rail_point) a;
  a.x = FN(mad3)(r->u, s, r->p);
  a.slope = r->u;
  a.bend = FN(make)(zero, zero, zero);
  if (r->arcs) {
    const num angle = r->angle, turn = n_mul(s, angle);
    const num sine = n_sin(turn), cosine = n_cos(turn);
    const num halved = n_sin(n_scale(turn, R(0.5)));
    const num less = n_scale(n_mul(halved, halved), R(-2.0)); // cos - 1
    a.x = FN(mad3)(r->e1, less, FN(mad3)(r->e2, sine, a.x));
    const vec across = FN(mad3)(r->e2, cosine, FN(scale3)(r->e1, n_neg(sine)));
    const vec inward = FN(mad3)(r->e1, cosine, FN(scale3)(r->e2, sine));
    a.slope = FN(mad3)(across, angle, a.slope);
    a.bend = FN(scale3)(inward, n_neg(n_mul(angle, angle)));
  }
  return a;
}

#if !NUM_DUAL
// The place to which a point is drawn, and its range around this place.
typedef struct edge_range {
  lane middle, low, high;
} edge_range;

static edge_range edge_range_of(lane quarter, int arcs, int end)
{
  edge_range r;
  r.middle = lane_lit((real)end);
  r.low = lane_lit(R(0.0));
  r.high = lane_lit(R(1.0));
  if (arcs > 1) {
    const ilane of_circle = quarter > lane_lit(R(0.5));
    r.middle = lane_select(of_circle, r.middle * R(0.5), r.middle);
    r.low = lane_select(of_circle, r.middle - R(0.5), r.low);
    r.high = lane_select(of_circle, r.middle + R(0.5), r.high);
  }
  return r;
}

// Returns the growth rate of the pull along an edge. For circles it is only 3 %: this suffices to
// hold a flat circle at eight places, and hardly moves the place on a round one.
static lane edge_pull(lane quarter, int arcs, lane length, GLOBAL const coefficients *c)
{
  const lane pull = c->tilt * length;
  return arcs > 1 ? lane_select(quarter > lane_lit(R(0.5)), R(0.03) * pull, pull) : pull;
}

// ---- the least field ----

// The search for one end's place by Chandrupatla's method. `next` is the next place to try, between
// x1 and x2, and x3 is the previous place. Values are those of phi + tilt L (s - end)^2 / 2, slopes
// its derivative with respect to s. A minimum is between x1 and x2, because their slopes have
// opposite signs, or the field falls from the lower of both towards the other. Each step preserves
// this property.
typedef struct edge_search {
  lane x1, f1, v1, x2, f2, v2, x3, f3;
  lane next;
  ilane done;
} edge_search;

#define EDGE_STEPS 100 // bisection needs 53
#define EDGE_CLOSE (R(2.0) * REAL_EPSILON)

// The tilted field at a place of the edge, from phi and its slope.
typedef struct edge_sample {
  lane s, value, slope;
} edge_sample;

static edge_sample edge_tilted(lane s, lane phi, lane slope, lane middle, lane pull)
{
  const lane off = s - middle;
  const edge_sample r = {s, phi + R(0.5) * pull * off * off, slope + pull * off};
  return r;
}

// Chooses the next place between x1 and x2, or ends the search if they are close. It alternates
// between halving and the crossing of the tangents at both, which finds a sharp bend at once.
static void edge_choose(edge_search *t, int turn)
{
  const lane width = t->x2 - t->x1, one = lane_lit(R(1.0));
  const ilane first = lane_abs(t->f1) < lane_abs(t->f2);
  const lane best = lane_select(first, t->x1, t->x2), least = lane_select(first, t->f1, t->f2);
  const lane share = lane_lit(EDGE_CLOSE) / lane_max(lane_abs(width), lane_lit(REAL_TINY));
  const ilane close = share > lane_lit(R(0.5));
  const ilane exact = least == lane_lit(R(0.0));
  const lane xi = (t->x1 - t->x2) / (t->x3 - t->x2), phi = (t->f1 - t->f2) / (t->f3 - t->f2);
  const ilane smooth = (phi * phi < xi) & ((one - phi) * (one - phi) < one - xi);
  const lane a = t->f1 / (t->f2 - t->f1) * (t->f3 / (t->f2 - t->f3));
  const lane b = (t->x3 - t->x1) / width * (t->f1 / (t->f3 - t->f1)) * (t->f2 / (t->f3 - t->f2));
  const lane meet = (t->v2 - t->v1 - t->f2 * width) / ((t->f1 - t->f2) * width);
  lane at = lane_lit(R(0.5));
  at = lane_select((meet > lane_lit(R(0.0))) & (meet < one) & (lane_lit((real)(turn & 1)) == one),
                   meet, at);
  const lane steep = a + b;
  at = lane_select(smooth & (steep == steep), steep, at);
  const ilane enclosed = (t->f1 > lane_lit(R(0.0))) != (t->f2 > lane_lit(R(0.0)));
  at = lane_select(enclosed, at, lane_lit(R(0.5)));
  at = lane_max(lane_min(at, one - share), share);
  const lane next = t->x1 + at * width;
  const ilane ends = close | exact;
  t->next = lane_select(t->done, t->next, lane_select(ends, best, next));
  t->done = t->done | ends;
}

static void edge_take(edge_search *t, const edge_sample *e)
{
  const lane none = lane_lit(R(0.0));
  const ilane enclosed = (t->f1 > none) != (t->f2 > none);
  const ilane alike = (e->slope > none) == (t->f1 > none);
  // If all slopes have the same sign, a lower e falls towards the higher one of x1 and x2.
  // Otherwise the minimum is between e and the lower one.
  const ilane first = t->v1 < t->v2, lower = e->value < lane_min(t->v1, t->v2);
  // between e and x2
  const ilane same = (enclosed & alike) | ((!enclosed) & (first == (lower & alike)));
  t->x3 = lane_select(same, t->x1, t->x2);
  t->f3 = lane_select(same, t->f1, t->f2);
  t->x2 = lane_select(same, t->x2, t->x1);
  t->f2 = lane_select(same, t->f2, t->f1);
  t->v2 = lane_select(same, t->v2, t->v1);
  t->x1 = e->s;
  t->f1 = e->slope;
  t->v1 = e->value;
}

// The least of an edge's samples so far, with its neighbours: `low` before and `high` after it.
typedef struct edge_least {
  edge_sample low, at, high, last;
  ilane behind; // the sample after the least one is not evaluated yet
} edge_least;

static void edge_pick(edge_sample *to, ilane mask, const edge_sample *from)
{
  to->s = lane_select(mask, from->s, to->s);
  to->value = lane_select(mask, from->value, to->value);
  to->slope = lane_select(mask, from->slope, to->slope);
}

// Among equal samples the one nearest to the end is taken. `first` are the lanes whose samples
// begin with this one, and `valid` those in which it counts.
static void edge_sampled(edge_least *l, const edge_sample *e, int end, ilane first, ilane valid)
{
  const ilane lower = end ? e->value <= l->at.value : e->value < l->at.value;
  const ilane less = first | (valid & lower);
  edge_pick(&l->high, less | (valid & l->behind), e);
  edge_pick(&l->low, less, &l->last);
  edge_pick(&l->low, first, e);
  edge_pick(&l->at, less, e);
  edge_pick(&l->last, first | valid, e);
  l->behind = less | ((!valid) & l->behind);
}

// Begins the search next to the least sample, on the side to which the field falls. The place is an
// end of the edge if that end is the least sample and the field rises from it.
static void edge_begin(edge_search *t, edge_least *l, const edge_range *r)
{
  const edge_sample *low = &l->low, *high = &l->high;
  const ilane between = (l->low.s < l->at.s) & (l->at.s < l->high.s);
  const ilane rises = l->at.slope > lane_lit(R(0.0));
  const edge_sample middle = l->at;
  edge_pick(&l->high, between & rises, &middle);
  edge_pick(&l->low, between & !rises, &middle);
  const lane none = lane_lit(R(0.0)), near = lane_lit(R(1e-3)); // samples are rounded
  const ilane at0 = (middle.s <= r->low + near) & (middle.slope >= none);
  const ilane at1 = (middle.s >= r->high - near) & (middle.slope <= none);
  t->x1 = low->s;
  t->f1 = low->slope;
  t->v1 = low->value;
  t->x2 = t->x3 = high->s;
  t->f2 = t->f3 = high->slope;
  t->v2 = high->value;
  t->next = lane_select(at0, r->low, r->high);
  t->done = at0 | at1;
}

// The number of sampled parts of a quarter's range. It is a multiple of 3, because two ranges
// overlap by half.
#define QUARTER_PARTS 6

// Finds, for a block of edges, the places s of both ends' points, in the order of the ends, and the
// field at the edges' own ends. With one sample the field is assumed to be convex along an edge.
static void edge_places(GLOBAL const int *head, GLOBAL const real *shape,
                        GLOBAL const coefficients *c, const rail_r *rail, lane places[2],
                        lane at_ends[2])
{
  const int circles = rail->arcs > 1, asked = (int)c->samples;
  const int parts = circles ? MAX_INT((asked + 2) / 3 * 3, QUARTER_PARTS) : asked;
  const lane pull = edge_pull(rail->quarter, rail->arcs, rail->length, c);
  const ilane all = pull == pull, of_circle = rail->quarter > lane_lit(R(0.5));
  edge_range range[2];
  edge_search search[2];
  edge_least least[2];
  int turns[2] = {0, 0}; // for each end separately, so that no lane's steps depend on another's
  range[0] = edge_range_of(rail->quarter, rail->arcs, 0);
  range[1] = edge_range_of(rail->quarter, rail->arcs, 1);
  for (int i = 0;; ++i) {
    const int sampling = i <= parts;
    int end = i & 1;
    if (!sampling) {
      end = lane_all(search[end].done) ? !end : end;
      if (lane_all(search[end].done) || i > parts + 2 * EDGE_STEPS) {
        break;
      }
    }
    const real share = (real)i / (real)parts;
    lane s = sampling ? lane_lit(share) : search[end].next;
    if (sampling && circles) {
      s = lane_select(of_circle, lane_lit(R(1.5) * share - R(0.5)), s);
    }
    const rail_point_r at = rail_at_r(rail, s);
    jet_r jet;
    body_jet_r(head, shape, c, limit3_r(at.x, R(2.0) * SEPARATION_LIMIT), JET_GRADIENT, REAL_BIG,
               &jet);
    const lane slope = dot3_r(jet.gradient, at.slope);
    if (!sampling) {
      const edge_sample e = edge_tilted(s, jet.phi, slope, range[end].middle, pull);
      const ilane done = search[end].done;
      edge_search moved = search[end];
      edge_take(&moved, &e);
      edge_choose(&moved, turns[end]++);
      search[end] = moved;
      search[end].done = moved.done | done;
      continue;
    }
    for (int k = 0; k < 2; ++k) {
      const edge_sample e = edge_tilted(s, jet.phi, slope, range[k].middle, pull);
      ilane first = all, valid = all;
      if (circles) { // a third of the samples is outside of each range
        const int from = k ? parts / 3 : 0, to = k ? parts : 2 * parts / 3;
        const lane begins = lane_lit(i == 0 || i == from ? R(1.0) : R(0.0));
        const lane counts = lane_lit(i >= from && i <= to ? R(1.0) : R(0.0));
        const lane plain = lane_lit(i == 0 ? R(1.0) : R(0.0));
        first = lane_select(of_circle, begins, plain) > lane_lit(R(0.5));
        valid = lane_select(of_circle, counts, lane_lit(R(1.0))) > lane_lit(R(0.5));
      } else if (i > 0) {
        first = pull != pull;
      }
      edge_sampled(&least[k], &e, k, first, valid);
      if (i == parts) {
        edge_begin(&search[k], &least[k], &range[k]);
        edge_choose(&search[k], 1);
      }
    }
    if (i == 0) {
      at_ends[0] = jet.phi;
    }
    if (i == parts) {
      at_ends[1] = jet.phi;
    }
  }
  places[0] = search[0].next;
  places[1] = search[1].next;
}

// Returns the lanes in which a place is an end of its range, where it does not move.
static ilane edge_fixed(lane s, lane quarter, int arcs, int end)
{
  const edge_range r = edge_range_of(quarter, arcs, end);
  return (s <= r.low) | (s >= r.high);
}
#endif

// Returns F'', from which the derivative of a place follows by the derivatives of the
// slope. If the field is not convex, F'' is limited to at least a tenth of the pull's part.
static num FN(edge_curvature)(const FN(rail_point) *at, const FN(jet) *jet, vec bent,
                              const FN(rail) *rail, GLOBAL const coefficients *c)
{
  const num own = n_add(FN(dot3)(at->slope, bent), FN(dot3)(jet->gradient, at->bend));
  const lane pull = edge_pull(rail->quarter, rail->arcs, n_value(rail->length), c),
             least = R(0.1) * pull;
  const num all = n_add(own, n_of(pull));
  return n_select(n_value(all) > least, all, n_of(least));
}

// ---- positions of the contacts ----

// The shifts of both places (docs/dev/spec.md, 10.3): towards each other if they nearly meet,
// otherwise back from the rim.
typedef struct FN(edge_shift) {
  num gap, near, meet, by; // gap in s, near = (gap L / part)^2, by: added to the place of end 0
} FN(edge_shift);

static FN(edge_shift)
  FN(edge_shifted)(const num own[2], const FN(rail) *rail, GLOBAL const coefficients *c)
{
  FN(edge_shift) r;
  const num length = rail->length;
  r.gap = n_sub(own[1], own[0]);
  const num q = n_mul(r.gap, n_scale(length, c->part_inv));
  r.near = n_mul(q, q);
  r.meet = n_exp2(n_scale(r.near, -LOG2E));
  const num apart = n_sub(n_lit(R(1.0)), r.meet);
  r.by = n_mad(n_scale(r.meet, R(0.5)), r.gap, n_mul(apart, n_div(n_lit(c->inset), length)));
  if (rail->arcs > 1) { // those of a circle are not shifted
    const ilane of_circle = rail->quarter > lane_lit(R(0.5));
    r.meet = n_select(of_circle, n_lit(R(0.0)), r.meet);
    r.by = n_select(of_circle, n_lit(R(0.0)), r.by);
  }
  return r;
}

// Returns 1 - exp(-x^2) for x > 0, otherwise 0, and its derivative in *slope.
static num FN(edge_rise)(num x, num *slope)
{
  const num zero = n_lit(R(0.0));
  const ilane up = n_value(x) > lane_lit(R(0.0)), far = n_value(x) > lane_lit(R(30.0));
  const num e = n_exp2(n_scale(n_mul(x, x), -LOG2E));
  *slope = n_select(up & !far, n_scale(n_mul(x, e), R(2.0)), zero);
  return n_select(up, n_select(far, n_lit(R(1.0)), n_sub(n_lit(R(1.0)), e)), zero);
}

#define QUARTER_PI R(3.14159265358979323846)

// The factors of a contact's weight (docs/dev/spec.md, 10.3).
typedef struct FN(edge_weight) {
  num tau;       // the place as a share of the edge, relative to its own end
  num won, rest; // both after edge_rise
  num won_slope, rest_slope, pair;
  num weight;
  num turned; // for a quarter of a circle: the weight's derivative with respect to s
} FN(edge_weight);

static FN(edge_weight) FN(edge_weighed)(int end, num s, num phi_end, num phi, num meet,
                                        const FN(rail) *rail, GLOBAL const coefficients *c)
{
  FN(edge_weight) r;
  const num length = rail->length;
  const num one = n_lit(R(1.0)), zero = n_lit(R(0.0));
  r.tau = end ? n_sub(one, s) : s;
  const num halved = n_mul(n_mul(r.tau, r.tau), n_scale(length, R(-0.5) * c->tilt));
  const num deeper = n_add(n_sub(phi_end, phi), halved);
  r.won = FN(edge_rise)(n_scale(deeper, c->gain_inv), &r.won_slope);
  r.rest = FN(edge_rise)(n_mul(n_sub(one, r.tau), n_scale(length, c->part_inv)), &r.rest_slope);
  r.pair = n_sub(one, n_scale(meet, R(0.5)));
  r.weight = n_mul(n_mul(r.won, r.rest), r.pair);
  r.turned = zero;
  if (rail->arcs > 1) {
    const ilane of_circle = rail->quarter > lane_lit(R(0.5));
    const num off = n_scale(n_shift(s, R(-0.5) * (real)end), R(2.0) * QUARTER_PI);
    const num cosine = n_scale(n_shift(n_cos(off), R(1.0)), R(0.5));
    r.weight = n_select(of_circle, cosine, r.weight);
    r.turned = n_select(of_circle, n_scale(n_sin(off), -QUARTER_PI), zero);
    r.won_slope = n_select(of_circle, zero, r.won_slope);
    r.rest_slope = n_select(of_circle, zero, r.rest_slope);
  }
  return r;
}

// Between these squares of gradients the division of distances by the slope sets in.
#define CROSSING_LEAST R(0.1)
#define CROSSING_MOST R(0.3)
// The square of the gradient above 1 from which a grid's distance is no longer divided by the
// slope.
#define STEEP_MOST R(0.05)

// Returns the factor of a field's distance. *rate gets the negated derivative of the factor with
// respect to a gradient g, which is *rate times g. Where edges cross, phi grows by less than 1 per
// metre. A still smaller gradient means that an edge passes through a body's middle, between faces
// that look away from each other: no edges cross there, and phi stays as it is. of_distance is 1
// for a field with grids. Beyond its box a grid's gradient may be longer than 1, since the clipped
// point slides along the box, although phi is the distance: the factor never shortens this
// distance.
static num FN(edge_steep)(vec gradient, GLOBAL const coefficients *c, int of_distance, num *rate)
{
  if (c->slope < R(0.0)) {
    *rate = n_lit(R(0.0));
    return n_lit(R(1.0));
  }
  num grows;
  const real inverse = R(1.0) / (CROSSING_MOST - CROSSING_LEAST);
  const num square = FN(dot3)(gradient, gradient), over = n_rcp(n_shift(square, c->slope));
  const num whole = n_sqrt(n_scale(over, R(1.0) + c->slope)), more = n_shift(whole, R(-1.0));
  const num part = FN(quintic)(n_scale(n_shift(square, -CROSSING_LEAST), inverse), &grows);
  *rate = n_sub(n_mul(n_mul(whole, over), part), n_mul(more, n_scale(grows, R(2.0) * inverse)));
  num kept = n_mul(more, part);
  if (of_distance) {
    const real steeper = R(1.0) / STEEP_MOST;
    const num fade = FN(quintic)(n_scale(n_shift(square, R(-1.0)), steeper), &grows);
    const num rest = n_shift(n_neg(fade), R(1.0));
    *rate = n_mad(*rate, rest, n_mul(kept, n_scale(grows, R(2.0) * steeper)));
    kept = n_mul(kept, rest);
  }
  return n_shift(kept, R(1.0));
}
