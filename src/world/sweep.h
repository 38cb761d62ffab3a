/* Sweeping: stops bodies at their impact that would otherwise pass through each other within a
 * step, in scenes that request it (docs/sweeping.md). Meshes and settings belong to the scene
 * (sweep_scene.c); a step searches for impacts after its integrator (sweep.c). */
#ifndef ABUT_WORLD_SWEEP_H
#define ABUT_WORLD_SWEEP_H

#include "world/stage.h"

/* ---- a scene ---- */

/* Makes the meshes of all swept bodies, and fills `sweep_half` and `apart` of the definition's
 * pairs. The law must have loaded the scene. */
abut_status sweep_load(loaded_scene *s);

/* Destroys these meshes. It keeps the current error text, so it may be called after a failure. */
void sweep_destroy_meshes(loaded_scene *s);

/* Uploads the data other than meshes. *out is NULL on failure. */
abut_status sweep_upload(const loaded_scene *s, device *d, resident_sweep **out);
void sweep_free(resident_sweep *r); /* NULL is allowed */

/* Return the body that provides the mesh of a swept pair's side, and that mesh. Equal bodies share
 * one mesh. */
size_t sweep_body(const loaded_scene *s, const scene_pair *p, int side);
ccd_mesh *sweep_mesh(const loaded_scene *s, const scene_pair *p, int side);

/* ---- a call ---- */

/* Whether any of the call's scenes sweeps. */
bool sweeps(const steps_call *c);

/* sweep_place uploads the meshes of the call's scenes and allocates scratch on the device;
 * sweep_leave frees the scratch. */
abut_status sweep_place(const steps_call *c, batch_on *on);
void sweep_leave(steps_on *at);

/* Sets the bytes of each buffer per world. */
void sweep_bytes(const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS]);

/* Sets the additional bytes for derivatives, on a device with `lanes` lanes. */
void impact_bytes(const world_sizes *n, size_t real, size_t lanes, size_t bytes[POOL_BUFFERS]);

/* Searches for impacts between OUT_Q and WORLD_NEXT_Q, and updates WORLD_NEXT_Q and WORLD_NEXT_V
 * after impacts. WORLD_SCRATCH is unchanged. */
abut_status sweep_step(const stepping *s);

/* ---- derivatives ----
 *
 * Derivatives of the impacts that the last sweep_step has kept, with dual numbers (impact.c):
 * docs/sweeping.md. */

/* Propagate the tangent in WORLD_TANGENT, or the columns of WORLD_MATRIX, from the result of the
 * integrator to the end of the step. */
abut_status impact_tangent(const stepping *s);
abut_status impact_matrix(const stepping *s);

/* impact_adjoint takes WORLD_STATE_BAR back from the end of the step to the result of the
 * integrator. `impacts` is the largest number of impacts of any world. Cotangents of parameters are
 * added to WORLD_ADJOINT and OUT_SPRINGS_BAR. After the integrator's adjoint, impact_begin_adjoint
 * adds the cotangent of q at the start of the step to WORLD_STATE_BAR. */
abut_status impact_adjoint(const stepping *s, int impacts);
abut_status impact_begin_adjoint(const stepping *s);

#endif
