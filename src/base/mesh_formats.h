/* The formats of mesh files: the one table, which readers, texts, tests and fuzzers follow.
 * docs/dev/extending.md says what a new line needs.
 *
 * FORMAT(extension, ID): the end of a file's name without its dot, by which the parser is called,
 * too, and the end of MESH_*. Between lines stands AND(), before the last one OR(). */
#ifndef ABUT_BASE_MESH_FORMATS_H
#define ABUT_BASE_MESH_FORMATS_H

/* clang-format off */
#define MESH_FORMATS(FORMAT, AND, OR) \
  FORMAT(obj, OBJ) AND()              \
  FORMAT(stl, STL) AND()              \
  FORMAT(ply, PLY) OR()               \
  FORMAT(off, OFF)

/* Those that Assimp reads, in a process of its own. */
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
