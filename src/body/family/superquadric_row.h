/* Superquadrics as rows of numbers, in the format of fitting programs, and their axes. */
#ifndef ABUT_FAMILY_SUPERQUADRIC_ROW_H
#define ABUT_FAMILY_SUPERQUADRIC_ROW_H

#include <abut/decompose.h>

/* Reads a row in the format of abut_superquadrics_from_rows, whose lengths are in `scale` metres.
 * Fails with ABUT_ERROR_BODY, and names the number and its position. */
abut_status superquadric_from_row(const double row[ABUT_TABLE_COLUMNS], double scale,
                                  abut_superquadric *out);

void superquadric_to_row(const abut_superquadric *s, double row[ABUT_TABLE_COLUMNS]);

/* Sets m to the rotation matrix of a quaternion of any length, by rows. A primitive's axes are its
 * columns. */
void superquadric_rotation(const double q[4], double m[9]);

#endif
