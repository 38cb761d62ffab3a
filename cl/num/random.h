// Counter-based random numbers: Philox4x32-10 (Salmon et al. 2011, Parallel random numbers: as easy
// as 1, 2, 3). The result depends only on the key and the counter, in any order and on any device.
#ifndef NUM_RANDOM_H
#define NUM_RANDOM_H

#if LANES > 1
typedef NUM_CAT(uint, LANES) lane_word;
#if REAL_DOUBLE
#define WORD_TO_REAL(x) NUM_CAT(convert_double, LANES)(x)
#else
#define WORD_TO_REAL(x) NUM_CAT(convert_float, LANES)(x)
#endif
#if LANES == 4
#define LANE_COUNT_WORDS (lane_word)(0, 1, 2, 3)
#elif LANES == 8
#define LANE_COUNT_WORDS (lane_word)(0, 1, 2, 3, 4, 5, 6, 7)
#else
#define LANE_COUNT_WORDS (lane_word)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif
#define lane_load_words(p) NUM_CAT(vload, LANES)(0, p)
#else
typedef unsigned int lane_word;
#define lane_load_words(p) (*(p))
#define LANE_COUNT_WORDS 0u // each lane's number
#define WORD_TO_REAL(x) ((real)(x))
#endif

#ifdef __OPENCL_VERSION__
#define word_high(a, b) mul_hi((lane_word)(a), b)
#else
#define word_high(a, b) ((unsigned int)((unsigned long long)(a) * (b) >> 32))
#endif

// Replaces the counter's words by random ones.
static void lane_philox(lane_word x[4], unsigned int key0, unsigned int key1)
{
  for (int i = 0; i < 10; ++i) {
    const lane_word high0 = word_high(0xD2511F53u, x[0]), low0 = x[0] * 0xD2511F53u;
    const lane_word high1 = word_high(0xCD9E8D57u, x[2]), low1 = x[2] * 0xCD9E8D57u;
    x[0] = high1 ^ x[1] ^ key0;
    x[1] = low1;
    x[2] = high0 ^ x[3] ^ key1;
    x[3] = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

// Converts a word to a number between 0 and 1. In float the largest words are rounded to 1.
static lane lane_uniform(lane_word x)
{
  return (WORD_TO_REAL(x) + R(0.5)) * R(2.3283064365386963e-10);
}

// Writes the cosine and the sine of v full turns, 0 <= v <= 1, by series about the nearest quarter.
static void lane_turn(lane v, lane *cosine, lane *sine)
{
  const lane quarter = lane_floor(v * R(4.0) + R(0.5));
  const lane r = (v - quarter * R(0.25)) * R(6.28318530717958647693), z = r * r;
#if REAL_DOUBLE
  lane s = z * 2.8114572543455206e-15 + -7.6471637318198164e-13;
  s = s * z + 1.6059043836821613e-10;
  s = s * z + -2.5052108385441720e-8;
  s = s * z + 2.7557319223985893e-6;
  lane c = z * 4.7794773323873853e-14 + -1.1470745597729725e-11;
  c = c * z + 2.0876756987868100e-9;
  c = c * z + -2.7557319223985888e-7;
  c = c * z + 2.4801587301587302e-5;
#else
  lane s = lane_lit(2.7557319e-6f), c = lane_lit(2.4801587e-5f);
#endif
  s = s * z + R(-1.9841269841269841e-4);
  s = s * z + R(8.3333333333333333e-3);
  s = s * z + R(-1.6666666666666667e-1);
  s = s * z * r + r;
  c = c * z + R(-1.3888888888888889e-3);
  c = c * z + R(4.1666666666666667e-2);
  c = c * z + R(-0.5);
  c = c * z + R(1.0);
  const ilane odd = (quarter == lane_lit(R(1.0))) | (quarter == lane_lit(R(3.0)));
  const ilane left = (quarter == lane_lit(R(1.0))) | (quarter == lane_lit(R(2.0)));
  const ilane low = (quarter == lane_lit(R(2.0))) | (quarter == lane_lit(R(3.0)));
  const lane x = lane_select(odd, s, c), y = lane_select(odd, c, s);
  *cosine = lane_select(left, -x, x);
  *sine = lane_select(low, -y, y);
}

// Computes three standard normal numbers from four random words (Box and Muller 1958).
static vec3_r lane_normals(const lane_word x[4])
{
  const lane zero = lane_lit(R(0.0));
  lane c[2], s[2];
  const lane r0 = lane_sqrt(lane_max(lane_log2(lane_uniform(x[0])) * (R(-2.0) * LN2), zero));
  const lane r1 = lane_sqrt(lane_max(lane_log2(lane_uniform(x[2])) * (R(-2.0) * LN2), zero));
  lane_turn(lane_uniform(x[1]), &c[0], &s[0]);
  lane_turn(lane_uniform(x[3]), &c[1], &s[1]);
  return make_r(r0 * c[0], r0 * s[0], r1 * c[1]);
}

#endif
