#include "mesh/query_time.h"

#include "core/timing.h"
#include "pair/random_poses.h"
#include <stdlib.h>

typedef struct query {
  const session *session;
  abut_batch batch;
} query;

static exit_code ask(void *user, size_t i)
{
  const query *q = user;
  abut_batch batch = q->batch;
  (void)i;
  CLI_TRY(report_status(abut_contacts(q->session->pair, &batch)));
  return report_failures(batch.failures);
}

/* Allocates p, n, d and activity of all poses, one after the other. */
static exit_code take_outputs(query *q, void **outputs)
{
  const size_t numbers = QUERY_POSES * q->session->layout.contacts,
               real = real_bytes(q->session->precision);
  CLI_TRY(reals_of("poses", QUERY_POSES, 8 * q->session->layout.contacts, q->session->precision,
                   outputs));
  char *at = *outputs;
  q->batch.p = at;
  q->batch.n = at + 3 * numbers * real;
  q->batch.d = at + 6 * numbers * real;
  q->batch.activity = at + 7 * numbers * real;
  return EXIT_GOOD;
}

exit_code time_query(const session *s, double *seconds)
{
  query q = {s, abut_default_batch()};
  abut_poses poses = {0};
  pose_arrays arrays = {0};
  void *outputs = NULL;
  timing call;
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(random_poses(s->bodies, QUERY_POSES, RANDOM_APART, &poses));
  CLI_TRY_DONE(pose_arrays_open(&arrays, &q.batch, s, &poses));
  q.batch.status = NULL; /* all of these poses are valid */
  CLI_TRY_DONE(take_outputs(&q, &outputs));
  CLI_TRY_DONE(time_rounds(ask, &q, 1, 1, &call));
  *seconds = call.median / QUERY_POSES;
done:
  free(outputs);
  pose_arrays_close(&arrays);
  abut_free_poses(&poses);
  return code;
}
