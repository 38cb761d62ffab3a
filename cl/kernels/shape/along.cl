// Derivatives of fields along a direction of their bodies' parameters, at fixed places. The forward
// pass on duals adds them to the tangents of distances and normals, which include the places' own
// motion.
//
// `moves` has the layout of the parameters (geometry/layout.h). A superquadric has its twist in
// place of its rotation's first three numbers, and changes of position, of axes in place of 1 /
// axes, and of exponents. A plane has changes of normal and of normal . point. A cloud's point has
// changes of place and normal, and of its width's logarithm in place of 1 / width^2. A grid's
// record and links are copied, and its coefficients are replaced by their changes. A core has its
// twist and its translation like a superquadric, changes of half lengths, and that of its radius in
// place of w. On duals of one tangent.

// Returns x, limited so that sums do not overflow. NaN, a derivative that overflowed with opposite
// signs, becomes 0.
static lane known_change(lane x)
{
  return lane_select(x == x, bounded_part(x, COTANGENT_LIMIT), lane_lit(R(0.0)));
}

// Returns v as a number that changes by d.
static num changing(lane v, lane d)
{
  return n_with_part(n_of(v), 1, known_change(d));
}

static vec changing3(vec3_r v, vec3_r d)
{
  return FN(make)(changing(v.x, d.x), changing(v.y, d.y), changing(v.z, d.z));
}

static vec staying3(vec3_r v)
{
  return FN(make)(n_of(v.x), n_of(v.y), n_of(v.z));
}

// Returns the effect of the changes m of axes and exponents, by the slopes with respect to these.
// An unknown slope counts as 0, as in the reverse pass.
static lane change_of_h(GLOBAL const real *m, vec3_r by_axes, const lane by_exponents[2])
{
  GLOBAL const real *axes = m + SUPERQUADRIC_AXES_INV;
  return known_change(by_axes.x) * axes[0] + known_change(by_axes.y) * axes[1] +
         (known_change(by_axes.z) * axes[2] + known_change(by_exponents[0]) * m[SUPERQUADRIC_E1] +
          known_change(by_exponents[1]) * m[SUPERQUADRIC_E2]);
}

// ---- single primitives: p gets the distance, the raw normal and the gradient of `at`, with their
// changes ----

// Distance and normal follow from h, whose change is one number. The change of the normal is the
// derivative of that number with respect to the place, along each axis in turn.
static void superquadric_change(GLOBAL const real *s, GLOBAL const real *m, vec3_r x,
                                const int want, const surface_r *at, FN(surface) *p)
{
  GLOBAL const real *place_at = s + SUPERQUADRIC_POSITION, *axes_inv = s + SUPERQUADRIC_AXES_INV;
  GLOBAL const real *move = m + SUPERQUADRIC_POSITION, *axes = m + SUPERQUADRIC_AXES_INV;
  const lane one = lane_lit(R(1.0)), none = lane_lit(R(0.0));
  const vec3_r y =
    rotate_back_r(s, make_r(x.x - place_at[0], x.y - place_at[1], x.z - place_at[2]));
  const vec3_r twist = make_r(lane_lit(m[0]), lane_lit(m[1]), lane_lit(m[2]));
  const vec3_r shift =
    rotate_back_r(s, make_r(lane_lit(move[0]), lane_lit(move[1]), lane_lit(move[2])));
  const vec3_r dy = sub3_r(cross3_r(y, twist), shift);
  shares_r t;
  superquadric_shares_r(s, y, &t);
  const superquadric_slopes_r h = superquadric_slopes_of_r(s, &t);
  const lane rise = change_of_h(m, h.axes, h.exponents) + dot3_r(h.place, dy);
  lane slope[3];
  for (int k = 0; k < 3; ++k) {
    const vec3_r axis = make_r(k == 0 ? one : none, k == 1 ? one : none, k == 2 ? one : none);
    const superquadric_changes_r along = superquadric_changes_along_r(s, &t, &h, axis);
    slope[k] = change_of_h(m, along.axes, along.exponents) + dot3_r(along.place, dy);
  }
  const vec3_r turned = cross3_r(twist, h.place); // dy rotates with the place
  const vec3_r g = add3_r(make_r(slope[0], slope[1], slope[2]), turned);
  const real soft =
    SUPERQUADRIC_SOFT * (axes[0] / axes_inv[0] + axes[1] / axes_inv[1] + axes[2] / axes_inv[2]);
  const lane r = lane_sqrt(dot3_r(y, y) + s[SUPERQUADRIC_FLOOR]);
  const lane k = t.h_inv, flat = (one - k) / r, steep = r * k * k, out = dot3_r(y, dy) + soft;
  p->phi = changing(at->phi, out * flat + rise * steep);
  p->g = changing3(at->g, rotate_r(s, g));
  if (want & JET_GRADIENT) {
    // The change of phi is flat out + steep rise. The change of the gradient is its derivative with
    // respect to the place.
    const vec3_r r_by = scale3_r(y, one / r), k_by = scale3_r(h.place, k * k); // that of k is -k_by
    const vec3_r flat_by = scale3_r(sub3_r(k_by, scale3_r(r_by, flat)), one / r);
    const vec3_r steep_by = sub3_r(scale3_r(r_by, k * k), scale3_r(k_by, R(2.0) * r * k));
    vec3_r by = sub3_r(scale3_r(flat_by, out), scale3_r(shift, flat)); // y . dy is -y . shift
    by = add3_r(by, add3_r(scale3_r(steep_by, rise), scale3_r(g, steep)));
    p->gradient = changing3(at->gradient, rotate_r(s, by));
  }
}

