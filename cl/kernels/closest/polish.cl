// Refines the results of curved shapes. With a gap of the tolerance the normal of a curved shape,
// and with it the points, are only accurate to about the square root of the tolerance. If both
// support points are already the witness points up to that error, Newton's method finds the normal:
// the part r of s2(-n) - s1(n) across n must be 0, and changes by -(H1 + H2 + d) dn.

#define POLISH_MOST 5 // steps of a row
// of both spans: support points farther apart across n belong to a face or an edge
#define POLISH_REACH R(0.01)

typedef struct closest_polish {
  wide n[3], x1[3], across[3]; // in shape 1's frame: the normal, s1(n), and s2(-n) - s1(n)
  wide g, rest2;               // the part along n, and the square of the part across it
  real u1[3], u2[3];
} closest_polish;

static void closest_polish_at(const closest_shape shapes[2], const closest_spot *p,
                              closest_polish *a)
{
  real x1[3], x2[3];
  for (int k = 0; k < 3; ++k) {
    a->u1[k] = (real)a->n[k];
    a->u2[k] = (real) - (p->r[k] * a->n[0] + p->r[3 + k] * a->n[1] + p->r[6 + k] * a->n[2]);
  }
  (void)closest_support(&shapes[0], a->u1, x1);
  (void)closest_support(&shapes[1], a->u2, x2);
  a->rest2 = (wide)0;
  for (int k = 0; k < 3; ++k) {
    const wide *r = p->r + 3 * k;
    a->x1[k] = x1[k];
    a->across[k] = r[0] * x2[0] + r[1] * x2[1] + r[2] * x2[2] + p->t[k] - x1[k];
  }
  a->g = closest_dot(a->n, a->across);
  for (int k = 0; k < 3; ++k) {
    const wide rest = a->across[k] - a->g * a->n[k];
    a->rest2 += rest * rest;
  }
}

