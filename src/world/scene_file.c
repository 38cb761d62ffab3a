#include "world/scene_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/whole_file.h"
#include "io/smoothing_file.h"
#include "world/law/read.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACTUATORS_MOST 4096
#define PAIRS_MOST ((size_t)1 << 20)

/* ---- actuators ---- */

static abut_status read_actuator(reader *r, const json_at *element, actuator *a)
{
  static const char *const keys[] = {"kind", "joint", "dof", "gear", "kp", "kv", "force_limits"};
  static const char *const words[] = {"motor", "position", "velocity"};
  const json_file *f = r->file;
  json_at at;
  int kind = ACTUATOR_MOTOR;
  *a = (actuator){.gear = 1.0};
  TRY(CHECK_KEYS(f, element, keys));
  TRY(json_need(f, element, "kind", &at));
  TRY(scene_word(f, element, "kind", words, 3, &kind));
  a->kind = (actuator_kind)kind;
  TRY(json_need(f, element, "joint", &at));
  TRY(scene_link_of(r, &at, r->s->link_count, false, &a->link));
  const joint_type type = r->s->links[a->link].joint.type;
  if (type == JOINT_FIXED || (kind != ACTUATOR_MOTOR && joint_dofs(type) != 1)) {
    return json_fail(f, &at, "a %s joint takes no %s", joint_words[type], words[kind]);
  }
  TRY(scene_refuse(f, element, "dof", kind == ACTUATOR_MOTOR, "only motors choose a dof"));
  TRY(scene_count(f, element, "dof", 0, &a->dof));
  if (a->dof >= joint_dofs(type)) {
    json_find(element, "dof", &at);
    return json_fail(f, &at, "the joint has %d", joint_dofs(type));
  }
  TRY(scene_number(f, element, "gear", bound_any, &a->gear));
  TRY(scene_number(f, element, "kp", bound_any, &a->kp));
  TRY(scene_number(f, element, "kv", bound_any, &a->kv));
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

/* ---- pairs ---- */

/* Reads a side of a pair: [link, body], or a link alone, which stands for its first body. */
static abut_status read_side(reader *r, const json_at *element, const char *key, int *link,
                             int *body)
{
  json_at at, part;
  json_int_t number = 0;
  TRY(json_need(r->file, element, key, &at));
  if (json_is_array(at.value)) {
    TRY(json_check_array(r->file, &at, 2));
    part = json_element(&at, 0);
    TRY(scene_link_of(r, &part, r->s->link_count, false, link));
    part = json_element(&at, 1);
    TRY(json_whole(r->file, &part, INT32_MAX, &number));
  } else {
    TRY(scene_link_of(r, &at, r->s->link_count, false, link));
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

static abut_status read_sides(reader *r, const json_at *element, scene_pair *p)
{
  TRY(read_side(r, element, "a", &p->link[0], &p->body[0]));
  TRY(read_side(r, element, "b", &p->link[1], &p->body[1]));
  if (p->link[0] == p->link[1]) {
    return json_fail(r->file, element, "both bodies are of link %d", p->link[0]);
  }
  return moves_against(r->s, p->link[0], p->link[1])
           ? ABUT_SUCCESS
           : json_fail(r->file, element, "links %d and %d do not move against each other",
                       p->link[0], p->link[1]);
}

static abut_status read_smoothing(const json_file *f, const json_at *at, scene_pair *p)
{
  json_at stated;
  TRY(smoothing_read_some(f, at, &p->smoothing, &p->stated));
  p->fitted = p->stated != UINT32_MAX;
  if (!p->fitted && !json_find(at, "near", &stated)) {
    p->smoothing.near = scene_near(&p->smoothing);
  }
  return ABUT_SUCCESS;
}

static abut_status read_smoothing_bytes(const char *name, const char *bytes, size_t count,
                                        scene_pair *p)
{
  json_file f;
  json_at root;
  abut_status status = json_file_open(&f, name, bytes, count, &root);
  if (status == ABUT_SUCCESS) {
    status = read_smoothing(&f, &root, p);
  }
  json_file_close(&f);
  return status;
}

/* Where a file that the scene names cannot be read, the error names the scene's line. */
static abut_status read_smoothing_file(reader *r, const json_at *at, scene_pair *p)
{
  char *path, *bytes;
  size_t count;
  TRY(scene_path(r, at, &path));
  abut_status status = whole_file_read(path, &bytes, &count);
  if (status == ABUT_ERROR_READ) {
    char cause[1024];
    snprintf(cause, sizeof cause, "%s", abut_last_error());
    json_fail(r->file, at, "its file, %s", cause);
    return status;
  }
  if (status == ABUT_SUCCESS) {
    status = read_smoothing_bytes(path, bytes, count, p);
  }
  free(bytes);
  return status;
}

static abut_status read_smoothing_of(reader *r, const json_at *element, scene_pair *p)
{
  json_at at;
  p->smoothing = abut_default_smoothing();
  p->fitted = !json_find(element, "smoothing", &at);
  if (p->fitted) {
    return ABUT_SUCCESS;
  }
  return json_is_object(at.value) ? read_smoothing(r->file, &at, p)
                                  : read_smoothing_file(r, &at, p);
}

static abut_status read_restitution(const json_file *f, const json_at *element, scene_pair *p)
{
  json_at at;
  TRY(scene_number(f, element, "restitution", bound_not_negative, &p->restitution));
  if (p->restitution > 1.0) {
    json_find(element, "restitution", &at);
    return json_fail(f, &at, "%g is more than 1: a bounce would gain energy", p->restitution);
  }
  return ABUT_SUCCESS;
}

static abut_status read_pair(reader *r, const json_at *element, scene_pair *p)
{
  static const char *const keys[] = {"a",      "b",      "friction",  "solref",  "solimp",
                                     "condim", "margin", "smoothing", "contact", "restitution"};
  const json_file *f = r->file;
  json_at at;
  *p = (scene_pair){.link = {WORLD, WORLD}, .friction = 0.8, .condim = 3};
  TRY(CHECK_KEYS(f, element, keys));
  TRY(read_restitution(f, element, p));
  if (json_find(element, "a", &at) || json_find(element, "b", &at)) {
    TRY(read_sides(r, element, p));
  } else if (r->s->sweep) {
    return json_fail(f, element, "a scene that sweeps needs the bodies of its pairs: \"a\" and \"b\" are missing");
  }
  TRY(scene_number(f, element, "friction", bound_not_negative, &p->friction));
  TRY(laws_read_pair(f, element, p));
  TRY(law_settle_pair(r, element, p));
  TRY(scene_number(f, element, "margin", bound_any, &p->margin));
  TRY(scene_softness(f, element, "solref", "solimp", &p->soft));
  TRY(scene_count(f, element, "condim", 1, &p->condim));
  if (p->condim != 1 && p->condim != 3) {
    json_find(element, "condim", &at);
    return json_fail(f, &at, "%d is neither 1 nor 3", p->condim);
  }
  return read_smoothing_of(r, element, p);
}

/* A pair's bodies, that of the smaller link first, and the pair's place in the list. */
typedef struct sides {
  int link[2], body[2];
  size_t place;
} sides;

static sides sides_of(const scene_pair *p, size_t place)
{
  const int first = p->link[0] > p->link[1]; /* they are never of one link */
  return (sides){{p->link[first], p->link[!first]}, {p->body[first], p->body[!first]}, place};
}

static int compare_bodies(const sides *a, const sides *b)
{
  const int one[] = {a->link[0], a->link[1], a->body[0], a->body[1]};
  const int other[] = {b->link[0], b->link[1], b->body[0], b->body[1]};
  int i = 0;
  while (i < 3 && one[i] == other[i]) {
    ++i;
  }
  return (one[i] > other[i]) - (one[i] < other[i]);
}

static int compare_sides(const void *a_, const void *b_)
{
  const sides *a = a_, *b = b_;
  const int bodies = compare_bodies(a, b);
  return bodies ? bodies : (a->place > b->place) - (a->place < b->place);
}

/* Refuses two pairs of the same bodies, which would push each other twice as hard. They are found by
 * sorting. */
static abut_status check_twice(reader *r, const json_at *list)
{
  const size_t count = r->s->pair_count;
  size_t twice = count, first = 0, some = 0;
  void *memory = NULL;
  TRY(allocate(&memory, count, sizeof(sides)));
  sides *all = memory;
  for (size_t i = 0; i < count; ++i) {
    if (r->s->pairs[i].link[0] != WORLD) {
      all[some++] = sides_of(&r->s->pairs[i], i);
    }
  }
  qsort(all, some, sizeof *all, compare_sides);
  for (size_t i = 1; i < some; ++i) {
    if (!compare_bodies(&all[i - 1], &all[i]) && all[i].place < twice) {
      twice = all[i].place;
      first = all[i - 1].place;
    }
  }
  free(all);
  if (twice == count) {
    return ABUT_SUCCESS;
  }
  const json_at element = json_element(list, twice);
  return json_fail(r->file, &element, "the bodies are those of pairs[%zu]", first);
}

static abut_status read_pairs(reader *r, const json_at *root)
{
  json_at list;
  void *memory;
  TRY(scene_list(r, root, "pairs", sizeof(scene_pair), PAIRS_MOST, &list, &memory,
                 &r->s->pair_count));
  r->s->pairs = memory;
  for (size_t i = 0; i < r->s->pair_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_pair(r, &element, &r->s->pairs[i]));
  }
  return check_twice(r, &list);
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
  TRY(read_flags(f, root, s));
  s->capacity = (size_t)capacity;
  return law_settle(r, root);
}

/* ---- all of it ---- */

static abut_status read_root(reader *r, const json_at *root)
{
  static const char *const keys[] = {"timestep",
                                     "gravity",
                                     "integrator",
                                     "cone",
                                     "impratio",
                                     "diagonal",
                                     "iterations",
                                     "tolerance",
                                     "line_iterations",
                                     "line_tolerance",
                                     "cone_smoothing",
                                     "limit_smoothing",
                                     "capacity",
                                     "divergence",
                                     "contact_model",
                                     "links",
                                     "actuators",
                                     "pairs",
                                     "lcp",
                                     "sweep", "broad_phase"};
  *r->s = (scene_def){.timestep = 0.002,
                      .broad_phase = true,
                      .gravity = {0.0, 0.0, -9.81},
                      .impratio = 1.0,
                      .iterations = 30,
                      .line_iterations = 30,
                      .line_tolerance = 1e-3,
                      .divergence = 1e6};
  TRY(law_read_word(r, root));
  TRY(CHECK_KEYS(r->file, root, keys));
  TRY(read_settings(r, root));
  TRY(scene_links(r, root));
  TRY(read_actuators(r, root));
  return read_pairs(r, root);
}

/* Keeps the text, in which scene_fail looks up lines. */
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

static abut_status parse(const char *name, const char *bytes, size_t count, const char *model,
                         scene_def *out)
{
  json_file f;
  json_at root;
  memset(out, 0, sizeof *out);
  abut_status status = json_file_open(&f, name, bytes, count, &root);
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

/* ---- what is found wrong later ---- */

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
