#include "json_text.h"

json_t *json_text(const char *s)
{
  json_t *value = json_string(s);
  return value ? value : json_string("?");
}
