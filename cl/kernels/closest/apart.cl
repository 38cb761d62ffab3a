// Shapes apart, by the method of Gilbert, Johnson and Keerthi (1988): the point v of the Minkowski
// difference {x2 - x1} that is nearest to the origin, on LANES rows at a time. Support points are found row
// by row, for rows have shapes of their own.
//
// A support point along v gives a lower bound of the distance, |v| an upper one. The difference of both is
// formed from numbers of the shapes' own size, without the distance between them, so that it keeps its
// digits however far apart they are.
//
// Where the origin lies in the difference, or nearer than the tolerance, a row is left to closest_overlap.

// What becomes of a row that rounding stops before the tolerance (again.cl).
#if WIDE && !REAL_DOUBLE
#define CLOSEST_STUCK CLOSEST_AGAIN
#else
#define CLOSEST_STUCK CLOSEST_DEGENERATE
#endif

#define STALLS_MOST 6 // steps that gain nothing, of a row

typedef struct closest_walk {
  vec3_r body1[SIMPLEX];  // points of shape 1
  vec3_r across[SIMPLEX]; // from these to points of shape 2 put where shape 1's frame is
  ilane code[2][SIMPLEX];
  ilane there[NEWEST];
  lane weight[SIMPLEX];   // of the points, in v
  vec3_r v;
  lane q;                 // |v|^2
  lane lower;             // the lower bound of |v| along v, or along the first direction
  ilane begun;            // there is a point
  ilane active;
  int segments, triangles; // whether any lane has one or two points
} closest_walk;

