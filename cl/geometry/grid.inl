// A grid: a cubic B-spline of a signed distance with corrections on finer nodes (docs/dev/spec.md,
// section 4). It is C2, and its cost does not grow with the grid.
//
// A point is clipped softly to the grid's cells except the outermost; u are the clipped
// coordinates, in cells. On level l, starting with 0, the spline's coordinates are 2^l u. A lane
// reads its cell's 4 x 4 x 4 coefficients of level 0. For finer levels it reads the coefficients of
// the block around the cell, if there is one. All levels pass through one loop, so that the code of
// the sum is compiled once.
//
// If clipping moved the point by d from a place where the spline is phi_c with the gradient g:
//   phi = sqrt(max(phi_c^2 + 2 phi_c g.d + |d|^2, phi_c^2 / 4)),  raw normal (phi_c g + d) / phi

// ---- clipping ----

// A point's clipped coordinates, and the effect of clipping on the point.
typedef struct FN(grid_place) {
  vec u;     // in cells
  vec moved; // from the clipped point to the point [m]
  vec keep;  // the derivative of u along each axis, 1 if the point is not clipped
  vec lose;  // 1 - keep
  vec turn;  // the derivative of keep with respect to u
  ilane out; // whether clipping moved the point
  int some_out;
} FN(grid_place);

// The following three functions return m(v), which is 0 up to -1, v from 1 on and twice
// continuously differentiable between, and its derivatives. NaN stays NaN in the first two.
static num FN(grid_ramp)(num v)
{
  const num up = n_shift(v, R(1.0));
  const num curve = n_scale(n_mul(n_mul(n_mul(up, up), up), n_shift(n_neg(v), R(3.0))), R(0.0625));
  const num most = n_select(n_value(v) < lane_lit(R(1.0)), curve, v);
  return n_select(n_value(v) <= lane_lit(R(-1.0)), n_lit(R(0.0)), most);
}

static num FN(grid_ramp_slope)(num v)
{
  const num up = n_shift(v, R(1.0));
  const num curve = n_scale(n_mul(n_mul(up, up), n_shift(n_neg(v), R(2.0))), R(0.25));
  const num most = n_select(n_value(v) < lane_lit(R(1.0)), curve, n_lit(R(1.0)));
  return n_select(n_value(v) <= lane_lit(R(-1.0)), n_lit(R(0.0)), most);
}

static num FN(grid_ramp_curve)(num v)
{
  const num curve = n_scale(n_shift(n_neg(n_mul(v, v)), R(1.0)), R(0.75));
  const num within = n_select(n_value(v) < lane_lit(R(1.0)), curve, n_lit(R(0.0)));
  return n_select(n_value(v) <= lane_lit(R(-1.0)), n_lit(R(0.0)), within);
}

// Returns one coordinate clipped to [1, size - 2]. It is computed relative to the nearer side, so
// that nothing cancels far away.
static num FN(grid_clip)(num u, real size, num *moved, num *keep, num *lose, num *turn)
{
  const ilane low = n_value(u) < lane_lit(R(0.5) * (size - R(1.0)));
  const num in = n_select(low, n_shift(u, R(-1.0)), n_shift(n_neg(u), size - R(2.0)));
  const num out = n_neg(in);
  const num kept = FN(grid_ramp)(in), over = FN(grid_ramp)(out);
  *moved = n_select(low, n_neg(over), over);
  *keep = FN(grid_ramp_slope)(in);
  *lose = FN(grid_ramp_slope)(out);
  const num curve = FN(grid_ramp_curve)(in);
  *turn = n_select(low, curve, n_neg(curve));
  return n_select(low, n_shift(kept, R(1.0)), n_shift(n_neg(kept), size - R(2.0)));
}

static FN(grid_place) FN(grid_place_at)(GLOBAL const real *s, vec x)
{
  const real scale = s[GRID_SPACING_INV], spacing = s[GRID_SPACING];
  GLOBAL const real *size = s + GRID_SIZES;
  FN(grid_place) p;
  p.u.x = FN(grid_clip)(n_scale(n_shift(x.x, -s[0]), scale), size[0], &p.moved.x, &p.keep.x,
                        &p.lose.x, &p.turn.x);
  p.u.y = FN(grid_clip)(n_scale(n_shift(x.y, -s[1]), scale), size[1], &p.moved.y, &p.keep.y,
                        &p.lose.y, &p.turn.y);
  p.u.z = FN(grid_clip)(n_scale(n_shift(x.z, -s[2]), scale), size[2], &p.moved.z, &p.keep.z,
                        &p.lose.z, &p.turn.z);
  p.moved =
    FN(make)(n_scale(p.moved.x, spacing), n_scale(p.moved.y, spacing), n_scale(p.moved.z, spacing));
  p.out = n_value(FN(dot3)(p.moved, p.moved)) > lane_lit(R(0.0));
  p.some_out = lane_any(p.out);
  return p;
}

