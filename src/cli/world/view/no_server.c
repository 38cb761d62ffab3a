#include "world/view/server.h"

exit_code server_check(const options *o)
{
  return usage_error(
    o->command, "this build cannot serve pages, because it has no libmicrohttpd (docs/install.md): "
                "give view -o PAGE.html, which writes a page that needs no server");
}

exit_code server_run(const options *o, const server_work *work)
{
  (void)work;
  return server_check(o);
}
