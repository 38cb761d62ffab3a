// Contacts of a world as rows of its solver: the frame, reference acceleration and stiffness of
// each; docs/dev/cone-formulas.md, sections 7 and 8.

// The numbers of one world in scratch (blocks, numbers, LANES). Reading copies a number to all
// lanes.
typedef struct world_one {
  GLOBAL const real *at;
  int stride;
} world_one;

static world_one one_at(GLOBAL const real *scratch, GLOBAL const world_sizes *n, int world)
{
  world_one o;
  o.stride = n->numbers * LANES;
  o.at = NUMS(scratch, world / LANES, o.stride) + world % LANES;
  return o;
}

static num one_get(const world_one *o, int i)
{
  return load_one(o->at + (size_t)i * LANES, o->stride);
}

static vec one_get3(const world_one *o, int i)
{
  return FN(make)(one_get(o, i), one_get(o, i + 1), one_get(o, i + 2));
}

static FN(quaternion) one_quaternion(const world_one *o, int i)
{
  FN(quaternion) r;
  r.w = one_get(o, i);
  r.v = one_get3(o, i + 1);
  return r;
}

static real one_real(const world_one *o, int i)
{
  return o->at[(size_t)i * LANES];
}

// Returns parameter k of a world on all lanes. If `shared` is set, `rows` is one row for all
// worlds.
static num one_parameter(GLOBAL const real *rows, int world, int width, int k, int shared)
{
  return shared ? n_lit(rows[k]) : load_one(NUMS(rows, world, width) + k, width);
}

#define MIN_FRICTION R(1e-5)
#define MIN_STIFFNESS R(1e-6)

// The friction and the stiffness chi of a group in one world, raised to their minimum.
typedef struct pair_parameters {
  num friction, stiffness;
} pair_parameters;

static pair_parameters parameters_of(GLOBAL const world_sizes *n, GLOBAL const real *rows,
                                     int world, GLOBAL const int *group, int shared)
{
  const int width = PARAMETERS(n->links, n->columns), first = n->links + group[GROUP_COLUMN_A];
  pair_parameters p;
  p.friction = one_parameter(rows, world, width, first, shared);
  p.stiffness =
    FN(raised)(one_parameter(rows, world, width, first + n->columns, shared), MIN_STIFFNESS);
  if (!group_is_listed(group)) {
    const int second = n->links + group[GROUP_COLUMN_B];
    p.friction = FN(larger_friction)(p.friction, one_parameter(rows, world, width, second, shared));
    p.stiffness = n_sqrt(
      n_mul(p.stiffness, FN(raised)(one_parameter(rows, world, width, second + n->columns, shared),
                                    MIN_STIFFNESS)));
  }
  p.friction = FN(raised)(p.friction, MIN_FRICTION);
  return p;
}

// ---- softness ----

// Returns the stiffness D = a d(r) / ((1 - d(r)) A) of a contact of activity a and impedance `imp`.
// It is linear in the activity: among few contacts, one that just touches carries half as much as
// one of full activity.
static num FN(contact_stiffness)(num activity, num imp, num diagonal)
{
  return n_mul(activity, FN(row_stiffness)(imp, diagonal));
}

// ---- relative twists ----

// Adds `sign` times the contribution of link `link` to a relative twist at the centre c: its
// angular velocity to *w, and the velocity of its material point at c to *v. The links' twists are
// at `at`.
static void add_twist(const world_one *o, GLOBAL const world_sizes *n, int at, int link, real sign,
                      vec c, vec *w, vec *v)
{
  if (link >= 0) {
    const vec turn = one_get3(o, at + 6 * link);
    const vec r = FN(sub3)(c, one_get3(o, n->at_origin + 3 * link));
    const vec along = FN(add3)(one_get3(o, at + 6 * link + 3), FN(cross3)(turn, r));
    *w = FN(mad3)(turn, n_lit(sign), *w);
    *v = FN(mad3)(along, n_lit(sign), *v);
  }
}

