/* Every test runs twice: with files that have no name until they are whole, where the file system
 * of the test's folder has them, and without. */
#define _GNU_SOURCE
#include "format/whole_file.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The linker sends the library's own calls here. */
int __real_open(const char *path, int flags, ...);
int __real_fsync(int file);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_fsync(int file);

static bool refuse_unnamed;
static void (*when_written)(void); /* all bytes are there, but the file is not in place */

static int open_unless_unnamed(const char *path, int flags, mode_t mode)
{
  if (refuse_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return __real_open(path, flags, mode);
}

static bool creates(int flags)
{
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

#define MODE(flags, mode)                                  \
  do {                                                     \
    va_list arguments;                                     \
    va_start(arguments, flags);                            \
    mode = creates(flags) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments);                                     \
  } while (0)

int __wrap_open(const char *path, int flags, ...)
{
  mode_t mode;
  MODE(flags, mode);
  return open_unless_unnamed(path, flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
  mode_t mode;
  MODE(flags, mode);
  return open_unless_unnamed(path, flags, mode);
}

int __wrap_fsync(int file)
{
  if (when_written) {
    when_written();
  }
  return __real_fsync(file);
}

enum { MANY = 100000 };
static uint8_t noise[MANY];

static void prepare(void)
{
  uint32_t x = 1;
  for (size_t i = 0; i < MANY; i++) {
    x = x * 1664525u + 1013904223u;
    noise[i] = (uint8_t)(x >> 24);
  }
  folder_make();
}

static abut_status write_noise(const char *path)
{
  const abut_array array = {"noise", ABUT_ARRAY_UINT8, 1, {MANY}, noise};
  return abut_write_npz(path, &array, 1);
}

static abut_status write_picture(const char *path)
{
  return abut_write_png(path, 100, 300, noise);
}

static abut_status write_plain(const char *path)
{
  return abut_write_file(path, noise, MANY);
}

static abut_status (*const writers[])(const char *) = {write_noise, write_picture, write_plain};

enum { WRITERS = 3 };

static void expect_content(const char *path, const char *content)
{
  size_t count;
  char *bytes = slurp(path, &count);
  CHECK_TEXT(bytes, content);
  free(bytes);
}

/* The file has the umask's mode, replaces what was there, and leaves no other name behind. */
static void good_writes(void)
{
  mode_t before = umask(027);
  for (int i = 0; i < WRITERS; i++) {
    struct stat info;
    const char *path = write_text("old", "old");
    size_t entries = folder_entries();
    REQUIRE_OK(writers[i](path));
    CHECK_EQUAL(folder_entries(), entries);
    CHECK_EQUAL(stat(path, &info), 0);
    CHECK(info.st_size > 3);
    CHECK_EQUAL(info.st_mode & 0777, 0640);
    unlink(path);
  }
  umask(before);
}

static void through_links(void)
{
  const char *target = write_text("target", "old"), *link = in_folder("link");
  struct stat info;
  CHECK_EQUAL(symlink("target", link), 0);
  REQUIRE_OK(whole_file_write(link, "new", 3));
  CHECK_EQUAL(lstat(link, &info), 0);
  CHECK(S_ISLNK(info.st_mode));
  expect_content(target, "new");
  unlink(link);
  unlink(target);
}

/* A link to nothing yet: the file comes to be where it leads. */
static void through_dangling_links(void)
{
  struct stat info;
  const char *link = in_folder("link");
  CHECK_EQUAL(symlink("second", link), 0);
  CHECK_EQUAL(symlink(in_folder("target"), in_folder("second")), 0);
  REQUIRE_OK(whole_file_write(link, "made", 4));
  CHECK_EQUAL(lstat(link, &info), 0);
  CHECK(S_ISLNK(info.st_mode));
  expect_content(in_folder("target"), "made");
  unlink(in_folder("target"));
  unlink(in_folder("second"));
  CHECK_EQUAL(symlink("link", in_folder("second")), 0);
  expect_failure(whole_file_write(link, "x", 1), ABUT_ERROR_WRITE, link, "link");
  unlink(in_folder("second"));
  unlink(link);
}

/* A name without a folder is of the working one. */
static void relative_names(void)
{
  char here[1024];
  REQUIRE(getcwd(here, sizeof here));
  CHECK_EQUAL(chdir(in_folder(".")), 0);
  abut_status status = whole_file_write("relative", "r", 1);
  CHECK_EQUAL(chdir(here), 0);
  CHECK_OK(status);
  expect_content(in_folder("relative"), "r");
  unlink(in_folder("relative"));
}

/* A disk that fills up, as a limit on the size of files. */
static void full_disk(void)
{
  struct rlimit before, small;
  CHECK_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 20000;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  const char *path = write_text("kept", "kept");
  const char *fresh = in_folder("fresh");
  size_t entries = folder_entries();
  for (int i = 0; i < WRITERS; i++) {
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &small), 0);
    abut_status replaced = writers[i](path);
    char text[512];
    snprintf(text, sizeof text, "%s", abut_last_error());
    abut_status made = writers[i](fresh);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_EQUAL(replaced, ABUT_ERROR_WRITE);
    CHECK_EQUAL(made, ABUT_ERROR_WRITE);
    CHECK(strstr(text, "kept: "));
    CHECK(strstr(text, "File too large"));
    expect_content(path, "kept");
    CHECK_EQUAL(access(fresh, F_OK), -1);
    CHECK_EQUAL(folder_entries(), entries);
  }
  signal(SIGXFSZ, handler);
  unlink(path);
}

