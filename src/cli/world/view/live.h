/* The requests of the page of `abut view` to its server: contacts of a frame, optionally with the
 * page's own poses and smoothing. docs/dev/view.md describes the requests and the answers. */
#ifndef ABUT_CLI_VIEW_LIVE_H
#define ABUT_CLI_VIEW_LIVE_H

#include "world/view/server.h"

/* The frames of a page, and pairs with the smoothing of the last request. */
typedef struct live {
  size_t rows, first;      /* number of frames; the first one shown */
  double threshold;        /* of the page's contacts */
  const session *session;  /* for a pair */
  const abut_poses *poses; /* (rows) */
  abut_pair pair;
  char *smoothing; /* smoothing text of the last request; NULL: that of the command */
  bool of_world;   /* for a world, like all that follows */
  abut_scene links;
  abut_scene_info info;
  const double *q, *v; /* (rows, nq), (rows, nv); NULL: forces are unknown */
  const double *u;     /* (rows, nu), or NULL */
  abut_pair *own, *by; /* (kinds) the scene's own pairs, and those that contacts use */
  size_t kinds;        /* 0: the scene has no contacts to show */
  size_t *candidates;  /* (kinds) number of candidates of each kind */
} live;

/* Fills the derived members from the others. Release it with live_end, also after a failure. */
exit_code live_begin(live *l);
void live_end(live *l);
/* For server_work. `user` is a live. */
void *live_parse(const char *bytes, size_t count, answer *refusal);
void live_compute(void *user, const void *request, answer *out);
/* Computes the first shown frame and discards it, so that programs are loaded while a browser opens
 * the page. */
void live_warm_up(void *user);

/* Default poses if none are given: body 2 is beside body 1, by their boxes, and overlaps it by 1 %
 * of its own diagonal. */
exit_code live_poses(const session *s, abut_poses *poses);

#endif
