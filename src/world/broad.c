#include "world/broad.h"

#include "base/error.h"
#include "contact/active.h"
#include "world/boxes.h"
#include "world/law/law.h"
#include "world/seams.h"
#include "world/tiles.h"
#include <math.h>
#include <string.h>

#define NO_END 1e18 /* half side of an unbounded box; float32 can still multiply it */
/* Positions of empty boxes, for points and for fields. At these distances, an empty box meets no
 * other box in any orientation. */
static const double far_away[2] = {1e18, 4e18};

/* ---- bodies ----
 *
 * The table has the scene's bodies, then the parts of cut bodies (world/tiles.h), each with its own
 * boxes: first the field, then the tiles. The bridges of seams (world/seams.h) are last. */

typedef struct broad_bodies {
  size_t count;
  int *of;        /* (count) the scene's body */
  int *cut;       /* (bodies) index of a body's field, which its tiles follow, or -1 */
  size_t bridges; /* index of the first bridge */
} broad_bodies;

static void free_bodies(broad_bodies *e)
{
  free(e->of);
  free(e->cut);
}

static size_t body_of_group(const loaded_scene *s, size_t group, int side)
{
  return scene_pair_body(&s->def, &s->def.pairs[s->groups[group].pair], side);
}

static size_t add_bodies(broad_bodies *e, size_t of, size_t some)
{
  const size_t first = e->count;
  for (size_t i = 0; e->of && i < some; ++i) {
    e->of[first + i] = (int)of;
  }
  e->count += some;
  return first;
}

/* Numbers the bodies; without `of` it only counts them. */
static void number_bodies(const loaded_scene *s, broad_bodies *e)
{
  e->count = 0;
  for (size_t i = 0; i < s->body_count; ++i) {
    add_bodies(e, i, 1);
    e->cut[i] = -1;
  }
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const group_part *p = &s->parts[i];
    if (p->tile == PART_WHOLE) {
      continue;
    }
    const size_t cut = body_of_group(s, i, p->side);
    e->cut[cut] = e->cut[cut] < 0 ? (int)add_bodies(e, cut, 1 + tiles_of(s, cut)) : e->cut[cut];
  }
  e->bridges = e->count;
  for (size_t i = 0; s->seams && i < s->seams->count; ++i) {
    add_bodies(e, s->seams->all[i].tiles[0], 1);
  }
}

static abut_status make_bodies(const loaded_scene *s, broad_bodies *e)
{
  void *memory = NULL;
  TRY(allocate(&memory, s->body_count, sizeof(int)));
  e->cut = memory;
  number_bodies(s, e);
  TRY(allocate(&memory, e->count, sizeof(int)));
  e->of = memory;
  number_bodies(s, e);
  return ABUT_SUCCESS;
}

/* Returns the index of a group's body in the table. */
static size_t broad_body_of(const loaded_scene *s, const broad_bodies *e, size_t group, int side)
{
  const group_part *p = &s->parts[group];
  const size_t number = body_of_group(s, group, side);
  if (p->tile == PART_BRIDGE) {
    return side == p->side ? e->bridges + p->seam : number;
  }
  if (p->tile != PART_WHOLE && side == p->side) {
    return (size_t)(e->cut[number] + 1 + p->tile); /* the field has number -1 */
  }
  return number;
}

/* ---- boxes of bodies ---- */

typedef struct body_boxes {
  bool some;                    /* The body is in a pair. */
  double low[2][3], high[2][3]; /* of points and of the field */
} body_boxes;

/* Empty boxes change nothing. */
static void widen(body_boxes *b, int which, const body_box *box)
{
  for (int k = 0; k < 3 && box->half[0] >= 0.0; ++k) {
    const double low = box->centre[k] - box->half[k], high = box->centre[k] + box->half[k];
    b->low[which][k] = fmin(b->low[which][k], low);
    b->high[which][k] = fmax(b->high[which][k], high);
  }
}

static void start(body_boxes *b)
{
  for (int which = 0; !b->some && which < 2; ++which) {
    for (int k = 0; k < 3; ++k) {
      b->low[which][k] = HUGE_VAL;
      b->high[which][k] = -HUGE_VAL;
    }
  }
  b->some = true;
}

/* Finds the boxes of the groups of a type. If one body is only a field, the other body's field does
 * not matter. */
