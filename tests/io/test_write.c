/* Every test runs twice: with files that have no name until they are whole, where the file system
 * of the test's folder has them, and without. */
#define _GNU_SOURCE
#include "io/whole_file.h"
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

static int prepare(void **state)
{
  uint32_t x = 1;
  for (size_t i = 0; i < MANY; i++) {
    x = x * 1664525u + 1013904223u;
    noise[i] = (uint8_t)(x >> 24);
  }
  return folder_make(state);
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
  return whole_file_write(path, noise, MANY);
}

static abut_status (*const writers[])(const char *) = {write_noise, write_picture, write_plain};

enum { WRITERS = 3 };

static void expect_content(const char *path, const char *content)
{
  size_t count;
  char *bytes = slurp(path, &count);
  assert_string_equal(bytes, content);
  free(bytes);
}

/* The file has the umask's mode, replaces what was there, and leaves no other name behind. */
static void good_writes(void **state)
{
  (void)state;
  mode_t before = umask(027);
  for (int i = 0; i < WRITERS; i++) {
    struct stat info;
    const char *path = write_text("old", "old");
    size_t entries = folder_entries();
    assert_int_equal(writers[i](path), ABUT_SUCCESS);
    assert_int_equal(folder_entries(), entries);
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size > 3);
    assert_int_equal(info.st_mode & 0777, 0640);
    unlink(path);
  }
  umask(before);
}

static void through_links(void **state)
{
  (void)state;
  const char *target = write_text("target", "old"), *link = in_folder("link");
  struct stat info;
  assert_int_equal(symlink("target", link), 0);
  assert_int_equal(whole_file_write(link, "new", 3), ABUT_SUCCESS);
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  expect_content(target, "new");
  unlink(link);
  unlink(target);
}

/* A link to nothing yet: the file comes to be where it leads. */
static void through_dangling_links(void **state)
{
  (void)state;
  struct stat info;
  const char *link = in_folder("link");
  assert_int_equal(symlink("second", link), 0);
  assert_int_equal(symlink(in_folder("target"), in_folder("second")), 0);
  assert_int_equal(whole_file_write(link, "made", 4), ABUT_SUCCESS);
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  expect_content(in_folder("target"), "made");
  unlink(in_folder("target"));
  unlink(in_folder("second"));
  assert_int_equal(symlink("link", in_folder("second")), 0);
  expect_failure(whole_file_write(link, "x", 1), ABUT_ERROR_WRITE, link, "link");
  unlink(in_folder("second"));
  unlink(link);
}

/* A name without a folder is of the working one. */
static void relative_names(void **state)
{
  (void)state;
  char here[1024];
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(in_folder(".")), 0);
  abut_status status = whole_file_write("relative", "r", 1);
  assert_int_equal(chdir(here), 0);
  assert_int_equal(status, ABUT_SUCCESS);
  expect_content(in_folder("relative"), "r");
  unlink(in_folder("relative"));
}

/* A disk that fills up, as a limit on the size of files. */
static void full_disk(void **state)
{
  (void)state;
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 20000;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  const char *path = write_text("kept", "kept");
  const char *fresh = in_folder("fresh");
  size_t entries = folder_entries();
  for (int i = 0; i < WRITERS; i++) {
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    abut_status replaced = writers[i](path);
    char text[512];
    snprintf(text, sizeof text, "%s", abut_last_error());
    abut_status made = writers[i](fresh);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(replaced, ABUT_ERROR_WRITE);
    assert_int_equal(made, ABUT_ERROR_WRITE);
    assert_non_null(strstr(text, "kept: "));
    assert_non_null(strstr(text, "File too large"));
    expect_content(path, "kept");
    assert_int_equal(access(fresh, F_OK), -1);
    assert_int_equal(folder_entries(), entries);
  }
  signal(SIGXFSZ, handler);
  unlink(path);
}

