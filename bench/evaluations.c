/* How many primitives the fields of a pair evaluate, after culling: evaluations CASE KERNEL_DIR
 *
 * CASE as in compare_jax.py. KERNEL_DIR is a copy of cl/ in which count_evaluations.py has made
 * contacts pass on, in place of their distances, how many superquadrics a field evaluated. Prints
 * the mean count of each block of slots. */
#include "engine/device/context.h"

#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail_with(const char *what)
{
  fprintf(stderr, "%s: %s\n", what, abut_last_error());
  return 1;
}

static void print_means(const abut_layout *l, const float *d, size_t poses)
{
  const size_t from[5] = {0, l->vertex_offset[1], l->edge_offset[0], l->edge_offset[1],
                          l->contacts};
  for (int part = 0; part < 4; ++part) {
    double sum = 0.0;
    for (size_t i = 0; i < poses; ++i) {
      for (size_t k = from[part]; k < from[part + 1]; ++k) {
        sum += d[i * l->contacts + k];
      }
    }
    const size_t slots = from[part + 1] - from[part];
    printf("%zu %.3f\n", slots, slots ? sum / (double)(slots * poses) : 0.0);
  }
}

int main(int argc, char **argv)
{
  char path[3][4096];
  abut_context_def def = abut_default_context_def();
  if (argc != 3 || abut_find_device("pocl", &def.device)) {
    return fail_with("evaluations CASE KERNEL_DIR, with PoCL");
  }
  def.kernel_directory = argv[2];
  const char *names[3] = {"a.body.json", "b.body.json", "smoothing.json"};
  for (int i = 0; i < 3; ++i) {
    snprintf(path[i], sizeof path[i], "%s/%s", argv[1], names[i]);
  }
  char poses_path[4096];
  snprintf(poses_path, sizeof poses_path, "%s/poses.npz", argv[1]);
  abut_context opened;
  abut_body a, b;
  abut_smoothing smoothing;
  abut_pair pair;
  abut_poses poses;
  abut_layout layout;
  if (abut_create_context(&def, &opened)) {
    return fail_with("cannot set up");
  }
  member *only = &context_get(opened)->members[0];
  memset(only->tested, true, sizeof only->tested); /* counts are no right answers */
  if (abut_load_body(opened, path[0], &a) || abut_load_body(opened, path[1], &b) ||
      abut_load_smoothing(path[2], &smoothing) || abut_create_pair(a, b, &smoothing, &pair) ||
      abut_load_poses(poses_path, &poses) || abut_get_layout(pair, &layout)) {
    return fail_with("cannot set up");
  }
  const size_t n = poses.count * 6, slots = poses.count * layout.contacts;
  float *s1 = malloc(n * sizeof *s1), *s2 = malloc(n * sizeof *s2);
  float *d = malloc(slots * sizeof *d), *activity = malloc(slots * sizeof *activity);
  float *normals = malloc(3 * slots * sizeof *normals);
  abut_batch batch = abut_default_batch();
  batch.count = poses.count;
  batch.pose1 = s1;
  batch.pose2 = s2;
  batch.d = d;
  batch.n = normals;         /* so that the vertices' fields have normals */
  batch.activity = activity; /* so that the opposing fields run as well */
  int status = s1 && s2 && d && activity && normals ? 0 : 1;
  for (size_t i = 0; !status && i < n; ++i) {
    s1[i] = (float)poses.pose1[i];
    s2[i] = (float)poses.pose2[i];
  }
  if (!status && abut_contacts(pair, &batch)) {
    status = fail_with("abut_contacts");
  } else if (!status) {
    print_means(&layout, d, poses.count);
  }
  free(s1);
  free(s2);
  free(d);
  free(activity);
  free(normals);
  abut_free_poses(&poses);
  abut_destroy_context(opened);
  return status;
}
