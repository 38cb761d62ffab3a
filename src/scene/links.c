#include "base/error.h"
#include "base/limits.h"
#include "body/family/height_file.h"
#include "scene/body_shapes.h"
#include "scene/parts.h"
#include <math.h>
#include <string.h>

/* relative tolerance of A + B >= C and of positive eigenvalues */
#define INERTIA_SLACK 1e-6
#define SYMMETRY_SLACK 1e-9

/* ---- joints ---- */

/* Kernels and maps move links by these numbers; see the table. */
#define JOINT_IS_KNOWN(moves, turns) \
  (((moves) <= 1 && (turns) <= 1) || ((turns) == 3 && ((moves) == 0 || (moves) == 3)))
#define CHECK_JOINT(word, id, moves, turns) \
  _Static_assert(JOINT_IS_KNOWN(moves, turns), "no link moves as a " #word " joint does");
JOINTS(CHECK_JOINT)

#define JOINT_WORD(word, id, moves, turns) #word,
const char *const joint_words[] = {JOINTS(JOINT_WORD)};

static abut_status check_type(const json_file *f, const json_at *at, const scene_link *l)
{
  const joint_type type = l->joint.type;
  const bool one = JOINT_DOFS(type) == 1;
  TRY(scene_refuse(f, at, "limits", one, "only hinges and slides have limits"));
  TRY(scene_refuse(f, at, "start", one, "only hinges and slides use it"));
  TRY(scene_refuse(f, at, "stiffness", one || (JOINT_HAS_QUATERNION(type) && !JOINT_MOVES(type)),
                   "only hinges, slides and balls use it"));
  const bool of_world = JOINT_IS_OF_WORLD(type) || type == JOINT_MOVED;
  return !of_world || l->parent == WORLD
           ? ABUT_SUCCESS
           : json_fail(f, at, "the parent of a %s joint must be the world, not link %d",
                       joint_words[type], l->parent);
}

/* Reads the three numbers of a spring limit: see joint.limit_spring. */
static abut_status read_limit_spring(const json_file *f, const json_at *joint_at, double out[3])
{
  json_at at;
  if (!json_find(joint_at, "limit_spring", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_numbers(f, &at, 3, out));
  for (size_t k = 0; k < 3; ++k) {
    if (!(out[k] > 0.0)) {
      const json_at element = json_element(&at, k);
      return json_fail(f, &element, "%.9g must be above 0", out[k]);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read_joint(reader *r, const json_at *link, scene_link *l)
{
  static const char *const keys[] = {"type",
                                     "position",
                                     "axis",
                                     "start",
                                     "damping",
                                     "armature",
                                     "stiffness",
                                     "rest",
                                     "frictionloss",
                                     "limits",
                                     "solref_limit",
                                     "solimp_limit",
                                     "solref_friction",
                                     "solimp_friction",
                                     "limit_spring"};
  const json_file *f = r->file;
  joint *j = &l->joint;
  json_at at, none = {.value = NULL};
  int type = JOINT_FIXED;
  *j = (joint){.axis = {0.0, 0.0, 1.0}, .limit_spring = {1e4, 1e-3, 0.1}};
  if (!json_find(link, "joint", &at)) {
    TRY(scene_softness(f, &none, "", "", &j->limit));
    return scene_softness(f, &none, "", "", &j->friction);
  }
  TRY(CHECK_KEYS(f, &at, keys));
  TRY(scene_word(f, &at, "type", joint_words, JOINT_TYPES, &type));
  j->type = (joint_type)type;
  TRY(check_type(f, &at, l));
  TRY(scene_vector(f, &at, "position", 3, j->position));
  TRY(scene_unit(f, &at, "axis", 3, j->axis));
  TRY(scene_number(f, &at, "start", bound_any, &j->start));
  TRY(scene_number(f, &at, "damping", bound_not_negative, &j->damping));
  TRY(scene_number(f, &at, "armature", bound_not_negative, &j->armature));
  TRY(scene_number(f, &at, "stiffness", bound_not_negative, &j->stiffness));
  TRY(scene_number(f, &at, "rest", bound_any, &j->rest));
  TRY(scene_number(f, &at, "frictionloss", bound_not_negative, &j->friction_loss));
  TRY(scene_range(f, &at, "limits", j->limits, &j->limited));
  TRY(read_limit_spring(f, &at, j->limit_spring));
  TRY(scene_softness(f, &at, "solref_limit", "solimp_limit", &j->limit));
  return scene_softness(f, &at, "solref_friction", "solimp_friction", &j->friction);
}

/* ---- mass ---- */

/* Computes the eigenvalues, in ascending order, of a symmetric matrix (3, 3) with entries of at
 * most about 1, from its characteristic polynomial (Smith 1961, Eigenvalues of a symmetric 3 x 3
 * matrix). */
static void eigenvalues(const double m[9], double out[3])
{
  const double mean = (m[0] + m[4] + m[8]) / 3.0;
  const double a = m[0] - mean, b = m[4] - mean, c = m[8] - mean;
  const double off = m[1] * m[1] + m[2] * m[2] + m[5] * m[5];
  const double p = sqrt((a * a + b * b + c * c + 2.0 * off) / 6.0);
  const double det =
    a * (b * c - m[5] * m[5]) - m[1] * (m[1] * c - m[5] * m[2]) + m[2] * (m[1] * m[5] - b * m[2]);
  const double ratio = p > 0.0 ? det / (2.0 * p * p * p) : 1.0;
  const double angle = acos(fmin(fmax(ratio, -1.0), 1.0)) / 3.0;
  out[2] = mean + 2.0 * p * cos(angle);
  out[0] = mean + 2.0 * p * cos(angle + 2.0943951023931953);
  out[1] = 3.0 * mean - out[0] - out[2];
}

/* Refuses an inertia that no body can have. An inertia that is symmetric up to rounding is made
 * exactly symmetric. */
static abut_status check_inertia(const json_file *f, const json_at *at, double m[9])
{
  double e[3], scaled[9], size = 0.0;
  for (int i = 0; i < 9; ++i) {
    size = fmax(size, fabs(m[i]));
  }
  if (size == 0.0) {
    return ABUT_SUCCESS;
  }
  for (int i = 0; i < 9; ++i) {
    scaled[i] = m[i] / size;
  }
  for (int i = 0; i < 9; ++i) {
    const int mirror = 3 * (i % 3) + i / 3;
    if (fabs(scaled[i] - scaled[mirror]) > SYMMETRY_SLACK) {
      return json_fail(f, at, "must be symmetric");
    }
    m[i] = size * (0.5 * scaled[i] + 0.5 * scaled[mirror]);
  }
  eigenvalues(scaled, e);
  if (e[0] < -INERTIA_SLACK) {
    return json_fail(f, at, "has a principal moment of %g, which is below 0", size * e[0]);
  }
  if (e[0] + e[1] < e[2] * (1.0 - INERTIA_SLACK)) {
    return json_fail(f, at,
                     "has the principal moments %g, %g and %g, which no body has: the sum of any "
                     "two must be at least the third",
                     size * e[0], size * e[1], size * e[2]);
  }
  return ABUT_SUCCESS;
}

static abut_status read_density(const json_file *f, const json_at *link, const json_at *at,
                                scene_link *l)
{
  static const char *const others[] = {"mass", "com", "inertia"};
  TRY(scene_number(f, link, "density", bound_positive, &l->density));
  for (int i = 0; i < 3; ++i) {
    TRY(scene_refuse(f, link, others[i], false, "leave it out: the density determines it"));
  }
  return l->body_count ? ABUT_SUCCESS : json_fail(f, at, "the link has no bodies");
}

static abut_status read_mass(reader *r, const json_at *link, scene_link *l)
{
  const json_file *f = r->file;
  json_at at, row;
  if (json_find(link, "density", &at)) {
    return read_density(f, link, &at, l);
  }
  TRY(scene_number(f, link, "mass", bound_not_negative, &l->mass));
  TRY(scene_vector(f, link, "com", 3, l->com));
  if (!json_find(link, "inertia", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_check_array(f, &at, 3));
  for (size_t i = 0; i < 3; ++i) {
    row = json_element(&at, i);
    TRY(json_numbers(f, &row, 3, l->inertia + 3 * i));
  }
  return check_inertia(f, &at, l->inertia);
}

/* ---- bodies ---- */

/* Reads a shape's sizes: a number if there is only one, else an array. */
static abut_status read_sizes(const json_file *f, const json_at *at, size_t count, double *out)
{
  TRY(count == 1 ? json_number(f, at, out) : json_numbers(f, at, count, out));
  for (size_t k = 0; k < count; ++k) {
    if (!(out[k] >= AXIS_LEAST && out[k] <= COORDINATE_MOST)) {
      const json_at element = json_element(at, k);
      return json_fail(f, count == 1 ? at : &element, "%.9g is not in [%g, %g]", out[k], AXIS_LEAST,
                       COORDINATE_MOST);
    }
  }
  return ABUT_SUCCESS;
}

/* Refuses capsules and cylinders that are too slender, because the number of rings in their clouds
 * is limited. */
static abut_status check_slender(const json_file *f, const json_at *at, const scene_body *b)
{
  const double r = b->size[0], half = b->size[1];
  if (half > SHAPE_SLENDER_MOST * r) {
    return json_fail(f, at, "the half length must be at most %g radii", SHAPE_SLENDER_MOST);
  }
  if (b->shape == SHAPE_CYLINDER && r > SHAPE_SLENDER_MOST * half) {
    return json_fail(f, at, "the radius must be at most %g half lengths", SHAPE_SLENDER_MOST);
  }
  return ABUT_SUCCESS;
}

/* Reads the radius of the edges of a box or a cylinder; other shapes have none. */
static abut_status read_round(const json_file *f, const json_at *body, scene_body *b)
{
  json_at at;
  if (!json_find(body, "round", &at)) {
    return ABUT_SUCCESS;
  }
  if (b->shape != SHAPE_BOX && b->shape != SHAPE_CYLINDER) {
    return json_fail(f, &at, "only a box and a cylinder can have round edges");
  }
  TRY(json_number(f, &at, &b->round));
  return body_shape_may_be_round(b->shape, b->size, b->round)
           ? ABUT_SUCCESS
           : json_fail(
               f, &at,
               "%.9g must be 0, or at least a thousandth of the shortest half length and below it",
               b->round);
}

static abut_status read_height_field(reader *r, const json_at *at, scene_body *out)
{
  void *memory;
  TRY(arena_allocate(&r->s->memory, &memory, 1, sizeof *out->heights));
  out->heights = memory;
  return height_field_read(r->file, at, false, &r->s->memory, memory);
}

/* Reads the kind of the body. Exactly one key, for a file or a shape, must be present. */
static abut_status read_shape(reader *r, const json_at *body, scene_body *out)
{
  json_at at, chosen = {.value = NULL};
  for (int i = 0; i < BODY_SHAPES; ++i) {
    if (!json_find(body, body_shape_words[i], &at)) {
      continue;
    }
    if (chosen.value) {
      return json_fail(r->file, &at, "the body is already a %s; a body has only one shape",
                       chosen.key);
    }
    chosen = at;
    out->shape = (body_shape)i;
  }
  if (!chosen.value) {
    return json_fail(r->file, body, "has no file and no shape");
  }
  if (body_shape_sizes[out->shape]) {
    TRY(read_sizes(r->file, &chosen, body_shape_sizes[out->shape], out->size));
  }
  TRY(read_round(r->file, body, out));
  if (out->shape == SHAPE_FILE) {
    return scene_path(r, &chosen, &out->file);
  }
  if (out->shape == SHAPE_HEIGHT_FIELD) {
    return read_height_field(r, &chosen, out);
  }
  return out->shape == SHAPE_CAPSULE || out->shape == SHAPE_CYLINDER
           ? check_slender(r->file, &chosen, out)
           : ABUT_SUCCESS;
}

/* Contact settings that a body does not state are taken from `automatic`. */
static abut_status read_contact(const reader *r, const json_at *body, body_contact *c)
{
  const json_file *f = r->file;
  const scene_pair *usual = &r->s->usual;
  *c = (body_contact){1, 1, usual->friction, usual->margin, usual->soft, usual->condim};
  TRY(scene_bits(f, body, "contype", &c->contype));
  TRY(scene_bits(f, body, "conaffinity", &c->conaffinity));
  TRY(scene_number(f, body, "friction", bound_not_negative, &c->friction));
  TRY(scene_number(f, body, "margin", bound_any, &c->margin));
  TRY(scene_softness_over(f, body, "solref", "solimp", &c->soft));
  return scene_condim(f, body, &c->condim);
}

static abut_status read_body(reader *r, const json_at *element, scene_body *b)
{
  static const char *const own[] = {"position",    "quaternion", "eps1",   "contype",
                                    "conaffinity", "friction",   "solref", "solimp",
                                    "condim",      "margin",     "round"};
  const char *keys[BODY_SHAPES + sizeof own / sizeof *own];
  memcpy(keys, own, sizeof own);
  memcpy(keys + sizeof own / sizeof *own, body_shape_words, sizeof body_shape_words);
  *b = (scene_body){.quaternion = {1.0, 0.0, 0.0, 0.0}};
  TRY(CHECK_KEYS(r->file, element, keys));
  TRY(read_shape(r, element, b));
  TRY(scene_number(r->file, element, "eps1", bound_positive, &b->eps1));
  TRY(read_contact(r, element, &b->contact));
  TRY(scene_vector(r->file, element, "position", 3, b->position));
  return scene_unit(r->file, element, "quaternion", 4, b->quaternion);
}

static abut_status read_bodies(reader *r, const json_at *link, scene_link *l)
{
  json_at list;
  void *memory;
  TRY(scene_list(r, link, "bodies", sizeof *l->bodies, LINKS_MOST, &list, &memory, &l->body_count));
  l->bodies = memory;
  for (size_t i = 0; i < l->body_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_body(r, &element, &l->bodies[i]));
  }
  return ABUT_SUCCESS;
}

/* ---- links ---- */

int scene_link_named(const scene_def *s, size_t count, const char *name)
{
  for (size_t i = 0; i < count; ++i) {
    if (s->links[i].name && strcmp(s->links[i].name, name) == 0) {
      return (int)i;
    }
  }
  return WORLD;
}

abut_status scene_link_of(reader *r, const json_at *at, size_t count, bool parent, int *out)
{
  const json_file *f = r->file;
  const char *before = parent ? " before this one" : "";
  json_int_t number;
  const char *name;
  if (json_is_string(at->value)) {
    TRY(json_text(f, at, &name));
    *out = scene_link_named(r->s, count, name);
    return *out != WORLD ? ABUT_SUCCESS
                         : json_fail(f, at, "there is no link with this name%s", before);
  }
  if (parent && json_is_integer(at->value) && json_integer_value(at->value) == WORLD) {
    *out = WORLD;
    return ABUT_SUCCESS;
  }
  if (!json_is_integer(at->value)) {
    return json_fail(f, at, "must be the number or the name of a link");
  }
  TRY(json_whole(f, at, LINKS_MOST, &number));
  *out = (int)number;
  return (size_t)number < count ? ABUT_SUCCESS
                                : json_fail(f, at, "there is no link %d%s", *out, before);
}

static abut_status read_name(reader *r, const json_at *link, size_t i)
{
  json_at at;
  const char *name;
  if (!json_find(link, "name", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_text(r->file, &at, &name));
  const int same = scene_link_named(r->s, i, name);
  if (same != WORLD) {
    return json_fail(r->file, &at, "link %d has the same name", same);
  }
  return scene_text(r, name, &r->s->links[i].name);
}

static abut_status read_link(reader *r, const json_at *element, size_t i)
{
  static const char *const keys[] = {"name", "parent",  "position", "quaternion", "mass",
                                     "com",  "inertia", "density",  "bodies",     "joint"};
  scene_link *l = &r->s->links[i];
  json_at at;
  *l = (scene_link){.parent = WORLD, .quaternion = {1.0, 0.0, 0.0, 0.0}};
  TRY(CHECK_KEYS(r->file, element, keys));
  TRY(read_name(r, element, i));
  if (json_find(element, "parent", &at)) {
    TRY(scene_link_of(r, &at, i, true, &l->parent));
  }
  TRY(scene_vector(r->file, element, "position", 3, l->position));
  TRY(scene_unit(r->file, element, "quaternion", 4, l->quaternion));
  TRY(read_bodies(r, element, l));
  TRY(read_joint(r, element, l));
  return read_mass(r, element, l);
}

static abut_status check_tree(const reader *r, const json_at *element, size_t i)
{
  const int dofs = scene_tree_dofs(r->s, i);
  return dofs <= TREE_DOFS_MOST
           ? ABUT_SUCCESS
           : json_fail(
               r->file, element,
               "up to here a tree of links has %d degrees of freedom; at most %d are possible",
               dofs, TREE_DOFS_MOST);
}

abut_status scene_links(reader *r, const json_at *root)
{
  json_at list;
  void *memory = NULL;
  int dofs = 0;
  TRY(json_need(r->file, root, "links", &list));
  TRY(scene_list(r, root, "links", sizeof(scene_link), LINKS_MOST, &list, &memory,
                 &r->s->link_count));
  r->s->links = memory;
  for (size_t i = 0; i < r->s->link_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_link(r, &element, i));
    r->s->links[i].first_body = scene_body_number(r->s, i);
    dofs += joint_dofs(r->s->links[i].joint.type);
    if (dofs > SCENE_DOFS_MOST) {
      return json_fail(r->file, &element,
                       "up to here the links have %d degrees of freedom; at most %d are possible",
                       dofs, SCENE_DOFS_MOST);
    }
    if (joint_dofs(r->s->links[i].joint.type)) {
      TRY(check_tree(r, &element, i));
    }
  }
  return r->s->link_count ? ABUT_SUCCESS
                          : json_fail(r->file, &list, "must contain at least one link");
}
