#include "mesh/decompose/work.h"

#include "mesh/fields.h"
#include "core/fits.h"
#include "core/json_text.h"

#include <stdio.h>

static const char *const ends[] = {"done", "fewer", "error not reached", "stalled"};

/* ---- JSON ---- */

static json_t *primitives_json(const decompose_work *w)
{
  const abut_decompose_report *r = &w->made.report;
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "primitives",
                   (json_int_t)r->primitives, "subtracted", (json_int_t)r->subtracted, "polyhedra",
                   (json_int_t)r->polyhedra, "planes", (json_int_t)r->planes, "exponents_at_bound",
                   (json_int_t)r->exponents_at_bound, "smallest_axis", r->smallest_axis, "union",
                   r->union_, "diagonal", r->diagonal);
}

static json_t *fit_json(const abut_fit *fit)
{
  const double *at = fit->depth_ratio_most_at;
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:[f,f,f]}", "iou",
                   fit->iou, "coverage", fit->coverage, "precision", fit->precision,
                   "chamfer_percent", fit->chamfer_percent, "hausdorff_percent",
                   fit->hausdorff_percent, "largest_uncovered", fit->largest_uncovered,
                   "surface_beyond_1_percent", fit->surface_beyond_1_percent, "largest_surplus",
                   fit->largest_surplus, "over_holes", fit->over_holes, "depth_ratio_median",
                   fit->depth_ratio_median, "depth_ratio_95", fit->depth_ratio_95,
                   "depth_ratio_most", fit->depth_ratio_most, "depth_ratio_most_at", at[0], at[1],
                   at[2]);
}

static json_t *search_json(const decompose_work *w)
{
  const abut_decompose_report *r = &w->made.report;
  return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:{s:f, s:f, s:f, s:f, s:f, "
                   "s:f, s:f, s:f, s:f}}",
                   "end", ends[r->end], "plane", r->plane, "sampled_iou", r->iou, "objective",
                   r->objective, "volume", r->volume, "sampled_volume", r->sampled_volume,
                   "samples", (json_int_t)r->samples, "moves_kept", (json_int_t)r->moves_kept,
                   "moves_undone", (json_int_t)r->moves_undone, "evaluations",
                   (json_int_t)r->evaluations, "seconds", "sampling", r->seconds_sampling, "start",
                   r->seconds_start, "moves", r->seconds_moves, "final", r->seconds_final, "planes",
                   r->seconds_planes, "decomposing", r->seconds, "measuring", w->seconds_measuring,
                   "contact_mesh", w->seconds_mesh, "whole", w->seconds);
}

/* Adds the members of `part`, which it frees, to `root`. */
static bool add(json_t *root, json_t *part)
{
  const bool added = root && part && json_object_update(root, part) == 0;
  json_decref(part);
  return added;
}

static json_t *work_json(const options *o, const decompose_work *w)
{
  json_t *root = json_object();
  json_t *mesh = w->mesh.def.vertex_count ? contact_mesh_json(&w->mesh.report) : json_null();
  bool whole = add(root, primitives_json(w));
  whole = whole && (!w->measured || add(root, fit_json(&w->fit)));
  whole = whole && (o->value[OPTION_IMPORT] || add(root, search_json(w)));
  whole = whole && mesh && json_object_set(root, "contact_mesh", mesh) == 0;
  json_decref(mesh);
  if (!whole) {
    json_decref(root);
  }
  return whole ? root : NULL;
}

/* ---- text ---- */

static void tell_source(const options *o, const session *s, const decompose_work *w)
{
  const abut_decompose_report *r = &w->made.report;
  printf("%s: ", decompose_source(o));
  if (!o->value[OPTION_IMPORT]) {
    printf("%zu faces: ", r->faces);
  }
  const size_t superquadrics = r->primitives - r->polyhedra;
  if (superquadrics || !r->polyhedra) {
    printf("%zu superquadric%s, ", superquadrics, plural(superquadrics));
  }
  if (r->polyhedra) {
    printf("%zu polyhedr%s of %zu planes, ", r->polyhedra, r->polyhedra == 1 ? "on" : "a",
           r->planes);
  }
  if (r->subtracted) {
    printf("%zu of them subtracted, ", r->subtracted);
  }
  printf("union %.4g m (%.3g %% of the diagonal)", r->union_, 100.0 * r->union_ / r->diagonal);
  if (!o->value[OPTION_IMPORT]) {
    printf(", %.3g s on %s", w->seconds, session_workers(s).text);
  }
  putchar('\n');
}

