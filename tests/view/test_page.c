/* Pages as text: what is in them, and what is refused: test_page BOX.body.json DROP.scene.json */
#include "support/check.h"
#include <abut/abut.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 3
#define REFUSED(call, text)                   \
  do {                                        \
    html = (char *)&bytes; /* no page */      \
    CHECK((call) == ABUT_ERROR_ARGUMENT);     \
    CHECK(strstr(abut_last_error(), (text))); \
  } while (0)

static size_t count_of(const char *text, const char *word)
{
  size_t count = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
    ++count;
  }
  return count;
}

static bool stop(size_t done, size_t total, void *user)
{
  (void)done;
  (void)total;
  ++*(int *)user;
  return false;
}

static void test_pair(abut_pair pair)
{
  static const double here[6 * FRAMES] = {0}, there[6 * FRAMES] = {0, 0, 0.17, 0, 0, 0, NAN, 0, 0,
                                                                   0, 0, 0,    0, 0, 9, 0,   0, 0};
  static const double times[FRAMES] = {0.0, 0.5, 0.25};
  abut_page_options o = abut_default_page_options();
  char *html = NULL;
  size_t bytes = 0;
  o.picture_width = 64;
  o.picture_height = 48;
  o.names[0] = "</script><script>alert(1)</script>";
  o.names[1] = "\xff";
  REQUIRE_OK(abut_format_pair_page(pair, ABUT_POSE_TWIST, FRAMES, here, there, &o, &html, &bytes));
  CHECK(strlen(html) == bytes && strstr(html, "</html>"));
  CHECK(!strstr(html, o.names[0]) && strstr(html, "\\u003c/script>\\u003cscript>alert(1)"));
  CHECK(strstr(html, "\"name\":\"?\""));
  CHECK(count_of(html, "<img id=\"picture\"") == 1 && !strstr(html, "://"));
  abut_free(html);
  o.first = 1; /* a pose that is none has no picture, */
  REQUIRE_OK(abut_format_pair_page(pair, ABUT_POSE_TWIST, FRAMES, here, there, &o, &html, &bytes));
  CHECK(!strstr(html, "<img id=\"picture\""));
  abut_free(html);
  o.first = FRAMES;
  REFUSED(abut_format_pair_page(pair, ABUT_POSE_TWIST, FRAMES, here, there, &o, &html, &bytes),
          "cannot begin with frame 3 (0-based) of 3");
  CHECK(!html);
  o.first = 0;
  o.threshold = 0.0;
  REFUSED(abut_format_pair_page(pair, ABUT_POSE_TWIST, FRAMES, here, there, &o, &html, &bytes),
          "threshold of a page is 0");
  o.threshold = 0.05;
  o.time = times;
  REFUSED(abut_format_pair_page(pair, ABUT_POSE_TWIST, FRAMES, here, there, &o, &html, &bytes),
          "the time of frame 2");
  o.time = NULL;
  o.picture_width = 5000;
  REFUSED(abut_format_pair_page(pair, ABUT_POSE_TWIST, FRAMES, here, there, &o, &html, &bytes),
          "5000 x 48");
  o.picture_width = 0;
  REFUSED(abut_format_pair_page(pair, ABUT_POSE_TWIST, 0, here, there, &o, &html, &bytes),
          "a page cannot have 0 frames");
  REFUSED(abut_format_pair_page(pair, ABUT_POSE_TWIST, 1, NULL, there, &o, &html, &bytes),
          "abut_format_pair_page: the poses");
  REFUSED(abut_format_pair_page(pair, (abut_pose_kind)7, 1, here, there, &o, &html, &bytes),
          "the pose kind is unknown");
  REFUSED(abut_format_pair_page(pair, ABUT_POSE_TWIST, 1, here, there, NULL, &html, &bytes),
          "options");
  REFUSED(abut_format_pair_page(pair, ABUT_POSE_TWIST, 1, here, there, &o, NULL, &bytes),
          "the output pointer");
  int asked = 0;
  o.progress = stop;
  o.user = &asked;
  CHECK(abut_format_pair_page(pair, ABUT_POSE_TWIST, FRAMES, here, there, &o, &html, &bytes) ==
        ABUT_ERROR_CANCELLED);
  CHECK(asked > 0 && !html);
  o.cookie = 0;
  REFUSED(abut_format_pair_page(pair, ABUT_POSE_TWIST, 1, here, there, &o, &html, &bytes),
          "abut_default_page_options");
  html = (char *)&o;
  CHECK(abut_format_pair_page((abut_pair){0, 0}, ABUT_POSE_TWIST, 1, here, there, &o, &html,
                              &bytes) == ABUT_ERROR_HANDLE);
  CHECK(!html);
}

/* A page that asks its server may ask that one alone, and has the pair's coefficients to the last
 * digit. */
