#include "base/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIGITS 32 /* of a key in an entry's name */
#define NAME_ROOM 64
#define TEMPORARY ".writing-"
#define ABANDONED 3600  /* s: no process writes one entry for this long */
#define MOST_REMOVED 64 /* per call, if a folder has grown by other means */

/* ---- keys and checksums ---- */

#define FNV_BASIS 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

/* Mixes with FNV-1a and with a second, different hash, which together give 128 bits. */
static void mix(uint64_t half[2], const unsigned char *bytes, size_t count)
{
  uint64_t a = half[0], b = half[1];
  for (size_t i = 0; i < count; ++i) {
    a = (a ^ bytes[i]) * FNV_PRIME;
    b = ((b << 7 | b >> 57) ^ bytes[i]) * 0x9e3779b97f4a7c15u;
  }
  half[0] = a;
  half[1] = b ^ b >> 32;
}

cache_key cache_key_begin(void)
{
  return (cache_key){{FNV_BASIS, 1}, 0};
}

void cache_key_add(cache_key *key, const char *text)
{
  const size_t count = strlen(text) + 1; /* with the terminating 0, to separate texts */
  mix(key->half, (const unsigned char *)text, count);
  key->bytes += count;
}

void cache_key_add_bytes(cache_key *key, const void *bytes, size_t count)
{
  const uint64_t length = count;
  mix(key->half, (const unsigned char *)&length, sizeof length);
  mix(key->half, bytes, count);
  key->bytes += sizeof length + count;
}

/* Returns the eight bytes starting at `at`; bytes beyond the end are 0. */
static uint64_t word_at(const unsigned char *bytes, size_t count, size_t at)
{
  uint64_t word = 0;
  memcpy(&word, bytes + at, count - at < sizeof word ? count - at : sizeof word);
  return word;
}

void cache_key_add_words(cache_key *key, const void *bytes, size_t count)
{
  const uint64_t length = count;
  mix(key->half, (const unsigned char *)&length, sizeof length);
  uint64_t a = key->half[0], b = key->half[1];
  for (size_t i = 0; i < count; i += sizeof length) {
    const uint64_t word = word_at(bytes, count, i);
    a = (a ^ word) * FNV_PRIME;
    a ^= a >> 32;
    b = ((b << 7 | b >> 57) ^ word) * 0x9e3779b97f4a7c15u;
    b ^= b >> 29;
  }
  key->half[0] = a;
  key->half[1] = b;
  key->bytes += sizeof length + count;
}

/* Processes eight bytes at a time, because contents may be large. Each step is invertible, so that
 * no difference is lost. */
static uint64_t checksum(const unsigned char *bytes, size_t count)
{
  uint64_t sum = FNV_BASIS;
  for (size_t i = 0; i < count; i += sizeof sum) {
    sum = (sum ^ word_at(bytes, count, i)) * FNV_PRIME;
    sum ^= sum >> 32;
  }
  return sum;
}

/* ---- places ---- */

static char *joined(const char *a, const char *b, const char *c)
{
  const size_t bytes = strlen(a) + strlen(b) + strlen(c) + 1;
  char *out = malloc(bytes);
  if (out) {
    snprintf(out, bytes, "%s%s%s", a, b, c);
  }
  return out;
}

static char *users_folder(void)
{
  const char *own = getenv("ABUT_CACHE_DIR");
  if (own) {
    return *own && strcmp(own, "off") != 0 ? joined(own, "", "") : NULL;
  }
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (base && *base == '/') { /* the XDG specification ignores relative paths */
    return joined(base, "/abut", "");
  }
  return home && *home ? joined(home, "/.cache", "/abut") : NULL;
}

char *cache_folder_path(const cache_kind *kind)
{
  char *users = users_folder();
  if (!users || !kind->folder) {
    return users;
  }
  char *folder = joined(users, "/", kind->folder);
  free(users);
  return folder;
}

char *cache_folder_file(const char *folder, const cache_kind *kind, const cache_key *key)
{
  char name[NAME_ROOM];
  snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64 "%s", key->half[0], key->half[1],
           kind->suffix);
  return joined(folder, "/", name);
}

/* Creates the last `levels` folders of a path. */
static void make_folder(const char *folder, int levels)
{
  char *parent = levels > 1 ? joined(folder, "", "") : NULL;
  char *slash = parent ? strrchr(parent, '/') : NULL;
  if (slash && slash != parent) {
    *slash = '\0';
    make_folder(parent, levels - 1);
  }
  free(parent);
  mkdir(folder, 0700);
}

/* ---- one entry ---- */

/* A header is in the machine's byte order; on a machine with another order the magic differs. */
typedef struct header {
  uint64_t magic;
  cache_key key;
  uint64_t bytes;
  uint64_t checksum;
} header;

_Static_assert(sizeof(header) == 6 * sizeof(uint64_t), "a header is written as it lies in memory");

#define MAGIC 0x3230676f72706261u /* "abprog02": the number is the format's version */

