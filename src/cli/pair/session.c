#include "mesh/fields.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_LINES 4 /* lines of a compiler's log, if the device was named */
/* Limits above which a warning is printed before the computation: contacts per pose, and bytes to
 * write. */
#define LARGE_CONTACTS ((size_t)1 << 24)
#define LARGE_BYTES 4e9
#define EDGES_MOST 65536

bool multiply(size_t a, size_t b, size_t c, size_t *out)
{
  if ((b && a > SIZE_MAX / b) || (c && a * b > SIZE_MAX / c)) {
    return false;
  }
  *out = a * b * c;
  return true;
}

size_t real_bytes(abut_precision precision)
{
  return precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float);
}

exit_code reals_of(const char *what, size_t count, size_t width, abut_precision precision,
                   void **out)
{
  size_t numbers = 0;
  *out = multiply(count, width, 1, &numbers) ? calloc(numbers ? numbers : 1, real_bytes(precision))
                                             : NULL;
  return *out ? EXIT_GOOD
              : report(EXIT_RUN, "no memory for %zu numbers of each of %zu %s", width, count, what);
}

double real_at(const void *reals, abut_precision precision, size_t i)
{
  return precision == ABUT_FLOAT64 ? ((const double *)reals)[i] : (double)((const float *)reals)[i];
}

double dense_bytes(const session *s, size_t poses)
{
  return (double)poses * (double)s->layout.contacts * 9.0 * (double)real_bytes(s->precision);
}

void warn_large(const session *s, size_t poses, double bytes)
{
  char size[48] = "";
  if (s->layout.contacts < LARGE_CONTACTS && bytes < LARGE_BYTES) {
    return;
  }
  if (bytes > 0.0) {
    snprintf(size, sizeof size, ", %.3g GB to write", 1e-9 * bytes);
  }
  warn("%zu poses with %zu contacts each, including all pairs of %zu and %zu edges%s", poses,
       s->layout.contacts, s->layout.edges[0], s->layout.edges[1], size);
}

size_t pose_width(abut_pose_kind kind)
{
  return kind == ABUT_POSE_QUATERNION ? 7 : 6;
}

/* ---- poses ---- */

void warn_empty(const char *path, size_t poses)
{
  if (!poses) {
    warn("%s: contains no poses; the output will be empty", path);
  }
}

static float to_float(double x)
{
  return isfinite(x) && fabs(x) > (double)FLT_MAX ? copysignf(FLT_MAX, (float)copysign(1.0, x))
                                                  : (float)x;
}