// Writes the sum of the curvatures in shape 1's frame, and returns whether it exists.
static int closest_polish_curvature(const closest_shape shapes[2], const closest_spot *p,
                                    const closest_polish *a, wide sum[9])
{
  const int at[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  real h1[SYMMETRIC] = {R(0.0), R(0.0), R(0.0), R(0.0), R(0.0), R(0.0)};
  real h2[SYMMETRIC] = {R(0.0), R(0.0), R(0.0), R(0.0), R(0.0), R(0.0)};
  if (closest_curve_exact(&shapes[0], a->u1, h1) || closest_curve_exact(&shapes[1], a->u2, h2)) {
    return 0;
  }
  for (int i = 0; i < 3; ++i) {
    wide turned[3];
    for (int j = 0; j < 3; ++j) {
      turned[j] =
        p->r[3 * i] * h2[at[j]] + p->r[3 * i + 1] * h2[at[3 + j]] + p->r[3 * i + 2] * h2[at[6 + j]];
    }
    for (int j = 0; j < 3; ++j) {
      sum[3 * i + j] = h1[at[3 * i + j]] + turned[0] * p->r[3 * j] + turned[1] * p->r[3 * j + 1] +
                       turned[2] * p->r[3 * j + 2];
    }
  }
  return 1;
}

static void closest_apply(const wide m[9], const wide x[3], wide out[3])
{
  for (int i = 0; i < 3; ++i) {
    out[i] = m[3 * i] * x[0] + m[3 * i + 1] * x[1] + m[3 * i + 2] * x[2];
  }
}

// Makes a step of the normal. Returns 0 if the step does not approach a maximum of g.
static int closest_polish_step(const closest_shape shapes[2], const closest_spot *p,
                               closest_polish *a)
{
  wide sum[9], b[3], c[3], sb[3], sc[3], length2 = (wide)0;
  if (!closest_polish_curvature(shapes, p, a, sum)) {
    return 0;
  }
  closest_normal_to(a->n, b);
  const wide by = (wide)1 / wide_sqrt(closest_dot(b, b));
  for (int k = 0; k < 3; ++k) {
    b[k] *= by;
  }
  closest_cross(a->n, b, c);
  closest_apply(sum, b, sb);
  closest_apply(sum, c, sc);
  const wide bb = closest_dot(b, sb) + a->g, bc = closest_dot(b, sc),
             cc = closest_dot(c, sc) + a->g;
  const wide determinant = bb * cc - bc * bc;
  const wide least = (wide)64 * REAL_EPSILON * (bb + cc) * (bb + cc);
  if (bb + cc <= (wide)0 || determinant <= least) {
    return 0;
  }
  const wide rb = closest_dot(b, a->across), rc = closest_dot(c, a->across);
  const wide x = (cc * rb - bc * rc) / determinant, y = (bb * rc - bc * rb) / determinant;
  const wide much = wide_sqrt(x * x + y * y),
             share = much > (wide)R(0.1) ? (wide)R(0.1) / much : (wide)1;
  for (int k = 0; k < 3; ++k) {
    a->n[k] += share * (x * b[k] + y * c[k]);
    length2 += a->n[k] * a->n[k];
  }
  for (int k = 0; k < 3; ++k) {
    a->n[k] /= wide_sqrt(length2);
  }
  return 1;
}

static void closest_write_polished(const closest_answers *to, const closest_spot *p,
                                   const closest_polish *a, int row, real tolerance)
{
  const wide radii = p->radius[0] + p->radius[1], before = (wide)to->d[row] + radii,
             open = to->gap[row];
  const wide slack = (wide)8 * REAL_EPSILON * (p->spans + wide_abs(before));
  const wide length = wide_sqrt(a->g * a->g + a->rest2);
  const wide depth = before > (wide)0 ? length : a->g,
             rest = before > (wide)0 ? a->rest2 / (length + a->g) : before + open - a->g;
  const wide gap = wide_max(rest, (wide)0);
  const int is_apart = before > (wide)0, still_apart = a->g > (wide)0;
  const int worse = is_apart ? depth > before + slack : depth < before - slack;
  if (is_apart != still_apart || worse || gap > open + slack) {
    return;
  }
  for (int k = 0; k < 3; ++k) {
    const wide *m = p->m + 3 * k;
    const wide n = m[0] * a->n[0] + m[1] * a->n[1] + m[2] * a->n[2];
    const wide x =
      m[0] * a->x1[0] + m[1] * a->x1[1] + m[2] * a->x1[2] + p->at[k] + n * p->radius[0];
    to->n[3 * row + k] = (real)n;
    to->p1[3 * row + k] = (real)x;
    to->p2[3 * row + k] = (real)(x + (depth - radii) * n);
  }
  to->d[row] = (real)(depth - radii);
  to->gap[row] = (real)gap;
  if (gap <= tolerance * p->spans) {
    to->status[row] = CLOSEST_CONVERGED;
  }
}

static void closest_polish_row(const closest_rows *rows, const closest_answers *to, int row,
                               real tolerance)
{
  const closest_shape shapes[2] = {closest_shape_at(rows, 0, row), closest_shape_at(rows, 1, row)};
  closest_spot p;
  closest_polish now, best;
  if (!SHAPE_IS_CURVED(shapes[0].kind) && !SHAPE_IS_CURVED(shapes[1].kind)) {
    return;
  }
  closest_place_row(&p, rows, shapes, row);
  for (int k = 0; k < 3; ++k) {
    now.n[k] =
      p.m[k] * to->n[3 * row] + p.m[3 + k] * to->n[3 * row + 1] + p.m[6 + k] * to->n[3 * row + 2];
  }
  const wide by = (wide)1 / wide_sqrt(closest_dot(now.n, now.n)),
             reach = (wide)POLISH_REACH * p.spans;
  for (int k = 0; k < 3; ++k) {
    now.n[k] *= by;
  }
  closest_polish_at(shapes, &p, &now);
  if (now.rest2 > reach * reach) {
    return;
  }
  best = now;
  for (int i = 0; i < POLISH_MOST && closest_polish_step(shapes, &p, &now); ++i) {
    closest_polish_at(shapes, &p, &now);
    if (now.rest2 >= best.rest2) {
      break;
    }
    best = now;
  }
  const wide least = tolerance * p.spans;
  if (best.rest2 <= least * least) { // otherwise p2 would not be on shape 2
    closest_write_polished(to, &p, &best, row, tolerance);
  }
}

// Each work-item handles one row with a result of closest_apart or closest_overlap.
KERNEL void closest_refine(GLOBAL const int *ints, GLOBAL const real *numbers,
                           GLOBAL const int *one, GLOBAL const int *two, int stride,
                           GLOBAL const real *pose1, GLOBAL const real *pose2, int width, int count,
                           real tolerance, GLOBAL real *d, GLOBAL real *n, GLOBAL real *p1,
                           GLOBAL real *p2, GLOBAL real *gap, GLOBAL unsigned char *status,
                           GLOBAL int *iterations, GLOBAL int *simplex)
{
  const int row = (int)get_global_id(0);
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  const closest_answers to = {d, n, p1, p2, gap, status, iterations, simplex};
  if (row < count && status[row] <= CLOSEST_DEGENERATE) {
    closest_polish_row(&rows, &to, row, tolerance);
  }
}
