// Hard contacts, joint limits and friction losses as a boxed problem in the velocities at a step's
// end, and the effect of its answer: docs/dev/lcp-formulas.md, section 1. One work-item has one
// world.

#if REAL_DOUBLE
#define HARD_SLIP R(1e-6) // a guess treats speeds below this share of the largest one as 0
#else
#define HARD_SLIP R(1e-4)
#endif

// of a distance at rest, relative to the size of its coordinates
#define HARD_ROUNDING (R(16.0) * REAL_EPSILON)
#define HARD_TURNED R(1e-5) // m/s; slower contacts have no direction of sliding
#define HARD_TAKEN R(0.5)   // a holding row removes at least this share of its speed

// A work-item's data of its world's problem: J (m, nv) and Y (m, nv), whose row i is inv(M) times
// J's; for each row the derivative of its target with respect to its distance, and its restitution
// if it bounces, else 0; a vector of nv, the velocity at the step's end without contacts; and for
// each friction row of a contact its components along the contact's t1 and t2.
typedef struct hard {
  newton s;
  int m, most;  // the number of rows, and its maximum
  int tangents; // friction rows of a contact, which follow the row of its normal
  GLOBAL int *chosen, *parents;
  GLOBAL real *J, *Y, *slope, *bounce, *vector, *along;
} hard;

static hard hard_of(const newton *s, GLOBAL real *numbers, GLOBAL int *chosen, GLOBAL int *parents)
{
  hard h;
  const int nv = s->n->nv, most = s->n->hard_rows;
  GLOBAL real *own = ROW(numbers, s->world, HARD_REALS(most, nv));
  h.s = *s;
  h.most = most;
  h.tangents = s->n->tangents;
  h.chosen = ROW(chosen, s->world, HARD_INTS(s->n->hard, s->n->rows));
  h.m = h.chosen[HARD_ROWS];
  h.parents = ROW(parents, s->world, most + 1);
  h.J = own;
  h.Y = own + most * nv;
  h.slope = own + 2 * most * nv;
  h.bounce = h.slope + most;
  h.vector = h.bounce + most;
  h.along = h.vector + nv;
  return h;
}

// Returns the index, in the scene's table of rows, of row i after those of contacts.
static int hard_table_row(const hard *h, int i)
{
  return h->chosen[HARD_CHOSEN + 2 * h->s.n->hard + i];
}

static hard_choice hard_choice_of(const newton *s, GLOBAL const int *slots, GLOBAL int *candidates,
                                  GLOBAL real *nearest)
{
  hard_choice c;
  const int most = s->n->slots;
  c.n = s->n;
  c.ints = s->ints;
  c.reals = s->reals;
  c.tree = s->tree;
  c.contacts = s->contacts;
  c.world_pairs = s->world_pairs;
  c.slots = slots;
  c.list = ROW(candidates, s->world, HARD_CANDIDATE * (most + 1));
  c.nearest = ROW(nearest, s->world, most);
  return c;
}

// ---- the factor of the mass matrix ----

// Copies M's factor to the place of M in Newton's method.
static void hard_factor(const newton *s)
{
  for (int tree = 0; tree < s->n->trees; ++tree) {
    const mass_tree t = mass_tree_of(s->n, s->ints, tree);
    for (int i = 0; i < t.count; ++i) {
      for (int k = 0; k <= i; ++k) {
        const int at = t.block + i * t.count + k;
        s->mass[at] = one_real(&s->tree, s->n->at_factor + at);
      }
    }
  }
}

// Replaces x by inv(M) x, after hard_factor.
static void hard_solve(const newton *s, GLOBAL real *x)
{
  for (int tree = 0; tree < s->n->trees; ++tree) {
    const mass_tree t = mass_tree_of(s->n, s->ints, tree);
    GLOBAL const real *l = s->mass + t.block;
    for (int i = 0; i < t.count; ++i) {
      x[t.dofs[i]] = (x[t.dofs[i]] - dot_tree(&t, i, l + i * t.count, x)) * l[i * (t.count + 1)];
    }
    for (int i = t.count - 1; i >= 0; --i) {
      real sum = x[t.dofs[i]];
      for (int k = i + 1; k < t.count; ++k) {
        sum -= l[k * t.count + i] * x[t.dofs[k]];
      }
      x[t.dofs[i]] = sum * l[i * (t.count + 1)];
    }
  }
}

