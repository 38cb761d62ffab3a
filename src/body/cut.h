/* Parts of bodies, so that pairs need not process all vertices of a large body.
 *
 * A part has some vertices of a body and shares the field of the whole on each device. Kernels
 * treat it like any body. The whole must outlive its parts. */
#ifndef ABUT_BODY_CUT_H
#define ABUT_BODY_CUT_H

#include "body/body.h"

#define TILE_VERTICES 1024  /* maximum number of contact vertices per tile */
#define WHOLE_VERTICES 2048 /* Bodies with more vertices may be cut into tiles. */

/* The tiles of a body's mesh: runs of its vertices in spatial order, of almost equal length. */
typedef struct body_tiles {
  size_t count;
  uint32_t *vertices; /* (vertices) tile by tile */
  size_t *vertex_at;  /* (count + 1) where each tile's vertices begin */
} body_tiles;

size_t body_tile_count(const body *b);
abut_status body_tiles_make(const body *b, body_tiles *out);
void body_tiles_free(body_tiles *t);

/* Makes the part with the vertices of a tile. */
abut_status body_cut_tile(body *whole, const body_tiles *t, size_t tile, abut_body *out);

/* Makes a part that consists of the field. It has one vertex that is never in contact, because
 * every body needs a vertex. */
abut_status body_cut_field(body *whole, abut_body *out);

#endif
