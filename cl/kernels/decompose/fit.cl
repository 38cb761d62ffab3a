// The objective of a fit, sum v (T(phi) - T(d))^2 with T(z) = tanh(z / s), and the normal equations
// of its derivatives. A work-group handles one item: a block of samples, and a set of primitives.

#define DECOMPOSE_FAR R(12.0)   // temperatures of the union beyond which a primitive adds nothing
#define DECOMPOSE_SLOPE R(1e-4) // derivatives below this share of the steepest are omitted

static int decompose_is_away(GLOBAL const real *set, int l)
{
  return set[SUPERQUADRIC_STRIDE * l + DECOMPOSE_SIGN] < R(0.0);
}

// Returns the body's field from its two unions: LSE(plus, -minus).
static lane decompose_take_away(lane plus, lane minus, real sharp)
{
  const lane most = lane_max(plus, -minus);
  return most +
         lane_log2(lane_exp2((plus - most) * sharp) + lane_exp2((-minus - most) * sharp)) / sharp;
}

// Returns the union, at lanes i, of a block's added or subtracted primitives, except two places in
// the set; REAL_BIG if there is none.
static lane decompose_half(GLOBAL const real *phi, GLOBAL const int *list, GLOBAL const real *set,
                           int away, int a, int b, int i, real sharp)
{
  lane least = lane_lit(REAL_BIG), sum = lane_lit(R(0.0));
  for (int k = 0; k < list[LIST_KEPT]; ++k) {
    const int l = list[LIST_AT + k];
    if (l != a && l != b && decompose_is_away(set, l) == away) {
      least = lane_min(least, lane_load(phi + DECOMPOSE_BLOCK * k + i));
    }
  }
  for (int k = 0; k < list[LIST_KEPT]; ++k) {
    const int l = list[LIST_AT + k];
    if (l != a && l != b && decompose_is_away(set, l) == away) {
      sum += lane_exp2((least - lane_load(phi + DECOMPOSE_BLOCK * k + i)) * sharp);
    }
  }
  return least - lane_log2(lane_max(sum, lane_lit(R(1.0)))) / sharp;
}

// Returns the derivative of the body's field with respect to that of a primitive.
static lane decompose_weight(lane phi, lane plus, lane value, int away, real sharp)
{
  return away ? -lane_exp2((-phi - value) * sharp)
              : lane_exp2(((plus - phi) + (plus - value)) * sharp);
}

static vec3_r sample_at(GLOBAL const real *block, int i)
{
  return make_r(lane_load(block + i), lane_load(block + DECOMPOSE_BLOCK + i),
                lane_load(block + 2 * DECOMPOSE_BLOCK + i));
}

// The bound beyond which a primitive does not matter in a block in which the union is at most
// `worst`: either T is 1 there to within rounding, or another primitive is much nearer.
static real decompose_limit(real worst, real s, real tau)
{
  return real_max(R(8.0) * s, real_min(worst, R(8.0) * s) + DECOMPOSE_FAR * tau);
}

// Returns the union of the `used` fields at phi, DECOMPOSE_BLOCK apart. `least` is the nearest
// field; `sum` is the sum of the other terms.
static lane decompose_added(GLOBAL const real *phi, int used, lane least, lane sum, real sharp)
{
  for (int k = 0; k < used; ++k) {
    sum += lane_exp2((least - lane_load(phi + DECOMPOSE_BLOCK * k)) * sharp);
  }
  return least - lane_log2(sum) / sharp;
}

// The same for sets with subtracted primitives, with `nearest` and `taken` for these. It writes
// both halves to plus and minus.
static lane decompose_mixed(GLOBAL const real *set, GLOBAL const real *phi, LOCAL const int *kept,
                            int used, lane least, lane sum, lane nearest, lane taken, real sharp,
                            GLOBAL real *plus, GLOBAL real *minus)
{
  for (int k = 0; k < used; ++k) {
    const lane field = lane_load(phi + DECOMPOSE_BLOCK * k);
    if (decompose_is_away(set, kept[k])) {
      taken += lane_exp2((nearest - field) * sharp);
    } else {
      sum += lane_exp2((least - field) * sharp);
    }
  }
  const lane one = lane_lit(R(1.0)); // a half may be empty
  const lane added = least - lane_log2(lane_max(sum, one)) / sharp;
  const lane away = nearest - lane_log2(lane_max(taken, one)) / sharp;
  lane_store(added, plus);
  lane_store(away, minus);
  return decompose_take_away(added, away, sharp);
}

