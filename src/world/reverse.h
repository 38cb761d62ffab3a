/* Derivatives of steps of worlds: reverse passes, Jacobians, gradients and tangents of rollouts. */
#ifndef ABUT_WORLD_REVERSE_H
#define ABUT_WORLD_REVERSE_H

#include "world/pair_batches.h"

/* ---- derivatives ----
 *
 * A reverse pass goes through one solve at a time (docs/dev/cone-formulas.md, section 10): from the
 * cotangent of its acceleration to multipliers, to contacts, through the manifold to the poses of
 * links, and through the tree to the state, controls and parameters. A Jacobian is one such pass
 * for each degree of freedom. */

/* How many numbers a state has that is kept: q, v and w, the last acceleration, one behind the
 * other. read_state and write_state copy one between three buffers and rows of `width` numbers, at
 * `at`. */
size_t state_width(const world_sizes *n);
abut_status read_state(const stepping *s, world_buffer from, size_t width, size_t at,
                       world_buffer q, world_buffer v, world_buffer w);
abut_status write_state(const stepping *s, world_buffer q, world_buffer v, world_buffer w,
                        world_buffer to, size_t width, size_t at);

/* Derivatives of a step of RK4 go through stages, whose states are gone when the step has been
 * made: keep_stage keeps one that has just been solved in WORLD_STAGES, a row of stages_width
 * numbers. keep_stages solves them for that alone, from OUT_Q, OUT_V and OUT_W on. */
size_t stages_width(const world_sizes *n);
abut_status keep_stage(const stepping *s, int stage);
abut_status keep_stages(const stepping *s);

/* Where the cotangents of world pairs' groups go: rows (world pairs, GROUP_ADJOINT) from row `at`
 * on. So the same kernels fill WORLD_GROUP_ADJOINT and a part of WORLD_BASIS. */
typedef struct group_rows {
  buffer *groups;
  size_t at;
} group_rows;

/* The whole of WORLD_GROUP_ADJOINT. */
group_rows group_rows_of(const stepping *s);

/* Goes back through one solve, whose step_tree must be there: from WORLD_ACCELERATION_BAR, the
 * cotangent of WORLD_ACCELERATION at WORLD_Q and WORLD_V, to WORLD_STATE_BAR and WORLD_U_BAR.
 * Cotangents of parameters are added to those in WORLD_ADJOINT. */
abut_status solve_adjoint(const stepping *s);

/* Fills WORLD_JACOBIAN with the rows of one stage of `stages` (1 or, with RK4, 4): its acceleration
 * by q, v, controls and parameters. */
abut_status acceleration_jacobian(const stepping *s, int stage, int stages);

/* A law's `jacobian` where contacts see of the multipliers y only the relative twist that y gives
 * the two links of a group, and are linear in it. Six passes through all pairs then serve all
 * degrees of freedom. */
abut_status jacobian_by_twists(const stepping *s, int stage, int stages);

/* Its second half: the rows of the Jacobian, of what WORLD_BASIS holds. */
abut_status jacobian_of_basis(const stepping *s, int stage, int stages);

/* For laws whose contacts are the manifold's: has `pull` and then the manifold go back through each
 * launch set. `pull` makes the cotangents of the contacts of a launch set's world pairs in
 * WORLD_BARS, and of their groups in *to; it is called with numbers 0 to `times` - 1, each with
 * rows of its own: those of a number come behind the last one's. The manifold takes cotangents of
 * contacts on to the forces and moments on links in *to. Where contacts are given theirs are copied
 * to the caller's arrays instead. */
typedef abut_status (*pair_batch_pull)(const stepping *s, const pair_batch *w, size_t number,
                                       const group_rows *to);
abut_status pair_batches_adjoint(const stepping *s, const group_rows *to, size_t times,
                                 pair_batch_pull pull);

/* The parts of a Jacobian's row. unit_cotangent makes WORLD_ACCELERATION_BAR of a cotangent that is
 * 1 for one degree of freedom of the step's own acceleration: with one stage, an Euler step,
 * dampers act within the step and change it. tree_adjoint goes from WORLD_MULTIPLIERS and the
 * adjoints of groups and rows to the state, controls and parameters, where joints accelerate by
 * `acceleration`. put_jacobian_row copies what it has found to WORLD_JACOBIAN. */
abut_status unit_cotangent(const stepping *s, int dof, int stages);
abut_status tree_adjoint(const stepping *s, world_buffer acceleration);
abut_status put_jacobian_row(const stepping *s, int stage, int dof, int stages);

/* Sets the bytes that every reverse pass needs of each buffer, for one world. */
void back_bytes(const steps_call *c, const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS]);

/* ---- for contact laws ---- */

/* explicit_step_adjoint is the `step_adjoint` of laws whose Euler steps need nothing but step_tree
 * for their derivatives; it makes that anew unless is_there. begin_adjoint is its beginning: it
 * goes back through the step's end, from WORLD_STATE_BAR to WORLD_ACCELERATION_BAR; solve_adjoint
 * goes on from there. */
abut_status explicit_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status begin_adjoint(const stepping *s, size_t step);

/* ---- gradients ----
 *
 * A VJP keeps the states where segments of the rollout begin, and makes the states within a segment
 * anew before it goes back through it, so that memory grows with the root of the number of
 * steps. */

/* How many steps a segment has; the last one may have fewer. */
size_t segment_of(const steps_call *c);

/* Of a VJP: refuses what cannot be, adds its arrays to the call, sets its bytes of one world, and
 * launches a chunk. */
abut_status check_gradients(const steps_call *c);
void add_gradients(steps_call *c);
void gradient_bytes(const steps_call *c, const world_sizes *n, size_t real,
                    size_t bytes[POOL_BUFFERS]);
abut_status gradients_launch(batch_on *on, size_t slot, chunk c);

/* ---- tangents ----
 *
 * A JVP and a transition make the Jacobian of each step's accelerations, and go forward through
 * it. */

abut_status check_tangents(const steps_call *c);
void add_tangents(steps_call *c);

/* How many numbers a tangent has: of q and v (2 nv), controls (nu) and parameters (PARAMETERS). */
size_t seed_width(const world_sizes *n);

/* As gradient_bytes and gradients_launch. */
void tangent_bytes(const steps_call *c, const world_sizes *n, size_t real,
                   size_t bytes[POOL_BUFFERS]);
abut_status tangent_launch(batch_on *on, size_t slot, chunk c);

#endif
