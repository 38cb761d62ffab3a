/* What `inspect` says of a body, as a page and as JSON. */
#ifndef ABUT_CLI_INSPECT_PAGE_H
#define ABUT_CLI_INSPECT_PAGE_H

#include "core/cli.h"

#include <jansson.h>
#include <stdio.h>

/* What a contact query costs: forward, of the body against itself, around touching. */
typedef struct query_cost {
  size_t poses, contacts; /* a call; a pose */
  double seconds;         /* a pose, median of calls */
  char devices[512];
} query_cost;

typedef struct findings {
  const char *body, *mesh; /* paths */
  double scale;            /* the mesh's unit [m] */
  abut_body_info info;
  double union_tau; /* that was measured with [m] */
  bool other_union; /* the body tells another one */
  abut_fit fit;
  abut_mesh_quality quality;
  query_cost cost;
  abut_fit_view view;
  uint8_t *pictures[2]; /* light and dark, as abut_draw_fit makes them; NULL: none */
} findings;

/* A page that stands by itself: pictures are in it, and it has no script. */
exit_code write_page(FILE *to, const findings *f);

/* NULL where there is no memory. */
json_t *findings_json(const findings *f);

#endif
