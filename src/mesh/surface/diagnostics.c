/* One sentence for each diagnostic of a mesh and its field. */
#include "mesh/surface/diagnostics.h"

#include "base/limits.h"
#include <abut/field.h>
#include <stdio.h>

#define UNIT_MOST 20.0 /* [m]: a larger diagonal suggests millimetres */
/* share of the diagonal: the union's temperature in fitted smoothing */
#define FITTED 0.004

uint32_t diagonal_suspicions(double diagonal)
{
  return (diagonal > UNIT_MOST ? ABUT_SUSPECT_UNIT : 0u) |
         (FITTED * diagonal < SMOOTHING_LENGTH_LEAST ? ABUT_SUSPECT_SMALL : 0u);
}

/* Returns the plural "s" unless count is 1. */
static const char *s(size_t count)
{
  return count == 1 ? "" : "s";
}

static const char *has(size_t count)
{
  return count == 1 ? "has" : "have";
}

static const char *was(size_t count)
{
  return count == 1 ? "was" : "were";
}

static int open_text(const abut_field_report *r, char *out, size_t room)
{
  char left[96] = "";
  if (r->open_edges) {
    snprintf(left, sizeof left, "%s%zu open edge%s left", r->holes ? ", and " : "", r->open_edges,
             r->open_edges == 1 ? " is" : "s are");
  }
  if (!r->holes) {
    return snprintf(
      out, room,
      "open: %s; close the mesh: near open edges, inside and outside are not sharply separated",
      *left ? left : "the mesh is not closed");
  }
  return snprintf(out, room,
                  "open: %zu hole%s %s closed, the widest %.3g m across%s; if the result is not "
                  "the intended shape, close the mesh yourself",
                  r->holes, s(r->holes), was(r->holes), r->hole_widest, left);
}

static int inside_out_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "inside out: %zu of %zu shell%s had inward faces and %s turned; to model a "
                  "cavity, put it inside another shell",
                  r->shells_turned, r->shells, s(r->shells), was(r->shells_turned));
}

static int turned_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "turned: %zu triangle%s had the opposite orientation of the neighbours and %s "
                  "turned; check the volume, which is now %.4g m^3",
                  r->turned, s(r->turned), was(r->turned), r->volume);
}

static int tangled_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "tangled: %zu edge%s %s more than two faces, or faces without a consistent "
                  "orientation; remove inner walls and duplicate faces",
                  r->tangled_edges, s(r->tangled_edges), has(r->tangled_edges));
}

static int unit_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(
    out, room,
    "unit: the diagonal of the box is %.4g m; if the file is in millimetres, scale it by 0.001",
    r->diagonal);
}

static int small_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "small: the diagonal of the box is %.4g m, which is too small to fit a "
                  "smoothing, so contacts will fail; if the file is not in metres, scale it up",
                  r->diagonal);
}

static double worst_95(const abut_field_report *r)
{
  return r->face_95 > r->edge_95 ? r->face_95 : r->edge_95;
}

typedef struct number {
  char text[128];
} number;

/* Writes a share in per cent with two digits and without an exponent. */
static number percent(double share)
{
  number n;
  const double value = 100.0 * share;
  if (value < 0.01) {
    snprintf(n.text, sizeof n.text, value > 0.0 ? "under 0.01" : "0");
  } else {
    snprintf(n.text, sizeof n.text, value < 9.95 ? "%.2g" : "%.0f", value);
  }
  return n;
}

static int coarse_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "coarse: the error of the field is up to %s %% of the diagonal at 95 %% of the "
                  "surface, which is above the tolerance; allow more memory or more cells",
                  percent(worst_95(r)).text);
}

/* Describes the thickness of the lost parts and the error of the field there; empty if unknown. */
static number lost_lengths(const abut_field_report *r)
{
  number n = {""};
  if (r->lost_thickness > 0.0) {
    snprintf(n.text, sizeof n.text,
             ": half of that surface belongs to parts less than %.3g m thick, where the error of "
             "the field is %.2g m or more",
             r->lost_thickness, r->lost_error);
  }
  return n;
}

