#include "scene/definition.h"

#include "base/limits.h"
#include "io/smoothing_file.h"
#include <math.h>
#include <string.h>

const char *const body_shape_words[BODY_SHAPES] = {"file",    "box",         "sphere",
                                                   "capsule", "cylinder",    "ellipsoid",
                                                   "plane",   "height_field"};
const size_t body_shape_sizes[BODY_SHAPES] = {0, 3, 1, 2, 2, 3, 2, 0};

void scene_def_free(scene_def *s)
{
  arena_free(&s->memory);
  memset(s, 0, sizeof *s);
}

int joint_positions(joint_type type)
{
  return JOINT_POSITIONS(type);
}

int joint_dofs(joint_type type)
{
  return JOINT_DOFS(type);
}

bool joint_moves(joint_type type)
{
  return JOINT_DOFS(type) || JOINT_CONTROLS(type);
}

size_t scene_control_count(const scene_def *s)
{
  size_t count = s->actuator_count;
  for (size_t i = 0; i < s->link_count; ++i) {
    count += (size_t)JOINT_CONTROLS(s->links[i].joint.type);
  }
  return count;
}

size_t scene_bad_quaternion(const scene_def *s, const double *q)
{
  for (size_t i = 0; i < s->link_count; ++i) {
    const joint_type type = s->links[i].joint.type;
    const double *w = q + JOINT_MOVES(type);
    if (JOINT_HAS_QUATERNION(type) && w[0] == 0.0 && w[1] == 0.0 && w[2] == 0.0 && w[3] == 0.0) {
      return i;
    }
    q += JOINT_POSITIONS(type);
  }
  return s->link_count;
}

size_t scene_root(const scene_def *s, size_t link)
{
  size_t root = link;
  for (int i = (int)link; i != WORLD; i = s->links[i].parent) {
    root = joint_dofs(s->links[i].joint.type) ? (size_t)i : root;
  }
  return root;
}

int scene_tree_dofs(const scene_def *s, size_t link)
{
  const size_t root = scene_root(s, link);
  int dofs = 0;
  for (size_t i = root; i <= link; ++i) {
    const int own = joint_dofs(s->links[i].joint.type);
    dofs += own && scene_root(s, i) == root ? own : 0;
  }
  return dofs;
}

size_t scene_body_number(const scene_def *s, size_t link)
{
  const scene_link *before = link ? &s->links[link - 1] : NULL;
  return before ? before->first_body + before->body_count : 0;
}

const scene_body *scene_side(const scene_def *s, const scene_pair *p, int side)
{
  return &s->links[p->link[side]].bodies[p->body[side]];
}

bool scene_body_is_ground(const scene_body *b)
{
  return b->shape == SHAPE_PLANE || b->shape == SHAPE_HEIGHT_FIELD;
}

size_t scene_pair_body(const scene_def *s, const scene_pair *p, int side)
{
  return scene_body_number(s, (size_t)p->link[side]) + (size_t)p->body[side];
}

bool scene_pair_is_automatic(const scene_def *s, size_t i)
{
  return i >= s->listed_count;
}

size_t scene_body_link(const scene_def *s, size_t number)
{
  size_t low = 0, high = s->link_count;
  while (high - low > 1) { /* a link without bodies starts where the next link does */
    const size_t middle = low + (high - low) / 2;
    *(s->links[middle].first_body <= number ? &low : &high) = middle;
  }
  return low;
}

double scene_column_friction(const scene_def *s, size_t column)
{
  if (column < s->listed_count) {
    return s->pairs[column].friction;
  }
  const size_t number = (size_t)s->column_bodies[column - s->listed_count];
  const scene_link *l = &s->links[scene_body_link(s, number)];
  return l->bodies[number - l->first_body].contact.friction;
}

/* The floor of fitted smoothings. With a floor the manifold lists only the active contacts, which
 * is several times as fast as computing all slots (docs/lists.md). */
#define FITTED_FLOOR 1e-3

int scene_pair_fits(const scene_def *s, const scene_pair *p)
{
  bool ground[2];
  for (int k = 0; k < 2; ++k) {
    ground[k] = scene_body_is_ground(scene_side(s, p, k));
  }
  return ground[0] == ground[1] ? -1 : ground[0];
}

bool scene_pair_states_edge_pairs(const scene_pair *p)
{
  abut_smoothing s = {.edge_contacts = ABUT_EDGES_FIELD};
  smoothing_copy_some(&p->smoothing, p->stated, &s);
  return s.edge_contacts == ABUT_EDGES_PAIRS;
}

void scene_pair_fit(scene_pair *p, const abut_smoothing *fitted)
{
  const abut_smoothing own = p->smoothing;
  p->smoothing = *fitted;
  p->smoothing.floor = FITTED_FLOOR;
  smoothing_copy_some(&own, p->stated, &p->smoothing);
  abut_smoothing *s = &p->smoothing;
  if (!s->two_sided || !s->edge_edge) {
    /* cones need the vertices and edges of both bodies */
    s->cone_inner = s->cone_outer = s->cone_hold = s->cone_inset = 0.0;
  }
  p->fitted = false;
}
