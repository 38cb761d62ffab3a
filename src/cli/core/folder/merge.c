#include "core/folder/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOINING ".npy.joining"
#define NAMES_MOST 8 /* parts named in an error */

/* A block, and the owner of its journal. */
typedef struct part_block {
  range block;
  journal_of of;
} part_block;

typedef struct merging {
  folder *f;
  bool quiet;
  uint64_t parts;
  journal_of *found; /* owners of journals */
  size_t found_count;
  bool ranks; /* some journals are of ranks, which may compute any poses: it only matters that every
                 pose is done */
  part_block *blocks;
  size_t block_count, block_room;
  uint64_t entries;
  json_t *devices;
} merging;

/* ---- journals ---- */

static exit_code add_blocks(merging *m, const journal *j)
{
  for (size_t i = 0; i < j->done.count; ++i) {
    if (m->block_count == m->block_room) {
      m->block_room = m->block_room ? 2 * m->block_room : 256;
      part_block *more = realloc(m->blocks, m->block_room * sizeof *more);
      if (!more) {
        return report(EXIT_RUN, "not enough memory for %zu blocks", m->block_room);
      }
      m->blocks = more;
    }
    m->blocks[m->block_count++] = (part_block){j->done.at[i], j->of};
    m->entries += j->done.at[i].entries;
  }
  return EXIT_GOOD;
}

static exit_code add_devices(merging *m, const journal *j)
{
  for (size_t i = 0; i < j->device_count; ++i) {
    json_t *name = json_string(j->devices[i]), *there;
    size_t k = 0;
    name = name ? name : json_string("?");
    while ((there = json_array_get(m->devices, k)) &&
           strcmp(json_string_value(there), json_string_value(name)) < 0) {
      ++k;
    }
    if (there && json_equal(there, name)) {
      json_decref(name);
    } else {
      json_array_insert_new(m->devices, k, name);
    }
  }
  return EXIT_GOOD;
}

static exit_code check_journal(const merging *m, const journal *j)
{
  const char *version = manifest_version(m->f->manifest);
  if (!j->begun && m->ranks) {
    return EXIT_GOOD;
  }
  if (!j->begun) {
    return report(EXIT_INPUT, "%s: part %" PRIu64 " of %" PRIu64 " has not finished any block yet",
                  m->f->path, j->of.shard, j->of.shards);
  }
  if (strcmp(j->version, version) != 0) {
    return report(EXIT_INPUT, "%s: was written by abut %s, but the folder by abut %s", j->path,
                  j->version, version);
  }
  return j->inputs == manifest_inputs(m->f->manifest)
           ? EXIT_GOOD
           : report(EXIT_INPUT,
                    "%s: has other inputs (%016" PRIx64 ") than %smanifest.json (%016" PRIx64 ")",
                    j->path, j->inputs, m->f->path, manifest_inputs(m->f->manifest));
}

/* Journals are read one after the other, because there may be more of them than a process may open.
 * None can be continued meanwhile, because the folder is locked. */
static exit_code read_journals(merging *m)
{
  for (size_t i = 0; i < m->found_count; ++i) {
    journal j;
    exit_code code = journal_open(&j, m->f->path, m->found[i], false);
    code = code == EXIT_GOOD ? check_journal(m, &j) : code;
    code = code == EXIT_GOOD ? add_blocks(m, &j) : code;
    code = code == EXIT_GOOD ? add_devices(m, &j) : code;
    journal_close(&j);
    CLI_TRY(code);
  }
  return EXIT_GOOD;
}

