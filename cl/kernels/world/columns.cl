// Friction and stiffness of a group in one world. A listed pair has a column of each; an automatic
// pair has the larger of its bodies' frictions, and the root of the product of their stiffnesses.

static int group_is_listed(GLOBAL const int *group)
{
  return group[GROUP_COLUMN_A] == group[GROUP_COLUMN_B];
}

// Returns the larger of two numbers; where they are equal, either has half of the derivative.
static num FN(larger_friction)(num a, num b)
{
  const n_mask more = n_value(a) > n_value(b), less = n_value(b) > n_value(a);
  return n_select(more, a, n_select(less, b, n_scale(n_add(a, b), R(0.5))));
}

static real column_friction(GLOBAL const world_sizes *n, GLOBAL const int *group,
                            GLOBAL const real *parameters)
{
  GLOBAL const real *of = parameters + n->links;
  return real_max(of[group[GROUP_COLUMN_A]], of[group[GROUP_COLUMN_B]]);
}

// Returns the share of the derivative by an automatic group's friction that is one by its first
// body's or, with `side`, by its second body's.
static real column_share(GLOBAL const world_sizes *n, GLOBAL const int *group, int side,
                         GLOBAL const real *parameters)
{
  const real a = parameters[n->links + group[GROUP_COLUMN_A]],
             b = parameters[n->links + group[GROUP_COLUMN_B]];
  return a == b ? R(0.5) : (a > b) == !side ? R(1.0) : R(0.0);
}

// Returns the numbers of a group's spring (SPRING_PARAMETER_COUNT): the caller's, springs (worlds,
// listed pairs, ..), where they are `given` and the pair is listed, else the scene's.
static GLOBAL const real *spring_of_pair(GLOBAL const world_sizes *n, GLOBAL const real *reals,
                                         GLOBAL const real *springs, int given, int world, int pair)
{
  return (given && pair < n->listed ? ROW(springs, world, SPRING_PARAMETER_COUNT * n->listed)
                                    : reals + n->at_springs) +
         SPRING_PARAMETER_COUNT * pair;
}