static void refused_targets(void)
{
  for (int i = 0; i < WRITERS; i++) {
    expect_failure(writers[i](in_folder(".")), ABUT_ERROR_WRITE, "/", "not a regular file");
    expect_failure(writers[i](in_folder("no/such")), ABUT_ERROR_WRITE, "/", "No such file");
    expect_failure(writers[i](""), ABUT_ERROR_WRITE, "", "the path of an output file is empty");
  }
}

/* Devices stay what they are. */
static void devices(void)
{
  static const char *const paths[] = {"/dev/null", "/dev/full"};
  for (int i = 0; i < WRITERS; i++) {
    REQUIRE_OK(writers[i](paths[0]));
    expect_failure(writers[i](paths[1]), ABUT_ERROR_WRITE, "/dev/full: ", "No space left");
    for (int k = 0; k < 2; k++) {
      struct stat info;
      CHECK_EQUAL(stat(paths[k], &info), 0);
      CHECK(S_ISCHR(info.st_mode));
    }
  }
}

/* A reader at the other end gets the same bytes as a file. */
static void pipes(void)
{
  const char *pipe = in_folder("pipe"), *copy = in_folder("copy"), *file = in_folder("file");
  CHECK_EQUAL(mkfifo(pipe, 0600), 0);
  for (int i = 0; i < WRITERS; i++) {
    char command[1024];
    size_t counts[2];
    int status;
    snprintf(command, sizeof command, "cat '%s' > '%s'", pipe, copy);
    const pid_t reader = fork();
    if (reader == 0) {
      execl("/bin/sh", "sh", "-c", command, (char *)NULL);
      _exit(127);
    }
    REQUIRE_OK(writers[i](pipe));
    CHECK_EQUAL(waitpid(reader, &status, 0), reader);
    CHECK_EQUAL(status, 0);
    REQUIRE_OK(writers[i](file));
    char *through = slurp(copy, &counts[0]), *straight = slurp(file, &counts[1]);
    CHECK(counts[0] == counts[1] && !memcmp(through, straight, counts[0]));
    free(through);
    free(straight);
    unlink(copy);
    unlink(file);
  }
  unlink(pipe);
}

/* ---- a process that ends while it writes ---- */

static bool has_unnamed(void)
{
  const int file = __real_open(in_folder("."), O_TMPFILE | O_WRONLY, 0600);
  if (file >= 0) {
    close(file);
  }
  return file >= 0 && !refuse_unnamed;
}

static void kill_oneself(void)
{
  raise(SIGKILL);
}

static void remove_and_end(void)
{
  abut_remove_unfinished();
  _exit(7);
}

