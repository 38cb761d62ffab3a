/* Pictures: test_render PRECISION. With ABUT_TEST_USUAL=1 some are smaller, and clouds are left
 * out.
 *
 * A ball's silhouette is known, and from it the place of everything else; pictures of several
 * devices are compared with the host path's. */
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double here[6] = {0};

static abut_view small_view(void)
{
  abut_view v = abut_default_view();
  v.width = 120;
  v.height = 100;
  v.azimuth = v.elevation = 0.0;
  v.contacts = false;
  return v;
}

/* A disc that the picture's bodies fill: its centre and radius, and how far its rim strays from
 * it. */
typedef struct disc {
  double x, y, radius, stray;
} disc;

static disc fit_disc(const picture *p)
{
  disc d = {0.0, 0.0, 0.0, 0.0};
  double count = 0.0;
  for (uint32_t y = 0; y < p->height; ++y) {
    for (uint32_t x = 0; x < p->width; ++x) {
      if (shown_at(p, x, y) != PAPER) {
        d.x += x + 0.5;
        d.y += y + 0.5;
        count += 1.0;
      }
    }
  }
  d.x /= fmax(count, 1.0);
  d.y /= fmax(count, 1.0);
  d.radius = sqrt(count / 3.14159265358979323846);
  for (uint32_t y = 0; y < p->height; ++y) {
    for (uint32_t x = 0; x < p->width; ++x) {
      const double far = hypot(x + 0.5 - d.x, y + 0.5 - d.y) - d.radius;
      d.stray = fmax(d.stray, shown_at(p, x, y) != PAPER ? far : -far);
    }
  }
  return d;
}

/* Seen alone, a ball is a disc of nine tenths of the shorter side, and zoom multiplies it. */
static void test_silhouette(abut_pair balls)
{
  abut_view v = small_view();
  for (int i = 0; i < 3; ++i) {
    v.zoom = i == 0 ? 1.0 : i == 1 ? 0.5 : 0.25;
    v.azimuth = 0.7 * i;
    v.elevation = 0.4 * i;
    picture p = draw(balls, &v, here, here);
    const disc d = fit_disc(&p);
    check(hypot(d.x - 60.0, d.y - 50.0) < 0.8, "the ball's centre is at %.2f, %.2f", d.x, d.y);
    check(fabs(d.radius - 45.0 * v.zoom) < 1.0, "at zoom %g the radius is %.2f", v.zoom, d.radius);
    check(d.stray < 1.3, "the rim strays by %.2f pixels", d.stray);
    picture_free(&p);
  }
}

/* The light comes from the upper left of the viewer. */
static void test_shading(abut_pair balls)
{
  const abut_view v = small_view();
  picture p = draw(balls, &v, here, here);
  for (int k = 5; k <= 25; k += 5) {
    const int at[2] = {50 - k, 60 - k}, opposite[2] = {50 + k, 60 + k};
    const uint8_t *lit = p.rgb + 3 * (at[0] * 120 + at[1]);
    const uint8_t *dark = p.rgb + 3 * (opposite[0] * 120 + opposite[1]);
    check(lit[2] > dark[2], "a ball is %d lit and %d on its dark side", lit[2], dark[2]);
  }
  size_t uneven = 0;
  for (uint32_t y = 0; y < p.height; ++y) {
    for (uint32_t x = 0; x < p.width; ++x) {
      uneven += (shown_at(&p, x, y) == PAPER) != (shown_at(&p, 119 - x, y) == PAPER);
    }
  }
  check(uneven <= 12, "%zu pixels have no mirror image", uneven);
  picture_free(&p);
}

