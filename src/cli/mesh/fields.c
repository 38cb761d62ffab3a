#include "mesh/fields.h"

#include "core/also.h"
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define MIB 1048576.0
/* Size of a field on a device above which a warning is printed [bytes]. */
#define LARGE_FIELD ((size_t)64 << 20)

static bool is_bare(const char *path, size_t length)
{
  return length < 5 || strncasecmp(path + length - 5, ".json", 5) != 0;
}

bool is_bare_mesh(const char *path)
{
  return is_bare(path, strlen(path));
}

/* ---- options ---- */

static exit_code option_vertices(const options *o, uint32_t *out)
{
  const char *word = o->value[OPTION_VERTICES];
  size_t count = *out;
  if (word && strcmp(word, "all") == 0) {
    *out = UINT32_MAX;
    return EXIT_GOOD;
  }
  CLI_TRY(option_whole(o, OPTION_VERTICES, 8, (size_t)1 << 24, &count));
  *out = (uint32_t)count;
  return EXIT_GOOD;
}

exit_code field_options(const options *o, abut_field_options *out)
{
  size_t cells = 0, memory = 0;
  *out = abut_default_field_options();
  CLI_TRY(option_whole(o, OPTION_CELLS, 8, 128, &cells));
  CLI_TRY(option_vertices(o, &out->vertices));
  if (o->command->bit == COMMAND_FIELD) { /* other commands have a different tolerance */
    CLI_TRY(option_real(o, OPTION_TOLERANCE, 1e-5, 0.1, &out->tolerance));
  }
  CLI_TRY(option_real(o, OPTION_SCALE, 1e-9, 1e9, &out->scale));
  CLI_TRY(option_whole(o, OPTION_MEMORY, 1, (size_t)1 << 20, &memory));
  out->cells = (uint32_t)cells;
  out->memory = memory << 20;
  out->no_cache = o->value[OPTION_NO_CACHE] != NULL;
  return EXIT_GOOD;
}

exit_code check_field_options(const options *o, bool listed)
{
  static const option_id of_meshes[] = {OPTION_CELLS, OPTION_VERTICES, OPTION_SCALE};
  abut_field_options unused;
  bool bare = listed;
  CLI_TRY(field_options(o, &unused));
  for (int i = 0; i < o->operand_count; ++i) {
    bare = bare || is_bare_mesh(o->operands[i]);
  }
  for (int i = 0; i < o->also_count; ++i) {
    bare = bare || is_bare(o->also[i], also_path_length(o->also[i]));
  }
  for (size_t i = 0; i < sizeof of_meshes / sizeof *of_meshes; ++i) {
    if (!bare && o->value[of_meshes[i]]) {
      return usage_error(o->command, "%s works only with bare meshes, and no bare mesh is given",
                         option_name(of_meshes[i]));
    }
  }
  return EXIT_GOOD;
}

/* ---- reports ---- */

/* Returns a remedy by options of this command; most commands have fewer of them than `field`. */
static const char *hint_of(const options *o, abut_suspicion which)
{
  const bool field = o->command->bit == COMMAND_FIELD;
  const bool of_pairs = !(o->command->bit & (COMMAND_FIELD | COMMAND_CLOSEST | COMMAND_CCD |
                                             COMMAND_DECOMPOSE | COMMAND_INSPECT));
  switch (which) {
  case ABUT_SUSPECT_UNIT:
    return of_pairs ? " (--scale 0.001 for all bare meshes, or `abut field --scale 0.001` for one)"
                    : " (--scale 0.001)";
  case ABUT_SUSPECT_SMALL:
    return " (--scale)";
  case ABUT_SUSPECT_COARSE:
    return field ? " (--memory, --cells)" : " (--cells; `abut field` has --memory)";
  case ABUT_SUSPECT_THIN:
  case ABUT_SUSPECT_NARROW:
    return field ? " (--tolerance, --memory)" : " (`abut field` has --tolerance)";
  default:
    return "";
  }
}

void warn_field(const options *o, const char *path, const abut_field_report *r)
{
  if (r->bytes > LARGE_FIELD && !o->value[OPTION_QUIET]) {
    fprintf(stderr, "%s: %s: its field needs %.3g MiB on each device\n", program_name(), path,
            (double)r->bytes / MIB);
  }
  for (uint32_t bit = 1; bit && bit <= r->suspicions; bit <<= 1) {
    char text[512];
    if (abut_suspicion_text(r, (abut_suspicion)bit, text, sizeof text)) {
      warn("%s: %s%s", path, text, hint_of(o, (abut_suspicion)bit));
    }
  }
}

