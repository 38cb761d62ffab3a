#include "core/also.h"

#include <stdio.h>
#include <stdlib.h>

#define PIXELS_MOST 16384
#define RADIANS (3.14159265358979323846 / 180.0)

static exit_code read_view(const options *o, abut_view *view, size_t *index)
{
  size_t width = view->width, height = view->height;
  double azimuth = view->azimuth / RADIANS, elevation = view->elevation / RADIANS;
  CLI_TRY(option_whole(o, OPTION_WIDTH, 1, PIXELS_MOST, &width));
  CLI_TRY(option_whole(o, OPTION_HEIGHT, 1, PIXELS_MOST, &height));
  CLI_TRY(option_real(o, OPTION_AZIMUTH, -360.0, 360.0, &azimuth));
  CLI_TRY(option_real(o, OPTION_ELEVATION, -90.0, 90.0, &elevation));
  CLI_TRY(option_real(o, OPTION_ZOOM, 1e-3, 1e3, &view->zoom));
  CLI_TRY(option_real(o, OPTION_THRESHOLD, 0.0, 1.0, &view->threshold));
  CLI_TRY(option_whole(o, OPTION_INDEX, 0, (size_t)-1, index));
  view->width = (uint32_t)width;
  view->height = (uint32_t)height;
  view->azimuth = azimuth * RADIANS;
  view->elevation = elevation * RADIANS;
  view->contacts = !o->value[OPTION_NO_CONTACTS];
  return EXIT_GOOD;
}

static exit_code check_index(const options *o, const abut_poses *poses, size_t index)
{
  if (index < poses->count) {
    return EXIT_GOOD;
  }
  return report_beyond(o->value[OPTION_POSES], "pose", index, poses->count);
}

static exit_code draw(const session *s, const options *o, const abut_poses *poses, size_t index,
                      const also *others, const abut_view *view)
{
  const size_t at = index * pose_width(poses->kind);
  size_t bytes = 0;
  uint8_t *rgb = multiply(view->width, view->height, 3, &bytes) ? malloc(bytes) : NULL;
  if (!rgb) {
    return report(EXIT_RUN, "not enough memory for %u x %u pixels", view->width, view->height);
  }
  exit_code code = EXIT_GOOD;
  progress p = progress_begin(o, "");
  const double start = now();
  progress_say(&p, "drawing");
  const abut_status status = abut_render_with(s->pair, poses->kind, poses->pose1 + at,
                                              poses->pose2 + at, others->bodies, others->count,
                                              view, rgb);
  progress_end(&p);
  const double seconds = now() - start;
  CLI_TRY_DONE(report_status(status));
  CLI_TRY_DONE(
    report_status(abut_write_png(o->value[OPTION_OUTPUT], view->width, view->height, rgb)));
  if (sums_up(o)) {
    printf("pose %zu of %zu, %u x %u pixels, %.3g s on %s\n", index, poses->count, view->width,
           view->height, seconds, session_workers(s).text);
  }
done:
  free(rgb);
  return code;
}

static exit_code check_usage(const options *o, abut_view *view, size_t *index)
{
  CLI_TRY(need_operands(o, 2, "two bodies, A and B"));
  CLI_TRY(need_option(o, OPTION_POSES));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(read_view(o, view, index));
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  return check_own_output(o);
}

exit_code cmd_render(const options *o)
{
  abut_view view = abut_default_view();
  abut_poses poses = {0};
  session s = {0};
  also others = {0};
  size_t index = 0;
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(check_usage(o, &view, &index));
  CLI_TRY_DONE(also_open(&others, o));
  CLI_TRY_DONE(report_status(abut_load_poses(o->value[OPTION_POSES], &poses)));
  CLI_TRY_DONE(check_index(o, &poses, index));
  CLI_TRY_DONE(session_open(&s, o, ABUT_FLOAT32));
  CLI_TRY_DONE(session_load(&s, o));
  CLI_TRY_DONE(also_load(&others, &s, o));
  CLI_TRY_DONE(draw(&s, o, &poses, index, &others, &view));
done:
  also_close(&others);
  abut_free_poses(&poses);
  session_close(&s);
  return code;
}
