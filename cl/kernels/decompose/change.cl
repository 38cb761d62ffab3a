// The change of the objective if one or two primitives are removed. The fields are those that
// decompose_values has written for a whole set, one item per block.

// Writes the results of decompose_removals for sets with subtracted primitives. For each sample it
// finds which of the two unions determines the body's field, and the nearest and second nearest
// primitives of that union.
static void decompose_removals_mixed(GLOBAL const real *block, GLOBAL const real *set, real s,
                                     real sharp, GLOBAL const real *phi, GLOBAL const real *term,
                                     GLOBAL const int *list, GLOBAL real *near, GLOBAL real *costs)
{
  const int item = (int)get_local_id(0), used = list[LIST_KEPT];
  for (int i = LANES * item; i < DECOMPOSE_BLOCK; i += LANES * WG) {
    lane least[2], next[2], first[2], second[2];
    for (int away = 0; away < 2; ++away) {
      least[away] = next[away] = lane_lit(REAL_BIG);
      first[away] = second[away] = lane_lit(R(-1.0));
    }
    for (int k = 0; k < used; ++k) {
      const int away = decompose_is_away(set, list[LIST_AT + k]);
      const lane value = lane_load(phi + DECOMPOSE_BLOCK * k + i),
                 number = lane_lit((real)list[LIST_AT + k]);
      const ilane leads = value < least[away], follows = value < next[away];
      second[away] = lane_select(leads, first[away], lane_select(follows, number, second[away]));
      next[away] = lane_select(leads, least[away], lane_select(follows, value, next[away]));
      first[away] = lane_select(leads, number, first[away]);
      least[away] = lane_select(leads, value, least[away]);
    }
    const lane none = lane_lit(REAL_BIG), added = lane_select(least[0] < none, least[0], -none);
    const ilane away_makes = -least[1] > added;
    lane_store(lane_select(away_makes, first[1], first[0]),
               near + NEAREST_FIRST * DECOMPOSE_BLOCK + i);
    lane_store(lane_select(away_makes, second[1], second[0]),
               near + NEAREST_SECOND * DECOMPOSE_BLOCK + i);
    lane_store(lane_select(away_makes, next[1], next[0]),
               near + NEAREST_NEXT * DECOMPOSE_BLOCK + i);
  }
  for (int k = item; k < used; k += WG) {
    const int l = list[LIST_AT + k];
    lane cost = lane_lit(R(0.0));
    for (int i = 0; i < DECOMPOSE_BLOCK; i += LANES) {
      const lane without = decompose_take_away(decompose_half(phi, list, set, 0, l, -1, i, sharp),
                                               decompose_half(phi, list, set, 1, l, -1, i, sharp),
                                               sharp);
      const lane root = lane_load(block + SAMPLE_ROOT * DECOMPOSE_BLOCK + i);
      const lane off =
        root * (decompose_tanh(without / s) -
                decompose_tanh(lane_load(block + SAMPLE_DISTANCE * DECOMPOSE_BLOCK + i) / s));
      cost += off * off - lane_load(term + i);
    }
    costs[k] = lane_sum(cost);
  }
}

