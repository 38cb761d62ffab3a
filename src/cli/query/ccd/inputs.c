#include "query/ccd/ccd.h"

#include "mesh/fields.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A bare mesh with a larger diagonal [m] causes a warning about its unit, as for fields. */
#define UNIT_MOST 20.0

/* ---- poses ---- */

static const char *kind_name(abut_pose_kind kind)
{
  return kind == ABUT_POSE_QUATERNION ? "positions and quaternions" : "twists";
}

static exit_code check_poses(const ccd *c, size_t from_count, abut_pose_kind from_kind,
                             size_t to_count, abut_pose_kind to_kind)
{
  const char *from = c->o->value[OPTION_FROM], *to = c->o->value[OPTION_TO];
  if (from_count != to_count) {
    return report(EXIT_INPUT, "%s: contains %zu pose%s, but %s contains %zu", to, to_count,
                  to_count == 1 ? "" : "s", from, from_count);
  }
  if (from_kind != to_kind) {
    return report(EXIT_INPUT, "%s: contains %s, but %s contains %s", to, kind_name(to_kind), from,
                  kind_name(from_kind));
  }
  return EXIT_GOOD;
}

exit_code ccd_read_poses(ccd *c)
{
  const options *o = c->o;
  CLI_TRY(report_status(abut_load_poses(o->value[OPTION_FROM], &c->from)));
  CLI_TRY(report_status(abut_load_poses(o->value[OPTION_TO], &c->to)));
  CLI_TRY(check_poses(c, c->from.count, c->from.kind, c->to.count, c->to.kind));
  warn_empty(o->value[OPTION_FROM], c->from.count);
  if (c->from.pair || c->to.pair) {
    warn_pairs();
  }
  return EXIT_GOOD;
}

exit_code ccd_open_poses(ccd *c, const abut_pose_file_info *from)
{
  abut_pose_file_info to;
  CLI_TRY(report_status(abut_open_poses(c->o->value[OPTION_TO], &c->to_file, &to)));
  CLI_TRY(check_poses(c, from->count, from->kind, to.count, to.kind));
  if (to.pairs && !from->pairs) { /* a warning was printed */
    warn_pairs();
  }
  return EXIT_GOOD;
}

static void free_poses(ccd *c)
{
  for (int i = 0; i < 4; ++i) {
    free(c->poses[i]);
    c->poses[i] = NULL;
  }
}

exit_code ccd_take_poses(ccd *c, const abut_poses *from, const abut_poses *to)
{
  const size_t numbers = from->count * pose_width(from->kind);
  const double *const all[4] = {from->pose1, to->pose1, from->pose2, to->pose2};
  free_poses(c);
  for (int i = 0; i < 4; ++i) {
    CLI_TRY(poses_to_reals(all[i], numbers, c->session.precision, &c->poses[i]));
  }
  c->count = from->count;
  c->batch.count = from->count;
  c->batch.poses = from->kind;
  c->batch.from1 = c->poses[0];
  c->batch.to1 = c->poses[1];
  c->batch.from2 = c->poses[2];
  c->batch.to2 = c->poses[3];
  return EXIT_GOOD;
}

void ccd_free_inputs(ccd *c)
{
  free_poses(c);
  abut_free_poses(&c->from);
  abut_free_poses(&c->to);
  abut_close_poses(c->to_file);
}

/* ---- meshes ---- */

/* Makes the mesh again with its vertices times `scale`. */
static exit_code scale_mesh(const ccd *c, double scale, const abut_ccd_mesh_info *info,
                            abut_ccd_mesh *mesh)
{
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  double *vertices = calloc(info->vertices + 1, 3 * sizeof *vertices);
  uint32_t *triangles = calloc(info->triangles + 1, 3 * sizeof *triangles);
  uint32_t *edges = calloc(info->edges + 1, 2 * sizeof *edges);
  exit_code code = EXIT_GOOD;
  if (!vertices || !triangles || !edges) {
    CLI_TRY_DONE(report(EXIT_RUN, "no memory for %zu vertices", info->vertices));
  }
  CLI_TRY_DONE(report_status(abut_get_ccd_mesh_features(*mesh, vertices, triangles, edges)));
  for (size_t i = 0; i < 3 * info->vertices; ++i) {
    vertices[i] *= scale;
  }
  def.vertices = vertices;
  def.vertex_count = info->vertices;
  def.face_indices = triangles;
  def.face_count = info->triangles;
  def.edges = edges;
  def.edge_count = info->edges;
  abut_destroy_ccd_mesh(*mesh);
  CLI_TRY_DONE(report_status(abut_create_ccd_mesh(c->session.context, &def, mesh)));
done:
  free(vertices);
  free(triangles);
  free(edges);
  return code;
}

static double diagonal_of(const abut_ccd_mesh_info *info)
{
  double square = 0.0;
  for (int k = 0; k < 3; ++k) {
    square += (info->upper[k] - info->lower[k]) * (info->upper[k] - info->lower[k]);
  }
  return sqrt(square);
}

static exit_code load_mesh(const ccd *c, int body, abut_ccd_mesh *to)
{
  const char *path = c->o->operands[body];
  double scale = 1.0;
  abut_ccd_mesh_info info;
  progress p = progress_begin(c->o, "");
  progress_say(&p, "reading %s", path);
  const abut_status status = abut_load_ccd_mesh(c->session.context, path, to);
  progress_end(&p); /* before the cause of a failure is printed */
  CLI_TRY(report_status(status));
  CLI_TRY(option_real(c->o, OPTION_SCALE, 1e-9, 1e9, &scale));
  CLI_TRY(report_status(abut_get_ccd_mesh_info(*to, &info)));
  warn_trailing(c->o, path, info.trailing);
  if (is_bare_mesh(path) && diagonal_of(&info) * scale > UNIT_MOST) {
    warn_field(c->o, path,
               &(abut_field_report){.suspicions = ABUT_SUSPECT_UNIT,
                                    .diagonal = diagonal_of(&info) * scale});
  }
  return is_bare_mesh(path) && scale != 1.0 ? scale_mesh(c, scale, &info, to) : EXIT_GOOD;
}

exit_code ccd_load_meshes(ccd *c)
{
  CLI_TRY(load_mesh(c, 0, &c->meshes[0]));
  c->meshes[1] = c->meshes[0];
  return strcmp(c->o->operands[0], c->o->operands[1]) == 0 ? EXIT_GOOD
                                                           : load_mesh(c, 1, &c->meshes[1]);
}
