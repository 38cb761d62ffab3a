#include "world/view/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BODY_MOST ((size_t)1 << 20) /* bytes of a request's body */
#define TOKEN_BYTES 16
#define TOO_LARGE 413u /* of HTTP; the library's name for it has changed */
#define FIRST_PORT 8420
#define HTTP_PORT 80 /* which browsers omit in Host and Origin */
#define PORTS_TRIED 100
#define CONNECTIONS_MOST 32
#define IDLE_SECONDS 60u /* after which an idle connection is closed */
#define OPENER_MS 1000   /* between checks whether --open's program has ended */
#define QUEUE 16         /* connections that the system queues */
#define FORBIDDEN \
  "this page works only on the machine that serves it, at the address that abut view printed"

/* One request from its head to its answer. */
typedef struct exchange {
  struct MHD_Connection *connection;
  char *body;
  size_t used, room;
  bool is_post, too_large;
  void *request; /* the parsed request; NULL before */
  answer answer;
} exchange;

typedef struct server {
  const server_work *work;
  struct MHD_Daemon *daemon;
  struct MHD_Response *page;
  char address[INET_ADDRSTRLEN];
  bool everywhere; /* other addresses of this machine are accepted, too */
  unsigned port;
  char root[2 * TOKEN_BYTES + 3]; /* "/TOKEN/" */
  pid_t opener;                   /* --open's program; 0: none, or it has ended */
  int sleeper[2];                 /* a pipe: writing to it wakes the thread that computes */
  pthread_mutex_t lock; /* guards the members below, and the answers of waiting exchanges */
  exchange *waiting;    /* the newest one, not started yet */
  bool ending;
} server;

/* For the signal handler. */
static volatile sig_atomic_t stopped;
static int wake_by_signal = -1;

/* ---- answers ---- */

static void add_headers(struct MHD_Response *r, const char *type)
{
  static const char *const headers[][2] = {{"Cache-Control", "no-store"},
                                           {"Content-Security-Policy", "frame-ancestors 'none'"},
                                           {"Cross-Origin-Resource-Policy", "same-origin"},
                                           {"Referrer-Policy", "no-referrer"},
                                           {"X-Content-Type-Options", "nosniff"}};
  for (size_t i = 0; i < sizeof headers / sizeof *headers; ++i) {
    MHD_add_response_header(r, headers[i][0], headers[i][1]);
  }
  MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
}

/* Takes ownership of the answer's bytes, even if nothing is sent. */
static enum MHD_Result send_answer(struct MHD_Connection *c, answer *a)
{
  struct MHD_Response *r =
    MHD_create_response_from_buffer(a->count, a->bytes, MHD_RESPMEM_MUST_FREE);
  const unsigned status = a->status;
  if (!r) {
    free(a->bytes); /* otherwise owned by the response */
  }
  *a = (answer){0};
  if (!r) {
    return MHD_NO; /* closes the connection */
  }
  add_headers(r, status == MHD_HTTP_OK ? "application/octet-stream" : "text/plain; charset=utf-8");
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
    MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, POST");
  }
  const enum MHD_Result sent = MHD_queue_response(c, status, r);
  MHD_destroy_response(r);
  return sent;
}

static enum MHD_Result send_text(struct MHD_Connection *c, unsigned status, const char *text)
{
  answer a = {0};
  answer_text(&a, status, "%s", text);
  return send_answer(c, &a);
}

/* ---- access checks ---- */

/* Protects against DNS rebinding, in which a page of another host, whose name resolves to this
 * machine, sends that host's name. The only accepted name is localhost. If the server listens on a
 * single address, only that address is accepted. */
static bool is_host(const server *s, const char *host)
{
  char name[INET_ADDRSTRLEN + 8];
  struct in_addr other;
  const char *colon = host ? strrchr(host, ':') : NULL;
  const size_t length = colon ? (size_t)(colon - host) : host ? strlen(host) : 0;
  char port[8];
  snprintf(port, sizeof port, "%u", s->port);
  if (!length || length >= sizeof name ||
      (colon ? strcmp(colon + 1, port) != 0 : s->port != HTTP_PORT)) {
    return false;
  }
  memcpy(name, host, length);
  name[length] = 0;
  return strcmp(name, "localhost") == 0 || strcmp(name, s->address) == 0 ||
         (s->everywhere && inet_pton(AF_INET, name, &other) == 1);
}

static bool is_origin(const char *origin, const char *host)
{
  static const char scheme[] = "http://";
  return !origin || (strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
                     strcmp(origin + sizeof scheme - 1, host) == 0);
}

