/* Films by ffmpeg, a program of its own that reads pictures from a pipe. */
#ifndef ABUT_CLI_FILM_VIDEO_H
#define ABUT_CLI_FILM_VIDEO_H

#include "core/cli.h"
#include <sys/types.h>

typedef struct video {
  pid_t process; /* 0: none */
  int pipe;
  const char *path;
} video;

/* Says what to install where ffmpeg is not there. */
exit_code video_check(const char *path);
/* Starts a film, which has another name until it is whole. video_end ends it: with `whole` it comes
 * into place, else it is gone. */
exit_code video_begin(video *v, const char *path, uint32_t width, uint32_t height, double rate);
exit_code video_add(video *v, const uint8_t *rgb, size_t bytes);
exit_code video_end(video *v, bool whole);

/* Removes what is begun and not ended: for the handler of a signal that ends the process. */
void video_remove_unfinished(void);

#endif