exit_code poses_to_reals(const double *poses, size_t count, abut_precision precision, void **out)
{
  size_t bytes = 0;
  *out = multiply(count, real_bytes(precision), 1, &bytes) ? malloc(bytes ? bytes : 1) : NULL;
  if (!*out) {
    return report(EXIT_RUN, "no memory for %zu numbers of poses", count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (precision == ABUT_FLOAT64) {
      ((double *)*out)[i] = poses[i];
    } else {
      ((float *)*out)[i] = to_float(poses[i]);
    }
  }
  return EXIT_GOOD;
}

void warn_pairs(void)
{
  warn("the poses name pairs, which only `contacts --pairs` uses: here all poses use the same two "
       "bodies");
}

exit_code pose_arrays_open(pose_arrays *a, abut_batch *batch, const session *s,
                           const abut_poses *poses)
{
  const size_t numbers = poses->count * pose_width(poses->kind);
  CLI_TRY(poses_to_reals(poses->pose1, numbers, s->precision, &a->pose1));
  CLI_TRY(poses_to_reals(poses->pose2, numbers, s->precision, &a->pose2));
  a->status = calloc(poses->count ? poses->count : 1, sizeof *a->status);
  if (!a->status) {
    return report(EXIT_RUN, "no memory for the status of %zu poses", poses->count);
  }
  batch->count = poses->count;
  batch->poses = poses->kind;
  batch->pose1 = a->pose1;
  batch->pose2 = a->pose2;
  batch->status = a->status;
  if (poses->pair && !batch->pairs) {
    warn_pairs();
  }
  return EXIT_GOOD;
}

void pose_arrays_close(pose_arrays *a)
{
  free(a->pose1);
  free(a->pose2);
  free(a->status);
  *a = (pose_arrays){0};
}

const status_note pose_notes[] = {
  {ABUT_POSE_DEEP, ABUT_POSE_DEEP, "poses with deeply overlapping bodies",
   "Their contacts show less than half of the depth; `distance` is closer to it."},
  {ABUT_POSE_REJECTED, ABUT_POSE_NOT_FINITE, "poses that are not finite", NULL},
  {ABUT_POSE_REJECTED, ABUT_POSE_NO_QUATERNION, "poses with a quaternion of length 0", NULL},
  {0}};

void noted_add(noted *n, const status_note *of, const abut_array *status, size_t index)
{
  const size_t count = status->shape[0];
  for (size_t i = 0; i < count; ++i) {
    const uint32_t here = status->type == ABUT_ARRAY_UINT8 ? ((const uint8_t *)status->data)[i]
                                                           : ((const uint32_t *)status->data)[i];
    for (size_t k = 0; of[k].what; ++k) {
      if ((here & of[k].mask) == of[k].bits && !n->counts[k]++) {
        n->first[k] = index + i;
      }
    }
  }
  n->rows += count;
}

void noted_warn(const noted *n, const status_note *of, const char *effect)
{
  for (size_t k = 0; of[k].what; ++k) {
    if (n->counts[k]) {
      warn("%s: %zu of %zu; the first one has index %zu. %s", of[k].what, n->counts[k], n->rows,
           n->first[k], of[k].effect ? of[k].effect : effect);
    }
  }
}

void warn_noted(const status_note *of, const uint8_t *status, size_t count, const char *effect)
{
  noted n = {0};
  noted_add(&n, of, &(abut_array){"status", ABUT_ARRAY_UINT8, 1, {count}, status}, 0);
  noted_warn(&n, of, effect);
}

void warn_rejected(const abut_batch *batch, const char *effect)
{
  warn_noted(pose_notes, batch->status, batch->count, effect);
}

/* ---- device, bodies, smoothing ---- */

exit_code find_devices(const options *o, abut_device_choice *choices, size_t *count)
{
  *count = 0;
  for (int i = 0; i < (o->device_count ? o->device_count : 1); ++i) {
    size_t here = 0;
    CLI_TRY(report_status(abut_find_devices(o->device_count ? o->devices[i] : NULL,
                                            choices + *count, ABUT_DEVICES_MOST - *count, &here)));
    *count += here;
    if (*count > ABUT_DEVICES_MOST) {
      return report(EXIT_INPUT, "--device: %zu devices are named; at most %d can be used together",
                    *count, ABUT_DEVICES_MOST);
    }
  }
  return EXIT_GOOD;
}

static exit_code open_context(session *s, const options *o, abut_precision precision)
{
  abut_context_def def = abut_default_context_def();
  abut_device_choice choices[ABUT_DEVICES_MOST];
  size_t lanes = 0, chunk = 0, count = 0;
  CLI_TRY(option_whole(o, OPTION_LANES, 1, 16, &lanes));
  CLI_TRY(option_whole(o, OPTION_CHUNK, 1, UINT32_MAX, &chunk));
  CLI_TRY(option_real(o, OPTION_TIMEOUT, 1e-3, 1e6, &def.timeout));
  if (o->device_count) { /* otherwise the library skips devices that fail */
    CLI_TRY(find_devices(o, choices, &count));
  }
  if (o->command->bit == COMMAND_BENCH) { /* the host must not be timed as a device */
    def.fallback = ABUT_FALLBACK_NONE;
  }
  def.devices = count ? choices : NULL;
  def.device_count = (uint32_t)count;
  def.precision = precision;
  def.building = progress_building;
  def.user = (void *)(uintptr_t)o; /* which is only read */
  def.lanes = (uint32_t)lanes;
  def.chunk = (uint32_t)chunk;
  progress p = progress_begin(o, "");
  progress_say(&p, "preparing the device");
  const abut_status status = abut_create_context(&def, &s->context);
  progress_end(&p);
  return report_status(status);
}

/* Gets all devices and their status, including the host path if it was used as a substitute. */
static exit_code read_reports(const session *s, abut_device_report *reports, size_t room,
                              size_t *count)
{
  CLI_TRY(report_status(abut_context_devices(s->context, reports, room, count)));
  *count = *count < room ? *count : room;
  return EXIT_GOOD;
}

typedef bool (*report_test)(const abut_device_report *r);

static bool is_chosen(const abut_device_report *r)
{
  (void)r;
  return true;
}

static bool has_worked(const abut_device_report *r)
{
  return r->elements > 0;
}

static bool works(const abut_device_report *r)
{
  return r->status == ABUT_SUCCESS;
}

static bool does_the_rest(const abut_device_report *r)
{
  return has_worked(r) && works(r);
}

/* Counts the devices for which the test holds, and joins their names, truncated if necessary. */
static size_t join_names(const abut_device_report *reports, size_t count, report_test holds,
                         char *text, size_t room)
{
  size_t used = 0, named = 0;
  *text = '\0';
  for (size_t i = 0; i < count; ++i) {
    if (holds(&reports[i]) && ++named && used < room) {
      used += (size_t)snprintf(text + used, room - used, "%s%s", named > 1 ? " + " : "",
                               reports[i].info.name);
    }
  }
  return named;
}

static exit_code name_devices(session *s)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  size_t count = 0;
  CLI_TRY(report_status(abut_context_device(s->context, &s->device)));
  CLI_TRY(read_reports(s, reports, ABUT_DEVICES_MOST + 1, &count));
  join_names(reports, count, is_chosen, s->devices, sizeof s->devices);
  return EXIT_GOOD;
}

