// A height field: the ground below z = h(x, y) (docs/dev/spec.md, section 4). h is a bicubic
// B-spline through heights at nodes, C2 everywhere. Beyond the outermost cells its coefficients
// repeat, so that it becomes flat there, and no point needs separate code.
//
//   top = (z - h) / sqrt(1 + |grad h|^2),  phi = LSE_plane(top, four walls, base)
//
// The raw normal of the top is (-grad h, 1) / sqrt(1 + |grad h|^2), the normal of the ground below
// the point. It needs no second derivatives and is C1. The gradient is that of `top`, and equals
// the raw normal on the surface.

// Height and derivatives [m]. Only members up to the requested order are set.
typedef struct FN(height_jet) {
  num h, x, y, xx, xy, yy, xxx, xxy, xyy, yyy;
} FN(height_jet);

#if !NUM_DUAL
typedef struct height_sum {
  height_jet_r jet;
  lane xxxy, xxyy, xyyy; // the fourth derivatives that are not 0 within a cell
  ilane out_x, out_y;    // where the height is flat along an axis
} height_sum;

// Returns a coordinate in cells, relative to the first height's node, within the existing cells.
static lane height_cells(lane x, real end, real cells, real nodes)
{
  const lane u = (x + end) * cells;
  const lane most = lane_lit(nodes + (real)(HEIGHT_FLAT - 1));
  return lane_max(lane_min(u, most), lane_lit(-(real)HEIGHT_FLAT));
}

// Returns the spline and its derivatives up to `order` (at most 4). The sum over 4 x 4 coefficients
// is the sum over a plane of a grid; the grid's y and z are y and x here.
static height_sum height_spline(GLOBAL const real *s, lane x, lane y, int order)
{
  const real cells_x = s[HEIGHT_CELLS], cells_y = s[HEIGHT_CELLS + 1];
  const real nodes_x = s[HEIGHT_NODES], nodes_y = s[HEIGHT_NODES + 1];
  const int side = HEIGHT_SIDE((int)nodes_x);
  const real flat = (real)HEIGHT_FLAT;
  const lane u = height_cells(x, s[0], cells_x, nodes_x);
  const lane v = height_cells(y, s[1], cells_y, nodes_y);
  const lane i = grid_below(u, -flat, nodes_x), j = grid_below(v, -flat, nodes_y);
  const ilane at = LANE_TO_INT(j + flat) * side + LANE_TO_INT(i + flat);
  const grid_along along = grid_along_at(u - i);
  const grid_next next = grid_next_at(v - j);
  const grid_plane p = grid_plane_at(s + HEIGHT_STRIDE, at, side, &next, &along, order);
  const real xx = cells_x * cells_x, xy = cells_x * cells_y, yy = cells_y * cells_y;
  height_sum sum;
  sum.jet.h = p.value;
  sum.jet.x = p.z * cells_x;
  sum.jet.y = p.y * cells_y;
  sum.jet.xx = p.zz * xx;
  sum.jet.xy = p.yz * xy;
  sum.jet.yy = p.yy * yy;
  sum.jet.xxx = p.zzz * (xx * cells_x);
  sum.jet.xxy = p.yzz * (xx * cells_y);
  sum.jet.xyy = p.yyz * (yy * cells_x);
  sum.jet.yyy = p.yyy * (yy * cells_y);
  sum.xxxy = p.yzzz * (xx * xy);
  sum.xxyy = p.yyzz * (xx * yy);
  sum.xyyy = p.yyyz * (yy * xy);
  sum.out_x = (u <= lane_lit(-flat)) | (u >= lane_lit(nodes_x + flat - R(1.0)));
  sum.out_y = (v <= lane_lit(-flat)) | (v >= lane_lit(nodes_y + flat - R(1.0)));
  return sum;
}

static FN(height_jet) FN(height_jet_at)(GLOBAL const real *s, vec x, int order)
{
  return height_spline(s, x.x, x.y, order).jet;
}
#else

// Returns v as a dual that changes by the slopes x and y along the tangents of dx and dy, whose
// values are 0.
static num FN(height_moves)(lane v, num dx, num dy, lane x, lane y)
{
  return n_tmad(dx, x, n_tmad(dy, y, n_of(v)));
}