// ---- rows ----

// Writes two tangents of a unit normal (docs/dev/lcp-formulas.md, section 5): x and y rotated by
// the shortest rotation from the nearer pole to n. They jump only at n_z = -0.55.
static void hard_tangents(vec3_r n, vec3_r *t1, vec3_r *t2)
{
  const lane one = lane_lit(R(1.0));
  const lane s = lane_select(n.z >= lane_lit(R(-0.55)), one, -one), a = R(1.0) / (R(1.0) + s * n.z);
  *t1 = make_r(R(1.0) - a * n.x * n.x, -a * n.x * n.y, -s * n.x);
  *t2 = make_r(-s * a * n.x * n.y, s * (R(1.0) - a * n.y * n.y), -n.y);
}

// cos(i pi / 16)
CONSTANT real hard_cosines[9] = {
  R(1.0),
  R(0.98078528040323044913),
  R(0.92387953251128675613),
  R(0.83146961230254523708),
  R(0.70710678118654752440),
  R(0.55557023301960222474),
  R(0.38268343236508977173),
  R(0.19509032201612826785),
  R(0.0),
};

// Writes the components of friction row i along s and across it, where s is the direction of
// sliding. Two rows are t1 and t2. More rows have directions evenly spaced over half a turn, with s
// between two of them: a corner of the polygon that they bound.
static void hard_direction(int tangents, int i, real along[2])
{
  const int at = tangents == 2 ? 8 * i : (16 * i + 8) / tangents;
  along[0] = at <= 8 ? hard_cosines[at] : -hard_cosines[16 - at];
  along[1] = hard_cosines[at <= 8 ? 8 - at : at - 8];
}

// The share of mu f_n that each friction row may have. Two rows bound a square around the circle of
// mu f_n. More rows bound a regular polygon with twice as many sides, inscribed in the circle.
static real hard_share(int tangents)
{
  return tangents == 2 ? R(1.0) : hard_cosines[8 - 8 / tangents];
}

// Returns the first row of chosen contact k: its normal, followed by its tangents.
static int hard_row_of(int tangents, int k)
{
  return (1 + tangents) * k;
}

// Adds up numbers `of` of one contact's rows along (n, t1, t2). `along` are the rows' components.
static void hard_along_frame(int tangents, GLOBAL const real *of, GLOBAL const real *along,
                             real out[3])
{
  out[0] = of[0];
  out[1] = out[2] = R(0.0);
  for (int i = 1; i <= tangents; ++i) {
    out[1] += along[2 * i] * of[i];
    out[2] += along[2 * i + 1] * of[i];
  }
}

// Writes the impulse of a world's chosen contact k along its (n, t1, t2), from f (worlds,
// hard_rows).
static void hard_contact_along(GLOBAL const world_sizes *n, GLOBAL const real *numbers,
                               GLOBAL const real *f, int world, int k, real out[3])
{
  const int m = n->hard_rows, row = hard_row_of(n->tangents, k);
  hard_along_frame(n->tangents, ROW(f, world, m) + row,
                   ROW(numbers, world, HARD_REALS(m, n->nv)) + HARD_ALONG(m, n->nv) + 2 * row, out);
}

// The location of chosen contact k: its world pair, its index `at` in the world pair, and the
// distance `plane` between two of its numbers in `row`. `side` is 1 if its point belongs to body 1,
// and -1 if its point belongs to body 2.
typedef struct hard_place {
  int world_pair, at, plane;
  real side;
  GLOBAL const int *of; // the world pair's ints
  GLOBAL const real *row;
} hard_place;

static hard_place hard_place_at(GLOBAL const real *contacts, GLOBAL const int *world_pairs,
                                GLOBAL const int *chosen, int k)
{
  hard_place c;
  GLOBAL const int *own = chosen + HARD_CHOSEN + 2 * k;
  c.world_pair = own[0];
  c.at = own[1];
  c.of = ROW(world_pairs, c.world_pair, WORLD_PAIR_INTS);
  c.plane = c.of[WORLD_PAIR_PLANE];
  c.row = contacts + (size_t)CONTACT_PLANES * c.of[WORLD_PAIR_AT] + c.at;
  GLOBAL const int *mark = c.of + WORLD_PAIR_MARKS;
  c.side = (c.at >= mark[1] && c.at < mark[2]) || (c.at >= mark[3] && c.at < mark[4]) ? R(-1.0)
                                                                                      : R(1.0);
  return c;
}

