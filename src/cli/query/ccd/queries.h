/* Queries of two features each: what `abut ccd-queries` computes and times. */
#ifndef ABUT_CLI_CCD_QUERIES_H
#define ABUT_CLI_CCD_QUERIES_H

#include "query/ccd/query_csv.h"
#include "core/cli.h"
#include <abut/ccd.h>

/* Numbers that each query may have of its own. */
typedef enum query_setting {
  QUERY_SEPARATION,
  QUERY_KEEP,
  QUERY_TOLERANCE,
  QUERY_END,
  QUERY_ERROR,
  QUERY_RELATIVE_ERROR,
  QUERY_SETTINGS
} query_setting;

/* What a file says of a query. */
typedef enum query_truth {
  QUERY_IS_FREE,
  QUERY_IS_HIT, /* or within */
  QUERY_IS_ELSE /* bad input; or the file does not tell */
} query_truth;

/* What a file holds, rounded to the precision that is computed in, as double. */
typedef struct query_file {
  const char *path;
  size_t count;
  uint8_t *kind; /* (count) abut_ccd_kind */
  double *x;     /* (count, 2, 4, 3) at times 0 and 1; rows that a kind lacks stand last */
  double *settings[QUERY_SETTINGS]; /* (count) each */
  uint8_t *truth;                   /* (count) query_truth */
  bool tells;                       /* whether the file has the truth */
} query_file;

/* Queries of one kind, in the order of the file, as the library takes them. */
typedef struct query_group {
  size_t count;
  size_t *rows;                   /* (count) which of the file */
  void *x[2];                     /* real (count, V, 3) at times 0 and 1 */
  void *settings[QUERY_SETTINGS]; /* real (count), or NULL where all are the default */
  void *toi;
  uint8_t *status;
  uint32_t *iterations; /* (count, 2) */
} query_group;

typedef struct queries {
  const options *o;
  scene scene;
  abut_ccd_method method;
  uint32_t iterations_most;
  query_file file;
  query_group groups[ABUT_CCD_KINDS];
  void *toi; /* real (N), as those that follow in the order of the file */
  uint8_t *status;
  uint32_t *iterations; /* (N, 2) */
  double median, mean;  /* of a query [s] */
} queries;

/* ---- query_file.c ---- */

/* Reads a .csv, of which --kind or the path says the kind, or an .npz. */
exit_code query_file_read(query_file *f, const options *o, abut_precision precision);
void query_file_free(query_file *f);
/* That --kind is of a file that it can be of, and a word. */
exit_code query_file_check(const options *o);

/* ---- queries_run.c ---- */

/* Sorts the file's queries by kind, and makes room for answers. */
exit_code queries_take(queries *q);
/* Computes all of them, and puts the answers into the order of the file. */
exit_code queries_compute(queries *q);
/* Times them once more. */
exit_code queries_time(queries *q);
void queries_free(queries *q);

#endif
