// The result of every family of primitives, a distance with its derivatives, and the soft minimum
// that forms their union.
//
// The JET_* constants select what is wanted of a field in addition to its distance. They are
// compile-time constants at every call, so that a compiler drops the unused code.
#ifndef JET_NORMAL
#define JET_NORMAL 1
#define JET_GRADIENT 2 // of the distance
#define JET_JACOBIAN 4 // of the normal; implies both others
#define JET_ALL 7
#define JET_HESSIAN 8 // second derivatives of the distance; requires JET_GRADIENT
#endif

typedef struct FN(symmetric) {
  num xx, yy, zz, xy, xz, yz;
} FN(symmetric);

typedef struct FN(mat3) {
  vec x, y, z; // rows
} FN(mat3);

static FN(mat3) FN(rows_of)(FN(symmetric) a)
{
  FN(mat3) r;
  r.x = FN(make)(a.xx, a.xy, a.xz);
  r.y = FN(make)(a.xy, a.yy, a.yz);
  r.z = FN(make)(a.xz, a.yz, a.zz);
  return r;
}

// Returns a times x.
static vec FN(symmetric_times)(const FN(symmetric) *a, vec x)
{
  return FN(make)(n_mad(a->xx, x.x, n_mad(a->xy, x.y, n_mul(a->xz, x.z))),
                  n_mad(a->xy, x.x, n_mad(a->yy, x.y, n_mul(a->yz, x.z))),
                  n_mad(a->xz, x.x, n_mad(a->yz, x.y, n_mul(a->zz, x.z))));
}

// Returns a times s.
static FN(symmetric) FN(symmetric_scale)(FN(symmetric) a, num s)
{
  FN(symmetric) r;
  r.xx = n_mul(a.xx, s);
  r.yy = n_mul(a.yy, s);
  r.zz = n_mul(a.zz, s);
  r.xy = n_mul(a.xy, s);
  r.xz = n_mul(a.xz, s);
  r.yz = n_mul(a.yz, s);
  return r;
}

// Returns a + s b.
static FN(symmetric) FN(symmetric_mad)(FN(symmetric) b, num s, FN(symmetric) a)
{
  FN(symmetric) r;
  r.xx = n_mad(b.xx, s, a.xx);
  r.yy = n_mad(b.yy, s, a.yy);
  r.zz = n_mad(b.zz, s, a.zz);
  r.xy = n_mad(b.xy, s, a.xy);
  r.xz = n_mad(b.xz, s, a.xz);
  r.yz = n_mad(b.yz, s, a.yz);
  return r;
}

// Returns a + s (u v' + v u') / 2.
static FN(symmetric) FN(symmetric_add)(FN(symmetric) a, vec u, vec v, num s)
{
  const vec w = FN(scale3)(v, s);
  const num mid = n_lit(R(0.5));
  FN(symmetric) r;
  r.xx = n_mad(u.x, w.x, a.xx);
  r.yy = n_mad(u.y, w.y, a.yy);
  r.zz = n_mad(u.z, w.z, a.zz);
  r.xy = n_mad(n_mad(u.x, w.y, n_mul(u.y, w.x)), mid, a.xy);
  r.xz = n_mad(n_mad(u.x, w.z, n_mul(u.z, w.x)), mid, a.xz);
  r.yz = n_mad(n_mad(u.y, w.z, n_mul(u.z, w.y)), mid, a.yz);
  return r;
}

static FN(symmetric) FN(symmetric_zero)(void)
{
  const num zero = n_lit(R(0.0));
  const FN(symmetric) r = {zero, zero, zero, zero, zero, zero};
  return r;
}