workers_text session_workers(const session *s)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  workers_text workers = {"?"};
  size_t count = 0, first = 0;
  if (read_reports(s, reports, ABUT_DEVICES_MOST + 1, &count) == EXIT_GOOD &&
      !join_names(reports, count, has_worked, workers.text, sizeof workers.text)) {
    while (first + 1 < count && !works(&reports[first])) {
      ++first;
    }
    snprintf(workers.text, sizeof workers.text, "%s", reports[first].info.name);
  }
  return workers;
}

/* Warns of a device that the user did not name, in one line, with the first line of a compiler's
 * log. Most texts name the device. */
static void warn_passed_over(const abut_device_report *r, const char *others, bool several)
{
  const char *rest = r->text + strcspn(r->text, "\n");
  const char *log = rest + strspn(rest, "\n");
  const int length = (int)(rest - r->text), log_length = (int)strcspn(log, "\n");
  const bool names = strncmp(r->text, "device ", 7) == 0;
  warn("%s%s%s%.*s%s%.*s%s%s%s", names ? "" : "device ", names ? "" : r->info.name,
       names ? "" : " failed: ", length, r->text, log_length ? ": " : "", log_length, log,
       *others ? "; " : "", others,
       !*others  ? ""
       : several ? " compute instead"
                 : " computes instead");
}

/* The first line of the text is in the warning; some lines of a compiler's log follow. */
static void warn_failure(const abut_device_report *r, const char *others, bool several)
{
  const char *rest = r->text + strcspn(r->text, "\n");
  warn("device %s failed (%.*s)%s%s%s", r->info.name, (int)(rest - r->text), r->text,
       *others ? "; " : "", others,
       !*others  ? ""
       : several ? " have done its share"
                 : " has done its share");
  for (int i = 0; *rest && i < LOG_LINES; ++i) {
    const int length = (int)strcspn(++rest, "\n");
    fprintf(stderr, "  %.*s\n", length, rest);
    rest += length;
  }
}

static void warn_failures(const session *s)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  char others[512];
  size_t count = 0;
  if (read_reports(s, reports, ABUT_DEVICES_MOST + 1, &count) != EXIT_GOOD) {
    return;
  }
  const size_t named = join_names(reports, count, does_the_rest, others, sizeof others);
  warn_of_rank(true);
  for (size_t i = 0; i < count; ++i) {
    if (reports[i].status != ABUT_SUCCESS) {
      (s->named ? warn_failure : warn_passed_over)(&reports[i], others, named > 1);
    }
  }
  warn_of_rank(false);
}

/* Printed only if the user did not ask for the host path, once for all precisions. */
static void warn_no_driver(const session *s)
{
  static bool told;
  if (!told && !s->named && s->device.type == ABUT_DEVICE_HOST) {
    told = true;
    warn("there is no OpenCL device, so the slow host path is used: install %s", OPENCL_DRIVER);
  }
}

exit_code session_open(session *s, const options *o, abut_precision precision)
{
  memset(s, 0, sizeof *s);
  s->precision = precision;
  CLI_TRY(open_context(s, o, precision));
  s->open = true;
  s->named = o->device_count > 0;
  CLI_TRY(name_devices(s));
  warn_no_driver(s);
  return EXIT_GOOD;
}

void tell_fitted(const options *o, const char *how, const char *text)
{
  const bool show = o->value[OPTION_SHOW_SMOOTHING];
  if (!o->value[OPTION_SMOOTHING] && !o->value[OPTION_QUIET]) {
    fprintf(stderr, "%s: no --smoothing; a smoothing was fitted to the size of the bodies%s%s\n",
            program_name(), how, show ? ":" : " (--show-smoothing prints it)");
  }
  fputs(show ? text : "", stderr);
}

static exit_code tell_smoothing(const session *s, const options *o)
{
  char *text = NULL;
  CLI_TRY(report_status(abut_format_smoothing(&s->smoothing, &text)));
  tell_fitted(o, "", text);
  abut_free(text);
  return EXIT_GOOD;
}

exit_code option_edges(const options *o, size_t *edges)
{
  const char *word = o->value[OPTION_EDGES];
  *edges = 0;
  return word && strcmp(word, "auto") != 0 ? option_whole(o, OPTION_EDGES, 1, EDGES_MOST, edges)
                                           : EXIT_GOOD;
}