static hard_place hard_place_of(const hard *h, int k)
{
  return hard_place_at(h->s.contacts, h->s.world_pairs, h->chosen, k);
}

// Writes an orthonormal frame of a contact. Its forces are those on the owner of the contact's
// point.
static void hard_frame(const hard_place *c, vec3_r f[3])
{
  real x[3];
  for (int i = 0; i < 3; ++i) {
    x[i] = c->side * c->row[(CONTACT_FRAME + i) * c->plane];
  }
  const vec3_r normal = make_r(lane_lit(x[0]), lane_lit(x[1]), lane_lit(x[2]));
  f[0] = scale3_r(normal, R(1.0) / lane_sqrt(dot3_r(normal, normal)));
  hard_tangents(f[0], &f[1], &f[2]);
}

// Chosen contact k: its group with its ints and reals, its side, its point relative to the group's
// centre, and an orthonormal frame.
typedef struct hard_contact {
  newton_group group;
  GLOBAL const int *ints;
  GLOBAL const real *reals;
  real side, distance;
  vec3_r p, f[3];
} hard_contact;

static hard_contact hard_contact_of(const hard *h, int k)
{
  hard_contact c;
  const hard_place at = hard_place_of(h, k);
  c.group = bare_group(&h->s, at.world_pair);
  c.ints = c.group.ints;
  c.reals = h->s.reals + h->s.n->at_group_reals + GROUP_REALS * at.of[WORLD_PAIR_GROUP];
  c.side = at.side;
  c.distance = at.row[CONTACT_DISTANCE * at.plane];
  real x[3];
  for (int i = 0; i < 3; ++i) {
    x[i] = at.row[(CONTACT_POINT + i) * at.plane];
  }
  c.p = make_r(lane_lit(x[0]), lane_lit(x[1]), lane_lit(x[2]));
  hard_frame(&at, c.f);
  return c;
}

// Writes J's row along f at a contact, which maps joint rates to the velocity along f of the
// owner's point relative to the other body.
static void hard_row(const hard *h, const hard_contact *c, vec3_r f, GLOBAL real *out)
{
  lane w[6];
  real push[6];
  row_wrench(c->p, f, w);
  for (int i = 0; i < 6; ++i) {
    push[i] = c->side * lane_first(w[i]);
  }
  for (int i = 0; i < h->s.n->nv; ++i) {
    out[i] = R(0.0);
  }
  for (int k = 0; k < c->ints[GROUP_DOFS]; ++k) {
    real column[6];
    group_column(&h->s, &c->group, k, column);
    out[mover_at(&h->s, &c->group, k)[MOVER_DOF]] = dot6(column, push);
  }
}

// Returns the target speed s of a normal row at distance d at the step's end, and its derivative
// with respect to d in *slope; docs/dev/lcp-formulas.md, section 1. At d = 0, where bodies rest,
// the derivative is that of a closing gap. A closed gap leaves d at 0 up to rounding of numbers as
// large as `scale`, with either sign. So a d that small counts as 0.
static real hard_constraint_force(GLOBAL const real *reals, real d, real scale, real *slope)
{
  const real h = reals[WORLD_STEP], deep = -d - reals[WORLD_SLOP];
  const real speed = reals[WORLD_ERROR_REDUCTION] * deep / h;
  if (d >= R(0.0)) {
    *slope = R(-1.0) / h;
    return -d / h;
  }
  *slope = deep > R(0.0) && speed < reals[WORLD_CORRECTION] ? -reals[WORLD_ERROR_REDUCTION] / h
                                                            : R(0.0);
  *slope = d >= -HARD_ROUNDING * scale ? R(-1.0) / h : *slope;
  return deep > R(0.0) ? real_min(speed, reals[WORLD_CORRECTION]) : R(0.0);
}

