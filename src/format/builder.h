/* Collects a mesh while its file is read. */
#ifndef ABUT_FORMAT_BUILDER_H
#define ABUT_FORMAT_BUILDER_H

#include "format/mesh.h"

typedef struct builder {
  const char *name; /* of the file, for errors */
  uint32_t base;    /* the file's index of its first vertex */
  mesh m;
  size_t vertex_room, face_room, index_room, end_room;
  size_t closed;      /* number of corners of completed faces */
  size_t end_count;   /* number of edge ends, two per edge */
  uint32_t top;       /* largest index of any face or edge, */
  const char *top_of; /* the kind of element it belongs to; NULL: none */
  size_t top_line;    /* and its line */
} builder;

abut_status builder_vertex(builder *b, const double position[3]);

/* Adds a corner of the face that builder_face ends. `index` starts at 0. line: 0 for formats
 * without lines. */
abut_status builder_corner(builder *b, uint32_t index, size_t line);

/* Ends a face with all corners since the last one; fails with fewer than 3. */
abut_status builder_face(builder *b, size_t line);

/* Adds an edge between two vertices, counted from 0. line: in the file. */
abut_status builder_edge(builder *b, uint32_t from, uint32_t to, size_t line);

/* Checks the mesh and moves it to *out, or frees it on failure. Indices are checked here, because
 * faces and edges may refer to later vertices. */
abut_status builder_finish(builder *b, abut_status so_far, mesh *out);

/* One function per format, <extension>_parse. After an error, builder_finish frees the memory. */
typedef abut_status (*mesh_parser)(builder *b, const char *bytes, size_t count);
#define DECLARE_PARSER(extension, id) \
  abut_status extension##_parse(builder *b, const char *bytes, size_t count)
#define MESH_SEMICOLON() ;
MESH_FORMATS(DECLARE_PARSER, MESH_SEMICOLON, MESH_SEMICOLON);

#endif