static void polyhedron_change(GLOBAL const real *planes, GLOBAL const real *m, int count,
                              GLOBAL const coefficients *c, vec3_r x, const surface_r *at,
                              FN(surface) *p)
{
  lane phi = lane_lit(R(0.0));
  vec3_r g = make_r(phi, phi, phi);
  for (int i = 0; i < count; ++i, planes += PLANE_STRIDE, m += PLANE_STRIDE) {
    const lane w = lane_exp2((plane_distance_r(planes, x) - at->phi) * c->plane_log2e);
    const lane change = w * plane_distance_r(m, x), tilt = change * (c->plane_log2e * LN2);
    phi = phi + change;
    g.x = g.x + (w * m[0] + tilt * (planes[0] - at->g.x));
    g.y = g.y + (w * m[1] + tilt * (planes[1] - at->g.y));
    g.z = g.z + (w * m[2] + tilt * (planes[2] - at->g.z));
  }
  p->phi = changing(at->phi, phi);
  p->g = p->gradient = changing3(at->g, g);
}

// Changes of a cloud's distance phi and gradient g when its numbers change. E_i is the exponent of
// point i, to the base e, and phi_i = n_i . (x - p_i). The distance changes by
//   sum w_i [dphi_i + (phi_i - phi) dE_i].
// g changes by the derivative of this sum with respect to x. The derivative of w_i is
// w_i (u_i - sum w u), with u_i = -(x - p_i) / width_i^2.
static void pointcloud_change(GLOBAL const real *cloud, GLOBAL const real *m, int count, vec3_r x,
                              const surface_r *at, FN(surface) *p)
{
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0));
  const outlook_r o = cloud_outlook_r(cloud, x);
  lane top = lane_lit(-REAL_MOST), sum = zero, phi = zero;
  vec3_r pull = make_r(zero, zero, zero), g = pull;
  for (int i = 1; i <= count; ++i) {
    GLOBAL const real *q = cloud + i * POINT_STRIDE;
    const vec3_r d = cloud_way_r(q, x);
    const lane exponent = cloud_exponent_r(cloud, &o, q, d);
    const ilane leads = exponent > top;
    const lane hi = lane_select(leads, exponent, top),
               e = lane_exp2(lane_select(leads, top, exponent) - hi);
    const lane keep = lane_select(leads, e, one), take = lane_select(leads, one, e);
    pull = mad3_r(d, take * -q[6], scale3_r(pull, keep));
    sum = sum * keep + take;
    top = hi;
  }
  pull = scale3_r(pull, one / sum);
  top = top + lane_log2(sum);
  for (int i = 1; i <= count; ++i) {
    GLOBAL const real *q = cloud + i * POINT_STRIDE, *by = m + i * POINT_STRIDE;
    const vec3_r d = cloud_way_r(q, x);
    const lane w = lane_exp2(cloud_exponent_r(cloud, &o, q, d) - top);
    const lane offset = cloud_distance_r(q, d) - at->phi;
    const lane along = d.x * by[0] + (d.y * by[1] + d.z * by[2]);
    const lane rise = (along + dot3_r(d, d) * by[6]) * q[6];
    const lane straight = cloud_distance_r(by, d) - (q[3] * by[0] + (q[4] * by[1] + q[5] * by[2]));
    const lane change = w * (straight + offset * rise);
    const lane tilt = w * offset * q[6], spread = tilt * (R(2.0) * by[6]), turned = w * rise;
    phi = phi + change;
    g.x = g.x + (change * (d.x * -q[6] - pull.x) + w * by[3] + turned * (q[3] - at->g.x) +
                 tilt * by[0] + spread * d.x);
    g.y = g.y + (change * (d.y * -q[6] - pull.y) + w * by[4] + turned * (q[4] - at->g.y) +
                 tilt * by[1] + spread * d.y);
    g.z = g.z + (change * (d.z * -q[6] - pull.z) + w * by[5] + turned * (q[5] - at->g.z) +
                 tilt * by[2] + spread * d.z);
  }
  p->phi = changing(at->phi, phi);
  p->g = p->gradient = changing3(at->g, g);
}

