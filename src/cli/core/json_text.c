#include "core/json_text.h"

json_t *json_text(const char *s)
{
  json_t *value = json_string(s);
  return value ? value : json_string("?");
}

exit_code print_object(json_t *root, size_t digits)
{
  const bool good = root &&
                    json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(digits)) == 0;
  json_decref(root);
  if (!good) {
    return report(EXIT_RUN, "not enough memory for an object, or it cannot be written");
  }
  putchar('\n');
  return EXIT_GOOD;
}
