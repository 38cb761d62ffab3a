// Shapes that overlap, or touch within the tolerance: the rows that closest_apart leaves. The depth
// is that of the origin in the Minkowski difference. A polytope of support points grows inside the
// difference until no face of the difference can be nearer than the best face found.

// ---- the first tetrahedron ----

#define CANDIDATES 16

typedef struct closest_candidates {
  wide x[CANDIDATES][POLYTOPE_CORNER];
  int code[CANDIDATES][2];
  int count, given; // given: those of the row's simplex, which are the first
} closest_candidates;

static void closest_add_candidate(closest_candidates *c, const closest_view *v,
                                  const wide outward[3])
{
  closest_corner_along(v, outward, c->x[c->count], c->code[c->count]);
  ++c->count;
}

static void closest_take_simplex(closest_candidates *c, const closest_view *v,
                                 GLOBAL const int *simplex)
{
  c->count = 0;
  for (int k = 0; k < SIMPLEX; ++k) {
    if (simplex[2 * k] >= 0) {
      real x1[3], x2[3];
      c->code[c->count][0] = simplex[2 * k];
      c->code[c->count][1] = simplex[2 * k + 1];
      closest_point_of_code(&v->of[0], simplex[2 * k], x1);
      closest_point_of_code(&v->of[1], simplex[2 * k + 1], x2);
      closest_corner(v, x1, x2, c->x[c->count]);
      ++c->count;
    }
  }
  c->given = c->count;
}

static void closest_less(const wide a[3], const wide b[3], wide out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = a[k] - b[k];
  }
}

static void closest_swap(closest_candidates *c, int i, int j)
{
  for (int k = 0; k < POLYTOPE_CORNER; ++k) {
    const wide t = c->x[i][k];
    c->x[i][k] = c->x[j][k];
    c->x[j][k] = t;
  }
  for (int k = 0; k < 2; ++k) {
    const int t = c->code[i][k];
    c->code[i][k] = c->code[j][k];
    c->code[j][k] = t;
  }
}

// Moves the candidate that is farthest from the span of the earlier ones to place i, 1 to 3, and
// returns its distance. `span` is the direction of the line, or the normal of the plane, and need
// not be a unit vector.
static wide closest_choose(closest_candidates *c, int i, const wide span[3])
{
  const wide by = i == 1 ? (wide)1
                         : (wide)1 / wide_sqrt(wide_max(closest_dot(span, span), REAL_TINY));
  wide most = (wide)-1;
  int best = i;
  for (int j = i; j < c->count; ++j) {
    wide e[3], across[3];
    closest_less(c->x[j], c->x[0], e);
    closest_cross(e, span, across);
    const wide away = i == 1   ? wide_sqrt(closest_dot(e, e))
                      : i == 2 ? wide_sqrt(closest_dot(across, across)) * by
                               : wide_abs(closest_dot(e, span)) * by;
    best = away > most ? j : best;
    most = wide_max(most, away);
  }
  closest_swap(c, i, best);
  return most;
}

// Writes a vector normal to u, with a length between half of u's and u's.
static void closest_normal_to(const wide u[3], wide out[3])
{
  const wide x = wide_abs(u[0]), y = wide_abs(u[1]), z = wide_abs(u[2]);
  const int least = x <= y && x <= z ? 0 : y <= z ? 1 : 2;
  const wide axis[3] = {least == 0, least == 1, least == 2};
  closest_cross(u, axis, out);
}

