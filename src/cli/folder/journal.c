#include "folder/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 512
#define FIRST_LINE "abut journal 1 part %" SCNu64 " of %" SCNu64 " abut %63s inputs %" SCNx64 "%n"

/* ---- names ---- */

/* part-00003-of-00016.journal, of parts counted from 0 */
#define NAME "part-%05" PRIu64 "-of-%05" PRIu64 ".journal"
#define NAME_BYTES 64

static char *journal_path(const char *folder, uint64_t shard, uint64_t shards)
{
  const size_t room = strlen(folder) + NAME_BYTES;
  char *path = malloc(room);
  if (path) {
    snprintf(path, room, "%s" NAME, folder, shard, shards);
  }
  return path;
}

/* Names that abut gives, and no others that read alike. */
static bool parse_name(const char *name, uint64_t out[2])
{
  char given[NAME_BYTES];
  if (sscanf(name, "part-%7" SCNu64 "-of-%7" SCNu64, &out[0], &out[1]) != 2) {
    return false;
  }
  snprintf(given, sizeof given, NAME, out[0], out[1]);
  return strcmp(name, given) == 0 && out[0] < out[1] && out[1] <= SHARDS_MOST;
}

static int compare_parts(const void *a, const void *b)
{
  const uint64_t *x = a, *y = b;
  const int of = (x[1] > y[1]) - (x[1] < y[1]);
  return of ? of : (x[0] > y[0]) - (x[0] < y[0]);
}

exit_code journal_list(const char *folder, uint64_t (**out)[2], size_t *count)
{
  DIR *d = opendir(folder);
  size_t room = 0;
  exit_code code = EXIT_GOOD;
  *out = NULL;
  *count = 0;
  if (!d) {
    return report(EXIT_INPUT, "%s: %s", folder, strerror(errno));
  }
  for (const struct dirent *e; code == EXIT_GOOD && (e = readdir(d));) {
    uint64_t part[2];
    if (!parse_name(e->d_name, part)) {
      continue;
    }
    if (*count == room) {
      room = room ? 2 * room : 64;
      uint64_t(*more)[2] = realloc(*out, room * sizeof *more);
      code = more ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu parts", room);
      *out = more ? more : *out;
    }
    if (code == EXIT_GOOD) {
      memcpy((*out)[(*count)++], part, sizeof part);
    }
  }
  closedir(d);
  if (*count) {
    qsort(*out, *count, sizeof **out, compare_parts);
  }
  return code;
}

/* ---- reading ---- */

static exit_code damaged(const journal *j, size_t line)
{
  return report(EXIT_INPUT, "%s:%zu: is no line of a journal", j->path, line);
}

static exit_code add_device(journal *j, const char *name)
{
  for (size_t i = 0; i < j->device_count; ++i) {
    if (strcmp(j->devices[i], name) == 0) {
      return EXIT_GOOD;
    }
  }
  char(*more)[256] = realloc(j->devices, (j->device_count + 1) * sizeof *more);
  if (!more) {
    return report(EXIT_RUN, "no memory for the devices of %s", j->path);
  }
  j->devices = more;
  snprintf(j->devices[j->device_count++], sizeof *more, "%s", name);
  return EXIT_GOOD;
}

static exit_code parse_line(journal *j, const char *line, size_t number)
{
  uint64_t part[2];
  range r = {0};
  int length = 0;
  if (number == 1) {
    j->begun = sscanf(line, FIRST_LINE, &part[0], &part[1], j->version, &j->inputs, &length) == 4 && length &&
               !line[length] && part[0] == j->shard && part[1] == j->shards;
    return j->begun ? EXIT_GOOD : damaged(j, number);
  }
  if (strncmp(line, "device ", 7) == 0) {
    return add_device(j, line + 7);
  }
  return sscanf(line, "done %" SCNu64 " %" SCNu64 " %" SCNu64 " .%n", &r.first, &r.end, &r.entries, &length) == 3 &&
             length && !line[length] && r.first < r.end
           ? ranges_add(&j->done, r)
           : damaged(j, number);
}

/* *good: the bytes of whole lines. */
static exit_code parse(journal *j, char *text, size_t count, size_t *good)
{
  size_t number = 0;
  *good = 0;
  for (char *at = text, *end; (end = memchr(at, '\n', (size_t)(text + count - at))); at = end + 1) {
    *end = 0;
    CLI_TRY(parse_line(j, at, ++number));
    *good = (size_t)(end + 1 - text);
  }
  return EXIT_GOOD;
}

