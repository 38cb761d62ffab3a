/* Tiles: a pair with a body of many contact vertices, such as a terrain mesh, is cut into groups
 * that go through the manifold separately. One group has the other body's vertices against the
 * field; each further group has the vertices of one tile (body/cut.h) against the other body's
 * field. Contacts are reported as those of the pair. */
#ifndef ABUT_WORLD_TILES_H
#define ABUT_WORLD_TILES_H

#include "world/loaded.h"

/* Fills loaded_scene.parts once its pairs exist: with the pairs themselves, and with the parts of
 * cut pairs, for whose tiles it adds groups. Also numbers the groups' slots. */
abut_status tiles_make(loaded_scene *s);

/* Numbers the groups' slots. The slots of a pair's groups are consecutive in no particular order;
 * all count from the pair's first slot. */
abut_status tiles_number_slots(loaded_scene *s);

/* Returns the number of tiles of a scene's body; 0 if it is whole in all pairs. */
size_t tiles_of(const loaded_scene *s, size_t number);

/* tiles_destroy destroys the pairs and bodies of tiles_make; call it before the scene's own bodies
 * are destroyed. tiles_free frees their lists. */
void tiles_destroy(loaded_scene *s);
void tiles_free(loaded_scene *s);

#endif