// ---- frames ----

typedef struct FN(contact_frame) {
  vec n, t1, t2;
} FN(contact_frame);

// Returns n and two tangents of n's length, orthogonal to it and to each other: Duff's basis, which
// branches only on the sign of n_z (docs/dev/cone-formulas.md, section 7).
static FN(contact_frame) FN(frame_of)(vec n)
{
  FN(contact_frame) f;
  const num length = n_sqrt(n_shift(FN(dot3)(n, n), R(1e-20)));
  const vec m = FN(scale3)(n, n_rcp(length));
  const n_mask down = n_value(m.z) < n_plain(R(0.0));
  const num s = n_select(down, n_lit(R(-1.0)), n_lit(R(1.0)));
  const num g = n_neg(n_rcp(n_add(s, m.z)));
  const num e = n_mul(n_mul(m.x, m.y), g);
  f.n = n;
  f.t1 = FN(scale3)(FN(make)(n_shift(n_mul(n_mul(s, n_mul(m.x, m.x)), g), R(1.0)), n_mul(s, e),
                             n_neg(n_mul(s, m.x))),
                    length);
  f.t2 = FN(scale3)(FN(make)(e, n_mad(n_mul(m.y, m.y), g, s), n_neg(m.y)), length);
  return f;
}

// ---- frames of pyramids ----

// The axes x, y and z, in the world, of the body that orients a group's pyramids, and the weight of
// x and y relative to z.
typedef struct pyramid_axes {
  vec of[3];
  real across;
} pyramid_axes;

// These functions convert a world vector to components along the axes, and back.
static vec seen_along(const pyramid_axes *a, vec x)
{
  return FN(make)(FN(dot3)(a->of[0], x), FN(dot3)(a->of[1], x), FN(dot3)(a->of[2], x));
}

static vec taken_from(const pyramid_axes *a, vec x)
{
  return FN(mad3)(a->of[0], x.x, FN(mad3)(a->of[1], x.y, FN(scale3)(a->of[2], x.z)));
}

#define CROSS_LEAST R(1e-15)

// The alignment of the cross of a contact's tangents with a body's axes. With z_k = t1_k + i t2_k
// and the unit normal m, these are the real and imaginary parts of the sum of w_k z_k^4 and of the
// sum of w_k m_k z_k^3. The cross is best aligned if the first sum is real and positive.
typedef struct cross_sums {
  num re, im, slope_re, slope_im;
} cross_sums;

static void add_axis(cross_sums *s, real weight, num m, num t1, num t2)
{
  const num re = n_sub(n_mul(t1, t1), n_mul(t2, t2)), im = n_scale(n_mul(t1, t2), R(2.0));
  const num out = n_scale(m, weight);
  s->re = n_smad(n_sub(n_mul(re, re), n_mul(im, im)), weight, s->re);
  s->im = n_smad(n_mul(re, im), R(2.0) * weight, s->im);
  s->slope_re = n_mad(out, n_sub(n_mul(re, t1), n_mul(im, t2)), s->slope_re);
  s->slope_im = n_mad(out, n_mad(re, t2, n_mul(im, t1)), s->slope_im);
}

// Returns these sums for unit vectors given as components along the axes.
static cross_sums cross_sums_of(real across, vec m, vec t1, vec t2)
{
  const num zero = n_lit(R(0.0));
  cross_sums s = {zero, zero, zero, zero};
  add_axis(&s, across, m.x, t1.x, t2.x);
  add_axis(&s, across, m.y, t1.y, t2.y);
  add_axis(&s, R(1.0), m.z, t1.z, t2.z);
  return s;
}

// Halves the angle of a complex number of length 1.
static void halve_angle(num *re, num *im)
{
  const n_mask right = n_value(*re) >= n_plain(R(0.0)), down = n_value(*im) < n_plain(R(0.0));
  const num root = n_sqrt(n_scale(n_shift(n_abs(*re), R(1.0)), R(0.5)));
  const num rest = n_mul(n_scale(*im, R(0.5)), n_rcp(root));
  *re = n_select(right, root, n_abs(rest));
  *im = n_select(right, rest, n_select(down, n_neg(root), root));
}

