#include "core/cli.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Delay before progress is shown, and interval between updates [s]. */
#define PROGRESS_AFTER 1
#define PROGRESS_EVERY 0.2
/* Interval if stderr is not a terminal [s]. */
#define PROGRESS_LINES 10.0
/* How long steps are measured, and which total time causes a warning [s]. */
#define MEASURED 1.0
#define LONG 60.0

/* State of messages: the process's rank, and errors held back until it is known which rank prints
 * them. */
static struct {
  const char *program; /* name at the start of messages */
  int rank;            /* -1: a single process */
  bool aloud;          /* messages concern only this rank */
  size_t used;
  char text[4096];
} kept = {.program = "abut", .rank = -1};

void report_as_program(const char *name)
{
  kept.program = name;
}

const char *program_name(void)
{
  return kept.program;
}

void report_as_rank(int rank)
{
  kept.rank = rank;
}

void report_kept(void)
{
  fputs(kept.text, stderr);
  kept.used = 0;
  *kept.text = '\0';
}

void warn_of_rank(bool own)
{
  kept.aloud = own;
}

__attribute__((format(printf, 1, 2))) static void keep(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length =
    vsnprintf(kept.text + kept.used, sizeof kept.text - kept.used, format, arguments);
  va_end(arguments);
  kept.used += length > 0 ? (size_t)length : 0;
  kept.used = kept.used < sizeof kept.text ? kept.used : sizeof kept.text - 1;
}

/* Prints an error, and a second line below it. */
static void say(const char *below, const char *format, va_list arguments)
{
  char text[2048];
  if (kept.rank < 0) {
    fprintf(stderr, "%s: ", kept.program);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n%s", below);
    return;
  }
  vsnprintf(text, sizeof text, format, arguments);
  keep("%s: rank %d: %s\n%s", kept.program, kept.rank, text, below);
}

exit_code usage_error(const command *c, const char *format, ...)
{
  char below[128];
  va_list arguments;
  snprintf(below, sizeof below, "See `%s %s%s--help`.\n", kept.program, c ? c->name : "",
           c ? " " : "");
  va_start(arguments, format);
  say(below, format, arguments);
  va_end(arguments);
  return EXIT_INPUT;
}

exit_code report(exit_code code, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  say("", format, arguments);
  va_end(arguments);
  return code;
}

exit_code report_beyond(const char *path, const char *element, size_t index, size_t count)
{
  if (count == 0) {
    return report(EXIT_INPUT, "%s: contains no %ss", path, element);
  }
  if (count == 1) {
    return report(EXIT_INPUT, "%s: %s %zu does not exist (only %s 0)", path, element, index,
                  element);
  }
  return report(EXIT_INPUT, "%s: %s %zu does not exist (%ss 0-%zu)", path, element, index, element,
                count - 1);
}

exit_code status_exit_code(abut_status status)
{
  switch (status) {
  case ABUT_SUCCESS:
    return EXIT_GOOD;
  case ABUT_ERROR_ARGUMENT:
  case ABUT_ERROR_READ:
  case ABUT_ERROR_FORMAT:
  case ABUT_ERROR_BODY:
  case ABUT_ERROR_DEVICE:
  case ABUT_ERROR_PRECISION:
    return EXIT_INPUT;
  default:
    return EXIT_RUN;
  }
}

exit_code report_status(abut_status status)
{
  if (status == ABUT_SUCCESS) {
    return EXIT_GOOD;
  }
  const char *text = abut_last_error();
  return report(status_exit_code(status), "%s", *text ? text : abut_status_name(status));
}

const char *plural(size_t count)
{
  return count == 1 ? "" : "s";
}

void warn(const char *format, ...)
{
  va_list arguments;
  if (kept.rank > 0 && !kept.aloud) {
    return; /* the first rank prints the same */
  }
  va_start(arguments, format);
  if (kept.rank >= 0 && kept.aloud) {
    fprintf(stderr, "%s: rank %d: warning: ", kept.program, kept.rank);
  } else {
    fprintf(stderr, "%s: warning: ", kept.program);
  }
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

double now(void)
{
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define CLEAR "\r\033[K"

/* The last line of progress_say. A step without measurable progress may take long to return, so an
 * alarm shows its line after the first second. */
static char line[512];
static volatile sig_atomic_t line_shown;
static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER; /* also used by devices' threads */

/* Does only what is allowed in a signal handler. */
static void show_line(int signal_)
{
  const int error = errno;
  (void)signal_;
  line_shown = write(STDERR_FILENO, line, strlen(line)) > 0;
  errno = error;
}

static struct timeval to_timeval(double seconds)
{
  return (struct timeval){(time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds)))};
}

/* Schedules the line to be shown after this time, and then every `every` seconds; 0: never. */
static void show_in(double seconds, double every)
{
  const struct itimerval t = {to_timeval(every), to_timeval(seconds)};
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = show_line, .sa_flags = SA_RESTART}, NULL);
  setitimer(ITIMER_REAL, &t, NULL);
}

/* When the next whole line of any step is due [s]; 0: nothing has started. */
static double lines_due;

/* Tests set another interval, or 0 for none. */
static double lines_every(void)
{
  const char *stated = getenv("ABUT_TEST_PROGRESS");
  return stated ? atof(stated) : PROGRESS_LINES;
}

