#include "scene/trees.h"

#include "base/error.h"

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

/* Says of which tree the degrees of freedom of a link are, and counts them there. Roots come before
 * all others. */
static void add_link(const scene_def *s, const int *vadr, size_t link, scene_trees *out)
{
  const size_t root = scene_root(s, link);
  for (int k = 0; k < joint_dofs(s->links[link].joint.type); ++k) {
    const int dof = vadr[link] + k;
    const int tree = root == link && k == 0 ? out->count++ : out->of[vadr[root]];
    out->of[dof] = tree;
    out->place[dof] = out->at[tree].count++;
  }
}

abut_status trees_make(const scene_def *s, const int *vadr, int nv, arena *memory, scene_trees *out)
{
  int first = 0;
  TRY(make_room(nv, memory, out));
  for (size_t i = 0; i < s->link_count; ++i) {
    add_link(s, vadr, i, out);
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
