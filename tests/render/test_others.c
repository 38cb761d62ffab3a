/* Pictures of a pair with other bodies around it: test_others PRECISION
 *
 * The camera stands on the x axis: y is to the right, z up, x nearer. The pair are two balls,
 * blue and sand, the first one around them is green, the second red. */
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 120
#define HEIGHT 100

static const double here[6] = {0}, behind[6] = {-0.2, 0, 0, 0, 0, 0};

/* What is looked at. */
typedef struct setting {
  abut_context context;
  abut_body ball, drilled;
  abut_pair balls; /* of the ball with itself */
} setting;

static abut_view small_view(void)
{
  abut_view v = abut_default_view();
  v.width = WIDTH;
  v.height = HEIGHT;
  v.azimuth = v.elevation = 0.0;
  v.contacts = false;
  return v;
}

static abut_placed_body at(abut_body body, double x, double y, double z)
{
  return (abut_placed_body){body, {x, y, z, 1.0}};
}

/* By the order of channels, which white on an edge leaves as it is. What is nearly grey is of no
 * body: most is white on an edge, or blue and sand mixed. */
typedef enum paint { WHITE, PAIR, GREEN, RED, GREY } paint;

static paint paint_at(const picture *p, uint32_t x, uint32_t y)
{
  const uint8_t *c = p->rgb + 3 * ((size_t)y * p->width + x);
  const int most = c[0] > c[1] ? (c[0] > c[2] ? c[0] : c[2]) : (c[1] > c[2] ? c[1] : c[2]);
  const int least = c[0] < c[1] ? (c[0] < c[2] ? c[0] : c[2]) : (c[1] < c[2] ? c[1] : c[2]);
  if (least == 255) {
    return WHITE;
  }
  return most - least < 12                ? GREY
         : c[1] == most                   ? GREEN
         : c[0] - c[1] > abs(c[1] - c[2]) ? RED
                                          : PAIR;
}

/* In the columns from `from` on, up to `to`. */
static size_t count_in(const picture *p, paint what, uint32_t from, uint32_t to)
{
  size_t count = 0;
  for (uint32_t y = 0; y < p->height; ++y) {
    for (uint32_t x = from; x < to && x < p->width; ++x) {
      count += paint_at(p, x, y) == what;
    }
  }
  return count;
}

static size_t count_of(const picture *p, paint what)
{
  return count_in(p, what, 0, p->width);
}

/* Without others it is abut_render's picture. */
static void test_none(const setting *s)
{
  abut_view v = small_view();
  v.contacts = true;
  const double above[6] = {0, 0, 1.5, 0, 0, 0};
  picture p = draw(s->balls, &v, here, above), q = draw_with(s->balls, &v, here, above, NULL, 0);
  check(!count_different(&p, &q, 0), "no other body changes the picture");
  picture_free(&p);
  picture_free(&q);
}

/* Each is where it stands and nowhere else, and the camera holds all of them. */
static void test_places(const setting *s)
{
  const abut_view v = small_view();
  const abut_placed_body two[2] = {at(s->ball, 0, 3, 0), at(s->drilled, 0, -3, 0)};
  picture p = draw_with(s->balls, &v, here, behind, two, 1);
  check(count_in(&p, PAIR, 0, 58) > 1000 && count_in(&p, GREEN, 62, WIDTH) > 1000,
        "one to the right is not there");
  check(!count_in(&p, GREEN, 0, 60) && !count_in(&p, PAIR, 60, WIDTH) && !count_of(&p, RED),
        "one to the right is elsewhere, too");
  picture_free(&p);
  p = draw_with(s->balls, &v, here, behind, two, 2);
  check(count_in(&p, RED, 0, 40) > 300 && count_in(&p, PAIR, 40, 80) > 300 &&
          count_in(&p, GREEN, 80, WIDTH) > 300,
        "of two others one is not there");
  check(!count_in(&p, RED, 44, WIDTH) && !count_in(&p, GREEN, 0, 76), "they are elsewhere, too");
  for (uint32_t y = 0; y < HEIGHT; ++y) {
    check(paint_at(&p, 0, y) == WHITE && paint_at(&p, WIDTH - 1, y) == WHITE, "one is cut off");
  }
  picture_free(&p);
}

