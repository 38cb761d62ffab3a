// Doubled numbers: a sum of two reals, hi + lo with |lo| <= u |hi|, on lanes. Without underflow,
// each operation is within 16 u^2 of the exact result, with u the unit roundoff of `real` (Knuth
// 1969, Dekker 1971).
//
// This requires that the compiler rounds each operation once, and neither fuses (FP_CONTRACT OFF)
// nor rearranges operations. The self-test of closing bodies has numbers that show violations.
#ifndef NUM_DOUBLED_H
#define NUM_DOUBLED_H

typedef struct doubled {
  lane hi, lo;
} doubled;

static doubled doubled_of(lane a)
{
  doubled r;
  r.hi = a;
  r.lo = lane_lit(R(0.0));
  return r;
}

// The exact sum of two reals, where b is not the larger in size.
static doubled doubled_fast_sum(lane a, lane b)
{
  doubled r;
  r.hi = a + b;
  r.lo = b - (r.hi - a);
  return r;
}

// The exact sum of any two reals.
static doubled doubled_sum(lane a, lane b)
{
  doubled r;
  r.hi = a + b;
  const lane other = r.hi - a;
  r.lo = (a - (r.hi - other)) + (b - other);
  return r;
}

// The exact product of two reals.
static doubled doubled_product(lane a, lane b)
{
  doubled r;
  r.hi = a * b;
#ifdef LANE_FMA
  r.lo = LANE_FMA(a, b, -r.hi);
#else
  const lane wide_a = a * REAL_SPLITTER, wide_b = b * REAL_SPLITTER;
  const lane a_hi = wide_a - (wide_a - a), b_hi = wide_b - (wide_b - b);
  const lane a_lo = a - a_hi, b_lo = b - b_hi;
  r.lo = ((a_hi * b_hi - r.hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo;
#endif
  return r;
}

static doubled doubled_neg(doubled a)
{
  a.hi = -a.hi;
  a.lo = -a.lo;
  return a;
}

static doubled doubled_add(doubled a, doubled b)
{
  doubled high = doubled_sum(a.hi, b.hi);
  const doubled low = doubled_sum(a.lo, b.lo);
  high = doubled_fast_sum(high.hi, high.lo + low.hi);
  return doubled_fast_sum(high.hi, high.lo + low.lo);
}

static doubled doubled_sub(doubled a, doubled b)
{
  return doubled_add(a, doubled_neg(b));
}

static doubled doubled_mul(doubled a, doubled b)
{
  const doubled p = doubled_product(a.hi, b.hi);
  return doubled_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static doubled doubled_times(doubled a, lane b)
{
  const doubled p = doubled_product(a.hi, b);
  return doubled_fast_sum(p.hi, p.lo + a.lo * b);
}

// Three digits of a long division.
static doubled doubled_div(doubled a, doubled b)
{
  const lane first = a.hi / b.hi;
  doubled rest = doubled_sub(a, doubled_times(b, first));
  const lane second = rest.hi / b.hi;
  rest = doubled_sub(rest, doubled_times(b, second));
  return doubled_add(doubled_fast_sum(first, second), doubled_of(rest.hi / b.hi));
}

static doubled doubled_select(ilane mask, doubled a, doubled b)
{
  doubled r;
  r.hi = lane_select(mask, a.hi, b.hi);
  r.lo = lane_select(mask, a.lo, b.lo);
  return r;
}

#endif
