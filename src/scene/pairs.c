/* Reads the pairs of a scene's file: the listed ones, and the settings of automatic ones. */
#include "base/error.h"
#include "base/memory.h"
#include "format/text.h"
#include "format/whole_file.h"
#include "io/smoothing_file.h"
#include "scene/law.h"
#include <stdio.h>
#include <stdlib.h>

#define PAIRS_MOST ((size_t)1 << 20)
#define EXCLUDED_MOST ((size_t)1 << 20)

/* ---- listed pairs ---- */

static const scene_pair usual_pair = {.friction = 0.8, .condim = 3};

/* Reads a side of a pair: [link, body], or only a link, which means its first body. */
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
           : json_fail(r->file, &at, "link %d has %zu bodies; there is no body %d (0-based)", *link,
                       count, *body);
}

/* Returns whether two links can move relative to each other: some joint on the path between them
 * has a degree of freedom. */
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
    return json_fail(r->file, element, "both bodies belong to link %d", p->link[0]);
  }
  return moves_against(r->s, p->link[0], p->link[1])
           ? ABUT_SUCCESS
           : json_fail(r->file, element, "links %d and %d cannot move relative to each other",
                       p->link[0], p->link[1]);
}

static abut_status read_smoothing(const json_file *f, const json_at *at, scene_pair *p)
{
  TRY(smoothing_read_some(f, at, &p->smoothing, &p->stated));
  if (p->smoothing.margin != 0.0) {
    return json_fail(
      f, at, "its margin is %g: in a scene, give the \"margin\" of the pair, not of its smoothing",
      p->smoothing.margin);
  }
  p->fitted = p->stated != UINT64_MAX;
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

/* If a file named in the scene cannot be read, the error names the scene's line. */
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
    return json_fail(f, &at, "%g is above 1: a bounce would gain energy", p->restitution);
  }
  return ABUT_SUCCESS;
}

/* Reads everything except the bodies and the restitution. */
static abut_status read_numbers(reader *r, const json_at *element, scene_pair *p)
{
  const json_file *f = r->file;
  TRY(scene_number(f, element, "friction", bound_not_negative, &p->friction));
  TRY(laws_read_pair(f, element, p));
  TRY(law_settle_pair(r, element, p));
  TRY(scene_number(f, element, "margin", bound_any, &p->margin));
  TRY(scene_softness(f, element, "solref", "solimp", &p->soft));
  TRY(scene_condim(f, element, &p->condim));
  return read_smoothing_of(r, element, p);
}

static abut_status read_pair(reader *r, const json_at *element, scene_pair *p)
{
  static const char *const keys[] = {"a",      "b",      "friction",  "solref",  "solimp",
                                     "condim", "margin", "smoothing", "contact", "restitution"};
  const json_file *f = r->file;
  json_at at;
  *p = usual_pair;
  p->link[0] = p->link[1] = WORLD;
  TRY(CHECK_KEYS(f, element, keys));
  TRY(read_restitution(f, element, p));
  if (json_find(element, "a", &at) || json_find(element, "b", &at)) {
    TRY(read_sides(r, element, p));
  } else if (r->s->sweep) {
    return json_fail(
      f, element,
      "a scene with \"sweep\" needs the bodies of its pairs: \"a\" and \"b\" are missing");
  }
  return read_numbers(r, element, p);
}

/* A pair's bodies, that of the smaller link first, and the pair's index in the list. */
typedef struct sides {
  int link[2], body[2];
  size_t place;
} sides;