// ---- the spline ----

// A distance with its derivatives. Only members up to the requested order are set.
typedef struct FN(grid_jet) {
  num phi;
  vec g;
  FN(symmetric) h;
  FN(symmetric) t; // of the third order: the derivative of h along the requested direction
} FN(grid_jet);

#if !NUM_DUAL
// All sums are of plain lanes. A dual's tangents follow from the next derivatives, which avoids a
// sum for each tangent. Loops hold few numbers at a time: basis functions are read from a table, by
// the loop's variable, and nothing else is indexed by one (see num/dual.inl).

// The third derivatives, needed for duals of second ones, and the fourth ones, needed for duals of
// third ones. A fourth derivative along a single axis is 0.
typedef struct grid_thirds {
  lane xxx, xxy, xxz, xyy, xyz, xzz, yyy, yyz, yzz, zzz;
} grid_thirds;

typedef struct grid_fourths {
  lane xxxy, xxxz, xxyy, xxyz, xxzz, xyyy, xyyz, xyzz, xzzz, yyyz, yyzz, yzzz;
} grid_fourths;

typedef struct grid_sum {
  FN(grid_jet) jet;
  grid_thirds third;
  grid_fourths fourth;
} grid_sum;

// The coefficients of 1, t, t^2 and t^3 of the four basis functions that are nonzero at t in [0,
// 1].
#define BASIS_ROW(a, b, c, d) a / R(6.0), b / R(6.0), c / R(6.0), d / R(6.0)
CONSTANT real grid_pieces[16] = {
  BASIS_ROW(R(1.0), R(-3.0), R(3.0), R(-1.0)),
  BASIS_ROW(R(4.0), R(0.0), R(-6.0), R(3.0)),
  BASIS_ROW(R(1.0), R(3.0), R(3.0), R(-3.0)),
  BASIS_ROW(R(0.0), R(0.0), R(0.0), R(1.0)),
};
#undef BASIS_ROW

// One basis function with its derivatives.
typedef struct grid_basis {
  lane value, slope, curve;
  real third;
} grid_basis;

static grid_basis grid_basis_at(lane t, int i)
{
  const real c0 = grid_pieces[4 * i], c1 = grid_pieces[4 * i + 1];
  const real c2 = grid_pieces[4 * i + 2], c3 = grid_pieces[4 * i + 3];
  grid_basis w;
  w.value = ((t * c3 + c2) * t + c1) * t + c0;
  w.slope = (t * (R(3.0) * c3) + R(2.0) * c2) * t + c1;
  w.curve = t * (R(6.0) * c3) + R(2.0) * c2;
  w.third = R(6.0) * c3;
  return w;
}

// All four basis functions along one axis.
typedef struct grid_along {
  grid_basis a, b, c, d;
} grid_along;

static grid_along grid_along_at(lane t)
{
  grid_along w;
  w.a = grid_basis_at(t, 0);
  w.b = grid_basis_at(t, 1);
  w.c = grid_basis_at(t, 2);
  w.d = grid_basis_at(t, 3);
  return w;
}

// The sum along z of one row of coefficients, and its derivatives with respect to z.
typedef struct grid_row {
  lane value, slope, curve, third;
} grid_row;

static grid_row grid_row_at(GLOBAL const real *p, ilane at, const grid_along *z, int order)
{
  const lane a = lane_gather(p, at), b = lane_gather(p + 1, at);
  const lane c = lane_gather(p + 2, at), d = lane_gather(p + 3, at);
  grid_row r;
  r.value = z->a.value * a + (z->b.value * b + (z->c.value * c + z->d.value * d));
  r.slope = r.curve = r.third = lane_lit(R(0.0));
  if (order > 0) {
    r.slope = z->a.slope * a + (z->b.slope * b + (z->c.slope * c + z->d.slope * d));
  }
  if (order > 1) {
    r.curve = z->a.curve * a + (z->b.curve * b + (z->c.curve * c + z->d.curve * d));
  }
  if (order > 2) {
    r.third = (d - a) + R(3.0) * (b - c);
  }
  return r;
}