/* Counts the contacts per pose with the present smoothing. The cost of a query is roughly
 * proportional. */
static exit_code count_contacts(const session *s, size_t *contacts)
{
  abut_pair pair;
  abut_layout layout;
  CLI_TRY(report_status(abut_create_pair(s->bodies[0], s->bodies[1], &s->smoothing, &pair)));
  const abut_status status = abut_get_layout(pair, &layout);
  *contacts = status == ABUT_SUCCESS ? layout.contacts : 0;
  CLI_TRY(report_status(status));
  return report_status(abut_destroy_pair(pair));
}

/* Retains as many edges as --edges requests. */
static exit_code keep_edges(session *s, const options *o)
{
  size_t edges = 0, fitted, kept;
  if (!o->value[OPTION_EDGES]) {
    return EXIT_GOOD;
  }
  CLI_TRY(option_edges(o, &edges));
  const abut_smoothing before = s->smoothing;
  s->smoothing.edges[0] = s->smoothing.edges[1] = (uint32_t)edges;
  /* edges in fields are few, so all are retained */
  if (edges || s->smoothing.edge_contacts == ABUT_EDGES_FIELD) {
    return EXIT_GOOD;
  }
  const abut_suggest_options settings = abut_default_suggest_options();
  abut_suggestion found;
  progress p = progress_begin(o, "");
  progress_say(&p, "counting edges in random poses");
  const abut_status status =
    abut_suggest_kept(s->bodies[0], s->bodies[1], &s->smoothing, &settings, &found);
  progress_end(&p);
  CLI_TRY(report_status(status));
  const size_t poses = found.poses;
  const uint32_t wanted[2] = {found.edges[0], found.edges[1]};
  abut_free_suggestion(&found);
  s->smoothing = before;
  CLI_TRY(count_contacts(s, &fitted));
  s->smoothing.edges[0] = wanted[0];
  s->smoothing.edges[1] = wanted[1];
  CLI_TRY(count_contacts(s, &kept));
  if (!o->value[OPTION_QUIET]) {
    fprintf(stderr,
            "%s: keeps %u and %u edges, found in %zu random poses: %zu contacts per pose instead "
            "of %zu, at about %.2g times the cost\n",
            program_name(), wanted[0], wanted[1], poses, kept, fitted,
            (double)kept / fmax((double)fitted, 1.0));
  }
  return EXIT_GOOD;
}

exit_code session_smoothing(session *s, const options *o, bool tell)
{
  const char *path = o->value[OPTION_SMOOTHING];
  if (path) {
    CLI_TRY(
      report_status(abut_load_fitted_smoothing(path, s->bodies[0], s->bodies[1], &s->smoothing)));
  } else {
    const abut_status fitted = abut_fit_smoothing(s->bodies[0], s->bodies[1], &s->smoothing);
    if (fitted != ABUT_SUCCESS) {
      return report(status_exit_code(fitted), "%s, %s: %s", o->operands[0], o->operands[1],
                    abut_last_error());
    }
  }
  CLI_TRY(keep_edges(s, o));
  if (tell) {
    warn_clearance(o, s->smoothing.penetration);
  }
  return tell ? tell_smoothing(s, o) : EXIT_GOOD;
}

exit_code session_bodies(session *s, const options *o)
{
  CLI_TRY(report_status(load_body(s, o, o->operands[0], &s->bodies[0])));
  s->bodies[1] = s->bodies[0];
  return strcmp(o->operands[0], o->operands[1]) == 0
           ? EXIT_GOOD
           : report_status(load_body(s, o, o->operands[1], &s->bodies[1]));
}

exit_code session_load(session *s, const options *o)
{
  CLI_TRY(session_bodies(s, o));
  CLI_TRY(session_smoothing(s, o, true));
  CLI_TRY(report_status(abut_create_pair(s->bodies[0], s->bodies[1], &s->smoothing, &s->pair)));
  return report_status(abut_get_layout(s->pair, &s->layout));
}

exit_code session_soft(session *s, const options *o)
{
  s->derivatives = ABUT_SAME_PAIR;
  if (!o->value[OPTION_SOFT]) {
    return EXIT_GOOD;
  }
  CLI_TRY(report_status(abut_load_fitted_smoothing(o->value[OPTION_SOFT], s->bodies[0],
                                                   s->bodies[1], &s->soft_smoothing)));
  return report_status(
    abut_create_pair(s->bodies[0], s->bodies[1], &s->soft_smoothing, &s->derivatives));
}

void session_close(session *s)
{
  if (s->open) {
    warn_failures(s);
    abut_destroy_context(s->context);
    s->open = false;
  }
}
