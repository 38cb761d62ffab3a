#include "mesh/inspect/page.h"

#include "core/fits.h"
#include "core/json_text.h"
#include <stdarg.h>

static const char head[] =
  "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
  "<meta name=\"color-scheme\" content=\"light dark\">\n"
  "<style>\n"
  ":root { --ground: #fff; --ink: #1e1e22; --grey: #5c5c66; --line: #dcdce2; --neutral: #e0ded6; "
  "}\n"
  "@media (prefers-color-scheme: dark) {\n"
  "  :root { --ground: #16181d; --ink: #e8e8ec; --grey: #a2a4ae; --line: #363a44; }\n}\n"
  "body { background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;\n"
  "  margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }\n"
  "h1 { font-size: 1.5rem; margin-bottom: 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; }\n"
  "p.of { color: var(--grey); margin-top: .2rem; overflow-wrap: anywhere; }\n"
  ".pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), "
  "1fr));\n  gap: 1rem; }\n"
  "figure { border: 1px solid var(--line); border-radius: 6px; margin: 0; overflow: hidden; }\n"
  "figure img { display: block; width: 100%; height: auto; }\n"
  "figcaption { border-top: 1px solid var(--line); color: var(--grey); font-size: .85rem;\n"
  "  padding: .4rem .7rem; }\n"
  ".tables { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), "
  "1fr));\n  gap: 0 2rem; }\n"
  "table { border-collapse: collapse; width: 100%; }\n"
  "td { border-bottom: 1px solid var(--line); padding: .25rem 0; }\n"
  "td:last-child { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }\n"
  "td[colspan] { overflow-wrap: anywhere; text-align: left; white-space: normal; }\n"
  ".scale { background: linear-gradient(to right, #2966db, var(--neutral), #db3329); "
  "border-radius: 3px;\n"
  "  height: .6rem; margin: .3rem 0; }\n"
  ".ends { display: flex; font-size: .85rem; justify-content: space-between; }\n"
  ".warn { border-left: 3px solid #db3329; padding-left: .7rem; }\n"
  "</style>\n";

static void put_text(FILE *to, const char *text)
{
  for (; *text; ++text) {
    switch (*text) {
    case '&':
      fputs("&amp;", to);
      break;
    case '<':
      fputs("&lt;", to);
      break;
    case '>':
      fputs("&gt;", to);
      break;
    case '"':
      fputs("&quot;", to);
      break;
    default:
      fputc(*text, to);
    }
  }
}

/* Base64, RFC 4648. */
static void put_bytes(FILE *to, const uint8_t *bytes, size_t count)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < count; i += 3) {
    const size_t left = count - i;
    const uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0u) |
                          (left > 2 ? bytes[i + 2] : 0u);
    fputc(digits[word >> 18], to);
    fputc(digits[word >> 12 & 63], to);
    fputc(left > 1 ? digits[word >> 6 & 63] : '=', to);
    fputc(left > 2 ? digits[word & 63] : '=', to);
  }
}

static exit_code put_picture(FILE *to, const abut_fit_view *v, const uint8_t *pictures,
                             size_t which)
{
  uint8_t *png = NULL;
  size_t count = 0;
  CLI_TRY(
    report_status(abut_format_png(v->width, v->height, pictures + which * v->width * v->height * 3,
                                  &png, &count)));
  fputs("data:image/png;base64,", to);
  put_bytes(to, png, count);
  abut_free(png);
  return EXIT_GOOD;
}