static exit_code fail_file(const journal *j)
{
  return report(EXIT_INPUT, "%s: %s", j->path, strerror(errno));
}

static exit_code read_all(journal *j)
{
  struct stat about;
  size_t count = 0, good = 0;
  if (fstat(j->file, &about) != 0) {
    return fail_file(j);
  }
  const size_t room = (size_t)about.st_size;
  char *text = malloc(room + 1);
  if (!text) {
    return report(EXIT_RUN, "no memory to read %s", j->path);
  }
  ssize_t got = 1;
  while (count < room && got > 0) {
    got = pread(j->file, text + count, room - count, (off_t)count);
    count += got > 0 ? (size_t)got : 0;
  }
  exit_code code = got < 0 ? fail_file(j) : parse(j, text, count, &good);
  free(text);
  if (code == EXIT_GOOD && good < room && ftruncate(j->file, (off_t)good) != 0) {
    code = fail_file(j);
  }
  return code == EXIT_GOOD && lseek(j->file, 0, SEEK_END) < 0 ? fail_file(j) : code;
}

/* ---- one process alone ---- */

/* Locks of POSIX, which file systems of several machines keep, too. They end with the process, whatever ends it. */
static exit_code lock(const journal *j)
{
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(j->file, F_SETLK, &whole) == 0) {
    return EXIT_GOOD;
  }
  return errno == EACCES || errno == EAGAIN
           ? report(EXIT_INPUT, "%s: another process is computing part %" PRIu64 " of %" PRIu64, j->path, j->shard,
                    j->shards)
           : fail_file(j);
}

exit_code journal_open(journal *j, const char *folder, uint64_t shard, uint64_t shards, bool create)
{
  *j = (journal){.file = -1, .shard = shard, .shards = shards};
  j->path = journal_path(folder, shard, shards);
  if (!j->path) {
    return report(EXIT_RUN, "no memory");
  }
  j->file = open(j->path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
  CLI_TRY(j->file < 0 ? fail_file(j) : EXIT_GOOD);
  CLI_TRY(lock(j));
  return read_all(j);
}

/* ---- writing ---- */

/* A line that cannot be written whole must not stay: what comes behind it would be none. */
static exit_code put(const journal *j, const char *line)
{
  const off_t at = lseek(j->file, 0, SEEK_CUR);
  const size_t length = strlen(line);
  errno = ENOSPC; /* of a write that is short */
  if (write(j->file, line, length) == (ssize_t)length && fsync(j->file) == 0) {
    return EXIT_GOOD;
  }
  const exit_code code = fail_file(j);
  if (at < 0 || ftruncate(j->file, at) != 0) {
    return code; /* half a line at the end, which the next one to read it leaves out */
  }
  return code;
}

exit_code journal_begin(journal *j, uint64_t inputs, const char *device)
{
  char line[LINE_BYTES], name[256];
  snprintf(name, sizeof name, "%s", device);
  for (char *at = name; *at; ++at) {
    *at = (unsigned char)*at < ' ' ? '?' : *at;
  }
  if (!j->begun) {
    snprintf(j->version, sizeof j->version, "%s", abut_version());
    j->inputs = inputs;
    snprintf(line, sizeof line, "abut journal 1 part %" PRIu64 " of %" PRIu64 " abut %s inputs %016" PRIx64 "\n",
             j->shard, j->shards, j->version, inputs);
    CLI_TRY(put(j, line));
    j->begun = true;
  }
  const size_t had = j->device_count;
  CLI_TRY(add_device(j, name));
  if (j->device_count == had) {
    return EXIT_GOOD;
  }
  snprintf(line, sizeof line, "device %s\n", name);
  return put(j, line);
}

exit_code journal_add(journal *j, range block)
{
  char line[LINE_BYTES];
  snprintf(line, sizeof line, "done %" PRIu64 " %" PRIu64 " %" PRIu64 " .\n", block.first, block.end, block.entries);
  CLI_TRY(put(j, line));
  return ranges_add(&j->done, block);
}

void journal_close(journal *j)
{
  if (j->path && j->file >= 0) {
    close(j->file);
  }
  free(j->path);
  free(j->devices);
  ranges_free(&j->done);
  *j = (journal){.file = -1};
}
