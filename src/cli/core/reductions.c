#include "core/reductions.h"

#define REDUCTION_NAME(member, id, word, file, over, bars, reads) [ABUT_REDUCE_##id] = word,
#define REDUCTION_MEMBER(member, id, word, file, over, bars, reads) \
  [ABUT_REDUCE_##id] = &batch->reductions.member,

const char *const reduction_names[REDUCTIONS_SLOPED] = {SLOPED_REDUCTIONS(REDUCTION_NAME)};

void want_reduction(abut_batch *batch, abut_reduction reduction, void *values)
{
  void **const places[REDUCTIONS_SLOPED] = {SLOPED_REDUCTIONS(REDUCTION_MEMBER)};
  *places[reduction] = values;
}
