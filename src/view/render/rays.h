/* What a picture asks of the context's devices, as operations of the engine. Arrays are real, in
 * the context's precision. */
#ifndef ABUT_RENDER_RAYS_H
#define ABUT_RENDER_RAYS_H

#include "view/render/scene.h"

#define RAY_REALS 7   /* a ray: begin, direction, length; in its actor's frame */
#define FIELD_REALS 4 /* distance, normal */

/* How a ray creeps along where a field's distance is no bound. */
typedef struct ray_steps {
  double creep, longest, tolerance; /* [m] */
  int most;
} ray_steps;

/* Where rays (count, RAY_REALS) meet an actor's surface, along each (count); negative where they
 * do not. */
abut_status march_rays(const scene *s, const actor *a, const ray_steps *steps, size_t count,
                       const void *rays, void *entries);

/* An actor's field at points (count, 3) of its frame: distances (count), or with normals (count,
 * FIELD_REALS). */
abut_status field_at_points(const scene *s, const actor *a, bool normals, size_t count,
                            const void *points, void *out);

/* The frames (FRAME_STRIDE) of two poses of `width` numbers, and their abut_pose_status. */
abut_status frames_of_poses(context *c, size_t width, const void *pose1, const void *pose2,
                            void *frames, int *status);

#endif
