/* What the files of springs share. Formulas: docs/spring-formulas.md; steps of worlds: docs/spring.md,
 * "Worlds". */
#ifndef ABUT_WORLD_LAW_SPRING_H
#define ABUT_WORLD_LAW_SPRING_H

#include "geometry/spring.h"
#include "spring/run.h"
#include "world/law/law.h"

/* Buffers of the worlds' pool behind those that all laws have. */
enum spring_world_buffer {
  SPRING_FORCES = WORLD_BUFFERS, /* (pairs, 3) the force on body 1 of each pair */
  SPRING_MATRIX,                 /* (nv, nv) the triangles L and U of 1 - h da/dv in an implicit step */
  SPRING_PIVOTS,                 /* (nv) ints: the rows that were swapped for them */
  /* The cotangents of the state (2 nv) and of parameters (PARAMETERS) that a reverse pass has so far, while
   * a Jacobian is made in the buffers where they lie. */
  SPRING_KEPT_STATE,
  SPRING_KEPT,
  SPRING_WORLD_BUFFERS
};

_Static_assert((int)SPRING_WORLD_BUFFERS <= POOL_BUFFERS, "a pool has no room for all buffers of springs");

/* Arguments of launches: a buffer of the pair at work (spring/run.h), and the poses of pairs' bodies on their
 * links. A twist has six numbers: velocity, then angular velocity. */
#define PAIR_OF(s, id) ARG_BUFFER(spring_buffer(s, id))
#define BODIES(s) ARG_BUFFER((s)->model->bodies)
#define TWIST 6

/* A buffer of buffer pool 0, numbered by spring/run.h. */
buffer *spring_buffer(const stepping *s, size_t id);

/* ---- a scene (spring_scene.c): members of the law ---- */
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

/* Fills s->sinking (docs/spring.md): how far the pairs give way under what rests on them at the scene's
 * start. */
abut_status scene_find_sinking(loaded_scene *s);

/* ---- wrenches (spring.c) ---- */

/* Pair i for the launches of spring/run.h, with the worlds of the chunk as its rows. */
spring_run run_of_pair(const stepping *s, size_t i);

/* Makes the wrenches of pair i on its bodies, for the places and twists of links in WORLD_SCRATCH. Pairs
 * share buffer pool 0, so that it holds the pair of the last call. */
abut_status find_wrench(const stepping *s, size_t i);

/* Writes to buffer `to` the twist of a side's body that follows from the links' twists at `from` in
 * WORLD_SCRATCH. */
abut_status put_twist(const stepping *s, size_t i, int side, int from, size_t to);

/* ---- derivatives (spring_adjoint.c): members of the law ---- */
abut_status spring_implicit(const stepping *s);
abut_status spring_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status spring_contacts_adjoint(const stepping *s);
abut_status spring_basis(const stepping *s);
abut_status spring_multipliers_of_basis(const stepping *s);
abut_status spring_implicit_jacobian(const stepping *s);

#endif
