#include "core/folder/folder.h"

#include "base/array_type.h"
#include "core/folder/nfs.h"
#include "core/folder/ranks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define LOCK_NAME "abut.lock"
#define LISTS_NAME "lists"
#define LOCK_WAIT 60.0      /* [s] */
#define LOCK_EVERY 20000000 /* [ns] */
/* Of the free disk that is taken without being asked for by name. */
#define SHARE_MOST 0.1

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
                         "--shard: `%s` is not I/N, part I of the N parts 0 to N - 1, at most %d",
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
           ? report(EXIT_INPUT, "%s: is there, and is no folder", path)
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
      return usage_error(o->command, "%s is of a folder of results, -o %s/, whose name ends with /",
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
  snprintf(name, sizeof name, LISTS_NAME "/%020" PRIu64 "-%020" PRIu64, block.first, block.end);
  return folder_file(f, name, ".npz");
}

/* What is wrong with the folder that was given: a disk that is full, too. What is on it stays. */
exit_code folder_fail(const char *path)
{
  const int error = errno;
  const bool full = error == ENOSPC || error == EFBIG || error == EDQUOT;
  return report(EXIT_INPUT, "%s: %s%s", path, strerror(error),
                full ? "; blocks that are done stay, and --resume goes on once there is room" : "");
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

/* Names reach the disk with the folder that they are in; not every file system can say so. */
static void sync_folder(const char *path)
{
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    fsync(file);
    close(file);
  }
}

/* ---- arrays ---- */

/* Which dimension the poses, or entries, are. */
static uint32_t folder_axis(output_of of)
{
  return of == OUTPUT_OF_STATES ? 1 : 0;
}

/* Whether it has a row for each pose. */
static bool folder_has_rows(const folder_array *a)
{
  return a->of == OUTPUT_OF_POSES || a->of == OUTPUT_OF_STATES;
}

/* Of all of it, behind the header. */
static uint64_t data_bytes(const folder_array *a)
{
  return (uint64_t)a->row_bytes * a->about.shape[folder_axis(a->of)] * a->states;
}

/* Shapes as the whole folder has them. */
static exit_code take_arrays(folder *f, const outputs *l)
{
  for (size_t i = 0; i < l->count; ++i) {
    folder_array *a = &f->arrays[f->count];
    *a = (folder_array){.about = l->arrays[i], .of = l->of[i], .states = 1, .file = -1};
    const uint32_t axis = folder_axis(a->of);
    f->lists = f->lists || a->of == OUTPUT_OF_ENTRIES;
    if (axis) {
      a->states = a->about.shape[0];
    }
    if (folder_has_rows(a)) {
      a->about.shape[axis] = (size_t)f->poses;
    }
    a->row_bytes = array_type_bytes(a->about.type);
    for (uint32_t k = axis + 1; k < a->about.dimensions; ++k) {
      if (!multiply(a->row_bytes, a->about.shape[k], 1, &a->row_bytes)) {
        return report(EXIT_INPUT, "%s: array '%s' is too large", f->path, a->about.name);
      }
    }
    ++f->count;
    CLI_TRY(report_status(abut_format_npy_header(&a->about, &a->header, &a->header_bytes)));
  }
  return EXIT_GOOD;
}

exit_code folder_describe(folder *f)
{
  outputs l = {0};
  CLI_TRY(manifest_arrays(f->path, f->manifest, &l));
  return take_arrays(f, &l);
}

/* All of an array that does not grow with the poses, else its header and room for its rows. */
static exit_code make_array(const folder *f, const folder_array *a, const void *data)
{
  char *path = folder_file(f, a->about.name, ".npy");
  const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  const uint64_t bytes = data_bytes(a);
  exit_code code = !path ? report(EXIT_RUN, "no memory") : file < 0 ? folder_fail(path) : EXIT_GOOD;
  code = code == EXIT_GOOD ? folder_write_at(path, file, a->header, a->header_bytes, 0) : code;
  if (code == EXIT_GOOD && a->of == OUTPUT_ONCE) {
    code = folder_write_at(path, file, data, (size_t)bytes, a->header_bytes);
  }
  if (code == EXIT_GOOD &&
      (ftruncate(file, (off_t)(a->header_bytes + bytes)) != 0 || fsync(file) != 0)) {
    code = folder_fail(path);
  }
  if (file >= 0) {
    close(file);
  }
  free(path);
  return code;
}

