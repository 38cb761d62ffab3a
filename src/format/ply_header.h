/* The header of a PLY file: its elements and their properties. */
#ifndef ABUT_FORMAT_PLY_HEADER_H
#define ABUT_FORMAT_PLY_HEADER_H

#include "format/text.h"

typedef enum ply_type {
  PLY_NONE, /* as the count's type: not a list */
  PLY_INT8,
  PLY_UINT8,
  PLY_INT16,
  PLY_UINT16,
  PLY_INT32,
  PLY_UINT32,
  PLY_FLOAT32,
  PLY_FLOAT64
} ply_type;

typedef enum ply_role { PLY_UNUSED = -1, PLY_X, PLY_Y, PLY_Z, PLY_FACE } ply_role;

typedef struct ply_property {
  ply_type count_type, type;
  ply_role role;
} ply_property;

typedef enum ply_kind { PLY_OTHER, PLY_VERTICES, PLY_FACES, PLY_STRIPS } ply_kind;

typedef struct ply_element {
  ply_kind kind;
  shown name;
  uint64_t count;
  size_t first, properties; /* range in ply_header.properties */
} ply_element;

typedef enum ply_storage { PLY_ASCII, PLY_LITTLE, PLY_BIG } ply_storage;

typedef struct ply_header {
  ply_storage storage;
  ply_element *elements;
  size_t element_count, element_room;
  ply_property *properties;
  size_t property_count, property_room;
} ply_header;

/* Moves `t` to the end of the header's last line. Free *h even after a failure. */
abut_status ply_read_header(scan *t, ply_header *h);
void ply_free_header(ply_header *h);

size_t ply_type_bytes(ply_type type);

#endif
