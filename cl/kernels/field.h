// The field of a body at a block of points, for the kernels of every module that needs it.
#ifndef KERNELS_FIELD_H
#define KERNELS_FIELD_H

// Returns a block of points in the body's frame. points has three planes of `padded` numbers,
// starting at point_base. point_stride is the distance between poses, or 0 if all poses share the
// points. frame is the offset, in a pose's frames, of the map from the points' frame to the body's
// frame, or -1 if the points are already in the body's frame.
static vec field_point(GLOBAL const real *points, int point_base, int point_stride, int padded,
                       GLOBAL const real *frames, int frame, int block, int pose)
{
  const vec x =
    load3(NUMS(points, pose, point_stride) + point_base + block * LANES, point_stride, padded);
  const vec at = frame < 0 ? x : place(NUMS(frames, pose, FRAME_STRIDE) + frame, x);
  return FN(limit3)(at, R(2.0) * SEPARATION_LIMIT); // a caller's point may be anywhere
}

#if TANGENTS
// Returns the dual number at x with the given plain value and derivatives with respect to x.
static num along_slopes(lane value, lane by_x, lane by_y, lane by_z, vec x)
{
  num r = n_of(value);
  TANGENT_DO(i, {
    r = n_with_part(r, i,
                    by_x * n_get_part(x.x, i) + by_y * n_get_part(x.y, i) +
                      by_z * n_get_part(x.z, i));
  })
  return r;
}

// Returns a derivative in the form that field_jet passes to the reverse pass: bounded, and 0
// instead of NaN after an overflow.
static lane known_slope(lane slope)
{
  return lane_select(slope == slope, bounded_part(slope, JACOBIAN_LIMIT), lane_lit(R(0.0)));
}

static num normal_along(lane value, const lane *row, vec x)
{
  return along_slopes(value, known_slope(row[0]), known_slope(row[1]), known_slope(row[2]), x);
}
#endif

// Returns the distance at a point x in the body's frame, which is exact if it is below `reach`.
// *normal gets the normal if it is wanted. On duals the tangents come from the field's own
// derivatives, so each tangent costs only a product.
static num field_within(GLOBAL const int *head, GLOBAL const real *shape,
                        GLOBAL const coefficients *c, vec x, const int want_normal, real reach,
                        vec *normal)
{
#if TANGENTS
  jet_r jet;
  body_jet_r(head, shape, c, make_r(n_value(x.x), n_value(x.y), n_value(x.z)),
             want_normal ? JET_JACOBIAN : JET_GRADIENT, reach, &jet);
  if (want_normal) {
    *normal = FN(make)(normal_along(jet.normal.x, jet.jacobian, x),
                       normal_along(jet.normal.y, jet.jacobian + 3, x),
                       normal_along(jet.normal.z, jet.jacobian + 6, x));
  }
  return along_slopes(jet.phi, jet.gradient.x, jet.gradient.y, jet.gradient.z, x);
#else
  FN(jet) jet;
  FN(body_jet)(head, shape, c, x, want_normal ? JET_NORMAL : 0, reach, &jet);
  if (want_normal) {
    *normal = jet.normal;
  }
  return jet.phi;
#endif
}

// Returns the distance at x if it is below `reach`, else `reach`.
static num distance_within(GLOBAL const int *head, GLOBAL const real *shape,
                           GLOBAL const coefficients *c, vec x, real reach)
{
  vec normal;
  const num phi = field_within(head, shape, c, x, 0, reach, &normal);
  return n_select(n_value(phi) < lane_lit(reach), phi, n_lit(reach));
}

// Writes the planes phi and normal (3) of one block to a pose's row.
static void put_field(GLOBAL const int *head, GLOBAL const real *shape,
                      GLOBAL const coefficients *c, vec x, GLOBAL real *out, int padded, int block,
                      int pose)
{
  vec normal;
  const num phi = field_within(head, shape, c, x, 1, REAL_BIG, &normal);
  GLOBAL real *row = NUMS(out, pose, FIELD_PLANES * padded) + block * LANES;
  store(row, FIELD_PLANES * padded, steady(phi, COTANGENT_LIMIT));
  store3(row + padded, FIELD_PLANES * padded, padded, steady3(normal, COTANGENT_LIMIT));
}

// Writes the plane phi of one block to a pose's row.
static void put_distance(GLOBAL const int *head, GLOBAL const real *shape,
                         GLOBAL const coefficients *c, vec x, GLOBAL real *out, int padded,
                         int block, int pose)
{
  vec normal;
  store(NUMS(out, pose, padded) + block * LANES, padded,
        steady(field_within(head, shape, c, x, 0, REAL_BIG, &normal), COTANGENT_LIMIT));
}

#endif
