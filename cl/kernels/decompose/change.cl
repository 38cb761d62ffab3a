// What becomes of the objective without one primitive or two. The fields are those that
// decompose_values has left of a whole set, an item a block.

// Writes for each sample of an item what NEAREST_* says (NEAREST_PLANES, DECOMPOSE_BLOCK), and for each
// primitive that has a say by how much the item's part of the objective rises without it.
KERNEL void decompose_removals(GLOBAL const real *samples, GLOBAL const int *items, real s, real tau, int most,
                               GLOBAL const real *fields, GLOBAL const real *terms, GLOBAL const int *lists,
                               GLOBAL real *nearest, GLOBAL real *costs)
{
  const int at = (int)get_group_id(0), item = (int)get_local_id(0);
  GLOBAL const int *list = lists + (size_t)LIST_INTS(most) * at;
  GLOBAL const real *block = samples + (size_t)SAMPLE_PLANES * DECOMPOSE_BLOCK * items[FIT_INTS * at + FIT_BLOCK];
  GLOBAL const real *phi = fields + (size_t)most * DECOMPOSE_BLOCK * at;
  GLOBAL const real *term = terms + (size_t)DECOMPOSE_BLOCK * at;
  GLOBAL real *near = nearest + (size_t)NEAREST_PLANES * DECOMPOSE_BLOCK * at;
  const int used = list[LIST_KEPT];
  const real sharp = LOG2E / tau;
  for (int i = LANES * item; i < DECOMPOSE_BLOCK; i += LANES * WG) {
    lane least = lane_lit(REAL_BIG), next = lane_lit(REAL_BIG), first = lane_lit(R(-1.0)), second = lane_lit(R(-1.0));
    for (int k = 0; k < used; ++k) {
      const lane value = lane_load(phi + DECOMPOSE_BLOCK * k + i), number = lane_lit((real)list[LIST_AT + k]);
      const ilane leads = value < least, follows = value < next;
      second = lane_select(leads, first, lane_select(follows, number, second));
      next = lane_select(leads, least, lane_select(follows, value, next));
      first = lane_select(leads, number, first);
      least = lane_select(leads, value, least);
    }
    lane sum = lane_lit(R(0.0)), rest = lane_lit(R(0.0));
    for (int k = 0; k < used; ++k) {
      const lane value = lane_load(phi + DECOMPOSE_BLOCK * k + i), number = lane_lit((real)list[LIST_AT + k]);
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
      const lane others = lane_load(near + NEAREST_SUM * DECOMPOSE_BLOCK + i) - lane_exp2((least - value) * sharp);
      const ilane leads = number == lane_load(near + NEAREST_FIRST * DECOMPOSE_BLOCK + i);
      const lane sum = lane_select(leads, lane_load(near + NEAREST_REST * DECOMPOSE_BLOCK + i), others);
      const lane without = lane_select(leads, next, least) - lane_log2(lane_max(sum, lane_lit(REAL_TINY))) / sharp;
      const lane root = lane_load(block + SAMPLE_ROOT * DECOMPOSE_BLOCK + i);
      const lane off = root * (decompose_tanh(without / s) -
                               decompose_tanh(lane_load(block + SAMPLE_DISTANCE * DECOMPOSE_BLOCK + i) / s));
      cost += off * off - lane_load(term + i);
    }
    costs[(size_t)most * at + k] = lane_sum(cost);
  }
}

// Writes a row of frozen fields (DECOMPOSE_BLOCK): the union of an item's primitives but for two. wanted: a
// row's item and these two places in the set, or -1.
KERNEL void decompose_freeze(real tau, int most, GLOBAL const real *fields, GLOBAL const int *lists,
                             GLOBAL const int *wanted, GLOBAL real *frozen)
{
  const int at = (int)get_group_id(0), item = (int)get_local_id(0);
  GLOBAL const int *want = wanted + 3 * (size_t)at;
  GLOBAL const int *list = lists + (size_t)LIST_INTS(most) * want[0];
  GLOBAL const real *phi = fields + (size_t)most * DECOMPOSE_BLOCK * want[0];
  GLOBAL real *out = frozen + (size_t)DECOMPOSE_BLOCK * at;
  const real sharp = LOG2E / tau;
  for (int i = LANES * item; i < DECOMPOSE_BLOCK; i += LANES * WG) {
    lane least = lane_lit(REAL_BIG), sum = lane_lit(R(0.0));
    for (int k = 0; k < list[LIST_KEPT]; ++k) {
      const int l = list[LIST_AT + k];
      if (l != want[1] && l != want[2]) {
        least = lane_min(least, lane_load(phi + DECOMPOSE_BLOCK * k + i));
      }
    }
    for (int k = 0; k < list[LIST_KEPT]; ++k) {
      const int l = list[LIST_AT + k];
      if (l != want[1] && l != want[2]) {
        sum += lane_exp2((least - lane_load(phi + DECOMPOSE_BLOCK * k + i)) * sharp);
      }
    }
    lane_store(least - lane_log2(lane_max(sum, lane_lit(R(1.0)))) / sharp, out + i);
  }
}
