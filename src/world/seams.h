/* Seams join the flush faces of bodies that are fixed to each other, so a sliding body meets one
 * flat face (docs/dev/spec.md, section 11.8). Near a seam a bridge, a box inside both bodies,
 * replaces their fields. Zones define the range. */
#ifndef ABUT_WORLD_SEAMS_H
#define ABUT_WORLD_SEAMS_H

#include "world/loaded.h"
#include "scene/place.h"

#define SEAM_TILES 8

/* A seam between two bodies, its first two tiles, in the frame of the link that carries both. The
 * other tiles are bodies that the bridge reaches into beyond the seam's ends. */
typedef struct scene_seam {
  size_t tiles[SEAM_TILES], tile_count;  /* by scene_body_number */
  int unit;                              /* the moving link that carries the bodies, or WORLD */
  double centre[3], axes[3][3], half[3]; /* of the bridge; the first axis is across the seam */
  double low[3], high[3]; /* where the zone begins to rise along the axes, and where it has fallen
                             to zero, from the centre [m] */
  double rise;            /* the length over which it rises [m] */
  double place[PLACE];    /* pose of the bridge on the link of the first tile */
  abut_body bridge;       /* shared with another seam of the same lengths */
} scene_seam;

/* A pair beside seams; `offset` is its first slot within its scene pair. */
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

/* Finds the seams of a scene, after tiles_make, and gives its pairs zones and groups for the
 * bridges. */
abut_status seams_make(loaded_scene *s, abut_context c);

/* seams_destroy destroys the pairs and bodies of seams_make; seams_free frees their lists. */
void seams_destroy(loaded_scene *s);
void seams_free(loaded_scene *s);

#endif
