/* The bodies of a scene on the host: what makes those of shapes, and the meshes that densities
 * fill. */
#ifndef ABUT_WORLD_BODIES_H
#define ABUT_WORLD_BODIES_H

#include "format/mesh.h"
#include "world/scene_def.h"
#include <abut/body.h>

/* All arrays are by scene_body_number, `count` long. */
typedef struct scene_bodies {
  size_t count;
  size_t *first; /* the first body of the same file, or of the same shape and lengths */
  const abut_body_def **def; /* of a shape: for abut_create_body; of a file: its mesh alone, where
                                the link has a density, else NULL */
  mesh *meshes;  /* of files, at their first body, */
  abut_body_def *of_meshes; /* and as definitions */
  arena memory;
} scene_bodies;

/* Opens the files of links with a density alone. *out is empty on failure. */
abut_status scene_bodies_load(const scene_def *s, scene_bodies *out);
void scene_bodies_free(scene_bodies *b);

#endif
