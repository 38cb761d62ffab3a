#include "core/folder/arrays.h"

#include "base/array_type.h"
#include "core/folder/nfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the dimension of the poses or entries. */
static uint32_t folder_axis(output_of of)
{
  return of == OUTPUT_OF_STATES ? 1 : 0;
}

bool folder_has_rows(const folder_array *a)
{
  return a->of == OUTPUT_OF_POSES || a->of == OUTPUT_OF_STATES;
}

uint64_t folder_data_bytes(const folder_array *a)
{
  return (uint64_t)a->row_bytes * a->about.shape[folder_axis(a->of)] * a->states;
}

exit_code folder_take_arrays(folder *f, const outputs *l)
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
  return folder_take_arrays(f, &l);
}

exit_code folder_make_array(const folder *f, const folder_array *a, const void *data)
{
  char *path = folder_file(f, a->about.name, ".npy");
  const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  const uint64_t bytes = folder_data_bytes(a);
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

/* Checks that a file matches its array's description: not truncated, nor another array's. */
static exit_code check_array(const folder_array *a, const char *path)
{
  struct stat about;
  char *header = malloc(a->header_bytes);
  const uint64_t bytes = a->header_bytes + folder_data_bytes(a);
  exit_code code = header ? EXIT_GOOD : report(EXIT_RUN, "no memory");
  if (code == EXIT_GOOD && fstat(a->file, &about) != 0) {
    code = folder_fail(path);
  } else if (code == EXIT_GOOD &&
             ((uint64_t)about.st_size != bytes ||
              pread(a->file, header, a->header_bytes, 0) != (ssize_t)a->header_bytes ||
              memcmp(header, a->header, a->header_bytes) != 0)) {
    code = report(EXIT_INPUT, "%s: does not match the array in the manifest", path);
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

/* Writes rows while processes on other machines may write other rows. */
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

exit_code folder_put_rows(const folder *f, const folder_array *a, range block,
                          const abut_array *from)
{
  const uint64_t rows = block.end - block.first;
  const size_t there = from->shape[folder_axis(a->of)], bytes = (size_t)rows * a->row_bytes;
  exit_code code = EXIT_GOOD;
  if (there != rows) {
    return report(EXIT_RUN, "array '%s' has %zu rows, but the block has %" PRIu64, a->about.name,
                  there, rows);
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
