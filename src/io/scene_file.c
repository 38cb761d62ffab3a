#include "io/scene_file.h"

#include "base/error.h"
#include "io/json.h"
#include "io/smoothing_file.h"
#include "io/whole_file.h"
#include <abut/files.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MOST 4096
#define FRICTION_LEAST 1e-5
#define INERTIA_SLACK 1e-6 /* relative: of A + B >= C, and of eigenvalues not below 0 */

typedef struct reader {
  const json_file *file;
  scene_def *s;
} reader;

/* ---- numbers with defaults and bounds ---- */

typedef struct bound {
  double least, most;
  bool open; /* `least` itself is not allowed */
} bound;

static const bound any_number = {-DBL_MAX, DBL_MAX, false};
static const bound not_negative = {0.0, DBL_MAX, false};
static const bound positive = {0.0, DBL_MAX, true};

static abut_status in_bound(const json_file *f, const json_at *at, bound b, double x)
{
  const bool fits = (b.open ? x > b.least : x >= b.least) && x <= b.most;
  return fits ? ABUT_SUCCESS
              : json_fail(f, at, "%.9g is not %s %g", x, b.open ? "above" : "at least", b.least);
}

/* A number that may be missing: *out stays then. */
static abut_status read_number(const json_file *f, const json_at *parent, const char *key, bound b,
                               double *out)
{
  json_at at;
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_number(f, &at, out));
  return in_bound(f, &at, b, *out);
}

static abut_status read_vector(const json_file *f, const json_at *parent, const char *key,
                               size_t count, double *out)
{
  json_at at;
  return json_find(parent, key, &at) ? json_numbers(f, &at, count, out) : ABUT_SUCCESS;
}

static abut_status read_count(const json_file *f, const json_at *parent, const char *key, int least,
                              int *out)
{
  json_at at;
  json_int_t value;
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_whole(f, &at, INT32_MAX, &value));
  *out = (int)value;
  return value >= least ? ABUT_SUCCESS : json_fail(f, &at, "%d is below %d", *out, least);
}

/* A vector of length above 0, made of length 1. */
static abut_status read_unit(const json_file *f, const json_at *parent, const char *key,
                             size_t count, double *out)
{
  json_at at;
  double square = 0.0;
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_numbers(f, &at, count, out));
  for (size_t k = 0; k < count; ++k) {
    square += out[k] * out[k];
  }
  if (!(square > 0.0) || !isfinite(square)) {
    return json_fail(f, &at, "a length of %g", sqrt(square));
  }
  for (size_t k = 0; k < count; ++k) {
    out[k] /= sqrt(square);
  }
  return ABUT_SUCCESS;
}

static abut_status read_range(const json_file *f, const json_at *parent, const char *key,
                              double out[2], bool *there)
{
  json_at at;
  *there = json_find(parent, key, &at);
  if (!*there) {
    return ABUT_SUCCESS;
  }
  TRY(json_numbers(f, &at, 2, out));
  return out[0] < out[1] ? ABUT_SUCCESS
                         : json_fail(f, &at, "%.9g is not below %.9g", out[0], out[1]);
}

/* One of several words; *out stays where the key is missing. */
static abut_status read_word(const json_file *f, const json_at *parent, const char *key,
                             const char *const *words, int count, int *out)
{
  json_at at;
  const char *text;
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_text(f, &at, &text));
  for (int i = 0; i < count; ++i) {
    if (strcmp(text, words[i]) == 0) {
      *out = i;
      return ABUT_SUCCESS;
    }
  }
  return json_fail(f, &at, "\"%s\" is not known here; \"%s\" is", text, words[0]);
}

static abut_status hold_text(reader *r, const char *before, size_t folder, const char *text,
                             char **out)
{
  void *memory;
  const size_t length = strlen(text);
  TRY(arena_allocate(&r->s->memory, &memory, folder + length + 1, 1));
  *out = memory;
  memcpy(*out, before, folder);
  memcpy(*out + folder, text, length + 1);
  return ABUT_SUCCESS;
}

