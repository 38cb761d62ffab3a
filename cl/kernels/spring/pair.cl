// A pair of bodies, with the points of each in the field of the other; docs/dev/spring-formulas.md,
// "Field, separation, force", 2 to 4, and "How it is computed". Sums are about body 2's origin in
// body 2's axes. A field is evaluated in its own cloud's frame, where lengths are short.
//
// A row of separations (pairs, room) has the points of body 1, padded to whole blocks, and then
// those of body 2. A block is LANES points. `pairs` holds two clouds per pair, pair_stride apart (0
// if all pairs have the same clouds), starting at pair first_pair. `frames` (pairs, SPRING_FRAME)
// are those of spring_frames.

typedef struct spring_turn {
  vec x, y, z; // the rows of a 3 x 3 matrix
} spring_turn;

static vec spring_rotate(const spring_turn *m, vec v)
{
  return FN(make)(FN(dot3)(m->x, v), FN(dot3)(m->y, v), FN(dot3)(m->z, v));
}

static vec spring_rotate_back(const spring_turn *m, vec v)
{
  return FN(mad3)(m->x, v.x, FN(mad3)(m->y, v.y, FN(scale3)(m->z, v.z)));
}

static spring_turn spring_turn_of(GLOBAL const real *frame, int at)
{
  spring_turn m;
  m.x = spring_vector(frame, at);
  m.y = spring_vector(frame, at + 3);
  m.z = spring_vector(frame, at + 6);
  return m;
}

typedef struct spring_pair {
  spring_cloud body1, body2;
  GLOBAL const real *frame;
  int blocks1, blocks;
} spring_pair;

static spring_pair spring_pair_of(GLOBAL const int *heads, GLOBAL const real *shapes,
                                  GLOBAL const int *pairs, int first_pair, int pair_stride,
                                  GLOBAL const real *frames, int pair)
{
  spring_pair p;
  GLOBAL const int *of = pairs + 2 * first_pair + (size_t)pair * pair_stride;
  p.body1 = spring_cloud_of(heads, shapes, of[0]);
  p.body2 = spring_cloud_of(heads, shapes, of[1]);
  p.frame = NUMS(frames, pair, SPRING_FRAME);
  p.blocks1 = p.body1.padded / LANES;
  p.blocks = p.blocks1 + p.body2.padded / LANES;
  return p;
}

// The points of a block, one per lane.
typedef struct spring_block {
  int side, first;             // the body of the points, 0 for body 1; the index of the first point
  const spring_cloud *of, *in; // the cloud of the points; the cloud whose field they are in
  spring_turn turn;            // rotates body 1's axes to body 2's
  vec x, speed;             // positions and velocities relative to the other body, in body 2's axes
  vec in_x, in_speed, spin; // the same in the field's frame; the spin of the field's body there
  num log_weight;
} spring_block;

static spring_block spring_block_of(const spring_pair *p, int block)
{
  spring_block b;
  b.side = block >= p->blocks1;
  b.first = (block - (b.side ? p->blocks1 : 0)) * LANES;
  b.of = b.side ? &p->body2 : &p->body1;
  b.in = b.side ? &p->body1 : &p->body2;
  GLOBAL const real *at = b.of->planes + b.first;
  const vec own = FN(make)(n_of(lane_load(at)), n_of(lane_load(at + b.of->padded)),
                           n_of(lane_load(at + 2 * b.of->padded)));
  b.log_weight = n_of(lane_load(at + 3 * b.of->padded));
  b.turn = spring_turn_of(p->frame, SPRING_TURN);
  const vec shift = spring_vector(p->frame, SPRING_SHIFT);
  b.x = b.side ? own : FN(add3)(spring_rotate(&b.turn, own), shift);
  const vec speed = FN(add3)(spring_vector(p->frame, SPRING_SPEED),
                             FN(cross3)(spring_vector(p->frame, SPRING_SPIN), b.x));
  b.speed = b.side ? FN(neg3)(speed) : speed;
  b.in_x = b.side ? spring_rotate_back(&b.turn, FN(sub3)(b.x, shift)) : b.x;
  b.in_speed = b.side ? spring_rotate_back(&b.turn, b.speed) : b.speed;
  b.spin = spring_vector(p->frame, b.side ? SPRING_SPIN_1 : SPRING_SPIN_2);
  return b;
}

// One work-item finds the separations of one block of one pair: each point's phi in the field of
// the other body, written to separations (pairs, room). The global size is (room / LANES, pairs).
KERNEL void spring_separations(GLOBAL const int *heads, GLOBAL const real *shapes,
                               GLOBAL const int *pairs, int first_pair, int pair_stride,
                               GLOBAL const real *frames, int room, int count,
                               GLOBAL real *separations)
{
  const int block = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count) {
    return;
  }
  const spring_pair p = spring_pair_of(heads, shapes, pairs, first_pair, pair_stride, frames, pair);
  if (block >= p.blocks) {
    return;
  }
  const spring_block b = spring_block_of(&p, block);
  const spring_place o = spring_place_of(b.in, b.in_x);
  lane top;
  const num phi = spring_phi(b.in, &o, &top);
  store(NUMS(separations, pair, room) + block * LANES, room, phi);
}

