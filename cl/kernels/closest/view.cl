// Single rows, used by the kernels after closest_apart: their view from shape 1, and their output.

// A row in shape 1's frame, in units of `scale`.
typedef struct closest_view {
  closest_shape of[2];
  real r[9];
  wide t[3];
  wide scale, by, bound, touching;
} closest_view;

// A power of two that is at least x.
static wide closest_wide_scale(wide x)
{
  return (wide)lane_first(closest_scale(lane_lit((real)x)));
}

static closest_view closest_view_of(const closest_spot *p, const closest_shape shapes[2],
                                    real tolerance)
{
  closest_view v;
  v.of[0] = shapes[0];
  v.of[1] = shapes[1];
  v.scale = closest_wide_scale(p->spans);
  v.by = (wide)1 / v.scale;
  v.bound = p->spans * v.by * tolerance;
  v.touching = p->spans * v.by * real_min(tolerance, TOUCHING);
  for (int i = 0; i < 9; ++i) {
    v.r[i] = (real)p->r[i];
  }
  for (int i = 0; i < 3; ++i) {
    v.t[i] = p->t[i] * v.by;
  }
  return v;
}

// Computes a corner from points of both shapes, each in its own frame.
static void closest_corner(const closest_view *v, const real x1[3], const real x2[3],
                           wide x[POLYTOPE_CORNER])
{
  for (int k = 0; k < 3; ++k) {
    const real *r = v->r + 3 * k;
    const real across = r[0] * x2[0] + r[1] * x2[1] + r[2] * x2[2] - x1[k];
    x[3 + k] = x1[k] * v->by;
    x[k] = across * v->by + v->t[k];
  }
}

// Finds the corner that is farthest along `outward`.
static void closest_corner_along(const closest_view *v, const wide outward[3],
                                 wide corner[POLYTOPE_CORNER], int code[2])
{
  const real *r = v->r;
  const real x = (real)outward[0], y = (real)outward[1], z = (real)outward[2];
  const real u1[3] = {-x, -y, -z};
  real u2[3], x1[3], x2[3];
  for (int k = 0; k < 3; ++k) {
    u2[k] = r[k] * x + r[3 + k] * y + r[6 + k] * z;
  }
  code[0] = closest_support(&v->of[0], u1, x1);
  code[1] = closest_support(&v->of[1], u2, x2);
  closest_corner(v, x1, x2, corner);
}

// Writes a row, given the depth, the normal from shape 1 to shape 2 and a point of shape 1 without
// its radius, all in shape 1's frame and in units of the view.
static void closest_write(const closest_answers *to, const closest_spot *p, const closest_view *v,
                          int row, wide depth, const wide normal[3], const wide at[3], wide open)
{
  const wide distance = (wide)0 - depth * v->scale - (p->radius[0] + p->radius[1]);
  to->d[row] = (real)distance;
  to->gap[row] = (real)(open * v->scale);
  for (int k = 0; k < 3; ++k) {
    const wide *m = p->m + 3 * k;
    const wide n = m[0] * normal[0] + m[1] * normal[1] + m[2] * normal[2];
    const wide x =
      (m[0] * at[0] + m[1] * at[1] + m[2] * at[2]) * v->scale + p->at[k] + n * p->radius[0];
    to->n[3 * row + k] = (real)n;
    to->p1[3 * row + k] = (real)x;
    to->p2[3 * row + k] = (real)(x + distance * n);
  }
}
