/* Tiles: where a body with many contact vertices is in a pair, such as a terrain's mesh, the pair
 * is cut into groups, each of which goes through the manifold by itself: the other body's vertices
 * against the field, and the vertices of each tile (body/cut.h) against the other body's field. The
 * contacts are told as the pair's. */
#ifndef ABUT_WORLD_TILES_H
#define ABUT_WORLD_TILES_H

#include "world/loaded.h"

/* Fills loaded_scene.parts, after its pairs have been made: with the pairs themselves, and with the
 * parts of those that are cut, for whose tiles it adds groups. Numbers the groups' slots. */
abut_status tiles_make(loaded_scene *s);

/* Numbers the groups' slots. Those of a pair's groups follow each other in no order of theirs: all
 * count from the pair's first slot. */
abut_status tiles_number_slots(loaded_scene *s);

/* How many tiles a body of the scene has been cut into, 0 where it is whole in all pairs. */
size_t tiles_of(const loaded_scene *s, size_t number);

/* tiles_destroy destroys the pairs and bodies that tiles_make has made, before the scene's own
 * bodies are; tiles_free frees the lists of them. */
void tiles_destroy(loaded_scene *s);
void tiles_free(loaded_scene *s);

#endif