// A spline's change is the spline of its coefficients' changes. Its second derivatives matter if
// clipping moved the point.
static void grid_change(GLOBAL const real *s, GLOBAL const real *m, int levels, vec3_r x,
                        const int want, FN(surface) *p)
{
  const FN(grid_place) there = FN(grid_place_at)(s, staying3(x));
  const int order = there.some_out && want & JET_GRADIENT ? 2 : 1;
  const vec3_r u = make_r(n_value(there.u.x), n_value(there.u.y), n_value(there.u.z));
  const grid_jet_r of = grid_jet_at_r(s, levels, u, order), by = grid_jet_at_r(m, levels, u, order);
  FN(grid_jet) j;
  FN(mat3) h;
  j.phi = changing(of.phi, by.phi);
  j.g = changing3(of.g, by.g);
  j.h.xx = changing(of.h.xx, by.h.xx);
  j.h.yy = changing(of.h.yy, by.h.yy);
  j.h.zz = changing(of.h.zz, by.h.zz);
  j.h.xy = changing(of.h.xy, by.h.xy);
  j.h.xz = changing(of.h.xz, by.h.xz);
  j.h.yz = changing(of.h.yz, by.h.yz);
  FN(grid_inside)(s, &j, p, &h);
  if (there.some_out) {
    FN(grid_outside)(&there, want, &h, p);
  }
}

// Returns the effect of the changes m of half lengths and radius, and of dy, the change of the
// place in the core's frame.
static lane change_of_core(GLOBAL const real *m, const core_slopes_r *by, vec3_r dy)
{
  GLOBAL const real *lengths = m + CORE_HALF;
  const lane straight = by->ends.x * lengths[0] + by->ends.y * lengths[1] + by->ends.z * lengths[2];
  return straight + by->radius * m[CORE_WIDTH] + dot3_r(by->place, dy);
}

static void core_change(GLOBAL const real *s, GLOBAL const real *m, vec3_r x, const surface_r *at,
                        FN(surface) *p)
{
  GLOBAL const real *move = m + CORE_POSITION;
  const lane one = lane_lit(R(1.0)), none = lane_lit(R(0.0));
  const vec3_r y = core_place_r(s, x);
  const vec3_r twist = make_r(lane_lit(m[0]), lane_lit(m[1]), lane_lit(m[2]));
  const vec3_r shift =
    rotate_back_r(s, make_r(lane_lit(move[0]), lane_lit(move[1]), lane_lit(move[2])));
  const vec3_r dy = sub3_r(cross3_r(y, twist), shift);
  core_slopes_r by;
  lane slope[3];
  for (int k = 0; k < 3; ++k) {
    const vec3_r axis = make_r(k == 0 ? one : none, k == 1 ? one : none, k == 2 ? one : none);
    core_slopes_r along;
    core_slopes_of_r(s, y, axis, &by, &along);
    slope[k] = change_of_core(m, &along, dy);
  }
  const vec3_r turned = cross3_r(twist, by.place); // dy rotates with the place
  p->phi = changing(at->phi, change_of_core(m, &by, dy));
  p->g = p->gradient =
    changing3(at->g, rotate_r(s, add3_r(make_r(slope[0], slope[1], slope[2]), turned)));
}

