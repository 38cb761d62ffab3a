// Friction and stiffness of a group in one world. A listed pair has its own column for each. An
// automatic pair has the larger of its bodies' frictions, and the root of the product of their
// stiffnesses.

static int group_is_listed(GLOBAL const int *group)
{
  return group[GROUP_COLUMN_A] == group[GROUP_COLUMN_B];
}

// Returns the larger of two numbers. If they are equal, each gets half of the derivative.
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

// Returns the share of the derivative with respect to an automatic group's friction that belongs to
// its first body or, with `side`, to its second body.
static real column_share(GLOBAL const world_sizes *n, GLOBAL const int *group, int side,
                         GLOBAL const real *parameters)
{
  const real a = parameters[n->links + group[GROUP_COLUMN_A]],
             b = parameters[n->links + group[GROUP_COLUMN_B]];
  return a == b ? R(0.5) : (a > b) == !side ? R(1.0) : R(0.0);
}

// Returns the numbers of a group's spring (SPRING_PARAMETER_COUNT). They are the caller's springs
// (worlds, listed pairs, ..) if these are `given` and the pair is listed, else the scene's.
static GLOBAL const real *spring_of_pair(GLOBAL const world_sizes *n, GLOBAL const real *reals,
                                         GLOBAL const real *springs, int given, int world, int pair)
{
  return (given && pair < n->listed ? ROW(springs, world, SPRING_PARAMETER_COUNT * n->listed)
                                    : reals + n->at_springs) +
         SPRING_PARAMETER_COUNT * pair;
}
