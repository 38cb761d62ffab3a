#include "core/folder/arrays.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ---- */

bool folder_is_named(const options *o)
{
  const char *path = o->value[OPTION_OUTPUT];
  const size_t length = path ? strlen(path) : 0;
  return length && path[length - 1] == '/';
}

exit_code folder_part(const options *o, uint64_t *shard, uint64_t *shards)
{
  const char *text = o->value[OPTION_SHARD];
  int length = 0;
  *shard = 0;
  *shards = 1;
  if (!text) {
    return EXIT_GOOD;
  }
  const bool digits = *text >= '0' && *text <= '9' && strchr(text, '/') &&
                      strchr(text, '/')[1] >= '0' && strchr(text, '/')[1] <= '9' &&
                      strlen(text) < 24;
  return digits && sscanf(text, "%" SCNu64 "/%" SCNu64 "%n", shard, shards, &length) == 2 &&
             !text[length] && *shards >= 1 && *shards <= SHARDS_MOST && *shard < *shards
           ? EXIT_GOOD
           : usage_error(o->command,
                         "--shard: `%s` must be I/N, part I (0-based) of N parts; N is at most %d",
                         text, SHARDS_MOST);
}

static exit_code check_folder(const options *o)
{
  uint64_t shard, shards;
  size_t block = 1;
  struct stat about;
  const char *path = o->value[OPTION_OUTPUT];
  CLI_TRY(folder_part(o, &shard, &shards));
  CLI_TRY(option_whole(o, OPTION_BLOCK, 1, UINT32_MAX, &block));
  errno = 0;
  return (stat(path, &about) == 0 && !S_ISDIR(about.st_mode)) || errno == ENOTDIR
           ? report(EXIT_INPUT, "%s: exists and is not a folder", path)
           : EXIT_GOOD;
}

bool folder_is_meant(const options *o)
{
  struct stat about;
  const char *path = o->value[OPTION_OUTPUT];
  return path && *path &&
         (stat(path, &about) == 0 ? S_ISDIR(about.st_mode) : strchr(base_name(path), '.') == NULL);
}

exit_code folder_check_output(const options *o)
{
  static const option_id of_folders[] = {OPTION_SHARD, OPTION_RESUME, OPTION_BLOCK, OPTION_YES};
  const char *path = o->value[OPTION_OUTPUT];
  if (folder_is_named(o)) {
    return check_folder(o);
  }
  for (size_t i = 0; i < sizeof of_folders / sizeof *of_folders; ++i) {
    if (o->value[of_folders[i]]) {
      return usage_error(o->command,
                         "%s needs a folder of results: write -o %s/, with a / at the end",
                         option_name(of_folders[i]), folder_is_meant(o) ? path : "FOLDER");
    }
  }
  return check_own_output(o);
}

/* ---- files ---- */

char *folder_file(const folder *f, const char *name, const char *ending)
{
  const size_t room = strlen(f->path) + strlen(name) + strlen(ending) + 1;
  char *path = malloc(room);
  if (path) {
    snprintf(path, room, "%s%s%s", f->path, name, ending);
  }
  return path;
}

char *folder_list_path(const folder *f, range block)
{
  char name[80];
  snprintf(name, sizeof name, FOLDER_LISTS "/%020" PRIu64 "-%020" PRIu64, block.first, block.end);
  return folder_file(f, name, ".npz");
}

/* An error of the given folder, including a full disk. Its content is retained. */
exit_code folder_fail(const char *path)
{
  const int error = errno;
  const bool full = error == ENOSPC || error == EFBIG || error == EDQUOT;
  return report(EXIT_INPUT, "%s: %s%s", path, strerror(error),
                full ? "; finished blocks stay: free disk space, then continue with --resume" : "");
}

exit_code folder_write_at(const char *path, int file, const void *bytes, size_t count, uint64_t at)
{
  const char *from = bytes;
  while (count) {
    const ssize_t put = pwrite(file, from, count, (off_t)at);
    if (put < 0 && errno != EINTR) {
      return folder_fail(path);
    }
    from += put < 0 ? 0 : put;
    at += (uint64_t)(put < 0 ? 0 : put);
    count -= (size_t)(put < 0 ? 0 : put);
  }
  return EXIT_GOOD;
}

void folder_close(folder *f)
{
  behind_end(f); /* folder_flush has reported its error, or another error has occurred */
  for (size_t i = 0; i < f->count; ++i) {
    if (f->arrays[i].file >= 0) {
      close(f->arrays[i].file);
    }
    abut_free(f->arrays[i].header);
  }
  journal_close(&f->journal);
  ranges_free(&f->gaps);
  folder_unlock(f);
  json_decref(f->manifest);
  *f = (folder){.lock = -1, .journal = {.file = -1}};
}

static exit_code put_lists(const folder *f, range block, const outputs *l)
{
  outputs lists = {0};
  for (size_t i = 0; i < l->count; ++i) {
    if (l->of[i] == OUTPUT_OF_ENTRIES) {
      lists.arrays[lists.count++] = l->arrays[i];
    }
  }
  char *path = folder_list_path(f, block);
  if (!path) {
    return report(EXIT_RUN, "no memory");
  }
  const abut_status status = abut_write_npz(path, lists.arrays, lists.count);
  free(path);
  report_status(status);
  return status == ABUT_SUCCESS ? EXIT_GOOD : EXIT_INPUT; /* as for a full folder */
}

exit_code folder_put(folder *f, range block, const outputs *l)
{
  for (size_t i = 0; i < f->count; ++i) {
    if (folder_has_rows(&f->arrays[i])) {
      CLI_TRY(folder_put_rows(f, &f->arrays[i], block, &l->arrays[i]));
    }
  }
  if (f->lists) {
    CLI_TRY(put_lists(f, block, l));
  }
  return behind_put(f, block);
}

exit_code folder_flush(folder *f)
{
  return behind_end(f);
}

bool folder_lost_last(const folder *f)
{
  return f->behind.lost;
}
