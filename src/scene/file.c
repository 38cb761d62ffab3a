#include "scene/file.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/mesh_formats.h"
#include "format/whole_file.h"
#include "scene/law.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ACTUATORS_MOST 4096
#define STARTS_MOST 4096

/* ---- actuators ---- */

/* Reads the target of an actuator: a joint or a tendon. */
static abut_status read_moved(reader *r, const json_at *element, const char *word, actuator *a)
{
  const json_file *f = r->file;
  json_at at;
  if (json_find(element, "tendon", &at)) {
    TRY(scene_tendon_of(r, &at, &a->tendon));
    TRY(scene_refuse(f, element, "joint", false, "the actuator already has a tendon"));
    return scene_refuse(f, element, "dof", false,
                        "only joints use it, because a tendon has only one length");
  }
  TRY(json_need(f, element, "joint", &at));
  TRY(scene_link_of(r, &at, r->s->link_count, false, &a->link));
  const joint_type type = r->s->links[a->link].joint.type;
  const bool motor = a->kind == ACTUATOR_MOTOR;
  if (!joint_dofs(type) || (!motor && joint_dofs(type) != 1)) {
    return json_fail(f, &at, "a %s joint cannot have an actuator of kind \"%s\"", joint_words[type],
                     word);
  }
  TRY(scene_refuse(f, element, "dof", motor, "only motors use it"));
  TRY(scene_count(f, element, "dof", 0, &a->dof));
  if (a->dof >= joint_dofs(type)) {
    json_find(element, "dof", &at);
    return json_fail(f, &at, "the joint has %d degrees of freedom; the dof is 0-based",
                     joint_dofs(type));
  }
  return ABUT_SUCCESS;
}

static abut_status read_actuator(reader *r, const json_at *element, actuator *a)
{
  static const char *const keys[] = {"kind", "joint",        "tendon",        "dof",
                                     "gear", "gain",         "bias",          "kp",
                                     "kv",   "force_limits", "control_limits"};
  static const char *const words[] = {"motor", "position", "velocity", "affine"};
  const json_file *f = r->file;
  json_at at;
  int kind = ACTUATOR_MOTOR;
  *a = (actuator){.gear = 1.0, .gain = 1.0, .tendon = NOTHING};
  TRY(CHECK_KEYS(f, element, keys));
  TRY(json_need(f, element, "kind", &at));
  TRY(scene_word(f, element, "kind", words, 4, &kind));
  a->kind = (actuator_kind)kind;
  TRY(read_moved(r, element, words[kind], a));
  TRY(scene_number(f, element, "gear", bound_any, &a->gear));
  const bool affine = kind == ACTUATOR_AFFINE;
  TRY(scene_refuse(f, element, "gain", affine, "only affine actuators use it"));
  TRY(scene_refuse(f, element, "bias", affine, "only affine actuators use it"));
  TRY(scene_number(f, element, "gain", bound_any, &a->gain));
  TRY(scene_number(f, element, "bias", bound_any, &a->bias));
  TRY(scene_number(f, element, "kp", bound_any, &a->kp));
  TRY(scene_number(f, element, "kv", bound_any, &a->kv));
  a->kp = kind == ACTUATOR_POSITION || affine ? a->kp : 0.0;
  a->kv = kind == ACTUATOR_MOTOR ? 0.0 : a->kv;
  a->gain = kind == ACTUATOR_POSITION ? a->kp : kind == ACTUATOR_VELOCITY ? a->kv : a->gain;
  TRY(scene_range(f, element, "control_limits", a->control_limits, &a->clamped));
  return scene_range(f, element, "force_limits", a->force_limits, &a->limited);
}

static abut_status read_actuators(reader *r, const json_at *root)
{
  json_at list;
  void *memory;
  TRY(scene_list(r, root, "actuators", sizeof(actuator), ACTUATORS_MOST, &list, &memory,
                 &r->s->actuator_count));
  r->s->actuators = memory;
  for (size_t i = 0; i < r->s->actuator_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_actuator(r, &element, &r->s->actuators[i]));
  }
  return ABUT_SUCCESS;
}

/* ---- initial states ---- */

/* Reads an array of an initial state; zeros if it is missing. `what` names the owners of its
 * numbers. */