static abut_status boxes_of_type(const loaded_scene *s, const pair_type *k, pair_boxes *out)
{
  static const body_box empty = {{0.0, 0.0, 0.0}, {-1.0, -1.0, -1.0}};
  const group_part *of = &s->parts[s->pair_order[k->first]];
  const pair *p = pair_get(of->pair);
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  const double cutoff = active_cutoff(p, 0.0);
  TRY(of->tile >= 0 ? boxes_of_tile(p, of->side, cutoff, out) : boxes_of_pair(p, cutoff, out));
  if (of->tile == PART_FIELD) {
    out->field[!of->side] = empty;
  }
  return ABUT_SUCCESS;
}

/* Widens the boxes of the bodies of a type's groups; a body's boxes serve all its bounded groups.
 * Groups of an unbounded type are always kept. Boxes that stay empty are put far away: a plane has
 * no points, and a part may have no field. */
static abut_status add_type(const loaded_scene *s, const pair_type *k, const broad_bodies *e,
                            body_boxes *all, bool *bounded)
{
  pair_boxes boxes;
  TRY(boxes_of_type(s, k, &boxes));
  *bounded = boxes.bounded;
  for (size_t i = k->first; boxes.bounded && i < k->first + k->count; ++i) {
    for (int side = 0; side < 2; ++side) {
      body_boxes *b = &all[broad_body_of(s, e, (size_t)s->pair_order[i], side)];
      start(b);
      widen(b, 0, &boxes.points[side]);
      widen(b, 1, &boxes.field[side]);
    }
  }
  return ABUT_SUCCESS;
}

static void put_box(const body_boxes *b, int which, double *to)
{
  if (b->some && b->low[which][0] > b->high[which][0]) {
    to[BOX_CENTRE] = far_away[which];
    return;
  }
  for (int k = 0; k < 3; ++k) {
    const double low = fmax(b->low[which][k], -NO_END), high = fmin(b->high[which][k], NO_END);
    const bool ends = low > -NO_END && high < NO_END && low <= high;
    to[BOX_CENTRE + k] = ends ? 0.5 * (low + high) : 0.0;
    to[BOX_HALF + k] = !b->some ? 0.0 : ends ? 0.5 * (high - low) : NO_END;
  }
}

/* ---- tables ---- */

typedef struct tables {
  body_boxes *boxes;
  double *reals;
  int *links, *candidates, *types;
  broad_bodies of;
} tables;

static void free_tables(tables *t)
{
  free(t->boxes);
  free(t->reals);
  free(t->links);
  free(t->candidates);
  free(t->types);
  free_bodies(&t->of);
}

static size_t runs_of(const loaded_scene *s)
{
  size_t runs = 0;
  for (size_t i = 0; i < s->pair_type_count; ++i) {
    runs += (s->pair_types[i].count + CANDIDATE_RUN - 1) / CANDIDATE_RUN;
  }
  return runs;
}

static abut_status allocate_tables(const loaded_scene *s, size_t runs, tables *t)
{
  void *memory[5];
  const size_t bodies = t->of.count;
  const size_t counts[] = {bodies, BROAD_REALS * bodies, bodies,
                           CANDIDATE_INTS * CANDIDATE_RUN * runs, TYPE_INTS * s->pair_type_count};
  const size_t each[] = {sizeof(body_boxes), sizeof(double), sizeof(int), sizeof(int), sizeof(int)};
  for (int i = 0; i < 5; ++i) {
    memory[i] = NULL;
  }
  abut_status status = ABUT_SUCCESS;
  for (int i = 0; i < 5 && status == ABUT_SUCCESS; ++i) {
    status = allocate(&memory[i], counts[i] + 1, each[i]);
  }
  *t = (tables){memory[0], memory[1], memory[2], memory[3], memory[4], t->of};
  return status;
}

static void fill_bodies(const loaded_scene *s, tables *t)
{
  for (size_t at = 0; at < t->of.count; ++at) {
    const size_t of = (size_t)t->of.of[at], l = scene_body_link(&s->def, of);
    const scene_body *b = &s->def.links[l].bodies[of - s->def.links[l].first_body];
    double *to = t->reals + BROAD_REALS * at;
    t->links[at] = (int)l;
    memcpy(to, b->position, sizeof b->position);
    memcpy(to + 3, b->quaternion, sizeof b->quaternion);
    if (at >= t->of.bridges) {
      memcpy(to, s->seams->all[at - t->of.bridges].place, PLACE * sizeof *to);
    }
    put_box(&t->boxes[at], 0, to + BROAD_POINTS);
    put_box(&t->boxes[at], 1, to + BROAD_FIELD);
  }
}

