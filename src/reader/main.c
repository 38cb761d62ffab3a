/* abut-read-mesh FILE: reads a mesh with Assimp for abut's library and writes its vertices and
 * triangles to standard output, see format/assimp_record.h. On failure it prints a line to standard
 * error and exits with status 2. */
#include "format/assimp_record.h"
#include "scene.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reserves standard output for the mesh, and discards what libraries print there. */
static FILE *take_output(void)
{
  const int own = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
  if (own < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) {
    return NULL;
  }
  close(nowhere);
  return fdopen(own, "wb");
}

static int write_mesh(const triangles *t, FILE *to)
{
  const assimp_record_end end = {t->vertex_count, t->triangle_count, ASSIMP_RECORD_MARK};
  return fwrite(t->vertices, 3 * sizeof *t->vertices, t->vertex_count, to) == t->vertex_count &&
         fwrite(t->corners, 3 * sizeof *t->corners, t->triangle_count, to) == t->triangle_count &&
         fwrite(&end, sizeof end, 1, to) == 1 && fflush(to) == 0;
}

int main(int count, char **arguments)
{
  triangles t;
  char reason[REASON_BYTES];
  if (count == 2 && strcmp(arguments[1], "--version") == 0) {
    assimp_version(reason);
    return puts(reason) < 0;
  }
  FILE *to = count == 2 ? take_output() : NULL;
  if (!to) {
    fprintf(stderr, "usage: abut-read-mesh FILE, by abut's library\n");
    return 1;
  }
  if (scene_read(arguments[1], &t, reason) != 0) {
    fprintf(stderr, "%s\n", reason);
    _exit(ASSIMP_READER_REFUSES);
  }
  /* The system frees all memory at exit. Skipping Assimp's cleanup also avoids losing a mesh if
   * that crashes. */
  _exit(write_mesh(&t, to) ? 0 : 1);
}
