/* Where the links of a scene are: test_place TREE, against the reference at positions whose
 * quaternions are of any length. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#define LINKS 8
#define POSITIONS 15
#define TOLERANCE 1e-14 /* of lengths of up to 10 m */

static const double positions[POSITIONS] = {1,    -2,  0.5, 0.3,  -1.2, 0.4,   2.0, 0.7,
                                            -1.1, 0.2, 0.9, -0.4, 0.6,  -0.35, 2.5};

/* Position and rotation of each link, row by row, as the reference has them. */
static const double wanted[LINKS][12] = {
  {1, -2, 0.5, -0.4622144112478028, -0.3796133567662565, -0.8014059753954303, 0.04217926186291737,
   -0.9121265377855883, 0.4077328646748681, -0.8857644991212652, 0.1546572934973637,
   0.4376098418277681},
  {0.7670739009282632, -1.95272708998267, 0.2971703497340579, 0.151395875574502,
   -0.6556022931539617, -0.7397735613485359, -0.02814267889253338, -0.7509556703388531,
   0.6597526588128877, -0.9880725066936037, -0.07906462165336506, -0.1321419960460281},
  {0.6359534422974709, -2.10291822405044, 0.2813574254033849, 0.739229718984508, 0.3492687582036627,
   0.5758044434640599, -0.6263315167349064, 0.04235605337909592, 0.7784052902484011,
   0.2474838453609361, -0.9360647943839243, 0.2500688845105393},
  {0.8086947753366889, -1.86939663697592, 0.3563780907565467, 0.739229718984508, 0.3492687582036627,
   0.5758044434640599, -0.6263315167349064, 0.04235605337909592, 0.7784052902484011,
   0.2474838453609361, -0.9360647943839243, 0.2500688845105393},
  {0.5858555796441446, -1.854322476363963, 0.8334727335702283, 0.4810206149859529,
   -0.01508601336702887, -0.8765794773773939, -0.6784600977512089, -0.6396546637076183,
   -0.3612946262491499, -0.5552576552538068, 0.7685143612176567, -0.3179223378189417},
  {10, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1},
  {9.789999999999999, 1, -0.28, 1, 0, 0, 0, 1, 0, 0, 0, 1},
  {9.789999999999999, 1, -0.28, -0.8011436155469336, 0, 0.5984721441039565, 0, 1, 0,
   -0.5984721441039565, 0, -0.8011436155469336},
};

static void rotation_of(const double q[4], double m[9])
{
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double of[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(m, of, sizeof of);
}

static void check_places(abut_scene scene, const double *q)
{
  double poses[LINKS][7];
  REQUIRE_OK(abut_place_links(scene, q, poses[0]));
  for (int i = 0; i < LINKS; ++i) {
    double got[12];
    memcpy(got, poses[i], 3 * sizeof(double));
    rotation_of(poses[i] + 3, got + 3);
    for (int k = 0; k < 12; ++k) {
      check(fabs(got[k] - wanted[i][k]) <= TOLERANCE * 10,
            "number %d of link %d is %.17g, not %.17g", k, i, got[k], wanted[i][k]);
    }
    const double *r = poses[i] + 3;
    CHECK(fabs(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3] - 1.0) < 1e-15);
  }
}

/* Of quaternions that are as short or as long as doubles can be, the direction counts. */
static void check_lengths(abut_scene scene)
{
  static const double lengths[] = {1e-300, 0.25, 1e300};
  for (int i = 0; i < 3; ++i) {
    double q[POSITIONS];
    memcpy(q, positions, sizeof q);
    for (int k = 0; k < 4; ++k) {
      q[3 + k] *= lengths[i];
      q[9 + k] *= lengths[i];
    }
    check_places(scene, q);
  }
}

static void check_refusals(abut_scene scene)
{
  double q[POSITIONS], poses[LINKS][7];
  memcpy(q, positions, sizeof q);
  CHECK(abut_place_links(scene, NULL, poses[0]) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_place_links(scene, q, NULL) == ABUT_ERROR_ARGUMENT);
  q[14] = NAN;
  CHECK(abut_place_links(scene, q, poses[0]) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "position 14 (0-based) is nan; it must be finite");
  q[14] = 0.0;
  memset(q + 9, 0, 4 * sizeof *q);
  CHECK(abut_place_links(scene, q, poses[0]) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the quaternion of link 4 has length 0");
  CHECK_OK(abut_destroy_scene(scene));
  CHECK(abut_place_links(scene, positions, poses[0]) == ABUT_ERROR_HANDLE);
}

int main(int argc, char **argv)
{
  abut_scene scene;
  REQUIRE(argc > 1);
  abut_context context = require_context(ABUT_FLOAT32);
  REQUIRE_OK(abut_load_scene(context, argv[1], &scene));
  check_places(scene, positions);
  check_lengths(scene);
  check_refusals(scene);
  return finish_context(context);
}
