/* Random numbers by counting, as C: known answers of Philox4x32-10 (those of Salmon et al.'s own
 * code), and what becomes of the words. */
#include "support/check.h"

#include <math.h>

#ifndef REAL_DOUBLE
#define REAL_DOUBLE 1
#endif
#define LANES 1
#define DUAL_TANGENTS 1
#include "num/real.h"

#include "geometry/wide.h"
#include "num/dual.h"
#define NUM_DUAL 0
#include "num/num_on.h"
#include "geometry/vec.inl"
#include "num/random.h"
#include "num/num_off.h"
#undef NUM_DUAL

static void test_philox(void)
{
  static const struct {
    uint32_t counter[4], key[2], words[4];
  } known[] = {{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
               {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                {0xffffffff, 0xffffffff},
                {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
               {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                {0xa4093822, 0x299f31d0},
                {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    lane_word x[4] = {known[i].counter[0], known[i].counter[1], known[i].counter[2],
                      known[i].counter[3]};
    lane_philox(x, known[i].key[0], known[i].key[1]);
    for (int k = 0; k < 4; ++k) {
      check(x[k] == known[i].words[k], "answer %zu, word %d is %08x, not %08x", i, k, x[k],
            known[i].words[k]);
    }
  }
}

/* Against the formula in double. */
static void test_formula(void)
{
  const double tolerance = REAL_DOUBLE ? 1e-14 : 2e-6;
  for (uint32_t i = 0; i < 10000; ++i) {
    lane_word x[4] = {i, 0, 7, 0};
    lane_philox(x, 1, 2);
    const double v[4] = {(x[0] + 0.5) / 4294967296.0, (x[1] + 0.5) / 4294967296.0,
                         (x[2] + 0.5) / 4294967296.0, (x[3] + 0.5) / 4294967296.0};
    const double r0 = sqrt(-2.0 * log(v[0])), r1 = sqrt(-2.0 * log(v[2])), turn = 6.283185307179586;
    const vec3_r z = lane_normals(x);
    const double off = fmax(fabs((double)z.x - r0 * cos(turn * v[1])),
                            fmax(fabs((double)z.y - r0 * sin(turn * v[1])),
                                 fabs((double)z.z - r1 * cos(turn * v[3]))));
    /* In float the words nearest to 2^32 are rounded: their logarithm is small, and its root less
     * exact. */
    const double room = REAL_DOUBLE ? 1.0 : 1.0 + 1.0 / fmin(r0, r1);
    check(off <= tolerance * 10.0 * room, "numbers of sample %u are off by %g", i, off);
  }
}

/* The least and the largest words give numbers. */
static void test_ends(void)
{
  static const uint32_t words[] = {0,          1,          0x7fffffff, 0x80000000,
                                   0xfffffffe, 0xffffffff, 0x40000000, 0xc0000000};
  for (int i = 0; i < 64; ++i) {
    const lane_word x[4] = {words[i % 8], words[i / 8], words[i / 8], words[i % 8]};
    const vec3_r z = lane_normals(x);
    check(isfinite(z.x) && isfinite(z.y) && isfinite(z.z) && fabs((double)z.x) < 7.0 &&
            fabs((double)z.y) < 7.0,
          "words %08x and %08x give %g %g %g", x[0], x[1], (double)z.x, (double)z.y, (double)z.z);
  }
}

static void test_moments(void)
{
  enum { SAMPLES = 200000 };
  double sum[3] = {0}, square[3] = {0}, across[3] = {0};
  for (uint32_t i = 0; i < SAMPLES; ++i) {
    lane_word x[4] = {i, 1, 0, 0};
    lane_philox(x, 3, 4);
    const vec3_r z = lane_normals(x);
    const double v[3] = {(double)z.x, (double)z.y, (double)z.z};
    for (int k = 0; k < 3; ++k) {
      sum[k] += v[k] / SAMPLES;
      square[k] += v[k] * v[k] / SAMPLES;
      across[k] += v[k] * v[(k + 1) % 3] / SAMPLES;
    }
  }
  for (int k = 0; k < 3; ++k) {
    check(fabs(sum[k]) < 0.01 && fabs(square[k] - 1.0) < 0.015 && fabs(across[k]) < 0.01,
          "number %d has the mean %g and the square %g, and %g with the next", k, sum[k], square[k],
          across[k]);
  }
}

int main(void)
{
  test_philox();
  test_formula();
  test_ends();
  test_moments();
  return check_finish();
}