static void summarise(const options *o, const session *s, const decompose_work *w)
{
  const double percent = 100.0;
  const abut_decompose_report *r = &w->made.report;
  const abut_fit *fit = &w->fit;
  tell_source(o, s, w);
  if (w->measured) {
    printf("IoU %.4f, coverage %.4f, precision %.4f; Chamfer %.3f %%, Hausdorff %.3g %% of the "
           "diagonal\n",
           fit->iou, fit->coverage, fit->precision, fit->chamfer_percent, fit->hausdorff_percent);
    printf("largest uncovered part %.3g %% of the volume, surplus %.3g %%, %.3g %% of the surface "
           "beyond 1 %%; ",
           percent * fit->largest_uncovered, percent * fit->largest_surplus,
           percent * fit->surface_beyond_1_percent);
  }
  printf("smallest axis %.3g m, %zu exponent%s at a bound\n", r->smallest_axis,
         r->exponents_at_bound, plural(r->exponents_at_bound));
  if (w->measured) {
    tell_depths(fit);
    tell_holes(fit);
  }
  if (o->value[OPTION_EXPORT]) {
    printf("%s: %zu row%s of 11 numbers; import them with --union %.4g, because tables do not "
           "contain it\n",
           o->value[OPTION_EXPORT], r->primitives, plural(r->primitives), r->union_ / r->diagonal);
  }
  if (w->mesh.def.vertex_count) {
    tell_contact_mesh(o->value[OPTION_OUTPUT], &w->mesh.report);
  }
}

exit_code decompose_print(const options *o, const session *s, const decompose_work *w)
{
  if (o->value[OPTION_JSON]) {
    return print_object(work_json(o, w), 0);
  }
  summarise(o, s, w);
  return EXIT_GOOD;
}

/* ---- warnings ---- */

static void warn_end(const options *o, const decompose_work *w)
{
  const abut_decompose_report *r = &w->made.report;
  const char *path = decompose_source(o);
  if (r->end == ABUT_DECOMPOSE_FEWER) {
    warn("%s: fewer: the shape has room for only %zu primitive%s, not %u", path, r->primitives,
         plural(r->primitives), w->settings.primitives);
  } else if (r->end == ABUT_DECOMPOSE_ERROR_NOT_REACHED) {
    warn("%s: error not reached: 1 - IoU is %.3g of the samples with %zu primitive%s (use a larger "
         "--max-primitives, or a grid from `abut field`)",
         path, 1.0 - r->iou, r->primitives, plural(r->primitives));
  } else if (r->end == ABUT_DECOMPOSE_STALLED) {
    warn("%s: stalled: the equations of the last fit had no solution (try another --seed)", path);
  }
}

/* Warns of a body that is far from its mesh. A body that was not fitted here is judged by
 * independent measurements instead of its samples. */
static void warn_fit(const options *o, const decompose_work *w)
{
  const abut_decompose_report *r = &w->made.report;
  const abut_fit *fit = &w->fit;
  const char *path = decompose_source(o);
  if (!o->value[OPTION_IMPORT]) {
    if (w->settings.primitives) { /* excessive errors with --error have their own warning */
      warn_poor(path, r->iou, r->coverage, r->primitives);
    }
    warn_depths(path, r->depth_ratio_median, r->depth_ratio_most, r->depth_ratio_most_at);
  } else if (w->measured) {
    warn_poor(path, fit->iou, fit->coverage, r->primitives);
    warn_depths(path, fit->depth_ratio_median, fit->depth_ratio_most, fit->depth_ratio_most_at);
  }
}

void decompose_warn(const options *o, const decompose_work *w)
{
  const abut_decompose_report *r = &w->made.report;
  const char *path = decompose_source(o);
  warn_end(o, w);
  warn_field(o, path,
             &(abut_field_report){.suspicions = r->suspicions,
                                  .diagonal = r->diagonal,
                                  .open_edges = r->open_edges,
                                  .welded_within = r->welded_within,
                                  .closing_doubt = r->closing_doubt,
                                  .trailing = r->trailing});
  warn_trailing(o, o->operands[0], w->input.trailing);
  if (r->shells_turned) {
    warn("%s: inside out: %zu shell%s turned to face outwards", path, r->shells_turned,
         r->shells_turned == 1 ? " was" : "s were");
  }
  if (r->holes) {
    warn("%s: open: %zu hole%s closed with faces", path, r->holes,
         r->holes == 1 ? " was" : "s were");
  }
  warn_fit(o, w);
  warn_parts(path, &w->mesh.report);
}