// The problem of a world: A (m, m), and for each row b, the factor mu of its parent's f in its
// bound, the constant part of that bound, and the guessed class.
typedef struct hard_problem {
  GLOBAL real *A, *b, *mu, *box;
  GLOBAL int *guess;
} hard_problem;

static void hard_put_row(const hard *h, const hard_problem *p, int row, int parent, real target,
                         real mu, real box)
{
  const int nv = h->s.n->nv;
  GLOBAL const real *J = h->J + row * nv;
  p->b[row] = dot_n(nv, J, h->vector) - target;
  p->mu[row] = mu;
  p->box[row] = box;
  h->parents[1 + row] = parent;
}

static real hard_friction(const hard *h, const hard_contact *c)
{
  GLOBAL const world_sizes *n = h->s.n;
  GLOBAL const real *rows = h->s.shared
                              ? h->s.parameters
                              : ROW(h->s.parameters, h->s.world, PARAMETERS(n->links, n->columns));
  const real mu = column_friction(n, c->ints, rows);
  return c->reals[GROUP_FLAT] != R(0.0) || mu < R(0.0) ? R(0.0) : mu;
}

// The distance of a contact's point from its group's centre.
static real hard_scale(const hard_contact *c)
{
  return lane_first(lane_sqrt(dot3_r(c->p, c->p)));
}

// Writes the direction, along t1 and t2, in which a contact slides at joint rates v. `rows` are J's
// rows (2, nv) along t1 and t2. Contacts slower than HARD_TURNED count as sliding along t1.
static void hard_sliding(int nv, GLOBAL const real *rows, GLOBAL const real *v, real s[2])
{
  const real u[2] = {dot_n(nv, rows, v), dot_n(nv, rows + nv, v)};
  const real speed = lcp_root(u[0] * u[0] + u[1] * u[1]);
  s[0] = speed > HARD_TURNED ? u[0] / speed : R(1.0);
  s[1] = speed > HARD_TURNED ? u[1] / speed : R(0.0);
}

// Makes the rows of chosen contact k, normal and tangents. If it bounces, its target is the speed
// after the bounce.
static void hard_contact_rows(const hard *h, const hard_problem *p, int k, GLOBAL const real *v)
{
  const hard_contact c = hard_contact_of(h, k);
  const int nv = h->s.n->nv, row = hard_row_of(h->tangents, k);
  const real step = h->s.reals[WORLD_STEP], restitution = c.reals[GROUP_RESTITUTION];
  const real mu = hard_share(h->tangents) * hard_friction(h, &c);
  hard_row(h, &c, c.f[0], h->J + row * nv);
  h->bounce[row] = R(0.0);
  const real u = dot_n(nv, h->J + row * nv, v);
  real slope, target = hard_constraint_force(h->s.reals, c.distance, hard_scale(&c), &slope);
  if (restitution > R(0.0) && u < -h->s.reals[WORLD_BOUNCE] && c.distance + step * u <= R(0.0) &&
      -restitution * u >= target) {
    target = -restitution * u;
    slope = R(0.0);
    h->bounce[row] = restitution;
  }
  h->slope[row] = slope;
  hard_put_row(h, p, row, LCP_NO_PARENT, target, R(0.0), R(0.0));
  // The rows along t1 and t2 become those along all directions of friction.
  GLOBAL real *rows = h->J + (row + 1) * nv;
  real s[2] = {R(1.0), R(0.0)};
  hard_row(h, &c, c.f[1], rows);
  hard_row(h, &c, c.f[2], rows + nv);
  if (h->tangents > 2) {
    hard_sliding(nv, rows, v, s);
  }
  h->along[2 * row] = h->along[2 * row + 1] = R(0.0);
  for (int i = 0; i < h->tangents; ++i) {
    const int at = row + 1 + i;
    real of[2];
    hard_direction(h->tangents, i, of);
    h->along[2 * at] = s[0] * of[0] - s[1] * of[1];
    h->along[2 * at + 1] = s[1] * of[0] + s[0] * of[1];
    h->slope[at] = h->bounce[at] = R(0.0);
  }
  for (int dof = 0; h->tangents > 2 && dof < nv; ++dof) {
    const real first = rows[dof], second = rows[nv + dof];
    for (int i = 0; i < h->tangents; ++i) {
      GLOBAL const real *along = h->along + 2 * (row + 1 + i);
      rows[i * nv + dof] = along[0] * first + along[1] * second;
    }
  }
  for (int i = 0; i < h->tangents; ++i) {
    hard_put_row(h, p, row + 1 + i, row, R(0.0), mu, R(0.0));
  }
}