/* A file's name, found from the scene's folder. */
static abut_status hold_path(reader *r, const json_at *at, char **out)
{
  const char *text;
  TRY(json_text(r->file, at, &text));
  if (!*text) {
    return json_fail(r->file, at, "an empty path");
  }
  const char *slash = strrchr(r->file->name, '/');
  const size_t folder = slash && *text != '/' ? (size_t)(slash - r->file->name) + 1 : 0;
  return hold_text(r, r->file->name, folder, text, out);
}

/* ---- softness ---- */

static const softness default_softness = {{0.02, 1.0}, {0.9, 0.95, 0.001, 0.5, 2.0}};

static double clip(double x, double low, double high)
{
  return fmin(fmax(x, low), high);
}

static abut_status read_softness(const json_file *f, const json_at *parent, const char *solref,
                                 const char *solimp, softness *out)
{
  json_at at;
  *out = default_softness;
  TRY(read_vector(f, parent, solref, 2, out->solref));
  const double *r = out->solref;
  if (!((r[0] > 0.0 && r[1] > 0.0) || (r[0] <= 0.0 && r[1] <= 0.0))) {
    json_find(parent, solref, &at);
    return json_fail(f, &at, "neither both above 0 nor both not above 0");
  }
  TRY(read_vector(f, parent, solimp, 5, out->solimp));
  double *d = out->solimp;
  d[0] = clip(d[0], 1e-4, 0.9999);
  d[1] = clip(d[1], 1e-4, 0.9999);
  d[3] = clip(d[3], 1e-4, 0.9999);
  d[4] = fmax(d[4], 1.0);
  return ABUT_SUCCESS;
}

/* ---- links ---- */

static const char *const joint_words[] = {"fixed", "hinge", "slide", "ball", "free"};

static abut_status refuse_key(const json_file *f, const json_at *parent, const char *key,
                              bool allowed, const char *whose)
{
  json_at at;
  return allowed || !json_find(parent, key, &at) ? ABUT_SUCCESS : json_fail(f, &at, "%s", whose);
}

