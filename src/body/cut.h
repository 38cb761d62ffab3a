/* Parts of bodies: of a body with many contact vertices a pair need not look at all of them.
 *
 * A part is a body with some of another one's vertices, and with the whole's own field, which it
 * shares on each device. Kernels see a body like others. The whole must outlive its parts. */
#ifndef ABUT_BODY_CUT_H
#define ABUT_BODY_CUT_H

#include "body/body.h"

#define TILE_VERTICES 1024  /* the most contact vertices of a tile */
#define WHOLE_VERTICES 2048 /* A body of more may be cut into tiles. */

/* The tiles of a body's mesh: runs of its vertices in their order in space, nearly of one
 * length. */
typedef struct body_tiles {
  size_t count;
  uint32_t *vertices; /* (vertices) tile by tile */
  size_t *vertex_at;  /* (count + 1) where each tile's begin there */
} body_tiles;

size_t body_tile_count(const body *b);
abut_status body_tiles_make(const body *b, body_tiles *out);
void body_tiles_free(body_tiles *t);

/* Makes the part with the vertices of a tile. */
abut_status body_cut_tile(body *whole, const body_tiles *t, size_t tile, abut_body *out);

/* Makes the part that is the field alone, with a vertex that is not in contact, since no body is
 * without. */
abut_status body_cut_field(body *whole, abut_body *out);

#endif
