/* Derivatives of steps of worlds: reverse passes, Jacobians, gradients and tangents of rollouts. */
#ifndef ABUT_WORLD_REVERSE_H
#define ABUT_WORLD_REVERSE_H

#include "world/pair_batches.h"

/* ---- derivatives ----
 *
 * A reverse pass handles one solve at a time (docs/dev/cone-formulas.md, section 10). It goes from
 * the cotangent of the acceleration to multipliers, to contacts, through the manifold to link
 * poses, and through the tree to the state, controls and parameters. A Jacobian takes one such pass
 * per degree of freedom. */

/* state_width is the size of a saved state: q, v, and the last acceleration w. read_state and
 * write_state copy a state between three buffers and rows of `width` numbers, at `at`. */
size_t state_width(const world_sizes *n);
abut_status read_state(const stepping *s, world_buffer from, size_t width, size_t at,
                       world_buffer q, world_buffer v, world_buffer w);
abut_status write_state(const stepping *s, world_buffer q, world_buffer v, world_buffer w,
                        world_buffer to, size_t width, size_t at);

/* Derivatives of an RK4 step need its stages, whose states are gone after the step. keep_stage
 * saves the stage that has just been solved to WORLD_STAGES, a row of stages_width numbers.
 * keep_stages solves all stages again for this purpose, from OUT_Q, OUT_V and OUT_W. */
size_t stages_width(const world_sizes *n);
abut_status keep_stage(const stepping *s, int stage);
abut_status keep_stages(const stepping *s);

/* Destination of the cotangents of groups: rows (world pairs, GROUP_ADJOINT) from row `at` on. The
 * same kernels can so fill WORLD_GROUP_ADJOINT or a part of WORLD_BASIS. */
typedef struct group_rows {
  buffer *groups;
  size_t at;
} group_rows;

/* All of WORLD_GROUP_ADJOINT. */
group_rows group_rows_of(const stepping *s);

/* Reverse pass through one solve, after its step_tree: from WORLD_ACCELERATION_BAR, the cotangent
 * of WORLD_ACCELERATION at WORLD_Q and WORLD_V, to WORLD_STATE_BAR and WORLD_U_BAR. Cotangents of
 * parameters are added to WORLD_ADJOINT. */
abut_status solve_adjoint(const stepping *s);

/* Fills WORLD_JACOBIAN with the rows of one of `stages` stages (1, or 4 with RK4): the
 * acceleration's derivatives with respect to q, v, controls and parameters. */
abut_status acceleration_jacobian(const stepping *s, int stage, int stages);

/* A law's `jacobian` if contacts depend on the multipliers y only through the relative twist of a
 * group's two links, and linearly. Six passes through all pairs then suffice for all degrees of
 * freedom. */
abut_status jacobian_by_twists(const stepping *s, int stage, int stages);

/* Its second half: computes the rows of the Jacobian from WORLD_BASIS. */
abut_status jacobian_of_basis(const stepping *s, int stage, int stages);

/* For laws whose contacts come from the manifold: runs `pull` and then the manifold's reverse pass
 * for each launch set. `pull` computes the cotangents of the contacts of the set's world pairs in
 * WORLD_BARS, and those of their groups in *to. It is called with number 0 to `times` - 1; each
 * number has its own rows, behind those of the previous one. The manifold turns the cotangents of
 * contacts into forces and moments on links in *to. Cotangents of given contacts are copied to the
 * caller's arrays instead. */
typedef abut_status (*pair_batch_pull)(const stepping *s, const pair_batch *w, size_t number,
                                       const group_rows *to);
abut_status pair_batches_adjoint(const stepping *s, const group_rows *to, size_t times,
                                 pair_batch_pull pull);

/* The steps for one row of a Jacobian. unit_cotangent sets WORLD_ACCELERATION_BAR to the cotangent
 * that is 1 for one degree of freedom of the step's acceleration; in an Euler step (one stage)
 * implicit damping changes it. tree_adjoint goes from WORLD_MULTIPLIERS and the adjoints of groups
 * and rows to the state, controls and parameters, with joint accelerations `acceleration`.
 * put_jacobian_row copies the result to WORLD_JACOBIAN. */
abut_status unit_cotangent(const stepping *s, int dof, int stages);
abut_status tree_adjoint(const stepping *s, world_buffer acceleration);
abut_status put_jacobian_row(const stepping *s, int stage, int dof, int stages);

/* Sets the bytes per world of each buffer that every reverse pass needs. */
void back_bytes(const steps_call *c, const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS]);

/* ---- for contact laws ---- */

/* explicit_step_adjoint is the `step_adjoint` of laws whose Euler steps need only step_tree for
 * their derivatives; it runs step_tree unless is_there. begin_adjoint is its first part: it goes
 * back through the end of the step, from WORLD_STATE_BAR to WORLD_ACCELERATION_BAR. solve_adjoint
 * continues from there. */
abut_status explicit_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status begin_adjoint(const stepping *s, size_t step);

/* ---- gradients ----
 *
 * A VJP saves the states at the start of each segment of the rollout. It recomputes the states
 * within a segment before it goes back through that segment, so memory grows with the square root
 * of the number of steps. */

/* Returns the number of steps per segment; the last segment may be shorter. */
size_t segment_of(const steps_call *c);

/* For a VJP: check its arguments, add its arrays to the call, set its bytes per world, and launch a
 * chunk. */
abut_status check_gradients(const steps_call *c);
void add_gradients(steps_call *c);
void gradient_bytes(const steps_call *c, const world_sizes *n, size_t real,
                    size_t bytes[POOL_BUFFERS]);
abut_status gradients_launch(batch_on *on, size_t slot, chunk c);

/* ---- tangents ----
 *
 * A JVP and a transition compute the Jacobian of each step's accelerations and go forward through
 * it. */

abut_status check_tangents(const steps_call *c);
void add_tangents(steps_call *c);

/* Returns the size of a tangent: q and v (2 nv), controls (nu) and parameters (PARAMETERS). */
size_t seed_width(const world_sizes *n);

/* Like gradient_bytes and gradients_launch. */
void tangent_bytes(const steps_call *c, const world_sizes *n, size_t real,
                   size_t bytes[POOL_BUFFERS]);
abut_status tangent_launch(batch_on *on, size_t slot, chunk c);

#endif
