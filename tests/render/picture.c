#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

shown shown_at(const picture *p, uint32_t x, uint32_t y)
{
  const uint8_t *c = p->rgb + 3 * ((size_t)y * p->width + x);
  if (c[0] == 255 && c[1] == 255 && c[2] == 255) {
    return PAPER;
  }
  return c[2] > c[0] + 10 ? FIRST : c[0] > c[2] + 10 && c[0] < c[2] + 90 ? SECOND : OTHER;
}

size_t count_shown(const picture *p, shown what)
{
  size_t count = 0;
  for (uint32_t y = 0; y < p->height; ++y) {
    for (uint32_t x = 0; x < p->width; ++x) {
      count += shown_at(p, x, y) == what;
    }
  }
  return count;
}

double mean_difference(const picture *a, const picture *b)
{
  const size_t bytes = (size_t)3 * a->width * a->height;
  double sum = 0.0;
  for (size_t i = 0; i < bytes; ++i) {
    sum += abs(a->rgb[i] - b->rgb[i]);
  }
  return sum / (double)bytes;
}

size_t count_different(const picture *a, const picture *b, int more)
{
  size_t count = 0;
  for (size_t i = 0; i < (size_t)a->width * a->height; ++i) {
    const uint8_t *p = a->rgb + 3 * i, *q = b->rgb + 3 * i;
    count += abs(p[0] - q[0]) > more || abs(p[1] - q[1]) > more || abs(p[2] - q[2]) > more;
  }
  return count;
}

static picture drawn(const abut_view *view, uint8_t *rgb, abut_status status)
{
  const bool good = CHECK_OK(status);
  return (picture){good ? view->width : 0, good ? view->height : 0, rgb};
}

static uint8_t *paper_for(const abut_view *view)
{
  uint8_t *rgb = calloc((size_t)view->width * view->height, 3);
  REQUIRE(rgb != NULL);
  return rgb;
}

picture draw(abut_pair pair, const abut_view *view, const double pose1[6], const double pose2[6])
{
  uint8_t *rgb = paper_for(view);
  return drawn(view, rgb, abut_render(pair, ABUT_POSE_TWIST, pose1, pose2, view, rgb));
}

picture draw_with(abut_pair pair, const abut_view *view, const double pose1[6],
                  const double pose2[6], const abut_placed_body *others, size_t count)
{
  uint8_t *rgb = paper_for(view);
  return drawn(view, rgb,
               abut_render_with(pair, ABUT_POSE_TWIST, pose1, pose2, others, count, view, rgb));
}

void picture_free(picture *p)
{
  free(p->rgb);
  p->rgb = NULL;
}

static const uint32_t octahedron_sizes[8] = {3, 3, 3, 3, 3, 3, 3, 3};
static const uint32_t octahedron_faces[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
                                              2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
static const double octahedron[18] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};

static abut_body_def octahedron_def(void)
{
  abut_body_def def = abut_default_body_def();
  def.vertices = octahedron;
  def.vertex_count = 6;
  def.face_sizes = octahedron_sizes;
  def.face_indices = octahedron_faces;
  def.face_count = 8;
  return def;
}