// Makes row `row` from entry i of the scene's table. With `losses` only friction losses are used,
// otherwise only limits that are near. Returns the number of rows made, 0 or 1.
static int hard_joint_row(const hard *h, const hard_problem *p, int row, int i, int losses,
                          GLOBAL const real *q)
{
  GLOBAL const int *of = h->s.ints + h->s.n->at_rows + ROW_INTS * i;
  const real end = (h->s.reals + h->s.n->at_row_reals + ROW_REALS * i)[ROW_END];
  const int nv = h->s.n->nv, loss = of[ROW_KIND] == ROW_LOSS;
  const real side = of[ROW_KIND] == ROW_HIGH ? R(-1.0) : R(1.0);
  const real d = loss ? R(0.0) : side * (q[of[ROW_Q]] - end);
  if (loss != losses || (!loss && !(d <= h->s.reals[WORLD_LIMIT_MARGIN]))) {
    return 0;
  }
  for (int k = 0; k < nv; ++k) {
    h->J[row * nv + k] = k == of[ROW_V] ? side : R(0.0);
  }
  real slope;
  const real pushed = hard_constraint_force(h->s.reals, d, real_abs(end), &slope),
             target = loss ? R(0.0) : pushed;
  h->slope[row] = loss ? R(0.0) : slope;
  h->bounce[row] = R(0.0);
  hard_put_row(h, p, row, loss ? LCP_BOXED : LCP_NO_PARENT, target, R(0.0),
               loss ? h->s.reals[WORLD_STEP] * end : R(0.0));
  h->chosen[HARD_CHOSEN + 2 * h->s.n->hard + row -
            hard_row_of(h->tangents, h->chosen[HARD_COUNT])] = i;
  return 1;
}

// Guesses the classes of rows as if the last acceleration w (nv) continued. If the guess is wrong,
// pivoting starts from it.
static void hard_guess(const hard *h, const hard_problem *p, GLOBAL const real *v,
                       GLOBAL const real *w)
{
  const int nv = h->s.n->nv;
  const real step = h->s.reals[WORLD_STEP];
  const real none = HARD_SLIP * real_max(lcp_largest(h->m, p->b), LCP_LEAST);
  for (int i = 0; i < h->m; ++i) {
    GLOBAL const real *J = h->J + i * nv;
    // The row's speed at the step's end by w, minus its target. b holds the speed without contacts,
    // minus the target.
    real speed = p->b[i] - dot_n(nv, J, h->vector);
    for (int k = 0; k < nv; ++k) {
      speed += J[k] * (v[k] + step * w[k]);
    }
    const int parent = h->parents[1 + i];
    // a holding row removes most of the speed that it would otherwise have
    const real less = HARD_TAKEN * lcp_abs(p->b[i]);
    if (parent == LCP_NO_PARENT) {
      p->guess[i] = speed <= none + (p->b[i] < R(0.0) ? less : R(0.0)) ? LCP_CLAMPING
                                                                       : LCP_SEPARATING;
    } else if (parent >= 0 && p->guess[parent] != LCP_CLAMPING) {
      p->guess[i] = LCP_SEPARATING;
    } else {
      p->guess[i] = lcp_abs(speed) <= none + less ? LCP_CLAMPING
                    : speed > R(0.0)              ? LCP_LOWER
                                                  : LCP_UPPER;
    }
  }
}

// Fills Y, and A = J inv(M) J'.
static void hard_matrix(const hard *h, GLOBAL real *A)
{
  const int nv = h->s.n->nv, m = h->m;
  for (int i = 0; i < m; ++i) {
    GLOBAL real *y = h->Y + i * nv;
    for (int k = 0; k < nv; ++k) {
      y[k] = h->J[i * nv + k];
    }
    hard_solve(&h->s, y);
    for (int k = 0; k <= i; ++k) {
      A[(size_t)i * m + k] = A[(size_t)k * m + i] = dot_n(nv, h->J + k * nv, y);
    }
  }
}