/* Compares in a time that does not depend on how many characters match. */
static bool is_below(const char *url, const char *root)
{
  const size_t length = strlen(root);
  unsigned differs = strlen(url) < length;
  for (size_t i = 0; i < length && url[i]; ++i) {
    differs |= (unsigned)(url[i] ^ root[i]);
  }
  return !differs;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
  return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Checks a request's head. Returns 0, or a status and text for refusing it. */
static unsigned check_head(const server *s, struct MHD_Connection *c, const char *url,
                           const char *method, const char **text)
{
  const char *host = header(c, MHD_HTTP_HEADER_HOST),
             *size = header(c, MHD_HTTP_HEADER_CONTENT_LENGTH);
  *text = FORBIDDEN;
  if (!is_host(s, host) || !is_origin(header(c, MHD_HTTP_HEADER_ORIGIN), host)) {
    return MHD_HTTP_FORBIDDEN;
  }
  *text = "there is no page here; use the address that abut view printed";
  if (!is_below(url, s->root)) {
    return MHD_HTTP_NOT_FOUND;
  }
  const char *name = url + strlen(s->root);
  const bool asks = strcmp(name, "contacts") == 0;
  if (*name && strcmp(name, "alive") != 0 && !asks) {
    return MHD_HTTP_NOT_FOUND;
  }
  *text = "this method is not supported";
  if (strcmp(method, asks ? MHD_HTTP_METHOD_POST : MHD_HTTP_METHOD_GET) != 0) {
    return MHD_HTTP_METHOD_NOT_ALLOWED;
  }
  *text = "a request can have at most 1 MB";
  return size && (strlen(size) > 18 || strtoull(size, NULL, 10) > BODY_MOST) ? TOO_LARGE : 0;
}

/* ---- the server's thread ---- */

static void wake(const server *s)
{
  const ssize_t written = write(s->sleeper[1], "", 1); /* full: it wakes all the same */
  (void)written;
}

/* Takes more of a body. A body that is too large is read and discarded up to a bound, because
 * clients read the answer only afterwards. */
static enum MHD_Result take(exchange *e, const char *data, size_t *count)
{
  const size_t bytes = *count;
  *count = 0;
  if (e->used + bytes > BODY_MOST) {
    e->used += bytes;
    e->too_large = true;
    return e->used > 4 * BODY_MOST ? MHD_NO : MHD_YES;
  }
  if (e->used + bytes > e->room) {
    const size_t room = 2 * (e->used + bytes);
    char *body = realloc(e->body, room);
    if (!body) {
      return MHD_NO;
    }
    e->body = body;
    e->room = room;
  }
  memcpy(e->body + e->used, data, bytes);
  e->used += bytes;
  return MHD_YES;
}

/* Queues a request for the thread that computes. A request already waiting is outdated now. */
static enum MHD_Result put_in_queue(server *s, exchange *e)
{
  MHD_suspend_connection(e->connection);
  pthread_mutex_lock(&s->lock);
  exchange *old = s->waiting;
  s->waiting = s->ending ? NULL : e;
  if (s->ending) {
    answer_text(&e->answer, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is stopping");
    MHD_resume_connection(e->connection);
  }
  if (old) {
    answer_text(&old->answer, MHD_HTTP_CONFLICT, "a newer request replaced this one");
    MHD_resume_connection(old->connection);
  }
  pthread_mutex_unlock(&s->lock);
  wake(s);
  return MHD_YES;
}

static enum MHD_Result end_of_body(server *s, exchange *e)
{
  if (e->too_large) {
    return send_text(e->connection, TOO_LARGE, "a request can have at most 1 MB");
  }
  answer refusal = {0};
  e->request = s->work->parse(e->body ? e->body : "", e->used, &refusal);
  return e->request ? put_in_queue(s, e) : send_answer(e->connection, &refusal);
}

static enum MHD_Result handle(void *user, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *count, void **state)
{
  server *s = user;
  exchange *e = *state;
  (void)version;
  if (!e) {
    const char *text = NULL;
    const unsigned status = check_head(s, c, url, method, &text);
    if (status) {
      return send_text(c, status, text);
    }
    e = calloc(1, sizeof *e);
    if (!e) {
      return MHD_NO;
    }
    e->connection = c;
    e->is_post = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
    *state = e;
    return MHD_YES;
  }
  if (*count) {
    return take(e, data, count);
  }
  if (!e->is_post) {
    return url[strlen(s->root)] ? send_text(c, MHD_HTTP_NO_CONTENT, "")
                                : MHD_queue_response(c, MHD_HTTP_OK, s->page);
  }
  pthread_mutex_lock(&s->lock);
  const bool is_known = e->answer.status != 0;
  pthread_mutex_unlock(&s->lock);
  return is_known ? send_answer(c, &e->answer) : end_of_body(s, e);
}

static void forget(void *user, struct MHD_Connection *c, void **state,
                   enum MHD_RequestTerminationCode how)
{
  exchange *e = *state;
  (void)user;
  (void)c;
  (void)how;
  if (e) {
    free(e->body);
    free(e->request);
    free(e->answer.bytes);
    free(e);
  }
  *state = NULL;
}

/* ---- start and end ---- */

static exit_code make_root(server *s)
{
  unsigned char token[TOKEN_BYTES];
  size_t used = 0;
  while (used < sizeof token) {
    const ssize_t got = getrandom(token + used, sizeof token - used, 0);
    if (got < 0 && errno != EINTR) {
      return report(EXIT_RUN, "random numbers: %s", strerror(errno));
    }
    used += got > 0 ? (size_t)got : 0;
  }
  s->root[0] = '/';
  for (size_t i = 0; i < TOKEN_BYTES; ++i) {
    snprintf(s->root + 1 + 2 * i, 3, "%02x", token[i]);
  }
  strcpy(s->root + 1 + 2 * TOKEN_BYTES, "/");
  return EXIT_GOOD;
}

static exit_code read_where(server *s, const options *o)
{
  struct in_addr address;
  const char *listen_on = o->value[OPTION_LISTEN] ? o->value[OPTION_LISTEN] : "127.0.0.1";
  size_t port = FIRST_PORT;
  CLI_TRY(option_whole(o, OPTION_PORT, 1, 65535, &port));
  s->port = (unsigned)port;
  if (inet_pton(AF_INET, listen_on, &address) != 1) {
    return usage_error(o->command,
                       "--listen: `%s` is not an IPv4 address such as 127.0.0.1 or 0.0.0.0",
                       listen_on);
  }
  snprintf(s->address, sizeof s->address, "%s", listen_on);
  s->everywhere = address.s_addr == htonl(INADDR_ANY);
  return EXIT_GOOD;
}

exit_code server_check(const options *o)
{
  server s;
  return read_where(&s, o);
}

/* Opens a socket that listens on the port, or on the next free one. */
static exit_code open_socket(server *s, int *out)
{
  const unsigned first = s->port;
  int error = 0;
  for (unsigned port = first; port <= 65535 && port < first + PORTS_TRIED; ++port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    inet_pton(AF_INET, s->address, &at.sin_addr);
    if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, (const struct sockaddr *)&at, sizeof at) == 0 && listen(fd, QUEUE) == 0) {
      s->port = port;
      *out = fd;
      return EXIT_GOOD;
    }
    error = errno;
    if (fd >= 0) {
      close(fd);
    }
    if (error != EADDRINUSE && error != EACCES) {
      break;
    }
  }
  return report(EXIT_RUN, "%s: cannot listen on any port from %u on: %s", s->address, first,
                strerror(error));
}