bool make_ball(abut_context context, abut_body *out)
{
  const abut_superquadric ball = {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  abut_body_def def = octahedron_def();
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  return CHECK_OK(abut_create_body(context, &def, out));
}

bool make_drilled(abut_context context, abut_body *out)
{
  const double half = sqrt(0.5);
  const abut_superquadric parts[2] = {
    {{1, 1, 1}, {0.1, 0.1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD},
    {{0.5, 0.5, 1.5}, {0.1, 1}, {0, 0, 0}, {half, 0, half, 0}, ABUT_SUBTRACT},
  };
  abut_body_def def = octahedron_def();
  def.superquadrics = parts;
  def.superquadric_count = 2;
  return CHECK_OK(abut_create_body(context, &def, out));
}

#define ROUND 24 /* vertices around */
#define RINGS 11 /* of them between the poles */

bool make_cloud_ball(abut_context context, abut_body *out)
{
  static double vertices[3 * (ROUND * RINGS + 2)];
  static uint32_t sizes[ROUND * (RINGS + 1)], faces[4 * ROUND * (RINGS + 1)];
  const double pi = 3.14159265358979323846;
  const uint32_t poles[2] = {ROUND * RINGS, ROUND * RINGS + 1};
  for (uint32_t i = 0; i < RINGS; ++i) {
    for (uint32_t j = 0; j < ROUND; ++j) {
      double *v = vertices + 3 * (ROUND * i + j);
      const double down = pi * (i + 1) / (RINGS + 1), around = 2 * pi * j / ROUND;
      v[0] = sin(down) * cos(around);
      v[1] = sin(down) * sin(around);
      v[2] = cos(down);
    }
  }
  vertices[3 * poles[0] + 2] = 1.0;
  vertices[3 * poles[1] + 2] = -1.0;
  size_t count = 0, corners = 0;
  for (uint32_t i = 0; i <= RINGS; ++i) {
    for (uint32_t j = 0; j < ROUND; ++j) {
      const uint32_t next = (j + 1) % ROUND, above = ROUND * (i - 1), below = ROUND * i;
      const uint32_t quad[4] = {i ? above + j : poles[0], i < RINGS ? below + j : poles[1],
                                i < RINGS ? below + next : above + next, above + next};
      sizes[count] = i && i < RINGS ? 4 : 3;
      memcpy(faces + corners, quad, sizes[count] * sizeof quad[0]);
      corners += sizes[count++];
    }
  }
  abut_body_def def = abut_default_body_def();
  def.vertices = vertices;
  def.vertex_count = ROUND * RINGS + 2;
  def.face_sizes = sizes;
  def.face_indices = faces;
  def.face_count = count;
  def.cloud_from_mesh = true;
  return CHECK_OK(abut_create_body(context, &def, out));
}

#define GRID_NODES 27
#define GRID_SPACING 0.125

/* With a dent of a finer level, away from what is looked at. */
bool make_grid_ball(abut_context context, abut_body *out)
{
  static double c[GRID_NODES * GRID_NODES * GRID_NODES], dent[512];
  static const int32_t block[3] = {2, 2, 4};
  const abut_grid_level level = {block, dent, 1};
  const double low = -0.5 * GRID_SPACING * (GRID_NODES - 1);
  for (int i = 0; i < GRID_NODES * GRID_NODES * GRID_NODES; ++i) {
    const double x = low + GRID_SPACING * (i / (GRID_NODES * GRID_NODES));
    const double y = low + GRID_SPACING * (i / GRID_NODES % GRID_NODES);
    const double z = low + GRID_SPACING * (i % GRID_NODES);
    c[i] = sqrt(x * x + y * y + z * z) - 1.0;
  }
  dent[4 * 64 + 4 * 8 + 4] = 0.01;
  const abut_grid grid = {.coefficients = c,
                          .size = {GRID_NODES, GRID_NODES, GRID_NODES},
                          .origin = {low, low, low},
                          .spacing = GRID_SPACING,
                          .levels = &level,
                          .level_count = 1};
  abut_body_def def = octahedron_def();
  def.grids = &grid;
  def.grid_count = 1;
  return CHECK_OK(abut_create_body(context, &def, out));
}

bool make_pair(abut_body body1, abut_body body2, abut_pair *out)
{
  abut_smoothing smoothing;
  return CHECK_OK(abut_fit_edge_pairs(body1, body2, &smoothing)) &&
         CHECK_OK(abut_create_pair(body1, body2, &smoothing, out));
}

static picture draw_on(uint32_t device, uint32_t lanes, abut_precision precision,
                       picture (*draw_in)(abut_context))
{
  abut_context context;
  abut_context_def def = abut_default_context_def();
  def.device = device;
  def.lanes = lanes;
  def.precision = precision;
  if (!CHECK_OK(abut_create_context(&def, &context))) {
    return (picture){0, 0, NULL};
  }
  const picture p = draw_in(context);
  CHECK_OK(abut_destroy_context(context));
  return p;
}

void check_devices(abut_context context, abut_precision precision, picture (*draw_in)(abut_context),
                   void (*judge)(const picture *wanted))
{
  abut_device_info info;
  uint32_t host;
  CHECK_OK(abut_context_device(context, &info));
  CHECK_OK(abut_find_device("host", &host));
  picture wanted = draw_on(host, 0, ABUT_FLOAT64, draw_in);
  judge(&wanted);
  const uint32_t widths[4] = {1, 4, 8, 16};
  for (int i = 0; i < (info.type == ABUT_DEVICE_HOST ? 1 : 4); ++i) {
    picture got = draw_on(info.index, widths[i], precision, draw_in);
    if (check(got.width == wanted.width && got.width, "no picture to compare")) {
      const double mean = mean_difference(&got, &wanted);
      const size_t off = count_different(&got, &wanted, 24);
      printf("%s, %u lanes: mean difference %.6f, %zu pixels differ, %zu by more than 24\n",
             info.name, widths[i], mean, count_different(&got, &wanted, 0), off);
      check(mean < 0.1 && off < 24, "%s, %u lanes: pictures differ by %.3f, in %zu pixels",
            info.name, widths[i], mean, off);
    }
    picture_free(&got);
  }
  picture_free(&wanted);
}
