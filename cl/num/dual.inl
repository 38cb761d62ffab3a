// A number with its derivatives along DUAL_TANGENTS directions.
//
// No include guard: the file is included once for each kind of part, and the including file
// defines:
//   DN(name)   the type's functions, and DN(t) the type
//   part, part_mask, part_lit(x), part_select(mask, a, b), part_sqrt ... part_abs
//
// The type is a struct, because with a vector a * b would compile and be wrong. Parameters are
// never modified, because Mesa's compiler (22.3) passes such structs by address without a copy.
#define dual_t DN(number)
// Repeats a statement for each tangent dual_i. For one and for six tangents it is written out,
// because a compiler keeps arrays in registers only if no variable indexes them.
#define DUAL_AT(i, statement) \
  {                           \
    enum { dual_i = i };      \
    statement;                \
  }
#if DUAL_TANGENTS == 1
#define DUAL_EACH(statement) DUAL_AT(0, statement)
#elif DUAL_TANGENTS == 6
#define DUAL_EACH(statement)                                                                \
  {                                                                                         \
    DUAL_AT(0, statement)                                                                   \
    DUAL_AT(1, statement)                                                                   \
    DUAL_AT(2, statement) DUAL_AT(3, statement) DUAL_AT(4, statement) DUAL_AT(5, statement) \
  }
#else
#define DUAL_EACH(statement)                               \
  for (int dual_i = 0; dual_i < DUAL_TANGENTS; ++dual_i) { \
    statement;                                             \
  }
#endif

typedef struct DN(number) {
  part v;
  part d[DUAL_TANGENTS];
} DN(number);

static dual_t DN(lit)(part v)
{
  dual_t r;
  r.v = v;
  DUAL_EACH(r.d[dual_i] = part_lit(R(0.0)));
  return r;
}

// Returns the tangents of `a` with another value: a limit that keeps the derivative.
static dual_t DN(with_value)(dual_t a, part v)
{
  dual_t r = a;
  r.v = v;
  return r;
}

// Part 0 is the value, part i + 1 the derivative along tangent i.
static part DN(get_part)(dual_t a, int i)
{
  return i ? a.d[i - 1] : a.v;
}
static dual_t DN(with_part)(dual_t a, int i, part x)
{
  dual_t r = a;
  if (i) {
    r.d[i - 1] = x;
  } else {
    r.v = x;
  }
  return r;
}

static dual_t DN(add)(dual_t a, dual_t b)
{
  dual_t r;
  r.v = a.v + b.v;
  DUAL_EACH(r.d[dual_i] = a.d[dual_i] + b.d[dual_i]);
  return r;
}

static dual_t DN(sub)(dual_t a, dual_t b)
{
  dual_t r;
  r.v = a.v - b.v;
  DUAL_EACH(r.d[dual_i] = a.d[dual_i] - b.d[dual_i]);
  return r;
}

static dual_t DN(mul)(dual_t a, dual_t b)
{
  dual_t r;
  r.v = a.v * b.v;
  DUAL_EACH(r.d[dual_i] = a.d[dual_i] * b.v + a.v * b.d[dual_i]);
  return r;
}

// Return a b + c and a s + c, each tangent in one expression, so that a compiler may fuse it.
static dual_t DN(mad)(dual_t a, dual_t b, dual_t c)
{
  dual_t r;
  r.v = a.v * b.v + c.v;
  DUAL_EACH(r.d[dual_i] = a.d[dual_i] * b.v + (a.v * b.d[dual_i] + c.d[dual_i]));
  return r;
}

static dual_t DN(smad)(dual_t a, part s, dual_t c)
{
  dual_t r;
  r.v = a.v * s + c.v;
  DUAL_EACH(r.d[dual_i] = a.d[dual_i] * s + c.d[dual_i]);
  return r;
}

static dual_t DN(shift)(dual_t a, part s)
{
  return DN(with_value)(a, a.v + s);
}

// Returns `v` with the tangents of `a` times `slope`. Every function of one number uses it.
static dual_t DN(chain)(dual_t a, part v, part slope)
{
  dual_t r;
  r.v = v;
  DUAL_EACH(r.d[dual_i] = a.d[dual_i] * slope);
  return r;
}

static dual_t DN(scale)(dual_t a, part s)
{
  return DN(chain)(a, a.v * s, s);
}
// The square of 1 / a may overflow even if its products with a's derivatives do not.
static dual_t DN(rcp)(dual_t a)
{
  dual_t r;
  r.v = R(1.0) / a.v;
  DUAL_EACH(r.d[dual_i] = -(a.d[dual_i] * r.v) * r.v);
  return r;
}
static dual_t DN(div)(dual_t a, dual_t b)
{
  return DN(mul)(a, DN(rcp)(b));
}

// Divides by a constant above 0, however small. The derivative is limited before the square of 1 /
// b overflows.
static dual_t DN(over)(dual_t a, part b)
{
  const part least = part_lit(DUAL_LEAST);
  return DN(chain)(a, a.v / b, R(1.0) / part_select(b < least, least, b));
}

static dual_t DN(sqrt)(dual_t a)
{
  const part v = part_sqrt(a.v);
  return DN(chain)(a, v, R(0.5) / v);
}
static dual_t DN(sin)(dual_t a)
{
  return DN(chain)(a, part_sin(a.v), part_cos(a.v));
}
static dual_t DN(cos)(dual_t a)
{
  return DN(chain)(a, part_cos(a.v), -part_sin(a.v));
}

static dual_t DN(select)(part_mask mask, dual_t a, dual_t b)
{
  dual_t r;
  r.v = part_select(mask, a.v, b.v);
  DUAL_EACH(r.d[dual_i] = part_select(mask, a.d[dual_i], b.d[dual_i]));
  return r;
}

// The derivative of |x| at 0 counts as 0.
static dual_t DN(abs)(dual_t a)
{
  const part zero = part_lit(R(0.0));
  const part slope =
    part_select(a.v > zero, part_lit(R(1.0)), part_select(a.v < zero, part_lit(R(-1.0)), zero));
  return DN(chain)(a, part_abs(a.v), slope);
}

#undef dual_t
#undef DUAL_EACH
#undef DUAL_AT
