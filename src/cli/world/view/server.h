/* A server for one page on this machine, and for what the page asks. */
#ifndef ABUT_CLI_VIEW_SERVER_H
#define ABUT_CLI_VIEW_SERVER_H

#include "core/cli.h"

/* What an HTTP request is answered. */
typedef struct answer {
  unsigned status; /* of HTTP; 0: not known yet */
  char *bytes;     /* the server frees it */
  size_t count;
} answer;

/* What is served. `parse` runs in the server's own thread and calls nothing of abut; `compute` runs
 * in the thread that called server_run, one request after the other. */
typedef struct server_work {
  const char *page; /* UTF-8 */
  size_t page_bytes;
  /* Makes a request of the bytes of a POST, for free(); NULL with an answer that says what is
   * wrong. */
  void *(*parse)(const char *bytes, size_t count, answer *refusal);
  void (*compute)(void *user, const void *request, answer *out);
  /* Called where `compute` is, once the page's address is printed. */
  void (*warm_up)(void *user);
  void *user;
} server_work;

/* An answer of one line of text, as printf has it. Without memory it has the status alone. */
__attribute__((format(printf, 3, 4))) void answer_text(answer *a, unsigned status,
                                                       const char *format, ...);

/* Checks --listen and --port. Without libmicrohttpd it says that there is no server, and names
 * -o. */
exit_code server_check(const options *o);
/* Prints the page's address, with --open opens it, and serves until SIGINT or SIGTERM. */
exit_code server_run(const options *o, const server_work *work);

#endif