/* Checks that every part has a journal, all with the same number of parts. */
static exit_code find_parts(merging *m)
{
  char names[256] = "";
  size_t used = 0, missing = 0;
  CLI_TRY(journal_list(m->f->path, &m->found, &m->found_count));
  if (!m->found_count) {
    return report(EXIT_INPUT, "%s: no part has been started", m->f->path);
  }
  m->parts = m->found[0].shards;
  m->ranks = m->found[m->found_count - 1].rank;
  if (m->ranks) {
    return EXIT_GOOD;
  }
  if (m->found[m->found_count - 1].shards != m->parts) {
    return report(EXIT_INPUT,
                  "%s: mixes a batch in %" PRIu64 " parts and a batch in %" PRIu64 " parts",
                  m->f->path, m->parts, m->found[m->found_count - 1].shards);
  }
  for (uint64_t part = 0, at = 0; part < m->parts; ++part) {
    if (at < m->found_count && m->found[at].shard == part) {
      ++at;
    } else if (++missing <= NAMES_MOST) {
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%" PRIu64,
                               missing == 1 ? "" : ", ", part);
    }
  }
  return missing
           ? report(EXIT_INPUT, "%s: has %" PRIu64 " parts, of which %zu %s not been started: %s%s",
                    m->f->path, m->parts, missing, missing == 1 ? "has" : "have", names,
                    missing > NAMES_MOST ? ", ..." : "")
           : EXIT_GOOD;
}

/* ---- blocks ---- */

static int compare(const void *a, const void *b)
{
  const part_block *x = a, *y = b;
  const int first = (x->block.first > y->block.first) - (x->block.first < y->block.first);
  return first ? first : (x->block.end > y->block.end) - (x->block.end < y->block.end);
}