/* Before it is made: what all of it will take. */
static exit_code check_room(const folder *f, const options *o)
{
  struct statvfs disk;
  double bytes = 0.0;
  for (size_t i = 0; i < f->count; ++i) {
    bytes += folder_has_rows(&f->arrays[i]) ? (double)data_bytes(&f->arrays[i]) : 0.0;
  }
  if (o->value[OPTION_YES] || statvfs(f->path, &disk) != 0) {
    return EXIT_GOOD;
  }
  const double room = (double)disk.f_bavail * (double)disk.f_frsize;
  return bytes <= SHARE_MOST * room
           ? EXIT_GOOD
           : report(EXIT_INPUT,
                    "%s: %.3g GB to write, of %.3g GB that are free there; --yes takes them%s",
                    f->path, 1e-9 * bytes, 1e-9 * room,
                    o->command->bit == COMMAND_CONTACTS
                      ? ", --compact T keeps the active contacts alone"
                      : "");
}

static exit_code make_lists(const folder *f)
{
  char *path = folder_file(f, LISTS_NAME, "");
  exit_code code = path ? EXIT_GOOD : report(EXIT_RUN, "no memory");
  if (code == EXIT_GOOD && f->lists && mkdir(path, 0777) != 0 && errno != EEXIST) {
    code = folder_fail(path);
  }
  free(path);
  return code;
}

/* The manifest comes last: a folder without one has not begun. */
static exit_code make(const folder *f, const outputs *described)
{
  for (size_t i = 0; i < f->count; ++i) {
    if (f->arrays[i].of != OUTPUT_OF_ENTRIES) {
      CLI_TRY(make_array(f, &f->arrays[i], described->arrays[i].data));
    }
  }
  CLI_TRY(make_lists(f));
  sync_folder(f->path);
  return manifest_write(f->path, f->manifest);
}

/* That a file is as its array says: it was not cut short, nor is it another's. */
static exit_code check_array(const folder_array *a, const char *path)
{
  struct stat about;
  char *header = malloc(a->header_bytes);
  const uint64_t bytes = a->header_bytes + data_bytes(a);
  exit_code code = header ? EXIT_GOOD : report(EXIT_RUN, "no memory");
  if (code == EXIT_GOOD && fstat(a->file, &about) != 0) {
    code = folder_fail(path);
  } else if (code == EXIT_GOOD &&
             ((uint64_t)about.st_size != bytes ||
              pread(a->file, header, a->header_bytes, 0) != (ssize_t)a->header_bytes ||
              memcmp(header, a->header, a->header_bytes) != 0)) {
    code = report(EXIT_INPUT, "%s: is not the array that the manifest describes", path);
  }
  free(header);
  return code;
}

exit_code folder_open_arrays(folder *f)
{
  for (size_t i = 0; i < f->count; ++i) {
    folder_array *a = &f->arrays[i];
    if (a->of == OUTPUT_OF_ENTRIES) {
      continue;
    }
    char *path = folder_file(f, a->about.name, ".npy");
    a->file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    const exit_code code = !path         ? report(EXIT_RUN, "no memory")
                           : a->file < 0 ? folder_fail(path)
                                         : check_array(a, path);
    a->on_nfs = a->file >= 0 && nfs_has(a->file);
    free(path);
    CLI_TRY(code);
  }
  return EXIT_GOOD;
}

/* ---- opening ---- */

exit_code folder_lock(folder *f)
{
  char *path = folder_file(f, LOCK_NAME, "");
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  const double start = now();
  f->lock = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
  exit_code code = !path         ? report(EXIT_RUN, "no memory")
                   : f->lock < 0 ? folder_fail(path)
                                 : EXIT_GOOD;
  while (code == EXIT_GOOD && fcntl(f->lock, F_SETLK, &whole) != 0) {
    if (errno != EACCES && errno != EAGAIN) {
      code = folder_fail(path);
    } else if (now() - start > LOCK_WAIT) {
      code = report(EXIT_INPUT, "%s: another process has held it for a minute", path);
    } else {
      nanosleep(&(struct timespec){0, LOCK_EVERY}, NULL);
    }
  }
  if (code == EXIT_GOOD) { /* at what whoever had it has made */
    nfs_look_again(f->path);
  }
  free(path);
  return code;
}

