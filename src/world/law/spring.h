/* What the files of springs share. Formulas: docs/dev/spring-formulas.md; steps of worlds:
 * docs/spring.md, "Worlds". */
#ifndef ABUT_WORLD_LAW_SPRING_H
#define ABUT_WORLD_LAW_SPRING_H

#include "geometry/spring.h"
#include "query/spring/run.h"
#include "world/law/law.h"

/* Buffers of the worlds' pool behind those that all laws have. */
enum spring_world_buffer {
  SPRING_FORCES = WORLD_BUFFERS, /* (pairs, 3) the force on body 1 of each pair */
  SPRING_MATRIX,                 /* (nv, nv) the triangles L and U of 1 - h da/dv in an implicit
                                    step */
  SPRING_PIVOTS,                 /* (nv) ints: the rows that were swapped for them */
  /* The cotangents of the state (2 nv) and of parameters (PARAMETERS) that a reverse pass has so
   * far, while a Jacobian is made in the buffers where they lie. */
  SPRING_KEPT_STATE,
  SPRING_KEPT,
  SPRING_WORLD_BUFFERS
};

_Static_assert((int)SPRING_WORLD_BUFFERS <= POOL_BUFFERS,
               "a pool has no room for all buffers of springs");

/* Arguments of launches: a buffer of the pair at work (query/spring/run.h), and the poses of pairs'
 * bodies on their links. A twist has six numbers: velocity, then angular velocity. */
#define PAIR_OF(s, id) ARG_BUFFER(spring_buffer(s, id))
#define BODIES(s) ARG_BUFFER((s)->tables->bodies)
#define TWIST 6

/* A buffer of buffer pool 0, numbered by query/spring/run.h. */
buffer *spring_buffer(const stepping *s, size_t id);

/* ---- a scene (spring_scene.c): members of the law ---- */
abut_status spring_read(const json_file *f, const json_at *root, scene_def *s);
abut_status spring_read_pair(const json_file *f, const json_at *element, scene_pair *p);
abut_status spring_settle(const reader *r, const json_at *root);
abut_status spring_settle_pair(const reader *r, const json_at *element, scene_pair *p);
abut_status spring_choose(const scene_def *s, const contact_law **out);
abut_status spring_load(loaded_scene *s, abut_context c, const scene_bodies *bodies);
abut_status spring_upload(const loaded_scene *s, device *d, resident_tables *out);
abut_status spring_measure(const loaded_scene *s, const scene_pair *p, int side, extent *out);
void spring_inform(const loaded_scene *s, abut_scene_info *info);
void spring_sizes(const scene_def *s, size_t slots, world_sizes *out);
void spring_put(const scene_def *s, const scene_constants *c, const contact_group *groups,
                scene_tables *m);
abut_status spring_load_body(abut_context c, const char *path, const abut_field_options *options,
                             abut_body *out);

/* Fills s->sinking (docs/spring.md): how far the pairs give way under what rests on them at the
 * scene's start. */
abut_status scene_find_sinking(loaded_scene *s);

/* ---- springs at the manifold's contacts (spring_contacts.c) ---- */

/* The law of scenes without clouds. Its word is that of springs, and it is chosen by spring_choose
 * alone. */
extern const contact_law spring_contacts_law;

/* ---- calls and steps (spring.c): members of the law ---- */
abut_status spring_check(const abut_worlds *w);
abut_status spring_check_step(const stepping *s);
abut_status spring_solve(const stepping *s, world_buffer q, world_buffer v, world_buffer start);
abut_status spring_inverse(const stepping *s, world_buffer q, world_buffer v);

/* Sets the bytes of one world that implicit steps need, where these are asked for. */
void spring_implicit_bytes(const steps_call *c, const world_sizes *n, size_t real,
                           size_t bytes[POOL_BUFFERS]);

/* ---- wrenches (spring.c) ---- */

/* Pair i for the launches of query/spring/run.h, with the worlds of the chunk as its rows. */
spring_run run_of_pair(const stepping *s, size_t i);

/* Makes the wrenches of pair i on its bodies, for the places and twists of links in WORLD_SCRATCH.
 * Pairs share buffer pool 0, so that it holds the pair of the last call. */
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

/* The length of a step. */
double spring_step(const stepping *s);

/* Makes y = M^-1 b and what limits and friction losses ask for by it; with_basis also
 * WORLD_GROUP_ADJOINT, as a sum of what WORLD_BASIS holds. `ahead` says that forces are those of an
 * implicit step, f + h df/dv x. */
abut_status spring_multipliers(const stepping *s, bool with_basis, bool ahead);

/* Makes v' = v + h x with x = (1 - h da/dv)^-1 a, of the acceleration a and its Jacobian, of which
 * only the columns of v need be right. */
abut_status spring_implicit_by(const stepping *s,
                               abut_status (*jacobian)(const stepping *s, int stage, int stages));

/* Takes the cotangent of x to that of (1 - h da/dv) x, by the transposed triangles of
 * SPRING_MATRIX. */
abut_status spring_unsolve(const stepping *s);

/* Adds the gradient of the bias' part of h df/dv x, which is -h dc/dv x, to WORLD_ADJOINT.
 * WORLD_STAGE_V is room: implicit steps have no stages. */
abut_status spring_bias_adjoint(const stepping *s);

#endif
