/* The bodies of a scene on the host, before a context has them: definitions of those that are
 * shapes, and the meshes of those that a density fills. */
#ifndef ABUT_SCENE_BODIES_H
#define ABUT_SCENE_BODIES_H

#include "format/mesh.h"
#include "scene/definition.h"
#include <abut/body.h>

/* All arrays are by scene_body_number, `count` long. */
typedef struct scene_bodies {
  size_t count;
  size_t *first; /* the first body of the same file, or of the same shape and lengths, which it
                    shares */
  const abut_body_def **def; /* of a shape what abut_create_body needs; of a file its mesh alone,
                                or NULL where its link has no density */
  mesh *meshes;              /* the meshes of files, each at the first body of the file */
  abut_body_def *of_meshes;  /* the same as definitions, which point into `meshes` */
  arena memory;
} scene_bodies;

/* Fills *out. Of bodies' files it opens those whose link has a density. *out is empty on
 * failure. */
abut_status scene_bodies_load(const scene_def *s, scene_bodies *out);
void scene_bodies_free(scene_bodies *b);

#endif