// Returns y = phi - eps2 logw of a block's points; beta is proportional to exp(-y / eps2).
static num spring_level(const spring_pair *p, const spring_law *l, int block, num phi)
{
  const int side = block >= p->blocks1;
  const spring_cloud *of = side ? &p->body2 : &p->body1;
  const int first = (block - (side ? p->blocks1 : 0)) * LANES;
  return n_sub(phi, n_times(l->eps2, lane_load(of->planes + 3 * of->padded + first)));
}

// One work-item finds the soft minimum over all points of both bodies of one pair. It reads
// separations (pairs, room) and writes means (pairs, SPRING_MEANS): the least phi - eps2 logw, the
// inverse of the sum of weights relative to the weight of that least point, and the soft distance,
// which is the mean of phi by beta.
KERNEL void spring_soften(GLOBAL const int *heads, GLOBAL const real *shapes,
                          GLOBAL const int *pairs, int first_pair, int pair_stride,
                          GLOBAL const real *frames, int room, int count,
                          GLOBAL const real *separations, GLOBAL real *means)
{
  const int pair = (int)get_global_id(0);
  if (pair >= count) {
    return;
  }
  const spring_pair p = spring_pair_of(heads, shapes, pairs, first_pair, pair_stride, frames, pair);
  const spring_law l = spring_law_of(p.frame, 0);
  GLOBAL const real *row = NUMS(separations, pair, room);
  lane lows = lane_lit(REAL_MOST);
  for (int block = 0; block < p.blocks; ++block) {
    lows = lane_min(lows, n_value(spring_level(&p, &l, block, load(row + block * LANES, room))));
  }
  const num low = n_lit(lane_least(lows));
  num sum = n_lit(R(0.0)), all = sum;
  for (int block = 0; block < p.blocks; ++block) {
    const num phi = load(row + block * LANES, room);
    const num y = n_mul(n_sub(low, spring_level(&p, &l, block, phi)), l.eps2_inv);
    const num w = n_exp2(n_scale(y, LOG2E));
    sum = n_add(sum, w);
    all = n_mad(w, phi, all);
  }
  GLOBAL real *to = NUMS(means, pair, SPRING_MEANS);
  const num inverse = n_rcp(all_lanes(sum));
  store_first(to, SPRING_MEANS, low);
  store_first(to + 1, SPRING_MEANS, inverse);
  store_first(to + 2, SPRING_MEANS, n_mul(all_lanes(all), inverse));
}

// Returns beta of a block's points. *tail is the range below the largest exponent in which a plane
// of the other cloud contributes to the point's force. A point with beta near 0 uses only its
// nearest planes, so it costs little if another lane of its block matters. A block without relevant
// points is skipped.
static num spring_beta(const spring_pair *p, const spring_law *l, int block, num phi,
                       GLOBAL const real *means, lane *tail)
{
  const num low = load_one(means, SPRING_MEANS), inverse = load_one(means + 1, SPRING_MEANS);
  const num y = n_mul(n_sub(spring_level(p, l, block, phi), low), l->eps2_inv);
  *tail = lane_select(n_value(y) < lane_lit(SPRING_TAIL), lane_lit(SPRING_TAIL * LOG2E),
                      lane_lit(SPRING_ITS_OWN));
  return n_mul(n_exp2(n_scale(y, -LOG2E)), inverse);
}

// One work-item writes separations and betas of one block of one pair in the caller's order:
// separation and weights (pairs, width) hold body 1's points, then body 2's, then zeros. The global
// size is (room / LANES, pairs).
KERNEL void spring_tell(GLOBAL const int *heads, GLOBAL const real *shapes, GLOBAL const int *pairs,
                        int first_pair, int pair_stride, GLOBAL const real *frames, int room,
                        int width, int count, GLOBAL const real *separations,
                        GLOBAL const real *means, GLOBAL real *separation, GLOBAL real *weights)
{
  const int block = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count) {
    return;
  }
  const spring_pair p = spring_pair_of(heads, shapes, pairs, first_pair, pair_stride, frames, pair);
  if (block >= p.blocks) {
    return;
  }
  const spring_law l = spring_law_of(p.frame, 0);
  GLOBAL const real *from = NUMS(separations, pair, room) + block * LANES;
  const int side = block >= p.blocks1, first = (block - (side ? p.blocks1 : 0)) * LANES;
  const spring_cloud *of = side ? &p.body2 : &p.body1;
  const real poison = p.frame[SPRING_POISON];
  lane tail;
  real beta[LANES];
  lane_store(n_value(spring_beta(&p, &l, block, load(from, room), NUMS(means, pair, SPRING_MEANS),
                                 &tail)),
             beta);
  for (int i = 0; i < LANES && first + i < of->count; ++i) {
    const int to = (side ? p.body1.count : 0) + of->order[first + i];
    ROW(separation, pair, width)[to] = from[i] + poison;
    ROW(weights, pair, width)[to] = beta[i] + poison;
  }
  if (!block) {
    for (int i = p.body1.count + p.body2.count; i < width; ++i) {
      ROW(separation, pair, width)[i] = R(0.0);
      ROW(weights, pair, width)[i] = R(0.0);
    }
  }
}

