/* The broad phase: selects the pairs that go through the manifold (cl/kernels/world/broad.cl). */
#ifndef ABUT_WORLD_BROAD_H
#define ABUT_WORLD_BROAD_H

#include "world/pair_batches.h"

/* candidates; for fewer the broad phase costs more than it saves */
#define BROAD_LEAST 4

/* Whether steps of a scene may leave pairs out. If so, broad_upload decides whether they do. */
bool broad_may_leave_out(const loaded_scene *s);

/* Makes and uploads the data for a scene with pair types. *out stays NULL if nothing, or too
 * little, can be left out. */
abut_status broad_upload(const loaded_scene *s, device *d, resident_broad **out);
void broad_free(resident_broad *r); /* NULL is allowed */

/* Sets the bytes of each buffer per world. */
void broad_bytes(const resident_broad *r, size_t real, size_t bytes[POOL_BUFFERS]);

/* Finds the world pairs of the chunk for the link poses of the last step_tree and lists their pair
 * batches (slot_pairs); it waits for their counts. With `contacts` it also makes the launch sets.
 */
abut_status find_world_pairs(const stepping *s, bool contacts);

#endif
