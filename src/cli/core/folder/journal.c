#include "core/folder/journal.h"

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

static const char *word_of(bool rank)
{
  return rank ? "rank" : "part";
}

/* part-00003-of-00016.journal, with parts counted from 0 */
journal_name journal_name_of(journal_of of)
{
  journal_name name;
  snprintf(name.text, sizeof name.text, "%s-%05" PRIu64 "-of-%05" PRIu64 ".journal",
           word_of(of.rank), of.shard, of.shards);
  return name;
}

static char *journal_path(const char *folder, journal_of of)
{
  const journal_name name = journal_name_of(of);
  const size_t room = strlen(folder) + strlen(name.text) + 1;
  char *path = malloc(room);
  if (path) {
    snprintf(path, room, "%s%s", folder, name.text);
  }
  return path;
}

/* Parses only names in exactly the form that abut writes. */
static bool parse_name(const char *name, journal_of *of)
{
  of->rank = strncmp(name, "rank-", 5) == 0;
  if (!of->rank && strncmp(name, "part-", 5) != 0) {
    return false;
  }
  return sscanf(name + 5, "%7" SCNu64 "-of-%7" SCNu64, &of->shard, &of->shards) == 2 &&
         strcmp(name, journal_name_of(*of).text) == 0 && of->shard < of->shards &&
         of->shards <= SHARDS_MOST;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
  return (a > b) - (a < b);
}

static int compare_parts(const void *a, const void *b)
{
  const journal_of *x = a, *y = b;
  const int kind = compare_numbers(x->rank, y->rank), of = compare_numbers(x->shards, y->shards);
  return kind ? kind : of ? of : compare_numbers(x->shard, y->shard);
}

exit_code journal_list(const char *folder, journal_of **out, size_t *count)
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
    journal_of part;
    if (!parse_name(e->d_name, &part)) {
      continue;
    }
    if (*count == room) {
      room = room ? 2 * room : 64;
      journal_of *more = realloc(*out, room * sizeof *more);
      code = more ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu parts", room);
      *out = more ? more : *out;
    }
    if (code == EXIT_GOOD) {
      (*out)[(*count)++] = part;
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
  return report(EXIT_INPUT, "%s:%zu: is not a line of a journal", j->path, line);
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
    return report(EXIT_RUN, "not enough memory for the devices of %s", j->path);
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
    j->begun = sscanf(line, FIRST_LINE, &part[0], &part[1], j->version, &j->inputs, &length) == 4 &&
               length && !line[length] && part[0] == j->of.shard && part[1] == j->of.shards;
    return j->begun ? EXIT_GOOD : damaged(j, number);
  }
  if (strncmp(line, "device ", 7) == 0) {
    return add_device(j, line + 7);
  }
  return sscanf(line, "done %" SCNu64 " %" SCNu64 " %" SCNu64 " .%n", &r.first, &r.end, &r.entries,
                &length) == 3 &&
             length && !line[length] && r.first < r.end
           ? ranges_add(&j->done, r)
           : damaged(j, number);
}

/* *good: number of bytes in whole lines. */
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
    return report(EXIT_RUN, "not enough memory to read %s", j->path);
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

/* ---- lock against other processes ---- */

/* POSIX locks also work on file systems shared by several machines. They are released when the
 * process ends for any reason. */
static exit_code lock(const journal *j)
{
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(j->file, F_SETLK, &whole) == 0) {
    return EXIT_GOOD;
  }
  return errno == EACCES || errno == EAGAIN
           ? report(EXIT_INPUT,
                    "%s: another process is already computing %s %" PRIu64 " of %" PRIu64, j->path,
                    j->of.rank ? "as rank" : "part", j->of.shard, j->of.shards)
           : fail_file(j);
}

exit_code journal_open(journal *j, const char *folder, journal_of of, bool create)
{
  *j = (journal){.file = -1, .of = of};
  j->path = journal_path(folder, of);
  if (!j->path) {
    return report(EXIT_RUN, "no memory");
  }
  j->file = open(j->path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
  CLI_TRY(j->file < 0 ? fail_file(j) : EXIT_GOOD);
  CLI_TRY(lock(j));
  return read_all(j);
}

/* ---- writing ---- */

/* A line that cannot be written completely must be removed, because any later line would be
 * unreadable. */
static bool put(const journal *j, const char *line)
{
  const off_t at = lseek(j->file, 0, SEEK_CUR);
  const size_t length = strlen(line);
  errno = ENOSPC; /* for a short write */
  if (write(j->file, line, length) == (ssize_t)length && fsync(j->file) == 0) {
    return true;
  }
  const int error = errno;
  const bool cut = at >= 0 && ftruncate(j->file, at) == 0;
  (void)cut; /* otherwise half a line remains at the end, which the next reader ignores */
  errno = error;
  return false;
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
    snprintf(line, sizeof line,
             "abut journal 1 part %" PRIu64 " of %" PRIu64 " abut %s inputs %016" PRIx64 "\n",
             j->of.shard, j->of.shards, j->version, inputs);
    CLI_TRY(put(j, line) ? EXIT_GOOD : fail_file(j));
    j->begun = true;
  }
  const size_t had = j->device_count;
  CLI_TRY(add_device(j, name));
  if (j->device_count == had) {
    return EXIT_GOOD;
  }
  snprintf(line, sizeof line, "device %s\n", name);
  return put(j, line) ? EXIT_GOOD : fail_file(j);
}

bool journal_write(const journal *j, range block)
{
  char line[LINE_BYTES];
  snprintf(line, sizeof line, "done %" PRIu64 " %" PRIu64 " %" PRIu64 " .\n", block.first,
           block.end, block.entries);
  return put(j, line);
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