// ---- unions: primitives of an operation that are below `most` in any lane have a share ----

static void superquadrics_along(FN(blend) *b, int count, GLOBAL const int *ranges,
                                GLOBAL const real *numbers, GLOBAL const real *m,
                                GLOBAL const coefficients *c, vec3_r x, lane most, const int want)
{
  (void)ranges;
  for (int i = 0; i < count; ++i, numbers += SUPERQUADRIC_STRIDE, m += SUPERQUADRIC_STRIDE) {
    surface_r at;
    FN(surface) p;
    superquadric_r(numbers, c, x, 0, &at);
    if (lane_any(at.phi < most)) {
      superquadric_r(numbers, c, x, JET_NORMAL | JET_GRADIENT, &at);
      superquadric_change(numbers, m, x, want, &at, &p);
      FN(blend_add)(b, c, &p, want);
    }
  }
}

static void polyhedra_along(FN(blend) *b, int count, GLOBAL const int *ranges,
                            GLOBAL const real *numbers, GLOBAL const real *m,
                            GLOBAL const coefficients *c, vec3_r x, lane most, const int want)
{
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    surface_r at;
    FN(surface) p;
    polyhedron_r(numbers + ranges[0], ranges[1], c, x, JET_NORMAL, &at);
    if (lane_any(at.phi < most)) {
      polyhedron_change(numbers + ranges[0], m + ranges[0], ranges[1], c, x, &at, &p);
      FN(blend_add)(b, c, &p, want);
    }
  }
}

static void pointclouds_along(FN(blend) *b, int count, GLOBAL const int *ranges,
                              GLOBAL const real *numbers, GLOBAL const real *m,
                              GLOBAL const coefficients *c, vec3_r x, lane most, const int want)
{
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    surface_r at;
    FN(surface) p;
    pointcloud_r(numbers + ranges[0], ranges[1], c, x, JET_NORMAL, &at);
    if (lane_any(at.phi < most)) {
      pointcloud_change(numbers + ranges[0], m + ranges[0], ranges[1], x, &at, &p);
      FN(blend_add)(b, c, &p, want);
    }
  }
}

static void grids_along(FN(blend) *b, int count, GLOBAL const int *ranges,
                        GLOBAL const real *numbers, GLOBAL const real *m,
                        GLOBAL const coefficients *c, vec3_r x, lane most, const int want)
{
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    FN(surface) p;
    grid_change(numbers + ranges[0], m + ranges[0], ranges[1], x, want, &p);
    if (lane_any(n_value(p.phi) < most)) {
      FN(blend_add)(b, c, &p, want);
    }
  }
}

// Height fields do not vary.
static void height_fields_along(FN(blend) *b, int count, GLOBAL const int *ranges,
                                GLOBAL const real *numbers, GLOBAL const real *m,
                                GLOBAL const coefficients *c, vec3_r x, lane most, const int want)
{
  (void)m;
  (void)most;
  FN(height_fields_add)(b, count, ranges, numbers, c, staying3(x), want, REAL_BIG);
}

static void cores_along(FN(blend) *b, int count, GLOBAL const int *ranges,
                        GLOBAL const real *numbers, GLOBAL const real *m,
                        GLOBAL const coefficients *c, vec3_r x, lane most, const int want)
{
  (void)ranges;
  for (int i = 0; i < count; ++i, numbers += CORE_STRIDE, m += CORE_STRIDE) {
    surface_r at;
    FN(surface) p;
    core_r(numbers, c, x, JET_NORMAL, &at);
    if (lane_any(at.phi < most)) {
      core_change(numbers, m, x, &at, &p);
      FN(blend_add)(b, c, &p, want);
    }
  }
}

