#include "world/view/live_parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

float to_float(double x)
{
  return isfinite(x) ? (float)fmin(fmax(x, -FLT_MAX), FLT_MAX) : (float)x;
}

bool answer_error(answer *out, abut_status status)
{
  if (status == ABUT_SUCCESS) {
    return false;
  }
  const bool bad = status == ABUT_ERROR_ARGUMENT || status == ABUT_ERROR_FORMAT;
  answer_text(out, bad ? BAD : FAILED, "%s", abut_last_error());
  return true;
}

static void answer_beyond(const live *l, const request *r, answer *out)
{
  char there[48] = "only frame 0";
  if (l->rows > 1) {
    snprintf(there, sizeof there, "frames 0-%zu", l->rows - 1);
  }
  if (r->count == 1) {
    answer_text(out, BAD, "frame %zu does not exist (%s)", r->first, there);
  } else {
    answer_text(out, BAD, "frames %zu-%zu do not all exist (%s)", r->first, r->first + r->count - 1,
                there);
  }
}

void live_compute(void *user, const void *request_, answer *out)
{
  live *l = user;
  const request *r = request_;
  if (r->what != OF_POSES && (r->first >= l->rows || r->count > l->rows - r->first)) {
    answer_beyond(l, r, out);
  } else if (l->of_world) {
    world_compute(l, r, out);
  } else {
    pair_compute(l, r, out);
  }
}

void live_warm_up(void *user)
{
  const live *l = user;
  request *r = calloc(1, sizeof *r + 1);
  answer a = {0};
  if (r) {
    *r = (request){.what = OF_FRAME,
                   .first = l->first,
                   .count = 1,
                   .threshold = l->threshold,
                   .reduction = -1};
    live_compute(user, r, &a);
  }
  free(a.bytes);
  free(r);
}

/* Counts the candidates of each kind. */
static exit_code count_candidates(live *l)
{
  uint32_t *kinds = calloc(l->info.candidates + 1, sizeof *kinds);
  l->candidates = calloc(l->kinds + 1, sizeof *l->candidates);
  size_t count = 0;
  if (!kinds || !l->candidates) {
    free(kinds);
    return report(EXIT_RUN, "no memory for %zu pairs", l->info.candidates);
  }
  const abut_status status = l->kinds ? abut_get_kinds(l->links, kinds, NULL, &count)
                                      : ABUT_SUCCESS;
  for (size_t i = 0; count && i < l->info.candidates && status == ABUT_SUCCESS; ++i) {
    ++l->candidates[kinds[i]];
  }
  free(kinds);
  return report_status(status);
}

static exit_code take_kinds(live *l)
{
  l->own = calloc(l->info.kinds + 1, sizeof *l->own);
  l->by = calloc(l->info.kinds + 1, sizeof *l->by);
  if (!l->own || !l->by) {
    return report(EXIT_RUN, "no memory for the kinds of pairs");
  }
  const abut_status status = abut_get_kinds(l->links, NULL, l->own, &l->kinds);
  /* contacts that are springs, or given, cannot be shown */
  if (status != ABUT_SUCCESS && status != ABUT_ERROR_ARGUMENT) {
    return report_status(status);
  }
  for (size_t i = 0; i < l->kinds; ++i) {
    l->by[i] = l->own[i];
  }
  return count_candidates(l);
}

exit_code live_begin(live *l)
{
  if (l->of_world) {
    return take_kinds(l);
  }
  l->pair = l->session->pair;
  return EXIT_GOOD;
}

void live_end(live *l)
{
  if (l->of_world) {
    world_end(l);
  } else {
    pair_end(l);
  }
  free(l->own);
  free(l->candidates);
  free(l->by);
}

exit_code live_poses(const session *s, abut_poses *poses)
{
  abut_body_info one, two;
  CLI_TRY(report_status(abut_get_body_info(s->bodies[0], &one)));
  CLI_TRY(report_status(abut_get_body_info(s->bodies[1], &two)));
  *poses = (abut_poses){.count = 1,
                        .kind = ABUT_POSE_TWIST,
                        .pose1 = calloc(6, sizeof(double)),
                        .pose2 = calloc(6, sizeof(double))};
  if (!poses->pose1 || !poses->pose2) {
    return report(EXIT_RUN, "no memory for a pose");
  }
  for (int k = 0; k < 2; ++k) {
    poses->pose2[k] = 0.5 * (one.lower[k] + one.upper[k] - two.lower[k] - two.upper[k]);
  }
  poses->pose2[2] = one.upper[2] - two.lower[2] - 0.01 * two.diagonal;
  return EXIT_GOOD;
}
