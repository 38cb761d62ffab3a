// Separated shapes, by the method of Gilbert, Johnson and Keerthi (1988): it finds the point v of
// the Minkowski difference {x2 - x1} that is nearest to the origin, for LANES rows at a time.
// Support points are found row by row, because each row has its own shapes.
//
// A support point along v gives a lower bound of the distance, and |v| an upper one. Their
// difference is computed from numbers of the shapes' size, without the distance between the shapes.
// It therefore keeps its digits however far apart they are.
//
// If the origin is in the difference, or nearer than the tolerance, the row is left to
// closest_overlap.

// The status of a row that rounding stops before the tolerance is met (again.cl).
#if WIDE && !REAL_DOUBLE
#define CLOSEST_STUCK CLOSEST_AGAIN
#else
#define CLOSEST_STUCK CLOSEST_DEGENERATE
#endif

#define STALLS_MOST 6 // steps per row without progress

// The limits of a walk, per row and in units of `scale`: the tolerance of the gap, the distance
// that counts as touching, and the distance between the shapes without their radii at which a row
// ends.
typedef struct closest_limits {
  lane scale, by; // by: its inverse
  lane bound, touching, stop;
  int iterations_most;
} closest_limits;

static closest_limits closest_limits_of(const closest_pair *p, real tolerance, real cutoff,
                                        int iterations_most)
{
  closest_limits m;
  const lane far = lane_max(lane_abs(p->t.x), lane_max(lane_abs(p->t.y), lane_abs(p->t.z)));
  m.scale = closest_scale(p->spans + far);
  m.by = R(1.0) / m.scale;
  m.bound = p->spans * m.by * tolerance;
  m.touching = p->spans * m.by * real_min(tolerance, TOUCHING);
  m.stop = (cutoff + (p->radius[0] + p->radius[1])) * m.by;
  m.iterations_most = iterations_most;
  return m;
}

// How rows have ended. inside: the origin is in the row's tetrahedron; pending: inside or touching.
typedef struct closest_ends {
  ilane segments, inside, pending, settled, stuck, beyond;
  lane rounds, stalls;
} closest_ends;

static closest_ends closest_begin_ends(const closest_walk *w, const closest_limits *m,
                                       ilane segments)
{
  const lane zero = lane_lit(R(0.0));
  closest_ends e;
  e.segments = e.stuck = segments;
  e.inside = e.settled = zero > zero;
  e.pending = segments & (w->q <= m->touching * m->touching);
  e.beyond = segments & ~e.pending & (w->lower > m->stop);
  e.rounds = lane_select(segments, lane_lit(R(1.0)), zero);
  e.stalls = zero;
  return e;
}

// Finds the farthest points along v, or at the start along the direction between the shapes, and
// the bound that they give. A row that has ended retains its last point.
static void closest_look(closest_walk *w, const closest_sides *shapes, const closest_pair *p,
                         lane by, vec3_r t, vec3_r ahead)
{
  const int bits = lane_bits(w->active);
  const vec3_r u = closest_select3(w->begun, closest_unit(w->v), ahead);
  int code[2][LANES];
  vec3_r x1, x2;
  closest_supports(shapes->of[0], bits, u, &x1, code[0]);
  closest_supports(shapes->of[1], bits, neg3_r(closest_rotated_back(p->r, u)), &x2, code[1]);
  closest_put_corner(w, NEWEST, w->active, scale3_r(x1, by), scale3_r(x2, by), p->r,
                     closest_load_codes(code[0]), closest_load_codes(code[1]));
  const vec3_r less = sub3_r(closest_weighted(w->weight, w->across), w->across[NEWEST]);
  const lane first = dot3_r(u, add3_r(w->across[NEWEST], t));
  const lane at_most = lane_select(w->begun, lane_sqrt(w->q) - dot3_r(u, less), first);
  w->lower = lane_select(w->active, at_most, w->lower);
}

// Steps to the nearest point of the simplex with its newest point, or ends rows. `last` is set in
// the last round.
static void closest_advance(closest_walk *w, closest_ends *e, const closest_limits *m, vec3_r t,
                            int last)
{
  const lane one = lane_lit(R(1.0)), zero = lane_lit(R(0.0));
  const ilane done = w->active & w->begun & (lane_sqrt(w->q) - w->lower <= m->bound);
  const ilane step = w->active & ~done;
  vec3_r corner[SIMPLEX];
  for (int k = 0; k < SIMPLEX; ++k) {
    corner[k] = add3_r(w->across[k], t);
  }
  const closest_nearest_r best = closest_search_r(corner, w->there, w->segments, w->triangles);
  const ilane around = step & best.inside & (w->lower <= m->bound); // a bound above it is certain
  // A step without progress up to rounding may still turn v to a better bound, but not often.
  const ilane still = w->begun & (best.q >= w->q);
  e->stalls += lane_select(step & still, one, zero);
  const ilane worse = still & ((best.q > w->q * (R(1.0) + R(8.0) * REAL_EPSILON)) |
                               (e->stalls > lane_lit((real)STALLS_MOST)));
  // In the last round a new v would have no bound. The first point has the bound of the first
  // direction.
  const ilane bounded = closest_mask_of(last ? 0 : ~0) | ~w->begun;
  const ilane halted = step & ~around & worse;
  const ilane take = step & ~around & ~worse & bounded;
  closest_keep(w, &best, take);
  const ilane touch = take & (w->q <= m->touching * m->touching);
  // A row that is certainly beyond the cutoff ends as such, even if it also ends for another
  // reason.
  const ilane past = w->active & ~around & ~touch & ~halted & (w->lower > m->stop);
  w->begun |= take;
  e->inside |= around;
  e->pending |= around | touch;
  e->settled |= done & ~past;
  e->stuck |= halted;
  e->beyond |= past;
  e->rounds += lane_select(w->active, one, zero);
  w->active &= ~(done | around | touch | halted | past);
}