static void unlock(folder *f)
{
  if (f->lock >= 0) {
    close(f->lock);
    f->lock = -1;
  }
}

/* What is not abut's stays alone. The lock is made before all else, so that whoever sees another
 * file of a folder that is being made finds it, too. */
static exit_code check_empty(const folder *f)
{
  DIR *d = opendir(f->path);
  bool empty = true;
  if (!d) {
    return folder_fail(f->path);
  }
  for (const struct dirent *e; empty && (e = readdir(d));) {
    empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
  }
  closedir(d);
  char *lock = folder_file(f, LOCK_NAME, "");
  const bool ours = lock && access(lock, F_OK) == 0;
  free(lock);
  return empty || ours
           ? EXIT_GOOD
           : report(EXIT_INPUT, "%s: has other files, and no manifest.json of abut's", f->path);
}

/* Whether any journal is of a rank; else that all parts are of one number: another would cut
 * otherwise. */
static exit_code check_parts(const folder *f, const journal_of *parts, size_t count,
                             uint64_t shards, bool sharded, bool *ranks)
{
  *ranks = count && parts[count - 1].rank;
  if (*ranks && sharded) {
    return report(
      EXIT_INPUT,
      "%s: was begun by ranks of MPI; --resume without --shard goes on, by one process or by any "
      "number of ranks",
      f->path);
  }
  for (size_t i = 0; i < count && !*ranks; ++i) {
    if (parts[i].shards != shards) {
      return report(EXIT_INPUT,
                    "%s: was begun in %" PRIu64 " part%s, not in %" PRIu64
                    ", as %s%s says; go on with %s%" PRIu64
                    ", or, to cut it otherwise, remove the folder or name another",
                    f->path, parts[i].shards, parts[i].shards == 1 ? "" : "s", shards, f->path,
                    journal_name_of(parts[i]).text,
                    parts[i].shards == 1 ? "--shard 0/" : "--shard I/", parts[i].shards);
    }
  }
  return EXIT_GOOD;
}

static exit_code check_begun(const folder *f, const journal *j, const options *o)
{
  if (j->begun && !o->value[OPTION_RESUME]) {
    return report(EXIT_INPUT, "%s: was begun already; --resume goes on, with what is missing alone",
                  j->path);
  }
  return !j->begun || j->inputs == manifest_inputs(f->manifest)
           ? EXIT_GOOD
           : report(EXIT_INPUT, "%s: was begun with other inputs than %smanifest.json says",
                    j->path, f->path);
}

/* What others have done, none of whom may be at work: a lock is asked for, and given back. */
static exit_code add_done(const folder *f, const options *o, journal_of of, ranges *done)
{
  journal j;
  exit_code code = journal_open(&j, f->path, of, false);
  code = code == EXIT_GOOD ? check_begun(f, &j, o) : code;
  for (size_t i = 0; i < j.done.count && code == EXIT_GOOD; ++i) {
    code = ranges_add(done, j.done.at[i]);
  }
  journal_close(&j);
  return code;
}

static exit_code open_journal(folder *f, const options *o, const char *device, journal_of of)
{
  CLI_TRY(journal_open(&f->journal, f->path, of, true));
  /* of ranks the first has looked at all */
  CLI_TRY(of.rank ? EXIT_GOOD : check_begun(f, &f->journal, o));
  CLI_TRY(journal_begin(&f->journal, manifest_inputs(f->manifest), device));
  sync_folder(f->path);
  return EXIT_GOOD;
}

/* What is missing of a part, of whose poses ranks may have done some. */
static exit_code find_gaps(folder *f, ranges *done, range whole)
{
  for (size_t i = 0; i < f->journal.done.count; ++i) {
    CLI_TRY(ranges_add(done, f->journal.done.at[i]));
  }
  ranges_sort(done);
  return ranges_gaps(done, whole, &f->gaps);
}

