#include <abut/abut.h>
#include <stdio.h>

int main(void)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  abut_body a, b;
  abut_smoothing smoothing;
  abut_pair pair;
  float pose1[6] = {0}, pose2[6] = {0.3f, 0, 0, 0, 0, 0.5f}, distance = 0;
  abut_batch batch = abut_default_batch(); /* one pose; a million is the same call */
  batch.count = 1;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.reductions.distance = &distance;
  if (abut_create_context(&def, &context) ||
      abut_load_body(context, "assets/figure.body.json", &a) ||
      abut_load_body(context, "assets/part.body.json", &b) ||
      abut_fit_smoothing(a, b, &smoothing) || abut_create_pair(a, b, &smoothing, &pair) ||
      abut_contacts(pair, &batch)) {
    fprintf(stderr, "%s\n", abut_last_error());
    return 1;
  }
  printf("distance: %g m\n", distance);
  return abut_destroy_context(context) != ABUT_SUCCESS;
}