void warn_trailing(const options *o, const char *path, size_t trailing)
{
  const abut_field_report r = {.suspicions = trailing ? ABUT_SUSPECT_TRAILING : 0u,
                               .trailing = trailing};
  warn_field(o, path, &r);
}

void tell_field(FILE *to, const char *path, const abut_field_report *r)
{
  fprintf(to, "%s: %zu face%s", path, r->faces, plural(r->faces));
  if (r->merged) {
    fprintf(to, ", %zu triangle%s merged into flat faces", r->merged, plural(r->merged));
  }
  if (r->thinned) {
    fprintf(to, ", %zu vert%s left out", r->thinned, r->thinned == 1 ? "ex" : "ices");
  }
  if (r->added) {
    fprintf(to, ", %zu vert%s added", r->added, r->added == 1 ? "ex" : "ices");
  }
  fprintf(to, ": %zu vertices, %zu edge%s; field of %u cells", r->vertices, r->edges,
          plural(r->edges), r->cells);
  if (r->levels) {
    fprintf(to, " and %u finer level%s", r->levels, plural(r->levels));
  }
  fprintf(to, ", %.3g MiB%s\n", (double)r->bytes / MIB, r->kept ? ", from the cache" : "");
}

/* ---- loading ---- */

abut_status load_field(const options *o, const char *path, const abut_field_options *settings,
                       abut_field *field)
{
  abut_field_options with_progress = *settings;
  progress p = progress_begin(o, path);
  with_progress.progress = progress_share;
  with_progress.user = &p;
  progress_say(&p, "reading %s", path);
  const abut_status status = abut_load_field(path, &with_progress, field);
  progress_end(&p); /* before the cause of a failure is printed */
  return status;
}

/* Bodies are loaded again for another precision or device, but reported only once. */
static bool is_told(const char *path)
{
  static const char *told[2];
  const bool found = told[0] == path || told[1] == path;
  if (!found) {
    told[0] = told[1];
    told[1] = path;
  }
  return found;
}

/* Error of a bare mesh's field at 95 % of its surface, without sharp edges [m]. */
static struct {
  const char *path;
  double off;
} fields[2];

static void remember(const char *path, const abut_field_report *r)
{
  /* With a wrong unit lengths are meaningless, and a warning was printed. */
  const double off = r->suspicions & ABUT_SUSPECT_UNIT ? 0.0 : r->face_95 * r->diagonal;
  fields[0] = fields[1];
  fields[1].path = path;
  fields[1].off = off;
}

void warn_clearance(const options *o, double penetration)
{
  for (int i = 0; i < o->operand_count && i < 2; ++i) {
    for (int k = 0; k < 2; ++k) {
      if (fields[k].path && fields[k].path == o->operands[i] && fields[k].off > penetration) {
        warn("%s: the error of its field is up to %.2g m at 95 %% of the surface, more than the "
             "smoothing's penetration of %.2g m: smaller clearances are meaningless; set a smaller "
             "tolerance (`abut field` has --tolerance)",
             fields[k].path, fields[k].off, penetration);
        fields[k].path = NULL; /* printed once */
      }
    }
  }
}

static void tell(const options *o, const char *path, const abut_field_report *r)
{
  if (!o->value[OPTION_QUIET]) {
    fprintf(stderr, "%s: ", program_name());
    tell_field(stderr, path, r);
  }
  warn_field(o, path, r);
}

static abut_status load_bare(const session *s, const options *o, const char *path, abut_body *body)
{
  abut_field_options settings;
  abut_field field;
  if (field_options(o, &settings) != EXIT_GOOD) {
    return ABUT_ERROR_ARGUMENT; /* check_inputs has reported it before */
  }
  abut_status status = load_field(o, path, &settings, &field);
  if (status == ABUT_SUCCESS) {
    if (!is_told(path)) {
      tell(o, path, &field.report);
      remember(path, &field.report);
    }
    status = abut_create_body(s->context, &field.def, body);
    abut_free_field(&field);
  }
  return status;
}

abut_status load_body(const session *s, const options *o, const char *path, abut_body *body)
{
  if (is_bare_mesh(path)) {
    return load_bare(s, o, path, body);
  }
  progress p = progress_begin(o, "");
  progress_say(&p, "reading %s", path);
  const abut_status status = abut_load_body(s->context, path, body);
  progress_end(&p);
  abut_field_report report;
  if (status == ABUT_SUCCESS && abut_get_body_report(*body, &report) == ABUT_SUCCESS &&
      report.suspicions && !is_told(path)) {
    warn_field(o, path, &report);
  }
  return status;
}
