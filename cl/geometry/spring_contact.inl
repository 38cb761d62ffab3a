// The force of a spring at one of a pair's contacts, and its derivatives
// (docs/dev/spring-formulas.md, "At contacts"). With the distance d, the weight w, the normal n and
// the velocity u of the contact's owner against the other body it is
//   lambda = k w s D(v_n / v_d) (n - mu v_t / sqrt(v_s^2 + |v_t|^2)), s = eps3 softplus(-d /
//     eps3),
// where v_n = u . n and v_t = u - v_n n.

typedef struct FN(contact_law) {
  num k, mu, v_d, v_s, eps2, eps3;
  int smooth; // the dissipation is smooth of any order
} FN(contact_law);

// The depth of a contact.
typedef struct FN(contact_depth) {
  num soft, share; // s, and softplus' slope: s' = -share
  num slope;       // of s by eps3
  num level;       // d + (1 - w) s: a contact whose weight goes to 0 rises to the surface
} FN(contact_depth);

static FN(contact_depth) FN(contact_depth_of)(num d, num w, const FN(contact_law) *l)
{
  FN(contact_depth) r;
  const num inverse = n_rcp(l->eps3), far = n_mul(d, inverse);
  r.soft = FN(spring_softplus)(n_neg(far), &r.share);
  r.slope = n_mad(r.share, far, r.soft);
  r.soft = n_mul(r.soft, l->eps3);
  r.level = n_mad(n_sub(n_lit(R(1.0)), w), r.soft, d);
  return r;
}

// lambda / (w s), and the data for its derivatives.
typedef struct FN(contact_push) {
  num along;         // v_n
  num damping, fall; // k D, and its derivative with respect to v_n
  num rub;           // 1 / sqrt(v_s^2 + |v_t|^2)
  vec slide, way;    // v_t, n - mu v_t rub
} FN(contact_push);

static FN(contact_push) FN(contact_push_of)(vec n, vec u, const FN(contact_law) *l)
{
  FN(contact_push) r;
  const num inverse = n_rcp(l->v_d);
  r.along = FN(dot3)(u, n);
  r.damping = n_mul(l->k, FN(spring_dissipation)(n_mul(r.along, inverse), l->smooth, &r.fall));
  r.fall = n_mul(n_mul(l->k, r.fall), inverse);
  r.slide = FN(mad3)(n, n_neg(r.along), u);
  r.rub = n_rcp(n_sqrt(n_mad(l->v_s, l->v_s, FN(dot3)(r.slide, r.slide))));
  r.way = FN(mad3)(r.slide, n_neg(n_mul(l->mu, r.rub)), n);
  return r;
}

// The gradient of worth = y . lambda / (w s), with y given. contact_slopes_ahead extends it to
// worth + h d(worth)/du x, the force within an implicit step of length h in which u changes by h x.
typedef struct FN(contact_slopes) {
  num worth;
  vec y, n, u, x; // by these; the one by y is the force itself, over w s
  num mu, v_d, v_s;
} FN(contact_slopes);

static FN(contact_slopes) FN(contact_slopes_of)(vec n, vec u, vec y, const FN(contact_law) *l)
{
  FN(contact_slopes) r;
  const FN(contact_push) f = FN(contact_push_of)(n, u, l);
  const num rub2 = n_mul(f.rub, f.rub), slid = FN(dot3)(y, f.slide), dragged = n_mul(f.rub, slid);
  const num value = FN(dot3)(y, f.way), fall = n_mul(f.fall, value);
  // by v_t, without the damping: -mu rub (y - rub^2 (y . v_t) v_t)
  const vec turned = FN(scale3)(FN(mad3)(f.slide, n_neg(n_mul(rub2, slid)), y),
                                n_neg(n_mul(n_mul(l->mu, f.rub), f.damping)));
  const num across = FN(dot3)(turned, n);
  r.worth = n_mul(f.damping, value);
  r.y = FN(scale3)(f.way, f.damping);
  r.n =
    FN(mad3)(y, f.damping, FN(mad3)(u, n_sub(fall, across), FN(scale3)(turned, n_neg(f.along))));
  r.u = FN(mad3)(n, n_sub(fall, across), turned);
  r.x = FN(scale3)(r.u, n_lit(R(0.0)));
  r.mu = n_neg(n_mul(f.damping, dragged));
  r.v_d = n_neg(n_mul(n_mul(fall, f.along), n_rcp(l->v_d)));
  r.v_s = n_mul(n_mul(l->mu, l->v_s), n_mul(f.damping, n_mul(rub2, dragged)));
  return r;
}

