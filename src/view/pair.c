#include "base/call_lock.h"
#include "base/error.h"
#include "contact/pair.h"
#include "math/rigid.h"
#include "view/parts.h"
#include <abut/files.h>
#include <math.h>
#include <stdlib.h>

#define PLACE 7

/* What a pair's page is made from. */
typedef struct pair_page {
  pair *pair;
  abut_pair handle;
  abut_pose_kind kind;
  size_t count;
  const double *poses[2];
  const abut_page_options *options;
  abut_batch batch;
  abut_compact list;
  reals reals[2]; /* the poses in the context's precision */
  reals reduced;  /* (3, count) minimum_distance, activity, energy */
  float *places;  /* (count, 2, PLACE) */
  uint8_t *rgb;
} pair_page;

static const char *const curve_names[3] = {"minimum_distance", "activity_sum", "energy"};
static const char *const curve_units[3] = {"m", "", "m\u00b2"};

static abut_status add_bodies(page *p, const pair_page *s)
{
  page_meshes meshes;
  json_t *bodies = json_array();
  abut_status status = page_set(p->root, "bodies", bodies);
  if (status == ABUT_SUCCESS) {
    status = page_meshes_begin(p, &meshes);
    for (int i = 0; i < 2 && status == ABUT_SUCCESS; ++i) {
      static const char *const nameless[2] = {"body 1", "body 2"};
      const body *b = body_get(s->pair->bodies[i]);
      const char *given = s->options->names[i], *name = given ? given
                                                        : b   ? body_short_name(b)
                                                              : NULL;
      size_t mesh = 0;
      TRY_DONE(b ? ABUT_SUCCESS : ABUT_ERROR_HANDLE);
      TRY_DONE(page_meshes_add(p, &meshes, s->pair->bodies[i], &s->pair->smoothing, &mesh));
      json_t *one = json_pack("{s:o, s:I, s:i, s:i, s:b}", "name",
                              page_text(name ? name : nameless[i]), "mesh", (json_int_t)mesh,
                              "mover", i, "paint", i, "stated", (int)b->parts.features.stated);
      if (!one || json_array_append_new(bodies, one) != 0) {
        status = fail(ABUT_ERROR_MEMORY, "not enough memory for a page");
      }
    }
  done:
    page_meshes_free(&meshes);
  }
  return status;
}

static abut_status add_pair(page *p, const pair_page *s)
{
  json_t *pairs = json_array();
  TRY(page_set(p->root, "pairs", pairs));
  json_t *one =
    json_pack("{s:[i, i], s:o}", "bodies", 0, 1, "layout", page_layout(&s->pair->layout));
  return one && json_array_append_new(pairs, one) == 0
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_MEMORY, "not enough memory for a page");
}

/* Adds the initial data of a page that requests frames from a server. */
static abut_status add_live(page *p, const pair_page *s)
{
  json_t *smoothings = NULL, *curves = json_array();
  TRY(page_set(p->root, "curves", curves));
  TRY(page_add_live(p, &smoothings));
  TRY(page_add_smoothing(smoothings, &s->pair->smoothing));
  for (size_t i = 0; i < 3; ++i) {
    TRY(page_name_curve(curves, curve_names[i], curve_units[i]));
  }
  return ABUT_SUCCESS;
}

/* Converts poses to places in float. An invalid pose gives NaN. */
static abut_status add_places(page *p, pair_page *s)
{
  const size_t width = s->kind == ABUT_POSE_TWIST ? 6 : 7;
  void *memory = NULL;
  TRY(allocate(&memory, s->count * 2 * PLACE, sizeof *s->places));
  s->places = memory;
  for (size_t i = 0; i < 2 * s->count; ++i) {
    const chart at = chart_at(s->kind, s->poses[i % 2] + i / 2 * width);
    double place[PLACE];
    rigid_numbers(&at.x, ABUT_POSE_QUATERNION, place);
    for (int k = 0; k < PLACE; ++k) {
      s->places[i * PLACE + (size_t)k] = (float)place[k];
    }
  }
  TRY(page_set(p->root, "movers", page_count(2)));
  return page_add(p, "places", PAGE_F32, s->count, 2 * PLACE, s->places);
}

