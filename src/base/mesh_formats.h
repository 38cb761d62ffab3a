/* The formats of mesh files: the only table, used by readers, texts, tests and fuzzers.
 * docs/dev/extending.md describes how to add a line.
 *
 * FORMAT(extension, ID): the file extension without its dot, which is also the parser's name, and
 * the suffix of MESH_*. Lines are separated by AND(), the last two by OR(). */
#ifndef ABUT_BASE_MESH_FORMATS_H
#define ABUT_BASE_MESH_FORMATS_H

/* clang-format off */
#define MESH_FORMATS(FORMAT, AND, OR) \
  FORMAT(obj, OBJ) AND()              \
  FORMAT(stl, STL) AND()              \
  FORMAT(ply, PLY) OR()               \
  FORMAT(off, OFF)

/* Formats that Assimp reads, in a separate process. */
#define ASSIMP_FORMATS(FORMAT, AND, OR) \
  FORMAT(glb, GLB) AND()                \
  FORMAT(gltf, GLTF) OR()               \
  FORMAT(dae, DAE)
/* clang-format on */

#define MESH_COMMA() ,

/* The extensions as texts: ".obj, .stl, .ply or .off", ".obj .stl .ply .off". */
#define FORMAT_DOT(extension, id) "." #extension
#define FORMAT_COMMA() ", "
#define FORMAT_OR() " or "
#define FORMAT_AND() " and "
#define FORMAT_BLANK() " "
#define MESH_FORMATS_OR MESH_FORMATS(FORMAT_DOT, FORMAT_COMMA, FORMAT_OR)
#define MESH_FORMATS_AND MESH_FORMATS(FORMAT_DOT, FORMAT_COMMA, FORMAT_AND)
#define MESH_FORMATS_LIST MESH_FORMATS(FORMAT_DOT, FORMAT_BLANK, FORMAT_BLANK)
#define ASSIMP_FORMATS_OR ASSIMP_FORMATS(FORMAT_DOT, FORMAT_COMMA, FORMAT_OR)
#define ASSIMP_FORMATS_AND ASSIMP_FORMATS(FORMAT_DOT, FORMAT_COMMA, FORMAT_AND)
#define ASSIMP_FORMATS_LIST ASSIMP_FORMATS(FORMAT_DOT, FORMAT_BLANK, FORMAT_BLANK)

#endif