/* Of a child that writes until then; in `old` a file that is to be replaced. */
static int status_of_child(int writer, void (*then)(void), const char *old)
{
  int status;
  const pid_t child = fork();
  if (child == 0) {
    when_written = then;
    writers[writer](old);
    _exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return status;
}

static void killed(void)
{
  if (!has_unnamed()) {
    printf("not run: files without a name\n");
    return;
  }
  const char *old = write_text("old", "old");
  const size_t entries = folder_entries();
  for (int i = 0; i < WRITERS; i++) {
    const int status = status_of_child(i, kill_oneself, i ? old : in_folder("fresh"));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_EQUAL(folder_entries(), entries);
  }
  expect_content(old, "old");
  unlink(old);
}

static void removed(void)
{
  const char *old = write_text("old", "old");
  const size_t entries = folder_entries();
  for (int i = 0; i < WRITERS; i++) {
    const int status = status_of_child(i, remove_and_end, i ? old : in_folder("fresh"));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_EQUAL(folder_entries(), entries);
  }
  expect_content(old, "old");
  /* What is finished is nobody's to remove. */
  REQUIRE_OK(write_plain(old));
  abut_remove_unfinished();
  CHECK_EQUAL(folder_entries(), entries);
  unlink(old);
}

/* A name is there meanwhile only where it must be. */
static size_t entries_meanwhile;

static void count_entries(void)
{
  entries_meanwhile = entries_meanwhile ? entries_meanwhile : folder_entries();
}

static void names_meanwhile(void)
{
  const size_t entries = folder_entries();
  for (int i = 0; i < WRITERS; i++) {
    const char *path = in_folder("fresh");
    entries_meanwhile = 0;
    when_written = count_entries;
    const abut_status status = writers[i](path);
    when_written = NULL;
    REQUIRE_OK(status);
    CHECK_EQUAL(entries_meanwhile, entries + (has_unnamed() ? 0 : 1));
    unlink(path);
  }
}

static void read_only(void)
{
  if (geteuid() == 0) {
    printf("not run as root, who may write anything: files that are read-only\n");
    return;
  }
  const char *path = write_text("fixed", "fixed");
  chmod(path, 0444);
  for (int i = 0; i < WRITERS; i++) {
    expect_failure(writers[i](path), ABUT_ERROR_WRITE, path, "Permission denied");
  }
  expect_content(path, "fixed");
  unlink(path);
}

static void wrong_arrays(void)
{
  const char *path = in_folder("never.npz");
  const abut_array good = {"a", ABUT_ARRAY_UINT8, 1, {2}, "ab"};
  const struct {
    abut_array array;
    const char *part;
  } cases[] = {
    {{NULL, ABUT_ARRAY_UINT8, 1, {2}, "ab"}, "name"},
    {{"", ABUT_ARRAY_UINT8, 1, {2}, "ab"}, "name"},
    {{"a/b", ABUT_ARRAY_UINT8, 1, {2}, "ab"}, "name"},
    {{"a", ABUT_ARRAY_UINT8, 1, {2}, "ab"}, "two arrays are named 'a'"},
    {{"b", (abut_array_type)7, 1, {2}, "ab"}, "out of range"},
    {{"b", ABUT_ARRAY_UINT8, 5, {1}, "ab"}, "out of range"},
    {{"b", ABUT_ARRAY_TEXT, 0, {1}, "ab"}, "out of range"},
    {{"b", ABUT_ARRAY_UINT8, 1, {2}, NULL}, "data is NULL"},
    {{"b", ABUT_ARRAY_FLOAT64, 2, {SIZE_MAX / 4, 2}, "ab"}, "too large"},
    {{"b", ABUT_ARRAY_FLOAT64, 2, {SIZE_MAX / 4, 8}, "ab"}, "too large"},
    {{"b", ABUT_ARRAY_TEXT, 1, {1}, "\xFF"}, "not UTF-8"},
    {{"b", ABUT_ARRAY_TEXT, 1, {2}, "\xC0\x80"}, "not UTF-8"},
    {{"b", ABUT_ARRAY_TEXT, 1, {3}, "\xED\xA0\x80"}, "not UTF-8"},
    {{"b", ABUT_ARRAY_TEXT, 1, {2}, "\xE2\x82"}, "not UTF-8"},
    {{"b", ABUT_ARRAY_TEXT, 1, {4}, "\xF4\x90\x80\x80"}, "not UTF-8"},
  };
  size_t entries = folder_entries();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const abut_array both[] = {good, cases[i].array};
    expect_failure(abut_write_npz(path, both, 2), ABUT_ERROR_ARGUMENT, "", cases[i].part);
    CHECK_EQUAL(folder_entries(), entries);
  }
  expect_failure(abut_write_npz(NULL, &good, 1), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_write_npz(path, NULL, 1), ABUT_ERROR_ARGUMENT, "", "NULL");
}

