// A number with its derivatives along DUAL_TANGENTS directions.
//
// A struct and not a vector: as one vector, a * b would compile and be wrong.
#ifndef NUM_DUAL_H
#define NUM_DUAL_H

#ifndef DUAL_TANGENTS
#define DUAL_TANGENTS 3
#endif

typedef struct dual {
  lane v;
  lane d[DUAL_TANGENTS];
} dual;

#define DUAL_EACH for (int dual_i = 0; dual_i < DUAL_TANGENTS; ++dual_i)

static dual dual_lit(lane v)
{
  dual r;
  r.v = v;
  DUAL_EACH r.d[dual_i] = lane_lit(R(0.0));
  return r;
}

// The tangents of `a` with another value: a limit that keeps the slope.
static dual dual_with_value(dual a, lane v)
{
  a.v = v;
  return a;
}

static dual dual_add(dual a, dual b)
{
  a.v = a.v + b.v;
  DUAL_EACH a.d[dual_i] = a.d[dual_i] + b.d[dual_i];
  return a;
}

static dual dual_sub(dual a, dual b)
{
  a.v = a.v - b.v;
  DUAL_EACH a.d[dual_i] = a.d[dual_i] - b.d[dual_i];
  return a;
}

static dual dual_mul(dual a, dual b)
{
  dual r;
  r.v = a.v * b.v;
  DUAL_EACH r.d[dual_i] = a.d[dual_i] * b.v + a.v * b.d[dual_i];
  return r;
}

// `v` with the tangents of `a` times `slope`: every function of one number.
static dual dual_chain(dual a, lane v, lane slope)
{
  a.v = v;
  DUAL_EACH a.d[dual_i] = a.d[dual_i] * slope;
  return a;
}

static dual dual_scale(dual a, lane s) { return dual_chain(a, a.v * s, s); }
static dual dual_rcp(dual a)
{
  const lane v = R(1.0) / a.v;
  return dual_chain(a, v, -v * v);
}
static dual dual_div(dual a, dual b) { return dual_mul(a, dual_rcp(b)); }
static dual dual_sqrt(dual a)
{
  const lane v = lane_sqrt(a.v);
  return dual_chain(a, v, R(0.5) / v);
}
static dual dual_exp2(dual a)
{
  const lane v = lane_exp2(a.v);
  return dual_chain(a, v, v * LN2);
}
static dual dual_log2(dual a) { return dual_chain(a, lane_log2(a.v), LOG2E / a.v); }

static dual dual_sin(dual a) { return dual_chain(a, lane_sin(a.v), lane_cos(a.v)); }
static dual dual_cos(dual a) { return dual_chain(a, lane_cos(a.v), -lane_sin(a.v)); }

static dual dual_select(ilane mask, dual a, dual b)
{
  a.v = lane_select(mask, a.v, b.v);
  DUAL_EACH a.d[dual_i] = lane_select(mask, a.d[dual_i], b.d[dual_i]);
  return a;
}

// d|x|/dx = 0 at 0.
static dual dual_abs(dual a)
{
  const lane zero = lane_lit(R(0.0));
  const lane slope = lane_select(a.v > zero, lane_lit(R(1.0)),
                                 lane_select(a.v < zero, lane_lit(R(-1.0)), zero));
  return dual_chain(a, lane_abs(a.v), slope);
}

#endif // NUM_DUAL_H