static sides sides_of(const scene_pair *p, size_t place)
{
  const int first = p->link[0] > p->link[1]; /* they are never on the same link */
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

/* Refuses two pairs of the same bodies, which would double the contact force. They are found by
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
  return json_fail(r->file, &element, "has the same bodies as pairs[%zu]", first);
}

abut_status scene_pairs(reader *r, const json_at *root)
{
  json_at list, at;
  void *memory;
  r->s->says_pairs = json_find(root, "pairs", &at) || json_find(root, "automatic", &at);
  TRY(scene_list(r, root, "pairs", sizeof(scene_pair), PAIRS_MOST, &list, &memory,
                 &r->s->pair_count));
  r->s->pairs = memory;
  for (size_t i = 0; i < r->s->pair_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_pair(r, &element, &r->s->pairs[i]));
    r->s->pairs[i].alike = i;
    r->s->pairs[i].column[0] = r->s->pairs[i].column[1] = (int)i;
  }
  r->s->listed_count = r->s->column_count = r->s->pair_count;
  return check_twice(r, &list);
}

/* ---- automatic pairs ---- */

/* Reads the common settings. `at` may have no value, which states nothing. */
static abut_status read_usual(reader *r, const json_at *at)
{
  scene_pair *p = &r->s->usual;
  *p = usual_pair;
  TRY(read_restitution(r->file, at, p));
  return read_numbers(r, at, p);
}

static abut_status check_capacity(const reader *r, const json_at *at)
{
  return r->s->capacity
           ? json_fail(r->file, at, "capacity applies only to listed pairs; use most_contacts")
           : ABUT_SUCCESS;
}

abut_status scene_automatic(reader *r, const json_at *root)
{
  static const char *const keys[] = {"friction",    "solref",  "solimp",    "condim",  "margin",
                                     "restitution", "contact", "smoothing", "exclude", "parents"};
  const json_file *f = r->file;
  const json_at none = {.value = NULL};
  json_at at, parents;
  scene_def *s = r->s;
  const bool there = json_find(root, "automatic", &at);
  if (!there || json_is_boolean(at.value)) {
    s->automatic = there && json_is_true(at.value);
    TRY(read_usual(r, &none));
    return s->automatic ? check_capacity(r, &at) : ABUT_SUCCESS;
  }
  if (!json_is_object(at.value)) {
    return json_fail(f, &at, "must be true, false or an object");
  }
  s->automatic = true;
  TRY(CHECK_KEYS(f, &at, keys));
  TRY(json_find(&at, "parents", &parents) ? json_flag(f, &parents, &s->parents) : ABUT_SUCCESS);
  TRY(read_usual(r, &at));
  return check_capacity(r, &at);
}

/* Reads two links that have no automatic pairs. */
static abut_status read_excluded(reader *r, const json_at *element, int out[2])
{
  TRY(json_check_array(r->file, element, 2));
  for (size_t side = 0; side < 2; ++side) {
    const json_at at = json_element(element, side);
    if (json_is_string(at.value) &&
        scene_link_named(r->s, r->s->link_count, json_string_value(at.value)) == WORLD) {
      return json_fail(r->file, element, "there is no link with the name \"%s\"",
                       string_shown(json_string_value(at.value)).text);
    }
    TRY(scene_link_of(r, &at, r->s->link_count, false, &out[side]));
  }
  return out[0] != out[1]
           ? ABUT_SUCCESS
           : json_fail(r->file, element,
                       "a link cannot be excluded from itself: its own bodies never touch");
}

static abut_status check_colliding(const reader *r, const json_at *automatic)
{
  size_t count = 0;
  for (size_t i = 0; i < r->s->link_count; ++i) {
    for (size_t k = 0; k < r->s->links[i].body_count; ++k) {
      const body_contact *c = &r->s->links[i].bodies[k].contact;
      count += c->contype || c->conaffinity;
    }
  }
  return count <= SCENE_COLLIDING_MOST
           ? ABUT_SUCCESS
           : json_fail(r->file, automatic, "%zu bodies may collide; at most %d are possible", count,
                       SCENE_COLLIDING_MOST);
}

abut_status scene_excluded(reader *r, const json_at *root)
{
  json_at at, list;
  void *memory;
  if (!r->s->automatic) {
    return ABUT_SUCCESS;
  }
  json_find(root, "automatic", &at);
  TRY(check_colliding(r, &at));
  TRY(scene_list(r, &at, "exclude", sizeof *r->s->excluded, EXCLUDED_MOST, &list, &memory,
                 &r->s->excluded_count));
  r->s->excluded = memory;
  for (size_t i = 0; i < r->s->excluded_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_excluded(r, &element, r->s->excluded[i]));
  }
  return ABUT_SUCCESS;
}
