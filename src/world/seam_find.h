/* Which bodies of a scene lie flush beside each other, and the seams between them: what
 * world/seams.c gives to pairs. */
#ifndef ABUT_WORLD_SEAM_FIND_H
#define ABUT_WORLD_SEAM_FIND_H

#include "contact/pair.h"
#include "scene/seam_faces.h"
#include "world/seams.h"

#define NO_END 1e9 /* [m] */

/* A body that pairs with normal cones have, in the frame of what carries it. */
typedef struct flush_body {
  bool asked;
  int unit;
  double place[PLACE], middle[3], radius;
  double least, most, plane;   /* `penetration` of its pairs, and the largest `plane` */
  double round;                /* seam_roundness */
  seam_face faces[SEAM_FACES]; /* in the frame of the unit */
  size_t face_count;
} flush_body;

/* What the seam of two bodies, or of one with itself, needs [m]. */
typedef struct seam_sizes {
  double near;        /* below which faces are flush */
  double whole;       /* how far from the seam the zone is whole */
  double fade, reach; /* over which length it fades; how far from the seam the bridge ends at
                         least */
} seam_sizes;

/* A seam, and what is known of it until all are found. */
typedef struct found_seam {
  scene_seam seam;
  seam_sizes sizes;
  bool flush[FACE_SIDES];
} found_seam;

typedef struct finding {
  const loaded_scene *s;
  flush_body *bodies;
  found_seam *all;
  size_t count, room;
} finding;

/* Fills f->bodies and f->all of f->s; *f is freed after a failure, too. */
abut_status seams_find(finding *f);

/* Where a side of a seam lies in another seam, as where four floor tiles meet, or three, its bridge
 * goes on into the bodies behind, and its zone ends there. */
void seam_go_on(const finding *f, const found_seam *from, scene_seam *to);

/* Places a link in the frame of the link that moves and carries it, or of the world. Returns that
 * link. */
int seam_place_in_unit(const scene_def *s, size_t link, double place[PLACE]);

/* Returns whether seams matter to a pair, which may be NULL; and pair i of the scene where they do,
 * else NULL. */
bool seam_counts(const pair *p);
const pair *seam_counted(const loaded_scene *s, size_t i);

#endif
