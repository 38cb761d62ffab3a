/* A folder of entries on disk: what is read is whole and of its key, whatever was done to the
 * files; nothing that fails is an error; and the folder stays small. */
#define _XOPEN_SOURCE 700
#include "cache_files.h"

#include "base/cache_folder.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONTENT = 100 };

static char scratch[64];

static const cache_kind plain = {NULL, ".entry", 128, 1 << 28};
static const cache_kind below = {"below", ".other", 1, 10000};

static cache_key key_of(const char *text)
{
  cache_key key = cache_key_begin();
  cache_key_add(&key, text);
  return key;
}

/* Bytes that follow from a number. */
static void fill(unsigned char *bytes, size_t count, unsigned number)
{
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = (unsigned char)(number + 7 * i + (i >> 8));
  }
}

static void put(const char *folder, const cache_kind *kind, const char *text, size_t count)
{
  static unsigned char content[1 << 16];
  const cache_key key = key_of(text);
  fill(content, count, (unsigned)strlen(text));
  cache_folder_write(folder, kind, &key, content, count);
}

static bool is_there(const char *folder, const char *text)
{
  const cache_key key = key_of(text);
  unsigned char *content = NULL;
  size_t bytes = 0;
  const bool there = cache_folder_read(folder, &plain, &key, &content, &bytes);
  free(content);
  return there;
}

/* ---- where ---- */

