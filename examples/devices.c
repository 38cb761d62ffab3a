/* Devices that share a batch, what each has done, and when:
 *
 *   devices DEVICE... (examples/devices pocl/1.0 pocl/1.1, or none for each core of PoCL) */
#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>

enum { POSES = 512, SPANS = 1024 };

static int failed(void)
{
  fprintf(stderr, "%s\n", abut_last_error());
  return 1;
}

static int print_reports(abut_context context)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1]; /* the host path may have stood in */
  abut_span spans[SPANS];
  size_t count = 0, span_count = 0;
  if (abut_context_devices(context, reports, ABUT_DEVICES_MOST + 1, &count) ||
      abut_get_timeline(context, spans, SPANS, &span_count)) {
    return failed();
  }
  for (size_t i = 0; i < count; ++i) {
    printf("%s: %llu poses in %llu chunks; %s\n", reports[i].info.name,
           (unsigned long long)reports[i].elements, (unsigned long long)reports[i].chunks,
           reports[i].status == ABUT_SUCCESS ? "well" : reports[i].text);
  }
  for (size_t i = 0; i < span_count && i < SPANS; ++i) {
    if (spans[i].phase == ABUT_PHASE_COMPUTE) {
      printf("device %u computed %llu poses from %.2f to %.2f ms\n", spans[i].device,
             (unsigned long long)spans[i].count, 1e3 * spans[i].begin, 1e3 * spans[i].end);
    }
  }
  return 0;
}

int main(int argc, char **argv)
{
  abut_context_def def = abut_default_context_def();
  abut_device_choice choices[ABUT_DEVICES_MOST];
  size_t count = 0;
  for (int i = 1; i < (argc > 1 ? argc : 2); ++i) {
    size_t found = 0;
    if (abut_find_devices(argc > 1 ? argv[i] : "pocl/1", choices + count, ABUT_DEVICES_MOST - count,
                          &found)) {
      return failed();
    }
    count = count + found < ABUT_DEVICES_MOST ? count + found : ABUT_DEVICES_MOST;
  }
  def.devices = choices; /* need not outlive abut_create_context */
  def.device_count = (uint32_t)count;

  abut_context context;
  abut_body a, b;
  abut_smoothing smoothing;
  abut_pair pair;
  static float pose1[POSES][6], pose2[POSES][6], nearest[POSES];
  for (int i = 0; i < POSES; ++i) {
    pose2[i][0] = 0.2f + 0.2f * (float)i / POSES; /* body 2 moves away along x */
  }
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.reductions.distance = nearest;
  if (abut_create_context(&def, &context) ||
      abut_load_body(context, "assets/figure.body.json", &a) ||
      abut_load_body(context, "assets/part.body.json", &b) ||
      abut_fit_smoothing(a, b, &smoothing) || abut_create_pair(a, b, &smoothing, &pair) ||
      abut_start_timeline(context) || abut_contacts(pair, &batch)) {
    return failed();
  }
  printf("distance from %g to %g m\n", (double)nearest[0], (double)nearest[POSES - 1]);
  return print_reports(context) || abut_destroy_context(context) != ABUT_SUCCESS;
}