// Rotates a cross by quarter turns until *t1 is the arm with the largest component along (1, 2, 4).
// Rounding does not change the choice for a normal along an axis or perpendicular to one.
static void name_arms(vec *t1, vec *t2)
{
  const vec most = lit3(R(1.0), R(2.0), R(4.0)), a = *t1, b = *t2;
  const num along1 = FN(dot3)(a, most), along2 = FN(dot3)(b, most);
  const n_mask second = n_value(n_abs(along2)) > n_value(n_abs(along1));
  const num first = n_select(second, along2, along1);
  const num sign = n_select(n_value(first) < n_plain(R(0.0)), n_lit(R(-1.0)), n_lit(R(1.0)));
  const num keep = n_select(second, n_lit(R(0.0)), sign), swap = n_sub(sign, keep);
  *t1 = FN(mad3)(a, keep, FN(scale3)(b, swap));
  *t2 = FN(mad3)(b, keep, FN(scale3)(a, n_neg(swap)));
}

// Returns n and two tangents of n's length, as frame_of does, with the cross aligned with the
// body's axes. The frame turns with the body, not with the world (docs/dev/cone-formulas.md,
// section 7).
static FN(contact_frame) pyramid_frame_of(const pyramid_axes *a, vec n)
{
  const num length = n_sqrt(n_shift(FN(dot3)(n, n), R(1e-20)));
  const vec m = FN(scale3)(seen_along(a, n), n_rcp(length));
  FN(contact_frame) f = FN(frame_of)(m);
  const cross_sums s = cross_sums_of(a->across, m, f.t1, f.t2);
  // If no cross is aligned best, the sum is 0 and any cross will do.
  num re = n_shift(s.re, CROSS_LEAST), im = s.im;
  const num inverse = n_rcp(n_sqrt(n_mad(re, re, n_mul(im, im))));
  re = n_mul(re, inverse);
  im = n_mul(im, inverse);
  halve_angle(&re, &im);
  halve_angle(&re, &im);
  vec t1 = FN(mad3)(f.t1, re, FN(scale3)(f.t2, im));
  vec t2 = FN(mad3)(f.t2, re, FN(scale3)(f.t1, n_neg(im)));
  name_arms(&t1, &t2);
  f.n = n;
  f.t1 = FN(scale3)(taken_from(a, t1), length);
  f.t2 = FN(scale3)(taken_from(a, t2), length);
  return f;
}

// Returns the components of u, the velocity of a contact's point, along the rows of its frame.
static vec FN(frame_times)(const FN(contact_frame) *f, vec u)
{
  return FN(make)(FN(dot3)(f->n, u), FN(dot3)(f->t1, u), FN(dot3)(f->t2, u));
}

// Writes the wrench of a force f at p: its moment about the centre, then f.
static void row_wrench(vec p, vec f, num out[6])
{
  const vec m = FN(cross3)(p, f);
  out[0] = m.x;
  out[1] = m.y;
  out[2] = m.z;
  out[3] = f.x;
  out[4] = f.y;
  out[5] = f.z;
}

// Writes Y w, where Y (6, 6) is the group's mobility at `at`.
static void mobility_times(const world_one *o, int at, const num w[6], num out[6])
{
  for (int i = 0; i < 6; ++i) {
    num part = n_lit(R(0.0));
    for (int k = 0; k < 6; ++k) {
      part = n_mad(one_get(o, at + 6 * i + k), w[k], part);
    }
    out[i] = part;
  }
}

// Returns w' Y w, where w is the wrench of f at p. It is J inv(M) J' of a row along f.
static num mobility_along(const world_one *o, int at, vec p, vec f)
{
  num row[6], moved[6], sum = n_lit(R(0.0));
  row_wrench(p, f, row);
  mobility_times(o, at, row, moved);
  for (int i = 0; i < 6; ++i) {
    sum = n_mad(row[i], moved[i], sum);
  }
  return sum;
}

