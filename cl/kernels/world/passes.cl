// Sweeps over the links of a world's trees, on CPUs: twists from roots to leaves, and wrenches and
// curvatures of contacts from leaves to roots. If only one link of a group can move, its contacts
// are summed about that link's own origin. The sums of a tree's links are then mapped to its
// degrees of freedom together, as for composite bodies (mass.cl).

// The sums over a group's contacts: a wrench (moment, force), and the lower triangle of the (6, 6)
// curvature by the twist.
#define SUMS_WRENCH 6
#define SUMS_BLOCK 21
#define SUMS (SUMS_WRENCH + SUMS_BLOCK)

// Loops over six numbers are unrolled by hand: kernel compilers leave them as loops, and then keep
// their arrays in memory. DOT6 also takes lanes.
#define DOT6(a, b)                                                                           \
  ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2] + (a)[3] * (b)[3] + (a)[4] * (b)[4] + \
   (a)[5] * (b)[5])

static real dot6(const real a[6], const real b[6])
{
  return DOT6(a, b);
}

// Writes F x for the symmetric F with lower triangle f.
#define CURVATURE_TIMES(f, x, out)                                                        \
  ((out)[0] = (f)[0] * (x)[0] + (f)[1] * (x)[1] + (f)[3] * (x)[2] + (f)[6] * (x)[3] +     \
              (f)[10] * (x)[4] + (f)[15] * (x)[5],                                        \
   (out)[1] = (f)[1] * (x)[0] + (f)[2] * (x)[1] + (f)[4] * (x)[2] + (f)[7] * (x)[3] +     \
              (f)[11] * (x)[4] + (f)[16] * (x)[5],                                        \
   (out)[2] = (f)[3] * (x)[0] + (f)[4] * (x)[1] + (f)[5] * (x)[2] + (f)[8] * (x)[3] +     \
              (f)[12] * (x)[4] + (f)[17] * (x)[5],                                        \
   (out)[3] = (f)[6] * (x)[0] + (f)[7] * (x)[1] + (f)[8] * (x)[2] + (f)[9] * (x)[3] +     \
              (f)[13] * (x)[4] + (f)[18] * (x)[5],                                        \
   (out)[4] = (f)[10] * (x)[0] + (f)[11] * (x)[1] + (f)[12] * (x)[2] + (f)[13] * (x)[3] + \
              (f)[14] * (x)[4] + (f)[19] * (x)[5],                                        \
   (out)[5] = (f)[15] * (x)[0] + (f)[16] * (x)[1] + (f)[17] * (x)[2] + (f)[18] * (x)[3] + \
              (f)[19] * (x)[4] + (f)[20] * (x)[5])

// A macro, because either side may be in private or in global memory.
#define COPY6(from, to)                                                                \
  ((to)[0] = (from)[0], (to)[1] = (from)[1], (to)[2] = (from)[2], (to)[3] = (from)[3], \
   (to)[4] = (from)[4], (to)[5] = (from)[5])

static void add6(real out[6], const real more[6], real times)
{
  out[0] += more[0] * times;
  out[1] += more[1] * times;
  out[2] += more[2] * times;
  out[3] += more[3] * times;
  out[4] += more[4] * times;
  out[5] += more[5] * times;
}

#if WG == 1
static void scale6(real x[6], real by)
{
  x[0] *= by;
  x[1] *= by;
  x[2] *= by;
  x[3] *= by;
  x[4] *= by;
  x[5] *= by;
}

static GLOBAL real *link_pass(const newton *s, int link)
{
  return s->passes + PASS_REALS * link;
}

static int link_tree(const newton *s, int link)
{
  return (s->ints + s->n->at_links + LINK_INTS * link)[LINK_TREE];
}

// Returns the number of links that the solver processes.
static int link_count(const newton *s)
{
  return s->dofs ? s->n->links : 0;
}

// Returns the parent of a link, or -1 if the parent cannot move.
static int moving_parent(const newton *s, const tree_link *l)
{
  return l->parent >= 0 && link_tree(s, l->parent) >= 0 ? l->parent : -1;
}

// Returns whether a link can move and its island is in one of some states.
static int link_is(const newton *s, int link, int state)
{
  const int tree = link_tree(s, link);
  return tree >= 0 && tree_is(s, tree, state);
}

// Returns the moving link of a group whose other link cannot move, or -1 if both can move.
static int lone_link(const newton *s, GLOBAL const int *group)
{
  int trees[2];
  trees_of_group(s->n, s->ints, group, trees);
  return trees[0] >= 0 && trees[1] >= 0 ? -1 : group[trees[0] < 0 ? GROUP_B : GROUP_A];
}

// Writes the origin of each link relative to its parent's.
static void start_passes(const newton *s)
{
  for (int link = 0; link < link_count(s); ++link) {
    for (int i = 0; i < 3; ++i) {
      link_pass(s, link)[PASS_ARM + i] = one_real(&s->tree, s->n->at_anchor + 3 * link + i) +
                                         one_real(&s->tree, s->n->at_arm + 3 * link + i);
    }
  }
}

// Writes the twist of each link about its origin if joints move by x (nv), for islands in one of
// some states.
static void pass_twists(const newton *s, int state, GLOBAL const real *x)
{
  for (int link = 0; link < link_count(s); ++link) {
    const tree_link l = link_at(s->n, s->ints, link);
    if (link_is(s, link, state)) {
      GLOBAL const real *r = link_pass(s, link) + PASS_ARM;
      const int parent = moving_parent(s, &l);
      real t[6] = {R(0.0), R(0.0), R(0.0), R(0.0), R(0.0), R(0.0)}, axis[6];
      if (parent >= 0) {
        COPY6(link_pass(s, parent) + PASS_TWIST, t);
        t[3] += t[1] * r[2] - t[2] * r[1];
        t[4] += t[2] * r[0] - t[0] * r[2];
        t[5] += t[0] * r[1] - t[1] * r[0];
      }
      for (int k = l.v; k < l.v + l.dofs; ++k) {
        COPY6(s->axes + AXIS_REALS * k, axis);
        add6(t, axis, x[k]);
      }
      COPY6(t, link_pass(s, link) + PASS_TWIST);
    }
  }
}

