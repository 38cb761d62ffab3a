/* The device computations of a picture, as operations of the engine. Arrays are in the context's
 * precision. */
#ifndef ABUT_RENDER_RAYS_H
#define ABUT_RENDER_RAYS_H

#include "view/render/scene.h"

#define RAY_REALS 7   /* a ray: start, direction, length; in its actor's frame */
#define FIELD_REALS 4 /* distance, normal */

/* How a ray advances in small steps where a field's distance is not a safe bound. */
typedef struct ray_steps {
  double creep, longest, tolerance; /* [m] */
  int most;
} ray_steps;

/* Computes where rays (count, RAY_REALS) hit an actor's surface, as distances along each (count);
 * negative if they miss. */
abut_status march_rays(const scene *s, const actor *a, const ray_steps *steps, size_t count,
                       const void *rays, void *entries);

/* Evaluates an actor's field at points (count, 3) of its frame: distances (count), or with normals
 * (count, FIELD_REALS). */
abut_status field_at_points(const scene *s, const actor *a, bool normals, size_t count,
                            const void *points, void *out);

/* Computes the frames (FRAME_STRIDE) of two poses of `width` numbers, and their pose statuses. */
abut_status frames_of_poses(context *c, size_t width, const void *pose1, const void *pose2,
                            void *frames, int *status);

#endif
