/* A superquadric as a row of numbers, as programs that fit them write it, and its axes. */
#ifndef ABUT_FAMILY_SUPERQUADRIC_ROW_H
#define ABUT_FAMILY_SUPERQUADRIC_ROW_H

#include <abut/decompose.h>

/* Reads a row, of abut_superquadrics_from_rows, whose lengths are in `scale` metres; fails with
 * ABUT_ERROR_BODY, by the number's place and name. */
abut_status superquadric_from_row(const double row[ABUT_TABLE_COLUMNS], double scale,
                                  abut_superquadric *out);

void superquadric_to_row(const abut_superquadric *s, double row[ABUT_TABLE_COLUMNS]);

/* Sets m to the rotation of a quaternion of any length, row by row; a primitive's axes are its
 * columns. */
void superquadric_rotation(const double q[4], double m[9]);

#endif