// One work-item chooses the contacts of one world and fills its problem for lcp_solve: A (worlds,
// hard_rows^2), of which it uses m^2, and b, mu, box and guess (worlds, hard_rows). parents
// (worlds, hard_rows + 1) gets m and then the rows' parents. numbers (worlds, HARD_REALS) and
// chosen (worlds, HARD_INTS) get the inputs of later kernels. candidates and nearest are scratch
// memory. Rows of contacts are first, 1 + tangents each, then limits, then friction losses.
KERNEL void world_hard_problem(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                               GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                               GLOBAL const real *w, GLOBAL const real *parameters, int shared,
                               GLOBAL const real *scratch, GLOBAL const real *singular,
                               GLOBAL const real *contacts, GLOBAL const int *world_pairs,
                               GLOBAL const int *list, GLOBAL const int *active_pairs,
                               GLOBAL const int *slots, GLOBAL real *work, GLOBAL real *numbers,
                               GLOBAL int *chosen, GLOBAL int *candidates, GLOBAL real *nearest,
                               GLOBAL int *parents, GLOBAL real *A, GLOBAL real *b, GLOBAL real *mu,
                               GLOBAL real *box, GLOBAL int *guess, GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  const newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, world_pairs,
                             list, active_pairs, work, world);
  hard h = hard_of(&s, numbers, chosen, parents);
  if (singular[world] != R(0.0) && !(status[world] & WORLD_STOPPED)) {
    status[world] |= WORLD_SINGULAR;
  }
  h.parents[0] = h.chosen[HARD_ROWS] = h.chosen[HARD_COUNT] = h.chosen[HARD_KEPT] = 0;
  if (status[world] & WORLD_STOPPED) {
    return;
  }
  const int room = h.most;
  const hard_choice choice = hard_choice_of(&s, slots, candidates, nearest);
  const hard_problem p = {ROW(A, world, room * room), ROW(b, world, room), ROW(mu, world, room),
                          ROW(box, world, room), ROW(guess, world, room)};
  GLOBAL const real *velocity = ROW(v, world, nv);
  hard_factor(&s);
  start_axes(&s);
  for (int i = 0; i < nv; ++i) {
    h.vector[i] = velocity[i] + reals[WORLD_STEP] * one_real(&s.tree, n->at_free + i);
  }
  hard_choose(&s, &choice, h.vector, h.chosen);
  for (int k = 0; k < h.chosen[HARD_COUNT]; ++k) {
    hard_contact_rows(&h, &p, k, velocity);
  }
  h.m = hard_row_of(h.tangents, h.chosen[HARD_COUNT]);
  for (int losses = 0; losses < 2; ++losses) {
    for (int i = 0; i < n->rows; ++i) {
      h.m += hard_joint_row(&h, &p, h.m, i, losses, ROW(q, world, n->nq));
    }
  }
  h.parents[0] = h.chosen[HARD_ROWS] = h.m;
  hard_matrix(&h, p.A);
  hard_guess(&h, &p, velocity, ROW(w, world, nv));
}

// Returns whether an omitted contact penetrates if joints move by x (nv): it approaches faster than
// the resting speed, and its gap closes within the step. Usually the chosen contacts prevent that.
static int hard_misses(const hard *h, const hard_choice *c, GLOBAL const int *of,
                       GLOBAL const real *x)
{
  const real speed = hard_parting(&h->s, c, of, x);
  return speed < -h->s.reals[WORLD_BOUNCE] &&
         hard_plane(c, of, CONTACT_DISTANCE) + h->s.reals[WORLD_STEP] * speed < R(0.0);
}

// Returns whether any omitted contact of the world penetrates.
static int hard_misses_any(const hard *h, const hard_choice *c, GLOBAL const real *x)
{
  int missed = 0;
  for (int i = 0; h->chosen[HARD_KEPT] > h->chosen[HARD_COUNT] && i < h->chosen[HARD_KEPT]; ++i) {
    GLOBAL const int *of = hard_candidate(c, i);
    missed |= !of[2] && hard_misses(h, c, of, x);
  }
  return missed;
}

