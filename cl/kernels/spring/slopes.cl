// The Jacobian of a pair's wrench and distance in body 2's frame, by the shift and turn of body 1
// at body 2's origin, by its relative velocity and spin, and by the parameters;
// docs/dev/spring-formulas.md, "Derivatives". It holds only if reactions act at the points, because
// then the wrench is a function of these variables.
//
// In its own frame a field is constant. So only the derivatives with respect to a point's position
// x and velocity v are summed:
//   dphi = sum w_i [n_i . dx + (phi_i - phi) dl_i],
//   dF = sum w_i [dlambda_i + (lambda_i - F) (dl_i - sum w dl)],
//   dW = sum beta_f [dW_f - (W_f - W) dphi_f / eps2],
// where F is the mean force at x, W the pair's wrench and distance, and W_f the wrench and distance
// of point f only. F and W are computed before, so that differences from them are summed. This
// avoids the cancellation of large terms.

// The derivatives of phi and of the mean force F at a point, in the axes of the field.
typedef struct spring_slope {
  vec phi;                // dphi / dx
  spring_turn by_x, by_v; // dF / dx and dF / dv, row by row
  vec by_v_d, by_v_s, by_eps3;
} spring_slope;

// Adds the outer product a b' to a matrix.
static void spring_outer(spring_turn *m, vec a, vec b)
{
  m->x = FN(mad3)(b, a.x, m->x);
  m->y = FN(mad3)(b, a.y, m->y);
  m->z = FN(mad3)(b, a.z, m->z);
}

// Adds the contribution of one plane, of weight w and force f, to dF / dv, by dissipation along its
// normal and by friction across it, and to dF / dv_d and dF / dv_s. `stiff` is k s(-phi_i), the
// force without dissipation.
static void spring_add_speed(spring_slope *s, const spring_law *l, GLOBAL const real *p,
                             const spring_push *f, num w, num stiff)
{
  const vec n = FN(make)(n_lit(p[3]), n_lit(p[4]), n_lit(p[5]));
  const num dissipated = n_mul(w, n_mul(n_mul(stiff, f->slope), l->v_d_inv));
  const num rubbed = n_mul(n_mul(w, l->mu), n_mul(f->normal, f->rub_inv));
  const num curved = n_mul(rubbed, n_mul(f->rub_inv, f->rub_inv));
  const num zero = n_lit(R(0.0));
  spring_outer(&s->by_v, FN(scale3)(f->way, dissipated), n);
  spring_outer(&s->by_v, FN(scale3)(n, rubbed), n);
  spring_outer(&s->by_v, FN(scale3)(f->slide, curved), f->slide);
  s->by_v.x = FN(sub3)(s->by_v.x, FN(make)(rubbed, zero, zero));
  s->by_v.y = FN(sub3)(s->by_v.y, FN(make)(zero, rubbed, zero));
  s->by_v.z = FN(sub3)(s->by_v.z, FN(make)(zero, zero, rubbed));
  s->by_v_d = FN(mad3)(f->way, n_neg(n_mul(dissipated, n_mul(f->along, l->v_d_inv))), s->by_v_d);
  s->by_v_s = FN(mad3)(f->slide, n_mul(curved, l->v_s), s->by_v_s);
}