static bool read_all(int file, void *to, size_t bytes)
{
  unsigned char *next = to;
  while (bytes) {
    const ssize_t got = read(file, next, bytes);
    if (got <= 0 && !(got < 0 && errno == EINTR)) {
      return false;
    }
    next += got > 0 ? got : 0;
    bytes -= got > 0 ? (size_t)got : 0;
  }
  return true;
}

static bool write_all(int file, const void *from, size_t bytes)
{
  const unsigned char *next = from;
  while (bytes) {
    const ssize_t put = write(file, next, bytes);
    if (put <= 0 && !(put < 0 && errno == EINTR)) {
      return false;
    }
    next += put > 0 ? put : 0;
    bytes -= put > 0 ? (size_t)put : 0;
  }
  return true;
}

static bool read_entry(int file, const cache_kind *kind, const cache_key *key,
                       unsigned char **content, size_t *bytes)
{
  struct stat info;
  header h;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || !read_all(file, &h, sizeof h) ||
      h.magic != MAGIC || memcmp(&h.key, key, sizeof *key) != 0 || h.bytes > kind->bytes ||
      (uint64_t)info.st_size != sizeof h + h.bytes) {
    return false;
  }
  *bytes = (size_t)h.bytes;
  *content = malloc(*bytes + 1);
  return *content && read_all(file, *content, *bytes) && checksum(*content, *bytes) == h.checksum;
}

bool cache_folder_read(const char *folder, const cache_kind *kind, const cache_key *key,
                       unsigned char **content, size_t *bytes)
{
  *content = NULL;
  char *path = cache_folder_file(folder, kind, key);
  /* O_NONBLOCK prevents blocking if a pipe has that name. */
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  free(path);
  if (file < 0) {
    return false;
  }
  const bool good = read_entry(file, kind, key, content, bytes);
  if (good) {
    futimens(file, NULL); /* marks it as recently used; failure does not matter */
  } else {
    free(*content);
    *content = NULL;
  }
  close(file);
  return good;
}

/* ---- size of a folder ---- */

static bool is_entry(const char *name, const char *suffix)
{
  return strspn(name, "0123456789abcdef") == DIGITS && strcmp(name + DIGITS, suffix) == 0;
}

typedef struct census {
  size_t entries;
  uint64_t bytes;
  char oldest[NAME_ROOM]; /* empty: none that may be removed */
  struct timespec used;
} census;

static bool earlier(const struct timespec *a, const struct timespec *b)
{
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void count_entry(census *c, const char *name, const char *keep, const struct stat *info)
{
  if (strcmp(name, keep) != 0 && (!*c->oldest || earlier(&info->st_mtim, &c->used))) {
    memcpy(c->oldest, name, strlen(name) + 1); /* fits: it is an entry's name */
    c->used = info->st_mtim;
  }
  ++c->entries;
  c->bytes += (uint64_t)info->st_size;
}

/* Counts entries, and removes files left behind by killed processes. The entry `keep` may not be
 * removed: the resolution of file times is too coarse to show that it is the newest. */
static census take_census(DIR *folder, const char *suffix, const char *keep)
{
  census c = {0};
  const int at = dirfd(folder);
  const time_t now = time(NULL);
  rewinddir(folder);
  for (const struct dirent *d = readdir(folder); d; d = readdir(folder)) {
    struct stat info;
    const bool left = strncmp(d->d_name, TEMPORARY, sizeof TEMPORARY - 1) == 0;
    if ((!left && !is_entry(d->d_name, suffix)) ||
        fstatat(at, d->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) {
      continue;
    }
    if (!left) {
      count_entry(&c, d->d_name, keep, &info);
    } else if (info.st_mtim.tv_sec + ABANDONED < now) {
      unlinkat(at, d->d_name, 0);
    }
  }
  return c;
}

static void trim(const char *path, const char *keep, const cache_kind *kind)
{
  DIR *folder = opendir(path);
  if (!folder) {
    return;
  }
  for (int i = 0; i < MOST_REMOVED; ++i) {
    const census c = take_census(folder, kind->suffix, keep);
    if ((c.entries <= kind->entries && c.bytes <= kind->bytes) || !*c.oldest ||
        unlinkat(dirfd(folder), c.oldest, 0) != 0) {
      break;
    }
  }
  closedir(folder);
}

/* ---- writing ---- */

/* Does not create a missing home folder. */
void cache_folder_write(const char *folder, const cache_kind *kind, const cache_key *key,
                        const unsigned char *content, size_t bytes)
{
  if (bytes > kind->bytes) {
    return;
  }
  make_folder(folder, kind->folder ? 3 : 2);
  char *path = cache_folder_file(folder, kind, key);
  char *writing = joined(folder, "/", TEMPORARY "XXXXXX");
  const int file = path && writing ? mkstemp(writing) : -1;
  if (file >= 0) {
    const header h = {MAGIC, *key, bytes, checksum(content, bytes)};
    bool good = write_all(file, &h, sizeof h) && write_all(file, content, bytes);
    good = close(file) == 0 && good;
    if (!good || rename(writing, path) != 0) {
      unlink(writing);
    } else {
      trim(folder, strrchr(path, '/') + 1, kind);
    }
  }
  free(path);
  free(writing);
}
