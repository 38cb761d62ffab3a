/* Pictures of scenes: test_scene PRECISION BALLS FLOOR BARE SPRINGS POINTS THIN WALL, the scenes'
 * files. */
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 120
#define HEIGHT 100

static abut_view small_view(void)
{
  abut_view v = abut_default_view();
  v.width = WIDTH;
  v.height = HEIGHT;
  v.azimuth = v.elevation = 0.0;
  v.contacts = false;
  return v;
}

/* Empty after a failed check; picture_free is the caller's. */
static picture draw_scene(abut_scene scene, const double *q, const double *framed, size_t count,
                          const abut_view *view)
{
  picture p = {view->width, view->height, calloc(view->width * view->height, 3)};
  REQUIRE(p.rgb);
  CHECK_OK(abut_render_scene(scene, q, framed, count, view, p.rgb));
  return p;
}

static abut_scene load(abut_context context, const char *path)
{
  abut_scene scene;
  REQUIRE_OK(abut_load_scene(context, path, &scene));
  return scene;
}

/* Where what is shown lies; the number of its pixels. */
static double centre_of(const picture *p, shown what, double *x, double *y)
{
  double count = 0.0;
  *x = *y = 0.0;
  for (uint32_t row = 0; row < p->height; ++row) {
    for (uint32_t column = 0; column < p->width; ++column) {
      if (shown_at(p, column, row) == what) {
        *x += column + 0.5;
        *y += row + 0.5;
        count += 1.0;
      }
    }
  }
  *x /= fmax(count, 1.0);
  *y /= fmax(count, 1.0);
  return count;
}

/* The camera stands on the x axis: y is to the right. Quaternions need no length of 1. The second
 * ball and the wall are in no pair of their own or in none at all. */
static void test_places(abut_scene balls)
{
  const abut_view v = small_view();
  const double q[14] = {0, -2, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0};
  double x[2], y[2];
  picture p = draw_scene(balls, q, NULL, 0, &v);
  const double first = centre_of(&p, FIRST, &x[0], &y[0]);
  const double second = centre_of(&p, SECOND, &x[1], &y[1]);
  check(first > 300 && fabs(first - second) < 40, "the balls have %g and %g pixels", first, second);
  check(fabs(x[0] + x[1] - WIDTH) < 1.5 && x[1] - x[0] > 40, "they lie at %g and %g", x[0], x[1]);
  check(fabs(y[0] - 0.5 * HEIGHT) < 2 && fabs(y[1] - y[0]) < 1, "and as high as %g, %g", y[0],
        y[1]);
  picture again = draw_scene(balls, q, NULL, 0, &v);
  CHECK(!memcmp(p.rgb, again.rgb, 3 * WIDTH * HEIGHT));
  picture_free(&p);
  picture_free(&again);
}

/* One camera for several states, or one for each. */
static void test_framed(abut_scene balls)
{
  const abut_view v = small_view();
  const double way[2][14] = {{0, -4, 0, 1, 0, 0, 0, 0, 9, 0, 1, 0, 0, 0},
                             {0, 4, 0, 1, 0, 0, 0, 0, 9, 0, 1, 0, 0, 0}};
  double x[2], y;
  for (int i = 0; i < 2; ++i) {
    picture p = draw_scene(balls, way[i], way[0], 2, &v);
    CHECK(centre_of(&p, FIRST, &x[i], &y) > 30);
    picture_free(&p);
  }
  check(x[1] - x[0] > 30 && x[0] > 5 && x[0] < 30, "the first ball goes from %g to %g", x[0], x[1]);
  picture own = draw_scene(balls, way[1], NULL, 0, &v);
  double larger, at;
  larger = centre_of(&own, FIRST, &at, &y);
  picture all = draw_scene(balls, way[1], way[0], 2, &v);
  check(larger > 1.5 * centre_of(&all, FIRST, &at, &y), "a camera of its own does not come nearer");
  picture_free(&own);
  picture_free(&all);
}

static bool is_grey(const uint8_t *rgb)
{
  return abs(rgb[0] - rgb[1]) < 12 && abs(rgb[1] - rgb[2]) < 12 && rgb[0] < 250;
}

/* The floor is grey, in two shades, fills what is below the ball, and does not count for the
 * camera; contacts are drawn if asked for. */
static void test_floor(abut_scene floor)
{
  abut_view v = small_view();
  double q[7], x, y;
  v.elevation = 0.5;
  REQUIRE_OK(abut_get_scene_start(floor, q));
  picture p = draw_scene(floor, q, NULL, 0, &v);
  const double ball = centre_of(&p, FIRST, &x, &y);
  check(ball > 1500 && fabs(x - 60) < 1.5, "the ball has %g pixels around %g, %g", ball, x, y);
  int least = 255, most = 0, grey = 0;
  for (uint32_t column = 0; column < WIDTH; ++column) {
    const uint8_t *at = p.rgb + 3 * ((HEIGHT - 3) * WIDTH + column);
    grey += is_grey(at);
    least = at[0] < least ? at[0] : least;
    most = at[0] > most ? at[0] : most;
  }
  check(grey == WIDTH, "%d pixels of the lowest row are grey", grey);
  check(most - least > 12, "the floor has one shade, %d to %d", least, most);
  v.contacts = true;
  picture marked = draw_scene(floor, q, NULL, 0, &v);
  const size_t changed = count_different(&p, &marked, 20); /* The ball has one contact, whose mark
                                                              covers a few pixels. */
  check(changed > 8 && changed < 60, "contacts change %zu pixels", changed);
  v.threshold = 1.0;
  picture none = draw_scene(floor, q, NULL, 0, &v);
  CHECK(count_different(&p, &none, 0) == 0);
  picture_free(&p);
  picture_free(&marked);
  picture_free(&none);
}