// Clears the sums of all links.
static void pass_start(const newton *s)
{
  for (int link = 0; link < link_count(s); ++link) {
    link_pass(s, link)[PASS_LOADED] = R(0.0);
  }
}

// Adds sums of contacts to those of a link.
static void pass_add(const newton *s, int link, const real sums[PASS_SUMS_REALS])
{
  GLOBAL real *own = link_pass(s, link), *to = own + PASS_SUMS;
  const int loaded = own[PASS_LOADED] != R(0.0);
  for (int i = 0; i < PASS_SUMS_REALS; i += LANES) {
    const lane more = lane_load(sums + i);
    lane_store(loaded ? lane_load(to + i) + more : more, to + i);
  }
  own[PASS_LOADED] = R(1.0);
}

// Changes the reference point of a wrench to one from which the old point is at r.
static void move_wrench(real f[6], GLOBAL const real *r)
{
  f[0] += r[1] * f[5] - r[2] * f[4];
  f[1] += r[2] * f[3] - r[0] * f[5];
  f[2] += r[0] * f[4] - r[1] * f[3];
}

// The same for a curvature with lower triangle f: T F T', where T is the matrix that transforms
// wrenches.
static void move_curvature(real f[SUMS_BLOCK], GLOBAL const real *r)
{
  const real x = r[0], y = r[1], z = r[2];
  // the moments there of forces along the three axes
  const real xx = f[6] + (y * f[18] - z * f[13]), xy = f[7] + (z * f[9] - x * f[18]),
             xz = f[8] + (x * f[13] - y * f[9]);
  const real yx = f[10] + (y * f[19] - z * f[14]), yy = f[11] + (z * f[13] - x * f[19]),
             yz = f[12] + (x * f[14] - y * f[13]);
  const real zx = f[15] + (y * f[20] - z * f[19]), zy = f[16] + (z * f[18] - x * f[20]),
             zz = f[17] + (x * f[19] - y * f[18]);
  f[0] += y * (f[15] + zx) - z * (f[10] + yx);
  f[1] += z * f[6] - x * f[15] + (y * zy - z * yy);
  f[2] += z * (f[7] + xy) - x * (f[16] + zy);
  f[3] += x * f[10] - y * f[6] + (y * zz - z * yz);
  f[4] += x * f[11] - y * f[7] + (z * xz - x * zz);
  f[5] += x * (f[12] + yz) - y * (f[8] + xz);
  f[6] = xx;
  f[7] = xy;
  f[8] = xz;
  f[10] = yx;
  f[11] = yy;
  f[12] = yz;
  f[15] = zx;
  f[16] = zy;
  f[17] = zz;
}

// Adds to a tree's panel the row of a degree of freedom of a link, whose composite body has
// curvature f. A unit motion of that degree of freedom requires a wrench on the composite body. The
// row has the wrench's components along this degree of freedom and all those before it on the way
// to the root.
static void add_way(const newton *s, const panel *q, int link, int dof, const real f[SUMS_BLOCK])
{
  GLOBAL const int *dofs = s->ints + s->n->at_dofs;
  GLOBAL real *row = q->at + dofs[DOF_INTS * dof + DOF_PLACE];
  real wrench[6], axis[6];
  COPY6(s->axes + AXIS_REALS * dof, axis);
  CURVATURE_TIMES(f, axis, wrench);
  for (int at = link; at >= 0;) {
    const tree_link l = link_at(s->n, s->ints, at);
    for (int k = l.v; k < MIN_INT(l.v + l.dofs, dof + 1); ++k) {
      COPY6(s->axes + AXIS_REALS * k, axis);
      row[dofs[DOF_INTS * k + DOF_PLACE] * q->stride] += dot6(axis, wrench);
    }
    move_wrench(wrench, link_pass(s, at) + PASS_ARM);
    at = moving_parent(s, &l);
  }
}

// Maps the sums of contacts on links, for islands in one of some states, to degrees of freedom, out
// (nv), and with `curved` to panels.
static void pass_sums(const newton *s, int state, const int curved, GLOBAL real *out)
{
  for (int link = link_count(s) - 1; link >= 0; --link) {
    const tree_link l = link_at(s->n, s->ints, link);
    GLOBAL const real *own = link_pass(s, link);
    if (own[PASS_LOADED] != R(0.0) && link_is(s, link, state)) {
      const int parent = moving_parent(s, &l), end = l.v + l.dofs;
      real sums[PASS_SUMS_REALS], axis[6];
      for (int i = 0; i < PASS_SUMS_REALS; i += LANES) {
        lane_store(lane_load(own + PASS_SUMS + i), sums + i);
      }
      for (int k = l.v; k < end; ++k) {
        COPY6(s->axes + AXIS_REALS * k, axis);
        out[k] += dot6(axis, sums);
      }
      if (curved && l.dofs) {
        const panel q = panel_of(&s->panels, link_tree(s, link));
        for (int k = l.v; k < end; ++k) {
          add_way(s, &q, link, k, sums + SUMS_WRENCH);
        }
      }
      if (parent >= 0) {
        move_wrench(sums, own + PASS_ARM);
        if (curved) {
          move_curvature(sums + SUMS_WRENCH, own + PASS_ARM);
        }
        pass_add(s, parent, sums);
      }
    }
  }
}
#endif
