#include "device/cache_folder.h"

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

#define SUFFIX ".program"
#define NAME_LENGTH (32 + sizeof SUFFIX - 1)
#define TEMPORARY ".writing-"
#define ABANDONED 3600  /* s: no process writes one entry for as long */
#define MOST_REMOVED 64 /* in one go, where a folder has grown by other means */

const cache_limits cache_default_limits = {128, (uint64_t)256 << 20};

/* ---- keys and checksums ---- */

#define FNV_BASIS 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

/* FNV-1a, and beside it a hash that turns and multiplies otherwise: 128 bits together. */
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
  const size_t count = strlen(text) + 1; /* the end of a text counts too */
  mix(key->half, (const unsigned char *)text, count);
  key->bytes += count;
}

static uint64_t checksum(const unsigned char *bytes, size_t count)
{
  uint64_t half[2] = {FNV_BASIS, 1};
  mix(half, bytes, count);
  return half[0] ^ half[1];
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

char *cache_folder_path(void)
{
  const char *own = getenv("ABUT_CACHE_DIR");
  if (own) {
    return *own && strcmp(own, "off") != 0 ? joined(own, "", "") : NULL;
  }
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (base && *base == '/') { /* a relative one does not count, by its specification */
    return joined(base, "/abut", "");
  }
  return home && *home ? joined(home, "/.cache", "/abut") : NULL;
}

char *cache_folder_file(const char *folder, const cache_key *key)
{
  char name[NAME_LENGTH + 1];
  snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64 SUFFIX, key->half[0], key->half[1]);
  return joined(folder, "/", name);
}

/* No more than the last two: a home that is not there is not made. */
static void make_folder(const char *folder)
{
  char *parent = joined(folder, "", "");
  char *slash = parent ? strrchr(parent, '/') : NULL;
  if (slash && slash != parent) {
    *slash = '\0';
    mkdir(parent, 0700);
  }
  free(parent);
  mkdir(folder, 0700);
}

/* ---- one entry ---- */

/* In the machine's own byte order: another's is not this magic. */
typedef struct header {
  uint64_t magic;
  cache_key key;
  uint64_t bytes;
  uint64_t checksum;
} header;

_Static_assert(sizeof(header) == 6 * sizeof(uint64_t), "a header is written as it lies in memory");

#define MAGIC 0x3130676f72706261u /* "abprog01": the number is the format's */

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

static bool read_entry(int file, const cache_key *key, unsigned char **content, size_t *bytes)
{
  struct stat info;
  header h;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || !read_all(file, &h, sizeof h) ||
      h.magic != MAGIC || memcmp(&h.key, key, sizeof *key) != 0 ||
      h.bytes > cache_default_limits.bytes || (uint64_t)info.st_size != sizeof h + h.bytes) {
    return false;
  }
  *bytes = (size_t)h.bytes;
  *content = malloc(*bytes + 1);
  return *content && read_all(file, *content, *bytes) && checksum(*content, *bytes) == h.checksum;
}

bool cache_folder_read(const char *folder, const cache_key *key, unsigned char **content,
                       size_t *bytes)
{
  *content = NULL;
  char *path = cache_folder_file(folder, key);
  /* O_NONBLOCK: a pipe of that name shall not hold anyone up. */
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  free(path);
  if (file < 0) {
    return false;
  }
  const bool good = read_entry(file, key, content, bytes);
  if (good) {
    futimens(file, NULL); /* used now; it does not matter where that may not be written */
  } else {
    free(*content);
    *content = NULL;
  }
  close(file);
  return good;
}

/* ---- how much there is ---- */

static bool ends_with(const char *text, size_t length, const char *end)
{
  return strcmp(text + length - strlen(end), end) == 0;
}

static bool is_entry(const char *name)
{
  return strlen(name) == NAME_LENGTH && ends_with(name, NAME_LENGTH, SUFFIX) &&
         strspn(name, "0123456789abcdef") == 32;
}

typedef struct census {
  size_t entries;
  uint64_t bytes;
  char oldest[NAME_LENGTH + 1]; /* empty: none that may go */
  struct timespec used;
} census;

static bool earlier(const struct timespec *a, const struct timespec *b)
{
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void count_entry(census *c, const char *name, const char *keep, const struct stat *info)
{
  if (strcmp(name, keep) != 0 && (!*c->oldest || earlier(&info->st_mtim, &c->used))) {
    memcpy(c->oldest, name, sizeof c->oldest);
    c->used = info->st_mtim;
  }
  ++c->entries;
  c->bytes += (uint64_t)info->st_size;
}

/* Counts entries, and removes what processes that were killed have left. The entry `keep` may not
 * go: times are too coarse to say that it is the newest. */
static census take_census(DIR *folder, const char *keep)
{
  census c = {0};
  const int at = dirfd(folder);
  const time_t now = time(NULL);
  rewinddir(folder);
  for (const struct dirent *d = readdir(folder); d; d = readdir(folder)) {
    struct stat info;
    const bool left = strncmp(d->d_name, TEMPORARY, sizeof TEMPORARY - 1) == 0;
    if ((!left && !is_entry(d->d_name)) ||
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

static void trim(const char *path, const char *keep, const cache_limits *limits)
{
  DIR *folder = opendir(path);
  if (!folder) {
    return;
  }
  for (int i = 0; i < MOST_REMOVED; ++i) {
    const census c = take_census(folder, keep);
    if ((c.entries <= limits->entries && c.bytes <= limits->bytes) || !*c.oldest ||
        unlinkat(dirfd(folder), c.oldest, 0) != 0) {
      break;
    }
  }
  closedir(folder);
}

/* ---- writing ---- */

void cache_folder_write(const char *folder, const cache_limits *limits, const cache_key *key,
                        const unsigned char *content, size_t bytes)
{
  if (bytes > limits->bytes) {
    return;
  }
  make_folder(folder);
  char *path = cache_folder_file(folder, key);
  char *writing = joined(folder, "/", TEMPORARY "XXXXXX");
  const int file = path && writing ? mkstemp(writing) : -1;
  if (file >= 0) {
    const header h = {MAGIC, *key, bytes, checksum(content, bytes)};
    bool good = write_all(file, &h, sizeof h) && write_all(file, content, bytes);
    good = close(file) == 0 && good;
    if (!good || rename(writing, path) != 0) {
      unlink(writing);
    } else {
      trim(folder, strrchr(path, '/') + 1, limits);
    }
  }
  free(path);
  free(writing);
}
