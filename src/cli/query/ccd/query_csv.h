/* Files of queries as rational numbers: a line a vertex, numerator and denominator of x, y and z, and whether
 * the query is a hit; eight lines a query, its vertices at time 0 and then at time 1. */
#ifndef ABUT_CLI_CCD_QUERY_CSV_H
#define ABUT_CLI_CCD_QUERY_CSV_H

#include "query/ccd/rational.h"
#include <stdint.h>

/* Numbers of a query: at times 0 and 1 four vertices each. */
#define QUERY_NUMBERS 24

/* What rounding did to a query's numbers; the worst of them counts. */
typedef enum query_rounding {
  QUERY_EXACT,
  QUERY_ROUNDED, /* within a share of each number */
  QUERY_SMALL    /* also numbers below the smallest normal one, within that one alone */
} query_rounding;

typedef struct query_csv {
  size_t count;
  double *x;         /* (count, 2, 4, 3) [m] */
  uint8_t *hit;      /* (count) 0 or 1 */
  uint8_t *rounding; /* (count) query_rounding */
} query_csv;

typedef struct query_fault {
  size_t line; /* from 1; 0 where it is of no line */
  bool no_memory;
  char text[256];
} query_fault;

/* Reads a file's text, and rounds its numbers to a format. On failure `out` is empty and the fault says why. */
bool query_csv_parse(const char *bytes, size_t count, const rational_format *format, query_csv *out,
                     query_fault *fault);
void query_csv_free(query_csv *q);

#endif
