/* What the page of `abut view` asks its server: contacts of a frame, and by the page's own poses
 * and smoothing. docs/dev/view.md has the requests and the answers. */
#ifndef ABUT_CLI_VIEW_LIVE_H
#define ABUT_CLI_VIEW_LIVE_H

#include "world/view/server.h"

/* What the frames of a page are, and pairs whose smoothing is that of the last request. */
typedef struct live {
  size_t rows, first;      /* frames; the one that the page shows first */
  double threshold;        /* of the page's contacts */
  const session *session;  /* of a pair */
  const abut_poses *poses; /* (rows) */
  abut_pair pair;
  char *smoothing; /* the text of the last request's; NULL: what the command has */
  bool of_world;   /* and what follows */
  abut_scene links;
  abut_scene_info info;
  const double *q, *v; /* (rows, nq), (rows, nv); NULL: forces are not known */
  const double *u;     /* (rows, nu), or NULL */
  abut_pair *own, *by; /* (kinds) of the scene's kinds of candidates, and what contacts are
                          found by */
  size_t kinds;        /* 0: the scene has no contacts to show */
  size_t *candidates;  /* (kinds) how many pairs are of each */
} live;

/* Fills what follows from the rest. Release it with live_end, also after a failure. */
exit_code live_begin(live *l);
void live_end(live *l);
/* Of server_work. `user` is a live. */
void *live_parse(const char *bytes, size_t count, answer *refusal);
void live_compute(void *user, const void *request, answer *out);
/* Computes the frame that the page shows first, and forgets it: programs are loaded while a browser
 * opens the page. */
void live_warm_up(void *user);

/* Where body 2 is when no poses are given: beside body 1, by their boxes, and in it by 1 % of its
 * own diagonal. */
exit_code live_poses(const session *s, abut_poses *poses);

#endif
