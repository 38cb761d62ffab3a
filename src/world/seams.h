/* Seams: where bodies of a scene that are fixed to one another have faces that lie flush, what
 * slides over them meets one flat face (docs/dev/spec.md, section 11.8). Near a seam a bridge, a
 * box within both bodies, takes the place of their fields; zones say how far. */
#ifndef ABUT_WORLD_SEAMS_H
#define ABUT_WORLD_SEAMS_H

#include "world/loaded.h"
#include "scene/place.h"

#define SEAM_TILES 8

/* A seam between two bodies, which are its first tiles, in the frame of what carries both. The
 * others are bodies that the bridge reaches into behind the seam's ends. */
typedef struct scene_seam {
  size_t tiles[SEAM_TILES], tile_count;  /* by scene_body_number */
  int unit;                              /* WORLD, or the link that moves and carries them */
  double centre[3], axes[3][3], half[3]; /* of the bridge; the first axis is across the seam */
  double low[3], high[3]; /* where the zone begins to rise along the axes, and has fallen, from
                             the centre [m] */
  double rise;            /* over which length it does so [m] */
  double place[PLACE];    /* of the bridge on the link of the first tile */
  abut_body bridge;       /* that of another seam where this has the same lengths */
} scene_seam;

/* A pair beside seams; `offset` is its first slot among those of its scene's pair. */
typedef struct seam_pair {
  abut_pair pair;
  size_t offset;
} seam_pair;

struct scene_seams {
  scene_seam *all;
  size_t count, room;
  seam_pair *pairs;
  size_t pair_count, pair_room;
};

/* Finds the seams of a scene, after tiles_make, and gives its pairs their zones and groups for the
 * bridges. */
abut_status seams_make(loaded_scene *s, abut_context c);

/* seams_destroy destroys the pairs and bodies that seams_make has made; seams_free frees the lists
 * of them. */
void seams_destroy(loaded_scene *s);
void seams_free(loaded_scene *s);

#endif