static FN(symmetric) FN(symmetric_select)(ilane which, FN(symmetric) a, FN(symmetric) b)
{
  FN(symmetric) r;
  r.xx = n_select(which, a.xx, b.xx);
  r.yy = n_select(which, a.yy, b.yy);
  r.zz = n_select(which, a.zz, b.zz);
  r.xy = n_select(which, a.xy, b.xy);
  r.xz = n_select(which, a.xz, b.xz);
  r.yz = n_select(which, a.yz, b.yz);
  return r;
}

// Returns the symmetric part of a matrix.
static FN(symmetric) FN(symmetric_part)(const FN(mat3) *m)
{
  FN(symmetric) r;
  r.xx = m->x.x;
  r.yy = m->y.y;
  r.zz = m->z.z;
  r.xy = n_scale(n_add(m->x.y, m->y.x), R(0.5));
  r.xz = n_scale(n_add(m->x.z, m->z.x), R(0.5));
  r.yz = n_scale(n_add(m->y.z, m->z.y), R(0.5));
  return r;
}

// A primitive at a point. Members that are not wanted are not set.
typedef struct FN(surface) {
  num phi;
  vec g;               // unit(g) is the normal
  vec gradient;        // of phi
  FN(mat3) bend;       // the derivative of g over the length by which unit(g) divides
  FN(symmetric) curve; // second derivatives of phi
} FN(surface);

// 1 / sqrt(tau + g.g)
static num FN(unit_scale)(vec g, real tau)
{
  return n_rcp(n_sqrt(n_shift(FN(dot3)(g, g), tau)));
}

// A running soft minimum. Distances are relative to the least so far, and gradients of distances to
// the gradient of the least, the pivot, so that 1/union only multiplies differences.
typedef struct FN(blend) {
  int terms; // so far
  num least, sum;
  vec normal; // sum w unit(g)
  vec pivot;
  vec rest;            // sum w (gradient - pivot)
  FN(mat3) bend;       // sum w [d unit(g) - unit(g) (gradient - pivot)' / union]
  FN(symmetric) curve; // sum w [second derivatives - (gradient - pivot) (gradient - pivot)' /
                       // union]
} FN(blend);

static FN(blend) FN(blend_start)(void)
{
  FN(blend) b;
  b.terms = 0;
  b.least = n_lit(REAL_BIG);
  b.sum = n_lit(R(0.0));
  b.normal = FN(make)(b.sum, b.sum, b.sum);
  b.pivot = b.rest = b.normal;
  b.bend.x = b.bend.y = b.bend.z = b.normal;
  b.curve = FN(symmetric_zero)();
  return b;
}

// Returns the derivative of unit(g) from the derivative M of g over the length by which unit(g)
// divides, with u = unit(g): M - u u'M, where M need not be symmetric.
static FN(mat3) FN(unit_bend)(const FN(mat3) *bend, vec u)
{
  const vec pull =
    FN(neg3)(FN(mad3)(bend->x, u.x, FN(mad3)(bend->y, u.y, FN(scale3)(bend->z, u.z))));
  FN(mat3) r;
  r.x = FN(mad3)(pull, u.x, bend->x);
  r.y = FN(mad3)(pull, u.y, bend->y);
  r.z = FN(mad3)(pull, u.z, bend->z);
  return r;
}

// The first term, of weight 1: the result of blend_add without the terms that cancel. Most bodies
// have only this term.
static void FN(blend_first)(FN(blend) *b, GLOBAL const coefficients *c, const FN(surface) *p,
                            const int want)
{
  const ilane leads = n_value(p->phi) < n_value(b->least);
  b->least = n_select(leads, p->phi, b->least);
  b->sum = n_select(leads, n_lit(R(1.0)), n_lit(R(0.0)));
  if (want & (JET_NORMAL | JET_JACOBIAN)) {
    b->normal = FN(unit)(p->g, c->normal);
  }
  if (want & JET_JACOBIAN) {
    b->bend = FN(unit_bend)(&p->bend, b->normal);
  }
  if (want & JET_HESSIAN) {
    b->curve = p->curve;
  }
  if (want & JET_GRADIENT) {
    b->pivot = p->gradient;
  }
}

