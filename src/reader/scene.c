#include "scene.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Vertex attributes besides the position; they would prevent vertices at the same position from
 * being joined. */
#define NOT_WANTED                                                                  \
  (aiComponent_NORMALS | aiComponent_TANGENTS_AND_BITANGENTS | aiComponent_COLORS | \
   aiComponent_TEXCOORDS | aiComponent_BONEWEIGHTS | aiComponent_ANIMATIONS |       \
   aiComponent_TEXTURES | aiComponent_LIGHTS | aiComponent_CAMERAS | aiComponent_MATERIALS)
#define STEPS                                                                  \
  (aiProcess_Triangulate | aiProcess_SortByPType | aiProcess_RemoveComponent | \
   aiProcess_JoinIdenticalVertices)

void assimp_version(char text[32])
{
  snprintf(text, 32, "%u.%u.%u", aiGetVersionMajor(), aiGetVersionMinor(), aiGetVersionPatch());
}

/* ---- nodes ---- */

/* A 3 x 4 matrix in double; Assimp's own numbers are floats. */
typedef struct place {
  double m[3][4];
} place;

static place place_under(const place *parent, const struct aiMatrix4x4 *t)
{
  const double own[4][4] = {{t->a1, t->a2, t->a3, t->a4},
                            {t->b1, t->b2, t->b3, t->b4},
                            {t->c1, t->c2, t->c3, t->c4},
                            {0.0, 0.0, 0.0, 1.0}};
  place p;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      p.m[i][j] = j == 3 ? parent->m[i][3] : 0.0;
      for (int k = 0; k < 3; ++k) {
        p.m[i][j] += parent->m[i][k] * own[k][j];
      }
    }
  }
  return p;
}

/* Returns whether the transform mirrors a mesh. */
static int is_mirror(const place *p)
{
  const double(*m)[4] = p->m;
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]) <
         0.0;
}

/* ---- joining all meshes ---- */

/* The joined mesh under construction. Nodes are visited twice; the first pass only counts and has
 * no memory yet. */
typedef struct joiner {
  const struct aiScene *scene;
  triangles *out;
  const char *wrong; /* reason of a failure, or NULL */
} joiner;

static void put_vertices(joiner *j, const struct aiMesh *mesh, const place *p)
{
  double *to = j->out->vertices + 3 * j->out->vertex_count;
  for (unsigned i = 0; i < mesh->mNumVertices; ++i) {
    const double v[3] = {mesh->mVertices[i].x, mesh->mVertices[i].y, mesh->mVertices[i].z};
    for (int k = 0; k < 3; ++k) {
      *to = p->m[k][0] * v[0] + p->m[k][1] * v[1] + p->m[k][2] * v[2] + p->m[k][3];
      j->wrong = isfinite(*to++) ? j->wrong : "a vertex is not finite";
    }
  }
}

static void put_corners(joiner *j, const struct aiMesh *mesh, const place *p)
{
  const size_t mirror = is_mirror(p) ? 1 : 0;
  uint32_t *to = j->out->corners + 3 * j->out->triangle_count;
  for (unsigned i = 0; i < mesh->mNumFaces; ++i) {
    const struct aiFace *face = &mesh->mFaces[i];
    for (size_t k = 0; face->mNumIndices == 3 && k < 3; ++k) {
      const unsigned corner = face->mIndices[mirror && k ? 3 - k : k];
      j->wrong = corner < mesh->mNumVertices ? j->wrong
                                             : "a face names a vertex that does not exist";
      *to++ = (uint32_t)(j->out->vertex_count + corner);
    }
  }
}

/* After SortByPType a mesh has only triangles, or only points or lines, which have no inside. */
static size_t count_triangles(const struct aiMesh *mesh)
{
  size_t count = 0;
  for (unsigned i = 0; i < mesh->mNumFaces; ++i) {
    count += mesh->mFaces[i].mNumIndices == 3;
  }
  return count;
}

static void join_mesh(joiner *j, const struct aiMesh *mesh, const place *p)
{
  const size_t count = count_triangles(mesh);
  if (!count) {
    return;
  }
  if (j->out->corners) {
    put_vertices(j, mesh, p);
    put_corners(j, mesh, p);
  }
  j->out->vertex_count += mesh->mNumVertices;
  j->out->triangle_count += count;
  if (j->out->vertex_count > UINT32_MAX) {
    j->wrong = "it has more than 4294967295 vertices";
  }
}

static void join_node(joiner *j, const struct aiNode *node, const place *parent)
{
  const place p = place_under(parent, &node->mTransformation);
  for (unsigned i = 0; i < node->mNumMeshes && !j->wrong; ++i) {
    join_mesh(j, j->scene->mMeshes[node->mMeshes[i]], &p);
  }
  for (unsigned i = 0; i < node->mNumChildren && !j->wrong; ++i) {
    join_node(j, node->mChildren[i], &p);
  }
}

static const char *join(const struct aiScene *scene, triangles *out)
{
  const place start = {{{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}}};
  joiner j = {.scene = scene, .out = out};
  if (!scene->mRootNode) {
    return "it contains no nodes";
  }
  join_node(&j, scene->mRootNode, &start);
  if (j.wrong || !out->triangle_count) {
    return j.wrong ? j.wrong : "it contains no triangles";
  }
  out->vertices = calloc(out->vertex_count, 3 * sizeof *out->vertices);
  out->corners = calloc(out->triangle_count, 3 * sizeof *out->corners);
  if (!out->vertices || !out->corners) {
    return "not enough memory for its mesh";
  }
  out->vertex_count = out->triangle_count = 0;
  join_node(&j, scene->mRootNode, &start);
  return j.wrong;
}

/* ---- a file ---- */

/* The up axis of COLLADA is ignored, as glTF's is: robot descriptions rely on the numbers as they
 * are in the file. */
static const struct aiScene *import(const char *path)
{
  struct aiPropertyStore *settings = aiCreatePropertyStore();
  if (!settings) {
    return NULL;
  }
  aiSetImportPropertyInteger(settings, AI_CONFIG_PP_RVC_FLAGS, NOT_WANTED);
  aiSetImportPropertyInteger(settings, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
  const struct aiScene *scene = aiImportFileExWithProperties(path, STEPS, NULL, settings);
  aiReleasePropertyStore(settings);
  return scene;
}

int scene_read(const char *path, triangles *out, char reason[REASON_BYTES])
{
  char version[32];
  assimp_version(version);
  *out = (triangles){0};
  const struct aiScene *scene = import(path);
  if (!scene) {
    const char *cause = aiGetErrorString();
    snprintf(reason, REASON_BYTES, "Assimp %s cannot read it%s%s", version, *cause ? ": " : "",
             cause);
    return 1;
  }
  const char *wrong = join(scene, out);
  if (wrong) {
    snprintf(reason, REASON_BYTES, "%s, according to Assimp %s", wrong, version);
  }
  aiReleaseImport(scene);
  return wrong != NULL;
}
