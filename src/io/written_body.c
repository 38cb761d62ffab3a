#include "io/written_body.h"

#include "base/error.h"
#include "format/whole_file.h"
#include <string.h>
#include <unistd.h>

#define ENDING ".body.json"

static abut_status join(arena *a, const char *stem, size_t length, const char *ending, char **out)
{
  void *memory;
  const size_t room = length + strlen(ending) + 1;
  TRY(arena_allocate(a, &memory, room, 1));
  *out = memory;
  memcpy(*out, stem, length);
  memcpy(*out + length, ending, room - length);
  return ABUT_SUCCESS;
}

abut_status body_names_make(const char *path, body_names *n)
{
  const size_t length = strlen(path), tail = strlen(ENDING);
  const char *slash = strrchr(path, '/');
  const size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
  if (length <= folder + tail || strcmp(path + length - tail, ENDING) != 0) {
    return fail_at(ABUT_ERROR_ARGUMENT, path, 0, "a body file's name ends with %s", ENDING);
  }
  n->body = path;
  TRY(join(&n->memory, path, length - tail, ".grid.npz", &n->grid));
  TRY(join(&n->memory, path, length - tail, ".contact.obj", &n->contact));
  TRY(join(&n->memory, path + folder, length - tail - folder, "", &n->name));
  n->grid_beside = n->grid + folder;
  n->contact_beside = n->contact + folder;
  return ABUT_SUCCESS;
}

static abut_status put_files(const body_names *n, const abut_array *grid, size_t grid_count,
                             const obj_text *contact, const char *body)
{
  whole_file files[2];
  TRY(whole_file_begin(n->contact, &files[0]));
  abut_status status = whole_file_begin(n->body, &files[1]);
  if (status != ABUT_SUCCESS) {
    return whole_file_end(&files[0], status);
  }
  TRY_DONE(whole_file_put(&files[0], contact->bytes, contact->count));
  TRY_DONE(whole_file_put(&files[1], body, strlen(body)));
  TRY_DONE(whole_file_put(&files[1], "\n", 1));
  TRY_DONE(grid_count ? abut_write_npz(n->grid, grid, grid_count) : ABUT_SUCCESS);
done:
  status = whole_file_end(&files[0], status);
  return whole_file_end(&files[1], status);
}

/* What was there before a failure stays, be it old or new. */
abut_status write_body_files(const body_names *n, const abut_array *grid, size_t grid_count,
                             const obj_text *contact, const char *body)
{
  const bool had_grid = access(n->grid, F_OK) == 0, had_contact = access(n->contact, F_OK) == 0;
  const abut_status status = put_files(n, grid, grid_count, contact, body);
  if (status != ABUT_SUCCESS && grid_count && !had_grid) {
    unlink(n->grid);
  }
  if (status != ABUT_SUCCESS && !had_contact) {
    unlink(n->contact);
  }
  return status;
}
