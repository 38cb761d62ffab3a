/* Body files: NAME.body.json. */
#ifndef ABUT_IO_BODY_FILE_H
#define ABUT_IO_BODY_FILE_H

#include "base/memory.h"
#include <abut/body.h>

/* How the body becomes an oriented point cloud (docs/spring.md). */
typedef enum cloud_source { CLOUD_UNSTATED = 0, CLOUD_FACES = 1, CLOUD_POINTS = 2 } cloud_source;

typedef struct body_cloud {
  cloud_source source;
  double eps1; /* of faces [m^2]; 0: by their areas */
  bool area_weight;
  const double *points; /* (count, 7) position, unit normal, eps1 */
  size_t count;
} body_cloud;

typedef struct body_file {
  char *name;         /* NULL unless given */
  char *mesh_path;    /* the mesh, with the body file's folder before a relative path; NULL: `def`
                         has it, and a surface, since it is a height field's */
  char *surface_path; /* likewise; NULL unless given */
  abut_body_def def;  /* its primitives alone, no other mesh and no cookie; none where a cloud
                         is stated, maybe */
  body_cloud cloud;
  arena memory; /* of the primitives, the features and the cloud */
} body_file;

/* Reads and checks everything but the mesh and the surface; `name` is the file's path. *out is
 * empty on failure. */
abut_status body_file_parse(const char *name, const char *bytes, size_t count, body_file *out);
abut_status body_file_read(const char *path, body_file *out);
void body_file_free(body_file *b);

#endif
