#include "mesh/contact_meshes.h"

#include <stdio.h>

/* fraction of the volume below which omitted pieces cause no warning; --json counts them */
#define SPLINTERS 1e-4

exit_code contact_mesh_options(const options *o, abut_contact_mesh_options *out)
{
  size_t vertices = 0;
  *out = abut_default_contact_mesh_options();
  CLI_TRY(
    option_whole(o, OPTION_VERTICES, ABUT_CONTACT_MESH_LEAST, ABUT_CONTACT_MESH_MOST, &vertices));
  out->vertices = (uint32_t)vertices;
  return EXIT_GOOD;
}

json_t *contact_mesh_json(const abut_contact_mesh_report *r)
{
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "vertices",
                   (json_int_t)r->vertices, "faces", (json_int_t)r->faces, "edges",
                   (json_int_t)r->edges, "genus", (json_int_t)r->genus, "parts_left_out",
                   (json_int_t)r->parts_left_out, "left_out", r->left_out, "diagonal", r->diagonal,
                   "quality_mean", r->quality_mean, "quality_least", r->quality_least,
                   "chamfer_percent", r->chamfer_percent, "hausdorff_percent", r->hausdorff_percent,
                   "volume_kept", r->volume_kept, "off", r->off);
}

void tell_contact_mesh(const char *path, const abut_contact_mesh_report *r)
{
  printf("%s: %zu vertices, %zu faces, %zu edges; genus %lld\n", path, r->vertices, r->faces,
         r->edges, (long long)r->genus);
  printf("triangles: mean quality %.3f, least %.3f\n", r->quality_mean, r->quality_least);
  printf("distance from the field's surface, %% of the diagonal of %.4g m: %.3f on average, %.2f "
         "at most; volume ratio %.3f\n",
         r->diagonal, r->chamfer_percent, r->hausdorff_percent, r->volume_kept);
}

/* Smaller pieces are harmless: at an edge sharper than a cell, the cells detect splinters that do
 * not exist. */
void warn_parts(const char *path, const abut_contact_mesh_report *r)
{
  if (r->parts_left_out && r->left_out >= SPLINTERS) {
    const bool one = r->parts_left_out == 1;
    warn("%s: besides the largest piece of the field's surface, %zu piece%s with %.2g %% of the "
         "volume %s left out",
         path, r->parts_left_out, one ? "" : "s", 100.0 * r->left_out, one ? "is" : "are");
  }
}