static void test_depth(const setting *s)
{
  const abut_view v = small_view();
  abut_placed_body one = at(s->ball, 3, 0, 0);
  picture p = draw_with(s->balls, &v, here, behind, &one, 1);
  check(count_of(&p, GREEN) > 1000 && !count_of(&p, PAIR),
        "a nearer body of %zu pixels leaves %zu of the pair", count_of(&p, GREEN),
        count_of(&p, PAIR));
  picture_free(&p);
  one = at(s->ball, -3, 0, 0);
  p = draw_with(s->balls, &v, here, behind, &one, 1);
  check(count_of(&p, PAIR) > 1000 && !count_of(&p, GREEN), "the pair does not hide what is behind");
  picture_free(&p);
}

/* The hole along x is looked through, and turned by a quarter around z it is not; a quaternion's
 * length does not matter. */
static void test_turned(const setting *s)
{
  const abut_view v = small_view();
  const double far[6] = {0, -3, 0, 0, 0, 0};
  abut_placed_body one = at(s->drilled, 0, 3, 0);
  picture p = draw_with(s->balls, &v, far, far, &one, 1);
  one.pose[3] = 1e200;
  picture q = draw_with(s->balls, &v, far, far, &one, 1);
  check(!count_different(&p, &q, 0), "a longer quaternion is another pose");
  picture_free(&q);
  one.pose[3] = one.pose[6] = 1.0;
  q = draw_with(s->balls, &v, far, far, &one, 1);
  check(count_of(&q, GREEN) > count_of(&p, GREEN) + 40,
        "a quarter does not close the hole: %zu, %zu", count_of(&p, GREEN), count_of(&q, GREEN));
  picture_free(&p);
  picture_free(&q);
}

/* Contacts are the pair's alone: of two balls apart there are none, whatever is in both. */
static void test_contacts(const setting *s)
{
  abut_view v = small_view();
  v.width = v.height = 200;
  const double apart[6] = {0, 0, 3, 0, 0, 0};
  const abut_placed_body between = at(s->ball, 0, 0, 1.5);
  picture without = draw_with(s->balls, &v, here, apart, &between, 1);
  v.contacts = true;
  picture with = draw_with(s->balls, &v, here, apart, &between, 1);
  size_t changed = 0;
  for (uint32_t y = 0; y < 200; ++y) {
    for (uint32_t x = 0; x < (y < 140 ? 200u : 130u); ++x) { /* but for the bar */
      const size_t i = 3 * ((size_t)y * 200 + x);
      changed += memcmp(with.rgb + i, without.rgb + i, 3) != 0;
    }
  }
  check(!changed, "contacts with others change %zu pixels", changed);
  picture_free(&without);
  picture_free(&with);
}

/* Marks of the pair's contacts do not grow with what stands around it. */
static void test_marks(const setting *s)
{
  abut_view v = small_view();
  v.width = v.height = 400;
  const double above[6] = {0, 0, 1.9, 0, 0, 0};
  const abut_placed_body far = at(s->ball, 0, 30, 0);
  size_t marks[2], bodies[2];
  for (int i = 0; i < 2; ++i) {
    v.contacts = false;
    picture without = draw_with(s->balls, &v, here, above, &far, (size_t)i);
    v.contacts = true;
    picture with = draw_with(s->balls, &v, here, above, &far, (size_t)i);
    marks[i] = bodies[i] = 0;
    for (size_t k = 0; k < 400 * 280; ++k) { /* above the bar */
      marks[i] += memcmp(with.rgb + 3 * k, without.rgb + 3 * k, 3) != 0;
      bodies[i] += without.rgb[3 * k] != 255;
    }
    picture_free(&without);
    picture_free(&with);
  }
  const double share = (double)marks[0] / (double)bodies[0];
  check(marks[1] > 0 && (double)marks[1] < 3.0 * share * (double)bodies[1],
        "%zu pixels of marks on %zu become %zu on %zu", marks[0], bodies[0], marks[1], bodies[1]);
}

/* Many, and far ones; a body that is smaller than a pixel is framed, too. */
static void test_many(const setting *s)
{
  abut_view v = small_view();
  abut_placed_body many[40];
  for (int i = 0; i < 40; ++i) {
    many[i] = at(i % 3 ? s->ball : s->drilled, 0, 3 * (i % 8), 3 + 3 * (i / 8));
  }
  picture p = draw_with(s->balls, &v, here, behind, many, 40);
  check(count_of(&p, GREEN) > 100 && count_of(&p, RED) > 100 && count_of(&p, PAIR) > 100,
        "of many not all are there");
  picture_free(&p);
  for (int i = 0; i < 4; ++i) {
    const double distance[4] = {25.0, 1e4, 1e20, 9e36};
    const abut_placed_body far = at(s->ball, 0, distance[i], 0.3 * distance[i]);
    p = draw_with(s->balls, &v, here, behind, &far, 1);
    check(i || (count_of(&p, GREEN) && count_of(&p, PAIR)), "one 25 m away is not seen");
    picture_free(&p);
  }
}