static abut_status read_joint(reader *r, const json_at *link, scene_link *l)
{
  static const char *const keys[] = {"type",           "position",     "axis",
                                     "damping",        "armature",     "stiffness",
                                     "rest",           "frictionloss", "limits",
                                     "solref_limit",   "solimp_limit", "solref_friction",
                                     "solimp_friction"};
  const json_file *f = r->file;
  joint *j = &l->joint;
  json_at at;
  int type = JOINT_FIXED;
  *j = (joint){.axis = {0.0, 0.0, 1.0}, .limit = default_softness, .friction = default_softness};
  if (!json_find(link, "joint", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_check_keys(f, &at, keys, sizeof keys / sizeof *keys));
  TRY(read_word(f, &at, "type", joint_words, 5, &type));
  j->type = (joint_type)type;
  const bool one = type == JOINT_HINGE || type == JOINT_SLIDE;
  TRY(refuse_key(f, &at, "limits", one, "only hinges and slides have limits"));
  TRY(refuse_key(f, &at, "stiffness", one || type == JOINT_BALL,
                 "only hinges, slides and balls have "
                 "a spring"));
  if (type == JOINT_FREE && l->parent != WORLD) {
    return json_fail(f, &at, "a free joint's parent is the world");
  }
  TRY(read_vector(f, &at, "position", 3, j->position));
  TRY(read_unit(f, &at, "axis", 3, j->axis));
  TRY(read_number(f, &at, "damping", not_negative, &j->damping));
  TRY(read_number(f, &at, "armature", not_negative, &j->armature));
  TRY(read_number(f, &at, "stiffness", not_negative, &j->stiffness));
  TRY(read_number(f, &at, "rest", any_number, &j->rest));
  TRY(read_number(f, &at, "frictionloss", not_negative, &j->friction_loss));
  TRY(read_range(f, &at, "limits", j->limits, &j->limited));
  TRY(read_softness(f, &at, "solref_limit", "solimp_limit", &j->limit));
  return read_softness(f, &at, "solref_friction", "solimp_friction", &j->friction);
}

/* Half of the difference of sums of moments: eigenvalues by the characteristic polynomial of a
 * symmetric matrix (Smith 1961). */
static void eigenvalues(const double m[9], double out[3])
{
  const double mean = (m[0] + m[4] + m[8]) / 3.0;
  const double a = m[0] - mean, b = m[4] - mean, c = m[8] - mean;
  const double off = m[1] * m[1] + m[2] * m[2] + m[5] * m[5];
  const double p = sqrt((a * a + b * b + c * c + 2.0 * off) / 6.0);
  const double det =
    a * (b * c - m[5] * m[5]) - m[1] * (m[1] * c - m[5] * m[2]) + m[2] * (m[1] * m[5] - b * m[2]);
  const double angle = p > 0.0 ? acos(clip(det / (2.0 * p * p * p), -1.0, 1.0)) / 3.0 : 0.0;
  out[2] = mean + 2.0 * p * cos(angle);
  out[0] = mean + 2.0 * p * cos(angle + 2.0943951023931953);
  out[1] = 3.0 * mean - out[0] - out[2];
}

static abut_status check_inertia(const json_file *f, const json_at *at, const double m[9])
{
  double e[3];
  const double size = fabs(m[0]) + fabs(m[4]) + fabs(m[8]);
  for (int i = 0; i < 9; ++i) {
    if (fabs(m[i] - m[3 * (i % 3) + i / 3]) > 1e-9 * size) {
      return json_fail(f, at, "is not symmetric");
    }
  }
  eigenvalues(m, e);
  if (e[0] < -INERTIA_SLACK * size) {
    return json_fail(f, at, "has a moment of %g, below 0", e[0]);
  }
  if (e[0] + e[1] < e[2] * (1.0 - INERTIA_SLACK)) {
    return json_fail(f, at, "no body has moments of %g, %g and %g: two are at least the third",
                     e[0], e[1], e[2]);
  }
  return ABUT_SUCCESS;
}

static abut_status read_mass(reader *r, const json_at *link, scene_link *l)
{
  const json_file *f = r->file;
  json_at at, row;
  if (json_find(link, "density", &at)) {
    TRY(read_number(f, link, "density", positive, &l->density));
    for (int i = 0; i < 3; ++i) {
      static const char *const others[] = {"mass", "com", "inertia"};
      TRY(refuse_key(f, link, others[i], false, "the density gives it"));
    }
    return l->body_count ? ABUT_SUCCESS : json_fail(f, &at, "the link has no bodies");
  }
  TRY(read_number(f, link, "mass", not_negative, &l->mass));
  TRY(read_vector(f, link, "com", 3, l->com));
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

static abut_status read_bodies(reader *r, const json_at *link, scene_link *l)
{
  static const char *const keys[] = {"file", "position", "quaternion"};
  json_at list, at;
  void *memory;
  if (!json_find(link, "bodies", &list)) {
    return ABUT_SUCCESS;
  }
  TRY(json_check_array(r->file, &list, 0));
  l->body_count = json_array_size(list.value);
  TRY(arena_allocate(&r->s->memory, &memory, l->body_count, sizeof *l->bodies));
  l->bodies = memory;
  for (size_t i = 0; i < l->body_count; ++i) {
    const json_at element = json_element(&list, i);
    scene_body *b = &l->bodies[i];
    *b = (scene_body){.quaternion = {1.0, 0.0, 0.0, 0.0}};
    TRY(json_check_keys(r->file, &element, keys, sizeof keys / sizeof *keys));
    TRY(json_need(r->file, &element, "file", &at));
    TRY(hold_path(r, &at, &b->file));
    TRY(read_vector(r->file, &element, "position", 3, b->position));
    TRY(read_unit(r->file, &element, "quaternion", 4, b->quaternion));
  }
  return ABUT_SUCCESS;
}

/* A link by its number or its name, of the first `count`; -1 is the world where `world` says so. */
static abut_status read_link_of(reader *r, const json_at *at, size_t count, bool world, int *out)
{
  const json_file *f = r->file;
  json_int_t number;
  const char *name;
  if (!json_is_string(at->value)) {
    if (world && json_is_integer(at->value) && json_integer_value(at->value) == WORLD) {
      *out = WORLD;
      return ABUT_SUCCESS;
    }
    TRY(json_whole(f, at, (json_int_t)LINKS_MOST, &number));
    *out = (int)number;
    return (size_t)number < count ? ABUT_SUCCESS
                                  : json_fail(f, at, "there is no link %d before", (int)number);
  }
  TRY(json_text(f, at, &name));
  for (size_t i = 0; i < count; ++i) {
    if (r->s->links[i].name && strcmp(r->s->links[i].name, name) == 0) {
      *out = (int)i;
      return ABUT_SUCCESS;
    }
  }
  return json_fail(f, at, "there is no link \"%s\"%s", name, world ? " before" : "");
}

static abut_status read_name(reader *r, const json_at *link, size_t i)
{
  json_at at;
  const char *name;
  if (!json_find(link, "name", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_text(r->file, &at, &name));
  for (size_t k = 0; k < i; ++k) {
    if (r->s->links[k].name && strcmp(r->s->links[k].name, name) == 0) {
      return json_fail(r->file, &at, "link %zu has the same name", k);
    }
  }
  return hold_text(r, "", 0, name, &r->s->links[i].name);
}

static abut_status read_link(reader *r, const json_at *element, size_t i)
{
  static const char *const keys[] = {"name", "parent",  "position", "quaternion", "mass",
                                     "com",  "inertia", "density",  "bodies",     "joint"};
  scene_link *l = &r->s->links[i];
  json_at at;
  *l = (scene_link){.parent = WORLD, .quaternion = {1.0, 0.0, 0.0, 0.0}};
  TRY(json_check_keys(r->file, element, keys, sizeof keys / sizeof *keys));
  TRY(read_name(r, element, i));
  if (json_find(element, "parent", &at)) {
    TRY(read_link_of(r, &at, i, true, &l->parent));
  }
  TRY(read_vector(r->file, element, "position", 3, l->position));
  TRY(read_unit(r->file, element, "quaternion", 4, l->quaternion));
  TRY(read_bodies(r, element, l));
  TRY(read_joint(r, element, l));
  return read_mass(r, element, l);
}

/* An array of things, which may be missing. */
static abut_status read_list(reader *r, const json_at *root, const char *key, size_t size,
                             size_t most, json_at *list, void **out, size_t *count)
{
  *count = 0;
  if (!json_find(root, key, list)) {
    return ABUT_SUCCESS;
  }
  TRY(json_check_array(r->file, list, 0));
  *count = json_array_size(list->value);
  if (*count > most) {
    return json_fail(r->file, list, "%zu are too many, of at most %zu", *count, most);
  }
  return arena_allocate(&r->s->memory, out, *count, size);
}

static abut_status read_links(reader *r, const json_at *root)
{
  json_at list;
  void *memory = NULL;
  TRY(json_need(r->file, root, "links", &list));
  TRY(
    read_list(r, root, "links", sizeof(scene_link), LINKS_MOST, &list, &memory, &r->s->link_count));
  r->s->links = memory;
  for (size_t i = 0; i < r->s->link_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_link(r, &element, i));
  }
  return r->s->link_count ? ABUT_SUCCESS : json_fail(r->file, &list, "there is no link");
}

/* ---- actuators ---- */

static abut_status read_actuator(reader *r, const json_at *element, actuator *a)
{
  static const char *const keys[] = {"kind", "joint", "dof", "gear", "kp", "kv", "force_limits"};
  static const char *const words[] = {"motor", "position", "velocity"};
  const json_file *f = r->file;
  json_at at;
  int kind = ACTUATOR_MOTOR;
  *a = (actuator){.gear = 1.0};
  TRY(json_check_keys(f, element, keys, sizeof keys / sizeof *keys));
  TRY(json_need(f, element, "kind", &at));
  TRY(read_word(f, element, "kind", words, 3, &kind));
  a->kind = (actuator_kind)kind;
  TRY(json_need(f, element, "joint", &at));
  TRY(read_link_of(r, &at, r->s->link_count, false, &a->link));
  const joint_type type = r->s->links[a->link].joint.type;
  if (type == JOINT_FIXED || (kind != ACTUATOR_MOTOR && joint_dofs(type) != 1)) {
    return json_fail(f, &at, "a %s joint takes no %s", joint_words[type], words[kind]);
  }
  TRY(refuse_key(f, element, "dof", kind == ACTUATOR_MOTOR, "only motors choose a dof"));
  TRY(read_count(f, element, "dof", 0, &a->dof));
  if (a->dof >= joint_dofs(type)) {
    json_find(element, "dof", &at);
    return json_fail(f, &at, "the joint has %d", joint_dofs(type));
  }
  TRY(read_number(f, element, "gear", any_number, &a->gear));
  TRY(read_number(f, element, "kp", any_number, &a->kp));
  TRY(read_number(f, element, "kv", any_number, &a->kv));
  return read_range(f, element, "force_limits", a->force_limits, &a->limited);
}

static abut_status read_actuators(reader *r, const json_at *root)
{
  json_at list;
  void *memory = NULL;
  TRY(read_list(r, root, "actuators", sizeof(actuator), LINKS_MOST, &list, &memory,
                &r->s->actuator_count));
  r->s->actuators = memory;
  for (size_t i = 0; i < r->s->actuator_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_actuator(r, &element, &r->s->actuators[i]));
  }
  return ABUT_SUCCESS;
}

/* ---- pairs ---- */

/* [link, body], or a link's name for its first body. */
static abut_status read_side(reader *r, const json_at *element, const char *key, int *link,
                             int *body)
{
  json_at at, part;
  json_int_t number = 0;
  TRY(json_need(r->file, element, key, &at));
  if (json_is_string(at.value)) {
    TRY(read_link_of(r, &at, r->s->link_count, false, link));
  } else {
    TRY(json_check_array(r->file, &at, 2));
    part = json_element(&at, 0);
    TRY(read_link_of(r, &part, r->s->link_count, false, link));
    part = json_element(&at, 1);
    TRY(json_whole(r->file, &part, INT32_MAX, &number));
  }
  *body = (int)number;
  const size_t count = r->s->links[*link].body_count;
  return (size_t)number < count
           ? ABUT_SUCCESS
           : json_fail(r->file, &at, "link %d has %zu bodies, no body %d", *link, count, *body);
}

/* Whether a link can move against another: some joint on the way between them has a dof. */
static bool moves_against(const scene_def *s, int a, int b)
{
  while (a != b) { /* parents come before children */
    const int below = a > b ? a : b;
    if (joint_dofs(s->links[below].joint.type)) {
      return true;
    }
    *(a > b ? &a : &b) = s->links[below].parent;
  }
  return false;
}

static abut_status read_smoothing_of(reader *r, const json_at *element, scene_pair *p)
{
  json_at at;
  char *path;
  p->fitted = !json_find(element, "smoothing", &at);
  if (p->fitted) {
    return ABUT_SUCCESS;
  }
  p->smoothing = abut_default_smoothing();
  if (json_is_object(at.value)) {
    return smoothing_read(r->file, &at, &p->smoothing);
  }
  TRY(hold_path(r, &at, &path));
  return abut_load_smoothing(path, &p->smoothing);
}

static abut_status read_pair(reader *r, const json_at *element, scene_pair *p)
{
  static const char *const keys[] = {"a",      "b",      "friction", "solref",
                                     "solimp", "condim", "margin",   "smoothing"};
  const json_file *f = r->file;
  json_at a, b;
  *p = (scene_pair){.link = {WORLD, WORLD}, .friction = 0.8, .condim = 3};
  TRY(json_check_keys(f, element, keys, sizeof keys / sizeof *keys));
  if (json_find(element, "a", &a) || json_find(element, "b", &b)) {
    TRY(read_side(r, element, "a", &p->link[0], &p->body[0]));
    TRY(read_side(r, element, "b", &p->link[1], &p->body[1]));
    if (!moves_against(r->s, p->link[0], p->link[1])) {
      return json_fail(f, element, "its links do not move against each other");
    }
  }
  TRY(read_number(f, element, "friction", not_negative, &p->friction));
  p->friction = fmax(p->friction, FRICTION_LEAST);
  TRY(read_number(f, element, "margin", any_number, &p->margin));
  TRY(read_softness(f, element, "solref", "solimp", &p->soft));
  TRY(read_count(f, element, "condim", 1, &p->condim));
  if (p->condim != 1 && p->condim != 3) {
    json_find(element, "condim", &a);
    return json_fail(f, &a, "neither 1 nor 3");
  }
  return read_smoothing_of(r, element, p);
}

static abut_status read_pairs(reader *r, const json_at *root)
{
  json_at list;
  void *memory = NULL;
  TRY(read_list(r, root, "pairs", sizeof(scene_pair), (size_t)LINKS_MOST * LINKS_MOST, &list,
                &memory, &r->s->pair_count));
  r->s->pairs = memory;
  for (size_t i = 0; i < r->s->pair_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_pair(r, &element, &r->s->pairs[i]));
  }
  return ABUT_SUCCESS;
}