static vec3_r closest_select3(ilane mask, vec3_r a, vec3_r b)
{
  return make_r(lane_select(mask, a.x, b.x), lane_select(mask, a.y, b.y), lane_select(mask, a.z, b.z));
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

// Finds support points of a side along u, of the lanes in `bits`.
static void closest_supports(const closest_shape *shapes, int bits, vec3_r u, vec3_r *out, int code[LANES])
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

// Finds points of a side by codes, of the lanes in `bits`.
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

// Keeps of the simplex what the nearest point is made of, in the lanes of `take`: the newest point goes into
// the first slot whose point has no weight.
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
    w->weight[k] = lane_select(here, best->weight[NEWEST], lane_select(take, best->weight[k], w->weight[k]));
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

// Returns the unit vector along v, or along x where v is none.
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

// Reads which lanes have a point number k to begin with.
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
static void closest_put_corner(closest_walk *w, int slot, ilane take, vec3_r x1, vec3_r x2, const lane r[9],
                               ilane code1, ilane code2)
{
  w->body1[slot] = closest_select3(take, x1, w->body1[slot]);
  w->across[slot] = closest_select3(take, sub3_r(closest_rotated(r, x2), x1), w->across[slot]);
  w->code[0][slot] = closest_select_code(take, code1, w->code[0][slot]);
  w->code[1][slot] = closest_select_code(take, code2, w->code[1][slot]);
}

// Begins with the simplex of an earlier answer: its first point counts as the newest one, unless there are
// four. Whatever it says, even if it is of another row, the next round has a bound that is certain.
static void closest_warm_start(closest_walk *w, const closest_sides *shapes, const lane r[9], lane by,
                                vec3_r t, GLOBAL const int *warm, int first, int count)
{
  ilane newest = w->active & ~w->active;
  for (int k = 0; k < SIMPLEX; ++k) {
    int code[2][LANES];
    const int bits =
      lane_bits(w->active) & closest_warm_codes(warm, first, count, k, code[0], code[1]);
    const vec3_r x1 = scale3_r(closest_recall(shapes->of[0], bits, code[0]), by);
    const vec3_r x2 = scale3_r(closest_recall(shapes->of[1], bits, code[1]), by);
    const ilane here = closest_mask_of(bits) & w->active, fresh = here & ~newest;
    const ilane code1 = closest_load_codes(code[0]), code2 = closest_load_codes(code[1]);
    if (k < NEWEST) {
      closest_put_corner(w, k, here & ~fresh, x1, x2, r, code1, code2);
      closest_put_corner(w, NEWEST, fresh, x1, x2, r, code1, code2);
      w->there[k] = here & ~fresh;
    } else if (bits) { // where all four are there slot 0 is free
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

static void closest_store_status(GLOBAL unsigned char *to, int first, int count, const real status[LANES])
{
  for (int l = 0; l < LANES && first + l < count; ++l) {
    to[first + l] = (unsigned char)status[l];
  }
}

static void closest_store_codes(GLOBAL int *simplex, int first, int count, int k, ilane there,
                                ilane code1, ilane code2)
{
  const int bits = lane_bits(there);
#if LANES == 1
  if (first < count) {
    GLOBAL int *row = ROW(simplex, first, 2 * SIMPLEX) + 2 * k;
    row[0] = bits ? (int)code1 : -1;
    row[1] = bits ? (int)code2 : -1;
  }
#else
  ilane_scalar t[2][LANES];
  NUM_CAT(vstore, LANES)(code1, 0, t[0]);
  NUM_CAT(vstore, LANES)(code2, 0, t[1]);
  for (int l = 0; l < LANES && first + l < count; ++l) {
    GLOBAL int *row = ROW(simplex, first + l, 2 * SIMPLEX) + 2 * k;
    row[0] = bits >> l & 1 ? (int)t[0][l] : -1;
    row[1] = bits >> l & 1 ? (int)t[1][l] : -1;
  }
#endif
}

// ---- points and segments, of which spheres and capsules are made ----

// What is between the point a z of one segment and t + b axis of the other, normal to those whose ends it does
// not touch: near each other the difference alone would not be, for rounding.
static vec3_r closest_segment_gap(vec3_r axis, vec3_r t, lane a, lane b, ilane free1, ilane free2, ilane askew)
{
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0));
  const vec3_r plain = mad3_r(axis, b, make_r(t.x, t.y, t.z - a));
  const vec3_r across = make_r(plain.x, plain.y, lane_select(free1, zero, plain.z));
  const vec3_r less = mad3_r(axis, -dot3_r(axis, plain), plain);
  const vec3_r normal = make_r(-axis.y, axis.x, zero);
  const lane nn = dot3_r(normal, normal);
  const lane height = dot3_r(normal, t) / lane_select(askew, nn, one);
  const vec3_r single = closest_select3(free2, less, across);
  return closest_select3(free1 & free2 & askew, scale3_r(normal, height), single);
}

// Solves the lanes whose shapes both are points or segments in closed form: the nearest points of two
// segments, by their crossing seen along both, each then put within its ends (Lumelsky 1985). What they have
// in common with other rows is v, the point of shape 1 and the bound.
static ilane closest_segments(const closest_sides *shapes, const closest_pair *p, vec3_r t, lane by,
                              closest_walk *w)
{
  real half_length[2][LANES];
  int bits = 0;
  for (int l = 0; l < LANES; ++l) {
    int both = 1;
    for (int side = 0; side < 2; ++side) {
      const closest_shape *s = &shapes->of[side][l];
      both &= (s->kind == SHAPE_POINT) | (s->kind == SHAPE_CAPSULE);
      half_length[side][l] = s->kind == SHAPE_CAPSULE ? s->record[SHAPE_SIZE] : R(0.0);
    }
    bits |= both << l;
  }
  const ilane these = closest_mask_of(bits) & p->good;
  if (!bits) {
    return these;
  }
  const lane zero = lane_lit(R(0.0));
  const lane h1 = lane_load(half_length[0]) * by, h2 = lane_load(half_length[1]) * by;
  const vec3_r axis = make_r(p->r[2], p->r[5], p->r[8]); // shape 2's, where shape 1's is z
  const lane sine2 = axis.x * axis.x + axis.y * axis.y; // by |z x axis|, which keeps its digits
  // (t x axis) . (z x axis), the way along z to the crossing, times sine2.
  const lane cross = (t.z * axis.x - t.x * axis.z) * axis.x - (t.y * axis.z - t.z * axis.y) * axis.y;
  const ilane askew = sine2 > lane_lit(R(16.0) * REAL_EPSILON * REAL_EPSILON);
  const lane free = lane_select(askew, cross / lane_select(askew, sine2, lane_lit(R(1.0))), t.z);
  lane a = lane_max(lane_min(free, h1), -h1);
  const lane b = lane_max(lane_min(axis.z * a - dot3_r(axis, t), h2), -h2);
  a = lane_max(lane_min(t.z + b * axis.z, h1), -h1);
  const vec3_r v = closest_segment_gap(axis, t, a, b, lane_abs(a) < h1, lane_abs(b) < h2, askew);
  const vec3_r u = closest_unit(v);
  const lane open = (h1 * lane_abs(u.z) - a * u.z) + (h2 * lane_abs(dot3_r(u, axis)) + b * dot3_r(u, axis));
  w->v = closest_select3(these, v, w->v);
  w->q = lane_select(these, dot3_r(v, v), w->q);
  w->lower = lane_select(these, lane_sqrt(w->q) - open, w->lower);
  w->body1[0] = closest_select3(these, make_r(zero, zero, a), w->body1[0]);
  w->weight[0] = lane_select(these, lane_lit(R(1.0)), w->weight[0]);
  return these;
}

// All ends of both segments as a simplex, for rows that closest_segments solves.
static void closest_segment_codes(GLOBAL int *simplex, const closest_sides *shapes, int row, int l)
{
  GLOBAL int *to = ROW(simplex, row, 2 * SIMPLEX);
  const int first = shapes->of[0][l].kind == SHAPE_CAPSULE, second = shapes->of[1][l].kind == SHAPE_CAPSULE;
  for (int k = 0; k < SIMPLEX; ++k) {
    const int there = ((k & 1) <= first) & (k >> 1 <= second);
    to[2 * k] = there ? k & 1 : -1;
    to[2 * k + 1] = there ? k >> 1 : -1;
  }
}

// A point of shape 1's own frame in the world.
static vec3_r closest_to_world(const closest_pair *p, vec3_r x)
{
  return add3_r(p->frame[0].t, add3_r(p->offset[0], closest_rotated(p->m[0], x)));
}

// One work-item takes LANES rows. warm (count, 4, 2) codes to begin with, where has_warm; tolerance a share
// of both spans; cutoff a distance; outputs d, gap (count), n, p1, p2 (count, 3), status, iterations (count),
// simplex (count, 4, 2).
KERNEL void closest_apart(GLOBAL const int *ints, GLOBAL const real *numbers, GLOBAL const int *one,
                          GLOBAL const int *two, int stride, GLOBAL const real *pose1,
                          GLOBAL const real *pose2, int width, int count, GLOBAL const int *warm,
                          int has_warm, real tolerance, real cutoff, int iterations_most,
                          GLOBAL real *d, GLOBAL real *n, GLOBAL real *p1, GLOBAL real *p2,
                          GLOBAL real *gap, GLOBAL unsigned char *status, GLOBAL int *iterations,
                          GLOBAL int *simplex)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  closest_sides shapes;
  closest_pair p;
  closest_take_shapes(&shapes, &rows, first);
  closest_place(&p, &rows, &shapes, first);
  const lane zero = lane_lit(R(0.0)), none = zero;
  const lane far = lane_max(lane_abs(p.t.x), lane_max(lane_abs(p.t.y), lane_abs(p.t.z)));
  const lane scale = closest_scale(p.spans + far), by = R(1.0) / scale;
  const lane radii = p.radius[0] + p.radius[1];
  const lane bound = p.spans * by * tolerance, touching = p.spans * by * real_min(tolerance, TOUCHING);
  const lane stop = (cutoff + radii) * by;
  const vec3_r t = scale3_r(p.t, by);
  closest_walk w = closest_begin(p.good);
  const ilane segments = closest_segments(&shapes, &p, t, by, &w);
  w.active &= ~segments;
  const vec3_r ahead = closest_unit(t);
  ilane inside = zero > zero, settled = inside, stuck = segments;
  ilane pending = segments & (w.q <= touching * touching), beyond = segments & ~pending & (w.lower > stop);
  lane rounds = lane_select(segments, lane_lit(R(1.0)), zero), stalls = zero;
  if (has_warm) {
    closest_warm_start(&w, &shapes, p.r, by, t, warm, first, count);
  }
  for (int it = 0; it < iterations_most && lane_any(w.active); ++it) {
    const int bits = lane_bits(w.active);
    int code[2][LANES];
    const lane length = lane_sqrt(w.q);
    const vec3_r u = closest_select3(w.begun, closest_unit(w.v), ahead);
    vec3_r x1, x2;
    closest_supports(shapes.of[0], bits, u, &x1, code[0]);
    closest_supports(shapes.of[1], bits, neg3_r(closest_rotated_back(p.r, u)), &x2, code[1]);
    // A row that has ended keeps its last point.
    closest_put_corner(&w, NEWEST, w.active, scale3_r(x1, by), scale3_r(x2, by), p.r,
                       closest_load_codes(code[0]), closest_load_codes(code[1]));
    const ilane fresh = w.active;
    const vec3_r less = sub3_r(closest_weighted(w.weight, w.across), w.across[NEWEST]);
    const lane at_most = lane_select(w.begun, length - dot3_r(u, less),
                                     dot3_r(u, add3_r(w.across[NEWEST], t)));
    w.lower = lane_select(fresh, at_most, w.lower);
    const ilane done = fresh & w.begun & (length - w.lower <= bound);
    vec3_r corner[SIMPLEX];
    for (int k = 0; k < SIMPLEX; ++k) {
      corner[k] = add3_r(w.across[k], t);
    }
    const closest_nearest_r best = closest_search_r(corner, w.there, w.segments, w.triangles);
    const ilane step = w.active & ~done;
    const ilane around = step & best.inside & (w.lower <= bound); // a bound above it is certain
    // A step that gains nothing up to rounding may still turn v to where the bound is better, but not often.
    const ilane still = w.begun & (best.q >= w.q);
    stalls += lane_select(step & still, lane_lit(R(1.0)), zero);
    const ilane worse = still & ((best.q > w.q * (R(1.0) + R(8.0) * REAL_EPSILON)) |
                                 (stalls > lane_lit((real)STALLS_MOST)));
    // On the last look a further v would have no bound; the first one has that of the first direction.
    const ilane bounded = closest_mask_of(it + 1 < iterations_most ? ~0 : 0) | ~w.begun;
    const ilane halted = step & ~around & fresh & worse;
    const ilane take = step & ~around & ~worse & bounded;
    closest_keep(&w, &best, take);
    const ilane touch = take & (w.q <= touching * touching);
    const ilane past = fresh & step & ~around & ~touch & (w.lower > stop);
    w.begun |= take;
    inside |= around;
    pending |= around | touch;
    settled |= done;
    stuck |= halted;
    beyond |= past & ~halted;
    rounds += lane_select(w.active, lane_lit(R(1.0)), zero);
    w.active &= ~(done | around | touch | halted | past);
  }
  const lane length = lane_sqrt(w.q), open = lane_max(length - w.lower, zero);
  const ilane close = settled | ((w.begun | segments) & (open <= bound));
  const vec3_r normal = closest_rotated(p.m[0], closest_unit(w.v));
  const vec3_r at = scale3_r(closest_weighted(w.weight, w.body1), scale);
  const lane distance = lane_select(beyond, w.lower, length) * scale - radii;
  const vec3_r world1 = mad3_r(normal, p.radius[0], closest_to_world(&p, at));
  const vec3_r world2 = mad3_r(normal, distance, world1);
  real ends[LANES], counts[LANES];
  const lane code = lane_select(
    pending, lane_lit((real)CLOSEST_PENDING),
    lane_select(beyond, lane_lit((real)CLOSEST_BEYOND),
                lane_select(close, lane_lit((real)CLOSEST_CONVERGED),
                            lane_select(stuck, lane_lit((real)CLOSEST_STUCK),
                                        lane_lit((real)CLOSEST_ITERATION_LIMIT)))));
  lane_store(lane_select(p.good, code, lane_lit((real)CLOSEST_BAD_INPUT)), ends);
  closest_store_status(status, first, count, ends);
  lane_store(rounds, counts);
  for (int l = 0; l < LANES && first + l < count; ++l) {
    iterations[first + l] = (int)counts[l];
  }
  for (int k = 0; k < NEWEST; ++k) {
    closest_store_codes(simplex, first, count, k, w.there[k] & p.good, w.code[0][k], w.code[1][k]);
  }
  closest_store_codes(simplex, first, count, NEWEST, inside, w.code[0][NEWEST], w.code[1][NEWEST]);
  const int ended = lane_bits(segments);
  for (int l = 0; l < MIN_INT(LANES, count - first); ++l) {
    if (ended >> l & 1) {
      closest_segment_codes(simplex, &shapes, first + l, l);
    }
  }
  store_part(d, NO_ORDER, 0, first, count, 1, lane_select(p.good, distance, none));
  store_part(gap, NO_ORDER, 0, first, count, 1, lane_select(p.good, open * scale, none));
  const vec3_r nothing = make_r(none, none, none);
  store_row3(n, 1, NO_ORDER, 0, first, count, closest_select3(p.good, normal, nothing));
  store_row3(p1, 1, NO_ORDER, 0, first, count, closest_select3(p.good, world1, nothing));
  store_row3(p2, 1, NO_ORDER, 0, first, count, closest_select3(p.good, world2, nothing));
}
