// What fronts of all kinds share: where a lane's numbers lie, and what they begin with.

// Unit roundoff; what stands for every underflow of numbers of size 1, and what flushing takes of a number before it
// is scaled.
#define CCD_U (REAL_EPSILON / 2)
#if REAL_DOUBLE
#define CCD_TINY 0x1p-900
#define CCD_FLUSHED 0x1p-1020
#else
#define CCD_TINY 0x1p-100f
#define CCD_FLUSHED 0x1p-124f
#endif

// A motion: differences of up to four pairs, and up to three edges, at both ends.
enum { CCD_MOTION_V1 = 12, CCD_MOTION_E0 = 24, CCD_MOTION_E1 = 33, CCD_MOTION_NUMBERS = 42 };

// A front. Lengths are scaled as the motion.
enum {
  CCD_AT_T,
  CCD_AT_T_LOW,     // of doubled numbers
  CCD_AT_WINDOW,    // how far the next look with curved directions goes
  CCD_AT_END,
  CCD_AT_SEPARATION,
  CCD_AT_KEEP,
  CCD_AT_TOLERANCE,
  CCD_AT_R,         // below 0 until the distance at time 0 is known, of which it keeps a share
  CCD_AT_REACH,     // the gap that counts as a hit
  CCD_AT_TINY,
  CCD_AT_GIVEN_ERROR, // an error of all coordinates that is not relative to them
  CCD_AT_ERROR,     // 3
  CCD_AT_D0 = CCD_AT_ERROR + 3, // certified distance at time 0, below 0 until it is known
  CCD_AT_N,         // 3
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

// NaN is not in order.
static int ccd_settings_are_good(const real settings[CCD_SETTINGS])
{
  const real keep = settings[CCD_KEEP], end = settings[CCD_END];
  return settings[CCD_SEPARATION] >= R(0.0) && settings[CCD_SEPARATION] < REAL_MOST && keep >= R(0.0) &&
         keep < R(1.0) && settings[CCD_TOLERANCE] >= R(0.0) && end >= R(0.0) && end <= R(1.0) &&
         settings[CCD_ERROR] >= R(0.0) && settings[CCD_ERROR] < REAL_MOST && settings[CCD_RELATIVE_ERROR] >= R(0.0);
}

// Sets r and what counts as a hit: at once where nothing of the distance d0 at time 0 is to be kept, else when it is
// known.
static void ccd_set_radius(real at[CCD_FRONT_NUMBERS][LANES], int l, real d0)
{
  const real up = R(1.0) + 16 * CCD_U, keep = at[CCD_AT_KEEP][l], separation = at[CCD_AT_SEPARATION][l];
  const real above = d0 - separation * up, kept = above > R(0.0) ? keep * above : R(0.0);
  const real share = (keep < R(0.5) ? kept : above > R(0.0) ? above - kept : R(0.0)) * R(0.5), tolerance = at[CCD_AT_TOLERANCE][l];
  const int known = keep == R(0.0) || d0 >= R(0.0);
  at[CCD_AT_R][l] = known ? (separation + kept) * up : R(-1.0);
  at[CCD_AT_REACH][l] = at[CCD_AT_R][l] + (share > tolerance ? share : tolerance);
}

// Notes the certified distance of lanes that have looked at time 0.
static void ccd_note_first(real at[CCD_FRONT_NUMBERS][LANES], ilane first, lane gap)
{
  const lane d0 = gap * (R(1.0) - 8 * CCD_U), before = lane_load(at[CCD_AT_D0]);
  lane_store(lane_select(first & (before < lane_lit(R(0.0))), lane_max(d0, lane_lit(R(0.0))), before), at[CCD_AT_D0]);
}
