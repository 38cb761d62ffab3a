/* Opening a context, whose devices must answer a known question before they are used. */
#include "base/error.h"
#include "manifold/self_test.h"

abut_status abut_create_context(const abut_context_def *def, abut_context *out)
{
  if (!def || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_context needs a definition and a handle");
  }
  context *c = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(context_open(def, &c));
  for (size_t i = 0; i < c->count; ++i) {
    TRY_DONE(test_member(c, i, PROGRAM_PLAIN, false));
  }
  *out = (abut_context){c->self.index, c->self.generation};
  c = NULL;
done:
  context_close(c);
  return status;
}