// ---- output ----

typedef struct closest_answers {
  GLOBAL real *d, *n, *p1, *p2, *gap;
  GLOBAL unsigned char *status;
  GLOBAL int *iterations, *simplex;
} closest_answers;

static void closest_store_status(GLOBAL unsigned char *to, int first, int count,
                                 const real status[LANES])
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

static void closest_store_ends(const closest_answers *to, const closest_walk *w,
                               const closest_ends *e, const closest_sides *shapes, ilane good,
                               ilane close, int first, int count)
{
  real ends[LANES], counts[LANES];
  const lane open =
    lane_select(e->stuck, lane_lit((real)CLOSEST_STUCK), lane_lit((real)CLOSEST_ITERATION_LIMIT));
  const lane settled = lane_select(close, lane_lit((real)CLOSEST_CONVERGED), open);
  const lane apart = lane_select(e->beyond, lane_lit((real)CLOSEST_BEYOND), settled);
  const lane all = lane_select(e->pending, lane_lit((real)CLOSEST_PENDING), apart);
  lane_store(lane_select(good, all, lane_lit((real)CLOSEST_BAD_INPUT)), ends);
  closest_store_status(to->status, first, count, ends);
  lane_store(e->rounds, counts);
  for (int k = 0; k < NEWEST; ++k) {
    closest_store_codes(to->simplex, first, count, k, w->there[k] & good, w->code[0][k],
                        w->code[1][k]);
  }
  closest_store_codes(to->simplex, first, count, NEWEST, e->inside, w->code[0][NEWEST],
                      w->code[1][NEWEST]);
  const int by_form = lane_bits(e->segments);
  for (int l = 0; l < MIN_INT(LANES, count - first); ++l) {
    to->iterations[first + l] = (int)counts[l];
    if (by_form >> l & 1) {
      closest_segment_codes(to->simplex, shapes, first + l, l);
    }
  }
}

// Transforms a point of shape 1's own frame to the world.
static vec3_r closest_to_world(const closest_pair *p, vec3_r x)
{
  return add3_r(p->frame[0].t, add3_r(p->offset[0], closest_rotated(p->m[0], x)));
}

static void closest_write_walk(const closest_answers *to, const closest_walk *w,
                               const closest_ends *e, const closest_sides *shapes,
                               const closest_pair *p, const closest_limits *m, int first, int count)
{
  const lane none = lane_lit(R(0.0)), length = lane_sqrt(w->q),
             open = lane_max(length - w->lower, none);
  const ilane close = e->settled | ((w->begun | e->segments) & (open <= m->bound));
  const lane distance =
    lane_select(e->beyond, w->lower, length) * m->scale - (p->radius[0] + p->radius[1]);
  const vec3_r n = closest_rotated(p->m[0], closest_unit(w->v));
  const vec3_r at = scale3_r(closest_weighted(w->weight, w->body1), m->scale);
  const vec3_r p1 = mad3_r(n, p->radius[0], closest_to_world(p, at)), p2 = mad3_r(n, distance, p1);
  const lane unknown = lane_lit(REAL_NAN); // a distance of 0 would mean touching
  const vec3_r nothing = make_r(unknown, unknown, unknown);
  closest_store_ends(to, w, e, shapes, p->good, close, first, count);
  store_part(to->d, NO_ORDER, 0, first, count, 1, lane_select(p->good, distance, unknown));
  store_part(to->gap, NO_ORDER, 0, first, count, 1, lane_select(p->good, open * m->scale, unknown));
  store_row3(to->n, 1, NO_ORDER, 0, first, count, closest_select3(p->good, n, nothing));
  store_row3(to->p1, 1, NO_ORDER, 0, first, count, closest_select3(p->good, p1, nothing));
  store_row3(to->p2, 1, NO_ORDER, 0, first, count, closest_select3(p->good, p2, nothing));
}

// One work-item handles LANES rows. warm (count, 4, 2) has initial codes if has_warm is set;
// tolerance is a share of both spans; cutoff is a distance. The outputs are d, gap (count), n, p1,
// p2 (count, 3), status, iterations (count), simplex (count, 4, 2). Reals of a row with a bad pose
// are NaN.
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
  const closest_answers to = {d, n, p1, p2, gap, status, iterations, simplex};
  closest_sides shapes;
  closest_pair p;
  closest_take_shapes(&shapes, &rows, first);
  closest_place(&p, &rows, &shapes, first);
  const closest_limits m = closest_limits_of(&p, tolerance, cutoff, iterations_most);
  const vec3_r t = scale3_r(p.t, m.by), ahead = closest_unit(t);
  closest_walk w = closest_begin(p.good);
  const ilane segments = closest_segments(&shapes, &p, t, m.by, &w);
  closest_ends e = closest_begin_ends(&w, &m, segments);
  w.active &= ~segments;
  if (has_warm) {
    closest_warm_start(&w, &shapes, p.r, m.by, t, warm, first, count);
  }
  for (int it = 0; it < m.iterations_most && lane_any(w.active); ++it) {
    closest_look(&w, &shapes, &p, m.by, t, ahead);
    closest_advance(&w, &e, &m, t, it + 1 >= m.iterations_most);
  }
  closest_write_walk(&to, &w, &e, &shapes, &p, &m, first, count);
}