/* The camera stands on the x axis: y is to the right, z up, x nearer. */
static void test_places(abut_pair balls)
{
  const abut_view v = small_view();
  const double right[6] = {0, 3, 0, 0, 0, 0}, above[6] = {0, 0, 3, 0, 0, 0};
  const double nearer[6] = {3, 0, 0, 0, 0, 0}, far[6] = {0, 40, 0, 0, 0, 0};
  picture p = draw(balls, &v, here, right);
  check(shown_at(&p, 30, 50) == FIRST && shown_at(&p, 90, 50) == SECOND, "y is not to the right");
  check(shown_at(&p, 60, 50) == PAPER, "there is no gap between two balls apart");
  picture_free(&p);
  p = draw(balls, &v, here, above);
  check(shown_at(&p, 60, 25) == SECOND && shown_at(&p, 60, 75) == FIRST, "z is not up");
  picture_free(&p);
  p = draw(balls, &v, here, nearer);
  check(shown_at(&p, 60, 50) == SECOND && !count_shown(&p, FIRST), "the nearer does not hide");
  picture_free(&p);
  p = draw(balls, &v, here, far);
  check(count_shown(&p, FIRST) >= 4 && count_shown(&p, SECOND) >= 4, "a far body is not seen");
  check(count_shown(&p, PAPER) > 11000, "far bodies leave too little background");
  picture_free(&p);
}

static void test_hole(abut_pair drilled)
{
  const uint32_t part = usual_share() ? 2 : 1, wide = 120 / part, high = 100 / part;
  abut_view v = small_view();
  v.width = wide;
  v.height = high;
  picture p = draw(drilled, &v, here, here);
  double ring = 0.0;
  for (uint32_t x = wide / 2; x < wide && shown_at(&p, x, high / 2) == PAPER; ++x) {
    ring += 1.0;
  }
  double rim = 0.0;
  for (uint32_t x = wide - 1; x > wide / 2 && shown_at(&p, x, high / 2) == PAPER; --x) {
    rim += 1.0;
  }
  /* Seen from the axis, the far end of the hole is smaller by perspective than the near one. */
  const double share = ring / (0.5 * wide - rim);
  check(share > 0.28 && share < 0.5, "the hole is %.2f of the cube", share);
  picture_free(&p);
  v.azimuth = 1.5707963267948966;
  p = draw(drilled, &v, here, here);
  check(shown_at(&p, wide / 2, high / 2) != PAPER, "the hole is seen from its side");
  picture_free(&p);
}

/* Each of a cloud's points weighs at every step of a ray. Where sanitizers make that slow a picture
 * is smaller, and its pixels are wider beside the ball. */
static void test_cloud(abut_pair clouds)
{
  const uint32_t part = UNLESS_SANITIZED(1, 2);
  abut_view v = small_view();
  v.width /= part;
  v.height /= part;
  v.elevation = 0.3;
  picture p = draw(clouds, &v, here, here);
  const disc d = fit_disc(&p);
  check(fabs(d.radius - 45.0 / part) < 2.0 && d.stray < 2.5,
        "a cloud's ball has radius %.2f, +-%.2f", d.radius, d.stray);
  picture_free(&p);
}

/* A grid's ball is as round as a superquadric's, and is seen from near its rim, too. */
static void test_grid(abut_pair grids)
{
  abut_view v = small_view();
  for (int i = usual_share() ? 2 : 0; i < 3; ++i) {
    v.zoom = i == 2 ? 0.5 : 1.0;
    v.azimuth = 0.7 * i;
    v.elevation = 0.4 * i;
    picture p = draw(grids, &v, here, here);
    const disc d = fit_disc(&p);
    check(hypot(d.x - 60.0, d.y - 50.0) < 0.8, "the grid's centre is at %.2f, %.2f", d.x, d.y);
    check(fabs(d.radius - 45.0 * v.zoom) < 1.0 && d.stray < 1.3,
          "a grid's ball has radius %.2f, +-%.2f", d.radius, d.stray);
    picture_free(&p);
  }
}