static void refused_targets(void **state)
{
  (void)state;
  for (int i = 0; i < WRITERS; i++) {
    expect_failure(writers[i](in_folder(".")), ABUT_ERROR_WRITE, "/", "not a regular file");
    expect_failure(writers[i](in_folder("no/such")), ABUT_ERROR_WRITE, "/", "No such file");
    expect_failure(writers[i](""), ABUT_ERROR_WRITE, "", "path is empty");
  }
}

/* Devices stay what they are. */
static void devices(void **state)
{
  (void)state;
  static const char *const paths[] = {"/dev/null", "/dev/full"};
  for (int i = 0; i < WRITERS; i++) {
    assert_int_equal(writers[i](paths[0]), ABUT_SUCCESS);
    expect_failure(writers[i](paths[1]), ABUT_ERROR_WRITE, "/dev/full: ", "No space left");
    for (int k = 0; k < 2; k++) {
      struct stat info;
      assert_int_equal(stat(paths[k], &info), 0);
      assert_true(S_ISCHR(info.st_mode));
    }
  }
}

/* A reader at the other end gets the same bytes as a file. */
static void pipes(void **state)
{
  (void)state;
  const char *pipe = in_folder("pipe"), *copy = in_folder("copy"), *file = in_folder("file");
  assert_int_equal(mkfifo(pipe, 0600), 0);
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
    assert_int_equal(writers[i](pipe), ABUT_SUCCESS);
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    assert_int_equal(writers[i](file), ABUT_SUCCESS);
    char *through = slurp(copy, &counts[0]), *straight = slurp(file, &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(through, straight, counts[0]);
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
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void killed(void **state)
{
  (void)state;
  if (!has_unnamed()) {
    skip();
  }
  const char *old = write_text("old", "old");
  const size_t entries = folder_entries();
  for (int i = 0; i < WRITERS; i++) {
    const int status = status_of_child(i, kill_oneself, i ? old : in_folder("fresh"));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(folder_entries(), entries);
  }
  expect_content(old, "old");
  unlink(old);
}

static void removed(void **state)
{
  (void)state;
  const char *old = write_text("old", "old");
  const size_t entries = folder_entries();
  for (int i = 0; i < WRITERS; i++) {
    const int status = status_of_child(i, remove_and_end, i ? old : in_folder("fresh"));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_int_equal(folder_entries(), entries);
  }
  expect_content(old, "old");
  /* What is finished is nobody's to remove. */
  assert_int_equal(write_plain(old), ABUT_SUCCESS);
  abut_remove_unfinished();
  assert_int_equal(folder_entries(), entries);
  unlink(old);
}

/* A name is there meanwhile only where it must be. */
static size_t entries_meanwhile;

static void count_entries(void)
{
  entries_meanwhile = entries_meanwhile ? entries_meanwhile : folder_entries();
}

static void names_meanwhile(void **state)
{
  (void)state;
  const size_t entries = folder_entries();
  for (int i = 0; i < WRITERS; i++) {
    const char *path = in_folder("fresh");
    entries_meanwhile = 0;
    when_written = count_entries;
    const abut_status status = writers[i](path);
    when_written = NULL;
    assert_int_equal(status, ABUT_SUCCESS);
    assert_int_equal(entries_meanwhile, entries + (has_unnamed() ? 0 : 1));
    unlink(path);
  }
}

static void read_only(void **state)
{
  (void)state;
  if (geteuid() == 0) {
    skip(); /* root may write anything */
  }
  const char *path = write_text("fixed", "fixed");
  chmod(path, 0444);
  for (int i = 0; i < WRITERS; i++) {
    expect_failure(writers[i](path), ABUT_ERROR_WRITE, path, "Permission denied");
  }
  expect_content(path, "fixed");
  unlink(path);
}

static void wrong_arrays(void **state)
{
  (void)state;
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
    assert_int_equal(folder_entries(), entries);
  }
  expect_failure(abut_write_npz(NULL, &good, 1), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_write_npz(path, NULL, 1), ABUT_ERROR_ARGUMENT, "", "NULL");
}

static void empty_archive(void **state)
{
  (void)state;
  abut_npz npz;
  const char *path = in_folder("empty.npz");
  assert_int_equal(abut_write_npz(path, NULL, 0), ABUT_SUCCESS);
  assert_int_equal(abut_read_npz(path, &npz), ABUT_SUCCESS);
  assert_int_equal(npz.count, 0);
  abut_free_npz(&npz);
  unlink(path);
}

/* Equal results make equal files. */
static void same_bytes(void **state)
{
  (void)state;
  const char *first = in_folder("1.npz"), *second = in_folder("2.npz");
  size_t counts[2];
  assert_int_equal(write_noise(first), ABUT_SUCCESS);
  assert_int_equal(write_noise(second), ABUT_SUCCESS);
  char *a = slurp(first, &counts[0]), *b = slurp(second, &counts[1]);
  assert_int_equal(counts[0], counts[1]);
  assert_memory_equal(a, b, counts[0]);
  free(a);
  free(b);
  unlink(first);
  unlink(second);
}

static void pictures(void **state)
{
  (void)state;
  size_t count;
  const char *path = in_folder("p.png");
  assert_int_equal(abut_write_png(path, 3, 2, noise), ABUT_SUCCESS);
  char *bytes = slurp(path, &count);
  assert_true(count > 57);
  assert_memory_equal(bytes, "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\3\0\0\0\2\10\2\0\0\0", 29);
  assert_memory_equal(bytes + count - 8, "IEND\xAE\x42\x60\x82", 8);
  free(bytes);
  unlink(path);
  expect_failure(abut_write_png(path, 0, 2, noise), ABUT_ERROR_ARGUMENT, "", "0 x 2");
  expect_failure(abut_write_png(path, 2, 0, noise), ABUT_ERROR_ARGUMENT, "", "2 x 0");
  expect_failure(abut_write_png(path, UINT32_MAX, UINT32_MAX, noise), ABUT_ERROR_ARGUMENT, "",
                 "4294967295");
  expect_failure(abut_write_png(path, 100000, 100000, noise), ABUT_ERROR_ARGUMENT, "", "100000");
  expect_failure(abut_write_png(path, 1, 1, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  assert_int_equal(access(path, F_OK), -1);
}

static void reading(void **state)
{
  (void)state;
  char *bytes;
  size_t count;
  const char *path = write_file("zero", "", 0);
  assert_int_equal(whole_file_read(path, &bytes, &count), ABUT_SUCCESS);
  assert_true(count == 0 && bytes[0] == 0);
  free(bytes);
  path = write_file("many", noise, MANY);
  assert_int_equal(whole_file_read(path, &bytes, &count), ABUT_SUCCESS);
  assert_int_equal(count, MANY);
  assert_memory_equal(bytes, noise, MANY);
  free(bytes);
  expect_failure(whole_file_read(in_folder("."), &bytes, &count), ABUT_ERROR_READ, "/",
                 "Is a directory");
  assert_null(bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(good_writes),   cmocka_unit_test(through_links),
    cmocka_unit_test(through_dangling_links),
    cmocka_unit_test(relative_names), cmocka_unit_test(full_disk),
    cmocka_unit_test(refused_targets), cmocka_unit_test(read_only),
    cmocka_unit_test(wrong_arrays),  cmocka_unit_test(empty_archive),
    cmocka_unit_test(same_bytes),    cmocka_unit_test(pictures),
    cmocka_unit_test(reading),       cmocka_unit_test(devices),
    cmocka_unit_test(pipes),         cmocka_unit_test(killed),
    cmocka_unit_test(removed),       cmocka_unit_test(names_meanwhile),
  };
  const int failed = cmocka_run_group_tests(tests, prepare, folder_remove);
  refuse_unnamed = true;
  return failed + cmocka_run_group_tests(tests, prepare, folder_remove);
}