static void expect_path(const char *own, const char *base, const char *home, const char *path)
{
  static const char *const names[] = {"ABUT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  const char *values[] = {own, base, home};
  for (int i = 0; i < 3; ++i) {
    if (values[i]) {
      setenv(names[i], values[i], 1);
    } else {
      unsetenv(names[i]);
    }
  }
  char *found = cache_folder_path(&plain), *other = cache_folder_path(&below);
  char wanted[64];
  check(path ? found && !strcmp(found, path) : !found, "the folder is %s, not %s",
        found ? found : "none", path ? path : "none");
  snprintf(wanted, sizeof wanted, "%s/below", path ? path : "");
  check(path ? other && !strcmp(other, wanted) : !other, "the folder is %s, not %s",
        other ? other : "none", path ? wanted : "none");
  free(found);
  free(other);
}

static void test_places(void)
{
  expect_path("/a/b", "/c", "/d", "/a/b");
  expect_path("", "/c", "/d", NULL);
  expect_path("off", "/c", "/d", NULL);
  expect_path(NULL, "/c", "/d", "/c/abut");
  expect_path(NULL, "c", "/d", "/d/.cache/abut");
  expect_path(NULL, "", "/d", "/d/.cache/abut");
  expect_path(NULL, NULL, "/d", "/d/.cache/abut");
  expect_path(NULL, NULL, "", NULL);
  expect_path(NULL, NULL, NULL, NULL);
}

static void test_keys(void)
{
  cache_key split = key_of("ab"), other = key_of("a");
  cache_key_add(&split, "c");
  cache_key_add(&other, "bc");
  check(memcmp(split.half, other.half, sizeof split.half) != 0,
        "texts that are split otherwise have one key");
  cache_key bytes = cache_key_begin(), more = cache_key_begin();
  cache_key_add_bytes(&bytes, "a\0b", 3);
  cache_key_add_bytes(&bytes, "c", 1);
  cache_key_add_bytes(&more, "a\0", 2);
  cache_key_add_bytes(&more, "bc", 2);
  check(memcmp(bytes.half, more.half, sizeof bytes.half) != 0,
        "bytes that are split otherwise have one key");
  cache_key seen[256];
  char text[64] = "the text of a program, of which one letter is another";
  for (int i = 0; i < 256; ++i) {
    text[20] = (char)(i ? i : 1);
    text[21] = (char)(i ? 'x' : 'y');
    seen[i] = key_of(text);
    for (int j = 0; j < i; ++j) {
      check(seen[i].half[0] != seen[j].half[0] && seen[i].half[1] != seen[j].half[1],
            "letters %d and %d have one key", i, j);
    }
  }
}

/* ---- damage ---- */

static void expect(const char *folder, const cache_key *key, bool there, const char *what)
{
  unsigned char *content = NULL, right[CONTENT];
  size_t bytes = 0;
  fill(right, CONTENT, 3);
  const bool found = cache_folder_read(folder, &plain, key, &content, &bytes);
  check(found == there, "%s: the entry is %s", what, found ? "read" : "not read");
  check(there ? bytes == CONTENT && content && !memcmp(content, right, CONTENT) : !content,
        "%s: the content is wrong", what);
  free(content);
}

static void store(const char *folder, const cache_key *key)
{
  unsigned char content[CONTENT];
  fill(content, CONTENT, 3);
  cache_folder_write(folder, &plain, key, content, CONTENT);
}

/* Every length that is not the whole, every byte in two ways, and each time written anew. */
static void test_damage(void)
{
  char what[64];
  const cache_key key = key_of("damage");
  file_content whole;
  expect(scratch, &key, false, "at first");
  store(scratch, &key);
  expect(scratch, &key, true, "written");
  char *path = cache_folder_file(scratch, &plain, &key);
  if (!path || !file_take(path, &whole)) {
    return;
  }
  for (size_t i = 0; i < whole.count; ++i) {
    file_put(path, whole.bytes, i);
    snprintf(what, sizeof what, "the first %zu bytes", i);
    expect(scratch, &key, false, what);
  }
  for (size_t i = 0; i < 2 * whole.count; ++i) {
    const unsigned char mask = i < whole.count ? 1 : 0x80;
    whole.bytes[i % whole.count] ^= mask;
    file_put(path, whole.bytes, whole.count);
    snprintf(what, sizeof what, "byte %zu with %#x", i % whole.count, mask);
    expect(scratch, &key, false, what);
    whole.bytes[i % whole.count] ^= mask;
  }
  whole.bytes[whole.count] = 0;
  file_put(path, whole.bytes, whole.count + 1);
  expect(scratch, &key, false, "one byte more");
  store(scratch, &key);
  expect(scratch, &key, true, "written again");
  free(whole.bytes);
  free(path);
}

static void test_other_files(void)
{
  const cache_key key = key_of("a"), other = key_of("b");
  char *path = cache_folder_file(scratch, &plain, &key),
       *moved = cache_folder_file(scratch, &plain, &other);
  store(scratch, &key);
  check(rename(path, moved) == 0, "a file cannot be renamed");
  expect(scratch, &other, false, "another key's entry");
  check(mkfifo(path, 0600) == 0, "there is no pipe");
  expect(scratch, &key, false, "a pipe");
  store(scratch, &key);
  expect(scratch, &key, true, "in a pipe's place");
  remove(path);
  check(mkdir(path, 0700) == 0, "there is no folder");
  expect(scratch, &key, false, "a folder of an entry's name");
  store(scratch, &key);
  expect(scratch, &key, false, "still the folder");
  char one[512];
  rmdir(path);
  remove(moved);
  check(count_files(scratch, one) == 1, "%s is left over", one); /* test_damage's */
  free(path);
  free(moved);
}

/* ---- places that take nothing ---- */

static void test_no_place(void)
{
  const cache_key key = key_of("nowhere");
  char folder[128], file[128], one[512];
  snprintf(folder, sizeof folder, "%s/read-only", scratch);
  snprintf(file, sizeof file, "%s/file", scratch);
  mkdir(folder, 0755);
  store(folder, &key);
  chmod(folder, 0555);
  char *path = cache_folder_file(folder, &plain, &key);
  chmod(path, 0444);
  lower_rights();
  const cache_key second = key_of("second");
  store(folder, &second);
  expect(folder, &second, false, "read-only");
  expect(file, &key, false, "no folder");
  raise_rights();
  chmod(path, 0644);
  lower_rights();
  expect(folder, &key, true, "read-only, but there");
  raise_rights();
  check(count_files(folder, one) == 1, "%s is in a read-only folder", one);
  chmod(folder, 0755);
  file_put(file, (const unsigned char *)"x", 1);
  store(file, &key);
  expect(file, &key, false, "a file where the folder should be");
  snprintf(folder, sizeof folder, "%s/home/.cache/abut", scratch);
  store(folder, &key);
  expect(folder, &key, false, "a home that is not there");
  snprintf(folder, sizeof folder, "%s/home", scratch);
  check(access(folder, F_OK) != 0, "a home is made");
  mkdir(folder, 0700);
  snprintf(folder, sizeof folder, "%s/home/.cache/abut", scratch);
  store(folder, &key);
  expect(folder, &key, true, "a home without .cache");
  free(path);
}

static void test_full(void)
{
  struct rlimit limit, old;
  char folder[128], one[512];
  snprintf(folder, sizeof folder, "%s/full", scratch);
  const cache_key key = key_of("full");
  getrlimit(RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = CONTENT;
  fflush(stdout);
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  store(folder, &key);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, SIG_DFL);
  expect(folder, &key, false, "a full disk");
  check(count_files(folder, one) == 0, "%s is left on a full disk", one);
}

/* ---- size ---- */

static void used_at(const char *path, long second)
{
  const struct timespec times[2] = {{second, 0}, {second, 0}};
  check(utimensat(AT_FDCWD, path, times, 0) == 0, "%s has no times", path);
}

static void entry_used_at(const char *folder, const char *text, long second)
{
  const cache_key key = key_of(text);
  char *path = cache_folder_file(folder, &plain, &key);
  used_at(path, second);
  free(path);
}

static void test_size(void)
{
  char folder[128], one[512], strange[160], left[160];
  snprintf(folder, sizeof folder, "%s/size", scratch);
  const cache_kind three = {NULL, ".entry", 3, 10000}, bytes = {NULL, ".entry", 100, 3000};
  static const char *const names[] = {"a", "bb", "ccc"};
  for (int i = 0; i < 3; ++i) {
    put(folder, &three, names[i], 200);
    entry_used_at(folder, names[i], 1000 + i);
  }
  snprintf(strange, sizeof strange, "%s/of-someone-else", folder);
  snprintf(left, sizeof left, "%s/.writing-abcdef", folder);
  file_put(strange, (const unsigned char *)"x", 1);
  file_put(left, (const unsigned char *)"x", 1);
  used_at(strange, 1);
  check(is_there(folder, "a"), "the first entry is gone"); /* and is now the one used last */
  put(folder, &three, "dddd", 200);
  check(!is_there(folder, "bb"), "the entry that was not used for longest stays");
  check(is_there(folder, "a") && is_there(folder, "ccc") && is_there(folder, "dddd"),
        "another entry goes");
  check(access(left, F_OK) == 0, "what another process writes is removed");
  used_at(left, 1);
  put(folder, &bytes, "eeeee", 2500);
  check(is_there(folder, "eeeee"), "the newest entry is removed");
  check(access(left, F_OK) != 0, "what was left long ago stays");
  check(access(strange, F_OK) == 0, "a file of someone else is removed");
  put(folder, &bytes, "ffffff", 3001);
  check(!is_there(folder, "ffffff"), "an entry that is larger than all may be is written");
  const size_t count = count_files(folder, one);
  check(count == 3, "%zu files where 3000 bytes may be", count); /* eeeee, the newest, someone's */
}

static void test_shrink(void)
{
  char folder[128], one[512], name[64];
  snprintf(folder, sizeof folder, "%s/shrink", scratch);
  for (int i = 0; i < 30; ++i) {
    snprintf(name, sizeof name, "%d", i);
    put(folder, &plain, name, 10);
  }
  check(count_files(folder, one) == 30, "there are not 30 entries");
  const cache_kind five = {NULL, ".entry", 5, 1 << 20};
  put(folder, &five, "new", 10);
  check(count_files(folder, one) == 5 && is_there(folder, "new"), "there are %zu entries, not 5",
        count_files(folder, one));
}

/* Kinds share the user's folder, and nothing else. */
static void test_kinds(void)
{
  char folder[128], one[512];
  snprintf(folder, sizeof folder, "%s/kinds/abut", scratch);
  put(folder, &plain, "a", 10);
  put(folder, &plain, "b", 10);
  put(folder, &below, "a", 10);
  check(count_files(folder, one) == 3, "one kind of entries removes another's");
  snprintf(folder, sizeof folder, "%s/new/abut/below", scratch);
  put(folder, &below, "a", 10);
  put(folder, &below, "b", 10);
  check(count_files(folder, one) == 1, "there are %zu entries, not 1", count_files(folder, one));
  snprintf(folder, sizeof folder, "%s/none/new/abut/below", scratch);
  put(folder, &below, "a", 10);
  check(access(folder, F_OK) != 0, "a home is made");
}

/* ---- several at once ---- */

enum { ROUNDS = 200, LARGE = 1 << 16 };

/* Writes and reads two entries of which each content says by whom it was written. */
static bool write_and_read(void *data, int process)
{
  static unsigned char content[LARGE], right[LARGE];
  const cache_key keys[2] = {key_of("first"), key_of("second")};
  size_t seen = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    const cache_key *key = &keys[i % 2];
    unsigned char *found = NULL;
    size_t bytes = 0;
    fill(content, LARGE, (unsigned)process);
    cache_folder_write(data, &plain, key, content, LARGE);
    if (cache_folder_read(data, &plain, key, &found, &bytes)) {
      ++seen;
      fill(right, LARGE, found[0]);
      if (!check(bytes == LARGE && !memcmp(found, right, LARGE), "an entry is mixed")) {
        return false;
      }
    }
    free(found);
  }
  return check(seen == ROUNDS, "%zu of %d entries are whole", seen, ROUNDS);
}

static void test_processes(void)
{
  char folder[128], one[512];
  snprintf(folder, sizeof folder, "%s/processes", scratch);
  in_processes(4, write_and_read, folder, "four processes");
  check(count_files(folder, one) == 2, "%s is left over", one);
}

int main(void)
{
  if (!make_scratch(scratch)) {
    return 1;
  }
  test_places();
  test_keys();
  test_damage();
  test_other_files();
  test_no_place();
  test_full();
  test_size();
  test_shrink();
  test_kinds();
  test_processes();
  remove_folder(scratch);
  return check_finish();
}
