#include "query/ccd/rational.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const rational_format rational_f32 = {FLT_MANT_DIG, FLT_MIN_EXP - FLT_MANT_DIG, FLT_MAX};
const rational_format rational_f64 = {DBL_MANT_DIG, DBL_MIN_EXP - DBL_MANT_DIG, DBL_MAX};

/* ---- whole numbers of any length ---- */

#define LIMB_BITS 32
/* Digits that are read at once, and the power of ten that they need. */
#define DIGITS_AT_ONCE 9

/* The lowest limb first; the highest one is not 0. */
typedef struct natural {
  uint32_t *limbs;
  size_t count, room;
} natural;

static bool reserve(natural *n, size_t room)
{
  if (room <= n->room) {
    return true;
  }
  uint32_t *limbs = room < SIZE_MAX / sizeof *limbs ? realloc(n->limbs, room * sizeof *limbs)
                                                    : NULL;
  if (limbs) {
    n->limbs = limbs;
    n->room = room;
  }
  return limbs != NULL;
}

static void trim(natural *n)
{
  while (n->count && !n->limbs[n->count - 1]) {
    --n->count;
  }
}

/* n times `factor`, plus `term`. There is room for it. */
static void multiply_add(natural *n, uint32_t factor, uint32_t term)
{
  uint64_t carry = term;
  for (size_t i = 0; i < n->count; ++i) {
    carry += (uint64_t)n->limbs[i] * factor;
    n->limbs[i] = (uint32_t)carry;
    carry >>= LIMB_BITS;
  }
  if (carry) {
    n->limbs[n->count++] = (uint32_t)carry;
  }
}

static bool read_digits(digits d, natural *n)
{
  n->count = 0;
  if (!reserve(n, d.length / DIGITS_AT_ONCE + 2)) {
    return false;
  }
  for (size_t at = 0; at < d.length;) {
    uint32_t power = 1, part = 0;
    for (int i = 0; i < DIGITS_AT_ONCE && at < d.length; ++i, ++at) {
      part = 10 * part + (uint32_t)(d.start[at] - '0');
      power *= 10;
    }
    multiply_add(n, power, part);
  }
  return true;
}

/* How many bits there are below and with the highest one that is set. */
static long bit_length(const natural *n)
{
  long bits = (long)(n->count - 1) * LIMB_BITS;
  for (uint32_t top = n->limbs[n->count - 1]; top; top >>= 1) {
    ++bits;
  }
  return bits;
}

static bool shift_up(natural *n, size_t bits)
{
  const size_t whole = bits / LIMB_BITS, part = bits % LIMB_BITS;
  if (!reserve(n, n->count + whole + 1)) {
    return false;
  }
  n->limbs[n->count] = 0;
  memmove(n->limbs + whole, n->limbs, (n->count + 1) * sizeof *n->limbs);
  memset(n->limbs, 0, whole * sizeof *n->limbs);
  n->count += whole + 1;
  for (size_t i = n->count; part && i-- > whole;) {
    const uint32_t below = i > whole ? n->limbs[i - 1] : 0;
    n->limbs[i] = n->limbs[i] << part | below >> (LIMB_BITS - part);
  }
  trim(n);
  return true;
}

static void halve(natural *n)
{
  for (size_t i = 0; i < n->count; ++i) {
    const uint32_t above = i + 1 < n->count ? n->limbs[i + 1] : 0;
    n->limbs[i] = n->limbs[i] >> 1 | above << (LIMB_BITS - 1);
  }
  trim(n);
}

/* Below, at or above 0 as a is below, equal to or above b. */
static int compare(const natural *a, const natural *b)
{
  if (a->count != b->count) {
    return a->count < b->count ? -1 : 1;
  }
  for (size_t i = a->count; i-- > 0;) {
    if (a->limbs[i] != b->limbs[i]) {
      return a->limbs[i] < b->limbs[i] ? -1 : 1;
    }
  }
  return 0;
}

/* a less b, which is not more than a. */
static void subtract(natural *a, const natural *b)
{
  uint64_t borrow = 0;
  for (size_t i = 0; i < a->count; ++i) {
    const uint64_t taken = (i < b->count ? b->limbs[i] : 0) + borrow;
    borrow = a->limbs[i] < taken;
    a->limbs[i] = (uint32_t)(a->limbs[i] - taken);
  }
  trim(a);
}

/* ---- the division ---- */

typedef struct division {
  natural rest, divisor;
} division;

/* Multiplies one of the two, so that rest / divisor is what it was times 2^-exponent. */
static bool scale(division *d, long exponent)
{
  return exponent < 0 ? shift_up(&d->rest, (size_t)-exponent)
                      : shift_up(&d->divisor, (size_t)exponent);
}

/* The whole part, which is below 2^bits; what is left is in `rest`, and the divisor as it was. */
static bool divide(division *d, int bits, uint64_t *quotient)
{
  *quotient = 0;
  if (!shift_up(&d->divisor, (size_t)bits)) {
    return false;
  }
  for (int i = 0; i < bits; ++i) {
    halve(&d->divisor);
    *quotient <<= 1;
    if (compare(&d->rest, &d->divisor) >= 0) {
      subtract(&d->rest, &d->divisor);
      *quotient |= 1;
    }
  }
  return true;
}

/* Adds 1 where the rest is more than half of the divisor, or half of it and the number odd. */
static bool round_up(division *d, uint64_t *quotient)
{
  if (!shift_up(&d->rest, 1)) {
    return false;
  }
  const int half = compare(&d->rest, &d->divisor);
  *quotient += half > 0 || (half == 0 && *quotient % 2);
  return true;
}

/* Leaves a quotient from 1 to below 2, or from 1/2 to below 1; *exponent is what was taken out of it. */
static bool normalise(division *d, long *exponent)
{
  *exponent = bit_length(&d->rest) - bit_length(&d->divisor);
  return scale(d, *exponent);
}

static rational_kind round_quotient(division *d, const rational_format *format, double *out)
{
  uint64_t quotient = 0;
  long taken = 0;
  if (!normalise(d, &taken)) {
    return RATIONAL_NO_MEMORY;
  }
  const long highest = compare(&d->rest, &d->divisor) >= 0 ? taken : taken - 1;
  const long wanted = highest + 1 - format->bits;
  const long exponent = wanted > format->least_exponent ? wanted : format->least_exponent;
  if (highest >= DBL_MAX_EXP) {
    return RATIONAL_TOO_LARGE;
  }
  if (!scale(d, exponent - taken) || !divide(d, format->bits, &quotient)) {
    return RATIONAL_NO_MEMORY;
  }
  const bool exact = !d->rest.count;
  if (!exact && !round_up(d, &quotient)) {
    return RATIONAL_NO_MEMORY;
  }
  const double value = ldexp((double)quotient, (int)exponent);
  if (!(value <= format->most)) {
    return RATIONAL_TOO_LARGE;
  }
  *out = value;
  return exact ? RATIONAL_EXACT : RATIONAL_ROUNDED;
}

rational_kind rational_round(digits numerator, digits denominator, const rational_format *format,
                             double *out)
{
  division d = {{0}, {0}};
  rational_kind kind = RATIONAL_NO_MEMORY;
  if (read_digits(numerator, &d.rest) && read_digits(denominator, &d.divisor)) {
    if (d.rest.count) {
      kind = round_quotient(&d, format, out);
    } else {
      kind = RATIONAL_EXACT;
      *out = 0.0;
    }
  }
  free(d.rest.limbs);
  free(d.divisor.limbs);
  return kind;
}