static int thin_text(const abut_field_report *r, char *out, size_t room)
{
  if (!(r->thin_share > 0.0)) {
    return snprintf(out, room,
                    "thin: behind %s %% of the surface the field is not negative%s; set a smaller "
                    "tolerance, or thicken these parts",
                    percent(r->thin_lost).text, lost_lengths(r).text);
  }
  return snprintf(
    out, room,
    "thin: %s %% of the surface belongs to parts thinner than four tolerances, and behind %s %% "
    "the field is not negative%s; set a smaller tolerance, or thicken these parts",
    percent(r->thin_share).text, percent(r->thin_lost).text, lost_lengths(r).text);
}

static int nested_text(const abut_field_report *r, char *out, size_t room)
{
  const bool one = r->shells_nested == 1;
  return snprintf(out, room,
                  "nested: %zu of %zu shells %s inside others and point%s the same way, so "
                  "everything is solid; to model a cavity, turn the inner faces",
                  r->shells_nested, r->shells, one ? "is" : "are", one ? "s" : "");
}

static int sheet_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(
    out, room,
    "sheet: %zu open sheet%s of faces, up to %.3g m wide, enclose%s no volume, and distances are "
    "measured to %s; remove inner walls, and give other sheets a thickness",
    r->sheets, s(r->sheets), r->sheet_widest, r->sheets == 1 ? "s" : "",
    r->sheets == 1 ? "it" : "them");
}

static int misfit_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "misfit: half of the vertices of the mesh are %.3g m or more from the surface of "
                  "the body's field, and the diagonal of the mesh is %.3g m: are the mesh and the "
                  "primitives in the same unit of length and in the same place?",
                  r->misfit, r->diagonal);
}

static int features_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "features: a stated vertex or edge, with its radius, is %.3g m from the surface "
                  "of the body's field, and the diagonal of the mesh is %.3g m: are the features "
                  "and the primitives in the same unit of length and in the same place?",
                  r->feature_misfit, r->diagonal);
}

static int welded_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "welded: corners up to %.2g m apart were merged, because that closes the "
                  "surface; to keep gaps of this width, close the mesh around them",
                  r->welded_within);
}

static int closing_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(
    out, room,
    "closing: the faces that close the holes and the winding number of the open mesh disagree "
    "about %s %% of the inside; check the result, or close the mesh yourself",
    percent(r->closing_doubt).text);
}

static int trailing_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "trailing: %zu byte%s after the end of the mesh in the file %s ignored; check "
                  "that the file is complete and its header correct",
                  r->trailing, s(r->trailing), was(r->trailing));
}

static int narrow_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(
    out, room,
    "narrow: %s %% of the surface faces gaps that the field fills, half of them at most %.3g m "
    "wide; a body in such a gap counts as overlapping; set a smaller tolerance",
    percent(r->gap_filled).text, r->gap_width);
}

size_t abut_suspicion_text(const abut_field_report *report, abut_suspicion which, char *text,
                           size_t room)
{
  static const struct {
    abut_suspicion which;
    int (*write)(const abut_field_report *r, char *out, size_t room);
  } texts[] = {
    {ABUT_SUSPECT_OPEN, open_text},         {ABUT_SUSPECT_INSIDE_OUT, inside_out_text},
    {ABUT_SUSPECT_TURNED, turned_text},     {ABUT_SUSPECT_TANGLED, tangled_text},
    {ABUT_SUSPECT_UNIT, unit_text},         {ABUT_SUSPECT_SMALL, small_text},
    {ABUT_SUSPECT_COARSE, coarse_text},     {ABUT_SUSPECT_THIN, thin_text},
    {ABUT_SUSPECT_NESTED, nested_text},     {ABUT_SUSPECT_SHEET, sheet_text},
    {ABUT_SUSPECT_MISFIT, misfit_text},     {ABUT_SUSPECT_FEATURES, features_text},
    {ABUT_SUSPECT_WELDED, welded_text},     {ABUT_SUSPECT_CLOSING, closing_text},
    {ABUT_SUSPECT_TRAILING, trailing_text}, {ABUT_SUSPECT_NARROW, narrow_text},
  };
  if (text && room) {
    *text = '\0';
  }
  for (size_t i = 0; report && i < sizeof texts / sizeof *texts; ++i) {
    if (texts[i].which == which && (report->suspicions & (uint32_t)which)) {
      const int length = texts[i].write(report, text, text ? room : 0);
      return length > 0 ? (size_t)length : 0;
    }
  }
  return 0;
}