// The sum over one plane across x, and its derivatives with respect to y and z.
typedef struct grid_plane {
  lane value, y, z, yy, yz, zz, yyy, yyz, yzz, zzz, yyyz, yyzz, yzzz;
} grid_plane;

static void grid_add_row(GLOBAL const real *p, ilane at, grid_basis y, const grid_along *z,
                         int order, grid_plane *s)
{
  const grid_row r = grid_row_at(p, at, z, order);
  s->value = y.value * r.value + s->value;
  if (order > 0) {
    s->y = y.slope * r.value + s->y;
    s->z = y.value * r.slope + s->z;
  }
  if (order > 1) {
    s->yy = y.curve * r.value + s->yy;
    s->yz = y.slope * r.slope + s->yz;
    s->zz = y.value * r.curve + s->zz;
  }
  if (order > 2) {
    s->yyy = y.third * r.value + s->yyy;
    s->yyz = y.curve * r.slope + s->yyz;
    s->yzz = y.slope * r.curve + s->yzz;
    s->zzz = y.value * r.third + s->zzz;
  }
  if (order > 3) {
    s->yyyz = y.third * r.slope + s->yyyz;
    s->yyzz = y.curve * r.curve + s->yyzz;
    s->yzzz = y.slope * r.third + s->yzzz;
  }
}

#if LANES > 1 || !defined(__OPENCL_VERSION__)
#define GRID_BASIS_KEPT 1
#else
#define GRID_BASIS_KEPT 0
#endif

// Along y, CPUs compute the basis functions once for all planes. Other devices compute them again
// for each plane, to save registers.
#if GRID_BASIS_KEPT
typedef grid_along grid_next;
#define grid_next_at(t) grid_along_at(t)
#else
typedef lane grid_next;
#define grid_next_at(t) (t)
#endif

static grid_plane grid_plane_at(GLOBAL const real *p, ilane at, int stride, const grid_next *y,
                                const grid_along *z, int order)
{
  const lane zero = lane_lit(R(0.0));
  grid_plane s;
  s.value = s.y = s.z = s.yy = s.yz = s.zz = s.yyy = s.yyz = s.yzz = s.zzz = zero;
  s.yyyz = s.yyzz = s.yzzz = zero;
#if GRID_BASIS_KEPT
  grid_add_row(p, at, y->a, z, order, &s);
  grid_add_row(p + stride, at, y->b, z, order, &s);
  grid_add_row(p + 2 * stride, at, y->c, z, order, &s);
  grid_add_row(p + 3 * stride, at, y->d, z, order, &s);
#else
  for (int j = 0; j < 4; ++j, p += stride) {
    grid_add_row(p, at, grid_basis_at(*y, j), z, order, &s);
  }
#endif
  return s;
}

// Adds a plane with its basis function, in the grid's coordinates, which are `scale` times coarser
// than the level's. share is 1 for lanes that get the plane, otherwise 0.
static void grid_add_plane(const grid_plane *p, grid_basis x, lane share, real scale, int order,
                           grid_sum *sum)
{
  FN(grid_jet) *j = &sum->jet;
  grid_thirds *t = &sum->third;
  lane value = x.value * share, slope = x.slope * share, curve = x.curve * share;
  j->phi = value * p->value + j->phi;
  if (order > 0) {
    value = value * scale;
    slope = slope * scale;
    j->g.x = slope * p->value + j->g.x;
    j->g.y = value * p->y + j->g.y;
    j->g.z = value * p->z + j->g.z;
  }
  if (order > 1) {
    value = value * scale;
    slope = slope * scale;
    curve = curve * (scale * scale);
    j->h.xx = curve * p->value + j->h.xx;
    j->h.xy = slope * p->y + j->h.xy;
    j->h.xz = slope * p->z + j->h.xz;
    j->h.yy = value * p->yy + j->h.yy;
    j->h.yz = value * p->yz + j->h.yz;
    j->h.zz = value * p->zz + j->h.zz;
  }
  if (order > 2) {
    value = value * scale;
    slope = slope * scale;
    curve = curve * scale;
    t->xxx = share * (x.third * (scale * scale * scale)) * p->value + t->xxx;
    t->xxy = curve * p->y + t->xxy;
    t->xxz = curve * p->z + t->xxz;
    t->xyy = slope * p->yy + t->xyy;
    t->xyz = slope * p->yz + t->xyz;
    t->xzz = slope * p->zz + t->xzz;
    t->yyy = value * p->yyy + t->yyy;
    t->yyz = value * p->yyz + t->yyz;
    t->yzz = value * p->yzz + t->yzz;
    t->zzz = value * p->zzz + t->zzz;
  }
  if (order > 3) {
    grid_fourths *f = &sum->fourth;
    const lane third = share * (x.third * (scale * scale * scale * scale));
    value = value * scale;
    slope = slope * scale;
    curve = curve * scale;
    f->xxxy = third * p->y + f->xxxy;
    f->xxxz = third * p->z + f->xxxz;
    f->xxyy = curve * p->yy + f->xxyy;
    f->xxyz = curve * p->yz + f->xxyz;
    f->xxzz = curve * p->zz + f->xxzz;
    f->xyyy = slope * p->yyy + f->xyyy;
    f->xyyz = slope * p->yyz + f->xyyz;
    f->xyzz = slope * p->yzz + f->xyzz;
    f->xzzz = slope * p->zzz + f->xzzz;
    f->yyyz = value * p->yyyz + f->yyyz;
    f->yyzz = value * p->yyzz + f->yyzz;
    f->yzzz = value * p->yzzz + f->yzzz;
  }
}

