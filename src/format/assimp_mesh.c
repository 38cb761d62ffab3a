#include "format/assimp_mesh.h"

#include "base/error.h"
#include "format/assimp_config.h"
#include "format/assimp_process.h"
#include "format/assimp_record.h"
#include "format/builder.h"
#include "format/text.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAUSE_BYTES 512 /* of the program's message */

#define IS_OF_FORMAT(extension, id) has_extension(path, "." #extension)
#define IS_OR() ||

bool is_assimp_mesh(const char *path)
{
  return ASSIMP_FORMATS(IS_OF_FORMAT, IS_OR, IS_OR);
}

/* ---- the program's message ---- */

/* Converts the message to one line without control characters. If the message is long, only its
 * end is used, which has the reason. */
static void flatten(const char *bytes, size_t count, char cause[CAUSE_BYTES])
{
  size_t length = 0;
  while (count && (unsigned char)bytes[count - 1] <= ' ') {
    --count;
  }
  for (size_t i = count < CAUSE_BYTES ? 0 : count - CAUSE_BYTES + 1; i < count; ++i) {
    const unsigned char c = (unsigned char)bytes[i];
    cause[length++] = (char)(c < ' ' || c == 0x7f ? ' ' : c);
  }
  cause[length] = '\0';
}

static abut_status refuse(const char *path, const char *program, child_end end, const char *bytes,
                          size_t count)
{
  char cause[CAUSE_BYTES];
  flatten(bytes, count, cause);
  if (end.signal) {
    return fail_at(ABUT_ERROR_FORMAT, path, 0,
                   "Assimp " ABUT_ASSIMP_VERSION " %s while reading this file (%s)",
                   end.signal == SIGINT || end.signal == SIGTERM || end.signal == SIGKILL
                     ? "was ended"
                     : "crashed",
                   strsignal(end.signal));
  }
  if ((end.code == ASSIMP_READER_REFUSES || end.code < 0) && *cause) {
    return fail_at(ABUT_ERROR_FORMAT, path, 0, "%s", cause);
  }
  return fail_at(ABUT_ERROR_READ, path, 0, "its reader, %s, exited with status %d%s%s", program,
                 end.code, *cause ? ": " : " and no mesh", cause);
}

/* If the exit status of the program is unknown, a complete mesh counts as success. */
static abut_status judge(const char *path, const char *program, child_end end, const char *bytes,
                         size_t count, mesh *out)
{
  if (end.code <= 0 && !end.signal) {
    const abut_status status = assimp_record_parse(path, bytes, count, out);
    if (status == ABUT_SUCCESS || end.code == 0) {
      return status;
    }
  }
  return refuse(path, program, end, bytes, count);
}

/* Assimp has one message for every file it cannot open. For missing or unreadable files, gives the
 * system's reason, as for other meshes. */
static abut_status check_file(const char *path)
{
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return fail_errno(ABUT_ERROR_READ, path);
  }
  struct stat info;
  const bool is_empty = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
  close(file);
  return is_empty ? fail_at(ABUT_ERROR_FORMAT, path, 0, "the file is empty") : ABUT_SUCCESS;
}

abut_status assimp_mesh_read(const char *path, mesh *out)
{
  char program[8192], *bytes;
  size_t count;
  child_end end;
  *out = (mesh){0};
  if (!ABUT_WITH_ASSIMP) {
    return fail_at(ABUT_ERROR_FORMAT, path, 0,
                   "this abut is built without Assimp, which reads " ASSIMP_FORMATS_AND
                   " (Debian: install libassimp-dev, then meson setup -Dassimp=enabled); it "
                   "reads " MESH_FORMATS_AND);
  }
  TRY(check_file(path));
  if (!assimp_find_program(program, sizeof program)) {
    return fail_at(ABUT_ERROR_READ, path, 0,
                   "abut's library does not find " ASSIMP_PROGRAM
                   ", the program that reads this file; set ABUT_MESH_READER to its path");
  }
  abut_status status = assimp_run(program, path, &bytes, &count, &end);
  if (status == ABUT_SUCCESS) {
    status = judge(path, program, end, bytes, count, out);
  }
  free(bytes);
  return status;
}

/* ---- the mesh ---- */

static abut_status build(builder *b, const char *bytes, const assimp_record_end *end)
{
  for (uint64_t i = 0; i < end->vertices; ++i) {
    double position[3];
    memcpy(position, bytes, sizeof position);
    bytes += sizeof position;
    for (int k = 0; k < 3; ++k) {
      if (!(position[k] - position[k] == 0.0)) { /* neither infinite nor NaN */
        return fail_at(ABUT_ERROR_FORMAT, b->name, 0, "a vertex is not finite");
      }
    }
    TRY(builder_vertex(b, position));
  }
  for (uint64_t i = 0; i < end->triangles; ++i) {
    uint32_t corners[3];
    memcpy(corners, bytes, sizeof corners);
    bytes += sizeof corners;
    for (int k = 0; k < 3; ++k) {
      TRY(builder_corner(b, corners[k], 0));
    }
    TRY(builder_face(b, 0));
  }
  return ABUT_SUCCESS;
}

abut_status assimp_record_parse(const char *path, const char *bytes, size_t count, mesh *out)
{
  const size_t vertex = 3 * sizeof(double), triangle = 3 * sizeof(uint32_t);
  assimp_record_end end = {0};
  builder b = {.name = path};
  const size_t room = count < sizeof end ? 0 : count - sizeof end;
  if (count >= sizeof end) {
    memcpy(&end, bytes + room, sizeof end);
  }
  /* Each count is checked separately first, so that their sum cannot overflow. */
  if (end.mark != ASSIMP_RECORD_MARK || end.vertices > room / vertex ||
      end.triangles > room / triangle || end.vertices * vertex > room - end.triangles * triangle) {
    *out = (mesh){0};
    return fail_at(ABUT_ERROR_FORMAT, path, 0, "its reader exited without a mesh");
  }
  bytes += room - end.vertices * vertex - end.triangles * triangle;
  return builder_finish(&b, build(&b, bytes, &end), out);
}
