/* The report of `inspect` on a body, as a page and as JSON. */
#ifndef ABUT_CLI_INSPECT_PAGE_H
#define ABUT_CLI_INSPECT_PAGE_H

#include "core/cli.h"

#include <jansson.h>
#include <stdio.h>

/* Cost of a contact query: forward, of the body against itself, near contact. */
typedef struct query_cost {
  size_t poses, contacts; /* per call; per pose */
  double seconds;         /* per pose, median of calls */
  char devices[512];
} query_cost;

typedef struct findings {
  const char *body, *mesh; /* paths */
  double scale;            /* the mesh's unit [m] */
  abut_body_info info;
  double union_tau; /* used in the measurement [m] */
  bool other_union; /* the body states a different one */
  abut_fit fit;
  abut_mesh_quality quality;
  query_cost cost;
  abut_fit_view view;
  uint8_t *pictures[2]; /* light and dark, as made by abut_draw_fit; NULL: none */
} findings;

/* Writes a self-contained page with embedded pictures and without scripts. */
exit_code write_page(FILE *to, const findings *f);

/* Returns NULL without memory. */
json_t *findings_json(const findings *f);

#endif