static FN(height_jet) FN(height_jet_at)(GLOBAL const real *s, vec x, int order)
{
  const lane zero = lane_lit(R(0.0));
  const num still = n_lit(R(0.0));
  const height_sum sum = height_spline(s, n_value(x.x), n_value(x.y), order + 1);
  const num dx = n_select(sum.out_x, still, n_with_value(x.x, zero));
  const num dy = n_select(sum.out_y, still, n_with_value(x.y, zero));
  FN(height_jet) j;
  j.h = FN(height_moves)(sum.jet.h, dx, dy, sum.jet.x, sum.jet.y);
  j.x = FN(height_moves)(sum.jet.x, dx, dy, sum.jet.xx, sum.jet.xy);
  j.y = FN(height_moves)(sum.jet.y, dx, dy, sum.jet.xy, sum.jet.yy);
  if (order > 1) {
    j.xx = FN(height_moves)(sum.jet.xx, dx, dy, sum.jet.xxx, sum.jet.xxy);
    j.xy = FN(height_moves)(sum.jet.xy, dx, dy, sum.jet.xxy, sum.jet.xyy);
    j.yy = FN(height_moves)(sum.jet.yy, dx, dy, sum.jet.xyy, sum.jet.yyy);
  }
  if (order > 2) {
    j.xxx = FN(height_moves)(sum.jet.xxx, dx, dy, zero, sum.xxxy);
    j.xxy = FN(height_moves)(sum.jet.xxy, dx, dy, sum.xxxy, sum.xxyy);
    j.xyy = FN(height_moves)(sum.jet.xyy, dx, dy, sum.xxyy, sum.xyyy);
    j.yyy = FN(height_moves)(sum.jet.yyy, dx, dy, sum.xyyy, zero);
  }
  return j;
}
#endif

// ---- the top ----

// The ground below a point, and quantities from its derivatives.
typedef struct FN(height_ground) {
  FN(height_jet) jet;
  num w;              // the normal's z
  num turn_x, turn_y; // second derivatives times the slope, if requested
} FN(height_ground);

static FN(height_ground) FN(height_ground_at)(GLOBAL const real *s, vec x, int order)
{
  FN(height_ground) f;
  f.jet = FN(height_jet_at)(s, x, order);
  const num square = n_mad(f.jet.x, f.jet.x, n_mul(f.jet.y, f.jet.y));
  f.w = n_rcp(n_sqrt(n_shift(square, R(1.0))));
  if (order > 1) {
    f.turn_x = n_mad(f.jet.xx, f.jet.x, n_mul(f.jet.xy, f.jet.y));
    f.turn_y = n_mad(f.jet.xy, f.jet.x, n_mul(f.jet.yy, f.jet.y));
  }
  return f;
}

static vec FN(height_normal)(const FN(height_ground) *f)
{
  return FN(make)(n_neg(n_mul(f->jet.x, f->w)), n_neg(n_mul(f->jet.y, f->w)), f->w);
}

static vec FN(height_gradient)(const FN(height_ground) *f, num phi, vec normal)
{
  const num pull = n_neg(n_mul(phi, n_mul(f->w, f->w)));
  return FN(make)(n_mad(pull, f->turn_x, normal.x), n_mad(pull, f->turn_y, normal.y), normal.z);
}

// Returns the derivative of the normal. Its z column is 0.
static FN(mat3) FN(height_bend)(const FN(height_ground) *f)
{
  const num w3 = n_mul(n_mul(f->w, f->w), f->w), zero = n_lit(R(0.0)), down = n_neg(f->w);
  const num x = n_mul(w3, f->turn_x), y = n_mul(w3, f->turn_y);
  const FN(height_jet) *j = &f->jet;
  FN(mat3) m;
  m.x = FN(make)(n_mad(j->xx, down, n_mul(j->x, x)), n_mad(j->xy, down, n_mul(j->x, y)), zero);
  m.y = FN(make)(n_mad(j->xy, down, n_mul(j->y, x)), n_mad(j->yy, down, n_mul(j->y, y)), zero);
  m.z = FN(make)(n_neg(x), n_neg(y), zero);
  return m;
}