// Adds a cell's 64 coefficients, starting at `at`; w is the place in the cell.
static void grid_add_cell(GLOBAL const real *p, ilane at, int stride_x, int stride_y, vec w,
                          lane share, real scale, int order, grid_sum *sum)
{
  const grid_along z = grid_along_at(w.z);
  const grid_next y = grid_next_at(w.y);
  for (int i = 0; i < 4; ++i, p += stride_x) {
    const grid_plane plane = grid_plane_at(p, at, stride_y, &y, &z, order);
    grid_add_plane(&plane, grid_basis_at(w.x, i), share, scale, order, sum);
  }
}

// Returns the whole number below x, limited to [low, high] for every x.
static lane grid_below(lane x, real low, real high)
{
  return lane_max(lane_min(lane_floor(x), lane_lit(high)), lane_lit(low));
}

// Returns the start of a lane's numbers: `first` plus the index of (i, j, k) in an array with these
// sides.
static ilane grid_at(ilane first, lane i, lane j, lane k, int side_y, int side_z)
{
  return first + (LANE_TO_INT(i) * side_y + LANE_TO_INT(j)) * side_z + LANE_TO_INT(k);
}

// Returns the spline plus its first `levels` levels of corrections, and their derivatives with
// respect to the position in cells, up to `order` (at most 4).
static grid_sum grid_spline(GLOBAL const real *s, int levels, vec clipped, int order)
{
  const lane zero = lane_lit(R(0.0));
  vec u = clipped;
  int side_x = (int)s[GRID_SIZES], side_y = (int)s[GRID_SIZES + 1];
  int side_z = (int)s[GRID_SIZES + 2];
  int map_x = (int)s[GRID_MAP], map_y = (int)s[GRID_MAP + 1], map_z = (int)s[GRID_MAP + 2];
  const int map = GRID_STRIDE + GRID_PADDED(side_x * side_y * side_z);
  const int blocks = map + GRID_MAPS * GRID_PADDED(map_x * map_y * map_z);
  // The first level's cells are 1 to size - 3. Their coefficients begin one node earlier.
  ilane coefficients_at = (ilane)(GRID_STRIDE - (side_y + 1) * side_z - 1), links_at = (ilane)map;
  real low = R(1.0);
  int most_x = side_x - 3, most_y = side_y - 3, most_z = side_z - 3;
  lane share = lane_lit(R(1.0));
  real scale = R(1.0);
  grid_sum sum;
  sum.jet.phi = zero;
  sum.jet.g = FN(make)(zero, zero, zero);
  sum.jet.h = sum.jet.t = FN(symmetric_zero)();
  sum.third.xxx = sum.third.xxy = sum.third.xxz = sum.third.xyy = sum.third.xyz = zero;
  sum.third.xzz = sum.third.yyy = sum.third.yyz = sum.third.yzz = sum.third.zzz = zero;
  sum.fourth.xxxy = sum.fourth.xxxz = sum.fourth.xxyy = sum.fourth.xxyz = sum.fourth.xxzz = zero;
  sum.fourth.xyyy = sum.fourth.xyyz = sum.fourth.xyzz = sum.fourth.xzzz = sum.fourth.yyyz = zero;
  sum.fourth.yyzz = sum.fourth.yzzz = zero;
  for (int level = 0;; ++level) {
    const lane i = grid_below(u.x, low, (real)most_x);
    const lane j = grid_below(u.y, low, (real)most_y);
    const lane k = grid_below(u.z, low, (real)most_z);
    grid_add_cell(s, grid_at(coefficients_at, i, j, k, side_y, side_z), side_y * side_z, side_z,
                  FN(make)(u.x - i, u.y - j, u.z - k), share, scale, order, &sum);
    if (level == levels) {
      break;
    }
    const real quarter = R(1.0) / GRID_MAP_CELLS;
    const lane bi = grid_below(u.x * quarter, R(0.0), (real)(map_x - 1));
    const lane bj = grid_below(u.y * quarter, R(0.0), (real)(map_y - 1));
    const lane bk = grid_below(u.z * quarter, R(0.0), (real)(map_z - 1));
    const lane block = lane_gather(s, grid_at(links_at, bi, bj, bk, map_y, map_z));
    const ilane there = (block >= zero) & (share > zero);
    if (!lane_any(there)) {
      break;
    }
    // A lane without a block reads the first one's numbers.
    share = lane_select(there, lane_lit(R(1.0)), zero);
    links_at = LANE_TO_INT(lane_max(block * share, zero)) * GRID_BLOCK_STRIDE + blocks;
    coefficients_at = links_at + GRID_CHILDREN;
    u = FN(make)((u.x - bi * (real)GRID_MAP_CELLS) * R(2.0),
                 (u.y - bj * (real)GRID_MAP_CELLS) * R(2.0),
                 (u.z - bk * (real)GRID_MAP_CELLS) * R(2.0));
    side_x = side_y = side_z = GRID_NODES;
    map_x = map_y = map_z = 2;
    most_x = most_y = most_z = GRID_CELLS - 1;
    low = R(0.0);
    scale *= R(2.0);
  }
  return sum;
}

