#include "fields.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define ENDING ".body.json"
#define CONTACT ".contact.obj" /* of what is written beside the body file */

/* NAME.contact.obj must not be what is read. */
static exit_code check_outputs(const options *o)
{
  const char *path = o->value[OPTION_OUTPUT];
  CLI_TRY(check_not_input(o, path));
  CLI_TRY(check_own_output(o));
  const size_t length = strlen(path) - strlen(ENDING);
  char *other = malloc(length + sizeof CONTACT);
  if (!other) {
    return report(EXIT_RUN, "no memory");
  }
  memcpy(other, path, length);
  memcpy(other + length, CONTACT, sizeof CONTACT);
  exit_code code = check_not_input(o, other);
  code = code == EXIT_GOOD ? check_output(other) : code;
  free(other);
  return code;
}

static exit_code read_settings(const options *o, abut_decompose_options *out)
{
  size_t primitives = 0, most = 0, seed = 0;
  *out = abut_default_decompose_options();
  if (o->value[OPTION_PRIMITIVES] && (o->value[OPTION_ERROR] || o->value[OPTION_MAX_PRIMITIVES])) {
    return usage_error(o->command, "--primitives says how many there are: --error and --max-primitives do not go "
                       "with it");
  }
  CLI_TRY(option_whole(o, OPTION_PRIMITIVES, 1, ABUT_DECOMPOSE_MOST, &primitives));
  CLI_TRY(option_whole(o, OPTION_MAX_PRIMITIVES, 1, ABUT_DECOMPOSE_MOST, &most));
  CLI_TRY(option_whole(o, OPTION_SEED, 0, (size_t)-1, &seed));
  CLI_TRY(option_real(o, OPTION_ERROR, 1e-3, 0.9, &out->error));
  CLI_TRY(option_real(o, OPTION_UNION, 0.001, 0.05, &out->union_));
  CLI_TRY(option_real(o, OPTION_SCALE, 1e-9, 1e9, &out->scale));
  out->primitives = (uint32_t)primitives;
  out->most_primitives = (uint32_t)most;
  out->seed = seed;
  return EXIT_GOOD;
}

