// The choice of hard contacts: a few in each world that represent all of them;
// docs/dev/lcp-formulas.md, section 5.

#define HARD_APART R(0.99) // contacts with a smaller product of unit normals are not merged
#define HARD_SPREAD R(0.1) // weight of the distance to other contacts, relative to a depth
#define HARD_IDLE R(1e-2)  // a contact is idle if a free step leaves more than this of its margin
#define HARD_SHORT R(0.1)  // contacts with a shorter normal are dropped

// A work-item's input: the contacts of its world, their slots, and a list of candidates,
// HARD_CANDIDATE ints each. `world_pairs` are those of all worlds.
typedef struct hard_choice {
  GLOBAL const world_sizes *n;
  GLOBAL const int *ints;
  GLOBAL const real *reals;
  world_one tree;
  GLOBAL const real *contacts;
  GLOBAL const int *world_pairs, *slots;
  GLOBAL int *list;
  GLOBAL real *nearest; // distance of each candidate to the nearest taken one of its pair
} hard_choice;

static GLOBAL int *hard_candidate(const hard_choice *h, int i)
{
  return h->list + HARD_CANDIDATE * i;
}

// Returns number `plane` of a candidate's contact. of[0] is the contact's world pair, and of[1] its
// index in the world pair.
static real hard_plane(const hard_choice *h, GLOBAL const int *of, int plane)
{
  GLOBAL const int *world_pair = ROW(h->world_pairs, of[0], WORLD_PAIR_INTS);
  return h->contacts[(size_t)CONTACT_PLANES * world_pair[WORLD_PAIR_AT] +
                     (size_t)plane * world_pair[WORLD_PAIR_PLANE] + of[1]];
}

// These functions return the ints and the reals of a candidate's group.
static GLOBAL const int *hard_group(const hard_choice *h, GLOBAL const int *of)
{
  return h->ints + h->n->at_groups +
         GROUP_INTS * ROW(h->world_pairs, of[0], WORLD_PAIR_INTS)[WORLD_PAIR_GROUP];
}

static GLOBAL const real *hard_group_reals(const hard_choice *h, GLOBAL const int *of)
{
  return h->reals + h->n->at_group_reals +
         GROUP_REALS * ROW(h->world_pairs, of[0], WORLD_PAIR_INTS)[WORLD_PAIR_GROUP];
}

static vec3_r hard_vector(const hard_choice *h, GLOBAL const int *of, int plane)
{
  return make_r(lane_lit(hard_plane(h, of, plane)), lane_lit(hard_plane(h, of, plane + 1)),
                lane_lit(hard_plane(h, of, plane + 2)));
}

static int hard_pair(const hard_choice *h, GLOBAL const int *of)
{
  return hard_group(h, of)[GROUP_PAIR];
}

static int hard_slot(const hard_choice *h, GLOBAL const int *of)
{
  return h->slots[ROW(h->world_pairs, of[0], WORLD_PAIR_INTS)[WORLD_PAIR_AT] + of[1]];
}

// Returns the distance between the points of two candidates, each given relative to its group's
// centre.
static real hard_distance(const hard_choice *h, GLOBAL const int *a, GLOBAL const int *b)
{
  vec3_r d = sub3_r(hard_vector(h, a, CONTACT_POINT), hard_vector(h, b, CONTACT_POINT));
  if (a[0] != b[0]) {
    d = add3_r(d, sub3_r(one_get3(&h->tree, h->n->at_origin + 3 * group_centre(hard_group(h, a))),
                         one_get3(&h->tree, h->n->at_origin + 3 * group_centre(hard_group(h, b)))));
  }
  return lane_first(lane_sqrt(dot3_r(d, d)));
}

// Returns whether candidate a precedes b by pair, then by slot.
static int hard_order(const hard_choice *h, GLOBAL const int *a, GLOBAL const int *b)
{
  const int first = hard_pair(h, a), second = hard_pair(h, b);
  return first != second ? first < second : hard_slot(h, a) < hard_slot(h, b);
}

// Returns whether candidate i precedes k: the deeper one does, or the earlier slot if equal.
static int hard_before(const hard_choice *h, int i, int k)
{
  GLOBAL const int *a = hard_candidate(h, i), *b = hard_candidate(h, k);
  const real first = hard_plane(h, a, CONTACT_DISTANCE),
             second = hard_plane(h, b, CONTACT_DISTANCE);
  return first < second || (!(second < first) && hard_order(h, a, b));
}

