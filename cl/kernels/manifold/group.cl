// Functions that put together what the work-items of a group have found. All items of a group call
// them.

// For how many sums a group keeps its items' parts at once. In double and with the largest group,
// of 1024, these fill 24 KiB of local memory, of which every device has 32.
#define GROUP_AT_ONCE 3

// Adds up `count` sums at once, by halves and in the same order in every run. Item `item` has put
// its part of sum i at part[i * WG + item]; the sum then lies at part[i * WG]. Before `part` is
// written again items wait for each other (BARRIER).
#define GROUP_HALVES(name, type)                           \
  static void name(LOCAL type *part, int count, int item)  \
  {                                                        \
    BARRIER;                                               \
    for (int step = WG / 2; step > 0; step /= 2) {         \
      for (int i = 0; item < step && i < count; ++i) {     \
        part[i * WG + item] += part[i * WG + item + step]; \
      }                                                    \
      BARRIER;                                             \
    }                                                      \
  }

GROUP_HALVES(group_halves, real)

// Returns the sum over a work-group.
static real group_total(LOCAL real *part, real x, int item)
{
  part[item] = x;
  group_halves(part, 1, item);
  const real sum = part[0];
  BARRIER;
  return sum;
}

// Returns how many the items before this one have found, where this one has found `count`, and in
// *all how many all have. It is not done by halves with a wait for each: PoCL 3.1 ends the process
// when it compiles that.
static int group_before(LOCAL int *part, int count, int item, int *all)
{
#if WG > 1
  int before = 0, sum = 0;
  part[item] = count;
  BARRIER;
  for (int i = 0; i < WG; ++i) {
    before += i < item ? part[i] : 0;
    sum += part[i];
  }
  BARRIER;
  *all = sum;
  return before;
#else
  *all = count;
  (void)part;
  (void)item;
  return 0;
#endif
}

// Returns the least of a work-group.
static real group_least(LOCAL real *part, real x, int item)
{
  part[item] = x;
  BARRIER;
  for (int step = WG / 2; step > 0; step /= 2) {
    if (item < step) {
      part[item] = real_min(part[item], part[item + step]);
    }
    BARRIER;
  }
  const real least = part[0];
  BARRIER;
  return least;
}

// Replaces `count` numbers by their sums over the lanes and the work-items of a group, on all lanes
// of all items. part is (min(count, GROUP_AT_ONCE), WG).
static void group_sums(LOCAL real *part, num *x, const int count, int item)
{
#if WG > 1
  for (int first = 0; first < count; first += GROUP_AT_ONCE) {
    const int some = MIN_INT(count - first, GROUP_AT_ONCE);
    PART_DO(i, {
      for (int j = 0; j < some; ++j) {
        part[j * WG + item] = lane_sum(n_get_part(x[first + j], i));
      }
      group_halves(part, some, item);
      for (int j = 0; j < some; ++j) {
        x[first + j] = n_with_part(x[first + j], i, lane_lit(part[j * WG]));
      }
      BARRIER;
    })
  }
#else
  for (int j = 0; j < count; ++j) {
    x[j] = all_lanes(x[j]);
  }
  (void)part;
  (void)item;
#endif
}