static exit_code check_usage(const options *o, abut_decompose_options *settings, abut_precision *precision)
{
  CLI_TRY(need_operands(o, 1, "a mesh"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  if (!is_bare_mesh(o->operands[0])) {
    return usage_error(o->command, "%s: is no mesh; decompose takes .obj, .stl, .ply or .off, and by Assimp .glb, "
                       ".gltf or .dae",
                       o->operands[0]);
  }
  CLI_TRY(read_settings(o, settings));
  CLI_TRY(option_precision(o, precision));
  CLI_TRY(check_inputs(o));
  return check_outputs(o);
}

/* How well the body that was written stands for the mesh's surface. */
static abut_status measure(const scene *s, const abut_decomposition *d, abut_fit *fit)
{
  abut_body body;
  abut_status status = abut_create_body(s->context, &d->def, &body);
  if (status == ABUT_SUCCESS) {
    abut_body_def mesh = abut_default_body_def();
    mesh.vertices = d->def.surface.vertices;
    mesh.vertex_count = d->def.surface.vertex_count;
    mesh.face_sizes = d->def.surface.face_sizes;
    mesh.face_indices = d->def.surface.face_indices;
    mesh.face_count = d->def.surface.face_count;
    status = abut_measure_fit(body, d->def.union_, abut_default_smoothing().plane, &mesh, fit);
    abut_destroy_body(body);
  }
  return status;
}

static const char *const ends[] = {"done", "fewer", "error not reached", "stalled"};

static exit_code print_json(const abut_decompose_report *r, const abut_fit *fit)
{
  json_t *root = json_pack(
    "{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:{s:f, "
    "s:f, s:f, s:f}}",
    "end", ends[r->end], "primitives", (json_int_t)r->primitives, "iou", fit->iou, "coverage", fit->coverage,
    "precision", fit->precision, "chamfer_percent", fit->chamfer_percent, "hausdorff_percent",
    fit->hausdorff_percent, "largest_uncovered", fit->largest_uncovered, "surface_beyond_1_percent",
    fit->surface_beyond_1_percent, "sampled_iou", r->iou, "exponents_at_bound", (json_int_t)r->exponents_at_bound,
    "smallest_axis", r->smallest_axis, "union", r->union_, "diagonal", r->diagonal, "volume", r->volume,
    "sampled_volume", r->sampled_volume, "samples", (json_int_t)r->samples, "moves_kept",
    (json_int_t)r->moves_kept, "moves_undone", (json_int_t)r->moves_undone, "evaluations",
    (json_int_t)r->evaluations, "seconds", "sampling", r->seconds_sampling, "start", r->seconds_start, "moves",
    r->seconds_moves, "final", r->seconds_final);
  char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
  json_decref(root);
  if (!text) {
    return report(EXIT_RUN, "no memory");
  }
  puts(text);
  free(text);
  return EXIT_GOOD;
}

static void summarise(const options *o, const scene *s, const abut_decompose_report *r, const abut_fit *fit)
{
  const double percent = 100.0;
  printf("%s: %zu faces: %zu superquadric%s, union %.4g m (%.3g %% of the diagonal), %.3g s on %s\n", o->operands[0],
         r->faces, r->primitives, r->primitives == 1 ? "" : "s", r->union_, percent * r->union_ / r->diagonal,
         r->seconds_sampling + r->seconds_start + r->seconds_moves + r->seconds_final, scene_workers(s).text);
  printf("IoU %.4f, coverage %.4f, precision %.4f; Chamfer %.3f %%, Hausdorff %.3g %% of the diagonal\n", fit->iou,
         fit->coverage, fit->precision, fit->chamfer_percent, fit->hausdorff_percent);
  printf("largest uncovered part %.3g %% of the volume, %.3g %% of the surface beyond 1 %%; smallest axis %.3g m, "
         "%zu exponent%s at a bound\n",
         percent * fit->largest_uncovered, percent * fit->surface_beyond_1_percent, r->smallest_axis,
         r->exponents_at_bound, r->exponents_at_bound == 1 ? "" : "s");
}

/* What a caller should know of a body that is not quite what was asked for. */
static void warn_end(const options *o, const abut_decompose_options *settings, const abut_decompose_report *r)
{
  const char *path = o->operands[0];
  if (r->end == ABUT_DECOMPOSE_FEWER) {
    warn("%s: fewer: the shape has room for %zu primitives, not %u", path, r->primitives, settings->primitives);
  } else if (r->end == ABUT_DECOMPOSE_ERROR_NOT_REACHED) {
    warn("%s: error not reached: 1 - IoU is %.3g of the samples with %zu primitives (--max-primitives, or a grid by "
         "`abut field`)",
         path, 1.0 - r->iou, r->primitives);
  } else if (r->end == ABUT_DECOMPOSE_STALLED) {
    warn("%s: stalled: the last fit could not take a step (another --seed)", path);
  }
  if (r->shells_turned) {
    warn("%s: inside out: %zu shell%s turned", path, r->shells_turned, r->shells_turned == 1 ? " was" : "s were");
  }
  if (r->holes) {
    warn("%s: open: %zu hole%s closed by faces across", path, r->holes, r->holes == 1 ? " was" : "s were");
  }
}

static exit_code decompose(const options *o, const scene *s, abut_decompose_options *settings, abut_decomposition *d)
{
  const bool tells = o->value[OPTION_JSON] || !o->value[OPTION_QUIET];
  abut_fit fit;
  progress p = progress_begin(o, o->operands[0]);
  settings->progress = progress_share;
  settings->user = &p;
  progress_say(&p, "reading %s", o->operands[0]);
  abut_status status = abut_load_decomposition(s->context, o->operands[0], settings, d);
  if (status == ABUT_SUCCESS && tells) {
    progress_say(&p, "measuring");
    status = measure(s, d, &fit);
  }
  if (status == ABUT_SUCCESS) {
    progress_say(&p, "writing %s", o->value[OPTION_OUTPUT]);
    status = abut_write_decomposition(o->value[OPTION_OUTPUT], d);
  }
  progress_end(&p);
  CLI_TRY(report_status(status));
  warn_end(o, settings, &d->report);
  if (o->value[OPTION_JSON]) {
    return print_json(&d->report, &fit);
  }
  if (tells) {
    summarise(o, s, &d->report, &fit);
  }
  return EXIT_GOOD;
}

exit_code cmd_decompose(const options *o)
{
  abut_decompose_options settings;
  abut_decomposition d = {0};
  abut_precision precision = ABUT_FLOAT32;
  scene s = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY(check_usage(o, &settings, &precision));
  CLI_TRY_DONE(scene_open(&s, o, precision));
  CLI_TRY_DONE(decompose(o, &s, &settings, &d));
done:
  abut_free_decomposition(&d);
  scene_close(&s);
  return code;
}