// Returns the spline and, for order 3, also the derivative of its second derivatives along `way`.
static FN(grid_jet) FN(grid_jet_along)(GLOBAL const real *s, int levels, vec u, vec way, int order)
{
  grid_sum sum = grid_spline(s, levels, u, order);
  if (order > 2) {
    const grid_thirds t = sum.third;
    sum.jet.t.xx = FN(dot3)(way, FN(make)(t.xxx, t.xxy, t.xxz));
    sum.jet.t.yy = FN(dot3)(way, FN(make)(t.xyy, t.yyy, t.yyz));
    sum.jet.t.zz = FN(dot3)(way, FN(make)(t.xzz, t.yzz, t.zzz));
    sum.jet.t.xy = FN(dot3)(way, FN(make)(t.xxy, t.xyy, t.xyz));
    sum.jet.t.xz = FN(dot3)(way, FN(make)(t.xxz, t.xyz, t.xzz));
    sum.jet.t.yz = FN(dot3)(way, FN(make)(t.xyz, t.yyz, t.yzz));
  }
  return sum.jet;
}
#else

// Returns v as a dual that changes by the slopes x, y and z along the tangents of du, whose value
// is 0.
static num FN(grid_moves)(lane v, vec du, lane x, lane y, lane z)
{
  return n_tmad(du.x, x, n_tmad(du.y, y, n_tmad(du.z, z, n_of(v))));
}