static abut_status find_contacts(pair_page *s)
{
  const size_t size = context_real_bytes(s->pair->context),
               width = s->kind == ABUT_POSE_TWIST ? 6 : 7;
  for (int i = 0; i < 2; ++i) {
    TRY(reals_create(&s->reals[i], s->count * width, size));
    for (size_t k = 0; k < s->count * width; ++k) {
      reals_set(&s->reals[i], k, s->poses[i][k]);
    }
  }
  TRY(reals_create(&s->reduced, 3 * s->count, size));
  s->list = (abut_compact){.threshold = s->options->threshold, .grows = true};
  s->batch = abut_default_batch();
  s->batch.count = s->count;
  s->batch.poses = s->kind;
  s->batch.pose1 = s->reals[0].data;
  s->batch.pose2 = s->reals[1].data;
  s->batch.compact = &s->list;
  s->batch.reductions.minimum_distance = s->reduced.data;
  s->batch.reductions.activity = bytes_behind(s->reduced.data, s->count * size);
  s->batch.reductions.energy = bytes_behind(s->reduced.data, 2 * s->count * size);
  s->batch.progress = s->options->progress;
  s->batch.user = s->options->user;
  return abut_contacts(s->handle, &s->batch);
}

static abut_status add_curves(page *p, const pair_page *s)
{
  json_t *curves = json_array();
  void *memory = NULL;
  TRY(page_set(p->root, "curves", curves));
  TRY(allocate(&memory, s->count, sizeof(float)));
  abut_status status = ABUT_SUCCESS;
  for (size_t i = 0; i < 3 && status == ABUT_SUCCESS; ++i) {
    for (size_t k = 0; k < s->count; ++k) {
      ((float *)memory)[k] = (float)reals_get(&s->reduced, i * s->count + k);
    }
    status = page_add_curve(p, curves, curve_names[i], curve_units[i], s->count, memory);
  }
  free(memory);
  return status;
}

/* Adds a picture of the first frame, for browsers without WebGL. An invalid pose has no picture. */
static abut_status add_picture(page *p, pair_page *s)
{
  const abut_page_options *o = s->options;
  const size_t at = o->first * (s->kind == ABUT_POSE_TWIST ? 6 : 7);
  abut_view view = abut_default_view();
  view.width = o->picture_width;
  view.height = o->picture_height;
  view.threshold = o->threshold;
  bool good = view.width && view.height;
  for (size_t i = 0; i < 2 * PLACE; ++i) {
    good = good && isfinite(s->places[o->first * 2 * PLACE + i]);
  }
  if (!good) {
    return ABUT_SUCCESS;
  }
  void *memory = NULL;
  TRY(allocate(&memory, (size_t)view.width * view.height, 3));
  s->rgb = memory;
  TRY(abut_render(s->handle, s->kind, s->poses[0] + at, s->poses[1] + at, &view, s->rgb));
  return abut_format_png(view.width, view.height, s->rgb, &p->picture, &p->picture_bytes);
}

static abut_status make(page *p, pair_page *s)
{
  TRY(page_begin(p));
  TRY(page_add_options(p, s->options, s->count));
  TRY(add_bodies(p, s));
  TRY(add_pair(p, s));
  TRY(add_places(p, s));
  if (s->options->live) { /* frames are requested when they are viewed */
    return add_live(p, s);
  }
  TRY(find_contacts(s));
  TRY(page_add_contacts(p, s->count, &s->list, s->list.pose, NULL, 1,
                        context_real_bytes(s->pair->context)));
  TRY(add_curves(p, s));
  return add_picture(p, s);
}

abut_status abut_format_pair_page(abut_pair handle_, abut_pose_kind kind, size_t count,
                                  const double *pose1, const double *pose2,
                                  const abut_page_options *options, char **html, size_t *bytes)
{
  if (html) {
    *html = NULL;
  }
  ENTER(pair_pool, handle_);
  page p = {0};
  pair_page s = {.pair = pair_get(handle_),
                 .handle = handle_,
                 .kind = kind,
                 .count = count,
                 .poses = {pose1, pose2},
                 .options = options};
  if (!s.pair) {
    return ABUT_ERROR_HANDLE;
  }
  if (!pose1 || !pose2 || !options || !html || !bytes || (unsigned)kind > ABUT_POSE_QUATERNION) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_format_pair_page: the poses, the options or the output "
                                     "pointer is missing, or the pose kind is unknown");
  }
  TRY(check_page_options(options, count));
  abut_status status = make(&p, &s);
  status = status == ABUT_SUCCESS ? page_format(&p, html, bytes) : status;
  abut_free_compact(&s.list);
  free(s.reals[0].data);
  free(s.reals[1].data);
  free(s.reduced.data);
  free(s.places);
  free(s.rgb);
  page_free(&p);
  return status;
}
