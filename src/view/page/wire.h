/* The data sent to the page of `abut view`: arrays in the page, and answers of its server
 * (docs/dev/view.md). Their layout is defined only here. C includes this file; tools/embed_page.py
 * gives its numbers, texts and lists to the page's script as WIRE, named without WIRE_. */
#ifndef ABUT_VIEW_PAGE_WIRE_H
#define ABUT_VIEW_PAGE_WIRE_H

/* ---- common to both ---- */

/* The numbers of a pair's layout, and the corresponding members of abut_layout. */
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

/* ---- arrays in the page, whose rows are stored as planes of bytes ---- */

/* Element types: name in C, in the page's object, C type, and JavaScript type. */
#define WIRE_TYPES(X)                    \
  X(PAGE_F32, f4, float, Float32Array)   \
  X(PAGE_I16, i2, int16_t, Int16Array)   \
  X(PAGE_U8, u1, uint8_t, Uint8Array)    \
  X(PAGE_U16, u2, uint16_t, Uint16Array) \
  X(PAGE_U32, u4, uint32_t, Uint32Array)

/* The index that means none, in 16 and in 32 bits. */
#define WIRE_NO_INDEX16 0xffff
#define WIRE_NO_INDEX32 0xffffffff
/* Distances are stored as fractions of the deepest one in the page, normals and activities as
 * fractions of 1. */
#define WIRE_SHARES 32767
#define WIRE_ACTIVITY_SHARES 255

/* ---- answers, little-endian ---- */

#define WIRE_MAGIC "abut"
#define WIRE_VERSION 4

/* 32-bit numbers after the magic, by name and count: for contacts, and for curves, which are
 * followed by rows of float32. */
#define WIRE_FRAME_WHOLES(X) \
  X(version, 1) X(count, 1) X(layout, WIRE_LAYOUT_NUMBERS) X(flags, 1) X(pushes, 1)
#define WIRE_CURVES_WHOLES(X) X(version, 1) X(count, 1) X(rows, 1)
/* 64-bit numbers that follow in an answer with contacts. */
#define WIRE_FRAME_REALS(X) X(values, 4) X(gradient, 6)

/* Its flags. */
#define WIRE_HAS_GRADIENT 1
#define WIRE_HAS_PAIRS 2
#define WIRE_HAS_FORCES 4

/* Its arrays, (count, columns) each: name, type, columns, and the flag required for it, or 0. The
 * pushes follow, and for a world the kinds of pairs, as many as the first number of `layout`. */
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