// One work-item makes the acceleration of one world, acceleration (worlds, nv), and its constraint
// force, constraint_force (worlds, nv), from the impulses f (worlds, hard_rows). `how` (worlds),
// the way they were found, determines iterations and bits of the status.
KERNEL void world_hard_accelerate(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                  GLOBAL const real *reals, GLOBAL const real *v,
                                  GLOBAL const real *scratch, GLOBAL const real *contacts,
                                  GLOBAL const int *world_pairs, GLOBAL const int *list,
                                  GLOBAL const int *active_pairs, GLOBAL real *work,
                                  GLOBAL real *numbers, GLOBAL int *chosen, GLOBAL int *parents,
                                  GLOBAL const int *slots, GLOBAL int *candidates,
                                  GLOBAL real *nearest, GLOBAL const real *f, GLOBAL const int *how,
                                  GLOBAL real *acceleration, GLOBAL real *constraint_force,
                                  GLOBAL int *iterations, GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  const newton s = newton_of(n, ints, reals, reals, 1, scratch, contacts, world_pairs, list,
                             active_pairs, work, world);
  const hard h = hard_of(&s, numbers, chosen, parents);
  const int stopped = (status[world] & WORLD_STOPPED) != 0;
  GLOBAL const real *own = ROW(f, world, h.most);
  for (int i = 0; i < nv; ++i) {
    real a = stopped ? R(0.0) : one_real(&s.tree, n->at_free + i), sum = R(0.0);
    for (int k = 0; k < h.m; ++k) {
      a += h.Y[k * nv + i] * own[k] / reals[WORLD_STEP];
      sum += h.J[k * nv + i] * own[k] / reals[WORLD_STEP];
    }
    ROW(acceleration, world, nv)[i] = a;
    ROW(constraint_force, world, nv)[i] = sum;
    newton_vector(&s, VECTOR_ACC)[i] = ROW(v, world, nv)[i] + reals[WORLD_STEP] * a;
  }
  iterations[world] = stopped ? 0 : how[world];
  if (!stopped) {
    const hard_choice choice = hard_choice_of(&s, slots, candidates, nearest);
    status[world] |= hard_misses_any(&h, &choice, newton_vector(&s, VECTOR_ACC)) ? WORLD_OVERFLOW
                                                                                 : 0;
    status[world] |= how[world] == LCP_BAD        ? WORLD_NOT_FINITE
                     : how[world] == LCP_FAILED   ? WORLD_NOT_CONVERGED
                     : how[world] == LCP_SQUEEZED ? WORLD_SQUEEZED
                                                  : 0;
  }
}

// One work-item writes the forces of one world's chosen contacts by slot, out (worlds, width),
// three numbers per slot. They are the forces on owners along their frames, or, if in_world is set,
// those on body 1 along the world's axes. Slots without a contact keep their zeros.
KERNEL void world_hard_forces(GLOBAL const world_sizes *n, GLOBAL const real *reals,
                              GLOBAL const real *contacts, GLOBAL const int *world_pairs,
                              GLOBAL const int *slots, GLOBAL const int *chosen,
                              GLOBAL const real *numbers, GLOBAL const real *f,
                              GLOBAL const int *status, int width, int in_world, GLOBAL real *out,
                              int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || (status[world] & WORLD_STOPPED)) {
    return;
  }
  GLOBAL const int *own = ROW(chosen, world, HARD_INTS(n->hard, n->rows));
  for (int k = 0; k < own[HARD_COUNT]; ++k) {
    const hard_place c = hard_place_at(contacts, world_pairs, own, k);
    GLOBAL real *to = ROW(out, world, width) + 3 * slots[c.of[WORLD_PAIR_AT] + c.at];
    real along[3];
    hard_contact_along(n, numbers, f, world, k, along);
    for (int i = 0; i < 3; ++i) {
      to[i] = along[i] / reals[WORLD_STEP];
    }
    if (in_world) {
      vec3_r frame[3], force = make_r(lane_lit(R(0.0)), lane_lit(R(0.0)), lane_lit(R(0.0)));
      hard_frame(&c, frame);
      for (int i = 0; i < 3; ++i) {
        force = mad3_r(frame[i], lane_lit(c.side * to[i]), force);
      }
      to[0] = lane_first(force.x);
      to[1] = lane_first(force.y);
      to[2] = lane_first(force.z);
    }
  }
}
