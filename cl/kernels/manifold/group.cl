// Functions that combine the results of a group's work-items. All work-items of a group call them.

// The number of sums for which a group stores its items' parts at once. In double and with the
// largest group, of 1024, these parts fill 24 KiB of local memory. Every device has 32.
#define GROUP_AT_ONCE 3

// Adds up `count` sums at once, by halving and in the same order in every run. Work-item `item` has
// written its part of sum i to part[i * WG + item]. The sum is then at part[i * WG]. The work-items
// must wait (BARRIER) before `part` is written again.
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

// Returns the total count of the previous work-items, where this one has `count`. *all gets the
// count of all work-items. This is not done by halving with a wait for each step, because PoCL 3.1
// ends the process when it compiles that.
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

// Replaces `count` numbers by their sums over the lanes and the work-items of a group, in all lanes
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