static FN(grid_jet) FN(grid_jet_along)(GLOBAL const real *s, int levels, vec u, vec way, int order)
{
  const lane zero = lane_lit(R(0.0));
  const vec3_r at = make_r(n_value(u.x), n_value(u.y), n_value(u.z));
  const vec du =
    FN(make)(n_with_value(u.x, zero), n_with_value(u.y, zero), n_with_value(u.z, zero));
  const grid_sum sum = grid_spline(s, levels, at, order + 1);
  const vec3_r g = sum.jet.g;
  const symmetric_r h = sum.jet.h;
  const grid_thirds t = sum.third;
  FN(grid_jet) j;
  j.t = FN(symmetric_zero)();
  j.phi = FN(grid_moves)(sum.jet.phi, du, g.x, g.y, g.z);
  if (order > 0) {
    j.g.x = FN(grid_moves)(g.x, du, h.xx, h.xy, h.xz);
    j.g.y = FN(grid_moves)(g.y, du, h.xy, h.yy, h.yz);
    j.g.z = FN(grid_moves)(g.z, du, h.xz, h.yz, h.zz);
  }
  if (order > 1) {
    j.h.xx = FN(grid_moves)(h.xx, du, t.xxx, t.xxy, t.xxz);
    j.h.yy = FN(grid_moves)(h.yy, du, t.xyy, t.yyy, t.yyz);
    j.h.zz = FN(grid_moves)(h.zz, du, t.xzz, t.yzz, t.zzz);
    j.h.xy = FN(grid_moves)(h.xy, du, t.xxy, t.xyy, t.xyz);
    j.h.xz = FN(grid_moves)(h.xz, du, t.xxz, t.xyz, t.xzz);
    j.h.yz = FN(grid_moves)(h.yz, du, t.xyz, t.yyz, t.yzz);
  }
  if (order > 2) {
    const grid_fourths f = sum.fourth;
    const num xxx = FN(grid_moves)(t.xxx, du, zero, f.xxxy, f.xxxz);
    const num xxy = FN(grid_moves)(t.xxy, du, f.xxxy, f.xxyy, f.xxyz);
    const num xxz = FN(grid_moves)(t.xxz, du, f.xxxz, f.xxyz, f.xxzz);
    const num xyy = FN(grid_moves)(t.xyy, du, f.xxyy, f.xyyy, f.xyyz);
    const num xyz = FN(grid_moves)(t.xyz, du, f.xxyz, f.xyyz, f.xyzz);
    const num xzz = FN(grid_moves)(t.xzz, du, f.xxzz, f.xyzz, f.xzzz);
    const num yyy = FN(grid_moves)(t.yyy, du, f.xyyy, zero, f.yyyz);
    const num yyz = FN(grid_moves)(t.yyz, du, f.xyyz, f.yyyz, f.yyzz);
    const num yzz = FN(grid_moves)(t.yzz, du, f.xyzz, f.yyzz, f.yzzz);
    const num zzz = FN(grid_moves)(t.zzz, du, f.xzzz, f.yzzz, zero);
    j.t.xx = FN(dot3)(way, FN(make)(xxx, xxy, xxz));
    j.t.yy = FN(dot3)(way, FN(make)(xyy, yyy, yyz));
    j.t.zz = FN(dot3)(way, FN(make)(xzz, yzz, zzz));
    j.t.xy = FN(dot3)(way, FN(make)(xxy, xyy, xyz));
    j.t.xz = FN(dot3)(way, FN(make)(xxz, xyz, xzz));
    j.t.yz = FN(dot3)(way, FN(make)(xyz, yyz, yzz));
  }
  return j;
}
#endif

static FN(grid_jet) FN(grid_jet_at)(GLOBAL const real *s, int levels, vec u, int order)
{
  const num zero = n_lit(R(0.0));
  return FN(grid_jet_along)(s, levels, u, FN(make)(zero, zero, zero), order);
}

// ---- distance and normal ----

// Returns the component-wise product: a row of M times diag(b), the clip's derivatives.
static vec FN(times3)(vec a, vec b)
{
  return FN(make)(n_mul(a.x, b.x), n_mul(a.y, b.y), n_mul(a.z, b.z));
}

// Converts the spline's derivatives to metres. If the point was not clipped, this is the result.
static void FN(grid_inside)(GLOBAL const real *s, const FN(grid_jet) *j, FN(surface) *out,
                            FN(mat3) *h)
{
  const real scale = s[GRID_SPACING_INV];
  const num twice = n_lit(scale * scale);
  out->phi = j->phi;
  out->g = out->gradient = FN(scale3)(j->g, n_lit(scale));
  *h = FN(rows_of)(j->h);
  h->x = FN(scale3)(h->x, twice);
  h->y = FN(scale3)(h->y, twice);
  h->z = FN(scale3)(h->z, twice);
}

// Returns a row of the raw normal's derivative outside, without the diagonal's contribution of the
// lost part of the point: (g (C g)' + phi_c H C - raw (grad phi)') / phi. C = diag(keep), and g and
// raw are the row's entries of the gradient and of the raw normal.
static vec FN(grid_bend_row)(const FN(grid_place) *p, num g, num raw, vec kept_g, vec h, num phi_c,
                             vec gradient, num over)
{
  const vec turn = FN(mad3)(FN(times3)(h, p->keep), phi_c, FN(scale3)(kept_g, g));
  return FN(scale3)(FN(mad3)(gradient, n_neg(raw), turn), over);
}