// ---- a group ----

// The inverse weights of links are ignored if the point moves more easily than they predict by more
// than this factor.
#define WEAK_RATIO R(1e4)

// The data that all contacts of a group share in one world.
typedef struct world_group {
  GLOBAL const int *ints;
  GLOBAL const real *reals; // GROUP_REALS numbers
  int mobility;             // offset of its mobility, or -1 if it is not needed
  pair_parameters of;       // parameters of its pair
  vec centre, w, v;         // its centre in the world; the twist of link a relative to link b there
  int pyramidal;            // 1 if its friction is a pyramid
  pyramid_axes axes;        // set only if pyramidal
} world_group;

// Finds the axes that orient a group's pyramids.
static pyramid_axes axes_of(const world_one *o, GLOBAL const world_sizes *n, const world_group *g)
{
  const int link = g->ints[g->ints[GROUP_TURNS] ? GROUP_B : GROUP_A];
  FN(quaternion) q = quaternion_real(g->reals + GROUP_AXES);
  pyramid_axes a;
  if (link >= 0) {
    q = FN(quaternion_times)(one_quaternion(o, n->at_quaternion + 4 * link), q);
  }
  a.of[0] = FN(quaternion_rotate)(q, lit3(R(1.0), R(0.0), R(0.0)));
  a.of[1] = FN(quaternion_rotate)(q, lit3(R(0.0), R(1.0), R(0.0)));
  a.of[2] = FN(quaternion_rotate)(q, lit3(R(0.0), R(0.0), R(1.0)));
  a.across = g->reals[GROUP_ACROSS];
  return a;
}

static world_group group_of(const world_one *o, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                            GLOBAL const real *reals, GLOBAL const real *parameters, int world,
                            int shared, int group)
{
  world_group g;
  g.ints = ints + n->at_groups + GROUP_INTS * group;
  g.reals = reals + n->at_group_reals + GROUP_REALS * group;
  g.of = parameters_of(n, parameters, world, g.ints, shared);
  g.mobility = n->exact || g.ints[GROUP_WEAK] ? n->at_mobility + 36 * group : -1;
  g.centre = one_get3(o, n->at_origin + 3 * group_centre(g.ints));
  g.w = g.v = lit3(R(0.0), R(0.0), R(0.0));
  add_twist(o, n, n->at_velocity, g.ints[GROUP_A], R(1.0), g.centre, &g.w, &g.v);
  add_twist(o, n, n->at_velocity, g.ints[GROUP_B], R(-1.0), g.centre, &g.w, &g.v);
  g.pyramidal = n->pyramidal && g.reals[GROUP_FLAT] == R(0.0);
  if (g.pyramidal) {
    g.axes = axes_of(o, n, &g);
  }
  return g;
}

// Returns u, twice the axial vector of the skew part of U, where [T U; U' V] is a group's mobility.
// U maps forces to angular motion, and U' maps moments to linear motion.
static vec mobility_turn(const world_one *o, int at)
{
  return FN(make)(n_sub(one_get(o, at + 16), one_get(o, at + 11)),
                  n_sub(one_get(o, at + 5), one_get(o, at + 15)),
                  n_sub(one_get(o, at + 9), one_get(o, at + 4)));
}

// Returns the mobility of a point at p: the sum of J inv(M) J' over rows along any three
// orthonormal axes. With the group's mobility [T U; U' V] of angular and linear motion, and u of
// mobility_turn, it is tr(T) |p|^2 - p' T p + 2 u . p + tr(V).
static num mobility_of_point(const world_one *o, int at, vec p)
{
  const vec turned = FN(make)(FN(dot3)(one_get3(o, at), p), FN(dot3)(one_get3(o, at + 6), p),
                              FN(dot3)(one_get3(o, at + 12), p));
  const num turn = n_add(one_get(o, at), n_add(one_get(o, at + 7), one_get(o, at + 14)));
  const num move = n_add(one_get(o, at + 21), n_add(one_get(o, at + 28), one_get(o, at + 35)));
  const num mixed = FN(dot3)(mobility_turn(o, at), p);
  return n_add(n_sub(n_mul(turn, FN(dot3)(p, p)), FN(dot3)(p, turned)),
               n_add(n_add(mixed, mixed), move));
}

