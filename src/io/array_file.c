#include "base/array_type.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/npy_range.h"
#include "format/npy_read.h"
#include "format/text.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARRAYS_MOST 4096

/* An array and its location: in the file, or unpacked. */
typedef struct array_of {
  npy_stored stored;
  zip_uint64_t member; /* in an archive */
  bool compressed;
  abut_array whole; /* valid after unpacking */
} array_of;

struct abut_array_file {
  char *name;
  int file;       /* of a .npy; otherwise -1 */
  zip_t *archive; /* of an .npz */
  array_of *arrays;
  abut_array *described; /* without data; owns its names */
  size_t count;
};

static void free_name(const char *name)
{
  free((void *)(uintptr_t)name);
}

void abut_close_arrays(abut_array_file *f)
{
  if (!f) {
    return;
  }
  for (size_t i = 0; i < f->count; i++) {
    if (f->arrays[i].stored.member) {
      zip_fclose(f->arrays[i].stored.member);
    }
    npy_free(&f->arrays[i].whole);
    free_name(f->described[i].name);
  }
  free(f->arrays);
  free(f->described);
  if (f->archive) {
    zip_discard(f->archive);
  }
  if (f->file >= 0) {
    close(f->file);
  }
  free(f->name);
  free(f);
}

static abut_status copy_text(const char *text, size_t length, char **out)
{
  void *copy;
  TRY(allocate(&copy, length + 1, 1));
  memcpy(copy, text, length);
  ((char *)copy)[length] = '\0';
  *out = copy;
  return ABUT_SUCCESS;
}

static abut_status make_room(abut_array_file *f, size_t count)
{
  void *memory;
  TRY(allocate(&memory, count, sizeof *f->arrays));
  f->arrays = memory;
  TRY(allocate(&memory, count, sizeof *f->described));
  f->described = memory;
  return ABUT_SUCCESS;
}

/* Same as abut_read_npz. The length of a text is known only after reading. */
static void describe(const npy *h, abut_array *out)
{
  out->type = h->type;
  out->dimensions = h->type == ABUT_ARRAY_TEXT ? 1 : h->dimensions;
  memcpy(out->shape, h->shape, sizeof out->shape);
  if (h->type == ABUT_ARRAY_TEXT) {
    memset(out->shape, 0, sizeof out->shape);
  }
}

static abut_status open_npy(abut_array_file *f)
{
  const npy_where where = {f->name, NULL};
  struct stat about;
  char *name;
  f->file = open(f->name, O_RDONLY | O_CLOEXEC);
  if (f->file < 0 || fstat(f->file, &about) != 0) {
    return fail_errno(ABUT_ERROR_READ, f->name);
  }
  if (!S_ISREG(about.st_mode)) {
    return fail_at(ABUT_ERROR_READ, f->name, 0, "is not a regular file");
  }
  TRY(make_room(f, 1));
  TRY(copy_text("", 0, &name));
  f->described[0].name = name;
  f->count = 1;
  TRY(npy_find(where, (npy_bytes){NULL, (uint64_t)about.st_size, f->file}, &f->arrays[0].stored));
  TRY(npy_check_bytes(where, &f->arrays[0].stored));
  describe(&f->arrays[0].stored.header, &f->described[0]);
  return ABUT_SUCCESS;
}

static abut_status open_member(abut_array_file *f, zip_uint64_t member)
{
  array_of *a = &f->arrays[f->count];
  abut_array *d = &f->described[f->count];
  size_t header_bytes = 0;
  bool stored = false;
  char *name;
  const char *file = zip_get_name(f->archive, member, 0);
  TRY(npz_open_array(f->name, f->archive, member, &a->stored.header, &header_bytes, &stored,
                     &a->stored.member));
  f->count++;
  a->stored.data = header_bytes;
  a->member = member;
  a->compressed = !stored;
  TRY(copy_text(file, strlen(file) - strlen(".npy"), &name)); /* an open file has this extension */
  d->name = name;
  describe(&a->stored.header, d);
  for (size_t i = 0; i + 1 < f->count; i++) {
    if (strcmp(f->described[i].name, name) == 0) {
      return npy_fail((npy_where){f->name, name}, "is stored twice");
    }
  }
  return ABUT_SUCCESS;
}

