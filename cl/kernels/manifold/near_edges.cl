// The selection of edges in a pose whose vertices are bounded. Scores are exact as far as they
// decide the selection.

// A body's edges in a pose: distances at its vertices, exact below `reach`; bounds of their blocks;
// and scores. The score of an edge with an inexact end is an upper bound.
typedef struct near_edges {
  GLOBAL const real *phi;
  GLOBAL real *bounds, *scores;
  GLOBAL const int *ends; // two planes: places of the ends among the vertices
  int plane, field_padded, padded, count;
  real reach;
} near_edges;

// Returns a body's edges. Without `any` there are no blocks of scores, so that nothing is examined.
static near_edges near_edges_of(GLOBAL const pair_sizes *n, int side, int any,
                                GLOBAL const real *phi, GLOBAL real *bounds, GLOBAL real *scores,
                                GLOBAL const int *ends, real reach, int pose)
{
  near_edges e;
  e.field_padded = n->elements[VERTICES_OF(side)].padded;
  e.plane = n->elements[EDGES_OF(side)].padded;
  e.padded = any ? e.plane : 0;
  e.count = n->elements[EDGES_OF(side)].count;
  e.phi = NUMS(phi, pose, e.field_padded);
  e.bounds = ROW(bounds, pose, n->ball_slots[side]);
  e.scores = NUMS(scores, pose, e.plane);
  e.ends = ends;
  e.reach = reach;
  return e;
}

static void near_scores(const near_edges *e, int item)
{
  for (int first = item * LANES; first < e->padded; first += WG * LANES) {
    score_edges(e->phi, e->field_padded, e->ends, e->padded, e->count, first,
                (GLOBAL const real *)0, 0, e->scores);
  }
}

static int exact_end(const near_edges *e, int edge, int end)
{
  return e->phi[e->ends[end * e->plane + edge]] < e->reach;
}

static void ask_for_end(const near_edges *e, int edge, int end)
{
  const int place_of = e->ends[end * e->plane + edge];
  if (e->phi[place_of] >= e->reach) {
    e->bounds[place_of / BALL_VERTICES] = -REAL_BIG;
  }
}

static int exact_edge(const near_edges *e, int edge)
{
  return exact_end(e, edge, 0) && exact_end(e, edge, 1);
}

// Writes the ends and weights of the edges of a pose that a selection retains, from its ranking;
// `source` has the ends of all edges.
static void keep_edges(GLOBAL const int *index, GLOBAL const real *top, GLOBAL const real *source,
                       GLOBAL const pair_head *pair, int side, GLOBAL real *ends,
                       GLOBAL real *weights, int pose, int item)
{
  GLOBAL const pair_elements *e = &pair->n.elements[EDGES_OF(side)];
  for (int slot = item; slot < e->slots; slot += WG) {
    gate_row(ROW(index, pose, e->kept + 1), NUMS(top, pose, e->kept + 1), slot, source, ENDS_PLANES,
             e, &pair->c, NUMS(ends, pose, ENDS_PLANES * e->slots), NUMS(weights, pose, e->slots));
  }
}

#if WITH_FORWARD
// One work-group finds the kept + 1 edges with the largest scores of one pose, and the results of
// `gate` for them. If an inexact edge is found on the way, its ends' distances are requested by
// setting the bound of their blocks to -REAL_BIG. near_again then follows, with exact values for
// every edge that can count: the bound of any other edge does not exceed the score of the last edge
// found here. If this takes too many steps, all of the body is requested.
MERGED
KERNEL GROUPED void near_select(GLOBAL real *scores, GLOBAL const real *field, GLOBAL real *bounds,
                                GLOBAL const real *reaches, GLOBAL const int *ends,
                                GLOBAL const real *source, GLOBAL const pair_head *pair, int side,
                                GLOBAL int *plan, GLOBAL int *index, GLOBAL real *top,
                                GLOBAL real *kept_ends, GLOBAL real *weights)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL int *decided = ROW(plan, pose, PLAN_INTS);
  const int any = decided[PLAN_EDGES]; // no return: see KERNEL
  const near_edges e = near_edges_of(&pair->n, side, any, field, bounds, scores, ends,
                                     ROW(reaches, pose, 2)[side], pose);
  const int kept = pair->n.elements[EDGES_OF(side)].kept, balls = pair->n.balls[side];
  TOP_SEARCH(search, e.scores, e.padded, e.count, item);
  near_scores(&e, item);
  BARRIER_GLOBAL;
  top_begin(&search);
  int k = 0, asked = 0;
  for (int turn = 0; any && turn < 4 * (kept + 1) && k <= kept; ++turn) {
    const ranked_score next = top_next(&search);
    const int exact = next.score <= SCORE_NONE || exact_edge(&e, next.index);
    if (item == 0 && exact) {
      write_ranked(e.scores, e.padded, e.count, kept, k, next, ROW(index, pose, kept + 1),
                   NUMS(top, pose, kept + 1));
    } else if (item == 0) {
      ask_for_end(&e, next.index, 0);
      ask_for_end(&e, next.index, 1);
    }
    k += exact;
    asked |= !exact;
  }
  BARRIER_GLOBAL;
  if (any && !asked) {
    keep_edges(index, top, source, pair, side, kept_ends, weights, pose, item);
  }
  for (int i = item; asked && k <= kept && i < balls; i += WG) {
    e.bounds[i] = -REAL_BIG;
  }
  if (item == 0 && asked) {
    decided[PLAN_MORE + side] = 1;
  }
}

// If near_select has requested more in one pose, one work-group computes the distances of those
// blocks and selects again.
MERGED
KERNEL GROUPED void near_again(GLOBAL const real *points, GLOBAL real *scores, GLOBAL real *field,
                               GLOBAL real *bounds, GLOBAL const int *ends,
                               GLOBAL const real *source, GLOBAL const int *plan,
                               GLOBAL const real *frames, GLOBAL const int *head,
                               GLOBAL const real *shape, GLOBAL const pair_head *pair, int side,
                               GLOBAL int *index, GLOBAL real *top, GLOBAL real *kept_ends,
                               GLOBAL real *weights)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int more = ROW(plan, pose, PLAN_INTS)[PLAN_MORE + side]; // no return: see KERNEL
  const near_edges e =
    near_edges_of(&pair->n, side, more, field, bounds, scores, ends, REAL_BIG, pose);
  const int kept = pair->n.elements[EDGES_OF(side)].kept, field_padded = e.field_padded;
  TOP_SEARCH(search, e.scores, e.padded, e.count, item);
  GLOBAL real *phi = NUMS(field, pose, field_padded);
  for (int first = item * LANES; more && first < field_padded; first += WG * LANES) {
    if (e.bounds[first / BALL_VERTICES] == -REAL_BIG) {
      const vec x =
        field_point(points, 0, 0, field_padded, frames, FRAME_ACROSS(side), first / LANES, pose);
      vec normal;
      store(phi + first, field_padded,
            steady(field_within(head, shape, &pair->c, x, 0, REAL_BIG, &normal), COTANGENT_LIMIT));
    }
  }
  BARRIER_GLOBAL;
  near_scores(&e, item);
  BARRIER_GLOBAL;
  top_begin(&search);
  for (int k = 0; more && k <= kept; ++k) {
    const ranked_score next = top_next(&search);
    if (item == 0) {
      write_ranked(e.scores, e.padded, e.count, kept, k, next, ROW(index, pose, kept + 1),
                   NUMS(top, pose, kept + 1));
    }
  }
  BARRIER_GLOBAL;
  if (more) {
    keep_edges(index, top, source, pair, side, kept_ends, weights, pose, item);
  }
}
#endif