/* Contacts change pixels where they are, and the bar its corner; nothing else. */
static void test_contacts(abut_pair balls)
{
  abut_view v = small_view();
  v.width = v.height = 200;
  const double above[6] = {0, 0, 1.5, 0, 0, 0}, apart[6] = {0, 0, 5, 0, 0, 0};
  for (int i = 0; i < 2; ++i) {
    const double *pose = i ? apart : above;
    v.contacts = false;
    picture without = draw(balls, &v, here, pose);
    v.contacts = true;
    picture with = draw(balls, &v, here, pose);
    size_t middle = 0, bar = 0, rest = 0;
    for (uint32_t y = 0; y < 200; ++y) {
      for (uint32_t x = 0; x < 200; ++x) {
        const size_t at = 3 * ((size_t)y * 200 + x);
        const bool same = !memcmp(with.rgb + at, without.rgb + at, 3);
        const bool inside = x >= 70 && x < 130 && y > 40 && y < 160;
        *(x >= 130 && y >= 140 ? &bar : inside ? &middle : &rest) += !same;
      }
    }
    check(bar > 200, "the bar has %zu pixels", bar);
    check(i ? middle == 0 : middle > 60, "contacts have %zu pixels", middle);
    check(rest == 0, "%zu pixels changed elsewhere", rest);
    picture_free(&without);
    picture_free(&with);
  }
}

/* The same call, the same bytes; a twist and a quaternion of the same pose are one picture. */
static void test_same(abut_pair drilled)
{
  abut_view v = small_view();
  v.contacts = true;
  v.azimuth = 0.5;
  const double twist[6] = {0.2, 0.1, 1.8, 0, 0, 0}, quaternion[7] = {0.2, 0.1, 1.8, 2, 0, 0, 0};
  const double identity[7] = {0, 0, 0, 1, 0, 0, 0};
  picture p = draw(drilled, &v, here, twist), q = draw(drilled, &v, here, twist);
  check(!count_different(&p, &q, 0), "two calls give two pictures");
  CHECK_OK(abut_render(drilled, ABUT_POSE_QUATERNION, identity, quaternion, &v, q.rgb));
  check(mean_difference(&p, &q) < 0.05, "a quaternion gives another picture");
  picture_free(&p);
  picture_free(&q);
}

static void test_sizes(abut_pair balls)
{
  const uint32_t sides[4][2] = {{1, 1}, {1, 90}, {90, 1}, {7, 300}};
  abut_view v = small_view();
  v.contacts = true;
  for (int i = 0; i < 4; ++i) {
    v.width = sides[i][0];
    v.height = sides[i][1];
    picture p = draw(balls, &v, here, here);
    check(count_shown(&p, PAPER) < (size_t)v.width * v.height, "%u x %u shows nothing", v.width,
          v.height);
    picture_free(&p);
  }
}

/* However far apart, a picture comes back; while pixels can hold both bodies, both are in it. */
static void test_far(abut_pair pair)
{
  abut_view v = small_view();
  v.contacts = true;
  for (int i = 0; i < 5; ++i) {
    const double distance[5] = {25.0, 1e4, 1e12, 1e20, 9e36};
    const double pose[6] = {0.0, distance[i], 0.3 * distance[i], 0, 0, 0};
    picture p = draw(pair, &v, here, pose);
    check(i || (count_shown(&p, FIRST) && count_shown(&p, SECOND)), "a body %g m away is not seen",
          distance[i]);
    picture_free(&p);
  }
}

static void refused(abut_pair pair, const abut_view *v, const double *pose, const char *what)
{
  static uint8_t rgb[3 * 120 * 100];
  memset(rgb, 7, sizeof rgb);
  const abut_status status = abut_render(pair, ABUT_POSE_TWIST, here, pose, v, rgb);
  check(status == ABUT_ERROR_ARGUMENT, "%s gives %s", what, abut_status_name(status));
  check(strlen(abut_last_error()) > 0, "%s gives no text", what);
  for (size_t i = 0; i < sizeof rgb; ++i) {
    if (rgb[i] != 7) {
      check(false, "%s changes the picture", what);
      break;
    }
  }
}

