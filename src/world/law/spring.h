/* What the files of springs share: their buffers, and what derivatives ask of steps. */
#ifndef ABUT_WORLD_LAW_SPRING_H
#define ABUT_WORLD_LAW_SPRING_H

#include "geometry/spring.h"
#include "spring/run.h"
#include "world/law/law.h"

/* Buffers of the worlds' pool, behind those of all laws. */
enum spring_world_buffer {
  SPRING_FORCES = WORLD_BUFFERS, /* on the first body of each pair */
  SPRING_MATRIX,                 /* of implicit steps, in two triangles, */
  SPRING_PIVOTS,                 /* and the rows that were swapped for them */
  SPRING_KEPT_STATE, /* cotangents of the state and of parameters, while others are made */
  SPRING_KEPT,
  SPRING_WORLD_BUFFERS
};

_Static_assert((int)SPRING_WORLD_BUFFERS <= POOL_BUFFERS, "a pool has no room for all buffers of springs");

/* What a pair of clouds has, in buffer pool 0; its bodies' poses on their links. */
#define PAIR_OF(s, id) ARG_BUFFER(spring_buffer(s, id))
#define BODIES(s) ARG_BUFFER((s)->model->bodies)
#define TWIST 6

buffer *spring_buffer(const stepping *s, size_t id);

/* ---- a scene (spring_scene.c) ---- */
abut_status spring_read_pair(const json_file *f, const json_at *element, scene_pair *p);
abut_status spring_settle(const reader *r, const json_at *root);
abut_status spring_settle_pair(const reader *r, const json_at *element, scene_pair *p);
abut_status spring_load(loaded_scene *s, abut_context c, const scene_bodies *bodies);
abut_status spring_upload(const loaded_scene *s, device *d, resident_model *out);
abut_status spring_measure(const loaded_scene *s, const scene_pair *p, int side, extent *out);
void spring_inform(const loaded_scene *s, abut_scene_info *info);
void spring_sizes(const scene_def *s, size_t slots, world_sizes *out);
void spring_put(const scene_def *s, const scene_constants *c, const contact_group *groups, model *m);
abut_status spring_load_body(abut_context c, const char *path, abut_body *out);

/* Fills s->sinking by what rests on what at the scene's start. */
abut_status scene_find_sinking(loaded_scene *s);

/* ---- wrenches (spring.c) ---- */
spring_run run_of_pair(const stepping *s, size_t i);

/* The wrenches of pair i on its bodies. The pairs share their memory: what is there is the last one's. */
abut_status find_wrench(const stepping *s, size_t i);

/* The twist of a side's body by a velocity of links in the scratch at `from`. */
abut_status put_twist(const stepping *s, size_t i, int side, int from, size_t to);

/* ---- derivatives (spring_adjoint.c) ---- */
abut_status spring_implicit(const stepping *s);
abut_status spring_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status spring_contacts_adjoint(const stepping *s);
abut_status spring_basis(const stepping *s);
abut_status spring_multipliers_of_basis(const stepping *s);
abut_status spring_implicit_jacobian(const stepping *s);

#endif