// Spreads candidates over the difference so that the first four form a tetrahedron, and returns the
// number of dimensions that they span. If these are fewer than three, `normal` is a direction
// without extent.
static int closest_spread(closest_candidates *c, const closest_view *v, wide normal[3])
{
  const wide flat = FLAT_SHARE;
  wide e1[3], e2[3];
  for (int k = 0; k < 6; ++k) {
    const wide sign = k & 1 ? (wide)-1 : (wide)1;
    const wide along[3] = {k / 2 == 0 ? sign : (wide)0, k / 2 == 1 ? sign : (wide)0,
                           k / 2 == 2 ? sign : (wide)0};
    closest_add_candidate(c, v, along);
  }
  normal[0] = (wide)1;
  normal[1] = normal[2] = (wide)0;
  if (closest_choose(c, 1, normal) <= flat) {
    return 0;
  }
  closest_less(c->x[1], c->x[0], e1);
  closest_normal_to(e1, normal);
  closest_cross(e1, normal, e2);
  const wide back1[3] = {-normal[0], -normal[1], -normal[2]}, back2[3] = {-e2[0], -e2[1], -e2[2]};
  closest_add_candidate(c, v, normal); // for a long shape all earlier candidates may be its ends
  closest_add_candidate(c, v, back1);
  closest_add_candidate(c, v, e2);
  closest_add_candidate(c, v, back2);
  if (closest_choose(c, 2, e1) <= flat) {
    return 1;
  }
  closest_less(c->x[2], c->x[0], e2);
  closest_cross(e1, e2, normal);
  const wide back[3] = {-normal[0], -normal[1], -normal[2]};
  closest_add_candidate(c, v, normal);
  closest_add_candidate(c, v, back);
  return closest_choose(c, 3, normal) <= flat ? 2 : 3;
}

// Begins the polytope with the row's own simplex if that is a tetrahedron, and otherwise with the
// spread candidates.
static int closest_begin_polytope(closest_polytope *p, closest_candidates *c, const closest_view *v,
                                  GLOBAL const int *simplex, wide normal[3])
{
  closest_take_simplex(c, v, simplex);
  for (int again = 0; again < 2; ++again) {
    const int dimensions = again ? closest_spread(c, v, normal) : c->count == SIMPLEX ? 3 : 0;
    if (again && dimensions < 3) {
      return dimensions;
    }
    p->corners = p->faces = p->free = 0;
    for (int i = 0; i < SIMPLEX && dimensions == 3; ++i) {
      closest_add_corner(p, c->x[i], c->code[i]);
    }
    if (dimensions == 3 && closest_set_tetrahedron(p)) {
      return 3;
    }
  }
  return 2;
}

// ---- the result ----

typedef struct closest_depth {
  wide height, off; // of the support plane along the best face's normal, and of the face's plane
  wide outward[3];
  int ends[3]; // its corners
  wide inner;  // the least distance of a face from the origin
  int rounds, status;
} closest_depth;

static void closest_grow_until(closest_polytope *p, const closest_view *v, closest_depth *best)
{
  const wide slack = POLYTOPE_SLACK;
  best->height = REAL_BIG;
  best->rounds = 0;
  for (;;) {
    const int face = closest_nearest_face(p);
    const wide outward[3] = {p->nx[face], p->ny[face], p->nz[face]};
    wide x[POLYTOPE_CORNER];
    int code[2];
    // An earlier bound stays valid. It would fall if rounding makes faces that are not the
    // polytope's.
    best->inner = best->rounds ? wide_max(best->inner, p->off[face]) : p->off[face];
    if (best->height - best->inner <= v->bound) {
      best->status = CLOSEST_CONVERGED;
      return;
    }
    if (p->corners >= p->corners_most) {
      best->status = CLOSEST_ITERATION_LIMIT;
      return;
    }
    closest_corner_along(v, outward, x, code);
    const wide height = closest_dot(outward, x);
    ++best->rounds;
    if (height < best->height) {
      best->height = height;
      best->off = p->off[face];
      for (int k = 0; k < 3; ++k) {
        best->outward[k] = outward[k];
        best->ends[k] = p->ends[3 * face + k];
      }
    }
    if (best->height - best->inner <= v->bound) {
      best->status = CLOSEST_CONVERGED;
      return;
    }
    closest_add_corner(p, x, code);
    if (height - p->off[face] <= slack || !closest_grow(p, face, slack)) {
      best->status = CLOSEST_DEGENERATE;
      return;
    }
  }
}