// Returns the derivatives at place o, where the field is phi, its means are m and the point's
// velocity is v. Planes count if their exponent is within `tail` of the largest one.
static spring_slope spring_slope_of(const spring_cloud *c, const spring_place *o,
                                    const spring_law *l, vec v, num phi, const spring_means *m,
                                    lane tail)
{
  const lane least = m->top - tail;
  const num zero = n_lit(R(0.0)), all_stiff = n_mul(l->k, l->eps3);
  spring_slope s;
  s.phi = FN(make)(zero, zero, zero);
  s.by_x.x = s.by_x.y = s.by_x.z = s.phi;
  s.by_v = s.by_x;
  s.by_v_d = s.by_v_s = s.by_eps3 = s.phi;
  for (int tile = 0; tile < c->tiles; ++tile) {
    if (spring_passes(c, o, tile, least)) {
      continue;
    }
    SPRING_EACH (c, i, tile) {
      GLOBAL const real *p = c->records + i * SPRING_RECORD;
      const vec r = spring_way(p, o->x), q = spring_pull(c, i, r);
      const num exponent = n_sub(spring_exponent(c, o, i, r, q), n_of(m->top));
      if (!lane_any(n_value(exponent) > -tail)) {
        continue;
      }
      const num height = spring_height(p, r), w = n_mul(n_exp2(exponent), m->sum_inv);
      const spring_push f = spring_push_of(l, p, height, v);
      const vec pull = spring_scaled(FN(sub3)(q, m->pull), R(-2.0) * LN2); // dl_i - sum w dl
      const vec n = FN(make)(n_lit(p[3]), n_lit(p[4]), n_lit(p[5]));
      s.phi = FN(mad3)(n, w, FN(mad3)(pull, n_mul(w, n_sub(height, phi)), s.phi));
      const num yields = n_neg(n_mul(n_mul(w, l->k), n_mul(f.share, f.damping)));
      spring_outer(&s.by_x, FN(scale3)(f.way, yields), n);
      spring_outer(&s.by_x, FN(scale3)(FN(sub3)(f.force, m->force), w), pull);
      const num y = n_neg(n_mul(height, l->eps3_inv));
      const num softer = n_mul(n_mul(w, l->k), n_mul(f.damping, n_sub(f.soft, n_mul(y, f.share))));
      s.by_eps3 = FN(mad3)(f.way, softer, s.by_eps3);
      spring_add_speed(&s, l, p, &f, w, n_mul(all_stiff, f.soft));
    }
  }
  return s;
}

// Turns a matrix from body 1's axes to body 2's: R m R'.
static spring_turn spring_turn_matrix(const spring_turn *turn, const spring_turn *m)
{
  const vec a = spring_rotate(turn, m->x), b = spring_rotate(turn, m->y),
            c = spring_rotate(turn, m->z);
  spring_turn r;
  r.x = FN(mad3)(a, turn->x.x, FN(mad3)(b, turn->x.y, FN(scale3)(c, turn->x.z)));
  r.y = FN(mad3)(a, turn->y.x, FN(mad3)(b, turn->y.y, FN(scale3)(c, turn->y.z)));
  r.z = FN(mad3)(a, turn->z.x, FN(mad3)(b, turn->z.y, FN(scale3)(c, turn->z.z)));
  return r;
}

static spring_slope spring_turn_slope(const spring_turn *turn, const spring_slope *s)
{
  spring_slope r;
  r.phi = spring_rotate(turn, s->phi);
  r.by_x = spring_turn_matrix(turn, &s->by_x);
  r.by_v = spring_turn_matrix(turn, &s->by_v);
  r.by_v_d = spring_rotate(turn, s->by_v_d);
  r.by_v_s = spring_rotate(turn, s->by_v_s);
  r.by_eps3 = spring_rotate(turn, s->by_eps3);
  return r;
}

// A block's target and inputs: the Jacobian to add to, the block's beta, and the soft distance and
// the force and moment on body 1 of the whole pair, from which differences are taken.
typedef struct spring_columns {
  num *sums; // the work-item's Jacobian (SPRING_ROWS, SPRING_COLUMNS)
  num beta, distance;
  vec force, moment;
} spring_columns;

