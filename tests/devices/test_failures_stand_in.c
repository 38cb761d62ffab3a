/* The host path stands in whatever has become of OpenCL and of the user's file of settings since
 * the context was made. */
#include "failures.h"

#include "shim.h"
#include <stdlib.h>
#include <unistd.h>

static bool put(const char *path, const char *text)
{
  FILE *file = fopen(path, "wb");
  const bool put = file && fputs(text, file) >= 0;
  return (!file || fclose(file) == 0) && put;
}

static void judge(const world *w, uint32_t host)
{
  abut_device_report reports[2];
  size_t count = 0;
  CHECK_OK(abut_context_devices(w->context, reports, 2, &count));
  if (check(count == 2, "%zu devices, not 2", count)) {
    check(reports[0].status == CL_OUT_OF_RESOURCES, "the device has status %d", reports[0].status);
    check(reports[1].info.type == ABUT_DEVICE_HOST && reports[1].info.index == host &&
            reports[1].info.lanes[0] == 1 && reports[1].info.lanes[1] == 1,
          "the host path is device %u with lanes %u, %u", reports[1].info.index,
          reports[1].info.lanes[0], reports[1].info.lanes[1]);
  }
}

static void try_task(const task *of, const setting *s, const char *path, uint32_t host)
{
  static answer expected, got;
  world w;
  check(put(path, "{\"devices\": []}"), "%s cannot be written", path);
  if (!CHECK_OK(create_context(s, &w)) || !CHECK_OK(create_bodies(&w))) {
    return;
  }
  check_ok(of->run(&w, &expected), of->name);
  check(put(path, "{\"devices\": nonsense"), "%s cannot be written", path);
  shim_fail(SHIM_CALLS, 1, 1000000000, CL_OUT_OF_RESOURCES);
  check_ok(of->run(&w, &got), of->name);
  shim_stop();
  near_answer(&got, &expected, of->name);
  judge(&w, host);
  CHECK_OK(abut_destroy_context(w.context));
}

int main(void)
{
  char path[] = "/tmp/abut-stand-in-XXXXXX";
  setting s;
  uint32_t host = 0;
  if (!shim_open()) {
    puts("not run: there is no OpenCL");
    return 77;
  }
  if (!find_setting(1, &s)) {
    return 77;
  }
  const int file = mkstemp(path);
  check(file >= 0 && close(file) == 0 && setenv("ABUT_TUNING", path, 1) == 0, "no file");
  CHECK_OK(abut_find_device("host", &host));
  for (size_t i = 0; i < TASKS; ++i) {
    try_task(&tasks[i], &s, path, host);
  }
  check(unlink(path) == 0, "%s cannot be removed", path);
  return check_finish();
}
