// The state of a walk to the nearest point of the Minkowski difference, for LANES rows: a simplex
// of up to four points, its nearest point v, and the bound along v.

typedef struct closest_walk {
  vec3_r body1[SIMPLEX];  // points of shape 1
  vec3_r across[SIMPLEX]; // from these to points of shape 2, whose frame is moved to the origin of
                          // shape 1's
  ilane code[2][SIMPLEX];
  ilane there[NEWEST];
  lane weight[SIMPLEX]; // of the points, in v
  vec3_r v;
  lane q;      // |v|^2
  lane lower;  // the lower bound of |v| along v, or along the first direction
  ilane begun; // v exists
  ilane active;
  int segments, triangles; // whether any lane has one or two points
} closest_walk;

static vec3_r closest_select3(ilane mask, vec3_r a, vec3_r b)
{
  return make_r(lane_select(mask, a.x, b.x), lane_select(mask, a.y, b.y),
                lane_select(mask, a.z, b.z));
}

static void closest_store3(vec3_r v, real to[3][LANES])
{
  lane_store(v.x, to[0]);
  lane_store(v.y, to[1]);
  lane_store(v.z, to[2]);
}

static vec3_r closest_load3(real from[3][LANES])
{
  return make_r(lane_load(from[0]), lane_load(from[1]), lane_load(from[2]));
}

// Finds support points of a side along u, for the lanes in `bits`.
static void closest_supports(const closest_shape *shapes, int bits, vec3_r u, vec3_r *out,
                             int code[LANES])
{
  real from[3][LANES], to[3][LANES];
  closest_store3(u, from);
  for (int l = 0; l < LANES; ++l) {
    real point[3] = {R(0.0), R(0.0), R(0.0)};
    if (bits >> l & 1) {
      const real along[3] = {from[0][l], from[1][l], from[2][l]};
      code[l] = closest_support(&shapes[l], along, point);
    } else {
      code[l] = 0;
    }
    to[0][l] = point[0];
    to[1][l] = point[1];
    to[2][l] = point[2];
  }
  *out = closest_load3(to);
}

// Finds points of a side by codes, for the lanes in `bits`.
static vec3_r closest_recall(const closest_shape *shapes, int bits, const int code[LANES])
{
  real to[3][LANES];
  for (int l = 0; l < LANES; ++l) {
    real point[3] = {R(0.0), R(0.0), R(0.0)};
    if (bits >> l & 1) {
      closest_point_of_code(&shapes[l], code[l], point);
    }
    to[0][l] = point[0];
    to[1][l] = point[1];
    to[2][l] = point[2];
  }
  return closest_load3(to);
}

static ilane closest_load_codes(const int code[LANES])
{
#if LANES == 1
  return (ilane)code[0];
#else
  ilane_scalar t[LANES];
  for (int l = 0; l < LANES; ++l) {
    t[l] = (ilane_scalar)code[l];
  }
  return NUM_CAT(vload, LANES)(0, t);
#endif
}

static ilane closest_select_code(ilane mask, ilane a, ilane b)
{
#if LANES == 1
  return mask ? a : b;
#else
  return select(b, a, mask);
#endif
}

// Retains the points of the simplex with a weight in the nearest point, in the lanes of `take`. The
// newest point is stored in the first slot whose point has no weight.
static void closest_keep(closest_walk *w, const closest_nearest_r *best, ilane take)
{
  const lane zero = lane_lit(R(0.0));
  ilane placed = zero > zero;
  w->segments = w->triangles = 0;
  for (int k = 0; k < NEWEST; ++k) {
    const ilane stays = best->weight[k] > zero;
    const ilane here = take & ~stays & ~placed & (best->weight[NEWEST] > zero);
    w->body1[k] = closest_select3(here, w->body1[NEWEST], w->body1[k]);
    w->across[k] = closest_select3(here, w->across[NEWEST], w->across[k]);
    w->code[0][k] = closest_select_code(here, w->code[0][NEWEST], w->code[0][k]);
    w->code[1][k] = closest_select_code(here, w->code[1][NEWEST], w->code[1][k]);
    w->weight[k] =
      lane_select(here, best->weight[NEWEST], lane_select(take, best->weight[k], w->weight[k]));
    w->there[k] = (take & (stays | here)) | (~take & w->there[k]);
    placed |= here;
  }
  w->segments = lane_any(w->there[0] | w->there[1] | w->there[2]);
  w->triangles = lane_any((w->there[0] & w->there[1]) | (w->there[1] & w->there[2]) |
                          (w->there[2] & w->there[0]));
  w->v = closest_select3(take, best->x, w->v);
  w->q = lane_select(take, best->q, w->q);
}

