// Random numbers by counting: Philox4x32-10 (Salmon et al. 2011, Parallel random numbers: as easy as 1, 2,
// 3). What comes out follows from the key and the counter alone, in whatever order and on whatever device.
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

// The number of a word between 0 and 1. In float the largest ones are rounded to 1.
static lane lane_uniform(lane_word x)
{
  return (WORD_TO_REAL(x) + R(0.5)) * R(2.3283064365386963e-10);
}

// Makes three standard normal numbers of four random words (Box and Muller 1958).
static vec3_r lane_normals(const lane_word x[4])
{
  const lane zero = lane_lit(R(0.0)), turn = lane_lit(R(6.28318530717958647693));
  const lane r0 = lane_sqrt(lane_max(lane_log2(lane_uniform(x[0])) * (R(-2.0) * LN2), zero));
  const lane r1 = lane_sqrt(lane_max(lane_log2(lane_uniform(x[2])) * (R(-2.0) * LN2), zero));
  const lane a = lane_uniform(x[1]) * turn, b = lane_uniform(x[3]) * turn;
  return make_r(r0 * lane_cos(a), r0 * lane_sin(a), r1 * lane_cos(b));
}

#endif