/* A second signal ends the process by its default action. */
static void stop(int number)
{
  const int error = errno;
  (void)number;
  stopped = 1;
  const ssize_t written = write(wake_by_signal, "", 1);
  (void)written;
  errno = error;
}

static exit_code make_sleeper(server *s)
{
  static const int ends[] = {SIGINT, SIGTERM};
  if (pipe(s->sleeper) != 0) {
    s->sleeper[0] = s->sleeper[1] = -1;
    return report(EXIT_RUN, "a pipe: %s", strerror(errno));
  }
  for (int i = 0; i < 2; ++i) {
    fcntl(s->sleeper[i], F_SETFD, FD_CLOEXEC);
  }
  fcntl(s->sleeper[1], F_SETFL, O_NONBLOCK);
  wake_by_signal = s->sleeper[1];
  for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i) {
    struct sigaction before;
    /* as in a shell's background */
    if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
      sigaction(ends[i], &(struct sigaction){.sa_handler = stop, .sa_flags = SA_RESETHAND}, NULL);
    }
  }
  return EXIT_GOOD;
}

static exit_code start(server *s, const options *o)
{
  int fd = -1;
  CLI_TRY(read_where(s, o));
  CLI_TRY(make_root(s));
  CLI_TRY(make_sleeper(s));
  CLI_TRY(open_socket(s, &fd));
  signal(SIGPIPE, SIG_IGN); /* a browser that disconnects must not end the process */
  s->page = MHD_create_response_from_buffer(s->work->page_bytes, (void *)(uintptr_t)s->work->page,
                                            MHD_RESPMEM_PERSISTENT);
  if (s->page) {
    add_headers(s->page, "text/html; charset=utf-8");
    s->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0,
                                 NULL, NULL, handle, s, MHD_OPTION_LISTEN_SOCKET, fd,
                                 MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST,
                                 MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
                                 MHD_OPTION_NOTIFY_COMPLETED, forget, NULL, MHD_OPTION_END);
  }
  if (!s->daemon) {
    close(fd);
    return report(EXIT_RUN, "the server cannot be started");
  }
  return EXIT_GOOD;
}