static exit_code put_figure(FILE *to, const findings *f, abut_fit_picture which,
                            const char *caption)
{
  fputs("<figure><picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"", to);
  CLI_TRY(put_picture(to, &f->view, f->pictures[1], which));
  fputs("\"><img src=\"", to);
  CLI_TRY(put_picture(to, &f->view, f->pictures[0], which));
  fprintf(to, "\" width=\"%u\" height=\"%u\" alt=\"", f->view.width, f->view.height);
  put_text(to, caption);
  fputs("\"></picture><figcaption>", to);
  put_text(to, caption);
  fputs("</figcaption></figure>\n", to);
  return EXIT_GOOD;
}

__attribute__((format(printf, 3, 4))) static void put_row(FILE *to, const char *name,
                                                          const char *format, ...)
{
  va_list values;
  va_start(values, format);
  fprintf(to, "<tr><td>%s</td><td>", name);
  vfprintf(to, format, values);
  fputs("</td></tr>\n", to);
  va_end(values);
}

static void put_fit(FILE *to, const abut_fit *fit)
{
  fputs("<section><h2>Field and mesh</h2><table>\n", to);
  put_row(to, "Volume of both, of either (IoU)", "%.4f", fit->iou);
  put_row(to, "of the mesh's (coverage)", "%.4f", fit->coverage);
  put_row(to, "of the field's (precision)", "%.4f", fit->precision);
  put_row(to, "Largest part uncovered, of the volume", "%.2f %%", 100.0 * fit->largest_uncovered);
  put_row(to, "Largest part of the field outside", "%.2f %%", 100.0 * fit->largest_surplus);
  put_row(to, "Chamfer distance, of the diagonal", "%.3f %%", fit->chamfer_percent);
  put_row(to, "Hausdorff distance, of the diagonal", "%.2f %%", fit->hausdorff_percent);
  put_row(to, "Surface farther off than 1 % of it", "%.1f %%",
          100.0 * fit->surface_beyond_1_percent);
  if (fit->over_holes > 0.0) {
    put_row(to, "Field's surface over closed holes, which counts for no distance", "%.1f %%",
            100.0 * fit->over_holes);
  }
  put_row(to, "Depth by the field over that in the mesh, median", "%.3g", fit->depth_ratio_median);
  put_row(to, "95 % of the places have less than", "%.3g", fit->depth_ratio_95);
  put_row(to, "most", "%.3g", fit->depth_ratio_most);
  fprintf(to, "<tr><td colspan=\"2\">at %.4g %.4g %.4g m</td></tr>\n", fit->depth_ratio_most_at[0],
          fit->depth_ratio_most_at[1], fit->depth_ratio_most_at[2]);
  fputs("</table></section>\n", to);
}

static void put_mesh(FILE *to, const abut_body_info *info, const abut_mesh_quality *q)
{
  fputs("<section><h2>Contact mesh</h2><table>\n", to);
  put_row(to, "Vertices", "%zu", info->vertices);
  put_row(to, "Edges", "%zu", info->edges);
  if (info->edges) {
    put_row(to, "Edges leaving the field", "%.1f %%", 100.0 * q->edges_leaving);
  }
  put_row(to, "Triangles", "%zu", q->triangles);
  if (q->triangles) {
    put_row(to, "Quality of triangles, mean", "%.3f", q->quality_mean);
    put_row(to, "least", "%.3f", q->quality_least);
  }
  put_row(to, "Vertices off the field, mean, of the diagonal", "%.3f %%", q->off_mean);
  put_row(to, "most", "%.2f %%", q->off_most);
  fputs("</table></section>\n", to);
}

static void put_counts(FILE *to, const abut_body_info *info, const query_cost *c)
{
  const struct {
    const char *name;
    size_t count;
  } families[] = {{"Superquadrics", info->superquadrics}, {"Polyhedra", info->polyhedra},
                  {"Point clouds", info->pointclouds},    {"Grids", info->grids},
                  {"Height fields", info->height_fields}, {"Cores", info->cores}};
  fputs("<section><h2>Primitives and cost</h2><table>\n", to);
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
    if (families[i].count) {
      put_row(to, families[i].name, "%zu", families[i].count);
    }
  }
  put_row(to, "Thickness", "%.3g m", info->thickness);
  put_row(to, "Contacts a pose, with itself", "%zu", c->contacts);
  put_row(to, "A contact query, in batches", "%.3g ms", 1e3 * c->seconds);
  fputs("<tr><td colspan=\"2\">of ", to);
  fprintf(to, "%zu poses on ", c->poses);
  put_text(to, c->devices);
  fputs("</td></tr>\n</table></section>\n", to);
}

