// Trees of links: their poses and motion; docs/dev/cone-formulas.md, section 4. A link's numbers
// are in the world's axes but relative to the link's own origin, which limits rounding errors far
// from the world's origin.

// A link: its parent (-1 is the world), its joint's type, the offsets of its numbers in q and in v,
// the offset of its controls in u (-1 if it has none), and its number of degrees of freedom.
typedef struct tree_link {
  int parent, type, q, v, u, dofs;
} tree_link;

static tree_link link_at(GLOBAL const world_sizes *n, GLOBAL const int *ints, int i)
{
  GLOBAL const int *l = ints + n->at_links + LINK_INTS * i;
  tree_link r;
  r.parent = l[LINK_PARENT];
  r.type = l[LINK_TYPE];
  r.q = l[LINK_Q];
  r.v = l[LINK_V];
  r.u = l[LINK_U];
  r.dofs = JOINT_DOFS(r.type);
  return r;
}

// Returns whether degree of freedom k of a joint rotates its link about an axis; otherwise it moves
// the link along an axis.
static int dof_turns(const tree_link *l, int k)
{
  return k >= JOINT_MOVES(l->type);
}

// ---- poses of links ----

static vec unit_axis(int k)
{
  return lit3(k == 0 ? R(1.0) : R(0.0), k == 1 ? R(1.0) : R(0.0), k == 2 ? R(1.0) : R(0.0));
}

// Places link i: writes its rotation (as a matrix and as a quaternion), its origin, the axes of its
// degrees of freedom, and the two vectors from its parent's origin to its own. `anchor` goes from
// the parent's origin to the point about which the joint rotates the link, and turns with the
// parent. `arm` goes from there to the link's origin, and turns with the link (for a slide it
// includes the joint's displacement). The controls in u (worlds, nu) place a moved link, which is
// fixed during a step.
static void place_link(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                       GLOBAL const real *reals, int i, GLOBAL const real *q, GLOBAL const real *u)
{
  const tree_link l = link_at(n, ints, i);
  const int parent = n->at_rotation + 9 * l.parent;
  GLOBAL const real *own = reals + n->at_link_reals + LINK_REALS * i;
  FN(quaternion) turn = quaternion_real(own + LINK_QUATERNION), moved;
  vec origin = lit3(R(0.0), R(0.0), R(0.0)), anchor = real3(own + LINK_POSITION);
  vec arm = origin, axis = real3(own + LINK_AXIS);
  if (l.parent >= 0) {
    turn = FN(quaternion_times)(block_quaternion(b, n->at_quaternion + 4 * l.parent), turn);
    origin = block_get3(b, n->at_origin + 3 * l.parent);
    anchor = block_rotate(b, parent, anchor);
  }
  if (l.u >= 0) {
    anchor = FN(add3)(anchor, row_get3(b, u, n->nu, l.u));
    turn = FN(quaternion_times)(FN(quaternion_exp)(row_get3(b, u, n->nu, l.u + 3)), turn);
  }
  const int moves = JOINT_MOVES(l.type), of_world = JOINT_IS_OF_WORLD(l.type);
  if (JOINT_HAS_QUATERNION(l.type)) {
    const FN(quaternion) by = quaternion_row(b, q, n->nq, l.q + moves);
    moved = of_world ? by : FN(quaternion_times)(turn, by);
  } else if (JOINT_TURNS(l.type)) {
    const num middle = n_scale(row_get(b, q, n->nq, l.q + moves), R(0.5));
    FN(quaternion) hinge;
    hinge.w = n_cos(middle);
    hinge.v = FN(scale3)(axis, n_sin(middle));
    moved = FN(quaternion_times)(turn, hinge);
  } else {
    moved = turn;
  }
  moved = FN(quaternion_unit)(moved);
  block_put(b, n->at_quaternion + 4 * i, moved.w);
  block_put3(b, n->at_quaternion + 4 * i + 1, moved.v);
  block_put_rotation(b, n->at_rotation + 9 * i, moved);
  axis = FN(quaternion_rotate)(turn, axis);
  if (of_world) {
    anchor = row_get3(b, q, n->nq, l.q);
  } else if (JOINT_TURNS(l.type)) {
    const vec joint = real3(own + LINK_JOINT);
    anchor = FN(add3)(anchor, FN(quaternion_rotate)(turn, joint));
    arm = FN(neg3)(block_rotate(b, n->at_rotation + 9 * i, joint));
  }
  if (moves == 1) {
    arm = FN(mad3)(axis, row_get(b, q, n->nq, l.q), arm);
  }
  block_put3(b, n->at_anchor + 3 * i, anchor);
  block_put3(b, n->at_arm + 3 * i, arm);
  block_put3(b, n->at_origin + 3 * i, FN(add3)(origin, FN(add3)(anchor, arm)));
  for (int k = 0; k < l.dofs; ++k) {
    const int column = k < moves ? k : k - moves, at = n->at_rotation + 9 * i + column;
    const vec turned = FN(make)(block_get(b, at), block_get(b, at + 3), block_get(b, at + 6));
    const int own_axis = k < moves ? !of_world : JOINT_TURNS(l.type) == 1;
    const vec along = own_axis ? axis : k < moves ? unit_axis(k) : turned;
    block_put3(b, n->at_axis + 3 * (l.v + k), along);
  }
}

