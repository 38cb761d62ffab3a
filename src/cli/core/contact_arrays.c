#include "core/contact_arrays.h"

#include <abut/derivatives.h>

#include <string.h>

#define ARRAY(member, id, reals)                                         \
  {                                                                      \
#member, "compact_" #member, #member "_bar", "jvp_" #member, reals,  \
      offsetof(abut_batch, member), offsetof(abut_compact, member),      \
      offsetof(abut_cotangents, member), offsetof(abut_tangents, member) \
  }

const contact_array contact_arrays[OUTPUTS] = {CONTACT_OUTPUTS(ARRAY, AND_COMMA)};

void *array_in(const void *of, size_t offset)
{
  void *array = NULL;
  memcpy(&array, (const char *)of + offset, sizeof array);
  return array;
}

void put_array(void *of, size_t offset, const void *array)
{
  memcpy((char *)of + offset, &array, sizeof array);
}