static void hard_swap(const hard_choice *h, int i, int k)
{
  GLOBAL int *a = hard_candidate(h, i), *b = hard_candidate(h, k);
  for (int j = 0; j < HARD_CANDIDATE; ++j) {
    const int x = a[j];
    a[j] = b[j];
    b[j] = x;
  }
}

// Sinks candidate i of a heap whose top is the one that comes last.
static void hard_sink(const hard_choice *h, int i, int count)
{
  while (2 * i + 1 < count) {
    int k = 2 * i + 1;
    k += k + 1 < count && hard_before(h, k, k + 1);
    if (!hard_before(h, i, k)) {
      return;
    }
    hard_swap(h, i, k);
    i = k;
  }
}

// Sorts candidates by decreasing depth.
static void hard_sort(const hard_choice *h, int count)
{
  for (int i = count / 2; i-- > 0;) {
    hard_sink(h, i, count);
  }
  for (int i = count; i-- > 1;) {
    hard_swap(h, 0, i);
    hard_sink(h, 0, i);
  }
}

// Returns whether a contact is near enough, has a normal, and is active. The decrease of activity
// with distance does not matter here, so activity is compared with its value from the distance
// only. The remaining factor shows whether edges cross, are nearest to each other, and face each
// other.
static int hard_counts(const hard_choice *h, GLOBAL const int *of, GLOBAL const real *group)
{
  const real depth = group[GROUP_DEPTH], d = hard_plane(h, of, CONTACT_DISTANCE);
  const real usual = depth > R(0.0) ? lane_first(sigmoid_r(lane_lit(-d / depth))) : R(1.0);
  const vec3_r normal = hard_vector(h, of, CONTACT_FRAME);
  return d <= group[GROUP_REACH] && lane_first(dot3_r(normal, normal)) >= HARD_SHORT * HARD_SHORT &&
         hard_plane(h, of, CONTACT_ACTIVITY) >= h->reals[WORLD_THRESHOLD] * usual;
}

// Lists all contacts of the world that count, and returns their number.
static int hard_candidates(const newton *s, const hard_choice *h)
{
  int count = 0;
  for (int active = 0; active < s->active_count; ++active) {
    const int world_pair = world_pair_of(s, active);
    for (int i = 0; i < ROW(h->world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_END]; ++i) {
      GLOBAL int *own = hard_candidate(h, count);
      own[0] = world_pair;
      own[1] = i;
      own[2] = own[3] = 0;
      count += hard_counts(h, own, hard_group_reals(h, own));
    }
  }
  return count;
}

// Returns whether candidate i duplicates one of the first `kept`: it has the same pair, almost the
// same position, and almost the same normal.
static int hard_merges(const hard_choice *h, int i, int kept)
{
  GLOBAL const int *own = hard_candidate(h, i);
  const real merged = hard_group_reals(h, own)[GROUP_MERGED];
  const vec3_r normal = hard_vector(h, own, CONTACT_FRAME);
  const real square = lane_first(dot3_r(normal, normal));
  for (int k = 0; k < kept && merged > R(0.0); ++k) {
    GLOBAL const int *other = hard_candidate(h, k);
    if (hard_pair(h, own) == hard_pair(h, other) && hard_distance(h, own, other) < merged) {
      const vec3_r m = hard_vector(h, other, CONTACT_FRAME);
      const real along = lane_first(dot3_r(normal, m));
      if (along > HARD_APART * lane_first(lane_sqrt(lane_lit(square) * dot3_r(m, m)))) {
        return 1;
      }
    }
  }
  return 0;
}

// Returns the speed at which bodies separate at a contact if joints move by x (nv).
static real hard_parting(const newton *s, const hard_choice *h, GLOBAL const int *of,
                         GLOBAL const real *x)
{
  const newton_group g = bare_group(s, of[0]);
  const vec3_r normal = hard_vector(h, of, CONTACT_FRAME);
  real t[6];
  group_twist(s, &g, x, t);
  const vec3_r u = twist_at(t, hard_vector(h, of, CONTACT_POINT));
  return lane_first(dot3_r(u, normal) / lane_sqrt(dot3_r(normal, normal)));
}

