// Three-vectors and rigid maps on the generic number.

typedef struct FN(vec3) {
  num x, y, z;
} FN(vec3);

static vec FN(make)(num x, num y, num z)
{
  vec r;
  r.x = x;
  r.y = y;
  r.z = z;
  return r;
}

static vec FN(sub3)(vec a, vec b)
{
  return FN(make)(n_sub(a.x, b.x), n_sub(a.y, b.y), n_sub(a.z, b.z));
}

static vec FN(add3)(vec a, vec b)
{
  return FN(make)(n_add(a.x, b.x), n_add(a.y, b.y), n_add(a.z, b.z));
}

static vec FN(neg3)(vec a)
{
  return FN(make)(n_neg(a.x), n_neg(a.y), n_neg(a.z));
}

static vec FN(scale3)(vec a, num s)
{
  return FN(make)(n_mul(a.x, s), n_mul(a.y, s), n_mul(a.z, s));
}

// a s + c
static vec FN(mad3)(vec a, num s, vec c)
{
  return FN(make)(n_mad(a.x, s, c.x), n_mad(a.y, s, c.y), n_mad(a.z, s, c.z));
}

static num FN(dot3)(vec a, vec b)
{
  return n_mad(a.x, b.x, n_mad(a.y, b.y, n_mul(a.z, b.z)));
}

static vec FN(cross3)(vec a, vec b)
{
  return FN(make)(n_sub(n_mul(a.y, b.z), n_mul(a.z, b.y)), n_sub(n_mul(a.z, b.x), n_mul(a.x, b.z)),
                  n_sub(n_mul(a.x, b.y), n_mul(a.y, b.x)));
}

static vec FN(select3)(n_mask mask, vec a, vec b)
{
  return FN(make)(n_select(mask, a.x, b.x), n_select(mask, a.y, b.y), n_select(mask, a.z, b.z));
}

// rotate returns m a, and rotate_back m' a; m has nine reals, row by row.
static vec FN(rotate)(GLOBAL const real *m, vec a)
{
  return FN(make)(n_smad(a.x, m[0], n_smad(a.y, m[1], n_scale(a.z, m[2]))),
                  n_smad(a.x, m[3], n_smad(a.y, m[4], n_scale(a.z, m[5]))),
                  n_smad(a.x, m[6], n_smad(a.y, m[7], n_scale(a.z, m[8]))));
}

static vec FN(rotate_back)(GLOBAL const real *m, vec a)
{
  return FN(make)(n_smad(a.x, m[0], n_smad(a.y, m[3], n_scale(a.z, m[6]))),
                  n_smad(a.x, m[1], n_smad(a.y, m[4], n_scale(a.z, m[7]))),
                  n_smad(a.x, m[2], n_smad(a.y, m[5], n_scale(a.z, m[8]))));
}

// A frame is a rotation (9) and then a translation (3).
static vec FN(transform)(GLOBAL const real *frame, vec a)
{
  const vec r = FN(rotate)(frame, a);
  return FN(make)(n_shift(r.x, frame[9]), n_shift(r.y, frame[10]), n_shift(r.z, frame[11]));
}