// Writes the data of NEAREST_* for each sample of an item (NEAREST_PLANES, DECOMPOSE_BLOCK). For
// each primitive that matters it writes by how much the item's part of the objective rises without
// that primitive.
KERNEL GROUPED void decompose_removals(GLOBAL const real *samples, GLOBAL const real *primitives,
                                       GLOBAL const int *items, real s, real tau, int most,
                                       int mixed, GLOBAL const real *fields,
                                       GLOBAL const real *terms, GLOBAL const int *lists,
                                       GLOBAL real *nearest, GLOBAL real *costs)
{
  const int at = (int)get_group_id(0), item = (int)get_local_id(0);
  GLOBAL const int *list = lists + (size_t)LIST_INTS(most) * at;
  GLOBAL const real *block =
    samples + (size_t)SAMPLE_PLANES * DECOMPOSE_BLOCK * items[FIT_INTS * at + FIT_BLOCK];
  GLOBAL const real *phi = fields + (size_t)most * DECOMPOSE_BLOCK * at;
  GLOBAL const real *term = terms + (size_t)DECOMPOSE_BLOCK * at;
  GLOBAL real *near = nearest + (size_t)NEAREST_PLANES * DECOMPOSE_BLOCK * at;
  GLOBAL const real *set =
    primitives + (size_t)SUPERQUADRIC_STRIDE * items[FIT_INTS * at + FIT_FIRST];
  const int used = mixed ? 0 : list[LIST_KEPT];
  const real sharp = LOG2E / tau;
  if (mixed) {
    decompose_removals_mixed(block, set, s, sharp, phi, term, list, near,
                             costs + (size_t)most * at);
  }
  for (int i = LANES * item; i < DECOMPOSE_BLOCK && !mixed; i += LANES * WG) {
    lane least = lane_lit(REAL_BIG), next = lane_lit(REAL_BIG), first = lane_lit(R(-1.0)),
         second = lane_lit(R(-1.0));
    for (int k = 0; k < used; ++k) {
      const lane value = lane_load(phi + DECOMPOSE_BLOCK * k + i),
                 number = lane_lit((real)list[LIST_AT + k]);
      const ilane leads = value < least, follows = value < next;
      second = lane_select(leads, first, lane_select(follows, number, second));
      next = lane_select(leads, least, lane_select(follows, value, next));
      first = lane_select(leads, number, first);
      least = lane_select(leads, value, least);
    }
    lane sum = lane_lit(R(0.0)), rest = lane_lit(R(0.0));
    for (int k = 0; k < used; ++k) {
      const lane value = lane_load(phi + DECOMPOSE_BLOCK * k + i),
                 number = lane_lit((real)list[LIST_AT + k]);
      sum += lane_exp2((least - value) * sharp);
      rest += lane_select(number == first, lane_lit(R(0.0)), lane_exp2((next - value) * sharp));
    }
    lane_store(first, near + NEAREST_FIRST * DECOMPOSE_BLOCK + i);
    lane_store(second, near + NEAREST_SECOND * DECOMPOSE_BLOCK + i);
    lane_store(least, near + NEAREST_FIELD * DECOMPOSE_BLOCK + i);
    lane_store(next, near + NEAREST_NEXT * DECOMPOSE_BLOCK + i);
    lane_store(sum, near + NEAREST_SUM * DECOMPOSE_BLOCK + i);
    lane_store(rest, near + NEAREST_REST * DECOMPOSE_BLOCK + i);
  }
  BARRIER_GLOBAL;
  for (int k = item; k < used; k += WG) {
    const lane number = lane_lit((real)list[LIST_AT + k]);
    lane cost = lane_lit(R(0.0));
    for (int i = 0; i < DECOMPOSE_BLOCK; i += LANES) {
      const lane value = lane_load(phi + DECOMPOSE_BLOCK * k + i);
      const lane least = lane_load(near + NEAREST_FIELD * DECOMPOSE_BLOCK + i);
      const lane next = lane_load(near + NEAREST_NEXT * DECOMPOSE_BLOCK + i);
      const lane others =
        lane_load(near + NEAREST_SUM * DECOMPOSE_BLOCK + i) - lane_exp2((least - value) * sharp);
      const ilane leads = number == lane_load(near + NEAREST_FIRST * DECOMPOSE_BLOCK + i);
      const lane sum =
        lane_select(leads, lane_load(near + NEAREST_REST * DECOMPOSE_BLOCK + i), others);
      const lane without =
        lane_select(leads, next, least) - lane_log2(lane_max(sum, lane_lit(REAL_TINY))) / sharp;
      const lane root = lane_load(block + SAMPLE_ROOT * DECOMPOSE_BLOCK + i);
      const lane off =
        root * (decompose_tanh(without / s) -
                decompose_tanh(lane_load(block + SAMPLE_DISTANCE * DECOMPOSE_BLOCK + i) / s));
      cost += off * off - lane_load(term + i);
    }
    costs[(size_t)most * at + k] = lane_sum(cost);
  }
}

// Writes a row of frozen fields (DECOMPOSE_BLOCK): the union of an item's primitives except two.
// With subtracted primitives it writes two rows. wanted: a row's item and the places of these two
// primitives in the set, or -1.
KERNEL GROUPED void decompose_freeze(GLOBAL const real *primitives, GLOBAL const int *items,
                                     real tau, int most, int mixed, GLOBAL const real *fields,
                                     GLOBAL const int *lists, GLOBAL const int *wanted,
                                     GLOBAL real *frozen)
{
  const int at = (int)get_group_id(0), item = (int)get_local_id(0);
  GLOBAL const int *want = wanted + 3 * (size_t)at;
  GLOBAL const int *list = lists + (size_t)LIST_INTS(most) * want[0];
  GLOBAL const real *phi = fields + (size_t)most * DECOMPOSE_BLOCK * want[0];
  GLOBAL const real *set =
    primitives + (size_t)SUPERQUADRIC_STRIDE * items[FIT_INTS * want[0] + FIT_FIRST];
  const int rows = mixed ? 2 : 1;
  GLOBAL real *out = frozen + (size_t)DECOMPOSE_BLOCK * rows * at;
  for (int i = LANES * item; i < DECOMPOSE_BLOCK; i += LANES * WG) {
    for (int away = 0; away < rows; ++away) {
      lane_store(decompose_half(phi, list, set, away, want[1], want[2], i, LOG2E / tau),
                 out + DECOMPOSE_BLOCK * away + i);
    }
  }
}