progress progress_begin(const options *o, const char *what)
{
  const double start = now();
  const bool wanted = !o->value[OPTION_QUIET], terminal = isatty(STDERR_FILENO);
  const double lines = wanted && !terminal && kept.rank <= 0 ? lines_every() : 0.0;
  pthread_mutex_lock(&line_lock);
  lines_due = lines_due > 0.0 || !(lines > 0.0) ? lines_due : start + lines;
  pthread_mutex_unlock(&line_lock);
  return (progress){.enabled = wanted && terminal,
                    .lines = lines,
                    .start = start,
                    .last = start,
                    .what = what};
}

static bool is_shown(const progress *p)
{
  return p->enabled || p->lines > 0.0;
}

/* Interval at which the line changes [s]. */
static double often(const progress *p)
{
  return p->enabled ? PROGRESS_EVERY : fmin(PROGRESS_EVERY, p->lines);
}

static void show_on_terminal(const progress *p)
{
  const double left = p->start + PROGRESS_AFTER - now();
  if (line_shown || !(left > 1e-3)) {
    show_line(SIGALRM);
  } else {
    show_in(left, 0.0);
  }
}

/* Updates the due time after alarms have shown a line. */
static void move_due(double every)
{
  if (line_shown) {
    lines_due = now() + every;
    line_shown = 0;
  }
}

static void show_as_line(double every)
{
  const double time = now();
  move_due(every);
  if (time >= lines_due) {
    show_line(SIGALRM);
    line_shown = 0;
    lines_due = time + every;
  }
  show_in(fmax(lines_due - time, 1e-3), every);
}

void progress_say(progress *p, const char *format, ...)
{
  if (!is_shown(p)) {
    return;
  }
  va_list arguments;
  pthread_mutex_lock(&line_lock);
  va_start(arguments, format);
  show_in(0.0, 0.0);
  const char *begin = p->enabled ? CLEAR : "", *end = p->enabled ? "" : "\n";
  const size_t first = strlen(begin), room = sizeof line - first - strlen(end);
  memcpy(line, begin, first);
  vsnprintf(line + first, room, format, arguments);
  strcat(line, end);
  va_end(arguments);
  if (p->enabled) {
    show_on_terminal(p);
  } else {
    show_as_line(p->lines);
  }
  pthread_mutex_unlock(&line_lock);
}

/* The first report comes after compiling and reading, so it is not used for measurement. */
void progress_foresee(progress *p, size_t done, size_t total)
{
  const double time = now();
  if (p->measured <= 0.0) {
    p->measured = time;
    p->before = done;
  }
  if (p->foreseen || done <= p->before || time - p->measured < MEASURED) {
    return;
  }
  p->foreseen = true;
  const double left = (time - p->measured) * (double)(total - done) / (double)(done - p->before);
  if (left > LONG) {
    char contacts[48] = "", size[48] = "";
    if (p->contacts) {
      snprintf(contacts, sizeof contacts, ", %zu contacts per pose", p->contacts);
    }
    if (p->bytes > 0.0) {
      snprintf(size, sizeof size, ", %.3g GB to write", 1e-9 * p->bytes);
    }
    progress_end(p);
    warn("%s: about %.0f minutes remain, %zu of %zu done%s%s", p->what, ceil(left / 60.0), done,
         total, contacts, size);
  }
}

bool progress_step(size_t done, size_t total, void *user)
{
  progress *p = user;
  const double time = now();
  done += p->earlier;
  total = p->of_all ? p->of_all : total;
  progress_foresee(p, done, total);
  const double after = p->enabled ? PROGRESS_AFTER : 0.0;
  if (is_shown(p) && time - p->start > after && time - p->last > often(p)) {
    p->last = time;
    progress_say(p, "%s: %zu of %zu, %.0f %%", p->what, done, total,
                 100.0 * (double)done / (double)total);
  }
  return true;
}

bool progress_share(void *user, const char *what, double share)
{
  progress *p = user;
  const double time = now();
  /* The start of a step is always shown, because the next report may come much later. */
  if (is_shown(p) &&
      (time - p->last > often(p) || strncmp(p->step, what, sizeof p->step - 1) != 0)) {
    p->last = time;
    snprintf(p->step, sizeof p->step, "%s", what);
    progress_say(p, "%s: %s, %.0f %%", p->what, what, 100.0 * share);
  }
  return true;
}

/* Number of devices that build, and their common progress line. */
static struct {
  pthread_mutex_t lock;
  size_t count;
  progress line;
} building = {.lock = PTHREAD_MUTEX_INITIALIZER};

void progress_building(void *user, const char *what, bool done)
{
  pthread_mutex_lock(&building.lock);
  if (!done && !building.count++) {
    building.line = progress_begin(user, "");
  }
  if (!done) {
    progress_say(&building.line, "compiling %s (only once)", what);
  } else if (!--building.count) {
    progress_end(&building.line);
  }
  pthread_mutex_unlock(&building.lock);
}

void progress_end(progress *p)
{
  pthread_mutex_lock(&line_lock);
  if (is_shown(p)) {
    show_in(0.0, 0.0);
  }
  if (p->lines > 0.0) {
    move_due(p->lines);
  } else if (line_shown) {
    fputs(CLEAR, stderr);
    fflush(stderr);
    line_shown = 0;
  }
  pthread_mutex_unlock(&line_lock);
}

const char *precision_name(abut_precision precision)
{
  return precision == ABUT_FLOAT64 ? "f64" : "f32";
}

const char *device_type_name(abut_device_type type)
{
  static const char *const names[] = {"host", "cpu", "gpu", "other"};
  return names[type <= ABUT_DEVICE_OTHER ? type : ABUT_DEVICE_OTHER];
}