// Marks candidates as idle if their bodies do not touch there within a step without contacts.
// `free` are the velocities at its end. The rims of two boxes lying on each other are rounded:
// their points are as far from other contacts as any, but bear no load.
static void hard_mark_idle(const newton *s, const hard_choice *h, int kept, GLOBAL const real *free)
{
  for (int i = 0; i < kept; ++i) {
    GLOBAL int *own = hard_candidate(h, i);
    const real margin = hard_group_reals(h, own)[GROUP_REACH];
    const real gap =
      hard_plane(h, own, CONTACT_DISTANCE) + h->reals[WORLD_STEP] * hard_parting(s, h, own, free);
    own[3] = gap > HARD_IDLE * margin;
    h->nearest[i] = REAL_BIG;
  }
}

// Returns whether candidate i is preferred to k: first one that is not idle, then the one with the
// larger depth plus spread, then the earlier slot.
static int hard_better(const hard_choice *h, int i, int k)
{
  GLOBAL const int *a = hard_candidate(h, i), *b = hard_candidate(h, k);
  const real first = HARD_SPREAD * h->nearest[i] - hard_plane(h, a, CONTACT_DISTANCE);
  const real second = HARD_SPREAD * h->nearest[k] - hard_plane(h, b, CONTACT_DISTANCE);
  return a[3] != b[3] ? b[3] : first > second || (!(first < second) && hard_order(h, a, b));
}

// Takes candidate i, and updates the distances of the others of its pair to the taken ones.
static void hard_take_one(const hard_choice *h, int kept, int i)
{
  GLOBAL int *own = hard_candidate(h, i);
  own[2] = 1;
  for (int k = 0; k < kept; ++k) {
    GLOBAL const int *other = hard_candidate(h, k);
    if (!other[2] && hard_pair(h, own) == hard_pair(h, other)) {
      h->nearest[k] = real_min(h->nearest[k], hard_distance(h, other, own));
    }
  }
}

// Takes `most` of `kept` candidates: first the deepest of each pair, then repeatedly the one that
// is deep and far from the taken ones, idle ones last. Candidates are sorted by decreasing depth,
// so the first of a pair is its deepest.
static void hard_take(const newton *s, const hard_choice *h, int kept, int most,
                      GLOBAL const real *free)
{
  int taken = 0;
  hard_mark_idle(s, h, kept, free);
  for (int pair = 0; pair < h->n->pairs && taken < most; ++pair) {
    int k = 0;
    while (k < kept && hard_pair(h, hard_candidate(h, k)) != pair) {
      ++k;
    }
    if (k < kept) {
      hard_take_one(h, kept, k);
      ++taken;
    }
  }
  for (; taken < most; ++taken) {
    int best = -1;
    for (int k = 0; k < kept; ++k) {
      if (!hard_candidate(h, k)[2] && (best < 0 || hard_better(h, k, best))) {
        best = k;
      }
    }
    hard_take_one(h, kept, best);
  }
}

// Chooses the contacts of a world, and writes them to `out` (HARD_INTS), ordered by pair and slot.
// Afterwards the list of candidates begins with those that remain after merging. If they exceed the
// maximum, some are omitted. `free` are the velocities at the step's end without contacts.
static void hard_choose(const newton *s, const hard_choice *h, GLOBAL const real *free,
                        GLOBAL int *out)
{
  const int count = hard_candidates(s, h), most = h->n->hard;
  int kept = 0, chosen = 0;
  hard_sort(h, count);
  for (int i = 0; i < count; ++i) {
    if (!hard_merges(h, i, kept)) {
      hard_swap(h, i, kept++);
    }
  }
  if (kept > most) {
    hard_take(s, h, kept, most, free);
  }
  for (int i = 0; i < kept; ++i) {
    GLOBAL const int *own = hard_candidate(h, i);
    if (kept > most && !own[2]) {
      continue;
    }
    int at = chosen++;
    GLOBAL int *to = out + HARD_CHOSEN;
    for (; at > 0 && hard_order(h, own, to + 2 * (at - 1)); --at) {
      to[2 * at] = to[2 * at - 2];
      to[2 * at + 1] = to[2 * at - 1];
    }
    to[2 * at] = own[0];
    to[2 * at + 1] = own[1];
  }
  out[HARD_COUNT] = chosen;
  out[HARD_KEPT] = kept;
}