// Returns the second derivatives of t w, with t = z - h and w the normal's z:
//   grad w = -w^3 v, v = H grad h;  w H_t + grad t grad w' + grad w grad t' + t H_w.
static FN(symmetric) FN(height_curve)(const FN(height_ground) *f, num phi)
{
  const FN(height_jet) *j = &f->jet;
  const num zero = n_lit(R(0.0)), w2 = n_mul(f->w, f->w), down = n_neg(f->w);
  const num pull = n_neg(n_mul(phi, w2)); // t w^3
  const vec slope = FN(make)(n_neg(j->x), n_neg(j->y), n_lit(R(1.0)));
  const vec turn = FN(make)(f->turn_x, f->turn_y, zero);
  FN(symmetric) a = FN(symmetric_zero)();
  // the derivatives of v: third ones of h along its gradient, and H H
  const num xx = n_mad(j->xxx, j->x, n_mad(j->xxy, j->y, n_mad(j->xx, j->xx, n_mul(j->xy, j->xy))));
  const num xy = n_mad(j->xxy, j->x, n_mad(j->xyy, j->y, n_mul(j->xy, n_add(j->xx, j->yy))));
  const num yy = n_mad(j->xyy, j->x, n_mad(j->yyy, j->y, n_mad(j->xy, j->xy, n_mul(j->yy, j->yy))));
  a.xx = n_mad(j->xx, down, n_mul(pull, xx));
  a.xy = n_mad(j->xy, down, n_mul(pull, xy));
  a.yy = n_mad(j->yy, down, n_mul(pull, yy));
  a = FN(symmetric_add)(a, turn, turn, n_scale(n_mul(pull, w2), R(-3.0)));
  return FN(symmetric_add)(a, slope, turn, n_scale(n_mul(w2, down), R(2.0)));
}

// ---- with the walls and the base ----

// Distances of the walls at the lower and the higher end of x and of y, and of the base.
typedef struct FN(height_walls) {
  num low_x, high_x, low_y, high_y, base;
} FN(height_walls);

static FN(height_walls) FN(height_walls_at)(GLOBAL const real *s, vec x)
{
  FN(height_walls) w;
  w.low_x = n_neg(n_shift(x.x, s[0]));
  w.high_x = n_shift(x.x, -s[0]);
  w.low_y = n_neg(n_shift(x.y, s[1]));
  w.high_y = n_shift(x.y, -s[1]);
  w.base = n_neg(n_shift(x.z, s[HEIGHT_BASE]));
  return w;
}

// Returns the larger number, or b if a is NaN.
static num FN(height_larger)(num a, num b)
{
  return n_select(n_value(a) > n_value(b), a, b);
}

static num FN(height_most_of)(const FN(height_walls) *w)
{
  const num x = FN(height_larger)(w->low_x, w->high_x);
  const num y = FN(height_larger)(w->low_y, w->high_y);
  return FN(height_larger)(FN(height_larger)(x, y), w->base);
}

// Adds a term of the spread of normals, weight (n - g) (gradient - that of all)'.
static void FN(height_spread)(FN(mat3) *m, num weight, vec n, vec gradient, const FN(surface) *all)
{
  const vec by = FN(scale3)(FN(sub3)(gradient, all->gradient), weight);
  const vec off = FN(sub3)(n, all->g);
  m->x = FN(mad3)(by, off.x, m->x);
  m->y = FN(mad3)(by, off.y, m->y);
  m->z = FN(mad3)(by, off.z, m->z);
}

static vec FN(height_axis)(real x, real y, real z)
{
  return FN(make)(n_lit(x), n_lit(y), n_lit(z));
}

// Finds the derivative of g. e are the walls' weights and `top` the ground's, before the division
// by their sum; n and gradient are the ground's.
static void FN(height_field_bend)(const FN(height_ground) *f, num top, vec n, vec gradient,
                                  const FN(height_walls) *e, num sum_inv,
                                  GLOBAL const coefficients *c, FN(surface) *out)
{
  const num rate = n_scale(sum_inv, c->plane_log2e * LN2), share = n_mul(top, sum_inv);
  const num scale = FN(unit_scale)(out->g, c->normal);
  FN(mat3) m = FN(height_bend)(f);
  m.x = FN(scale3)(m.x, share);
  m.y = FN(scale3)(m.y, share);
  m.z = FN(scale3)(m.z, share);
  FN(height_spread)(&m, n_mul(top, rate), n, gradient, out);
#define HEIGHT_WALL(name, x, y, z)                                \
  {                                                               \
    const vec wall = FN(height_axis)(R(x), R(y), R(z));           \
    FN(height_spread)(&m, n_mul(e->name, rate), wall, wall, out); \
  }
  HEIGHT_WALL(low_x, -1.0, 0.0, 0.0)
  HEIGHT_WALL(high_x, 1.0, 0.0, 0.0)
  HEIGHT_WALL(low_y, 0.0, -1.0, 0.0)
  HEIGHT_WALL(high_y, 0.0, 1.0, 0.0)
  HEIGHT_WALL(base, 0.0, 0.0, -1.0)
#undef HEIGHT_WALL
  out->bend.x = FN(scale3)(m.x, scale);
  out->bend.y = FN(scale3)(m.y, scale);
  out->bend.z = FN(scale3)(m.z, scale);
}