/* ---- what is refused ---- */

static void refused(const setting *s, const abut_placed_body *others, size_t count,
                    abut_status wanted, const char *what)
{
  static uint8_t rgb[3 * WIDTH * HEIGHT];
  const abut_view v = small_view();
  memset(rgb, 7, sizeof rgb);
  const abut_status status =
    abut_render_with(s->balls, ABUT_POSE_TWIST, here, here, others, count, &v, rgb);
  check(status == wanted, "%s gives %s", what, abut_status_name(status));
  check(strlen(abut_last_error()) > 0, "%s gives no text", what);
  for (size_t i = 0; i < sizeof rgb; ++i) {
    if (rgb[i] != 7) {
      check(false, "%s changes the picture", what);
      break;
    }
  }
}

static void test_refused(const setting *s, abut_precision precision)
{
  refused(s, NULL, 1, ABUT_ERROR_ARGUMENT, "no array of others");
  for (int i = 0; i < 7; ++i) {
    abut_placed_body two[2] = {at(s->drilled, 0, 3, 0), at(s->drilled, 0, 3, 0)};
    two[1].pose[i] = i % 2 ? NAN : -INFINITY;
    refused(s, two, 2, ABUT_ERROR_ARGUMENT, "a pose that is not finite");
    check(strstr(abut_last_error(), "body 1 ") != NULL, "says: %s", abut_last_error());
  }
  abut_placed_body one = at(s->ball, 0, 3, 0);
  one.pose[3] = 0.0;
  refused(s, &one, 1, ABUT_ERROR_ARGUMENT, "a quaternion of length 0");
  one = at((abut_body){0, 0}, 0, 3, 0);
  refused(s, &one, 1, ABUT_ERROR_HANDLE, "a body of nothing");
  abut_body gone, foreign;
  REQUIRE(make_ball(s->context, &gone));
  REQUIRE_OK(abut_destroy_body(gone));
  one = at(gone, 0, 3, 0);
  refused(s, &one, 1, ABUT_ERROR_HANDLE, "a body that is destroyed");
  abut_context other;
  REQUIRE(test_context(precision, &other));
  REQUIRE(make_ball(other, &foreign));
  one = at(foreign, 0, 3, 0);
  refused(s, &one, 1, ABUT_ERROR_HANDLE, "a body of another context");
  CHECK_OK(abut_destroy_context(other));
  check(abut_render_with((abut_pair){0, 0}, ABUT_POSE_TWIST, here, here, NULL, 0, &(abut_view){0},
                         (uint8_t[3]){0}) != ABUT_SUCCESS,
        "a pair of nothing is drawn");
}

/* ---- devices ---- */

static bool set_up(abut_context context, setting *s)
{
  s->context = context;
  return make_ball(context, &s->ball) && make_drilled(context, &s->drilled) &&
         make_pair(s->ball, s->ball, &s->balls);
}

static picture draw_elsewhere(abut_context context)
{
  setting s;
  abut_view v = small_view();
  v.azimuth = 0.5;
  v.elevation = 0.4;
  v.contacts = true;
  const double twist[6] = {0.2, 0.1, 1.6, 0.3, 0.2, 0.1};
  if (!set_up(context, &s)) {
    return (picture){0, 0, NULL};
  }
  const abut_placed_body others[2] = {{s.drilled, {1.5, 1.7, 0.3, 1, 0.3, 0.2, 0.1}},
                                      at(s.ball, -1, -1.8, 1)};
  return draw_with(s.balls, &v, here, twist, others, 2);
}

static void all_are_there(const picture *p)
{
  check(count_of(p, GREEN) > 300 && count_of(p, RED) > 200 && count_of(p, PAIR) > 300,
        "the host path draws %zu, %zu and %zu pixels", count_of(p, PAIR), count_of(p, GREEN),
        count_of(p, RED));
}

int main(int argc, char **argv)
{
  const abut_precision precision = argc > 1 && !strcmp(argv[1], "f32") ? ABUT_FLOAT32
                                                                       : ABUT_FLOAT64;
  setting s;
  abut_context context = require_context(precision);
  if (set_up(context, &s)) {
    test_none(&s);
    test_places(&s);
    test_depth(&s);
    test_turned(&s);
    test_contacts(&s);
    test_marks(&s);
    test_many(&s);
    test_refused(&s, precision);
    check_devices(context, precision, draw_elsewhere, all_are_there);
  }
  return finish_context(context);
}
