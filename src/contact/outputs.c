#include "contact/outputs.h"

#include "geometry/layout.h"
#include <abut/derivatives.h>
#include <stddef.h>
#include <string.h>

#define OUTPUT(member, id, components_)                                                           \
  {                                                                                               \
    .names = {#member, "the list's " #member, "the cotangent of " #member,                        \
              "the tangent of " #member, "the tangent of " #member "'s cotangent"},               \
    .offsets = {offsetof(abut_batch, member), offsetof(abut_compact, member),                     \
                offsetof(abut_cotangents, member), offsetof(abut_tangents, member),               \
                offsetof(abut_cotangents, member)},                                               \
    .want = WANT_##id, .components = (components_), .column = VALUE_##id, .values = SCRATCH_##id, \
    .bars = SCRATCH_##id##_BAR                                                                    \
  }

const contact_output contact_outputs[OUTPUTS] = {CONTACT_OUTPUTS(OUTPUT, AND_COMMA)};

void *output_array(const contact_output *o, output_struct kind, const void *of)
{
  void *array = NULL;
  memcpy(&array, (const char *)of + o->offsets[kind], sizeof array);
  return array;
}

void output_set(const contact_output *o, output_struct kind, void *of, void *array)
{
  memcpy((char *)of + o->offsets[kind], &array, sizeof array);
}

int outputs_given(output_struct kind, const void *of)
{
  int given = 0;
  for (size_t i = 0; of && i < OUTPUTS; ++i) {
    given |= output_array(&contact_outputs[i], kind, of) ? contact_outputs[i].want : 0;
  }
  return given;
}