// Returns A, the diagonal of J inv(M) J' assumed for a contact at p with frame f;
// docs/dev/cone-formulas.md, section 8. An approximate A far below the point's mobility is
// meaningless (a wheel on its axle has an inverse weight of 0), and is replaced by that mobility.
// The mobility of the point is used, not that of the row: a row along which the point hardly moves
// would be stiff enough to throw the link aside. An exact A may be 0, and is raised to a share of
// the approximate one.
static num contact_diagonal(const world_one *o, GLOBAL const world_sizes *n, const world_group *g,
                            vec p, const FN(contact_frame) *f)
{
  const real weight = g->reals[GROUP_WEIGHT];
  num a = n_lit(weight);
  if (n->exact) {
    if (g->pyramidal) {
      a = mobility_along(o, g->mobility, p, FN(mad3)(f->t1, g->of.friction, f->n));
    } else {
      const num length = n_shift(FN(dot3)(f->n, f->n), R(1e-20));
      a = n_mul(mobility_along(o, g->mobility, p, f->n), n_rcp(length));
    }
    return FN(raised)(a, R(1e-6) * weight);
  }
  if (g->mobility >= 0) {
    const num free = mobility_of_point(o, g->mobility, p);
    a = n_select(n_value(free) > n_plain(WEAK_RATIO * weight), free, a);
  }
  return g->pyramidal ? n_mul(a, n_shift(n_mul(g->of.friction, g->of.friction), R(1.0))) : a;
}

// A contact in the solver's form: the point p of its force relative to the group's centre, its
// frame, reference acceleration, stiffness D, distance minus the margin, and activity.
typedef struct contact_row {
  vec p;
  FN(contact_frame) f;
  vec ref;
  num d, distance, activity;
} contact_row;

// Makes the row of a contact of the manifold. `side` is -1 if body 2 owns the point, else 1. For -1
// the frame is reversed, because a group's twists are those of link a relative to link b.
static contact_row contact_row_of(const world_one *o, GLOBAL const world_sizes *n,
                                  GLOBAL const real *reals, const world_group *g, vec p,
                                  num distance, vec normal, num activity, num side)
{
  GLOBAL const real *soft = g->reals + GROUP_SOFT;
  const num r = n_shift(distance, -g->reals[GROUP_MARGIN]), chi = g->of.stiffness;
  const num imp = FN(impedance)(soft, r);
  const num k = n_scale(chi, soft[SOFT_K]), damping = n_scale(n_sqrt(chi), soft[SOFT_B]);
  contact_row row;
  row.distance = r;
  row.activity = activity;
  row.p = FN(sub3)(FN(mad3)(normal, n_lit(-g->reals[GROUP_MIDDLE]), p), g->centre);
  row.f = g->pyramidal ? pyramid_frame_of(&g->axes, normal) : FN(frame_of)(normal);
  num diagonal = contact_diagonal(o, n, g, row.p, &row.f);
  diagonal = n_select(n_value(diagonal) > n_plain(R(0.0)), diagonal, n_lit(R(1.0)));
  row.d = FN(contact_stiffness)(activity, imp, diagonal);
  if (g->pyramidal) {
    const num mu2 = n_scale(n_mul(g->of.friction, g->of.friction), R(2.0) / reals[WORLD_IMPRATIO]);
    row.d = n_mul(row.d, n_rcp(mu2));
  }
  row.f.n = FN(scale3)(row.f.n, side);
  row.f.t1 = FN(scale3)(row.f.t1, side);
  row.f.t2 = FN(scale3)(row.f.t2, side);
  const vec u = FN(add3)(g->v, FN(cross3)(g->w, row.p));
  row.ref = FN(scale3)(FN(frame_times)(&row.f, u), n_neg(damping));
  row.ref.x = n_sub(row.ref.x, n_mul(k, n_mul(imp, r)));
  return row;
}