// Returns the largest slope of T of the body's field, at `joined`, with respect to a primitive's
// field in a block. `plus` is the union of the added primitives.
static real decompose_steepest(GLOBAL const real *phi, GLOBAL const real *joined,
                               GLOBAL const real *plus, int away, real s, real sharp)
{
  lane steepest = lane_lit(R(0.0));
  for (int i = 0; i < DECOMPOSE_BLOCK; i += LANES) {
    const lane value = lane_load(joined + i), t = decompose_tanh(value / s);
    const lane weight =
      decompose_weight(lane_load(phi + i), lane_load(plus + i), value, away, sharp);
    steepest = lane_max(steepest, lane_abs(weight) * (R(1.0) - t * t));
  }
  return lane_most(steepest);
}

// Lists the primitives that matter, and the entries whose derivatives matter; `steepest` bounds
// these derivatives.
static void decompose_list(GLOBAL const real *set, LOCAL const int *kept,
                           LOCAL const real *steepest, int used, int most, GLOBAL int *list)
{
  int active = 0;
  for (int k = 0; k < used; ++k) {
    list[LIST_AT + k] = kept[k];
    const int parts = MAX_INT(PART_COUNT(decompose_code(set + SUPERQUADRIC_STRIDE * kept[k])), 1);
    for (int j = 0; j < parts && steepest[k] > DECOMPOSE_SLOPE; ++j) {
      list[LIST_AT + most + active++] = kept[k] + j;
    }
  }
  list[LIST_KEPT] = used;
  list[LIST_ACTIVE] = active;
}

