/* Declarations that the files of springs share. Formulas: docs/dev/spring-formulas.md; steps of
 * worlds: docs/spring.md, "Worlds". */
#ifndef ABUT_WORLD_LAW_SPRING_H
#define ABUT_WORLD_LAW_SPRING_H

#include "geometry/spring.h"
#include "query/spring/run.h"
#include "world/law/law.h"

/* Buffers of the worlds' pool, after those of all laws. */
enum spring_world_buffer {
  SPRING_FORCES = WORLD_BUFFERS, /* (pairs, 3) the force on body 1 of each pair */
  SPRING_MATRIX, /* (nv, nv) the triangles L and U of 1 - h da/dv in an implicit step */
  SPRING_PIVOTS, /* (nv) ints: the row exchanges of that factorization */
  /* Saves the cotangents of the state (2 nv) and of parameters (PARAMETERS) of a reverse pass while
     a Jacobian uses their buffers. */
  SPRING_KEPT_STATE,
  SPRING_KEPT,
  SPRING_WORLD_BUFFERS
};

_Static_assert((int)SPRING_WORLD_BUFFERS <= POOL_BUFFERS,
               "a pool has no room for all buffers of springs");

/* Launch arguments: a buffer of the current pair (query/spring/run.h), and the poses of the pairs'
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

/* Fills s->sinking (docs/spring.md): the penetration of the pairs at rest in the scene's initial
 * state. */
abut_status scene_find_sinking(loaded_scene *s);

/* ---- springs at the manifold's contacts (spring_contacts.c) ---- */

/* The law of scenes without clouds. It has the same word as springs; only spring_choose selects it.
 */
extern const contact_law spring_contacts_law;

/* ---- calls and steps (spring.c): members of the law ---- */
abut_status spring_check(const abut_worlds *w);
abut_status spring_check_step(const stepping *s);
abut_status spring_solve(const stepping *s, world_buffer q, world_buffer v, world_buffer start);
abut_status spring_inverse(const stepping *s, world_buffer q, world_buffer v);

/* Sets the bytes per world for implicit steps, if the call uses them. */
void spring_implicit_bytes(const steps_call *c, const world_sizes *n, size_t real,
                           size_t bytes[POOL_BUFFERS]);

/* ---- wrenches (spring.c) ---- */

/* Pair i as an argument of query/spring/run.h, with the chunk's worlds as rows. */
spring_run run_of_pair(const stepping *s, size_t i);

/* Computes the wrenches of pair i on its bodies, for the link poses and twists in WORLD_SCRATCH.
 * Pairs share buffer pool 0, which then holds the pair of the last call. */
abut_status find_wrench(const stepping *s, size_t i);

/* Writes the twist of a side's body to buffer `to`, from the links' twists at `from` in
 * WORLD_SCRATCH. */
abut_status put_twist(const stepping *s, size_t i, int side, int from, size_t to);

/* ---- derivatives (spring_adjoint.c): members of the law ---- */
abut_status spring_implicit(const stepping *s);
abut_status spring_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status spring_contacts_adjoint(const stepping *s);
abut_status spring_basis(const stepping *s);
abut_status spring_multipliers_of_basis(const stepping *s);
abut_status spring_implicit_jacobian(const stepping *s);

/* Returns the time step. */
double spring_step(const stepping *s);

/* Computes y = M^-1 b and the contributions of limits and friction losses to it; with_basis: also
 * WORLD_GROUP_ADJOINT, as a combination of WORLD_BASIS. `ahead`: forces are those of an implicit
 * step, f + h df/dv x. */
abut_status spring_multipliers(const stepping *s, bool with_basis, bool ahead);

/* Computes v' = v + h x with x = (1 - h da/dv)^-1 a, from the acceleration a and its Jacobian, of
 * which only the columns of v need be valid. */
abut_status spring_implicit_by(const stepping *s,
                               abut_status (*jacobian)(const stepping *s, int stage, int stages));

/* Turns the cotangent of x into that of (1 - h da/dv) x, by the transposed triangles of
 * SPRING_MATRIX. */
abut_status spring_unsolve(const stepping *s);

/* Adds to WORLD_ADJOINT the gradient of the bias' part of h df/dv x, which is -h dc/dv x.
 * WORLD_STAGE_V serves as scratch: implicit steps have no stages. */
abut_status spring_bias_adjoint(const stepping *s);

#endif
