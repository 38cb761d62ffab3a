/* Sweeping: in a scene that asks for it, bodies that would pass through each other within a step
 * are stopped where they meet (docs/sweeping.md). Meshes and settings are the scene's
 * (sweep_scene.c); a step looks for impacts once its integrator is done (sweep.c). */
#ifndef ABUT_WORLD_SWEEP_H
#define ABUT_WORLD_SWEEP_H

#include "world/stage.h"

/* ---- a scene ---- */

/* Makes meshes of all bodies that are swept, and fills `sweep_half` and `apart` of the definition's
 * pairs. The law must have loaded the scene. */
abut_status sweep_load(loaded_scene *s);

/* Destroys these meshes. It is also called after a failure, whose error text it leaves as it is. */
void sweep_destroy_meshes(loaded_scene *s);

/* Makes what a device needs beside meshes. *out is NULL on failure. */
abut_status sweep_upload(const loaded_scene *s, device *d, resident_sweep **out);
void sweep_free(resident_sweep *r); /* NULL is allowed */

/* The body whose mesh a side of a pair that is swept has, and this mesh: bodies alike share one. */
size_t sweep_body(const loaded_scene *s, const scene_pair *p, int side);
ccd_mesh *sweep_mesh(const loaded_scene *s, const scene_pair *p, int side);

/* ---- a call ---- */

/* Whether any of the call's scenes sweeps. */
bool sweeps(const steps_call *c);

/* Brings the meshes of the call's scenes to a device and makes scratch there; frees it. */
abut_status sweep_place(const steps_call *c, batch_on *on);
void sweep_leave(steps_on *at);

/* Sets the bytes that sweeping needs of each buffer, for one world. */
void sweep_bytes(const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS]);

/* Sets the bytes that derivatives need besides, on a device with so many lanes. */
void impact_bytes(const world_sizes *n, size_t real, size_t lanes, size_t bytes[POOL_BUFFERS]);

/* Looks for impacts between OUT_Q and WORLD_NEXT_Q, and changes WORLD_NEXT_Q and WORLD_NEXT_V where
 * there are any. It leaves WORLD_SCRATCH as it is. */
abut_status sweep_step(const stepping *s);

/* ---- derivatives ----
 *
 * Those of the impacts that the last sweep_step has kept, on duals (impact.c): docs/sweeping.md. */

/* Take the tangent in WORLD_TANGENT, or the columns of WORLD_MATRIX, from where the integrator has
 * led to the step's end. */
abut_status impact_tangent(const stepping *s);
abut_status impact_matrix(const stepping *s);

/* Takes WORLD_STATE_BAR from the step's end to where the integrator has led, back through as many
 * impacts as the world has that has most, and adds the cotangents of parameters to those in
 * WORLD_ADJOINT and OUT_SPRINGS_BAR. impact_begin_adjoint then adds that of q as the step begins to
 * WORLD_STATE_BAR, once the integrator's adjoint is done. */
abut_status impact_adjoint(const stepping *s, int impacts);
abut_status impact_begin_adjoint(const stepping *s);

#endif