#ifdef __APPLE__
static const char opener[] = "open";
#else
static const char opener[] = "xdg-open";
#endif

static void warn_opener(const char *what)
{
  warn("--open: %s: %s; open the address yourself", opener, what);
}

/* Sets up the program, which may become the browser. It has its own process group, so that Ctrl+C
 * here does not end it. It has the default action for SIGPIPE. Its output goes to standard error,
 * because standard output has only the address. */
static int prepare(posix_spawnattr_t *how, posix_spawn_file_actions_t *files)
{
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  int error = posix_spawnattr_setsigdefault(how, &signals);
  error = error ? error : posix_spawnattr_setpgroup(how, 0);
  error = error ? error
                : posix_spawnattr_setflags(how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  error = error ? error
                : posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  return error ? error : posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
}

static void open_in_browser(server *s, char *address)
{
  extern char **environ;
  char name[sizeof opener], *words[3] = {name, address, NULL};
  posix_spawnattr_t how;
  posix_spawn_file_actions_t files;
  memcpy(name, opener, sizeof opener);
  int error = posix_spawnattr_init(&how);
  if (!error) {
    error = posix_spawn_file_actions_init(&files);
    if (!error) {
      error = prepare(&how, &files);
      error = error ? error : posix_spawnp(&s->opener, opener, &files, &how, words, environ);
      posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&how);
  }
  if (error) {
    s->opener = 0;
    warn_opener(strerror(error));
  }
}

/* Reaps the program if it has ended, so that no zombie process remains. */
static void look_at_opener(server *s)
{
  int status = 0;
  if (!s->opener || waitpid(s->opener, &status, WNOHANG) == 0) {
    return;
  }
  s->opener = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    char what[64];
    snprintf(what, sizeof what, "it exited with status %d", WEXITSTATUS(status));
    warn_opener(what);
  }
}

static exit_code tell(server *s, const options *o)
{
  char address[64 + sizeof s->root];
  snprintf(address, sizeof address, "http://%s:%u%s", s->everywhere ? "127.0.0.1" : s->address,
           s->port, s->root);
  if (s->everywhere || strcmp(s->address, "127.0.0.1") != 0) {
    warn("--listen %s: anyone who can reach this machine and knows the address of the page can use "
         "it, and the traffic is not encrypted%s",
         s->address,
         s->everywhere ? "; in the address, replace 127.0.0.1 by the address of this machine" : "");
  }
  printf("%s\n", address);
  if (fflush(stdout) != 0) {
    return report(EXIT_RUN, "standard output: %s", strerror(errno));
  }
  if (o->value[OPTION_OPEN]) {
    open_in_browser(s, address);
  }
  return EXIT_GOOD;
}

/* Computes queued requests until a signal arrives. */
static void serve(server *s)
{
  char bytes[64];
  if (!stopped) {
    s->work->warm_up(s->work->user);
  }
  while (!stopped) {
    look_at_opener(s);
    if (s->opener &&
        poll(&(struct pollfd){.fd = s->sleeper[0], .events = POLLIN}, 1, OPENER_MS) <= 0) {
      continue;
    }
    if (read(s->sleeper[0], bytes, sizeof bytes) < 0 && errno != EINTR) {
      break;
    }
    pthread_mutex_lock(&s->lock);
    exchange *e = s->waiting;
    s->waiting = NULL;
    pthread_mutex_unlock(&s->lock);
    if (e) {
      answer a = {0};
      s->work->compute(s->work->user, e->request, &a);
      pthread_mutex_lock(&s->lock);
      e->answer = a;
      pthread_mutex_unlock(&s->lock);
      MHD_resume_connection(e->connection);
    }
  }
}

static void end(server *s)
{
  pthread_mutex_lock(&s->lock);
  exchange *e = s->waiting;
  s->waiting = NULL;
  s->ending = true;
  if (e) {
    answer_text(&e->answer, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is stopping");
    MHD_resume_connection(e->connection);
  }
  pthread_mutex_unlock(&s->lock);
  if (s->daemon) {
    MHD_stop_daemon(s->daemon);
  }
  if (s->page) {
    MHD_destroy_response(s->page);
  }
}

exit_code server_run(const options *o, const server_work *work)
{
  server s = {.work = work, .sleeper = {-1, -1}};
  exit_code code = EXIT_GOOD;
  pthread_mutex_init(&s.lock, NULL);
  CLI_TRY_DONE(start(&s, o));
  CLI_TRY_DONE(tell(&s, o));
  serve(&s);
  look_at_opener(&s);
done:
  end(&s);
  wake_by_signal = -1;
  for (int i = 0; i < 2; ++i) {
    if (s.sleeper[i] >= 0) {
      close(s.sleeper[i]);
    }
  }
  pthread_mutex_destroy(&s.lock);
  return code;
}