static uint64_t part_of(const merging *m, uint64_t pose)
{
  uint64_t low = 0, high = m->parts;
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (range_of_part(m->f->poses, middle, m->parts).first <= pose) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static exit_code fail_gap(const merging *m, uint64_t first, uint64_t end)
{
  if (m->ranks) {
    return report(EXIT_INPUT,
                  "%s: %s %" PRIu64 " up to but not including %" PRIu64
                  " are missing; run the command again with --resume and any number of ranks",
                  m->f->path, manifest_rows(m->f->manifest), first, end);
  }
  return report(EXIT_INPUT,
                "%s: part %" PRIu64 " of %" PRIu64 " is incomplete: %s %" PRIu64
                " up to but not including %" PRIu64
                " are missing; run the command of this part again with --resume",
                m->f->path, part_of(m, first), m->parts, manifest_rows(m->f->manifest), first, end);
}

static exit_code fail_twice(const merging *m, journal_of a, journal_of b, uint64_t first,
                            uint64_t end)
{
  if (m->ranks) {
    return report(EXIT_INPUT,
                  "%s: %s and %s both contain %s %" PRIu64 " up to but not including %" PRIu64,
                  m->f->path, journal_name_of(a).text, journal_name_of(b).text,
                  manifest_rows(m->f->manifest), first, end);
  }
  return report(EXIT_INPUT,
                "%s: parts %" PRIu64 " and %" PRIu64 " of %" PRIu64 " both contain %s %" PRIu64
                " up to but not including %" PRIu64,
                m->f->path, a.shard, b.shard, m->parts, manifest_rows(m->f->manifest), first, end);
}

static exit_code check_blocks(merging *m)
{
  uint64_t at = 0;
  if (m->block_count) {
    qsort(m->blocks, m->block_count, sizeof *m->blocks, compare);
  }
  for (size_t i = 0; i < m->block_count; ++i) {
    const part_block *b = &m->blocks[i];
    if (b->block.first > at) {
      return fail_gap(m, at, b->block.first);
    }
    if (b->block.first < at) {
      return fail_twice(m, m->blocks[i - 1].of, b->of, b->block.first,
                        at < b->block.end ? at : b->block.end);
    }
    at = b->block.end;
  }
  if (at > m->f->poses) {
    return report(EXIT_INPUT,
                  "%s: %s contains %s up to but not including %" PRIu64
                  ", but there are only %" PRIu64,
                  m->f->path, journal_name_of(m->blocks[m->block_count - 1].of).text,
                  manifest_rows(m->f->manifest), at, m->f->poses);
  }
  return at < m->f->poses ? fail_gap(m, at, m->f->poses) : EXIT_GOOD;
}

/* ---- lists ---- */

/* Writes headers with the joined lengths into temporary files. */
static exit_code begin_list(merging *m, folder_array *a)
{
  abut_free(a->header);
  a->header = NULL;
  a->about.shape[0] = (size_t)m->entries;
  CLI_TRY(report_status(abut_format_npy_header(&a->about, &a->header, &a->header_bytes)));
  char *path = folder_file(m->f, a->about.name, JOINING);
  a->file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  const exit_code code = !path ? report(EXIT_RUN, "no memory")
                         : a->file < 0
                           ? folder_fail(path)
                           : folder_write_at(path, a->file, a->header, a->header_bytes, 0);
  free(path);
  return code;
}

static bool fits(const abut_array *have, const abut_array *wanted, uint64_t entries)
{
  return have->type == wanted->type && have->dimensions == wanted->dimensions &&
         have->shape[0] == entries &&
         memcmp(have->shape + 1, wanted->shape + 1,
                (wanted->dimensions - 1) * sizeof *wanted->shape) == 0;
}

static exit_code join_array(const merging *m, const folder_array *a, const char *part,
                            const abut_npz *npz, uint64_t entries, uint64_t at)
{
  for (size_t i = 0; i < npz->count; ++i) {
    if (strcmp(npz->arrays[i].name, a->about.name) == 0 &&
        fits(&npz->arrays[i], &a->about, entries)) {
      char *path = folder_file(m->f, a->about.name, JOINING);
      const exit_code code = path ? folder_write_at(path, a->file, npz->arrays[i].data,
                                                    (size_t)entries * a->row_bytes,
                                                    a->header_bytes + at * a->row_bytes)
                                  : report(EXIT_RUN, "no memory");
      free(path);
      return code;
    }
  }
  return report(EXIT_INPUT, "%s: array '%s' with %" PRIu64 " entries is missing", part,
                a->about.name, entries);
}

static exit_code join_block(const merging *m, range block, uint64_t at)
{
  abut_npz npz = {0};
  char *path = folder_list_path(m->f, block);
  exit_code code = path ? report_status(abut_read_npz(path, &npz)) : report(EXIT_RUN, "no memory");
  for (size_t i = 0; i < m->f->count && code == EXIT_GOOD; ++i) {
    if (m->f->arrays[i].of == OUTPUT_OF_ENTRIES) {
      code = join_array(m, &m->f->arrays[i], path, &npz, block.entries, at);
    }
  }
  abut_free_npz(&npz);
  free(path);
  return code;
}

/* Temporary files are renamed only when all are complete. */
static exit_code name_lists(const merging *m, bool good)
{
  exit_code code = EXIT_GOOD;
  for (size_t i = 0; i < m->f->count; ++i) {
    const folder_array *a = &m->f->arrays[i];
    char *from = a->of == OUTPUT_OF_ENTRIES ? folder_file(m->f, a->about.name, JOINING) : NULL;
    char *to = from ? folder_file(m->f, a->about.name, ".npy") : NULL;
    if (to && good && code == EXIT_GOOD) {
      code = rename(from, to) == 0 ? EXIT_GOOD : folder_fail(to);
    } else if (from) {
      unlink(from);
    }
    free(from);
    free(to);
  }
  return code;
}

static exit_code join_lists(merging *m)
{
  uint64_t at = 0;
  exit_code code = EXIT_GOOD;
  for (size_t i = 0; i < m->f->count && code == EXIT_GOOD; ++i) {
    code = m->f->arrays[i].of == OUTPUT_OF_ENTRIES ? begin_list(m, &m->f->arrays[i]) : EXIT_GOOD;
  }
  for (size_t i = 0; i < m->block_count && code == EXIT_GOOD; ++i) {
    code = join_block(m, m->blocks[i].block, at);
    at += m->blocks[i].block.entries;
  }
  for (size_t i = 0; i < m->f->count && code == EXIT_GOOD; ++i) {
    const folder_array *a = &m->f->arrays[i];
    code = a->of == OUTPUT_OF_ENTRIES && fsync(a->file) != 0 ? folder_fail(m->f->path) : EXIT_GOOD;
  }
  const exit_code named = name_lists(m, code == EXIT_GOOD);
  return code == EXIT_GOOD ? named : code;
}

/* ---- the end ---- */

static void remove_file(const folder *f, const char *name)
{
  char *path = folder_file(f, name, "");
  if (path) {
    unlink(path);
  }
  free(path);
}

/* Returns whether a file name is that of a block's entries, or of an unfinished one. */
static bool is_list(const char *name)
{
  uint64_t block[2];
  char ending[8] = "";
  int length = 0;
  const bool listed =
    sscanf(name, "%20" SCNu64 "-%20" SCNu64 ".%3s%n", &block[0], &block[1], ending, &length) == 3 &&
    length == 45 && !name[length] && strcmp(ending, "npz") == 0;
  return listed || (strncmp(name, ".abut-", 6) == 0 && ends_with(name, ".tmp"));
}

/* Removes what the folder needed until it was complete. Foreign files are retained. The lock is
 * removed last. */
static void clear(const folder *f)
{
  journal_of *parts = NULL;
  size_t count = 0;
  char *lists = folder_file(f, "lists/", ""), *at = NULL;
  DIR *d = lists ? opendir(lists) : NULL;
  for (const struct dirent *e; d && (e = readdir(d));) {
    at = folder_file(&(folder){.path = lists}, e->d_name, "");
    if (at && is_list(e->d_name)) {
      unlink(at);
    }
    free(at);
  }
  if (d) {
    closedir(d);
    rmdir(lists);
  }
  free(lists);
  if (journal_list(f->path, &parts, &count) == EXIT_GOOD) {
    for (size_t i = 0; i < count; ++i) {
      remove_file(f, journal_name_of(parts[i]).text);
    }
  }
  free(parts);
  remove_file(f, "abut.lock");
}

static exit_code say_complete(const folder *f, bool quiet)
{
  if (!quiet) {
    const char *rows = manifest_rows(f->manifest);
    printf("%s: %" PRIu64 " %.*s, complete\n", f->path, f->poses,
           (int)strlen(rows) - (f->poses == 1), rows);
  }
  return EXIT_GOOD;
}

static exit_code merge_parts(merging *m)
{
  folder *f = m->f;
  CLI_TRY(find_parts(m));
  CLI_TRY(read_journals(m));
  CLI_TRY(check_blocks(m));
  CLI_TRY(folder_open_arrays(f));
  CLI_TRY(f->lists ? join_lists(m) : EXIT_GOOD);
  CLI_TRY(manifest_complete(f->manifest, m->entries, m->devices));
  m->devices = NULL;
  CLI_TRY(manifest_write(f->path, f->manifest));
  clear(f);
  return say_complete(f, m->quiet);
}

/* Reads again under the lock, because another process may have merged it meanwhile. */
static exit_code read_manifest(folder *f)
{
  json_decref(f->manifest);
  f->manifest = NULL;
  CLI_TRY(manifest_read(f->path, &f->manifest));
  if (!f->manifest) {
    return report(EXIT_INPUT, "%s: has no manifest.json, so it is not a folder of results",
                  f->path);
  }
  f->poses = manifest_poses(f->manifest);
  return EXIT_GOOD;
}

static exit_code merge(folder *f, merging *m)
{
  CLI_TRY(read_manifest(f));
  if (!manifest_is_complete(f->manifest)) {
    CLI_TRY(folder_lock(f));
    CLI_TRY(read_manifest(f));
  }
  if (manifest_is_complete(f->manifest)) {
    clear(f); /* left behind by an interrupted merge */
    return say_complete(f, m->quiet);
  }
  CLI_TRY(folder_describe(f));
  return merge_parts(m);
}

exit_code folder_merge(const char *path, bool quiet)
{
  folder f = {.path = path, .lock = -1, .journal = {.file = -1}};
  merging m = {.f = &f, .quiet = quiet, .devices = json_array()};
  const exit_code code = merge(&f, &m);
  free(m.found);
  free(m.blocks);
  json_decref(m.devices);
  folder_close(&f);
  return code;
}

exit_code cmd_merge(const options *o)
{
  struct stat about;
  CLI_TRY(need_operands(o, 1, "a folder of results"));
  const char *path = o->operands[0];
  if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode)) {
    return report(EXIT_INPUT,
                  "%s: is a file; merge needs a folder of results, which -o FOLDER/ writes", path);
  }
  const size_t length = strlen(path);
  char *folder_path = malloc(length + 2);
  if (!folder_path) {
    return report(EXIT_RUN, "no memory");
  }
  memcpy(folder_path, path, length + 1);
  if (length && path[length - 1] != '/') {
    memcpy(folder_path + length, "/", 2);
  }
  const exit_code code = folder_merge(folder_path, o->value[OPTION_QUIET] != NULL);
  free(folder_path);
  return code;
}