exit_code write_page(FILE *to, const findings *f)
{
  fputs(head, to);
  fputs("<title>", to);
  put_text(to, f->body);
  fputs("</title>\n</head>\n<body>\n<h1>", to);
  put_text(to, f->body);
  fputs("</h1>\n<p class=\"of\">compared with ", to);
  put_text(to, f->mesh);
  fprintf(to, ", a union of %.4g m; abut %s</p>\n", f->union_tau, abut_version());
  if (f->other_union) {
    fprintf(
      to,
      "<p class=\"warn\">The body was fitted with a union of %.4g m: with another one its surface "
      "is elsewhere.</p>\n",
      f->info.union_);
  }
  if (f->fit.endless) {
    fputs("<p class=\"warn\">The field is unbounded: only its part in the mesh's box and 8 % "
          "beyond counts.</p>\n",
          to);
  }
  if (depths_are_off(f->fit.depth_ratio_median)) {
    fprintf(to,
            "<p class=\"warn\">Depths within the body are %.3g times those in the mesh in the "
            "median: thin parts push "
            "too hard where bodies sink in.</p>\n",
            f->fit.depth_ratio_median);
  }
  fputs("<div class=\"pictures\">\n", to);
  CLI_TRY(put_figure(to, f, ABUT_PICTURE_MESH, "The mesh"));
  CLI_TRY(put_figure(to, f, ABUT_PICTURE_PRIMITIVES, "The primitives"));
  CLI_TRY(put_figure(to, f, ABUT_PICTURE_FIELD, "The field's surface"));
  CLI_TRY(
    put_figure(to, f, ABUT_PICTURE_MESH_OFF, "The mesh, by its distance to the field's surface"));
  CLI_TRY(
    put_figure(to, f, ABUT_PICTURE_FIELD_OFF, "The field's surface, by its distance to the mesh"));
  fputs("<div><h2>Distances</h2><div class=\"scale\"></div><div class=\"ends\"><span>the field "
        "sticks out by "
        "2 % of the diagonal</span><span>the mesh is uncovered</span></div></div>\n</div>\n"
        "<div class=\"tables\">\n",
        to);
  put_fit(to, &f->fit);
  put_mesh(to, &f->info, &f->quality);
  put_counts(to, &f->info, &f->cost);
  fputs("</div>\n</body>\n</html>\n", to);
  return EXIT_GOOD;
}

json_t *findings_json(const findings *f)
{
  const abut_fit *fit = &f->fit;
  const abut_mesh_quality *q = &f->quality;
  const abut_body_info *info = &f->info;
  const query_cost *c = &f->cost;
  return json_pack(
    "{s:o, s:o, s:f, s:b, s:{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
    "s:[f,f,f], s:b},"
    " s:{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f}, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}, s:{s:I, "
    "s:I, s:f, s:o}}",
    "body", json_text(f->body), "mesh", json_text(f->mesh), "union", f->union_tau, "other_union",
    (int)f->other_union, "fit", "iou", fit->iou, "coverage", fit->coverage, "precision",
    fit->precision, "chamfer_percent", fit->chamfer_percent, "hausdorff_percent",
    fit->hausdorff_percent, "largest_uncovered", fit->largest_uncovered, "surface_beyond_1_percent",
    fit->surface_beyond_1_percent, "largest_surplus", fit->largest_surplus, "over_holes",
    fit->over_holes, "depth_ratio_median", fit->depth_ratio_median, "depth_ratio_95",
    fit->depth_ratio_95, "depth_ratio_most", fit->depth_ratio_most, "depth_ratio_most_at",
    fit->depth_ratio_most_at[0], fit->depth_ratio_most_at[1], fit->depth_ratio_most_at[2],
    "endless", (int)fit->endless, "contact_mesh", "vertices", (json_int_t)info->vertices, "edges",
    (json_int_t)info->edges, "triangles", (json_int_t)q->triangles, "quality_mean", q->quality_mean,
    "quality_least", q->quality_least, "off_mean_percent", q->off_mean, "off_most_percent",
    q->off_most, "edges_leaving", q->edges_leaving, "primitives", "all",
    (json_int_t)info->primitives, "superquadrics", (json_int_t)info->superquadrics, "polyhedra",
    (json_int_t)info->polyhedra, "pointclouds", (json_int_t)info->pointclouds, "grids",
    (json_int_t)info->grids, "height_fields", (json_int_t)info->height_fields, "cores",
    (json_int_t)info->cores, "query", "poses", (json_int_t)c->poses, "contacts",
    (json_int_t)c->contacts, "seconds_a_pose", c->seconds, "devices", json_text(c->devices));
}