static void fill_candidates(const loaded_scene *s, size_t runs, tables *t)
{
  int first_run = 0;
  for (size_t i = 0; i < CANDIDATE_RUN * runs; ++i) {
    t->candidates[CANDIDATE_INTS * i + CANDIDATE_GROUP] = -1;
  }
  for (size_t type = 0; type < s->pair_type_count; ++type) {
    const pair_type *k = &s->pair_types[type];
    int *to = t->candidates + CANDIDATE_INTS * CANDIDATE_RUN * first_run;
    for (size_t i = k->first; i < k->first + k->count; ++i, to += CANDIDATE_INTS) {
      to[CANDIDATE_A] = (int)broad_body_of(s, &t->of, (size_t)s->pair_order[i], 0);
      to[CANDIDATE_B] = (int)broad_body_of(s, &t->of, (size_t)s->pair_order[i], 1);
      to[CANDIDATE_GROUP] = s->pair_order[i];
    }
    t->types[TYPE_INTS * type + TYPE_RUN] = first_run;
    t->types[TYPE_INTS * type + TYPE_RUNS] = (int)((k->count + CANDIDATE_RUN - 1) / CANDIDATE_RUN);
    first_run += t->types[TYPE_INTS * type + TYPE_RUNS];
  }
}

/* Marks all candidates of a type as never left out. */
static void keep_all(tables *t, size_t type)
{
  const int *of = t->types + TYPE_INTS * type;
  for (int i = CANDIDATE_RUN * of[TYPE_RUN]; i < CANDIDATE_RUN * (of[TYPE_RUN] + of[TYPE_RUNS]);
       ++i) {
    t->candidates[CANDIDATE_INTS * i + CANDIDATE_KEPT] = 1;
  }
}

static abut_status upload_tables(device *d, const tables *t, resident_broad *r)
{
  TRY(buffer_upload(d, (r->count + 1) * sizeof(int), t->links, &r->links));
  TRY(upload_reals(d, t->reals, BROAD_REALS * r->count, &r->bodies));
  TRY(buffer_upload(d, (CANDIDATE_INTS * CANDIDATE_RUN * r->runs + 1) * sizeof(int), t->candidates,
                    &r->candidates));
  return buffer_upload(d, (TYPE_INTS * r->types + 1) * sizeof(int), t->types, &r->type_runs);
}

static abut_status make(const loaded_scene *s, device *d, resident_broad *r, bool *any)
{
  tables t = {0};
  abut_status status = ABUT_SUCCESS;
  *any = false;
  TRY_DONE(make_bodies(s, &t.of));
  r->count = t.of.count;
  TRY_DONE(allocate_tables(s, r->runs, &t));
  fill_candidates(s, r->runs, &t);
  for (size_t i = 0; i < s->pair_type_count; ++i) {
    bool bounded;
    TRY_DONE(add_type(s, &s->pair_types[i], &t.of, t.boxes, &bounded));
    *any = *any || bounded;
    if (!bounded) {
      keep_all(&t, i);
    }
  }
  if (*any) {
    fill_bodies(s, &t);
    TRY_DONE(upload_tables(d, &t, r));
  }
done:
  free_tables(&t);
  return status;
}

void broad_free(resident_broad *r)
{
  if (r) {
    buffer_destroy(r->links);
    buffer_destroy(r->bodies);
    buffer_destroy(r->candidates);
    buffer_destroy(r->type_runs);
    free(r);
  }
}

bool broad_may_leave_out(const loaded_scene *s)
{
  return s->def.broad_phase && s->pair_type_count && s->group_count >= BROAD_LEAST;
}

abut_status broad_upload(const loaded_scene *s, device *d, resident_broad **out)
{
  void *memory = NULL;
  bool any;
  if (!broad_may_leave_out(s)) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&memory, 1, sizeof(resident_broad)));
  resident_broad *r = memory;
  r->runs = runs_of(s);
  r->types = s->pair_type_count;
  const abut_status status = make(s, d, r, &any);
  if (status != ABUT_SUCCESS || !any) {
    broad_free(r);
    return status;
  }
  *out = r;
  return ABUT_SUCCESS;
}

/* ---- a step ---- */

void broad_bytes(const resident_broad *r, size_t real, size_t bytes[POOL_BUFFERS])
{
  bytes[BROAD_BOXES] = r->count * BROAD_NUMBERS * real;
  bytes[BROAD_MASKS] = r->runs * sizeof(int);
  bytes[BROAD_SUMS] = (r->types + 1) * sizeof(int);
  bytes[BROAD_TOTALS] = r->types * sizeof(int);
}