static void test_refused(abut_pair pair)
{
  static uint8_t rgb[3 * 120 * 100];
  const abut_view good = small_view();
  abut_view v = good;
  v.cookie = 0;
  refused(pair, &v, here, "a view not made by abut_default_view");
  v = good;
  v.width = 0;
  refused(pair, &v, here, "no width");
  v = good;
  v.height = UINT32_MAX;
  refused(pair, &v, here, "a huge height");
  v = good;
  v.azimuth = NAN;
  refused(pair, &v, here, "an azimuth that is not a number");
  v = good;
  v.elevation = INFINITY;
  refused(pair, &v, here, "an infinite elevation");
  v = good;
  v.zoom = 0.0;
  refused(pair, &v, here, "no zoom");
  v = good;
  v.threshold = NAN;
  refused(pair, &v, here, "a threshold that is not a number");
  for (int i = 0; i < 6; ++i) {
    double pose[6] = {0};
    pose[i] = i % 2 ? NAN : -INFINITY;
    refused(pair, &good, pose, "a pose that is not finite");
  }
  refused(pair, NULL, here, "no view");
  refused(pair, &good, NULL, "no pose");
  const double hollow[7] = {0}, identity[7] = {0, 0, 0, 1, 0, 0, 0};
  check(abut_render(pair, ABUT_POSE_QUATERNION, identity, hollow, &good, rgb) ==
          ABUT_ERROR_ARGUMENT,
        "a quaternion of length 0 is drawn");
  check(abut_render(pair, (abut_pose_kind)9, here, here, &good, rgb) == ABUT_ERROR_ARGUMENT,
        "a pose of kind 9 is drawn");
  check(abut_render(pair, ABUT_POSE_TWIST, here, here, &good, NULL) == ABUT_ERROR_ARGUMENT,
        "a picture is drawn into nothing");
  check(abut_render((abut_pair){0, 0}, ABUT_POSE_TWIST, here, here, &good, rgb) ==
          ABUT_ERROR_HANDLE,
        "a pair of nothing is drawn");
}

/* A drilled cube on a ball. */
static picture draw_elsewhere(abut_context context)
{
  abut_view v = small_view();
  v.azimuth = 0.5;
  v.elevation = 0.4;
  v.contacts = true;
  const double twist[6] = {0.2, 0.1, 1.6, 0.3, 0.2, 0.1};
  abut_body ball, drilled;
  abut_pair pair;
  if (!make_ball(context, &ball) || !make_drilled(context, &drilled) ||
      !make_pair(ball, drilled, &pair)) {
    return (picture){0, 0, NULL};
  }
  return draw(pair, &v, here, twist);
}

static void all_are_there(const picture *p)
{
  check(count_shown(p, FIRST) > 300 && count_shown(p, SECOND) > 300 && count_shown(p, OTHER) > 10,
        "the host path draws %zu, %zu and %zu pixels", count_shown(p, FIRST),
        count_shown(p, SECOND), count_shown(p, OTHER));
}

int main(int argc, char **argv)
{
  const abut_precision precision = argc > 1 && !strcmp(argv[1], "f32") ? ABUT_FLOAT32
                                                                       : ABUT_FLOAT64;
  abut_context context = require_context(precision);
  abut_body ball, drilled, cloud, grid;
  abut_pair balls, drills, clouds, grids;
  if (make_ball(context, &ball) && make_drilled(context, &drilled) &&
      make_cloud_ball(context, &cloud) && make_grid_ball(context, &grid) &&
      make_pair(ball, ball, &balls) && make_pair(grid, grid, &grids) &&
      make_pair(drilled, drilled, &drills) && make_pair(cloud, cloud, &clouds)) {
    test_silhouette(balls);
    test_shading(balls);
    test_places(balls);
    test_hole(drills);
    if (!usual_share()) { /* test_scene.c draws clouds, too */
      test_cloud(clouds);
    }
    test_grid(grids);
    test_contacts(balls);
    test_same(drills);
    test_sizes(balls);
    test_far(balls);
    if (!usual_share()) {
      test_far(clouds);
    }
    test_far(grids);
    test_refused(balls);
    check_devices(context, precision, draw_elsewhere, all_are_there);
  }
  return finish_context(context);
}
