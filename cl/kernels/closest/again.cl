// Repeats the walk of closest_apart in wide numbers, row by row, for separated shapes whose
// rounding in float exceeds the tolerance. This happens mostly when shapes are near each other. The
// corners of the difference are those of float, but they are combined in wide numbers, so the walk
// converges for these corners. If the device has nothing wider, and in double, such rows remain
// unchanged.
#if WIDE && !REAL_DOUBLE
#define CLOSEST_LOOK_AGAIN(status) ((status) == CLOSEST_AGAIN)

typedef struct closest_path {
  vec3_w corner[SIMPLEX], body1[SIMPLEX], v;
  wide weight[SIMPLEX], q, lower;
  int code[SIMPLEX][2], there[NEWEST];
  int begun;
} closest_path;

// Finds the corner that bounds |v| along v, or at the start along the direction between the shapes.
static void closest_path_corner(closest_path *a, const closest_view *v, wide outward[3])
{
  const wide x = a->begun ? a->v.x : v->t[0], y = a->begun ? a->v.y : v->t[1],
             z = a->begun ? a->v.z : v->t[2];
  const wide length = wide_sqrt(x * x + y * y + z * z);
  const int none = length < (wide)REAL_TINY;
  wide corner[POLYTOPE_CORNER];
  outward[0] = none ? (wide)-1 : -x / length;
  outward[1] = none ? (wide)0 : -y / length;
  outward[2] = none ? (wide)0 : -z / length;
  closest_corner_along(v, outward, corner, a->code[NEWEST]);
  a->corner[NEWEST] = make_w(corner[0], corner[1], corner[2]);
  a->body1[NEWEST] = make_w(corner[3], corner[4], corner[5]);
  a->lower = -closest_dot(outward, corner);
}

// Retains the corners with a weight in v. The newest one is stored in the first free slot.
static void closest_path_keep(closest_path *a, const closest_nearest_w *best)
{
  int placed = 0;
  for (int k = 0; k < NEWEST; ++k) {
    const int stays = best->weight[k] > (wide)0,
              here = !stays && !placed && best->weight[NEWEST] > (wide)0;
    if (here) {
      a->corner[k] = a->corner[NEWEST];
      a->body1[k] = a->body1[NEWEST];
      a->code[k][0] = a->code[NEWEST][0];
      a->code[k][1] = a->code[NEWEST][1];
    }
    a->weight[k] = here ? best->weight[NEWEST] : best->weight[k];
    a->there[k] = stays || here;
    placed |= here;
  }
  a->v = best->x;
  a->q = best->q;
  a->begun = 1;
}

static void closest_path_codes(const closest_path *a, int inside, GLOBAL int *simplex)
{
  for (int k = 0; k < SIMPLEX; ++k) {
    const int there = k < NEWEST ? a->there[k] : inside;
    simplex[2 * k] = there ? a->code[k][0] : -1;
    simplex[2 * k + 1] = there ? a->code[k][1] : -1;
  }
}

// Walks until the bound is met, progress ends or the origin is reached. Returns 0 in the last case
// and otherwise 1.
static int closest_walk_on(closest_path *a, const closest_view *v, int iterations_most, int *rounds,
                           int *status, int *inside)
{
  *inside = 0;
  for (*rounds = 0; *rounds < iterations_most; ++*rounds) {
    wide outward[3];
    closest_path_corner(a, v, outward);
    if (a->begun && wide_sqrt(a->q) - a->lower <= v->bound) {
      *status = CLOSEST_CONVERGED;
      return 1;
    }
    const closest_nearest_w best = closest_search_w(a->corner, a->there, 1, 1);
    if (best.inside && a->lower <= v->bound) {
      *inside = 1;
      return 0;
    }
    if (a->begun && best.q >= a->q) {
      *status = CLOSEST_DEGENERATE;
      return 1;
    }
    if (!a->begun || *rounds + 1 < iterations_most) { // otherwise v would have no bound
      closest_path_keep(a, &best);
    }
    if (a->begun && a->q <= v->touching * v->touching) {
      return 0;
    }
  }
  *status = CLOSEST_ITERATION_LIMIT;
  return a->begun;
}

// Writes a row of separated shapes, as beyond the cutoff if that is certain.
static void closest_write_again(const closest_answers *to, const closest_spot *p,
                                const closest_view *v, int row, const closest_path *a, int status,
                                real cutoff)
{
  const wide length = wide_sqrt(a->q), by = (wide)1 / length,
             open = wide_max(length - a->lower, (wide)0);
  const wide normal[3] = {a->v.x * by, a->v.y * by, a->v.z * by};
  const int beyond = a->lower * v->scale - (p->radius[0] + p->radius[1]) > cutoff;
  wide at[3] = {(wide)0, (wide)0, (wide)0};
  for (int k = 0; k < NEWEST; ++k) {
    at[0] += a->weight[k] * a->body1[k].x;
    at[1] += a->weight[k] * a->body1[k].y;
    at[2] += a->weight[k] * a->body1[k].z;
  }
  closest_write(to, p, v, row, beyond ? -a->lower : -length, normal, at, open);
  to->status[row] = (unsigned char)(beyond ? CLOSEST_BEYOND : status);
}

// Returns whether the row is written. If not, the shapes meet, and the polytope begins with the
// row's simplex.
static int closest_again(const closest_answers *to, const closest_spot *p, const closest_view *v,
                         int row, int iterations_most, real cutoff)
{
  closest_path a;
  int rounds, status = CLOSEST_DEGENERATE, inside;
  a.begun = a.there[0] = a.there[1] = a.there[2] = 0;
  a.q = a.lower = (wide)0;
  for (int k = 0; k < SIMPLEX; ++k) {
    a.corner[k] = a.body1[k] = make_w((wide)0, (wide)0, (wide)0);
    a.weight[k] = (wide)0;
    a.code[k][0] = a.code[k][1] = 0;
  }
  a.v = make_w((wide)0, (wide)0, (wide)0);
  const int apart = closest_walk_on(&a, v, iterations_most, &rounds, &status, &inside);
  closest_path_codes(&a, inside, ROW(to->simplex, row, 2 * SIMPLEX));
  to->iterations[row] += rounds;
  if (!apart) {
    return 0;
  }
  closest_write_again(to, p, v, row, &a, status, cutoff);
  return 1;
}

#else
#define CLOSEST_LOOK_AGAIN(status) 0

static int closest_again(const closest_answers *to, const closest_spot *p, const closest_view *v,
                         int row, int iterations_most, real cutoff)
{
  (void)cutoff;
  (void)to;
  (void)p;
  (void)v;
  (void)row;
  return iterations_most < 0;
}
#endif