/* ---- settings ---- */

static abut_status read_settings(reader *r, const json_at *root)
{
  static const char *const integrators[] = {"euler", "rk4"};
  static const char *const cones[] = {"elliptic", "pyramidal"};
  static const char *const diagonals[] = {"approximate", "exact"};
  static const char *const models[] = {"cone"};
  const json_file *f = r->file;
  scene_def *s = r->s;
  int word[4] = {0}, capacity = 0;
  TRY(read_word(f, root, "contact_model", models, 1, &word[3]));
  TRY(read_number(f, root, "timestep", positive, &s->timestep));
  TRY(read_vector(f, root, "gravity", 3, s->gravity));
  TRY(read_word(f, root, "integrator", integrators, 2, &word[0]));
  TRY(read_word(f, root, "cone", cones, 2, &word[1]));
  TRY(read_word(f, root, "diagonal", diagonals, 2, &word[2]));
  s->integrator = (integrator)word[0];
  s->pyramidal = word[1];
  s->exact_diagonal = word[2];
  TRY(read_number(f, root, "impratio", positive, &s->impratio));
  TRY(read_count(f, root, "iterations", 1, &s->iterations));
  TRY(read_number(f, root, "tolerance", positive, &s->tolerance));
  TRY(read_count(f, root, "line_iterations", 1, &s->line_iterations));
  TRY(read_number(f, root, "line_tolerance", positive, &s->line_tolerance));
  TRY(read_number(f, root, "cone_smoothing", not_negative, &s->cone_smoothing));
  TRY(read_number(f, root, "limit_smoothing", not_negative, &s->limit_smoothing));
  TRY(read_number(f, root, "divergence", positive, &s->divergence));
  TRY(read_count(f, root, "capacity", 0, &capacity));
  s->capacity = (size_t)capacity;
  return ABUT_SUCCESS;
}