// Writes the weights of a face's corners at the projection of the origin along `outward` onto the
// face. Returns the least weight, which is below 0 if the projection is outside the face. A face
// that is turned away has no weights.
static wide closest_face_weights(const closest_polytope *p, const int ends[3],
                                 const wide outward[3], wide weight[3])
{
  wide corner[3][3], across[3], sum = (wide)0;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      corner[i][k] = p->corner[POLYTOPE_CORNER * ends[i] + k];
    }
  }
  for (int i = 0; i < 3; ++i) {
    closest_cross(corner[(i + 1) % 3], corner[(i + 2) % 3], across);
    weight[i] = closest_dot(across, outward);
    sum += weight[i];
  }
  if (sum <= (wide)0) {
    return (wide)-REAL_BIG;
  }
  for (int i = 0; i < 3; ++i) {
    weight[i] /= sum;
  }
  return wide_min(weight[0], wide_min(weight[1], weight[2]));
}

// Finds the face that contains the projection of the origin along the best normal. This is the best
// face itself, unless it has been removed since or is one of several triangles in one plane.
static void closest_find_holder(const closest_polytope *p, const closest_view *v,
                                const closest_depth *best, int ends[3], wide weight[3])
{
  const int stands = best->height - best->off <= v->bound;
  wide most = closest_face_weights(p, best->ends, best->outward, weight);
  for (int k = 0; k < 3; ++k) {
    ends[k] = best->ends[k];
    weight[k] = most > (wide)-1 ? weight[k] : (wide)(k == 0);
  }
  most = stands ? most : (wide)-REAL_BIG;
  for (int i = 0; i < p->faces && most < (wide)0; ++i) {
    const int other[3] = {p->ends[3 * i], p->ends[3 * i + 1], p->ends[3 * i + 2]};
    wide w[3];
    const wide least = p->key[i] < REAL_BIG ? closest_face_weights(p, other, best->outward, w)
                                            : (wide)-REAL_BIG;
    for (int k = 0; k < 3 && least > most; ++k) {
      ends[k] = other[k];
      weight[k] = w[k];
    }
    most = wide_max(most, least);
  }
  wide sum = (wide)0;
  for (int k = 0; k < 3; ++k) {
    weight[k] = wide_max(weight[k], (wide)0);
    sum += weight[k];
  }
  for (int k = 0; k < 3; ++k) {
    weight[k] /= sum;
  }
}

// Both shapes lie in one plane, or on one line, and meet there: the depth is 0.
static void closest_write_flat(const closest_answers *to, const closest_spot *p,
                               const closest_view *v, int row, closest_candidates *c,
                               const wide normal[3])
{
  vec3_r corner[SIMPLEX];
  ilane there[NEWEST];
  real weight[SIMPLEX];
  wide at[3] = {(wide)0, (wide)0, (wide)0}, unit[3];
  const lane zero = lane_lit(R(0.0));
  const int last = c->given > 0 ? c->given - 1 : 0;
  for (int k = 0; k < SIMPLEX; ++k) {
    const int i = k == NEWEST ? last : k < last ? k : 0;
    corner[k] =
      make_r(lane_lit((real)c->x[i][0]), lane_lit((real)c->x[i][1]), lane_lit((real)c->x[i][2]));
    if (k < NEWEST) {
      there[k] = k < last ? zero == zero : zero > zero;
    }
  }
  const closest_nearest_r best = closest_search_r(corner, there, 1, 1);
  for (int k = 0; k < SIMPLEX; ++k) {
    const int i = k == NEWEST ? last : k < last ? k : 0;
    weight[k] = lane_first(best.weight[k]);
    for (int j = 0; j < 3; ++j) {
      at[j] += weight[k] * c->x[i][3 + j];
    }
  }
  const wide by = (wide)1 / wide_sqrt(closest_dot(normal, normal));
  for (int k = 0; k < 3; ++k) {
    unit[k] = normal[k] * by;
  }
  closest_write(to, p, v, row, (wide)0, unit, at, wide_max(FLAT_SHARE, v->touching));
  to->status[row] = CLOSEST_DEGENERATE;
}

