// The generic number `num` of the geometry files: plain lanes, or duals if NUM_DUAL is 1.
//
// No include guard: this file is included before each use of a .inl file, and num_off.h after it.
// Plain operations are macros so that a compiler may fuse the multiplication and the addition of
// one expression.
//
// Conditionals: n_select(mask, a, b) with a mask from n_value(x) of plain lanes. The code selects
// between two forms of one smooth function and never uses |x| inside one, so a dual is also correct
// at the seam.
//
// n_log2_1p(a) is log2(1 + a) for 0 <= a <= 1. n_scale multiplies by a plain scalar, n_times by a
// part (a lane), n_over divides by one; n_smad and n_tmad add a number to the product.
//
// NUM_WIDE: one number in the widest precision of the device, for computations done once per pose.
//
// NUM_DOUBLED: lanes of numbers with twice the digits (num/doubled.h), whose n_value is the higher
// half.
#if NUM_DUAL
#ifdef NUM_WIDE
#define FN(name) name##_wd
#define DUAL(name) wide_dual_##name
#define num wide_dual
#define n_part wide
#define n_mask int
#define n_plain(a) ((wide)(a))
#else
#define FN(name) name##_d // '##' directly on the argument: PoCL defines builtin names as macros
#define DUAL(name) dual_##name
#define num dual
#define n_part lane
#define n_mask ilane
#define n_plain(a) lane_lit(a)
#define n_exp2(a) dual_exp2(a)
#define n_log2(a) dual_log2(a)
#define n_log2_1p(a) dual_log2_1p(a)
#endif
#define n_lit(a) DUAL(lit)(n_plain(a))
#define n_of(a) DUAL(lit)(a)
#define n_value(a) ((a).v)
#define n_with_value(a, x) DUAL(with_value)(a, x)
#define n_get_part(a, i) DUAL(get_part)(a, i)
#define n_with_part(a, i, x) DUAL(with_part)(a, i, x)
#define n_add(a, b) DUAL(add)(a, b)
#define n_sub(a, b) DUAL(sub)(a, b)
#define n_mul(a, b) DUAL(mul)(a, b)
#define n_mad(a, b, c) DUAL(mad)(a, b, c)
#define n_scale(a, s) DUAL(scale)(a, n_plain(s))
#define n_times(a, x) DUAL(scale)(a, x)
#define n_smad(a, s, c) DUAL(smad)(a, n_plain(s), c)
#define n_tmad(a, x, c) DUAL(smad)(a, x, c)
#define n_shift(a, s) DUAL(shift)(a, n_plain(s))
#define n_neg(a) DUAL(scale)(a, n_plain(R(-1.0)))
#define n_div(a, b) DUAL(div)(a, b)
#define n_rcp(a) DUAL(rcp)(a)
#define n_over(a, x) DUAL(over)(a, x)
#define n_sqrt(a) DUAL(sqrt)(a)
#define n_abs(a) DUAL(abs)(a)
#define n_sin(a) DUAL(sin)(a)
#define n_cos(a) DUAL(cos)(a)
#define n_select(mask, a, b) DUAL(select)(mask, a, b)
#elif defined(NUM_DOUBLED)
#define FN(name) name##_t // twice the digits
#define num doubled
#define n_part lane
#define n_mask ilane
#define n_plain(a) lane_lit(a)
#define n_lit(a) doubled_of(lane_lit(a))
#define n_of(a) doubled_of(a)
#define n_value(a) ((a).hi)
#define n_add(a, b) doubled_add(a, b)
#define n_sub(a, b) doubled_sub(a, b)
#define n_mul(a, b) doubled_mul(a, b)
#define n_mad(a, b, c) doubled_add(doubled_mul(a, b), c)
#define n_scale(a, s) doubled_times(a, n_plain(s))
#define n_times(a, x) doubled_times(a, x)
#define n_smad(a, s, c) doubled_add(doubled_times(a, n_plain(s)), c)
#define n_tmad(a, x, c) doubled_add(doubled_times(a, x), c)
#define n_shift(a, s) doubled_add(a, n_lit(s))
#define n_neg(a) doubled_neg(a)
#define n_div(a, b) doubled_div(a, b)
#define n_over(a, x) doubled_div(a, doubled_of(x))
#define n_rcp(a) doubled_div(n_lit(R(1.0)), a)
#define n_select(mask, a, b) doubled_select(mask, a, b)
#else
#define n_of(a) (a)
#define n_value(a) (a)
#define n_with_value(a, x) (x)
#define n_get_part(a, i) (a)
#define n_with_part(a, i, x) (x)
#define n_add(a, b) ((a) + (b))
#define n_sub(a, b) ((a) - (b))
#define n_mul(a, b) ((a) * (b))
#define n_mad(a, b, c) ((a) * (b) + (c))
#define n_scale(a, s) ((a) * (s))
#define n_times(a, x) ((a) * (x))
#define n_smad(a, s, c) ((a) * (s) + (c))
#define n_tmad(a, x, c) ((a) * (x) + (c))
#define n_shift(a, s) ((a) + (s))
#define n_neg(a) (-(a))
#define n_div(a, b) ((a) / (b))
#define n_rcp(a) (R(1.0) / (a))
#define n_over(a, x) ((a) / (x))
#ifdef NUM_WIDE
#define FN(name) name##_w
#define num wide
#define n_part wide
#define n_mask int
#define n_plain(a) ((wide)(a))
#define n_lit(a) ((wide)(a))
#define n_sqrt(a) wide_sqrt(a)
#define n_abs(a) wide_abs(a)
#define n_sin(a) wide_sin(a)
#define n_cos(a) wide_cos(a)
#define n_select(mask, a, b) ((mask) ? (a) : (b))
#else
#define FN(name) name##_r
#define num lane
#define n_part lane
#define n_mask ilane
#define n_plain(a) lane_lit(a)
#define n_lit(a) lane_lit(a)
#define n_sqrt(a) lane_sqrt(a)
#define n_exp2(a) lane_exp2(a)
#define n_log2(a) lane_log2(a)
#define n_log2_1p(a) lane_log2_1p(a)
#define n_abs(a) lane_abs(a)
#define n_sin(a) lane_sin(a)
#define n_cos(a) lane_cos(a)
#define n_select(mask, a, b) lane_select(mask, a, b)
#endif
#endif
#define vec FN(vec3)
