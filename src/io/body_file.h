/* Body files: NAME.body.json. */
#ifndef ABUT_IO_BODY_FILE_H
#define ABUT_IO_BODY_FILE_H

#include "base/memory.h"
#include <abut/body.h>

/* Source of the body's oriented point cloud (docs/spring.md). */
typedef enum cloud_source { CLOUD_UNSTATED = 0, CLOUD_FACES = 1, CLOUD_POINTS = 2 } cloud_source;

typedef struct body_cloud {
  cloud_source source;
  double eps1; /* for faces [m^2]; 0: from their areas */
  bool area_weight;
  const double *points; /* (count, 7) position, unit normal, eps1 */
  size_t count;
} body_cloud;

typedef struct body_file {
  char *name;      /* NULL unless given */
  char *mesh_path; /* the mesh; a relative path is prefixed with the body file's folder. NULL: `def`
                      has a mesh and a surface, since it is a height field's */
  char *surface_path; /* likewise; NULL unless given */
  abut_body_def def; /* the primitives, without another mesh and without a cookie; there may be none
                        if a cloud is stated */
  body_cloud cloud;
  arena memory; /* for the primitives, the features and the cloud */
} body_file;

/* Reads and checks everything except the mesh and the surface. `name` is the file's path. *out is
 * empty on failure. */
abut_status body_file_parse(const char *name, const char *bytes, size_t count, body_file *out);
abut_status body_file_read(const char *path, body_file *out);
void body_file_free(body_file *b);

#endif
