/* The bodies of `bench` without operands: two figures that can be rebuilt from this file.
 *
 * Each is 18 superquadrics: a head, a trunk of three, and seven on each side. The mesh samples each
 * superquadric's surface at two poles and four rings of four points. */
#include "dev/bench/bench.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define PARTS 18
#define MIDDLE 4
#define RINGS 4
#define SECTORS 4
#define PART_VERTICES (RINGS * SECTORS + 2)
#define PART_FACES ((RINGS + 1) * SECTORS)
#define PART_CORNERS ((RINGS - 1) * SECTORS * 4 + 2 * SECTORS * 3)

typedef struct part {
  double position[3], axes[3]; /* [m] */
  double tilt;                 /* around y [rad]; that of the other side is the opposite */
} part;

static const part middle[MIDDLE] = {
  {{0.0, 0.0, 0.80}, {0.10, 0.11, 0.13}, 0.0}, /* head */
  {{0.0, 0.0, 0.52}, {0.20, 0.12, 0.12}, 0.0}, /* chest */
  {{0.0, 0.0, 0.34}, {0.15, 0.10, 0.12}, 0.0}, /* waist */
  {{0.0, 0.0, 0.18}, {0.17, 0.11, 0.10}, 0.0}, /* hips */
};

static const part side[(PARTS - MIDDLE) / 2] = {
  {{0.24, 0.0, 0.58}, {0.08, 0.08, 0.08}, 0.0},   /* shoulder */
  {{0.36, 0.0, 0.54}, {0.06, 0.06, 0.14}, 1.3},   /* upper arm */
  {{0.55, 0.0, 0.49}, {0.05, 0.05, 0.13}, 1.3},   /* forearm */
  {{0.70, 0.0, 0.45}, {0.06, 0.03, 0.07}, 1.3},   /* hand */
  {{0.11, 0.0, -0.02}, {0.08, 0.09, 0.19}, 0.1},  /* thigh */
  {{0.14, 0.0, -0.32}, {0.06, 0.07, 0.18}, 0.05}, /* shin */
  {{0.15, 0.06, -0.50}, {0.06, 0.13, 0.05}, 0.0}, /* foot */
};

static abut_superquadric make_part(const part *p, bool mirrored, int which)
{
  /* The second figure is smaller and boxier. */
  const double scale = which ? 0.8 : 1.0, sign = mirrored ? -1.0 : 1.0;
  const double tilt = sign * p->tilt;
  abut_superquadric q = {.exponents = {which ? 0.4 : 0.8, which ? 0.5 : 0.9},
                         .position = {sign * scale * p->position[0], scale * p->position[1],
                                      scale * p->position[2]},
                         .quaternion = {cos(tilt / 2), 0.0, sin(tilt / 2), 0.0},
                         .operation = ABUT_ADD};
  for (int i = 0; i < 3; ++i) {
    q.axes[i] = scale * p->axes[i];
  }
  return q;
}

static double signed_power(double x, double exponent)
{
  return copysign(pow(fabs(x), exponent), x);
}

/* Computes a surface point at latitude and longitude, in the body's frame; parts are rotated only
 * around y. */
static void surface(const abut_superquadric *q, double latitude, double longitude, double out[3])
{
  const double ring = signed_power(cos(latitude), q->exponents[0]);
  const double x = q->axes[0] * ring * signed_power(cos(longitude), q->exponents[1]);
  const double y = q->axes[1] * ring * signed_power(sin(longitude), q->exponents[1]);
  const double z = q->axes[2] * signed_power(sin(latitude), q->exponents[0]);
  const double tilt = 2.0 * atan2(q->quaternion[2], q->quaternion[0]);
  out[0] = q->position[0] + cos(tilt) * x + sin(tilt) * z;
  out[1] = q->position[1] + y;
  out[2] = q->position[2] - sin(tilt) * x + cos(tilt) * z;
}

/* South pole, rings from the south, north pole. */
static void sample(const abut_superquadric *q, double *vertices)
{
  surface(q, -PI / 2, 0.0, vertices);
  for (int ring = 0; ring < RINGS; ++ring) {
    for (int sector = 0; sector < SECTORS; ++sector) {
      surface(q, PI * ((ring + 1.0) / (RINGS + 1) - 0.5), 2 * PI * (sector + 0.5) / SECTORS,
              vertices + 3 * (1 + ring * SECTORS + sector));
    }
  }
  surface(q, PI / 2, 0.0, vertices + 3 * (PART_VERTICES - 1));
}

typedef struct figure {
  abut_superquadric parts[PARTS];
  double vertices[3 * PARTS * PART_VERTICES];
  uint32_t face_sizes[PARTS * PART_FACES];
  uint32_t corners[PARTS * PART_CORNERS];
  size_t face_count, corner_count;
} figure;

static void add_face(figure *f, uint32_t size, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  const uint32_t corners[4] = {a, b, c, d};
  f->face_sizes[f->face_count++] = size;
  memcpy(f->corners + f->corner_count, corners, size * sizeof *corners);
  f->corner_count += size;
}

/* Counterclockwise seen from outside: east, then north. */
static void add_faces(figure *f, uint32_t first)
{
  const uint32_t north = first + PART_VERTICES - 1;
  for (uint32_t sector = 0; sector < SECTORS; ++sector) {
    const uint32_t here = first + 1 + sector, east = first + 1 + (sector + 1) % SECTORS;
    const uint32_t top = (RINGS - 1) * SECTORS;
    add_face(f, 3, first, east, here, 0);
    for (uint32_t ring = 0; ring + 1 < RINGS; ++ring) {
      const uint32_t up = ring * SECTORS;
      add_face(f, 4, here + up, east + up, east + up + SECTORS, here + up + SECTORS);
    }
    add_face(f, 3, here + top, east + top, north, 0);
  }
}

exit_code create_figure(abut_context context, int which, abut_body *body)
{
  figure f = {.face_count = 0};
  for (int i = 0; i < PARTS; ++i) {
    const bool paired = i >= MIDDLE;
    f.parts[i] =
      make_part(paired ? &side[(i - MIDDLE) / 2] : &middle[i], paired && (i - MIDDLE) % 2, which);
    sample(&f.parts[i], f.vertices + 3 * i * PART_VERTICES);
    add_faces(&f, (uint32_t)(i * PART_VERTICES));
  }
  abut_body_def def = abut_default_body_def();
  def.vertices = f.vertices;
  def.vertex_count = PARTS * PART_VERTICES;
  def.face_sizes = f.face_sizes;
  def.face_indices = f.corners;
  def.face_count = f.face_count;
  def.superquadrics = f.parts;
  def.superquadric_count = PARTS;
  return report_status(abut_create_body(context, &def, body));
}
