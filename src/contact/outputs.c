#include "contact/outputs.h"

#include "geometry/layout.h"
#include <abut/derivatives.h>
#include <stddef.h>
#include <string.h>

#define OUTPUT(member, id, components_, column_)                                                 \
  {                                                                                              \
    .names = {#member, #member, "the cotangent of " #member, "the tangent of " #member,          \
              "the tangent of " #member "'s cotangent"},                                         \
    .offsets = {offsetof(abut_batch, member), offsetof(abut_compact, member),                    \
                offsetof(abut_cotangents, member), offsetof(abut_tangents, member),              \
                offsetof(abut_cotangents, member)},                                              \
    .want = WANT_##id, .components = (components_), .column = (column_), .values = SCRATCH_##id, \
    .bars = SCRATCH_##id##_BAR                                                                   \
  }

const contact_output contact_outputs[OUTPUTS] = {OUTPUT(p, P, 3, VALUE_P), OUTPUT(d, D, 1, VALUE_D),
                                                 OUTPUT(n, N, 3, VALUE_N),
                                                 OUTPUT(activity, ACTIVITY, 1, VALUE_ACTIVITY),
                                                 OUTPUT(weight, WEIGHT, 1, VALUE_WEIGHT)};

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
