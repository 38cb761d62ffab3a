#include "scene/trees.h"

#include "base/error.h"
#include "scene/file.h"

static abut_status make_room(int nv, arena *memory, scene_trees *out)
{
  void *at;
  TRY(arena_allocate(memory, &at, (size_t)nv, sizeof *out->at));
  out->at = at;
  TRY(arena_allocate(memory, &at, (size_t)nv, sizeof *out->of));
  out->of = at;
  TRY(arena_allocate(memory, &at, (size_t)nv, sizeof *out->place));
  out->place = at;
  TRY(arena_allocate(memory, &at, (size_t)nv, sizeof *out->dofs));
  out->dofs = at;
  return ABUT_SUCCESS;
}

/* ---- trees joined by equalities ---- */

/* Returns the root link that represents the tree of a link among all joined trees. */
static size_t joined_root(const scene_def *s, const int *joined, size_t link)
{
  size_t root = scene_root(s, link);
  while ((size_t)joined[root] != root) {
    root = (size_t)joined[root];
  }
  return root;
}

/* Joins the tree of `other` to that of *link, unless *link is WORLD, and sets *link to `other`.
 * Does nothing if `other` is WORLD or cannot move. */
static void join(const scene_def *s, int *joined, int *link, int other)
{
  if (other == WORLD || !joint_dofs(s->links[scene_root(s, (size_t)other)].joint.type)) {
    return;
  }
  if (*link != WORLD) {
    const size_t a = joined_root(s, joined, (size_t)*link),
                 b = joined_root(s, joined, (size_t)other);
    joined[a > b ? a : b] = (int)(a > b ? b : a);
  }
  *link = other;
}

static void join_equality(const scene_def *s, const equality *e, int *joined)
{
  int link = WORLD;
  for (int side = 0; side < 2; ++side) {
    if (e->kind != EQUALITY_OF_TENDONS) {
      join(s, joined, &link, e->of[side]);
      continue;
    }
    const tendon *t = e->of[side] == NOTHING ? NULL : &s->tendons[e->of[side]];
    for (size_t k = 0; t && k < t->part_count; ++k) {
      join(s, joined, &link, t->parts[k].link);
    }
  }
}

/* ---- trees ---- */

/* Assigns the degrees of freedom of a link to its tree and counts them there. known (links) has the
 * tree of each root seen so far, else -1. */
static abut_status add_link(const scene_def *s, const int *vadr, size_t link, const int *joined,
                            int *known, scene_trees *out)
{
  const int dofs = joint_dofs(s->links[link].joint.type);
  const size_t root = dofs ? joined_root(s, joined, link) : 0;
  for (int k = 0; k < dofs; ++k) {
    const int dof = vadr[link] + k, tree = known[root] < 0 ? out->count++ : known[root];
    known[root] = tree;
    out->of[dof] = tree;
    out->place[dof] = out->at[tree].count++;
    if (out->at[tree].count > TREE_DOFS_MOST) {
      return scene_fail(s, (scene_place){"links", link, NULL, false, 0},
                        "up to here the links that joints and equalities connect have more than %d "
                        "degrees of freedom; at most that many are possible",
                        TREE_DOFS_MOST);
    }
  }
  return ABUT_SUCCESS;
}

abut_status trees_make(const scene_def *s, const int *vadr, int nv, arena *memory, scene_trees *out)
{
  int first = 0;
  void *at;
  TRY(make_room(nv, memory, out));
  TRY(arena_allocate(memory, &at, 2 * s->link_count, sizeof(int)));
  int *joined = at, *known = joined + s->link_count;
  for (size_t i = 0; i < s->link_count; ++i) {
    joined[i] = (int)i;
    known[i] = -1;
  }
  for (size_t i = 0; i < s->equality_count; ++i) {
    join_equality(s, &s->equalities[i], joined);
  }
  for (size_t i = 0; i < s->link_count; ++i) {
    TRY(add_link(s, vadr, i, joined, known, out));
  }
  for (int i = 0; i < out->count; ++i) {
    out->at[i].first = first;
    out->at[i].block = out->blocks;
    first += out->at[i].count;
    out->blocks += out->at[i].count * out->at[i].count;
  }
  for (int i = 0; i < nv; ++i) {
    out->dofs[out->at[out->of[i]].first + out->place[i]] = i;
  }
  return ABUT_SUCCESS;
}

int trees_place(const scene_trees *t, int a, int b)
{
  const scene_tree *of = &t->at[t->of[a]];
  return of->block + t->place[a] * of->count + t->place[b];
}