// ---- contacts from the manifold, or given ----

static int place_in(GLOBAL const int *places, int i)
{
  return places ? places[i] : i;
}

// The location of the contacts of a segment of a world pair: rows of p, d, n and activity, in
// `layout`.
typedef struct contact_source {
  GLOBAL const real *p, *d, *n, *a;
  contact_layout layout;
} contact_source;

static contact_source source_of(GLOBAL const real *p, GLOBAL const real *d, GLOBAL const real *n,
                                GLOBAL const real *a, contact_layout layout, int row)
{
  const int row1 = layout.rows3 ? layout.row / 3 : layout.row; // of d and activity
  const contact_source s = {NUMS(p, row, layout.row), NUMS(d, row, row1), NUMS(n, row, layout.row),
                            NUMS(a, row, row1), layout};
  return s;
}

// The numbers of a contact in the manifold: p, d, n, activity.
#define SOURCE_NUMBERS 8

// Reads LANES contacts of a world pair, from number `first` up to `end`. `places` holds their
// places in their segments. *side is -1 for contacts in segments of body 2. Lanes beyond the last
// contact repeat it.
static void gather_contacts(const contact_source *sources, GLOBAL const int *mark,
                            GLOBAL const int *places, int first, int end, num out[SOURCE_NUMBERS],
                            num *side)
{
  PART_DO(i, {
    real t[SOURCE_NUMBERS][LANES];
    real sign[LANES];
    int segment = 0;
    for (int l = 0; l < LANES; ++l) {
      const int contact = MIN_INT(first + l, end - 1);
      const int place = places[contact];
      while (contact >= mark[segment + 1]) {
        ++segment;
      }
      const contact_source *s = &sources[segment];
      const contact_layout *at = &s->layout;
      const int row1 = at->rows3 ? at->row / 3 : at->row;
      GLOBAL const real *p = s->p + (size_t)i * at->row + at->at_p + at->step3 * place;
      GLOBAL const real *n = s->n + (size_t)i * at->row + at->at_n + at->step3 * place;
      for (int k = 0; k < 3; ++k) {
        t[k][l] = p[k * at->plane];
        t[4 + k][l] = n[k * at->plane];
      }
      t[3][l] = s->d[(size_t)i * row1 + at->at_d + place];
      t[7][l] = s->a[(size_t)i * row1 + at->at_activity + place];
      sign[l] = segment % 2 ? R(-1.0) : R(1.0);
    }
    for (int k = 0; k < SOURCE_NUMBERS; ++k) {
      out[k] = n_with_part(out[k], i, lane_load(t[k]));
    }
    *side = i ? *side : n_lit(lane_load(sign));
  })
}

// The destination of a world pair's contacts: `rows` (CONTACT_PLANES, plane).
typedef struct contact_target {
  GLOBAL real *rows;
  int plane;
} contact_target;

// Writes all lanes, starting at place `to`.
static void put_contacts(const contact_target *t, int to, const contact_row *row)
{
  GLOBAL real *at = t->rows + to;
  const int plane = t->plane;
  store3(at + CONTACT_POINT * plane, 0, plane, row->p);
  store3(at + CONTACT_FRAME * plane, 0, plane, row->f.n);
  store3(at + (CONTACT_FRAME + 3) * plane, 0, plane, row->f.t1);
  store3(at + (CONTACT_FRAME + 6) * plane, 0, plane, row->f.t2);
  store3(at + CONTACT_REFERENCE * plane, 0, plane, row->ref);
  store(at + CONTACT_D * plane, 0, row->d);
  store(at + CONTACT_DISTANCE * plane, 0, row->distance);
  store(at + CONTACT_ACTIVITY * plane, 0, row->activity);
}