static void empty_archive(void)
{
  abut_npz npz;
  const char *path = in_folder("empty.npz");
  REQUIRE_OK(abut_write_npz(path, NULL, 0));
  REQUIRE_OK(abut_read_npz(path, &npz));
  CHECK_EQUAL(npz.count, 0);
  abut_free_npz(&npz);
  unlink(path);
}

/* Equal results make equal files. */
static void same_bytes(void)
{
  const char *first = in_folder("1.npz"), *second = in_folder("2.npz");
  size_t counts[2];
  REQUIRE_OK(write_noise(first));
  REQUIRE_OK(write_noise(second));
  char *a = slurp(first, &counts[0]), *b = slurp(second, &counts[1]);
  CHECK(counts[0] == counts[1] && !memcmp(a, b, counts[0]));
  free(a);
  free(b);
  unlink(first);
  unlink(second);
}

static void plain_files(void)
{
  size_t count;
  const char *path = in_folder("plain");
  REQUIRE_OK(abut_write_file(path, "ab\0c", 4));
  char *bytes = slurp(path, &count);
  CHECK(count == 4 && !memcmp(bytes, "ab\0c", 4));
  free(bytes);
  REQUIRE_OK(abut_write_file(path, NULL, 0));
  free(slurp(path, &count));
  CHECK_EQUAL(count, 0);
  unlink(path);
  expect_failure(abut_write_file(path, NULL, 1), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_write_file(NULL, "a", 1), ABUT_ERROR_ARGUMENT, "", "NULL");
  CHECK_EQUAL(access(path, F_OK), -1);
}

static void pictures(void)
{
  size_t count;
  const char *path = in_folder("p.png");
  REQUIRE_OK(abut_write_png(path, 3, 2, noise));
  char *bytes = slurp(path, &count);
  REQUIRE(count > 57);
  CHECK(!memcmp(bytes, "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\3\0\0\0\2\10\2\0\0\0", 29));
  CHECK(!memcmp(bytes + count - 8, "IEND\xAE\x42\x60\x82", 8));
  free(bytes);
  unlink(path);
  expect_failure(abut_write_png(path, 0, 2, noise), ABUT_ERROR_ARGUMENT, "", "0 x 2");
  expect_failure(abut_write_png(path, 2, 0, noise), ABUT_ERROR_ARGUMENT, "", "2 x 0");
  expect_failure(abut_write_png(path, UINT32_MAX, UINT32_MAX, noise), ABUT_ERROR_ARGUMENT, "",
                 "4294967295");
  expect_failure(abut_write_png(path, 100000, 100000, noise), ABUT_ERROR_ARGUMENT, "", "100000");
  expect_failure(abut_write_png(path, 1, 1, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  CHECK_EQUAL(access(path, F_OK), -1);
}

static void reading(void)
{
  char *bytes;
  size_t count;
  const char *path = write_file("zero", "", 0);
  REQUIRE_OK(whole_file_read(path, &bytes, &count));
  CHECK(count == 0 && bytes[0] == 0);
  free(bytes);
  path = write_file("many", noise, MANY);
  REQUIRE_OK(whole_file_read(path, &bytes, &count));
  CHECK(count == MANY && !memcmp(bytes, noise, MANY));
  free(bytes);
  expect_failure(whole_file_read(in_folder("."), &bytes, &count), ABUT_ERROR_READ, "/",
                 "Is a directory");
  CHECK(!bytes);
}

static void test_all(void)
{
  prepare();
  good_writes();
  through_links();
  through_dangling_links();
  relative_names();
  full_disk();
  refused_targets();
  read_only();
  wrong_arrays();
  empty_archive();
  same_bytes();
  plain_files();
  pictures();
  reading();
  devices();
  pipes();
  killed();
  removed();
  names_meanwhile();
  folder_remove();
}

int main(void)
{
  test_all();
  refuse_unnamed = true;
  test_all();
  return check_finish();
}
