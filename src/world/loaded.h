/* A scene that a context has: its definition, its bodies and pairs, and tables on devices. */
#ifndef ABUT_WORLD_LOADED_H
#define ABUT_WORLD_LOADED_H

#include "device/context.h"
#include "spring/pack.h"
#include "world/bodies.h"
#include "world/clouds.h"
#include "world/model.h"
#include <abut/world.h>

/* Clouds of a scene's pairs on a device, of springs alone. */
typedef struct resident_springs {
  buffer *heads, *shapes, *pairs; /* packed clouds; two of them of each pair */
  size_t room;                    /* padded points of the largest pair */
} resident_springs;

/* Tables on a device. */
typedef struct resident_model {
  world_sizes sizes;
  buffer *head, *ints, *reals, *parameters;
  buffer *bodies; /* of each pair and side the position and quaternion of its body on its link */
  resident_springs springs;
} resident_model;

/* Of springs at rest, the pair that gives way most for its size: docs/spring.md. */
typedef struct scene_sinking {
  double share, depth, k; /* of the smaller body's diagonal, [m], [N/m] that would make it 1 % */
  size_t pair, pairs;     /* which, and how many give way by more than 1 % */
} scene_sinking;

typedef struct loaded_scene {
  owned base;
  context *context;
  scene_def def;
  scene_constants constants;
  abut_body *bodies; /* by scene_body_number; of springs null until they are needed */
  size_t body_count;
  abut_pair *pairs;      /* (def.pair_count); null where contacts are given with each step */
  contact_group *groups; /* one a pair */
  bool given;            /* some pair has no bodies */
  scene_clouds clouds;   /* of springs, which have no `pairs`, */
  scene_sinking sinking; /* likewise */
  packed_clouds packed;  /* in the context's precision */
  resident_model *on[MEMBERS];
  double rates[MEMBERS];
} loaded_scene;

/* The scene of a handle, or NULL with an error text. */
loaded_scene *scene_get(abut_scene s);

/* A scene from a text, which names no files. */
abut_status scene_of_text(abut_context context, const char *text, abut_scene *out);

/* Its tables on a member of its context, brought there when they are first asked for. */
abut_status scene_on(loaded_scene *s, size_t place, const resident_model **out);

/* Makes the bodies, which the steps of some laws do without, where they are not there yet. */
abut_status scene_need_bodies(loaded_scene *s);

/* Where links are (links, PLACE), of positions that are finite and have quaternions. */
abut_status scene_place_links(const loaded_scene *s, const double *q, double *places);

/* Tables of other groups. */
abut_status resident_make(const loaded_scene *s, device *d, const contact_group *groups,
                          size_t count, resident_model *out);
void resident_free_model(resident_model *r);

/* ---- for contact laws ---- */

/* Makes the bodies of a scene and the pairs of them. */
abut_status scene_load_pairs(loaded_scene *s, abut_context c, const scene_bodies *bodies);

/* Counts the contacts of all pairs, and tells which bodies are suspicious. */
void scene_inform_of_pairs(const loaded_scene *s, abut_scene_info *info);

#endif
