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
    return snprintf(out, room, "open: %s; close the mesh: near them inside and outside blur",
                    *left ? left : "the mesh is not closed");
  }
  return snprintf(out, room,
                  "open: %zu hole%s %s closed, the widest %.3g m across%s; where this is "
                  "not the shape, close the mesh itself",
                  r->holes, s(r->holes), was(r->holes), r->hole_widest, left);
}

static int inside_out_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "inside out: %zu of %zu shell%s with faces inwards %s turned; "
                  "where a cavity was meant, put it inside another shell",
                  r->shells_turned, r->shells, s(r->shells), was(r->shells_turned));
}

static int turned_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "turned: %zu triangle%s ran against the neighbours, and %s turned; the "
                  "volume is now %.4g m^3: is that right?",
                  r->turned, s(r->turned), was(r->turned), r->volume);
}

static int tangled_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "tangled: %zu edge%s %s more than two faces, or no orientation that "
                  "suits them all; remove walls inside the solid and faces that are there twice",
                  r->tangled_edges, s(r->tangled_edges), has(r->tangled_edges));
}

static int unit_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "unit: the box's diagonal is %.4g m; if the file is in millimetres, "
                  "scale it by 0.001",
                  r->diagonal);
}

static int small_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "small: the box's diagonal is %.4g m, too little to fit a smoothing to, "
                  "so that evaluation refuses it; is the file in metres? Else scale it up",
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
                  "coarse: the field is off by up to %s %% of the diagonal at 95 %% of "
                  "the surface, more than the tolerance asks; give it more memory, or more cells",
                  percent(worst_95(r)).text);
}

/* Describes the thickness of the lost parts and the error of the field there; empty if unknown. */
static number lost_lengths(const abut_field_report *r)
{
  number n = {""};
  if (r->lost_thickness > 0.0) {
    snprintf(n.text, sizeof n.text,
             ": half of that is of parts less than %.3g m thick, where the "
             "field is off by %.2g m and more",
             r->lost_thickness, r->lost_error);
  }
  return n;
}

static int thin_text(const abut_field_report *r, char *out, size_t room)
{
  if (!(r->thin_share > 0.0)) {
    return snprintf(out, room,
                    "thin: behind %s %% of the surface the field is not negative%s; ask a "
                    "smaller tolerance, or thicken what is there",
                    percent(r->thin_lost).text, lost_lengths(r).text);
  }
  return snprintf(out, room,
                  "thin: %s %% of the surface is of parts thinner than four tolerances, "
                  "and behind %s %% the field is not negative%s; ask a smaller tolerance, or "
                  "thicken them",
                  percent(r->thin_share).text, percent(r->thin_lost).text, lost_lengths(r).text);
}

static int nested_text(const abut_field_report *r, char *out, size_t room)
{
  const bool one = r->shells_nested == 1;
  return snprintf(out, room,
                  "nested: %zu of %zu shells %s within others and turn%s as these do, so "
                  "that all of it is solid; where a cavity was meant, turn the inner faces",
                  r->shells_nested, r->shells, one ? "lies" : "lie", one ? "s" : "");
}

static int sheet_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(
    out, room,
    "sheet: %zu sheet%s of faces without a back, up to %.3g m wide, "
    "enclose%s nothing, and distances are taken to %s; take inner walls out, and give "
    "others thickness",
    r->sheets, s(r->sheets), r->sheet_widest, r->sheets == 1 ? "s" : "",
    r->sheets == 1 ? "it" : "them");
}

static int misfit_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "misfit: half of the mesh's vertices are %.3g m and more off the surface "
                  "of the body's field, and its diagonal is %.3g m: are mesh and primitives in one "
                  "unit, and in one place?",
                  r->misfit, r->diagonal);
}

static int features_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(
    out, room,
    "features: a stated vertex or edge, with its radius, is %.3g m off the surface of the "
    "body's field, and the mesh's diagonal is %.3g m: are features and primitives in one unit, and "
    "in "
    "one place?",
    r->feature_misfit, r->diagonal);
}

static int welded_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "welded: corners up to %.2g m apart became one, since that closes the surface; "
                  "where gaps of this width are meant, close the mesh around them",
                  r->welded_within);
}

static int closing_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "closing: the faces that close the holes put %s %% of the inside elsewhere than "
                  "the winding number of the open mesh; look at the result, or close the mesh "
                  "yourself",
                  percent(r->closing_doubt).text);
}

static int trailing_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "trailing: %zu byte%s behind the end of the mesh in its file %s left out; is the "
                  "file whole, and its header right?",
                  r->trailing, s(r->trailing), was(r->trailing));
}

static int narrow_text(const abut_field_report *r, char *out, size_t room)
{
  return snprintf(out, room,
                  "narrow: %s %% of the surface faces gaps that the field fills, half of which are "
                  "at most %.3g m wide; a body in such a gap counts as overlapping; ask a smaller "
                  "tolerance",
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