// If clipping moved the point, replaces phi_c and g in *out, and the second derivatives h there, by
// the distance, the raw normal and their derivatives.
static void FN(grid_outside)(const FN(grid_place) *p, const int want, FN(mat3) *h, FN(surface) *out)
{
  const num phi_c = out->phi;
  const vec g = out->g;
  const num along = FN(dot3)(g, p->moved);
  const num square = n_mad(phi_c, n_add(phi_c, n_add(along, along)), FN(dot3)(p->moved, p->moved));
  const num quarter = n_shift(n_scale(n_mul(phi_c, phi_c), R(0.25)), REAL_TINY);
  const ilane flat = n_value(square) < n_value(quarter);
  const num phi = n_sqrt(n_select(flat, quarter, n_select(p->out, square, quarter)));
  out->phi = n_select(p->out, phi, phi_c);
  if (!want) {
    return;
  }
  const num over = n_rcp(phi);
  const vec raw = FN(scale3)(FN(mad3)(g, phi_c, p->moved), over);
  out->g = FN(select3)(p->out, raw, g);
  if (!(want & (JET_GRADIENT | JET_JACOBIAN))) {
    return;
  }
  const vec kept = FN(times3)(p->keep, g);
  const vec turned =
    FN(make)(FN(dot3)(h->x, p->moved), FN(dot3)(h->y, p->moved), FN(dot3)(h->z, p->moved));
  const vec rate = FN(add3)(FN(times3)(p->keep, turned), FN(times3)(p->lose, g));
  const vec rise =
    FN(mad3)(kept, n_add(phi_c, along), FN(mad3)(rate, phi_c, FN(times3)(p->lose, p->moved)));
  const vec part = FN(scale3)(kept, n_scale(phi_c, R(0.25)));
  const vec gradient = FN(scale3)(FN(select3)(flat, part, rise), over);
  out->gradient = FN(select3)(p->out, gradient, g);
  if (want & JET_JACOBIAN) {
    vec x = FN(grid_bend_row)(p, g.x, raw.x, kept, h->x, phi_c, gradient, over);
    vec y = FN(grid_bend_row)(p, g.y, raw.y, kept, h->y, phi_c, gradient, over);
    vec z = FN(grid_bend_row)(p, g.z, raw.z, kept, h->z, phi_c, gradient, over);
    x.x = n_mad(p->lose.x, over, x.x);
    y.y = n_mad(p->lose.y, over, y.y);
    z.z = n_mad(p->lose.z, over, z.z);
    h->x = FN(select3)(p->out, x, h->x);
    h->y = FN(select3)(p->out, y, h->y);
    h->z = FN(select3)(p->out, z, h->z);
  }
}

// Returns one entry of the matrix below, complete off the diagonal. `keeps` is the product of the
// kept shares along both axes. `loses` is the product of the kept share along one axis and the lost
// share along the other.
static num FN(grid_curve_entry)(num h, num t, num keeps, num loses, num phi_c, num reach)
{
  return n_mad(keeps, n_mad(reach, h, n_mul(phi_c, t)), n_mul(n_mul(loses, phi_c), h));
}