// Adds to *r, the result of contact_slopes_of, h times its derivative with respect to u along x.
static void FN(contact_slopes_ahead)(vec n, vec u, vec y, vec x, real h, const FN(contact_law) *l,
                                     FN(contact_slopes) *r)
{
  const FN(contact_push) f = FN(contact_push_of)(n, u, l);
  const num v_d_inv = n_rcp(l->v_d), rub2 = n_mul(f.rub, f.rub);
  const num step = n_lit(h), along_x = FN(dot3)(x, n);
  const vec slide_x = FN(mad3)(n, n_neg(along_x), x);
  // Derivatives along u are marked by _x: of D, its slope, rub, y . v_t, rub^2 (y .
  // v_t).
  const num damping_x = n_mul(f.fall, along_x);
  const num bend = n_mul(FN(spring_dissipation_bend)(n_mul(f.along, v_d_inv), l->smooth),
                         n_mul(l->k, n_mul(v_d_inv, v_d_inv)));
  const num fall_x = n_mul(bend, along_x);
  const num rub_x = n_neg(n_mul(n_mul(f.rub, rub2), FN(dot3)(f.slide, slide_x)));
  const num slid = FN(dot3)(y, f.slide), slid_x = FN(dot3)(y, slide_x);
  const num dragged = n_mul(f.rub, slid), dragged_x = n_mad(rub_x, slid, n_mul(f.rub, slid_x));
  const num held = n_mul(rub2, slid);
  const num held_x = n_mad(n_mul(n_scale(rub_x, R(2.0)), f.rub), slid, n_mul(rub2, slid_x));
  const num value = FN(dot3)(y, f.way), value_x = n_neg(n_mul(l->mu, dragged_x));
  const vec way_x = FN(scale3)(FN(mad3)(slide_x, f.rub, FN(scale3)(f.slide, rub_x)), n_neg(l->mu));
  const num fell = n_mul(f.fall, value), fell_x = n_mad(fall_x, value, n_mul(f.fall, value_x));
  const vec bare = FN(mad3)(f.slide, n_neg(held), y);
  const vec bare_x = FN(neg3)(FN(mad3)(f.slide, held_x, FN(scale3)(slide_x, held)));
  const num strength = n_neg(n_mul(n_mul(l->mu, f.rub), f.damping));
  const num strength_x = n_neg(n_mul(l->mu, n_mad(rub_x, f.damping, n_mul(f.rub, damping_x))));
  const vec turned = FN(scale3)(bare, strength);
  const vec turned_x = FN(mad3)(bare, strength_x, FN(scale3)(bare_x, strength));
  const num across = FN(dot3)(turned, n), across_x = FN(dot3)(turned_x, n);
  vec n_x = FN(mad3)(y, damping_x,
                     FN(mad3)(x, n_sub(fell, across), FN(scale3)(u, n_sub(fell_x, across_x))));
  n_x = FN(sub3)(n_x, FN(mad3)(turned, along_x, FN(scale3)(turned_x, f.along)));
  r->x = FN(scale3)(r->u, step);
  r->worth = n_mad(step, n_mad(damping_x, value, n_mul(f.damping, value_x)), r->worth);
  r->y = FN(mad3)(FN(mad3)(f.way, damping_x, FN(scale3)(way_x, f.damping)), step, r->y);
  r->n = FN(mad3)(n_x, step, r->n);
  r->u = FN(mad3)(FN(mad3)(n, n_sub(fell_x, across_x), turned_x), step, r->u);
  r->mu = n_mad(step, n_neg(n_mad(damping_x, dragged, n_mul(f.damping, dragged_x))), r->mu);
  r->v_d = n_mad(step, n_neg(n_mul(v_d_inv, n_mad(fell_x, f.along, n_mul(fell, along_x)))), r->v_d);
  // v_s: mu v_s D rub^2 (rub y . v_t)
  const num stuck = n_mul(rub2, dragged);
  const num stuck_x = n_mad(n_mul(n_scale(rub_x, R(2.0)), f.rub), dragged, n_mul(rub2, dragged_x));
  r->v_s = n_mad(n_mul(step, n_mul(l->mu, l->v_s)),
                 n_mad(damping_x, stuck, n_mul(f.damping, stuck_x)), r->v_s);
}