static abut_status leave_out(const stepping *s, const resident_broad *r)
{
  TRY(LAUNCH(s->device, KERNEL_WORLD_BOXES, world_blocks(s), r->count, ARG_BUFFER(s->tables->head),
             OF(s, WORLD_SCRATCH), ARG_BUFFER(r->links), ARG_BUFFER(r->bodies), ARG_INT(r->count),
             ARG_INT(s->count), OF(s, BROAD_BOXES)));
  TRY(LAUNCH(s->device, KERNEL_WORLD_CANDIDATES, world_blocks(s), r->runs,
             ARG_BUFFER(r->candidates), OF(s, BROAD_BOXES), ARG_INT(r->count), ARG_INT(r->runs),
             OF(s, BROAD_MASKS), ARG_INT(s->count)));
  return LAUNCH(s->device, KERNEL_WORLD_CANDIDATES_AGAIN, s->count, r->runs,
                ARG_BUFFER(r->candidates), ARG_BUFFER(r->bodies), OF(s, BROAD_BOXES),
                ARG_INT(r->count), ARG_INT(r->runs), OF(s, BROAD_MASKS), ARG_INT(s->count));
}

static abut_status count_pairs(const stepping *s, const resident_broad *r, size_t blocks,
                               int *totals)
{
  TRY(LAUNCH(s->device, KERNEL_WORLD_PAIR_COUNTS, s->count, r->types, ARG_BUFFER(r->type_runs),
             OF(s, BROAD_MASKS), ARG_INT(r->runs), OF(s, WORLD_PAIR_COUNTS), ARG_INT(s->count)));
  TRY(LAUNCH(s->device, KERNEL_WORLD_PAIR_COUNTS_OF_ALL, s->count, 1, OF(s, WORLD_PAIR_COUNTS),
             ARG_INT(r->types), ARG_INT(s->count)));
  TRY(LAUNCH(s->device, KERNEL_WORLD_PAIR_SUMS, blocks, r->types + 1, OF(s, WORLD_PAIR_COUNTS),
             ARG_INT(blocks), OF(s, WORLD_PAIR_FIRSTS), OF(s, BROAD_SUMS), ARG_INT(s->count)));
  TRY(LAUNCH(s->device, KERNEL_WORLD_PAIR_TOTALS, 1, 1, OF(s, BROAD_SUMS), ARG_INT(blocks),
             OF(s, BROAD_TOTALS), ARG_INT(r->types)));
  return buffer_read(world_buffer_of(s, BROAD_TOTALS), 0, r->types * sizeof(int), totals);
}

/* Allocates memory for the kept world pairs. If all their possible contacts need little memory, it
 * is allocated, too. */
static abut_status make_room_for_kept(const stepping *s)
{
  const slot_pairs *own = slot_pairs_of(s);
  const size_t contacts =
    pool_is_small(s, own->most) && own->most > own->pool_room ? own->most : own->pool_room;
  const bool fits = own->count <= own->pair_room && contacts == own->pool_room;
  return fits ? ABUT_SUCCESS
              : grow_pool(s, own->count > own->pair_room ? own->count : own->pair_room, contacts);
}

abut_status find_world_pairs(const stepping *s, bool contacts)
{
  const resident_broad *r = s->tables->broad;
  const size_t blocks = (s->count + COUNT_BLOCK - 1) / COUNT_BLOCK;
  int *totals = ((steps_on *)s->on->user)->totals;
  TRY(keep_pace(s));
  TRY(leave_out(s, r));
  TRY(count_pairs(s, r, blocks, totals));
  TRY(list_pair_batches(s, totals));
  note_pairs(s);
  TRY(contacts ? list_launch_sets(s) : ABUT_SUCCESS);
  TRY(make_room_for_kept(s));
  return LAUNCH(s->device, KERNEL_WORLD_KEPT_PAIRS, s->count, r->types + 1,
                ARG_BUFFER(r->candidates), ARG_BUFFER(r->type_runs), OF(s, BROAD_MASKS),
                ARG_INT(r->runs), OF(s, BROAD_SUMS), ARG_INT(blocks), ARG_INT(r->types),
                OF(s, WORLD_PAIR_FIRSTS), OF(s, WORLD_PAIRS), ARG_INT(s->count));
}