// Replaces the second derivatives of the distance in *out if clipping moved the point. There phi
// grad phi = (phi_c + a) k + phi_c r + L d, with a = g . d, k = C g and r = C H d + L g. C and L
// are the kept and lost shares of clipping, and d is `moved`. Its derivative is, with T = dH/dx .
// d,
//   k k' + k r' + r k' + C ((phi_c + a) H + phi_c T) C + phi_c (C H L + L H C) + L L
//   + C' (a g + phi_c H d - d) along the diagonal,
// from which (grad phi)(grad phi)' is subtracted. If phi is phi_c / 2, the differentiated vector is
// phi_c k / 4.
static void FN(grid_curve)(GLOBAL const real *s, const FN(grid_place) *p, const FN(grid_jet) *j,
                           FN(surface) *out)
{
  const real scale = s[GRID_SPACING_INV];
  const num phi_c = j->phi, quarter = n_lit(R(0.25));
  const vec g = FN(scale3)(j->g, n_lit(scale));
  const vec turn = FN(scale3)(p->turn, n_lit(scale));
  const FN(symmetric) h = FN(symmetric_scale)(j->h, n_lit(scale * scale));
  const FN(symmetric) t = FN(symmetric_scale)(j->t, n_lit(scale * scale * scale));
  const num a = FN(dot3)(g, p->moved), over = n_rcp(out->phi);
  const num square = n_mad(phi_c, n_add(phi_c, n_add(a, a)), FN(dot3)(p->moved, p->moved));
  const ilane flat = n_value(square) <
                     n_value(n_shift(n_mul(n_mul(phi_c, phi_c), quarter), REAL_TINY));
  const vec c = p->keep, l = p->lose, k = FN(times3)(c, g);
  const vec bent = FN(symmetric_times)(&h, p->moved);
  const vec r = FN(add3)(FN(times3)(c, bent), FN(times3)(l, g));
  const vec kept = FN(times3)(c, c), lost = FN(times3)(c, l);
  const num reach = n_add(phi_c, a);
  const vec along = FN(sub3)(FN(mad3)(g, a, FN(scale3)(bent, phi_c)), p->moved);
  const vec edge = FN(add3)(FN(times3)(turn, along), FN(times3)(l, l));
  const num xy = n_mul(c.x, c.y), xz = n_mul(c.x, c.z), yz = n_mul(c.y, c.z);
  FN(symmetric) m, w;
  m.xx =
    n_add(FN(grid_curve_entry)(h.xx, t.xx, kept.x, n_add(lost.x, lost.x), phi_c, reach), edge.x);
  m.yy =
    n_add(FN(grid_curve_entry)(h.yy, t.yy, kept.y, n_add(lost.y, lost.y), phi_c, reach), edge.y);
  m.zz =
    n_add(FN(grid_curve_entry)(h.zz, t.zz, kept.z, n_add(lost.z, lost.z), phi_c, reach), edge.z);
  m.xy = FN(grid_curve_entry)(h.xy, t.xy, xy, n_mad(c.x, l.y, n_mul(l.x, c.y)), phi_c, reach);
  m.xz = FN(grid_curve_entry)(h.xz, t.xz, xz, n_mad(c.x, l.z, n_mul(l.x, c.z)), phi_c, reach);
  m.yz = FN(grid_curve_entry)(h.yz, t.yz, yz, n_mad(c.y, l.z, n_mul(l.y, c.z)), phi_c, reach);
  m = FN(symmetric_add)(m, k, FN(add3)(k, FN(add3)(r, r)), n_lit(R(1.0)));
  w.xx = n_mad(kept.x, h.xx, n_mul(turn.x, g.x));
  w.yy = n_mad(kept.y, h.yy, n_mul(turn.y, g.y));
  w.zz = n_mad(kept.z, h.zz, n_mul(turn.z, g.z));
  w.xy = n_mul(xy, h.xy);
  w.xz = n_mul(xz, h.xz);
  w.yz = n_mul(yz, h.yz);
  w = FN(symmetric_add)(FN(symmetric_scale)(w, n_mul(phi_c, quarter)), k, k, quarter);
  m = FN(symmetric_select)(flat, w, m);
  m = FN(symmetric_add)(m, out->gradient, out->gradient, n_lit(R(-1.0)));
  out->curve = FN(symmetric_select)(p->out, FN(symmetric_scale)(m, over), out->curve);
}

static void FN(grid)(GLOBAL const real *s, int levels, GLOBAL const coefficients *c,
                     const FN(grid_place) *p, const int want, FN(surface) *out)
{
  FN(mat3) h;
  const int twice = JET_JACOBIAN | JET_HESSIAN;
  const int inside = want & twice ? 2 : want ? 1 : 0;
  const int outside = want & JET_HESSIAN ? 3 : want & (JET_GRADIENT | JET_JACOBIAN) ? 2 : 1;
  const FN(grid_jet) j = FN(grid_jet_along)(s, levels, p->u, p->moved,
                                            p->some_out && outside > inside ? outside : inside);
  FN(grid_inside)(s, &j, out, &h);
  if (want & JET_HESSIAN) {
    out->curve = FN(symmetric_part)(&h);
  }
  if (p->some_out) {
    FN(grid_outside)(p, want, &h, out);
  }
  if (p->some_out && want & JET_HESSIAN) {
    FN(grid_curve)(s, p, &j, out);
  }
  if (want & JET_JACOBIAN) {
    const num scale = FN(unit_scale)(out->g, c->normal);
    out->bend.x = FN(scale3)(h.x, scale);
    out->bend.y = FN(scale3)(h.y, scale);
    out->bend.z = FN(scale3)(h.z, scale);
  }
}
