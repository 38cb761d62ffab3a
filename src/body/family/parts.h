/* Helpers shared by the families. */
#ifndef ABUT_FAMILY_PARTS_H
#define ABUT_FAMILY_PARTS_H

#include "body/family/family.h"

/* ---- definitions ---- */

/* Whether x is finite and not 0. */
bool has_length(const double *x, size_t count);

/* ---- packing ---- */

/* n / |n| without overflow; |n| > 0. */
void normalise(const double n[3], double out[3]);

/* Adds the range of a primitive whose numbers begin here: `count` planes or points. */
void packer_range(packer *p, size_t count);

/* ---- bounds ---- */

/* Rounding error of a distance, in units of the last place of its terms, with a margin.
 * cl/geometry/bound.inl allows the same. */
#define FIELD_ROUNDINGS 64.0

/* The relative rounding error of the packed reals. */
double packed_epsilon(const packed *p);

/* ---- files ---- */

#define CHECK_KEYS(file, at, keys) json_check_keys(file, at, keys, sizeof(keys) / sizeof *(keys))

abut_status check_range(const json_file *f, const json_at *array, size_t first, size_t count,
                        double low, double high);

abut_status check_not_zero(const json_file *f, const json_at *at, const double *numbers,
                           size_t count, const char *what);

/* Reads a required member with `count` numbers. *at refers to it. */
abut_status read_vector(const json_file *f, const json_at *parent, const char *key, size_t count,
                        double *out, json_at *at);

/* Reads a primitive's required `position` and `quaternion`. */
abut_status read_placement(const json_file *f, const json_at *at, double position[3],
                           double quaternion[4]);

/* Reads at least one row of `width` numbers; *rows is allocated from `memory`. */
abut_status read_rows(const json_file *f, const json_at *at, size_t width, arena *memory,
                      const double **rows, size_t *count);

#endif
