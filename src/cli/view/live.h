/* What the page of `abut view` asks its server: contacts of a pose, by the page's own smoothing. docs/view.md has the
 * request and the answer. */
#ifndef ABUT_CLI_VIEW_LIVE_H
#define ABUT_CLI_VIEW_LIVE_H

#include "view/server.h"

/* A pair whose smoothing is that of the last request. */
typedef struct live {
  const scene *scene;
  abut_pair pair;
  char *smoothing; /* the text of that; NULL: the scene's own pair */
} live;

void live_begin(live *l, const scene *s);
void live_end(live *l);
/* Of server_work. `user` is a live. */
void *live_parse(const char *bytes, size_t count, answer *refusal);
void live_compute(void *user, const void *request, answer *out);

/* Where body 2 is when no poses are given: beside body 1, by their boxes, and in it by 1 % of its own diagonal. */
exit_code live_poses(const scene *s, abut_poses *poses);

#endif
