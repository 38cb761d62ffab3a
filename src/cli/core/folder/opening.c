#include "core/folder/arrays.h"
#include "core/folder/nfs.h"
#include "core/folder/ranks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define LOCK_NAME "abut.lock"

#define LOCK_WAIT 60.0      /* [s] */
#define LOCK_EVERY 20000000 /* [ns] */
/* Largest share of the free disk space that is used without --yes. */
#define SHARE_MOST 0.1

/* File names reach the disk with their folder; not every file system supports this sync. */
static void sync_folder(const char *path)
{
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    fsync(file);
    close(file);
  }
}

/* Checks that there is space for all arrays, before they are created. */
static exit_code check_room(const folder *f, const options *o)
{
  struct statvfs disk;
  double bytes = 0.0;
  for (size_t i = 0; i < f->count; ++i) {
    bytes += folder_has_rows(&f->arrays[i]) ? (double)folder_data_bytes(&f->arrays[i]) : 0.0;
  }
  if (o->value[OPTION_YES] || statvfs(f->path, &disk) != 0) {
    return EXIT_GOOD;
  }
  const double room = (double)disk.f_bavail * (double)disk.f_frsize;
  return bytes <= SHARE_MOST * room ? EXIT_GOOD
                                    : report(EXIT_INPUT,
                                             "%s: the results need %.3g GB, and %.3g GB are free "
                                             "there; use --yes to write them%s",
                                             f->path, 1e-9 * bytes, 1e-9 * room,
                                             o->command->bit == COMMAND_CONTACTS
                                               ? ", or --compact T to keep only the active contacts"
                                               : "");
}

static exit_code make_lists(const folder *f)
{
  char *path = folder_file(f, FOLDER_LISTS, "");
  exit_code code = path ? EXIT_GOOD : report(EXIT_RUN, "no memory");
  if (code == EXIT_GOOD && f->lists && mkdir(path, 0777) != 0 && errno != EEXIST) {
    code = folder_fail(path);
  }
  free(path);
  return code;
}

/* The manifest is written last: a folder without one has not been started. */
static exit_code make(const folder *f, const outputs *described)
{
  for (size_t i = 0; i < f->count; ++i) {
    if (f->arrays[i].of != OUTPUT_OF_ENTRIES) {
      CLI_TRY(folder_make_array(f, &f->arrays[i], described->arrays[i].data));
    }
  }
  CLI_TRY(make_lists(f));
  sync_folder(f->path);
  return manifest_write(f->path, f->manifest);
}

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
      code = report(EXIT_INPUT, "%s: another process has locked it for a minute", path);
    } else {
      nanosleep(&(struct timespec){0, LOCK_EVERY}, NULL);
    }
  }
  if (code == EXIT_GOOD) { /* refresh what the previous holder has created */
    nfs_look_again(f->path);
  }
  free(path);
  return code;
}

void folder_unlock(folder *f)
{
  if (f->lock >= 0) {
    close(f->lock);
    f->lock = -1;
  }
}

/* Foreign files are not touched. The lock is created before everything else, so that a process that
 * sees any other file of an unfinished folder finds the lock, too. */
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
           : report(EXIT_INPUT,
                    "%s: contains other files and no manifest.json; use a new or empty folder",
                    f->path);
}

/* Sets whether any journal is of a rank. Otherwise checks that all parts have the same number of
 * parts, because another number would split the poses differently. */
static exit_code check_parts(const folder *f, const journal_of *parts, size_t count,
                             uint64_t shards, bool sharded, bool *ranks)
{
  *ranks = count && parts[count - 1].rank;
  if (*ranks && sharded) {
    return report(EXIT_INPUT,
                  "%s: was started by MPI ranks; continue with --resume without --shard, with one "
                  "process or any number of ranks",
                  f->path);
  }
  for (size_t i = 0; i < count && !*ranks; ++i) {
    if (parts[i].shards != shards) {
      return report(EXIT_INPUT,
                    "%s: was started in %" PRIu64 " part%s, not in %" PRIu64
                    ", according to %s%s; continue with %s%" PRIu64
                    ", or remove the folder or use another one to choose other parts",
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
    return report(EXIT_INPUT,
                  "%s: was already started; use --resume to compute only the missing rows",
                  j->path);
  }
  return !j->begun || j->inputs == manifest_inputs(f->manifest)
           ? EXIT_GOOD
           : report(EXIT_INPUT, "%s: was started with other inputs than those in %smanifest.json",
                    j->path, f->path);
}

/* Adds the work of others, none of which may be running: this acquires and releases their lock. */
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
  /* the first rank has checked all */
  CLI_TRY(of.rank ? EXIT_GOOD : check_begun(f, &f->journal, o));
  CLI_TRY(journal_begin(&f->journal, manifest_inputs(f->manifest), device));
  sync_folder(f->path);
  return EXIT_GOOD;
}

/* Finds the missing poses of a part; ranks may have done some of them. */
static exit_code find_gaps(folder *f, ranges *done, range whole)
{
  for (size_t i = 0; i < f->journal.done.count; ++i) {
    CLI_TRY(ranges_add(done, f->journal.done.at[i]));
  }
  ranges_sort(done);
  return ranges_gaps(done, whole, &f->gaps);
}

/* Opens this process's own journal, and reads those of others. A rank opens its own later. */
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

/* Called under the lock: the first process creates the folder, the others find it. */
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
             : report(EXIT_INPUT, "%s: is already complete; use another folder", f->path);
  }
  code = journal_list(f->path, &parts, &count);
  code = code == EXIT_GOOD ? join_part(f, o, device, parts, count) : code;
  free(parts);
  CLI_TRY(code);
  return ranks_started() ? EXIT_GOOD : folder_open_arrays(f);
}

/* A complete folder has no lock, and gets none. Checks that a folder without a manifest can be
 * used. */
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
             ? report(EXIT_INPUT, "%s: is already complete; use another folder", f->path)
             : code;
  }
  json_decref(there);
  return code;
}

/* Creates or joins the folder; the lock is retained. */
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
  if (*complete) { /* it became complete after the first look; a complete folder has no lock */
    folder_unlock(f);
    char *lock = folder_file(f, LOCK_NAME, "");
    if (lock) {
      unlink(lock);
    }
    free(lock);
  }
  return code;
}

/* ---- ranks ---- */

/* Checks that all ranks have the same version of abut and read the same inputs. */
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
               : report(EXIT_RUN, "not enough memory for a manifest");
  json_decref(there);
  return ranks_agree(code);
}

static exit_code share_gaps(folder *f)
{
  size_t bytes = f->gaps.count * sizeof *f->gaps.at;
  if (ranks_own() == 0 && !bytes) {
    CLI_TRY(ranges_add(&f->gaps, (range){0})); /* a valid pointer, without poses */
    bytes = sizeof *f->gaps.at;
  }
  void *at = f->gaps.at;
  const exit_code code = ranks_broadcast(&at, &bytes);
  f->gaps.at = at;
  f->gaps.count = f->gaps.room = bytes / sizeof *f->gaps.at;
  return code;
}

/* The first rank creates the folder and finds what is missing, which is the same for all ranks.
 * Then each rank opens its own journal. */
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
  CLI_TRY(ranks_agree(folder_take_arrays(f, described)));
  const exit_code code = ranks_started() ? open_by_ranks(f, o, described, device, complete)
                                         : make_or_join(f, o, described, device, complete);
  folder_unlock(f);
  return code;
}