// Adds beta times the change of force and moment to one column.
static void spring_add_column(const spring_columns *c, int column, vec force, vec moment)
{
  num *to = c->sums + column;
  to[0 * SPRING_COLUMNS] = n_mad(force.x, c->beta, to[0 * SPRING_COLUMNS]);
  to[1 * SPRING_COLUMNS] = n_mad(force.y, c->beta, to[1 * SPRING_COLUMNS]);
  to[2 * SPRING_COLUMNS] = n_mad(force.z, c->beta, to[2 * SPRING_COLUMNS]);
  to[3 * SPRING_COLUMNS] = n_mad(moment.x, c->beta, to[3 * SPRING_COLUMNS]);
  to[4 * SPRING_COLUMNS] = n_mad(moment.y, c->beta, to[4 * SPRING_COLUMNS]);
  to[5 * SPRING_COLUMNS] = n_mad(moment.z, c->beta, to[5 * SPRING_COLUMNS]);
}

// Adds to one column the effect of a change of beta by `share` times beta. It moves the pair's
// wrench towards the wrench `a` of this point, and its distance towards phi.
static void spring_add_share(const spring_columns *c, int column, num share, const spring_acting *a,
                             num phi)
{
  num *row = c->sums + 6 * SPRING_COLUMNS + column;
  spring_add_column(c, column, FN(scale3)(FN(sub3)(a->force, c->force), share),
                    FN(scale3)(FN(sub3)(a->moment, c->moment), share));
  *row = n_mad(n_mul(n_sub(phi, c->distance), share), c->beta, *row);
}

static vec spring_axis(int k)
{
  return FN(make)(n_lit(k == 0 ? R(1.0) : R(0.0)), n_lit(k == 1 ? R(1.0) : R(0.0)),
                  n_lit(k == 2 ? R(1.0) : R(0.0)));
}

// Adds to the 12 columns of pose and twist. A point of body 1 moves with the body through the
// field. A point of body 2 is fixed while the field of body 1 and the axes of the forces move
// around it.
static void spring_add_motion(const spring_columns *c, const spring_pair *p, const spring_law *l,
                              const spring_block *b, const spring_slope *s, const spring_acting *a,
                              num phi)
{
  const vec spin = spring_vector(p->frame, SPRING_SPIN);
  for (int k = 0; k < 6; ++k) {
    const vec axis = spring_axis(k % 3);
    const vec move = k < 3 ? axis : FN(cross3)(axis, b->x);
    vec force = spring_rotate(&s->by_x, move),
        carried = FN(make)(n_lit(R(0.0)), n_lit(R(0.0)), n_lit(R(0.0)));
    if (!b->side) {
      force = FN(add3)(force, spring_rotate(&s->by_v, FN(cross3)(spin, move)));
      carried = FN(cross3)(move, a->force);
    } else if (k >= 3) {
      force = FN(add3)(force, FN(add3)(FN(cross3)(axis, a->force),
                                       spring_rotate(&s->by_v, FN(cross3)(axis, b->speed))));
    }
    const num slope = FN(dot3)(s->phi, move), nearer = b->side ? n_neg(slope) : slope;
    spring_add_column(c, k, force, FN(add3)(FN(cross3)(b->x, force), carried));
    spring_add_share(c, k, n_neg(n_mul(nearer, l->eps2_inv)), a, phi);
    c->sums[6 * SPRING_COLUMNS + k] = n_mad(nearer, c->beta, c->sums[6 * SPRING_COLUMNS + k]);
    const vec by_speed = spring_rotate(&s->by_v, move);
    spring_add_column(c, 6 + k, by_speed, FN(cross3)(b->x, by_speed));
  }
}

// Adds to a parameter's column. `force` is the derivative, by that parameter, of the force on the
// point's own body.
static void spring_add_force(const spring_columns *c, const spring_block *b, int parameter,
                             vec force)
{
  const vec on1 = b->side ? FN(neg3)(force) : force;
  spring_add_column(c, 12 + parameter, on1, FN(cross3)(b->x, on1));
}

