// Shared definitions of fronts of all kinds: the location of a lane's numbers, and their scaling.

// The unit roundoff, a bound of every underflow for numbers of size 1, and a bound of the flushing
// of a number before it is scaled.
#define CCD_U (REAL_EPSILON / 2)
#if REAL_DOUBLE
#define CCD_TINY 0x1p-900
#define CCD_FLUSHED 0x1p-1018
#else
#define CCD_TINY 0x1p-100f
#define CCD_FLUSHED 0x1p-122f
#endif

// A front. Lengths are scaled after the row is prepared.
enum {
  CCD_AT_FRESH, // 1 until the row is prepared
  CCD_AT_BAD,   // 1 if the row is invalid
  // 2: scaling factors, powers of two; a single factor might not be a normal number
  CCD_AT_DOWN,
  CCD_AT_UP = CCD_AT_DOWN + 2, // 2: their inverses
  CCD_AT_T = CCD_AT_UP + 2,
  CCD_AT_T_LOW,    // the lower part of doubled numbers
  CCD_AT_WINDOW,   // the length of the next window for curved directions
  CCD_AT_SETTINGS, // CCD_SETTINGS as given
  CCD_AT_SEPARATION = CCD_AT_SETTINGS + CCD_SETTINGS,
  CCD_AT_TOLERANCE,
  CCD_AT_R,     // below 0 until the distance at time 0 is known, of which r is a share
  CCD_AT_REACH, // the gap that counts as a hit
  CCD_AT_TINY,
  CCD_AT_ERROR,                 // 3: of the input, along the axes
  CCD_AT_D0 = CCD_AT_ERROR + 3, // certified distance at time 0, below 0 until it is known
  CCD_AT_N,                     // 3
  CCD_AT_ROUNDS = CCD_AT_N + 3,
  CCD_AT_OUTCOME,
  CCD_FRONT_NUMBERS
};

#define CCD_GOES_ON R(-1.0)

#if LANES > 1
#define lane_none(mask) ((mask) == (ilane)(0))
#else
#define lane_none(mask) (!(mask))
#endif

// Two powers of two whose product scales a number of size x to between 1/2 and 1, and their
// inverses.
static void ccd_scale_by(lane x, lane down[2], lane up[2])
{
#if LANES > 1
  const ilane bias = EXPONENT_ONE >> EXPONENT_SHIFT,
              e = (LANE_AS_INT(x) >> EXPONENT_SHIFT) - (bias - 1);
  const ilane half_way = e >> 1, rest = e - half_way;
  down[0] = LANE_AS_REAL((bias - half_way) << EXPONENT_SHIFT);
  down[1] = LANE_AS_REAL((bias - rest) << EXPONENT_SHIFT);
  up[0] = LANE_AS_REAL((bias + half_way) << EXPONENT_SHIFT);
  up[1] = LANE_AS_REAL((bias + rest) << EXPONENT_SHIFT);
#else
  const int e = x >= REAL_TINY ? real_exponent(x) + 1 : 0, half_way = e / 2;
  down[0] = real_by_power_of_2(R(1.0), -half_way);
  down[1] = real_by_power_of_2(R(1.0), half_way - e);
  up[0] = real_by_power_of_2(R(1.0), half_way);
  up[1] = real_by_power_of_2(R(1.0), e - half_way);
#endif
}

static lane ccd_setting_of(real (*at)[LANES], int which)
{
  return lane_load(at[CCD_AT_SETTINGS + which]);
}

// Returns whether the settings are valid. NaN is invalid.
static ilane ccd_settings_are_good(real (*at)[LANES])
{
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0)), most = lane_lit(REAL_MOST);
  const lane separation = ccd_setting_of(at, CCD_SEPARATION), keep = ccd_setting_of(at, CCD_KEEP);
  const lane error = ccd_setting_of(at, CCD_ERROR), end = ccd_setting_of(at, CCD_END);
  const lane tolerance = ccd_setting_of(at, CCD_TOLERANCE),
             relative = ccd_setting_of(at, CCD_RELATIVE_ERROR);
  return (separation >= zero) & (separation < most) & (keep >= zero) & (keep < one) &
         (tolerance >= zero) & (end >= zero) & (end <= one) & (error >= zero) & (error < most) &
         (relative >= zero);
}

// Sets r and the gap that counts as a hit, for the lanes whose distance d0 at time 0 is known or
// not needed.
static void ccd_set_radius(real (*at)[LANES])
{
  const lane zero = lane_lit(R(0.0)), keep = ccd_setting_of(at, CCD_KEEP),
             separation = lane_load(at[CCD_AT_SEPARATION]);
  const lane d0 = lane_load(at[CCD_AT_D0]), before = lane_load(at[CCD_AT_R]);
  const ilane sets = (before < zero) & ((keep == zero) | (d0 >= zero));
  const lane above = lane_max(d0 - separation * (R(1.0) + 16 * CCD_U), zero), kept = keep * above;
  const lane r = (separation + kept) * (R(1.0) + 16 * CCD_U),
             share = lane_min(kept, above - kept) * R(0.5);
  const lane reach = r + lane_max(share, lane_load(at[CCD_AT_TOLERANCE]));
  lane_store(lane_select(sets, r, before), at[CCD_AT_R]);
  lane_store(lane_select(sets, reach, lane_load(at[CCD_AT_REACH])), at[CCD_AT_REACH]);
}

// Stores the certified distance of lanes that have been evaluated at time 0.
static void ccd_note_first(real (*at)[LANES], ilane first, lane gap)
{
  const lane d0 = gap * (R(1.0) - 8 * CCD_U), before = lane_load(at[CCD_AT_D0]);
  lane_store(lane_select(first & (before < lane_lit(R(0.0))), lane_max(d0, lane_lit(R(0.0))),
                         before),
             at[CCD_AT_D0]);
}

// Whether the certified distance at time 0 is not above the separation.
static int ccd_is_inside(real (*at)[LANES], int l)
{
  return at[CCD_AT_D0][l] <= at[CCD_AT_SEPARATION][l] * (R(1.0) + 16 * CCD_U);
}

// The unscaled distance at time 0.
static real ccd_d0(real (*at)[LANES], int l)
{
  return real_min(at[CCD_AT_D0][l] * at[CCD_AT_UP][l] * at[CCD_AT_UP + 1][l], REAL_MOST);
}
