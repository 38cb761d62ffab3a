#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "cache_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool make_scratch(char folder[64])
{
  snprintf(folder, 64, "/tmp/abut-cache-XXXXXX");
  return check(mkdtemp(folder) && chmod(folder, 0777) == 0, "there is no scratch folder");
}

static bool is_dots(const char *name)
{
  return !strcmp(name, ".") || !strcmp(name, "..");
}

static void path_of(char path[512], const char *folder, const char *name)
{
  snprintf(path, 512, "%s/%s", folder, name);
}

void remove_folder(const char *folder)
{
  DIR *d = opendir(folder);
  char path[512];
  for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    path_of(path, folder, e->d_name);
    if (!is_dots(e->d_name) && remove(path) != 0) {
      remove_folder(path);
    }
  }
  if (d) {
    closedir(d);
  }
  rmdir(folder);
}

bool file_take(const char *path, file_content *out)
{
  *out = (file_content){NULL, 0};
  FILE *f = fopen(path, "rb");
  if (!check(f != NULL, "%s is not there", path)) {
    return false;
  }
  fseek(f, 0, SEEK_END);
  out->count = (size_t)ftell(f);
  rewind(f);
  out->bytes = malloc(out->count + 1);
  const bool good = out->bytes && fread(out->bytes, 1, out->count, f) == out->count;
  fclose(f);
  return check(good, "%s cannot be read", path);
}

bool file_put(const char *path, const unsigned char *bytes, size_t count)
{
  FILE *f = fopen(path, "wb");
  bool good = f && fwrite(bytes, 1, count, f) == count;
  good = f && fclose(f) == 0 && good;
  return check(good, "%s cannot be written", path);
}

size_t count_files(const char *folder, char one[512])
{
  size_t count = 0;
  DIR *d = opendir(folder);
  for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    if (!is_dots(e->d_name)) {
      ++count;
      path_of(one, folder, e->d_name);
    }
  }
  if (d) {
    closedir(d);
  }
  return count;
}

unsigned long long file_identity(const char *path)
{
  struct stat info;
  return check(stat(path, &info) == 0, "%s is not there", path) ? info.st_ino : 0;
}

static pid_t start(bool (*run)(void *data, int process), void *data, int process)
{
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const bool good = run(data, process);
    fflush(stdout);
    _exit(good ? 0 : 1);
  }
  return child;
}

bool in_process(bool (*run)(void *data, int process), void *data, int process)
{
  int status = -1;
  const pid_t child = start(run, data, process);
  return waitpid(child, &status, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void in_processes(int processes, bool (*run)(void *data, int process), void *data, const char *what)
{
  for (int i = 0; i < processes; ++i) {
    check(start(run, data, i) > 0, "%s: there is no process", what);
  }
  for (int i = 0; i < processes; ++i) {
    int status = -1;
    const bool ended = wait(&status) > 0 && WIFEXITED(status);
    check(ended && WEXITSTATUS(status) == 0, "%s: a process ends with %d", what, status);
  }
}

void lower_rights(void)
{
  if (getuid() == 0) {
    check(seteuid(65534) == 0, "root cannot lower its rights");
  }
}

void raise_rights(void)
{
  if (getuid() == 0) {
    check(seteuid(0) == 0, "root cannot take its rights back");
  }
}
