/* Films written by ffmpeg, a separate program that reads pictures from a pipe. */
#ifndef ABUT_CLI_FILM_VIDEO_H
#define ABUT_CLI_FILM_VIDEO_H

#include "core/cli.h"
#include <sys/types.h>

typedef struct video {
  pid_t process; /* 0: none */
  int pipe;
  const char *path;
} video;

/* Reports what to install if ffmpeg is missing. */
exit_code video_check(const char *path);
/* Starts a film under a temporary name. video_end finishes it: with `whole` it is renamed,
 * otherwise removed. */
exit_code video_begin(video *v, const char *path, uint32_t width, uint32_t height, double rate);
exit_code video_add(video *v, const uint8_t *rgb, size_t bytes);
exit_code video_end(video *v, bool whole);

/* Removes unfinished films; for the handler of a signal that ends the process. */
void video_remove_unfinished(void);

#endif