static abut_status read_root(reader *r, const json_at *root)
{
  static const char *const keys[] = {"timestep",       "gravity",        "integrator",
                                     "cone",           "impratio",       "diagonal",
                                     "iterations",     "tolerance",      "line_iterations",
                                     "line_tolerance", "cone_smoothing", "limit_smoothing",
                                     "capacity",       "divergence",     "contact_model",
                                     "links",          "actuators",      "pairs"};
  *r->s = (scene_def){.timestep = 0.002,
                      .gravity = {0.0, 0.0, -9.81},
                      .impratio = 1.0,
                      .iterations = 30,
                      .line_iterations = 30,
                      .line_tolerance = 1e-3,
                      .divergence = 1e6};
  TRY(json_check_keys(r->file, root, keys, sizeof keys / sizeof *keys));
  TRY(read_settings(r, root));
  TRY(read_links(r, root));
  TRY(read_actuators(r, root));
  return read_pairs(r, root);
}

abut_status scene_file_parse(const char *name, const char *bytes, size_t count, scene_def *out)
{
  json_file f;
  json_at root;
  memset(out, 0, sizeof *out);
  abut_status status = json_file_open(&f, name, bytes, count, &root);
  if (status == ABUT_SUCCESS) {
    reader r = {&f, out};
    status = read_root(&r, &root);
  }
  json_file_close(&f);
  if (status != ABUT_SUCCESS) {
    scene_def_free(out);
  }
  return status;
}

abut_status scene_file_read(const char *path, scene_def *out)
{
  char *bytes = NULL;
  size_t count = 0;
  memset(out, 0, sizeof *out);
  abut_status status = whole_file_read(path, &bytes, &count);
  if (status == ABUT_SUCCESS) {
    status = scene_file_parse(path, bytes, count, out);
  }
  free(bytes);
  return status;
}
