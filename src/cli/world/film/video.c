#include "world/film/video.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "ffmpeg"
#define ARGUMENTS_MOST 32

extern char **environ;

/* Path of the unfinished film; empty: none. Read by a signal handler. */
static char unfinished[4096];

void video_remove_unfinished(void)
{
  if (*unfinished) {
    unlink(unfinished);
  }
}

/* Returns whether a folder of PATH contains the program. */
static bool has_program(const char *folders)
{
  char path[4096];
  for (const char *at = folders; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
    const int length = (int)strcspn(at, ":");
    if (snprintf(path, sizeof path, "%.*s/" PROGRAM, length ? length : 1, length ? at : ".") <
          (int)sizeof path &&
        access(path, X_OK) == 0) {
      return true;
    }
  }
  return false;
}

exit_code video_check(const char *path)
{
  return has_program(getenv("PATH"))
           ? EXIT_GOOD
           : report(EXIT_RUN,
                    "%s: films need " PROGRAM ", which is not installed (Debian's package ffmpeg); "
                    "-o FRAMES/ and -o SHEET.png work without it",
                    path);
}

/* Creates a temporary file in the film's folder, with the permissions of a new file. */
static exit_code make_unfinished(const char *path)
{
  const char *slash = strrchr(path, '/');
  const int folder = slash ? (int)(slash - path) + 1 : 0;
  char name[sizeof unfinished];
  if (snprintf(name, sizeof name, "%.*s.abut-XXXXXX", folder, path) >= (int)sizeof name) {
    return report(EXIT_RUN, "%s: the name is too long", path);
  }
  const int file = mkstemp(name);
  if (file < 0) {
    return report(EXIT_RUN, "%s: %s", path, strerror(errno));
  }
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(file, 0666 & ~mask);
  close(file);
  memcpy(unfinished, name, sizeof name);
  return EXIT_GOOD;
}

/* Starts the program with the pipe's end as input; its messages go to our own output. */
static int spawn(pid_t *process, int input, int other_end, const char *const *arguments,
                 size_t count)
{
  char *own[ARGUMENTS_MOST];
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t usual;
  memcpy(own, arguments, count * sizeof *own); /* not modified, despite their type */
  int error = posix_spawn_file_actions_init(&actions);
  if (error) {
    return error;
  }
  posix_spawnattr_init(&attributes);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_addclose(&actions, other_end);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  error = posix_spawnp(process, PROGRAM, &actions, &attributes, own, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

exit_code video_begin(video *v, const char *path, uint32_t width, uint32_t height, double rate)
{
  char size[32], rate_text[32];
  int ends[2];
  snprintf(size, sizeof size, "%ux%u", width, height);
  snprintf(rate_text, sizeof rate_text, "%.9g", rate);
  CLI_TRY(make_unfinished(path));
  /* Players require even numbers of pixels and this pixel format. */
  const char *const arguments[] = {PROGRAM,
                                   "-loglevel",
                                   "error",
                                   "-nostdin",
                                   "-y",
                                   "-f",
                                   "rawvideo",
                                   "-pix_fmt",
                                   "rgb24",
                                   "-s",
                                   size,
                                   "-r",
                                   rate_text,
                                   "-i",
                                   "pipe:0",
                                   "-vf",
                                   "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white",
                                   "-pix_fmt",
                                   "yuv420p",
                                   "-f",
                                   "mp4",
                                   unfinished,
                                   NULL};
  if (pipe(ends) != 0) {
    const int error = errno;
    video_end(v, false);
    return report(EXIT_RUN, "%s: %s", path, strerror(error));
  }
  signal(SIGPIPE, SIG_IGN); /* if ffmpeg ends early, writing fails instead */
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  *v = (video){.pipe = ends[1], .path = path};
  const int error =
    spawn(&v->process, ends[0], ends[1], arguments, sizeof arguments / sizeof *arguments);
  close(ends[0]);
  if (error) {
    close(ends[1]);
    v->process = 0;
    video_end(v, false);
    return report(EXIT_RUN, "%s: " PROGRAM ": %s", path, strerror(error));
  }
  return EXIT_GOOD;
}

exit_code video_add(video *v, const uint8_t *rgb, size_t bytes)
{
  for (size_t at = 0; at < bytes;) {
    const ssize_t written = write(v->pipe, rgb + at, bytes - at);
    if (written < 0 && errno != EINTR) {
      return report(EXIT_RUN, "%s: " PROGRAM " accepts no more pictures: %s", v->path,
                    strerror(errno));
    }
    at += written > 0 ? (size_t)written : 0;
  }
  return EXIT_GOOD;
}

/* Returns the exit status, or 128 plus the signal number. */
static int wait_for(pid_t process)
{
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

exit_code video_end(video *v, bool whole)
{
  exit_code code = EXIT_GOOD;
  if (v->process) {
    close(v->pipe);
    const int status = wait_for(v->process);
    v->process = 0;
    if (whole && status) {
      code = report(EXIT_RUN, "%s: " PROGRAM " exited with status %d", v->path, status);
    } else if (whole && rename(unfinished, v->path) != 0) {
      code = report(EXIT_RUN, "%s: %s", v->path, strerror(errno));
    }
  }
  if (!whole || code != EXIT_GOOD) {
    video_remove_unfinished();
  }
  *unfinished = '\0';
  return code;
}