// Finds the second derivatives of the distance, with the arguments of height_field_bend.
static void FN(height_field_curve)(const FN(height_ground) *f, num distance, num top, vec gradient,
                                   const FN(height_walls) *e, num sum_inv,
                                   GLOBAL const coefficients *c, FN(surface) *out)
{
  const num rate = n_scale(sum_inv, c->plane_log2e * LN2);
  FN(symmetric) a = FN(symmetric_scale)(FN(height_curve)(f, distance), n_mul(top, sum_inv));
  const vec off = FN(sub3)(gradient, out->gradient);
  a = FN(symmetric_add)(a, off, off, n_mul(top, rate));
#define HEIGHT_WALL(name, x, y, z)                                               \
  {                                                                              \
    const vec wall = FN(sub3)(FN(height_axis)(R(x), R(y), R(z)), out->gradient); \
    a = FN(symmetric_add)(a, wall, wall, n_mul(e->name, rate));                  \
  }
  HEIGHT_WALL(low_x, -1.0, 0.0, 0.0)
  HEIGHT_WALL(high_x, 1.0, 0.0, 0.0)
  HEIGHT_WALL(low_y, 0.0, -1.0, 0.0)
  HEIGHT_WALL(high_y, 0.0, 1.0, 0.0)
  HEIGHT_WALL(base, 0.0, 0.0, -1.0)
#undef HEIGHT_WALL
  out->curve = a;
}

static num FN(height_weight)(num distance, num peak, GLOBAL const coefficients *c)
{
  return n_exp2(n_scale(n_sub(distance, peak), c->plane_log2e));
}

static void FN(height_field)(GLOBAL const real *s, GLOBAL const coefficients *c, vec x,
                             const int want, FN(surface) *out)
{
  const int more = want & (JET_GRADIENT | JET_JACOBIAN);
  const FN(height_ground) f = FN(height_ground_at)(s, x, want & JET_HESSIAN ? 3 : more ? 2 : 1);
  const num top = n_mul(n_sub(x.z, f.jet.h), f.w);
  const FN(height_walls) d = FN(height_walls_at)(s, x);
  const num peak = FN(height_larger)(FN(height_most_of)(&d), top);
  const num e = FN(height_weight)(top, peak, c);
  FN(height_walls) w;
  w.low_x = FN(height_weight)(d.low_x, peak, c);
  w.high_x = FN(height_weight)(d.high_x, peak, c);
  w.low_y = FN(height_weight)(d.low_y, peak, c);
  w.high_y = FN(height_weight)(d.high_y, peak, c);
  w.base = FN(height_weight)(d.base, peak, c);
  const num sides = n_add(n_add(w.low_x, w.high_x), n_add(w.low_y, w.high_y));
  const num sum = n_add(n_add(sides, w.base), e);
  out->phi = n_smad(n_log2(sum), c->plane_ln2, peak);
  if (!want) {
    return;
  }
  const num sum_inv = n_rcp(sum), share = n_mul(e, sum_inv);
  const vec walls =
    FN(scale3)(FN(make)(n_sub(w.high_x, w.low_x), n_sub(w.high_y, w.low_y), n_neg(w.base)),
               sum_inv);
  const vec normal = FN(height_normal)(&f);
  out->g = FN(mad3)(normal, share, walls);
  if (!more) {
    return;
  }
  const vec gradient = FN(height_gradient)(&f, top, normal);
  out->gradient = FN(mad3)(gradient, share, walls);
  if (want & JET_JACOBIAN) {
    FN(height_field_bend)(&f, e, normal, gradient, &w, sum_inv, c, out);
  }
  if (want & JET_HESSIAN) {
    FN(height_field_curve)(&f, top, e, gradient, &w, sum_inv, c, out);
  }
}