// ---- motion of links ----

// The contribution of a joint to the motion of its link if its degrees of freedom have the rates z:
// an angular velocity, and a velocity along its axes.
typedef struct joint_motion {
  vec turn, along;
} joint_motion;

static joint_motion joint_motion_of(const world_block *b, GLOBAL const world_sizes *n,
                                    const tree_link *l, GLOBAL const real *z)
{
  joint_motion m;
  m.turn = m.along = lit3(R(0.0), R(0.0), R(0.0));
  for (int k = 0; k < l->dofs; ++k) {
    const vec axis = block_get3(b, n->at_axis + 3 * (l->v + k));
    const num rate = row_get(b, z, n->nv, l->v + k);
    if (dof_turns(l, k)) {
      m.turn = FN(mad3)(axis, rate, m.turn);
    } else {
      m.along = FN(mad3)(axis, rate, m.along);
    }
  }
  return m;
}

static vec of_parent(const world_block *b, int parent, int at)
{
  return parent < 0 ? lit3(R(0.0), R(0.0), R(0.0)) : block_get3(b, at + 6 * parent);
}

// Writes the twist of each link (angular velocity, velocity of its origin) if joints move by z
// (worlds, nv), to `at` of the worlds' numbers.
static void tree_twists(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *z, int at)
{
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    const joint_motion m = joint_motion_of(b, n, &l, z);
    const vec before = of_parent(b, l.parent, at);
    const vec w = FN(add3)(before, m.turn);
    const vec anchor = block_get3(b, n->at_anchor + 3 * i), arm = block_get3(b, n->at_arm + 3 * i);
    const vec swing = l.parent < 0 ? lit3(R(0.0), R(0.0), R(0.0)) : FN(cross3)(before, anchor);
    block_put3(b, at + 6 * i, w);
    block_put3(b, at + 6 * i + 3,
               FN(add3)(FN(add3)(of_parent(b, l.parent, at + 3), swing),
                        FN(add3)(FN(cross3)(w, arm), m.along)));
  }
}

// Returns the acceleration a + alpha x r + w x (w x r) of a point at r on the same body.
static vec FN(carried)(vec a, vec alpha, vec w, vec r)
{
  return FN(add3)(a, FN(add3)(FN(cross3)(alpha, r), FN(cross3)(w, FN(cross3)(w, r))));
}

// Writes the angular acceleration of each link and the acceleration of its origin, if joints move
// by v and accelerate by z (by 0 if z is NULL). The reference frame is in free fall, so gravity
// appears as the opposite acceleration of the base; docs/dev/cone-formulas.md, section 5.
static void tree_accelerations(const world_block *b, GLOBAL const world_sizes *n,
                               GLOBAL const int *ints, GLOBAL const real *v, GLOBAL const real *z,
                               vec gravity)
{
  const vec none = lit3(R(0.0), R(0.0), R(0.0));
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    const joint_motion m = joint_motion_of(b, n, &l, v);
    const vec before = of_parent(b, l.parent, n->at_velocity);
    const vec w = block_get3(b, n->at_velocity + 6 * i);
    const vec base = of_parent(b, l.parent, n->at_acceleration);
    vec alpha = FN(add3)(base, FN(cross3)(before, m.turn));
    vec a = l.parent < 0 ? FN(neg3)(gravity) : block_get3(b, n->at_acceleration + 6 * l.parent + 3);
    if (l.parent >= 0) {
      a = FN(carried)(a, base, before, block_get3(b, n->at_anchor + 3 * i));
      a = FN(add3)(a, FN(scale3)(FN(cross3)(before, m.along), n_lit(R(2.0))));
    }
    const joint_motion more = z ? joint_motion_of(b, n, &l, z) : (joint_motion){none, none};
    alpha = FN(add3)(alpha, more.turn);
    a = FN(carried)(FN(add3)(a, more.along), alpha, w, block_get3(b, n->at_arm + 3 * i));
    block_put3(b, n->at_acceleration + 6 * i, alpha);
    block_put3(b, n->at_acceleration + 6 * i + 3, a);
  }
}

// ---- relative motion of two links ----

// Returns the link whose origin is the group's centre, the reference point of relative twists.
static int group_centre(GLOBAL const int *group)
{
  return group[GROUP_CENTRE];
}

// Writes the twist (angular velocity, velocity) at r from the joint for a degree of freedom of rate
// 1, which rotates about `axis` or moves along it.
static void FN(joint_twist)(int turns, vec axis, vec r, num out[6])
{
  const num none = n_lit(R(0.0));
  const vec w = turns ? axis : FN(make)(none, none, none);
  const vec v = turns ? FN(cross3)(axis, r) : axis;
  out[0] = w.x;
  out[1] = w.y;
  out[2] = w.z;
  out[3] = v.x;
  out[4] = v.y;
  out[5] = v.z;
}
