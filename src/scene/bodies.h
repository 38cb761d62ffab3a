/* The bodies of a scene on the host, before a context has them: definitions of simple shapes, and
 * the meshes of bodies that are filled with a density. */
#ifndef ABUT_SCENE_BODIES_H
#define ABUT_SCENE_BODIES_H

#include "format/mesh.h"
#include "scene/definition.h"
#include <abut/body.h>

/* All arrays are indexed by scene_body_number and have `count` elements. */
typedef struct scene_bodies {
  size_t count;
  size_t *first;             /* first body of the same file, or same shape and lengths; shared */
  const abut_body_def **def; /* for a shape: the input of abut_create_body; for a file: only its
                                mesh, or NULL if its link has no density */
  mesh *meshes;              /* the meshes of files, each stored at the first body of the file */
  abut_body_def *of_meshes;  /* the same as definitions that point into `meshes` */
  arena memory;
} scene_bodies;

/* Fills *out. Opens a body's file only if its link has a density. *out is empty on failure. */
abut_status scene_bodies_load(const scene_def *s, scene_bodies *out);
void scene_bodies_free(scene_bodies *b);

#endif
