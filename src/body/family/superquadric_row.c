#include "body/family/superquadric_row.h"

#include "base/error.h"
#include "base/limits.h"
#include <math.h>
#include <stdio.h>

/* cos of the second angle: below this, the first and the third rotation have the same axis */
#define UPRIGHT 1e-12

enum { FIRST_AXIS = 2, FIRST_ANGLE = 5, FIRST_POSITION = 8 };

static const char *const names[ABUT_TABLE_COLUMNS] = {"e1",
                                                      "e2",
                                                      "half axis x",
                                                      "half axis y",
                                                      "half axis z",
                                                      "angle about z",
                                                      "angle about y",
                                                      "angle about x",
                                                      "centre x",
                                                      "centre y",
                                                      "centre z"};

static abut_status check_number(size_t column, double x, double scale)
{
  if (!isfinite(x)) {
    return fail(ABUT_ERROR_BODY, "column %zu: %s is %g; it must be finite", column + 1,
                names[column], x);
  }
  if (column < FIRST_AXIS && !(x > 0.0 && x <= 2.0)) {
    return fail(ABUT_ERROR_BODY, "column %zu: %s is %.9g, not in (0, 2]", column + 1, names[column],
                x);
  }
  const bool axis = column >= FIRST_AXIS && column < FIRST_ANGLE;
  if (axis && !(x * scale >= AXIS_LEAST && x * scale <= COORDINATE_MOST)) {
    return fail(ABUT_ERROR_BODY, "column %zu: %s is %.9g m, not in [%g, %g]", column + 1,
                names[column], x * scale, AXIS_LEAST, COORDINATE_MOST);
  }
  if (column >= FIRST_POSITION && !(fabs(x * scale) <= COORDINATE_MOST)) {
    return fail(ABUT_ERROR_BODY, "column %zu: %s is %.9g m, not within +-%g", column + 1,
                names[column], x * scale, COORDINATE_MOST);
  }
  return ABUT_SUCCESS;
}

static abut_status check_row(const double row[ABUT_TABLE_COLUMNS], double scale)
{
  for (size_t i = 0; i < ABUT_TABLE_COLUMNS; ++i) {
    TRY(check_number(i, row[i], scale));
  }
  return ABUT_SUCCESS;
}

abut_status superquadric_from_row(const double row[ABUT_TABLE_COLUMNS], double scale,
                                  abut_superquadric *out)
{
  double c[3], s[3];
  TRY(check_row(row, scale));
  *out = (abut_superquadric){.exponents = {row[0], row[1]}};
  for (int k = 0; k < 3; ++k) {
    out->axes[k] = row[FIRST_AXIS + k] * scale;
    out->position[k] = row[FIRST_POSITION + k] * scale;
    c[k] = cos(0.5 * row[FIRST_ANGLE + k]);
    s[k] = sin(0.5 * row[FIRST_ANGLE + k]);
  }
  /* The product of the rotations about z, y and x. */
  out->quaternion[0] = c[0] * c[1] * c[2] + s[0] * s[1] * s[2];
  out->quaternion[1] = c[0] * c[1] * s[2] - s[0] * s[1] * c[2];
  out->quaternion[2] = c[0] * s[1] * c[2] + s[0] * c[1] * s[2];
  out->quaternion[3] = s[0] * c[1] * c[2] - c[0] * s[1] * s[2];
  return ABUT_SUCCESS;
}

void superquadric_to_row(const abut_superquadric *q, double row[ABUT_TABLE_COLUMNS])
{
  double m[9];
  superquadric_rotation(q->quaternion, m);
  const double across = hypot(m[0], m[3]);
  const bool upright = across <= UPRIGHT;
  row[FIRST_ANGLE] = upright ? atan2(-m[1], m[4]) : atan2(m[3], m[0]);
  row[FIRST_ANGLE + 1] = atan2(-m[6], across);
  row[FIRST_ANGLE + 2] = upright ? 0.0 : atan2(m[7], m[8]);
  for (int k = 0; k < 3; ++k) {
    row[FIRST_AXIS + k] = q->axes[k];
    row[FIRST_POSITION + k] = q->position[k];
  }
  row[0] = q->exponents[0];
  row[1] = q->exponents[1];
}

/* Fails with the cause of the previous failure, and the number of its row (`row` counts from 0). */
static abut_status fail_row(size_t row)
{
  char cause[256];
  snprintf(cause, sizeof cause, "%s", abut_last_error());
  return fail(ABUT_ERROR_BODY, "row %zu, %s", row + 1, cause);
}

abut_status abut_superquadrics_from_rows(const double *rows, size_t count, abut_superquadric *out)
{
  if (!rows || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "rows or superquadrics is NULL");
  }
  for (size_t i = 0; i < count; ++i) {
    if (superquadric_from_row(rows + ABUT_TABLE_COLUMNS * i, 1.0, &out[i]) != ABUT_SUCCESS) {
      return fail_row(i);
    }
  }
  return ABUT_SUCCESS;
}

abut_status abut_superquadrics_to_rows(const abut_superquadric *superquadrics, size_t count,
                                       double *rows)
{
  if (!rows || !superquadrics) {
    return fail(ABUT_ERROR_ARGUMENT, "rows or superquadrics is NULL");
  }
  for (size_t i = 0; i < count; ++i) {
    const double *q = superquadrics[i].quaternion;
    if (superquadrics[i].operation != ABUT_ADD) {
      return fail(ABUT_ERROR_BODY, "superquadric %zu is subtracted, which a table cannot represent",
                  i);
    }
    if (!(q[0] != 0.0 || q[1] != 0.0 || q[2] != 0.0 || q[3] != 0.0)) {
      return fail(ABUT_ERROR_BODY, "superquadric %zu: the quaternion has length 0", i);
    }
    superquadric_to_row(&superquadrics[i], rows + ABUT_TABLE_COLUMNS * i);
    if (check_row(rows + ABUT_TABLE_COLUMNS * i, 1.0) != ABUT_SUCCESS) {
      return fail_row(i);
    }
  }
  return ABUT_SUCCESS;
}
