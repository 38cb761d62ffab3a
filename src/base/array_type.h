/* Bytes per element of each array type. */
#ifndef ABUT_BASE_ARRAY_TYPE_H
#define ABUT_BASE_ARRAY_TYPE_H

#include <abut/files.h>

static inline size_t array_type_bytes(abut_array_type type)
{
  static const size_t bytes[] = {
    [ABUT_ARRAY_FLOAT32] = 4, [ABUT_ARRAY_FLOAT64] = 8, [ABUT_ARRAY_UINT8] = 1,
    [ABUT_ARRAY_UINT32] = 4,  [ABUT_ARRAY_TEXT] = 1,    [ABUT_ARRAY_INT32] = 4,
    [ABUT_ARRAY_INT64] = 8};
  return bytes[type];
}

#endif