// The effect of a block's means about body 2's origin in body 2's axes, one per lane: the force on
// body 1, the moment on body 1 and the moment on body 2.
typedef struct spring_acting {
  vec force, moment, counter;
} spring_acting;

static spring_acting spring_acting_of(const spring_pair *p, const spring_block *b,
                                      const spring_means *m, int plane)
{
  spring_acting a;
  const vec force = b->side ? spring_rotate(&b->turn, m->force) : m->force;
  const vec own = FN(cross3)(b->x, force);
  vec other = own;
  if (plane) {
    const vec shift = spring_vector(p->frame, SPRING_SHIFT);
    other = b->side ? FN(add3)(spring_rotate(&b->turn, m->moment), FN(cross3)(shift, force))
                    : m->moment;
  }
  a.force = b->side ? FN(neg3)(force) : force;
  a.moment = b->side ? FN(neg3)(other) : own;
  a.counter = b->side ? own : FN(neg3)(other);
  return a;
}

// One work-item adds up the forces of one slice of one pair, which is every SPRING_SLICES-th block.
// parts (pairs, SPRING_SLICES, SPRING_WRENCH) gets the sum of beta times the effect of each point's
// force. The slices are fixed, so sums are bitwise equal for any split of the batch. The global
// size is (SPRING_SLICES, pairs).
KERNEL void spring_forces(GLOBAL const int *heads, GLOBAL const real *shapes,
                          GLOBAL const int *pairs, int first_pair, int pair_stride,
                          GLOBAL const real *frames, int options, int room, int count,
                          GLOBAL const real *separations, GLOBAL const real *means,
                          GLOBAL real *parts)
{
  const int slice = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count || slice >= SPRING_SLICES) {
    return;
  }
  const spring_pair p = spring_pair_of(heads, shapes, pairs, first_pair, pair_stride, frames, pair);
  const spring_law l = spring_law_of(p.frame, options);
  const num zero = n_lit(R(0.0));
  spring_acting all;
  all.force = FN(make)(zero, zero, zero);
  all.moment = all.force;
  all.counter = all.force;
  for (int block = slice; block < p.blocks; block += SPRING_SLICES) {
    lane tail;
    const num phi = load(NUMS(separations, pair, room) + block * LANES, room);
    const num beta = spring_beta(&p, &l, block, phi, NUMS(means, pair, SPRING_MEANS), &tail);
    if (lane_any(tail > lane_lit(SPRING_ITS_OWN))) {
      const spring_block b = spring_block_of(&p, block);
      const spring_place o = spring_place_of(b.in, b.in_x);
      const spring_means m = spring_means_of(b.in, &o, &l, b.in_speed, b.spin, tail);
      const spring_acting a = spring_acting_of(&p, &b, &m, options & SPRING_PLANE);
      all.force = FN(mad3)(a.force, beta, all.force);
      all.moment = FN(mad3)(a.moment, beta, all.moment);
      all.counter = FN(mad3)(a.counter, beta, all.counter);
    }
  }
  GLOBAL real *to = NUMS(parts, pair * SPRING_SLICES + slice, SPRING_WRENCH);
  store_sum3(to, SPRING_WRENCH, all.force);
  store_sum3(to + 3, SPRING_WRENCH, all.moment);
  store_sum3(to + 6, SPRING_WRENCH, all.counter);
}

// One work-item adds up one of the `width` numbers of a pair over its slices, in order: parts
// (pairs, SPRING_SLICES, width) becomes sums (pairs, width). The global size is (width, pairs).
KERNEL void spring_sum(GLOBAL const real *parts, int width, int count, GLOBAL real *sums)
{
  const int at = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count || at >= width) {
    return;
  }
  num sum = n_lit(R(0.0));
  for (int slice = 0; slice < SPRING_SLICES; ++slice) {
    sum = n_add(sum, load_one(NUMS(parts, pair * SPRING_SLICES + slice, width) + at, width));
  }
  store_first(NUMS(sums, pair, width) + at, width, sum);
}
