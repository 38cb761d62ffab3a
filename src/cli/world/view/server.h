/* A server on this machine for one page and its requests. */
#ifndef ABUT_CLI_VIEW_SERVER_H
#define ABUT_CLI_VIEW_SERVER_H

#include "core/cli.h"

/* The answer to an HTTP request. */
typedef struct answer {
  unsigned status; /* of HTTP; 0: not known yet */
  char *bytes;     /* freed by the server */
  size_t count;
} answer;

/* The served content. `parse` runs in the server's own thread and does not call abut; `compute`
 * runs in the thread that called server_run, one request at a time. */
typedef struct server_work {
  const char *page; /* UTF-8 */
  size_t page_bytes;
  /* Parses the bytes of a POST into a request for free(). Returns NULL with an error answer. */
  void *(*parse)(const char *bytes, size_t count, answer *refusal);
  void (*compute)(void *user, const void *request, answer *out);
  /* Called in the thread of `compute`, after the page's address is printed. */
  void (*warm_up)(void *user);
  void *user;
} server_work;

/* Makes an answer of one line of text, formatted like printf. Without memory it has only the
 * status. */
__attribute__((format(printf, 3, 4))) void answer_text(answer *a, unsigned status,
                                                       const char *format, ...);

/* Checks --listen and --port. Without libmicrohttpd it reports that there is no server, and
 * suggests -o. */
exit_code server_check(const options *o);
/* Prints the page's address, opens it with --open, and serves until SIGINT or SIGTERM. */
exit_code server_run(const options *o, const server_work *work);

#endif