/* Journals: this process's own, and what others have done. A rank opens its own later. */
static exit_code join_part(folder *f, const options *o, const char *device, const journal_of *parts,
                           size_t count)
{
  const bool several = ranks_started();
  journal_of own = {.rank = false};
  ranges done = {0};
  bool ranks = several;
  CLI_TRY(folder_part(o, &own.shard, &own.shards));
  CLI_TRY(several
            ? EXIT_GOOD
            : check_parts(f, parts, count, own.shards, o->value[OPTION_SHARD] != NULL, &ranks));
  exit_code code = EXIT_GOOD;
  for (size_t i = 0; i < count && ranks && code == EXIT_GOOD; ++i) {
    const bool is_own = !several && !parts[i].rank && parts[i].shard == own.shard &&
                        parts[i].shards == own.shards;
    code = is_own ? EXIT_GOOD : add_done(f, o, parts[i], &done);
  }
  code = code == EXIT_GOOD && !several ? open_journal(f, o, device, own) : code;
  code = code == EXIT_GOOD ? find_gaps(f, &done, range_of_part(f->poses, own.shard, own.shards))
                           : code;
  ranges_free(&done);
  return code;
}

/* With the lock: who comes first makes the folder, the others find it made. */
static exit_code join(folder *f, const options *o, const outputs *described, const char *device,
                      bool *complete)
{
  json_t *there = NULL;
  journal_of *parts = NULL;
  size_t count = 0;
  CLI_TRY(manifest_read(f->path, &there));
  exit_code code = EXIT_GOOD;
  if (there) {
    code = manifest_compare_folder(f->path, there, f->manifest);
    *complete = code == EXIT_GOOD && manifest_is_complete(there);
    json_decref(there);
  } else {
    code = make(f, described);
  }
  CLI_TRY(code);
  if (*complete) {
    return o->value[OPTION_RESUME]
             ? EXIT_GOOD
             : report(EXIT_INPUT, "%s: is complete already; name another folder", f->path);
  }
  code = journal_list(f->path, &parts, &count);
  code = code == EXIT_GOOD ? join_part(f, o, device, parts, count) : code;
  free(parts);
  CLI_TRY(code);
  return ranks_started() ? EXIT_GOOD : folder_open_arrays(f);
}

/* A folder that is complete has no lock, and gets none; one that is not there yet must be able to
 * become one. */
static exit_code look_first(const folder *f, const options *o, bool *complete)
{
  json_t *there = NULL;
  CLI_TRY(manifest_read(f->path, &there));
  exit_code code = EXIT_GOOD;
  if (!there) {
    code = check_empty(f);
    code = code == EXIT_GOOD ? check_room(f, o) : code;
  } else if (manifest_is_complete(there)) {
    code = manifest_compare_folder(f->path, there, f->manifest);
    *complete = code == EXIT_GOOD;
    code = code == EXIT_GOOD && !o->value[OPTION_RESUME]
             ? report(EXIT_INPUT, "%s: is complete already; name another folder", f->path)
             : code;
  }
  json_decref(there);
  return code;
}

/* Makes it, or finds it made; the lock stays. */
static exit_code make_or_join(folder *f, const options *o, const outputs *described,
                              const char *device, bool *complete)
{
  const bool made = mkdir(f->path, 0777) == 0;
  if (!made && errno != EEXIST) {
    return folder_fail(f->path);
  }
  exit_code code = look_first(f, o, complete);
  if (code != EXIT_GOOD && made) {
    rmdir(f->path);
  }
  if (code != EXIT_GOOD || *complete) {
    return code;
  }
  CLI_TRY(folder_lock(f));
  code = join(f, o, described, device, complete);
  if (*complete) { /* since it was looked at first: a complete folder has no lock */
    unlock(f);
    char *lock = folder_file(f, LOCK_NAME, "");
    if (lock) {
      unlink(lock);
    }
    free(lock);
  }
  return code;
}

/* ---- ranks ---- */

/* That all are of one version of abut and have the same inputs, wherever each has read them. */
static exit_code compare_ranks(const folder *f)
{
  char *text = NULL;
  size_t bytes = 0;
  if (ranks_own() == 0) {
    text = json_dumps(f->manifest, JSON_COMPACT);
    bytes = text ? strlen(text) + 1 : 0;
  }
  void *first = text;
  exit_code code = ranks_broadcast(&first, &bytes);
  json_t *there = code == EXIT_GOOD ? json_loads(first, 0, NULL) : NULL;
  free(first);
  CLI_TRY(code);
  code = there ? manifest_compare("rank 0 has", there, f->manifest)
               : report(EXIT_RUN, "no memory for a manifest");
  json_decref(there);
  return ranks_agree(code);
}

