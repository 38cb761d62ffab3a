// What every family of primitives gives, a distance with its derivatives, and the soft minimum that
// a union of them is.
//
// What is wanted of a field beside its distance: constants wherever they are passed, so that a
// compiler drops the rest of the text.
#ifndef JET_NORMAL
#define JET_NORMAL 1
#define JET_GRADIENT 2 // of the distance
#define JET_JACOBIAN 4 // of the normal; implies both others
#define JET_ALL 7
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

// A primitive at a point. What is not wanted is left alone.
typedef struct FN(surface) {
  num phi;
  vec g;         // unit(g) is the normal
  vec gradient;  // of phi
  FN(mat3) bend; // the derivative of g over the length that unit(g) divides by
} FN(surface);

// 1 / sqrt(tau + g.g)
static num FN(unit_scale)(vec g, real tau)
{
  return n_rcp(n_sqrt(n_shift(FN(dot3)(g, g), tau)));
}

// A running soft minimum. Distances are relative to the least so far, and gradients of distances to
// the gradient of that one, the pivot, so that 1/union multiplies differences alone.
typedef struct FN(blend) {
  num least, sum;
  vec normal;    // sum w unit(g)
  vec pivot;
  vec rest;      // sum w (gradient - pivot)
  FN(mat3) bend; // sum w [d unit(g) - unit(g) (gradient - pivot)' / union]
} FN(blend);

static FN(blend) FN(blend_start)(void)
{
  FN(blend) b;
  b.least = n_lit(REAL_BIG);
  b.sum = n_lit(R(0.0));
  b.normal = FN(make)(b.sum, b.sum, b.sum);
  b.pivot = b.rest = b.normal;
  b.bend.x = b.bend.y = b.bend.z = b.normal;
  return b;
}

static vec FN(select3)(ilane mask, vec a, vec b)
{
  return FN(make)(n_select(mask, a.x, b.x), n_select(mask, a.y, b.y), n_select(mask, a.z, b.z));
}

// A new pivot moves what was summed so far, with the weight e that it keeps; otherwise only the
// new gradient differs from the pivot, with its weight e.
static void FN(blend_gradient)(FN(blend) *b, const FN(surface) *p, ilane leads, num e, num keep)
{
  const num moved = n_select(leads, n_neg(n_mul(e, b->sum)), e);
  const vec step = FN(sub3)(p->gradient, b->pivot);
  b->rest = FN(mad3)(step, moved, FN(scale3)(b->rest, keep));
  b->pivot = FN(select3)(leads, p->gradient, b->pivot);
}

// d unit(g) = (M - u u'M) / |g| with u = unit(g) and M the derivative of g, which need not be
// symmetric.
static void FN(blend_bend)(FN(blend) *b, GLOBAL const coefficients *c, const FN(surface) *p,
                           ilane leads, num e, num keep, num take)
{
  const vec u = FN(unit)(p->g, c->normal);
  const vec row_x = FN(scale3)(p->bend.x, take);
  const vec row_y = FN(scale3)(p->bend.y, take);
  const vec row_z = FN(scale3)(p->bend.z, take);
  const vec pull = FN(neg3)(FN(mad3)(row_x, u.x, FN(mad3)(row_y, u.y, FN(scale3)(row_z, u.z))));
  // As in blend_gradient: the normals that the pivot moves away from.
  const vec moved = FN(select3)(leads, b->normal, u);
  const num rate = n_scale(n_select(leads, e, n_neg(e)), c->union_log2e * LN2);
  const vec step = FN(scale3)(FN(sub3)(p->gradient, b->pivot), rate);
  b->bend.x = FN(mad3)(step, moved.x, FN(mad3)(pull, u.x, FN(mad3)(b->bend.x, keep, row_x)));
  b->bend.y = FN(mad3)(step, moved.y, FN(mad3)(pull, u.y, FN(mad3)(b->bend.y, keep, row_y)));
  b->bend.z = FN(mad3)(step, moved.z, FN(mad3)(pull, u.z, FN(mad3)(b->bend.z, keep, row_z)));
}

static void FN(blend_add)(FN(blend) *b, GLOBAL const coefficients *c, const FN(surface) *p,
                          const int want)
{
  const ilane leads = n_value(p->phi) < n_value(b->least);
  const num lo = n_select(leads, p->phi, b->least);
  const num e = n_exp2(n_scale(n_sub(lo, n_select(leads, b->least, p->phi)), c->union_log2e));
  const num keep = n_select(leads, e, n_lit(R(1.0)));
  const num take = n_select(leads, n_lit(R(1.0)), e);
  if (want & JET_JACOBIAN) {
    FN(blend_bend)(b, c, p, leads, e, keep, take);
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
