/* Collects a mesh while its file is read. */
#ifndef ABUT_FORMAT_BUILDER_H
#define ABUT_FORMAT_BUILDER_H

#include "format/mesh.h"

typedef struct builder {
  const char *name; /* of the file, for errors */
  uint32_t base;    /* the file's number of its first vertex */
  mesh m;
  size_t vertex_room, face_room, index_room, end_room;
  size_t closed;      /* corners of ended faces */
  size_t end_count;   /* of edges, two each */
  uint32_t top;       /* largest index of any face or edge, */
  const char *top_of; /* which of these it is of, NULL where there is none, */
  size_t top_line;    /* and the line it stands in */
} builder;

abut_status builder_vertex(builder *b, const double position[3]);

/* A corner of the face that builder_face ends; `index` from 0. Line 0 where there are none. */
abut_status builder_corner(builder *b, uint32_t index, size_t line);

/* Ends a face of all corners since the last one; fewer than 3 fail. */
abut_status builder_face(builder *b, size_t line);

/* An edge between two vertices, from 0, of a line of the file. */
abut_status builder_edge(builder *b, uint32_t from, uint32_t to, size_t line);

/* Checks the whole and moves it to *out; frees it on failure. Faces and edges may name vertices
 * that come later in the file, which is why indices are checked here. */
abut_status builder_finish(builder *b, abut_status so_far, mesh *out);

/* One function a format, <extension>_parse. They leave errors' memory to builder_finish. */
typedef abut_status (*mesh_parser)(builder *b, const char *bytes, size_t count);
#define DECLARE_PARSER(extension, id) \
  abut_status extension##_parse(builder *b, const char *bytes, size_t count)
#define MESH_SEMICOLON() ;
MESH_FORMATS(DECLARE_PARSER, MESH_SEMICOLON, MESH_SEMICOLON);

#endif
