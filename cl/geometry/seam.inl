// Seams between bodies that are fixed to one another (docs/dev/spec.md, section 11.8): the share of
// a contact near a seam. A zone is a box with soft sides around a seam, in the frame of a body,
// with the layout ZONE_REALS of layout.h.

// Returns the share of a zone at x, and its gradient in *slope. The share is 1 within the zone and
// 0 outside, or the opposite.
static num FN(zone_share)(GLOBAL const real *zone, vec x, vec *slope)
{
  num rise[6], rise_slope[6], share = n_lit(R(1.0));
  vec axes[3];
  const real inverse = zone[ZONE_INVERSE];
  for (int k = 0; k < 3; ++k) {
    GLOBAL const real *axis = zone + ZONE_AXES + 3 * k;
    axes[k] = FN(make)(n_lit(axis[0]), n_lit(axis[1]), n_lit(axis[2]));
    const num y = FN(dot3)(axes[k], x);
    rise[2 * k] =
      FN(quintic)(n_scale(n_shift(y, -zone[ZONE_LOW + k]), inverse), &rise_slope[2 * k]);
    rise[2 * k + 1] =
      FN(quintic)(n_scale(n_shift(n_neg(y), zone[ZONE_HIGH + k]), inverse), &rise_slope[2 * k + 1]);
    share = n_mul(share, n_mul(rise[2 * k], rise[2 * k + 1]));
  }
  const real sign = zone[ZONE_OUTSIDE] > R(0.0) ? R(-1.0) : R(1.0);
  num along[3];
  for (int k = 0; k < 3; ++k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    const num others =
      n_mul(n_mul(rise[2 * a], rise[2 * a + 1]), n_mul(rise[2 * b], rise[2 * b + 1]));
    const num own =
      n_sub(n_mul(rise_slope[2 * k], rise[2 * k + 1]), n_mul(rise[2 * k], rise_slope[2 * k + 1]));
    along[k] = n_scale(n_mul(own, others), sign * inverse);
  }
  *slope = FN(mad3)(axes[0], along[0], FN(mad3)(axes[1], along[1], FN(scale3)(axes[2], along[2])));
  return zone[ZONE_OUTSIDE] > R(0.0) ? n_sub(n_lit(R(1.0)), share) : share;
}

// Returns the product of the shares of `count` zones at x, and its gradient in *slope.
static num FN(zones_share)(GLOBAL const real *zones, int count, vec x, vec *slope)
{
  const num zero = n_lit(R(0.0));
  num all = n_lit(R(1.0));
  *slope = FN(make)(zero, zero, zero);
  for (int i = 0; i < count; ++i) {
    vec own;
    const num share = FN(zone_share)(zones + ZONE_REALS * i, x, &own);
    *slope = FN(mad3)(own, all, FN(scale3)(*slope, share));
    all = n_mul(all, share);
  }
  return all;
}
