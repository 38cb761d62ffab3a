/* What goes over to the page of `abut view`: arrays within the page, and answers of its server
 * (docs/dev/view.md). The order of what lies in them is stated here and nowhere else. C includes
 * this file, and tools/embed_page.py gives its numbers, texts and lists to the page's script as
 * WIRE, by their names without WIRE_. */
#ifndef ABUT_VIEW_PAGE_WIRE_H
#define ABUT_VIEW_PAGE_WIRE_H

/* ---- what both have ---- */

/* The numbers of a pair's layout, and the members of abut_layout that they are. */
#define WIRE_LAYOUT_NUMBERS 9
#define WIRE_LAYOUT(X)              \
  X(contacts, contacts)             \
  X(vertices1, vertices[0])         \
  X(vertices2, vertices[1])         \
  X(edges1, edges[0])               \
  X(edges2, edges[1])               \
  X(vertex_slot1, vertex_offset[0]) \
  X(vertex_slot2, vertex_offset[1]) \
  X(edge_slot1, edge_offset[0])     \
  X(edge_slot2, edge_offset[1])

/* ---- arrays within the page, whose rows lie as planes of their bytes ---- */

/* Types of elements: what C calls them, the page's object, C again, and JavaScript. */
#define WIRE_TYPES(X)                    \
  X(PAGE_F32, f4, float, Float32Array)   \
  X(PAGE_I16, i2, int16_t, Int16Array)   \
  X(PAGE_U8, u1, uint8_t, Uint8Array)    \
  X(PAGE_U16, u2, uint16_t, Uint16Array) \
  X(PAGE_U32, u4, uint32_t, Uint32Array)

/* The index that is none, in 16 and in 32 bits. */
#define WIRE_NO_INDEX16 0xffff
#define WIRE_NO_INDEX32 0xffffffff
/* What distances are shares of: the deepest of the page; normals and activities: 1. */
#define WIRE_SHARES 32767
#define WIRE_ACTIVITY_SHARES 255

/* ---- answers, little-endian ---- */

#define WIRE_MAGIC "abut"
#define WIRE_VERSION 4

/* Numbers of 32 bits behind the magic, by name and count: of contacts, and of curves, whose rows of
 * float32 follow. */
#define WIRE_FRAME_WHOLES(X) \
  X(version, 1) X(count, 1) X(layout, WIRE_LAYOUT_NUMBERS) X(flags, 1) X(pushes, 1)
#define WIRE_CURVES_WHOLES(X) X(version, 1) X(count, 1) X(rows, 1)
/* Numbers of 64 bits that follow in an answer of contacts. */
#define WIRE_FRAME_REALS(X) X(values, 4) X(gradient, 6)

/* Its flags. */
#define WIRE_HAS_GRADIENT 1
#define WIRE_HAS_PAIRS 2
#define WIRE_HAS_FORCES 4

/* Its arrays, (count, columns) each: name, type, columns, and the flag without which it is not
 * there, or 0. Pushes follow, and of a world kinds of pairs, as many as the first number of
 * `layout` says. */
#define WIRE_CONTACTS(X)         \
  X(slot, u4, 1, 0)              \
  X(feature, u4, 2, 0)           \
  X(p, f4, 3, 0)                 \
  X(d, f4, 1, 0)                 \
  X(n, f4, 3, 0)                 \
  X(activity, f4, 1, 0)          \
  X(pair, u4, 1, WIRE_HAS_PAIRS) \
  X(force, f4, 3, WIRE_HAS_FORCES)
#define WIRE_KIND_WHOLES(X) X(kind, 1) X(layout, WIRE_LAYOUT_NUMBERS)

#endif
