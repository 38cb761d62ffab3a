// The force of a spring between a point and a plane, with dissipation and friction, and its mean
// over a cloud; docs/dev/spring-formulas.md, "Field, separation, force", 3 and 4:
//   lambda_n = k s(-phi_i) D(v_n / v_d), s(x) = eps3 softplus(x / eps3),
//   lambda = lambda_n (n_i - mu v_t / sqrt(v_s^2 + |v_t|^2)).

// A pair's parameters, the inverses of some, and the call's options (SPRING_SMOOTH, SPRING_PLANE).
typedef struct spring_law {
  num k, mu, v_d, v_s, eps2, eps3;
  num v_d_inv, eps2_inv, eps3_inv;
  int options;
} spring_law;

// Reads a number of a pair's frame, with its derivatives on duals.
static num spring_number(GLOBAL const real *row, int at)
{
  return load_one(row + at, SPRING_FRAME);
}

static vec spring_vector(GLOBAL const real *row, int at)
{
  return FN(make)(spring_number(row, at), spring_number(row, at + 1), spring_number(row, at + 2));
}

static spring_law spring_law_of(GLOBAL const real *frame, int options)
{
  spring_law l;
  l.k = spring_number(frame, SPRING_PARAMETERS + SPRING_K);
  l.mu = spring_number(frame, SPRING_PARAMETERS + SPRING_MU);
  l.v_d = spring_number(frame, SPRING_PARAMETERS + SPRING_V_D);
  l.v_s = spring_number(frame, SPRING_PARAMETERS + SPRING_V_S);
  l.eps2 = spring_number(frame, SPRING_PARAMETERS + SPRING_EPS2);
  l.eps3 = spring_number(frame, SPRING_PARAMETERS + SPRING_EPS3);
  l.v_d_inv = n_rcp(l.v_d);
  l.eps2_inv = n_rcp(l.eps2);
  l.eps3_inv = n_rcp(l.eps3);
  l.options = options;
  return l;
}

// The force between one point and one plane, and the factors that its derivatives need.
typedef struct spring_push {
  num soft, share;       // softplus(y) at y = -phi_i / eps3, its derivative
  num damping, slope;    // D, its derivative
  num normal, along;     // lambda_n, v_n
  num rub_inv;           // 1 / sqrt(v_s^2 + |v_t|^2)
  vec slide, way, force; // v_t, n - mu v_t rub_inv, lambda
} spring_push;

// Returns the force between a point and plane i: p is the plane's record, phi its phi_i, and v the
// velocity of the point relative to it.
static spring_push spring_push_of(const spring_law *l, GLOBAL const real *p, num phi, vec v)
{
  spring_push f;
  f.along = spring_height(p, v);
  f.soft = FN(spring_softplus)(n_neg(n_mul(phi, l->eps3_inv)), &f.share);
  f.damping =
    FN(spring_dissipation)(n_mul(f.along, l->v_d_inv), l->options & SPRING_SMOOTH, &f.slope);
  f.normal = n_mul(n_mul(n_mul(l->k, l->eps3), f.soft), f.damping);
  f.slide = FN(make)(n_sub(v.x, n_scale(f.along, p[3])), n_sub(v.y, n_scale(f.along, p[4])),
                     n_sub(v.z, n_scale(f.along, p[5])));
  f.rub_inv = n_rcp(n_sqrt(n_mad(l->v_s, l->v_s, FN(dot3)(f.slide, f.slide))));
  const num friction = n_mul(l->mu, f.rub_inv);
  f.way = FN(make)(n_shift(n_neg(n_mul(f.slide.x, friction)), p[3]),
                   n_shift(n_neg(n_mul(f.slide.y, friction)), p[4]),
                   n_shift(n_neg(n_mul(f.slide.z, friction)), p[5]));
  f.force = FN(scale3)(f.way, f.normal);
  return f;
}

// Means over a cloud at one point x, by the weights w of the field and in the cloud's frame.
// `force` is the mean of lambda_i, which acts at x. `moment` is that of p_i x lambda_i, computed
// only if reactions act at the planes (SPRING_PLANE). `rub` is that of lambda_n v_t / sqrt(v_s^2 +
// |v_t|^2), minus the derivative of the force with respect to mu. `pull` is that of q_i = E_i^-1 (x
// - p_i).
typedef struct spring_means {
  lane top;    // the largest exponent
  num sum_inv; // the inverse of the sum of weights, relative to the weight of that exponent
  vec force, moment, rub, pull;
} spring_means;

static void spring_scale_means(spring_means *m, num scale)
{
  m->force = FN(scale3)(m->force, scale);
  m->moment = FN(scale3)(m->moment, scale);
  m->rub = FN(scale3)(m->rub, scale);
  m->pull = FN(scale3)(m->pull, scale);
}

// Adds plane i with its weight w; r = x - p_i and q = E_i^-1 r. v is the velocity of the point
// relative to the cloud's body at x, and `spin` that body's angular velocity. If reactions act at
// the planes, the body's velocity is taken at p_i instead.
static void spring_add_means(spring_means *m, const spring_law *l, GLOBAL const real *p, vec r,
                             vec q, num w, vec v, vec spin)
{
  const int plane = l->options & SPRING_PLANE;
  const vec speed = plane ? FN(add3)(v, FN(cross3)(spin, r)) : v;
  const spring_push f = spring_push_of(l, p, spring_height(p, r), speed);
  m->force = FN(mad3)(f.force, w, m->force);
  m->rub = FN(mad3)(f.slide, n_mul(w, n_mul(f.normal, f.rub_inv)), m->rub);
  m->pull = FN(mad3)(q, w, m->pull);
  if (plane) {
    const vec at = FN(make)(n_lit(p[0]), n_lit(p[1]), n_lit(p[2]));
    m->moment = FN(mad3)(FN(cross3)(at, f.force), w, m->moment);
  }
}

// Returns the means at place o for a point of velocity v. Planes count if their exponent is within
// `tail` of the largest one.
static spring_means spring_means_of(const spring_cloud *s, const spring_place *o,
                                    const spring_law *l, vec v, vec spin, lane tail)
{
  const int nearest = spring_nearest(s, o);
  const num zero = n_lit(R(0.0));
  spring_means m;
  num sum = zero, exponents[SPRING_TILE];
  m.force = m.moment = m.rub = m.pull = FN(make)(zero, zero, zero);
  m.top = lane_lit(-REAL_MOST);
  for (int k = -1; k < s->tiles; ++k) {
    const int tile = k < 0 ? nearest : k;
    if (k == nearest || spring_passes(s, o, tile, m.top - tail)) {
      continue;
    }
    const lane higher = spring_exponents(s, o, tile, m.top, exponents);
    const num keep = n_of(lane_exp2(m.top - higher));
    m.top = higher;
    sum = n_mul(sum, keep);
    spring_scale_means(&m, keep);
    SPRING_EACH (s, i, tile) {
      GLOBAL const real *p = s->records + i * SPRING_RECORD;
      const vec r = spring_way(p, o->x);
      const num exponent = n_sub(exponents[i - tile * SPRING_TILE], n_of(m.top));
      if (!lane_any(n_value(exponent) > -tail)) {
        continue; // testing all lanes is cheaper than computing a force
      }
      const num w = n_exp2(exponent);
      sum = n_add(sum, w);
      spring_add_means(&m, l, p, r, spring_pull(s, i, r), w, v, spin);
    }
  }
  m.sum_inv = n_rcp(sum);
  spring_scale_means(&m, m.sum_inv);
  return m;
}