static void test_live(abut_pair pair, abut_smoothing smoothing)
{
  static const double here[6] = {0}, there[6] = {0, 0, 0.17, 0, 0, 0};
  abut_page_options o = abut_default_page_options();
  char *html = NULL, *text = NULL;
  size_t bytes = 0;
  o.picture_width = 0;
  REQUIRE_OK(abut_format_pair_page(pair, ABUT_POSE_TWIST, 1, here, there, &o, &html, &bytes));
  CHECK(!strstr(html, "\"live\":") && !strstr(html, "connect-src"));
  abut_free(html);
  o.live = true;
  REQUIRE_OK(abut_format_pair_page(pair, ABUT_POSE_TWIST, 1, here, there, &o, &html, &bytes));
  CHECK(strstr(html, "\"live\":{\"smoothing\":[\"{\\n") &&
        count_of(html, "form-action 'none'; connect-src 'self'\"") == 1);
  CHECK(!strstr(html, "://") && !strstr(html, "@LIVE@"));
  abut_free(html);
  abut_smoothing read;
  REQUIRE_OK(abut_format_smoothing(&smoothing, &text));
  REQUIRE_OK(abut_parse_smoothing("here", text, strlen(text), &read));
  CHECK(read.distance == smoothing.distance && read.penetration == smoothing.penetration &&
        read.cookie == smoothing.cookie);
  CHECK(abut_parse_smoothing("here", text, strlen(text) / 2, &read) == ABUT_ERROR_FORMAT &&
        strncmp(abut_last_error(), "here:", 5) == 0);
  CHECK(abut_parse_smoothing("here", NULL, 0, &read) == ABUT_ERROR_ARGUMENT);
  abut_free(text);
}

/* The page that asks its server has no contacts, but what all kinds of pairs are. */
static void test_live_scene(abut_scene scene, const abut_scene_info *info, const double *q)
{
  abut_page_options o = abut_default_page_options();
  size_t bytes = 0, kinds = 0;
  char *html = NULL;
  o.live = true;
  REQUIRE_OK(abut_format_scene_page(scene, 2, q, &o, &html, &bytes));
  CHECK(strstr(html, "\"live\":{\"smoothing\":[\"{\\n") && strstr(html, "connect-src 'self'"));
  CHECK(strstr(html, "\"candidates\":") && !strstr(html, "\"activity\":{") &&
        !strstr(html, "<img id=\"picture\""));
  REQUIRE_OK(abut_get_kinds(scene, NULL, NULL, &kinds));
  CHECK(kinds > 1 && kinds <= info->kinds && count_of(html, "\\\"penetration\\\"") == kinds);
  abut_free(html);
}

static void test_scene(abut_context context, const char *path)
{
  abut_page_options o = abut_default_page_options();
  abut_scene scene;
  abut_scene_info info;
  char *html = NULL;
  size_t bytes = 0;
  REQUIRE_OK(abut_load_scene(context, path, &scene));
  REQUIRE_OK(abut_get_scene_info(scene, &info));
  double *q = calloc(2 * info.nq, sizeof *q);
  REQUIRE(q);
  REQUIRE_OK(abut_get_scene_start(scene, q));
  memcpy(q + info.nq, q, info.nq * sizeof *q);
  q[info.nq] = NAN; /* its second frame has no places */
  o.picture_width = 0;
  REQUIRE_OK(abut_format_scene_page(scene, 2, q, &o, &html, &bytes));
  CHECK(strstr(html, "\"scene\":true") && strstr(html, "\"link\":\"hammer\"") &&
        strstr(html, "\"floor\":true"));
  CHECK(!strstr(html, "<img id=\"picture\""));
  abut_free(html);
  REFUSED(abut_format_scene_page(scene, 1, NULL, &o, &html, &bytes),
          "abut_format_scene_page: the positions");
  REFUSED(abut_format_scene_page(scene, 0, q, &o, &html, &bytes), "a page cannot have 0 frames");
  test_live_scene(scene, &info, q);
  CHECK_OK(abut_destroy_scene(scene));
  CHECK(abut_format_scene_page(scene, 1, q, &o, &html, &bytes) == ABUT_ERROR_HANDLE);
  free(q);
}

int main(int argc, char **argv)
{
  abut_body box;
  abut_smoothing smoothing;
  abut_pair pair;
  REQUIRE(argc > 2);
  abut_context context = require_context(ABUT_FLOAT64);
  REQUIRE_OK(abut_load_body(context, argv[1], &box));
  REQUIRE_OK(abut_fit_smoothing(box, box, &smoothing));
  REQUIRE_OK(abut_create_pair(box, box, &smoothing, &pair));
  test_pair(pair);
  test_live(pair, smoothing);
  test_scene(context, argv[2]);
  return finish_context(context);
}