// A new pivot shifts the sum so far, with the weight e that this sum retains. Otherwise only the
// new gradient differs from the pivot, with its weight e.
static void FN(blend_gradient)(FN(blend) *b, const FN(surface) *p, ilane leads, num e, num keep)
{
  const num moved = n_select(leads, n_neg(n_mul(e, b->sum)), e);
  const vec step = FN(sub3)(p->gradient, b->pivot);
  b->rest = FN(mad3)(step, moved, FN(scale3)(b->rest, keep));
  b->pivot = FN(select3)(leads, p->gradient, b->pivot);
}

static void FN(blend_bend)(FN(blend) *b, GLOBAL const coefficients *c, const FN(surface) *p,
                           ilane leads, num e, num keep, num take)
{
  const vec u = FN(unit)(p->g, c->normal);
  const FN(mat3) own = FN(unit_bend)(&p->bend, u);
  // As in blend_gradient: the normals from which the pivot moves away.
  const vec moved = FN(select3)(leads, b->normal, u);
  const num rate = n_scale(n_select(leads, e, n_neg(e)), c->union_log2e * LN2);
  const vec step = FN(scale3)(FN(sub3)(p->gradient, b->pivot), rate);
  b->bend.x = FN(mad3)(step, moved.x, FN(mad3)(own.x, take, FN(scale3)(b->bend.x, keep)));
  b->bend.y = FN(mad3)(step, moved.y, FN(mad3)(own.y, take, FN(scale3)(b->bend.y, keep)));
  b->bend.z = FN(mad3)(step, moved.z, FN(mad3)(own.z, take, FN(scale3)(b->bend.z, keep)));
}

// As in blend_gradient, called before blend_gradient moves the pivot by `step`. A new pivot changes
// the sum of
// w (gradient - pivot) (gradient - pivot)' by sum (step step') - (rest step' + step rest').
static void FN(blend_curve)(FN(blend) *b, GLOBAL const coefficients *c, const FN(surface) *p,
                            ilane leads, num e, num keep, num take)
{
  const num rate = n_lit(-c->union_log2e * LN2);
  const vec step = FN(sub3)(p->gradient, b->pivot);
  const vec moved = FN(mad3)(step, b->sum, FN(scale3)(b->rest, n_lit(R(-2.0))));
  const vec by = FN(select3)(leads, moved, step);
  FN(symmetric) r = FN(symmetric_scale)(b->curve, keep);
  r = FN(symmetric_mad)(p->curve, take, r);
  b->curve = FN(symmetric_add)(r, step, by, n_mul(rate, e));
}

static void FN(blend_add)(FN(blend) *b, GLOBAL const coefficients *c, const FN(surface) *p,
                          const int want)
{
  if (b->terms++ == 0) {
    FN(blend_first)(b, c, p, want);
    return;
  }
  const ilane leads = n_value(p->phi) < n_value(b->least);
  const num lo = n_select(leads, p->phi, b->least);
  const num e = n_exp2(n_scale(n_sub(lo, n_select(leads, b->least, p->phi)), c->union_log2e));
  const num keep = n_select(leads, e, n_lit(R(1.0)));
  const num take = n_select(leads, n_lit(R(1.0)), e);
  if (want & JET_JACOBIAN) {
    FN(blend_bend)(b, c, p, leads, e, keep, take);
  }
  if (want & JET_HESSIAN) {
    FN(blend_curve)(b, c, p, leads, e, keep, take);
  }
  if (want & JET_GRADIENT) {
    FN(blend_gradient)(b, p, leads, e, keep);
  }
  b->least = lo;
  b->sum = n_mad(b->sum, keep, take);
  if (want & JET_NORMAL) {
    b->normal = FN(mad3)(FN(unit)(p->g, c->normal), take, FN(scale3)(b->normal, keep));
  }
}