static abut_status read_row(reader *r, const json_at *start, const char *key, size_t count,
                            const char *what, double **out)
{
  json_at at;
  void *memory;
  TRY(arena_allocate(&r->s->memory, &memory, count + 1, sizeof(double)));
  *out = memory;
  if (!json_find(start, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_check_array(r->file, &at, 0));
  const size_t given = json_array_size(at.value);
  if (given != count) {
    return json_fail(r->file, &at, "has %zu numbers, but the scene has %zu %s", given, count, what);
  }
  return count ? json_numbers(r->file, &at, count, *out) : ABUT_SUCCESS;
}

static abut_status read_start(reader *r, const json_at *at, size_t nq, size_t nv, scene_start *to)
{
  static const char *const keys[] = {"q", "v", "u"};
  json_at q;
  TRY(CHECK_KEYS(r->file, at, keys));
  TRY(json_need(r->file, at, "q", &q));
  TRY(read_row(r, at, "q", nq, "positions", &to->q));
  TRY(read_row(r, at, "v", nv, "velocities", &to->v));
  TRY(read_row(r, at, "u", scene_control_count(r->s), "controls", &to->u));
  const size_t bad = scene_bad_quaternion(r->s, to->q);
  return bad == r->s->link_count
           ? ABUT_SUCCESS
           : json_fail(r->file, &q, "the quaternion of link %zu has length 0", bad);
}

static abut_status read_starts(reader *r, const json_at *root)
{
  json_at list;
  void *memory;
  const char *name;
  json_t *value;
  size_t nq = 0, nv = 0;
  if (!json_find(root, "starts", &list)) {
    return ABUT_SUCCESS;
  }
  if (!json_is_object(list.value)) {
    return json_fail(r->file, &list, "must be an object");
  }
  const size_t count = json_object_size(list.value);
  if (count > STARTS_MOST) {
    return json_fail(r->file, &list, "has %zu entries; at most %d are possible", count,
                     STARTS_MOST);
  }
  TRY(arena_allocate(&r->s->memory, &memory, count + 1, sizeof(scene_start)));
  r->s->starts = memory;
  for (size_t i = 0; i < r->s->link_count; ++i) {
    nq += (size_t)joint_positions(r->s->links[i].joint.type);
    nv += (size_t)joint_dofs(r->s->links[i].joint.type);
  }
  json_object_foreach(list.value, name, value)
  {
    const json_at at = {&list, name, 0, value};
    scene_start *to = &r->s->starts[r->s->start_count];
    TRY(scene_text(r, name, &to->name));
    TRY(read_start(r, &at, nq, nv, to));
    ++r->s->start_count;
  }
  return ABUT_SUCCESS;
}

/* ---- settings ---- */

static abut_status read_words(const json_file *f, const json_at *root, scene_def *s)
{
  static const char *const integrators[] = {"euler", "rk4", "implicit"};
  static const char *const cones[] = {"elliptic", "pyramidal"};
  static const char *const diagonals[] = {"approximate", "exact"};
  int pyramidal = 0, exact = 0;
  int which = (int)law_usual_integrator(s);
  TRY(scene_word(f, root, "integrator", integrators, 3, &which));
  TRY(scene_word(f, root, "cone", cones, 2, &pyramidal));
  TRY(scene_word(f, root, "diagonal", diagonals, 2, &exact));
  s->integrator = (integrator)which;
  s->pyramidal = pyramidal;
  s->exact_diagonal = exact;
  return ABUT_SUCCESS;
}

static abut_status read_flags(const json_file *f, const json_at *root, scene_def *s)
{
  json_at at;
  TRY(json_find(root, "broad_phase", &at) ? json_flag(f, &at, &s->broad_phase) : ABUT_SUCCESS);
  TRY(json_find(root, "tiles", &at) ? json_flag(f, &at, &s->tiles) : ABUT_SUCCESS);
  return json_find(root, "sweep", &at) ? json_flag(f, &at, &s->sweep) : ABUT_SUCCESS;
}

static abut_status read_settings(const reader *r, const json_at *root)
{
  const json_file *f = r->file;
  scene_def *s = r->s;
  int capacity = 0;
  TRY(laws_read(f, root, s));
  TRY(read_words(f, root, s));
  TRY(scene_number(f, root, "timestep", bound_positive, &s->timestep));
  TRY(scene_vector(f, root, "gravity", 3, s->gravity));
  TRY(scene_number(f, root, "impratio", bound_positive, &s->impratio));
  TRY(scene_count(f, root, "iterations", 1, &s->iterations));
  TRY(scene_number(f, root, "tolerance", bound_positive, &s->tolerance));
  TRY(scene_count(f, root, "line_iterations", 1, &s->line_iterations));
  TRY(scene_number(f, root, "line_tolerance", bound_positive, &s->line_tolerance));
  TRY(scene_number(f, root, "cone_smoothing", bound_not_negative, &s->cone_smoothing));
  TRY(scene_number(f, root, "limit_smoothing", bound_not_negative, &s->limit_smoothing));
  TRY(scene_number(f, root, "divergence", bound_positive, &s->divergence));
  TRY(scene_count(f, root, "capacity", 0, &capacity));
  TRY(scene_count(f, root, "most_contacts", 0, &s->most_contacts));
  TRY(read_flags(f, root, s));
  s->capacity = (size_t)capacity;
  return law_settle(r, root);
}

/* ---- the whole file ---- */

static abut_status read_root(reader *r, const json_at *root)
{
  static const char *const keys[] = {"timestep",       "gravity",        "integrator",
                                     "cone",           "impratio",       "diagonal",
                                     "iterations",     "tolerance",      "line_iterations",
                                     "line_tolerance", "cone_smoothing", "limit_smoothing",
                                     "capacity",       "most_contacts",  "divergence",
                                     "contact_model",  "links",          "actuators",
                                     "starts",         "pairs",          "lcp",
                                     "sweep",          "broad_phase",    "tiles",
                                     "clouds",         "automatic",      "tendons",
                                     "equalities"};
  *r->s = (scene_def){.timestep = 0.002,
                      .broad_phase = true,
                      .tiles = true,
                      .gravity = {0.0, 0.0, -9.81},
                      .impratio = 1.0,
                      .iterations = 30,
                      .line_iterations = 30,
                      .line_tolerance = 1e-3,
                      .divergence = 1e6};
  json_at at;
  if (!json_find(root, "links", &at) &&
      (json_find(root, "mesh", &at) || json_find(root, "surface", &at))) {
    return json_fail(r->file, root,
                     "this is a body file; expected a scene file, which has \"links\"");
  }
  TRY(law_read_word(r, root));
  TRY(CHECK_KEYS(r->file, root, keys));
  TRY(read_settings(r, root));
  TRY(scene_automatic(r, root));
  TRY(scene_links(r, root));
  TRY(scene_tendons(r, root));
  TRY(scene_equalities(r, root));
  TRY(read_actuators(r, root));
  TRY(read_starts(r, root));
  TRY(scene_pairs(r, root));
  return scene_excluded(r, root);
}

/* Retains the text, in which scene_fail finds line numbers. */
static abut_status keep_text(reader *r)
{
  void *memory;
  TRY(scene_text(r, r->file->name, &r->s->file));
  TRY(arena_allocate(&r->s->memory, &memory, r->file->count, 1));
  memcpy(memory, r->file->bytes, r->file->count);
  r->s->text = memory;
  r->s->text_bytes = r->file->count;
  return ABUT_SUCCESS;
}

static bool ends_with_any(const char *name, const char *const *endings, size_t count)
{
  const char *ending = strrchr(name, '.');
  bool found = false;
  for (size_t i = 0; i < count; ++i) {
    found = found || (ending && strcasecmp(ending, endings[i]) == 0);
  }
  return found;
}

/* Returns whether a file is a mesh, by its extension. */
static bool is_mesh(const char *name)
{
  static const char *const endings[] = {MESH_FORMATS(FORMAT_DOT, MESH_COMMA, MESH_COMMA),
                                        ASSIMP_FORMATS(FORMAT_DOT, MESH_COMMA, MESH_COMMA)};
  return ends_with_any(name, endings, sizeof endings / sizeof *endings);
}

static abut_status fail_of_mesh(const char *name)
{
  return fail_at(ABUT_ERROR_FORMAT, name, 0,
                 "a mesh is no scene; a scene names it as the \"file\" of a body "
                 "(docs/scenes.md). Meshes are taken by abut contacts, closest, ccd, view, "
                 "inspect, decompose and field");
}

/* Returns whether a file that is not JSON is a robot model, by its first character or its
 * extension. */
static bool is_model(const char *name, const char *bytes, size_t count)
{
  static const char *const endings[] = {".xml", ".mjcf", ".urdf"};
  size_t first = 0;
  while (first < count && isspace((unsigned char)bytes[first])) {
    ++first;
  }
  return (first < count && bytes[first] == '<') ||
         ends_with_any(name, endings, sizeof endings / sizeof *endings);
}

static abut_status fail_of_model(const char *name)
{
  const char *slash = strrchr(name, '/'), *stem = slash ? slash + 1 : name;
  const char *dot = strrchr(stem, '.');
  return fail_at(ABUT_ERROR_FORMAT, name, 0,
                 "this is a model, not a scene; import it first: abut import %s -o %.*s.scene.json",
                 name, (int)(dot ? (size_t)(dot - stem) : strlen(stem)), stem);
}

static abut_status parse(const char *name, const char *bytes, size_t count, const char *model,
                         scene_def *out)
{
  json_file f;
  json_at root;
  memset(out, 0, sizeof *out);
  if (is_mesh(name)) {
    return fail_of_mesh(name);
  }
  abut_status status = json_file_open(&f, name, bytes, count, &root);
  if (status == ABUT_ERROR_FORMAT && !f.root && is_model(name, bytes, count)) {
    status = fail_of_model(name);
  }
  if (status == ABUT_SUCCESS) {
    reader r = {.file = &f, .s = out, .model = model};
    status = read_root(&r, &root);
    status = status == ABUT_SUCCESS ? keep_text(&r) : status;
  }
  json_file_close(&f);
  if (status != ABUT_SUCCESS) {
    scene_def_free(out);
  }
  return status;
}

abut_status scene_file_parse(const char *name, const char *bytes, size_t count, scene_def *out)
{
  return parse(name, bytes, count, NULL, out);
}

abut_status scene_file_read(const char *path, scene_def *out)
{
  return scene_file_read_as(path, NULL, out);
}

abut_status scene_file_read_as(const char *path, const char *model, scene_def *out)
{
  char *bytes = NULL;
  size_t count = 0;
  memset(out, 0, sizeof *out);
  abut_status status = whole_file_read(path, &bytes, &count);
  if (status == ABUT_SUCCESS) {
    status = parse(path, bytes, count, model, out);
  }
  free(bytes);
  return status;
}

/* ---- errors found later ---- */

scene_place scene_pair_place(const scene_def *s, size_t i)
{
  const scene_pair *p = &s->pairs[i];
  return scene_pair_is_automatic(s, i)
           ? (scene_place){"links", (size_t)p->link[0], "bodies", true, (size_t)p->body[0]}
           : (scene_place){.list = "pairs", .index = i};
}

abut_status scene_fail(const scene_def *s, scene_place place, const char *format, ...)
{
  const json_at root = {.value = NULL};
  const json_at list = {&root, place.list, 0, NULL};
  const json_at element = {&list, NULL, place.index, NULL};
  const json_at member = {&element, place.part, 0, NULL};
  const json_at part = {&member, NULL, place.part_index, NULL};
  const json_at *at = !place.part ? &element : place.in_list ? &part : &member;
  char cause[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cause, sizeof cause, format, arguments);
  va_end(arguments);
  if (!s->text) {
    return fail(ABUT_ERROR_ARGUMENT, "the scene's %s %zu: %s", place.list, place.index, cause);
  }
  const json_file f = {s->file, s->text, s->text_bytes, NULL};
  return json_fail(&f, at, "%s", cause);
}

abut_status scene_blame(const scene_def *s, scene_place place, const char *what, abut_status status)
{
  char cause[ERROR_TEXT_BYTES];
  if (status == ABUT_ERROR_READ || status == ABUT_ERROR_FORMAT || status == ABUT_ERROR_BODY ||
      status == ABUT_ERROR_ARGUMENT || status == ABUT_ERROR_TOO_LARGE) {
    keep_error_text(cause);
    scene_fail(s, place, "%s%s", what, cause);
  }
  return status;
}
