/* What the families' files share. */
#ifndef ABUT_FAMILY_PARTS_H
#define ABUT_FAMILY_PARTS_H

#include "body/family/family.h"

/* ---- definitions ---- */

/* Whether x is finite and not 0. */
bool has_length(const double *x, size_t count);

/* ---- packing ---- */

/* n / |n| without overflow; |n| > 0. */
void normalise(const double n[3], double out[3]);

/* The range of a primitive whose numbers begin here: `count` planes or points. */
void packer_range(packer *p, size_t count);

/* ---- bounds ---- */

/* What rounding may do to a distance, in units of the last place of what it is made of, with a
 * margin: cl/geometry/bound.inl allows as much. */
#define FIELD_ROUNDINGS 64.0

/* The relative rounding of the reals in which primitives are packed. */
double packed_epsilon(const packed *p);

/* ---- files ---- */

#define CHECK_KEYS(file, at, keys) json_check_keys(file, at, keys, sizeof(keys) / sizeof *(keys))

abut_status check_range(const json_file *f, const json_at *array, size_t first, size_t count,
                        double low, double high);

abut_status check_not_zero(const json_file *f, const json_at *at, const double *numbers,
                           size_t count, const char *what);

/* A member that must be there, `count` numbers. *at reaches it. */
abut_status read_vector(const json_file *f, const json_at *parent, const char *key, size_t count,
                        double *out, json_at *at);

/* A primitive's `position` and `quaternion`, which must be there. */
abut_status read_placement(const json_file *f, const json_at *at, double position[3],
                           double quaternion[4]);

/* One row or more of `width` numbers; *rows are of `memory`. */
abut_status read_rows(const json_file *f, const json_at *at, size_t width, arena *memory,
                      const double **rows, size_t *count);

#endif
