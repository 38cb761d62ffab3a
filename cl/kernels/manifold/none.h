// Empty values.
#ifndef KERNELS_MANIFOLD_NONE_H
#define KERNELS_MANIFOLD_NONE_H

static vec no_bar(void)
{
  const num zero = n_lit(R(0.0));
  return FN(make)(zero, zero, zero);
}

static FN(cone) no_cone(void)
{
  FN(cone) k;
  k.axis = no_bar();
  k.angle = k.cosine = k.sine = k.inset = lane_lit(R(0.0));
  return k;
}

#endif