static closest_walk closest_begin(ilane active)
{
  closest_walk w;
  const lane zero = lane_lit(R(0.0));
  const vec3_r none = make_r(zero, zero, zero);
  for (int k = 0; k < SIMPLEX; ++k) {
    w.body1[k] = w.across[k] = none;
    w.code[0][k] = w.code[1][k] = zero > zero;
    w.weight[k] = zero;
  }
  for (int k = 0; k < NEWEST; ++k) {
    w.there[k] = zero > zero;
  }
  w.v = none;
  w.q = zero;
  w.lower = lane_lit(-REAL_BIG);
  w.begun = zero > zero;
  w.active = active;
  w.segments = w.triangles = 0;
  return w;
}

// Returns the unit vector along v, or along x if v is zero.
static vec3_r closest_unit(vec3_r v)
{
  const lane most = lane_max(lane_abs(v.x), lane_max(lane_abs(v.y), lane_abs(v.z)));
  const ilane none = most < lane_lit(REAL_TINY);
  const lane by = R(1.0) / lane_select(none, lane_lit(R(1.0)), most);
  const vec3_r u = make_r(lane_select(none, lane_lit(R(1.0)), v.x * by), v.y * by, v.z * by);
  return scale3_r(u, R(1.0) / lane_sqrt(dot3_r(u, u)));
}

// The sum of a simplex's points by their weights in v.
static vec3_r closest_weighted(const lane weight[SIMPLEX], const vec3_r points[SIMPLEX])
{
  return mad3_r(points[0], weight[0], mad3_r(points[1], weight[1], scale3_r(points[2], weight[2])));
}

// Reads the codes of point k of the initial simplex. Returns, as bits, the lanes that have such a
// point.
static int closest_warm_codes(GLOBAL const int *warm, int first, int count, int k, int code1[LANES],
                              int code2[LANES])
{
  int bits = 0;
  for (int l = 0; l < LANES; ++l) {
    GLOBAL const int *row = ROW(warm, MIN_INT(first + l, count - 1), 2 * SIMPLEX) + 2 * k;
    code1[l] = row[0];
    code2[l] = row[1];
    bits |= (row[0] >= 0 && row[1] >= 0) << l;
  }
  return bits;
}

static ilane closest_mask_of(int bits)
{
#if LANES == 1
  return (ilane)(bits & 1);
#else
  return ((ilane)bits & LANE_BITS) != (ilane)0;
#endif
}

// Puts a point pair into a slot, in the lanes of `take`.
static void closest_put_corner(closest_walk *w, int slot, ilane take, vec3_r x1, vec3_r x2,
                               const lane r[9], ilane code1, ilane code2)
{
  w->body1[slot] = closest_select3(take, x1, w->body1[slot]);
  w->across[slot] = closest_select3(take, sub3_r(closest_rotated(r, x2), x1), w->across[slot]);
  w->code[0][slot] = closest_select_code(take, code1, w->code[0][slot]);
  w->code[1][slot] = closest_select_code(take, code2, w->code[1][slot]);
}

// Begins with the simplex of an earlier result. Its first point counts as the newest one, unless
// there are four. Even if the simplex belongs to another row, the next round has a certain bound.
static void closest_warm_start(closest_walk *w, const closest_sides *shapes, const lane r[9],
                               lane by, vec3_r t, GLOBAL const int *warm, int first, int count)
{
  ilane newest = w->active & ~w->active;
  for (int k = 0; k < SIMPLEX; ++k) {
    int code[2][LANES];
    const int bits = lane_bits(w->active) &
                     closest_warm_codes(warm, first, count, k, code[0], code[1]);
    const vec3_r x1 = scale3_r(closest_recall(shapes->of[0], bits, code[0]), by);
    const vec3_r x2 = scale3_r(closest_recall(shapes->of[1], bits, code[1]), by);
    const ilane here = closest_mask_of(bits) & w->active, fresh = here & ~newest;
    const ilane code1 = closest_load_codes(code[0]), code2 = closest_load_codes(code[1]);
    if (k < NEWEST) {
      closest_put_corner(w, k, here & ~fresh, x1, x2, r, code1, code2);
      closest_put_corner(w, NEWEST, fresh, x1, x2, r, code1, code2);
      w->there[k] = here & ~fresh;
    } else if (bits) { // with all four points slot 0 is free
      const ilane full = here & newest;
      w->body1[0] = closest_select3(full, w->body1[NEWEST], w->body1[0]);
      w->across[0] = closest_select3(full, w->across[NEWEST], w->across[0]);
      w->code[0][0] = closest_select_code(full, w->code[0][NEWEST], w->code[0][0]);
      w->code[1][0] = closest_select_code(full, w->code[1][NEWEST], w->code[1][0]);
      w->there[0] |= full;
      closest_put_corner(w, NEWEST, here, x1, x2, r, code1, code2);
    }
    newest |= here;
  }
  vec3_r corner[SIMPLEX];
  for (int k = 0; k < SIMPLEX; ++k) {
    corner[k] = add3_r(w->across[k], t);
  }
  const closest_nearest_r best = closest_search_r(corner, w->there, 1, 1);
  closest_keep(w, &best, newest);
  w->begun |= newest;
}