static void closest_solve_overlap(const closest_rows *rows, const closest_answers *to, int row,
                                  real tolerance, int iterations_most, real cutoff,
                                  closest_polytope p)
{
  const closest_shape shapes[2] = {closest_shape_at(rows, 0, row), closest_shape_at(rows, 1, row)};
  closest_spot pair;
  closest_candidates c;
  closest_depth best;
  wide normal[3], weight[3], at[3], n[3];
  int ends[3];
  closest_place_row(&pair, rows, shapes, row);
  const closest_view v = closest_view_of(&pair, shapes, tolerance);
  GLOBAL int *simplex = ROW(to->simplex, row, 2 * SIMPLEX);
  if (CLOSEST_LOOK_AGAIN(to->status[row]) &&
      closest_again(to, &pair, &v, row, iterations_most, cutoff)) {
    return;
  }
  if (closest_begin_polytope(&p, &c, &v, simplex, normal) < 3) {
    // The candidates were reordered, so the row's own simplex is read again.
    closest_take_simplex(&c, &v, simplex);
    closest_write_flat(to, &pair, &v, row, &c, normal);
    return;
  }
  closest_grow_until(&p, &v, &best);
  closest_find_holder(&p, &v, &best, ends, weight);
  for (int k = 0; k < 3; ++k) {
    n[k] = -best.outward[k];
    at[k] = (wide)0;
    for (int i = 0; i < 3; ++i) {
      at[k] += weight[i] * p.corner[POLYTOPE_CORNER * ends[i] + 3 + k];
    }
    simplex[2 * k] = p.code[2 * ends[k]];
    simplex[2 * k + 1] = p.code[2 * ends[k] + 1];
  }
  simplex[2 * NEWEST] = simplex[2 * NEWEST + 1] = -1;
  // An origin outside is nearer than `touching`, which is then the certain bound of the separation.
  const wide open = best.height - best.inner;
  closest_write(to, &pair, &v, row, best.height, n, at,
                best.inner < (wide)0 ? wide_max(open, v.touching) : wide_max(open, (wide)0));
  to->status[row] = (unsigned char)best.status;
  to->iterations[row] += best.rounds;
}

// Each work-item handles every `workers`th row that is not finished. polytopes and places have
// POLYTOPE_REALS and POLYTOPE_INTS of `corners` for each work-item.
KERNEL void closest_overlap(GLOBAL const int *ints, GLOBAL const real *numbers,
                            GLOBAL const int *one, GLOBAL const int *two, int stride,
                            GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                            int count, int workers, real tolerance, int iterations_most,
                            real cutoff, int corners, GLOBAL wide *polytopes, GLOBAL int *places,
                            GLOBAL real *d, GLOBAL real *n, GLOBAL real *p1, GLOBAL real *p2,
                            GLOBAL real *gap, GLOBAL unsigned char *status, GLOBAL int *iterations,
                            GLOBAL int *simplex)
{
  const int worker = (int)get_global_id(0);
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  const closest_answers to = {d, n, p1, p2, gap, status, iterations, simplex};
  if (worker >= workers) {
    return;
  }
  for (int row = worker; row < count; row += workers) {
    if (CLOSEST_LOOK_AGAIN(status[row]) || status[row] == CLOSEST_PENDING) {
      closest_solve_overlap(&rows, &to, row, tolerance, iterations_most, cutoff,
                            closest_polytope_in(ROW(polytopes, worker, POLYTOPE_REALS(corners)),
                                                ROW(places, worker, POLYTOPE_INTS(corners)),
                                                corners));
    }
  }
}
