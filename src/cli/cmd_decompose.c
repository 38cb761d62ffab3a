#include "contact_meshes.h"
#include "depths.h"
#include "fields.h"
#include "json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the volume: where more of it lies in pieces beside the largest, a mesh of that alone would let others
 * touch them unseen. */
#define PARTS_MOST 0.01

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

/* What is asked for, and what becomes of it. */
typedef struct work {
  abut_decompose_options settings;
  abut_contact_mesh_options mesh_settings;
  abut_precision precision;
  abut_decomposition made;
  abut_body body;          /* with the skin of the input */
  abut_fit fit;
  abut_contact_mesh mesh;  /* without vertices where it cannot be made */
} work;

static exit_code check_usage(const options *o, work *w)
{
  CLI_TRY(need_operands(o, 1, "a mesh"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  if (!is_bare_mesh(o->operands[0])) {
    return usage_error(o->command, "%s: is no mesh; decompose takes .obj, .stl, .ply or .off, and by Assimp .glb, "
                       ".gltf or .dae",
                       o->operands[0]);
  }
  CLI_TRY(read_settings(o, &w->settings));
  CLI_TRY(contact_mesh_options(o, &w->mesh_settings));
  CLI_TRY(option_precision(o, &w->precision));
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(check_own_output(o));
  return check_beside(o, ".contact.obj");
}

/* How well the body that is written stands for the mesh's surface. */
static abut_status measure(work *w)
{
  const abut_surface *of = &w->made.def.surface;
  abut_body_def mesh = abut_default_body_def();
  mesh.vertices = of->vertices;
  mesh.vertex_count = of->vertex_count;
  mesh.face_sizes = of->face_sizes;
  mesh.face_indices = of->face_indices;
  mesh.face_count = of->face_count;
  return abut_measure_fit(w->body, w->made.def.union_, abut_default_smoothing().plane, &mesh, &w->fit);
}

/* Warns why the input's skin makes the contacts. */
static void warn_skin(const options *o, const char *why)
{
  warn("%s: no contact mesh on the body's surface: %s; the input's skin of about 1,000 vertices is "
       "written", o->operands[0], why);
}

static abut_status make_mesh(const options *o, work *w, progress *p)
{
  progress_say(p, "making a contact mesh");
  const double plane = abut_default_smoothing().plane;
  const abut_status status = abut_make_contact_mesh(w->body, w->made.def.union_, plane, &w->mesh_settings,
                                                    &w->mesh);
  const abut_contact_mesh_report *r = &w->mesh.report;
  if (status == ABUT_ERROR_BODY) {
    progress_end(p);
    warn_skin(o, abut_last_error());
    return ABUT_SUCCESS;
  }
  if (status == ABUT_SUCCESS && r->left_out > PARTS_MOST) {
    char why[128];
    snprintf(why, sizeof why, "%.2g %% of the volume is in pieces of it beside the largest (%zu)",
             100.0 * r->left_out, r->parts_left_out);
    progress_end(p);
    warn_skin(o, why);
    abut_free_contact_mesh(&w->mesh);
  }
  return status;
}

/* Writes the body, with the skin of the input where there is no contact mesh on its surface. */
static abut_status write_body(const options *o, const work *w)
{
  abut_decomposition written = w->made;
  if (w->mesh.def.vertex_count) {
    written.def.vertices = w->mesh.def.vertices;
    written.def.vertex_count = w->mesh.def.vertex_count;
    written.def.face_sizes = w->mesh.def.face_sizes;
    written.def.face_indices = w->mesh.def.face_indices;
    written.def.face_count = w->mesh.def.face_count;
    written.def.edges = NULL;
    written.def.edge_count = 0;
  }
  return abut_write_decomposition(o->value[OPTION_OUTPUT], &written);
}

static const char *const ends[] = {"done", "fewer", "error not reached", "stalled"};

static json_t *work_json(const work *w)
{
  const abut_decompose_report *r = &w->made.report;
  const abut_fit *fit = &w->fit;
  json_t *root = json_pack(
    "{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:[f,f,f], s:f, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:{s:f, "
    "s:f, s:f, s:f}}",
    "end", ends[r->end], "primitives", (json_int_t)r->primitives, "iou", fit->iou, "coverage", fit->coverage,
    "precision", fit->precision, "chamfer_percent", fit->chamfer_percent, "hausdorff_percent",
    fit->hausdorff_percent, "largest_uncovered", fit->largest_uncovered, "surface_beyond_1_percent",
    fit->surface_beyond_1_percent, "largest_surplus", fit->largest_surplus, "depth_ratio_median",
    fit->depth_ratio_median, "depth_ratio_95", fit->depth_ratio_95, "depth_ratio_most", fit->depth_ratio_most,
    "depth_ratio_most_at", fit->depth_ratio_most_at[0], fit->depth_ratio_most_at[1], fit->depth_ratio_most_at[2],
    "sampled_iou", r->iou, "exponents_at_bound", (json_int_t)r->exponents_at_bound,
    "smallest_axis", r->smallest_axis, "union", r->union_, "diagonal", r->diagonal, "volume", r->volume,
    "sampled_volume", r->sampled_volume, "samples", (json_int_t)r->samples, "moves_kept",
    (json_int_t)r->moves_kept, "moves_undone", (json_int_t)r->moves_undone, "evaluations",
    (json_int_t)r->evaluations, "seconds", "sampling", r->seconds_sampling, "start", r->seconds_start, "moves",
    r->seconds_moves, "final", r->seconds_final);
  json_t *mesh = w->mesh.def.vertex_count ? contact_mesh_json(&w->mesh.report) : json_null();
  const bool whole = root && mesh && json_object_set_new(root, "contact_mesh", mesh) == 0;
  if (!whole) {
    json_decref(root);
  }
  return whole ? root : NULL;
}

static void summarise(const options *o, const scene *s, const abut_decompose_report *r, const abut_fit *fit)
{
  const double percent = 100.0;
  printf("%s: %zu faces: %zu superquadric%s, union %.4g m (%.3g %% of the diagonal), %.3g s on %s\n", o->operands[0],
         r->faces, r->primitives, r->primitives == 1 ? "" : "s", r->union_, percent * r->union_ / r->diagonal,
         r->seconds_sampling + r->seconds_start + r->seconds_moves + r->seconds_final, scene_workers(s).text);
  printf("IoU %.4f, coverage %.4f, precision %.4f; Chamfer %.3f %%, Hausdorff %.3g %% of the diagonal\n", fit->iou,
         fit->coverage, fit->precision, fit->chamfer_percent, fit->hausdorff_percent);
  printf("largest uncovered part %.3g %% of the volume, surplus %.3g %%, %.3g %% of the surface beyond 1 %%; smallest axis "
         "%.3g m, %zu exponent%s at a bound\n",
         percent * fit->largest_uncovered, percent * fit->largest_surplus, percent * fit->surface_beyond_1_percent, r->smallest_axis,
         r->exponents_at_bound, r->exponents_at_bound == 1 ? "" : "s");
  tell_depths(fit);
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

static exit_code decompose(const options *o, const scene *s, work *w)
{
  const bool tells = o->value[OPTION_JSON] || !o->value[OPTION_QUIET];
  progress p = progress_begin(o, o->operands[0]);
  w->settings.progress = progress_share;
  w->settings.user = &p;
  progress_say(&p, "reading %s", o->operands[0]);
  abut_status status = abut_load_decomposition(s->context, o->operands[0], &w->settings, &w->made);
  if (status == ABUT_SUCCESS) {
    status = abut_create_body(s->context, &w->made.def, &w->body);
  }
  if (status == ABUT_SUCCESS && tells) {
    progress_say(&p, "measuring");
    status = measure(w);
  }
  if (status == ABUT_SUCCESS) {
    status = make_mesh(o, w, &p);
  }
  if (status == ABUT_SUCCESS) {
    progress_say(&p, "writing %s", o->value[OPTION_OUTPUT]);
    status = write_body(o, w);
  }
  progress_end(&p);
  CLI_TRY(report_status(status));
  warn_end(o, &w->settings, &w->made.report);
  warn_depths(o->operands[0], &w->made.report);
  warn_parts(o->operands[0], &w->mesh.report);
  if (o->value[OPTION_JSON]) {
    return print_object(work_json(w), 0);
  }
  if (tells) {
    summarise(o, s, &w->made.report, &w->fit);
  }
  if (tells && w->mesh.def.vertex_count) {
    tell_contact_mesh(o->value[OPTION_OUTPUT], &w->mesh.report);
  }
  return EXIT_GOOD;
}

exit_code cmd_decompose(const options *o)
{
  work w = {0};
  scene s = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY(check_usage(o, &w));
  CLI_TRY_DONE(scene_open(&s, o, w.precision));
  CLI_TRY_DONE(decompose(o, &s, &w));
done:
  abut_free_contact_mesh(&w.mesh);
  abut_destroy_body(w.body);
  abut_free_decomposition(&w.made);
  scene_close(&s);
  return code;
}