// Writes an item's fields (most, DECOMPOSE_BLOCK) of the primitives that matter, its whole field
// and its terms of the objective (DECOMPOSE_BLOCK), and its lists. frozen: rows of DECOMPOSE_BLOCK.
// If `mixed` is not 0, `halves` (2, DECOMPOSE_BLOCK) gets the unions of the added and of the
// subtracted primitives.
KERNEL GROUPED void decompose_values(GLOBAL const real *samples, GLOBAL const real *balls,
                                     GLOBAL const real *primitives, GLOBAL const int *items,
                                     GLOBAL const real *frozen, real s, real tau, real plane,
                                     int most, int mixed, GLOBAL real *fields, GLOBAL real *unions,
                                     GLOBAL real *halves, GLOBAL real *terms, GLOBAL int *lists)
{
  LOCAL_ARRAY(real, bounds, DECOMPOSE_MOST);
  LOCAL_ARRAY(real, part, WG);
  LOCAL_ARRAY(int, kept, DECOMPOSE_MOST);
  const int at = (int)get_group_id(0), item = (int)get_local_id(0);
  GLOBAL const int *own = items + (size_t)FIT_INTS * at;
  GLOBAL const real *block = samples + (size_t)SAMPLE_PLANES * DECOMPOSE_BLOCK * own[FIT_BLOCK];
  GLOBAL const real *ball = balls + (size_t)DECOMPOSE_BALL * own[FIT_BLOCK];
  GLOBAL const real *set = primitives + (size_t)SUPERQUADRIC_STRIDE * own[FIT_FIRST];
  const size_t rows = mixed ? 2 : 1;
  GLOBAL const real *back = frozen + DECOMPOSE_BLOCK * rows * (size_t)MAX_INT(own[FIT_FROZEN], 0);
  GLOBAL const real *back_away = back + DECOMPOSE_BLOCK * (rows - 1);
  GLOBAL real *plus = halves + (mixed ? (size_t)2 * DECOMPOSE_BLOCK * at : 0),
              *minus = plus + DECOMPOSE_BLOCK;
  GLOBAL real *phi = fields + (size_t)most * DECOMPOSE_BLOCK * at;
  GLOBAL real *joined = unions + (size_t)DECOMPOSE_BLOCK * at;
  GLOBAL real *term = terms + (size_t)DECOMPOSE_BLOCK * at;
  GLOBAL int *list = lists + (size_t)LIST_INTS(most) * at;
  const int count = own[FIT_COUNT], has_back = own[FIT_FROZEN] >= 0;
  for (int l = item; l < count; l += WG) {
    bounds[l] = decompose_bound(set + SUPERQUADRIC_STRIDE * l, ball);
  }
  for (int i = LANES * item; i < DECOMPOSE_BLOCK; i += LANES * WG) {
    lane_store(has_back ? lane_load(back + i) : lane_lit(REAL_BIG), joined + i);
    if (mixed) {
      lane_store(has_back ? lane_load(back_away + i) : lane_lit(REAL_BIG), minus + i);
    }
  }
  BARRIER_GLOBAL;
  // The nearest primitive is evaluated first, because it shows which of the others are far.
  int used = 0, next = 0, first = 0;
  for (int l = 1; l < count; ++l) {
    first = bounds[l] < bounds[first] ? l : first;
  }
  int l = first;
  do {
    GLOBAL const real *one = set + SUPERQUADRIC_STRIDE * l;
    GLOBAL real *least_of = mixed && decompose_is_away(set, l) ? minus : joined;
    real worst = -REAL_BIG;
    for (int i = LANES * item; i < DECOMPOSE_BLOCK; i += LANES * WG) {
      const lane value = decompose_field(one, sample_at(block, i), LOG2E / plane);
      lane_store(value, phi + DECOMPOSE_BLOCK * used + i);
      lane_store(lane_min(lane_load(least_of + i), value), least_of + i);
      worst = real_max(worst, lane_most(lane_load(joined + i)));
    }
    part[item] = worst;
    if (item == 0) {
      kept[used] = l;
    }
    ++used;
    BARRIER;
    for (int i = 0; i < WG; ++i) {
      worst = real_max(worst, part[i]);
    }
    // A far subtracted primitive does not matter: the body's field is then that of the added ones,
    // or beyond T's reach.
    const real limit = decompose_limit(worst, s, tau), far_away = R(8.0) * s + DECOMPOSE_FAR * tau;
    for (; next < count &&
           (next == first ||
            bounds[next] > (mixed && decompose_is_away(set, next) ? far_away : limit));
         ++next) {
    }
    l = next++;
    BARRIER;
  } while (l < count);
  const real sharp = LOG2E / tau;
  for (int i = LANES * item; i < DECOMPOSE_BLOCK; i += LANES * WG) {
    const lane none = lane_lit(R(0.0)), least = lane_load(joined + i);
    const lane sum = has_back ? lane_exp2((least - lane_load(back + i)) * sharp) : none;
    lane value;
    if (mixed) {
      const lane nearest = lane_load(minus + i);
      const lane taken = has_back ? lane_exp2((nearest - lane_load(back_away + i)) * sharp) : none;
      value = decompose_mixed(set, phi + i, kept, used, least, sum, nearest, taken, sharp, plus + i,
                              minus + i);
    } else {
      value = decompose_added(phi + i, used, least, sum, sharp);
    }
    const lane root = lane_load(block + SAMPLE_ROOT * DECOMPOSE_BLOCK + i);
    const lane off =
      root * (decompose_tanh(value / s) -
              decompose_tanh(lane_load(block + SAMPLE_DISTANCE * DECOMPOSE_BLOCK + i) / s));
    lane_store(value, joined + i);
    lane_store(off * off, term + i);
  }
  BARRIER_GLOBAL;
  for (int k = item; k < used; k += WG) {
    bounds[k] = decompose_steepest(phi + DECOMPOSE_BLOCK * k, joined, mixed ? plus : joined,
                                   mixed && decompose_is_away(set, kept[k]), s, sharp);
  }
  BARRIER;
  if (item == 0) {
    decompose_list(set, kept, bounds, used, most, list);
  }
}

