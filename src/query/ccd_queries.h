/* Continuous collision detection of two features, as an operation of the engine: an element is a
 * row of the batch. */
#ifndef ABUT_QUERY_CCD_QUERIES_H
#define ABUT_QUERY_CCD_QUERIES_H

#include "engine/batch/batch.h"
#include <abut/ccd.h>

#define CCD_ITERATIONS_MOST 1000000u

/* Refuses settings for all rows that are out of range, before or after rounding to the context's
 * precision. */
abut_status ccd_check_settings(double separation, double keep, double tolerance,
                               uint32_t iterations_most, const context *owner);

/* Counts the outcomes of a chunk's rows. */
typedef struct ccd_counts {
  size_t undecided, rejected;
} ccd_counts;
void ccd_count(ccd_counts *to, const uint8_t *status, chunk c);

#endif