static void spring_add_parameters(const spring_columns *c, const spring_law *l,
                                  const spring_block *b, const spring_means *m,
                                  const spring_slope *s, const spring_acting *a, num phi)
{
  const vec rub = b->side ? spring_rotate(&b->turn, m->rub) : m->rub;
  const vec force = b->side ? FN(neg3)(a->force) : a->force;
  spring_add_force(c, b, SPRING_K, FN(scale3)(force, n_rcp(l->k)));
  spring_add_force(c, b, SPRING_MU, FN(neg3)(rub));
  spring_add_force(c, b, SPRING_V_D, s->by_v_d);
  spring_add_force(c, b, SPRING_V_S, s->by_v_s);
  spring_add_force(c, b, SPRING_EPS3, s->by_eps3);
  const num level = n_mul(n_mul(n_sub(phi, c->distance), l->eps2_inv), l->eps2_inv);
  spring_add_share(c, 12 + SPRING_EPS2, level, a, phi);
}

// One work-item adds up the Jacobian of one slice of one pair, over the same blocks as
// spring_forces: parts (pairs, SPRING_SLICES, SPRING_SLOPES), which spring_sum adds up. `means` are
// those of spring_soften, and `sums` (pairs, SPRING_WRENCH) is the wrench already computed. The
// global size is (SPRING_SLICES, pairs).
ADJOINT_KERNEL void spring_slopes(GLOBAL const int *heads, GLOBAL const real *shapes,
                                  GLOBAL const int *pairs, int first_pair, int pair_stride,
                                  GLOBAL const real *frames, int options, int room, int count,
                                  GLOBAL const real *separations, GLOBAL const real *means,
                                  GLOBAL const real *sums, GLOBAL real *parts)
{
  const int slice = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count || slice >= SPRING_SLICES) {
    return;
  }
  const spring_pair p = spring_pair_of(heads, shapes, pairs, first_pair, pair_stride, frames, pair);
  const spring_law l = spring_law_of(p.frame, options);
  GLOBAL const real *mean = NUMS(means, pair, SPRING_MEANS),
                    *whole = NUMS(sums, pair, SPRING_WRENCH);
  num all[SPRING_SLOPES];
  spring_columns c;
  c.sums = all;
  c.distance = load_one(mean + 2, SPRING_MEANS);
  c.force = FN(make)(load_one(whole, SPRING_WRENCH), load_one(whole + 1, SPRING_WRENCH),
                     load_one(whole + 2, SPRING_WRENCH));
  c.moment = FN(make)(load_one(whole + 3, SPRING_WRENCH), load_one(whole + 4, SPRING_WRENCH),
                      load_one(whole + 5, SPRING_WRENCH));
  for (int i = 0; i < SPRING_SLOPES; ++i) {
    all[i] = n_lit(R(0.0));
  }
  for (int block = slice; block < p.blocks; block += SPRING_SLICES) {
    lane tail;
    const num phi = load(NUMS(separations, pair, room) + block * LANES, room);
    c.beta = spring_beta(&p, &l, block, phi, mean, &tail);
    if (lane_any(tail > lane_lit(SPRING_ITS_OWN))) {
      const spring_block b = spring_block_of(&p, block);
      const spring_place o = spring_place_of(b.in, b.in_x);
      const spring_means m = spring_means_of(b.in, &o, &l, b.in_speed, b.spin, tail);
      const spring_acting a = spring_acting_of(&p, &b, &m, 0);
      const spring_slope own = spring_slope_of(b.in, &o, &l, b.in_speed, phi, &m, tail);
      const spring_slope s = b.side ? spring_turn_slope(&b.turn, &own) : own;
      spring_add_motion(&c, &p, &l, &b, &s, &a, phi);
      spring_add_parameters(&c, &l, &b, &m, &s, &a, phi);
    }
  }
  GLOBAL real *to = NUMS(parts, pair * SPRING_SLICES + slice, SPRING_SLOPES);
  for (int i = 0; i < SPRING_SLOPES; ++i) {
    store_sum(to + i, SPRING_SLOPES, all[i]);
  }
}