static void test_refused(abut_scene balls, abut_scene bare)
{
  abut_view v = small_view();
  uint8_t rgb[3 * WIDTH * HEIGHT] = {0};
  double q[14] = {0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 1, 0, 0, 0};
  CHECK(abut_render_scene(balls, NULL, NULL, 0, &v, rgb) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_render_scene(balls, q, NULL, 1, &v, rgb) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_render_scene(balls, q, NULL, 0, NULL, rgb) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_render_scene(balls, q, NULL, 0, &v, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_render_scene(balls, q, q, SIZE_MAX / 16, &v, rgb) == ABUT_ERROR_MEMORY);
  CHECK(abut_render_scene(bare, q, NULL, 0, &v, rgb) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the scene has no bodies to draw");
  q[9] = INFINITY;
  CHECK(abut_render_scene(balls, q, NULL, 0, &v, rgb) == ABUT_ERROR_ARGUMENT);
  q[9] = q[3] = 0.0;
  CHECK(abut_render_scene(balls, q, NULL, 0, &v, rgb) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the quaternion of link 0 has length 0");
  q[3] = 1.0;
  v.zoom = 0.0;
  CHECK(abut_render_scene(balls, q, NULL, 0, &v, rgb) == ABUT_ERROR_ARGUMENT);
  for (size_t i = 0; i < sizeof rgb; ++i) {
    REQUIRE(!rgb[i]);
  }
  CHECK_OK(abut_destroy_scene(bare));
  CHECK(abut_render_scene(bare, q, NULL, 0, &v, rgb) == ABUT_ERROR_HANDLE);
}

/* Bodies of springs need no fields: they have their meshes' shapes, which steps do without. Pairs
 * have poses, and are none of abut_contacts. */
static void test_springs(abut_scene springs)
{
  abut_view v = small_view();
  const double way[2][5] = {{0, 0, 0, 0.0, 0.08}, {0, 0, 0.5, 0.0, 0.12}};
  double pose1[7], pose2[7], x[4], y[4];
  abut_scene_pair pair;
  v.contacts = true;
  picture p = draw_scene(springs, way[0], way[0], 2, &v);
  picture after = draw_scene(springs, way[1], way[0], 2, &v);
  check(centre_of(&p, FIRST, &x[0], &y[0]) > 1000, "the object has few pixels");
  const double finger = centre_of(&p, SECOND, &x[1], &y[1]);
  check(finger > 40, "the finger has %g pixels", finger);
  centre_of(&after, FIRST, &x[2], &y[2]);
  centre_of(&after, SECOND, &x[3], &y[3]);
  check(x[1] - x[0] > 10 && x[3] - x[1] > 5, "the finger goes from %g to %g", x[1], x[3]);
  CHECK(count_different(&p, &after, 20) > 100);
  REQUIRE_OK(abut_get_scene_pair(springs, 0, &pair));
  CHECK(!pair.pair.index && !pair.pair.generation && pair.link[0] == 2 && pair.link[1] == 4);
  REQUIRE_OK(abut_place_pairs(springs, way[1], pose1, pose2));
  CHECK(fabs(pose1[3] - cos(0.25)) < 1e-15 && fabs(pose1[6] - sin(0.25)) < 1e-15);
  CHECK(fabs(pose2[1] - 0.12) < 1e-15);
  picture_free(&p);
  picture_free(&after);
}

/* A cloud of points touches, but has no mesh to show. */
static void test_points(abut_scene points)
{
  const abut_view v = small_view();
  uint8_t rgb[3 * WIDTH * HEIGHT] = {0};
  double q[7];
  abut_scene_info info;
  REQUIRE_OK(abut_get_scene_start(points, q));
  for (int i = 0; i < 2; ++i) {
    CHECK(abut_render_scene(points, q, NULL, 0, &v, rgb) == ABUT_ERROR_FORMAT);
    CHECK(strstr(abut_last_error(), "points.scene.json:4: links[1].bodies[0]: its file, "));
    CHECK(strstr(abut_last_error(), "points.obj: contains no faces, so no field can be made"));
  }
  REQUIRE_OK(abut_get_scene_info(points, &info));
  CHECK(info.springs == 1 && info.contacts == 1);
}

/* A plate of a millimetre, or ten, and two metres, through which no ray may step. */
static void test_thin(abut_scene thin)
{
  abut_view v = small_view();
  double q[14], x, y;
  int holes = 0;
  v.elevation = 0.8;
  REQUIRE_OK(abut_get_scene_start(thin, q));
  picture p = draw_scene(thin, q, NULL, 0, &v);
  const double plate = centre_of(&p, FIRST, &x, &y);
  for (uint32_t row = 0; row < HEIGHT; ++row) {
    uint32_t first = 0, last = WIDTH;
    while (first < WIDTH && shown_at(&p, first, row) != FIRST) {
      ++first;
    }
    while (last > first && shown_at(&p, last - 1, row) != FIRST) {
      --last;
    }
    for (uint32_t column = first; column < last; ++column) {
      holes += shown_at(&p, column, row) != FIRST;
    }
  }
  check(plate > 1500 && !holes, "the plate has %g pixels and %d holes", plate, holes);
  picture_free(&p);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 8);
  abut_context context = require_context(strcmp(argv[1], "f32") ? ABUT_FLOAT64 : ABUT_FLOAT32);
  const abut_scene balls = load(context, argv[2]);
  test_places(balls);
  test_framed(balls);
  test_floor(load(context, argv[3]));
  test_refused(balls, load(context, argv[4]));
  test_springs(load(context, argv[5]));
  test_points(load(context, argv[6]));
  test_thin(load(context, argv[7]));
  test_thin(load(context, argv[8]));
  return finish_context(context);
}