// Writes the lower triangle of the products of an item's rows: the 11 n columns of the Jacobian for
// its n active entries, followed by the residual. It uses rows (11 n + 1, DECOMPOSE_BLOCK) as
// memory. `items` to `lists` are inputs and outputs of decompose_values.
KERNEL GROUPED void decompose_products(GLOBAL const real *samples, GLOBAL const real *primitives,
                                       GLOBAL const int *items, real s, real tau, real plane,
                                       int most, int mixed, GLOBAL const real *unions,
                                       GLOBAL const real *halves, GLOBAL const int *lists,
                                       GLOBAL const int *wanted, GLOBAL real *rows,
                                       GLOBAL real *products)
{
  const int item = (int)get_local_id(0);
  GLOBAL const int *want = wanted + (size_t)PRODUCT_INTS * get_group_id(0);
  const int at = want[PRODUCT_ITEM];
  GLOBAL const int *own = items + (size_t)FIT_INTS * at;
  GLOBAL const real *block = samples + (size_t)SAMPLE_PLANES * DECOMPOSE_BLOCK * own[FIT_BLOCK];
  GLOBAL const real *set = primitives + (size_t)SUPERQUADRIC_STRIDE * own[FIT_FIRST];
  GLOBAL const real *joined = unions + (size_t)DECOMPOSE_BLOCK * at;
  GLOBAL const real *plus = mixed ? halves + (size_t)2 * DECOMPOSE_BLOCK * at : joined;
  GLOBAL const int *list = lists + (size_t)LIST_INTS(most) * at;
  GLOBAL real *row = rows + (size_t)DECOMPOSE_BLOCK * want[PRODUCT_ROW];
  GLOBAL real *out = products + want[PRODUCT_AT];
  const int active = list[LIST_ACTIVE], count = DECOMPOSE_PARAMETERS * active + 1;
  const real sharp = LOG2E / tau;
  for (int k = 0; k < active; ++k) {
    const int l = list[LIST_AT + most + k], away = mixed && decompose_is_away(set, l);
    GLOBAL const real *one = set + SUPERQUADRIC_STRIDE * l;
    for (int i = LANES * item; i < DECOMPOSE_BLOCK; i += LANES * WG) {
      decompose_jet jet;
      if (decompose_code(one)) {
        decompose_derive_part(one, sample_at(block, i), LOG2E / plane, &jet);
      } else {
        decompose_derive(one, sample_at(block, i), &jet);
      }
      const lane value = lane_load(joined + i), t = decompose_tanh(value / s);
      const lane weight = decompose_weight(jet.phi, lane_load(plus + i), value, away, sharp) *
                          (R(1.0) - t * t) / s *
                          lane_load(block + SAMPLE_ROOT * DECOMPOSE_BLOCK + i);
      // Without weight, or if the weight is NaN, the scale is 0.
      const lane scale = lane_select(lane_abs(weight) > lane_lit(R(0.0)), weight, lane_lit(R(0.0)));
      for (int j = 0; j < DECOMPOSE_PARAMETERS; ++j) {
        lane_store(jet.by[j] * scale, row + DECOMPOSE_BLOCK * (DECOMPOSE_PARAMETERS * k + j) + i);
      }
    }
  }
  for (int i = LANES * item; i < DECOMPOSE_BLOCK; i += LANES * WG) {
    const lane off = decompose_tanh(lane_load(joined + i) / s) -
                     decompose_tanh(lane_load(block + SAMPLE_DISTANCE * DECOMPOSE_BLOCK + i) / s);
    lane_store(off * lane_load(block + SAMPLE_ROOT * DECOMPOSE_BLOCK + i),
               row + DECOMPOSE_BLOCK * (count - 1) + i);
  }
  BARRIER_GLOBAL;
  // Four columns at once, so that a row is loaded for all of them. Columns after the last one
  // repeat it.
  for (int i = item; i < count; i += WG) {
    GLOBAL const real *left = row + DECOMPOSE_BLOCK * i;
    for (int j = 0; j <= i; j += 4) {
      GLOBAL const real *right[4];
      lane sum[4];
      for (int c = 0; c < 4; ++c) {
        right[c] = row + DECOMPOSE_BLOCK * MIN_INT(j + c, i);
        sum[c] = lane_lit(R(0.0));
      }
      for (int k = 0; k < DECOMPOSE_BLOCK; k += LANES) {
        const lane one = lane_load(left + k);
        for (int c = 0; c < 4; ++c) {
          sum[c] += one * lane_load(right[c] + k);
        }
      }
      for (int c = 0; c < 4 && j + c <= i; ++c) {
        out[DECOMPOSE_PRODUCTS(i) + j + c] = lane_sum(sum[c]);
      }
    }
  }
}
