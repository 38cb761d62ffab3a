/* Finds flush bodies of a scene and the seams between them; world/seams.c applies them to pairs. */
#ifndef ABUT_WORLD_SEAM_FIND_H
#define ABUT_WORLD_SEAM_FIND_H

#include "contact/pair.h"
#include "scene/seam_faces.h"
#include "world/seams.h"

#define NO_END 1e9 /* [m] */

/* A body of pairs with normal cones, in the frame of the link that carries it. */
typedef struct flush_body {
  bool asked;
  int unit;
  double place[PLACE], middle[3], radius;
  double least, most, plane;   /* the `penetration` of its pairs, and their largest `plane` */
  double round;                /* seam_roundness */
  seam_face faces[SEAM_FACES]; /* in the frame of the unit */
  size_t face_count;
} flush_body;

/* Lengths of a seam between two bodies, or of a body with itself [m]. */
typedef struct seam_sizes {
  double near;  /* the largest gap of flush faces */
  double whole; /* the distance from the seam up to which the zone is 1 */
  double fade,
    reach; /* the length over which the zone fades; the least length of the bridge on each side */
} seam_sizes;

/* A seam during the search. */
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

/* Fills f->bodies and f->all for f->s. Free *f after a failure, too. */
abut_status seams_find(finding *f);

/* Handles a side of a seam that is part of another seam, for example where three or four floor
 * tiles meet: the bridge continues into the bodies behind it, and the zone ends there. */
void seam_go_on(const finding *f, const found_seam *from, scene_seam *to);

/* Fills the pose of a link in the frame of the moving link that carries it, or of the world.
 * Returns that link. */
int seam_place_in_unit(const scene_def *s, size_t link, double place[PLACE]);

/* seam_counts returns whether seams apply to a pair, which may be NULL. The second function returns
 * pair i of the scene if seams apply to it, else NULL. */
bool seam_counts(const pair *p);
const pair *seam_counted(const loaded_scene *s, size_t i);

#endif
