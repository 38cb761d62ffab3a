/* for dladdr, and pipe2 if the system has it */
#define _GNU_SOURCE
#include "format/assimp_process.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/assimp_config.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536

extern char **environ;

/* Finds the folder of the library or program that contains this code. */
static bool own_folder(char *folder, size_t room)
{
  static const char here;
  Dl_info info;
  if (!dladdr(&here, &info) || !info.dli_fname) {
    return false;
  }
  const char *slash = strrchr(info.dli_fname, '/');
  const int length = slash ? (int)(slash - info.dli_fname) : 1;
  return snprintf(folder, room, "%.*s", length, slash ? info.dli_fname : ".") < (int)room;
}

bool assimp_find_program(char *program, size_t room)
{
  static const char *const beside[] = {"/" ASSIMP_PROGRAM, "/../abut/" ASSIMP_PROGRAM};
  const char *named = getenv("ABUT_MESH_READER");
  char folder[4096];
  if (named && *named) {
    return snprintf(program, room, "%s", named) < (int)room;
  }
  for (size_t i = 0; own_folder(folder, sizeof folder) && i < sizeof beside / sizeof *beside; ++i) {
    if (snprintf(program, room, "%s%s", folder, beside[i]) < (int)room &&
        access(program, X_OK) == 0) {
      return true;
    }
  }
  return *ABUT_MESH_READER_FOLDER &&
         snprintf(program, room, "%s/" ASSIMP_PROGRAM, ABUT_MESH_READER_FOLDER) < (int)room &&
         access(program, X_OK) == 0;
}

/* Other threads may start programs meanwhile, which must not inherit the pipe. */
static int open_pipe(int ends[2])
{
#ifdef __linux__
  return pipe2(ends, O_CLOEXEC);
#else
  const int failed = pipe(ends);
  for (int i = 0; !failed && i < 2; ++i) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  }
  return failed;
#endif
}

/* Both outputs of the program go to the pipe. Its signals have default handlers, even if the caller
 * ignores signals. */
static int spawn(pid_t *child, const char *program, const char *path, int to)
{
  const char *const arguments[] = {program, path, NULL};
  char *own[3];
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t usual, none;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) {
    return error;
  }
  error = posix_spawnattr_init(&attributes);
  if (error) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  sigaddset(&usual, SIGINT);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
  error = error ? error : posix_spawn_file_actions_adddup2(&actions, to, STDERR_FILENO);
  error = error
            ? error
            : posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  memcpy(own, arguments, sizeof own); /* posix_spawn does not modify them */
  error = error ? error : posix_spawn(child, program, &actions, &attributes, own, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Reads the program's entire output, and appends a zero. */
static abut_status read_words(const char *path, int from, char **bytes, size_t *count)
{
  size_t room = 0;
  for (;;) {
    void *grown = *bytes;
    const abut_status status = grow(&grown, &room, *count + READ_BYTES + 1, 1);
    *bytes = grown;
    TRY(status);
    const ssize_t got = read(from, *bytes + *count, room - *count - 1);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail_at(ABUT_ERROR_READ, path, 0, "the output of its reader cannot be read");
    }
    *count += (size_t)got;
    (*bytes)[*count] = '\0';
    if (got == 0) {
      return ABUT_SUCCESS;
    }
  }
}

abut_status assimp_run(const char *program, const char *path, char **bytes, size_t *count,
                       child_end *end)
{
  int ends[2];
  pid_t child;
  *bytes = NULL;
  *count = 0;
  if (open_pipe(ends) != 0) {
    return fail_at(ABUT_ERROR_READ, path, 0, "no pipe to its reader could be opened: error %d",
                   errno);
  }
  const int error = spawn(&child, program, path, ends[1]);
  close(ends[1]);
  const abut_status status =
    error
      ? fail_at(ABUT_ERROR_READ, path, 0, "its reader, %s, cannot be run: error %d", program, error)
      : read_words(path, ends[0], bytes, count);
  close(ends[0]); /* if it was not read completely, this ends the program */
  if (!error) {
    *end = child_wait(child);
  }
  return status;
}