static FN(blend) blend_along(GLOBAL const int *head, GLOBAL const real *shape,
                             GLOBAL const real *moves, int operation, GLOBAL const coefficients *c,
                             vec3_r x, const int want)
{
  const blend_r all = blend_all_r(head, shape, operation, c, x, 0, REAL_BIG);
  mixture_r flat;
  blend_means_r(&all, c, 0, &flat);
  const lane most = flat.phi + c->union_ln2 * CULL_BITS;
  FN(blend) b = FN(blend_start)();
  GLOBAL const int *entry = head + HEAD_ENTRY(operation, 0);
#define ADD_FAMILY_ALONG(name)                                                                \
  name##_along(&b, entry[ENTRY_COUNT], head + entry[ENTRY_RANGES], shape + entry[ENTRY_BASE], \
               moves + entry[ENTRY_BASE], c, x, most, want);                                  \
  entry += ENTRY_INTS;
  FAMILIES(ADD_FAMILY_ALONG)
#undef ADD_FAMILY_ALONG
  return b;
}

// Returns the distance and the normal at x, a place in the body's frame, with their changes along
// `moves`, by the union and the subtraction of compose.inl. `want` is JET_NORMAL, or also
// JET_GRADIENT for the distance's gradient.
static num body_along(GLOBAL const int *head, GLOBAL const real *shape, GLOBAL const real *moves,
                      GLOBAL const coefficients *c, vec3_r x, const int want, vec *normal,
                      vec *gradient)
{
  const int subtracted = head[HEAD_SUBTRACTED];
  FN(blend) b = FN(blend_start)(), plus = b;
  for (int operation = 0; operation <= (subtracted > 0); ++operation) {
    plus = b;
    b = blend_along(head, shape, moves, operation, c, x, want);
  }
  plus = subtracted ? plus : b;
  FN(mixture) m;
  FN(blend_means)(&plus, c, want, &m);
  if (subtracted) {
    FN(subtract)(&b, c, want, &m);
  }
  *normal = FN(unit)(m.raw, c->normal);
  if (want & JET_GRADIENT) {
    *gradient = m.gradient;
  }
  return m.phi;
}

static vec3_r plain_place(vec v)
{
  return make_r(n_value(v.x), n_value(v.y), n_value(v.z));
}

// ---- kernels ----

// Adds a change to the tangents of a block of a plane.
static void add_tangents(GLOBAL real *plane, int stride, num change)
{
  const lane sum = lane_load(plane + stride) + known_change(n_get_part(change, 1));
  lane_store(bounded_part(sum, COTANGENT_LIMIT), plane + stride);
}

// One work-item adds the effect of the direction `moves` of a body's parameters to the tangents of
// the body's field at a block of places of one pose. A pose has move_stride numbers, or 0 if all
// poses share them. `out` already has the field at the same places: the plane phi and, with
// `normals`, those of normals (3). points, frames and frame are as in kernels/field.h.
KERNEL void field_along_shape(GLOBAL const real *points, int point_base, int point_stride,
                              int padded, GLOBAL const real *frames, int frame,
                              GLOBAL const int *head, GLOBAL const real *shape,
                              GLOBAL const coefficients *c, GLOBAL const real *moves,
                              int move_stride, int normals, GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= padded) {
    return;
  }
  const vec x = field_point(points, point_base, point_stride, padded, frames, frame, block, pose);
  vec normal;
  const num phi = body_along(head, shape, ROW(moves, pose, move_stride), c, plain_place(x),
                             JET_NORMAL, &normal, &normal);
  const int stride = (normals ? FIELD_PLANES : 1) * padded;
  GLOBAL real *row = NUMS(out, pose, stride) + block * LANES;
  add_tangents(row, stride, phi);
  if (normals) {
    add_tangents(row + padded, stride, normal.x);
    add_tangents(row + 2 * padded, stride, normal.y);
    add_tangents(row + 3 * padded, stride, normal.z);
  }
}
