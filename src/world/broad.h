/* The broad phase: which pairs go through the manifold (cl/kernels/world/broad.cl). */
#ifndef ABUT_WORLD_BROAD_H
#define ABUT_WORLD_BROAD_H

#include "world/pair_batches.h"

/* candidates; fewer cost less than to look for those that can be left out */
#define BROAD_LEAST 4

/* Whether a scene's steps may leave pairs out. Where they may, broad_upload tells whether they
 * do. */
bool broad_may_leave_out(const loaded_scene *s);

/* Makes what a device needs of a scene with types of pairs; *out stays NULL where nothing can be
 * left out, or too little for it to pay. */
abut_status broad_upload(const loaded_scene *s, device *d, resident_broad **out);
void broad_free(resident_broad *r); /* NULL is allowed */

/* Sets the bytes that it needs of each buffer, for one world. */
void broad_bytes(const resident_broad *r, size_t real, size_t bytes[POOL_BUFFERS]);

/* Finds the world pairs of the chunk for the places of links that the last step_tree has left, and
 * lists their pair batches (slot_pairs), for which it waits for their numbers; where `contacts` are
 * to be found, their launch sets, too. */
abut_status find_world_pairs(const stepping *s, bool contacts);

#endif
