#include "world/view/server.h"

exit_code server_check(const options *o)
{
  return usage_error(
    o->command,
    "view without -o PAGE.html serves the page, which this build cannot: it has no libmicrohttpd "
    "(docs/install.md). With -o it writes a page that needs no server");
}

exit_code server_run(const options *o, const server_work *work)
{
  (void)work;
  return server_check(o);
}