static exit_code share_gaps(folder *f)
{
  size_t bytes = f->gaps.count * sizeof *f->gaps.at;
  if (ranks_own() == 0 && !bytes) {
    CLI_TRY(ranges_add(&f->gaps, (range){0})); /* memory to point to; without poses */
    bytes = sizeof *f->gaps.at;
  }
  void *at = f->gaps.at;
  const exit_code code = ranks_broadcast(&at, &bytes);
  f->gaps.at = at;
  f->gaps.count = f->gaps.room = bytes / sizeof *f->gaps.at;
  return code;
}

/* The first makes the folder and finds what is missing, which is the same for all; then each opens
 * its own journal. */
static exit_code open_by_ranks(folder *f, const options *o, const outputs *described,
                               const char *device, bool *complete)
{
  const journal_of own = {ranks_own(), ranks_count(), true};
  CLI_TRY(compare_ranks(f));
  CLI_TRY(
    ranks_agree(ranks_own() == 0 ? make_or_join(f, o, described, device, complete) : EXIT_GOOD));
  *complete = ranks_from_first(*complete) != 0;
  if (*complete) {
    return EXIT_GOOD;
  }
  CLI_TRY(share_gaps(f));
  exit_code code = open_journal(f, o, device, own);
  return ranks_agree(code == EXIT_GOOD ? folder_open_arrays(f) : code);
}

exit_code folder_open(folder *f, const options *o, json_t *manifest, const outputs *described,
                      const char *device, bool *complete)
{
  *f = (folder){.path = o->value[OPTION_OUTPUT],
                .manifest = manifest,
                .poses = manifest_poses(manifest),
                .lock = -1};
  f->journal.file = -1;
  *complete = false;
  CLI_TRY(ranks_agree(take_arrays(f, described)));
  const exit_code code = ranks_started() ? open_by_ranks(f, o, described, device, complete)
                                         : make_or_join(f, o, described, device, complete);
  unlock(f);
  return code;
}

void folder_close(folder *f)
{
  behind_end(f); /* what it fails with was asked for by folder_flush, or something else has
                    failed */
  for (size_t i = 0; i < f->count; ++i) {
    if (f->arrays[i].file >= 0) {
      close(f->arrays[i].file);
    }
    abut_free(f->arrays[i].header);
  }
  journal_close(&f->journal);
  ranges_free(&f->gaps);
  unlock(f);
  json_decref(f->manifest);
  *f = (folder){.lock = -1, .journal = {.file = -1}};
}

/* ---- blocks ---- */

/* Beside what processes of other machines write at the same time. */
static exit_code put_row(const char *path, const folder_array *a, const void *bytes, size_t count,
                         uint64_t at)
{
  if (!a->on_nfs || !count) {
    return folder_write_at(path, a->file, bytes, count, at);
  }
  if (!nfs_lock(a->file, count, at)) {
    return folder_fail(path);
  }
  const exit_code code = folder_write_at(path, a->file, bytes, count, at);
  return nfs_unlock(a->file, count, at) || code != EXIT_GOOD ? code : folder_fail(path);
}

static exit_code put_rows(const folder *f, const folder_array *a, range block,
                          const abut_array *from)
{
  const uint64_t rows = block.end - block.first;
  const size_t there = from->shape[folder_axis(a->of)], bytes = (size_t)rows * a->row_bytes;
  exit_code code = EXIT_GOOD;
  if (there != rows) {
    return report(EXIT_RUN, "array '%s' has %zu rows of a block of %" PRIu64, a->about.name, there,
                  rows);
  }
  char *path = folder_file(f, a->about.name, ".npy");
  if (!path) {
    return report(EXIT_RUN, "no memory");
  }
  for (size_t i = 0; i < a->states && code == EXIT_GOOD; ++i) {
    code = put_row(path, a, (const char *)from->data + i * bytes, bytes,
                   a->header_bytes + (i * f->poses + block.first) * a->row_bytes);
  }
  free(path);
  return code;
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
  return status == ABUT_SUCCESS ? EXIT_GOOD : EXIT_INPUT; /* as all of a folder that takes no
                                                             more */
}

exit_code folder_put(folder *f, range block, const outputs *l)
{
  for (size_t i = 0; i < f->count; ++i) {
    if (folder_has_rows(&f->arrays[i])) {
      CLI_TRY(put_rows(f, &f->arrays[i], block, &l->arrays[i]));
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