static abut_status open_archive(abut_array_file *f)
{
  TRY(npz_open_file(f->name, &f->archive));
  if (!f->archive) {
    return fail_at(ABUT_ERROR_READ, f->name, 0, "is not a regular file");
  }
  const zip_int64_t members = zip_get_num_entries(f->archive, 0);
  if (members < 0 || members > ARRAYS_MOST) {
    return fail_at(ABUT_ERROR_FORMAT, f->name, 0, "contains more than %d arrays", ARRAYS_MOST);
  }
  TRY(make_room(f, (size_t)members));
  for (zip_int64_t i = 0; i < members; i++) {
    TRY(open_member(f, (zip_uint64_t)i));
  }
  return ABUT_SUCCESS;
}

abut_status abut_open_arrays(const char *path, abut_array_file **file)
{
  void *memory;
  if (!path || !file) {
    return fail(ABUT_ERROR_ARGUMENT, "path or file is NULL");
  }
  *file = NULL;
  TRY(allocate(&memory, 1, sizeof **file));
  abut_array_file *f = memory;
  f->file = -1;
  abut_status status = copy_text(path, strlen(path), &f->name);
  if (status == ABUT_SUCCESS) {
    status = has_extension(path, ".npy") ? open_npy(f) : open_archive(f);
  }
  if (status != ABUT_SUCCESS) {
    abut_close_arrays(f);
    return status;
  }
  *file = f;
  return ABUT_SUCCESS;
}

abut_status abut_list_arrays(const abut_array_file *f, const abut_array **arrays, size_t *count)
{
  if (!f || !arrays || !count) {
    return fail(ABUT_ERROR_ARGUMENT, "file, arrays or count is NULL");
  }
  *arrays = f->described;
  *count = f->count;
  return ABUT_SUCCESS;
}

/* ---- ranges ---- */

/* Unpacks a compressed member as a whole, once. */
static abut_status unpack(abut_array_file *f, array_of *a)
{
  if (!a->compressed || a->whole.data) {
    return ABUT_SUCCESS;
  }
  TRY(npz_read_array(f->name, f->archive, a->member, &a->whole));
  npy *h = &a->stored.header; /* describes the data in memory from now on */
  size_t elements = 0;
  h->fortran = false;
  h->narrow = NPY_AS_IT_IS;
  h->item_bytes = array_type_bytes(h->type);
  npy_count(h->dimensions, h->shape, &elements);
  h->data_bytes = elements * h->item_bytes;
  zip_fclose(a->stored.member);
  a->stored.member = NULL;
  a->stored.data = 0;
  a->stored.from = (npy_bytes){a->whole.data, h->data_bytes, -1};
  return ABUT_SUCCESS;
}

static abut_status check_range(const abut_array_file *f, const abut_array *d, const size_t *first,
                               const size_t *count)
{
  if (d->type == ABUT_ARRAY_TEXT) {
    return npy_fail((npy_where){f->name, *d->name ? d->name : NULL}, "is a text; expected numbers");
  }
  for (uint32_t k = 0; k < d->dimensions; k++) {
    if (first[k] > d->shape[k] || count[k] > d->shape[k] - first[k]) {
      return fail(
        ABUT_ERROR_ARGUMENT,
        "%s: array '%s', dimension %u: %zu entries from %zu on are outside its %zu entries",
        f->name, d->name, k, count[k], first[k], d->shape[k]);
    }
  }
  return ABUT_SUCCESS;
}

abut_status abut_read_array(abut_array_file *f, size_t index, const size_t *first,
                            const size_t *count, void **data)
{
  abut_array range;
  if (!f || !first || !count || !data) {
    return fail(ABUT_ERROR_ARGUMENT, "file, first, count or data is NULL");
  }
  *data = NULL;
  if (index >= f->count) {
    return fail(ABUT_ERROR_ARGUMENT, "%s: there is no array %zu; there are %zu", f->name, index,
                f->count);
  }
  const abut_array *d = &f->described[index];
  TRY(check_range(f, d, first, count));
  TRY(unpack(f, &f->arrays[index]));
  TRY(npy_read_range((npy_where){f->name, *d->name ? d->name : NULL}, &f->arrays[index].stored,
                     first, count, &range));
  *data = (void *)(uintptr_t)range.data;
  return ABUT_SUCCESS;
}
