// Smooth operators (Beker et al., II; overflow-free forms).

// 1 / (1 + exp(-x))
static num FN(sigmoid)(num x)
{
  const ilane positive = n_value(x) >= lane_lit(R(0.0));
  const num e = n_exp2(n_select(positive, n_scale(x, -LOG2E), n_scale(x, LOG2E)));
  const num r = n_rcp(n_shift(e, R(1.0)));
  return n_select(positive, r, n_mul(e, r));
}

static num FN(soft_sign)(num x)
{
  return n_shift(n_scale(FN(sigmoid)(n_scale(x, R(2.0))), R(2.0)), R(-1.0));
}

// softplus(x) - max(x, 0), even in x.
static num FN(softplus_rest)(num x)
{
  const ilane positive = n_value(x) >= lane_lit(R(0.0));
  const num e = n_exp2(n_select(positive, n_scale(x, -LOG2E), n_scale(x, LOG2E)));
  return n_scale(n_log2(n_shift(e, R(1.0))), LN2);
}

// clip(x, 0, 1) = relu(x) - relu(x - 1) with relu(x) = tau softplus(x / tau). The hard clip is
// taken out of the difference first: far from [0, 1] the two terms would cancel.
static num FN(soft_clip)(num x, real tau, real tau_inv)
{
  const num hard = n_select(n_value(x) >= lane_lit(R(1.0)), n_lit(R(1.0)),
                            n_select(n_value(x) >= lane_lit(R(0.0)), x, n_lit(R(0.0))));
  const num low = FN(softplus_rest)(n_scale(x, tau_inv));
  const num high = FN(softplus_rest)(n_scale(n_shift(x, R(-1.0)), tau_inv));
  return n_smad(n_sub(low, high), tau, hard);
}

// [0 < x < 1]
static num FN(within)(num x, real tau_inv)
{
  return n_mul(FN(sigmoid)(n_scale(x, tau_inv)),
               FN(sigmoid)(n_scale(n_sub(n_lit(R(1.0)), x), tau_inv)));
}

// g / sqrt(tau + g.g)
static vec FN(unit)(vec g, real tau)
{
  const num length = n_sqrt(n_shift(FN(dot3)(g, g), tau));
  return FN(scale3)(g, n_rcp(length));
}
