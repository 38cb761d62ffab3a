/* Contact meshes of bodies of primitives: few vertices on the surface of a field, and even
 * triangles. */
#ifndef ABUT_CONTACT_MESH_H
#define ABUT_CONTACT_MESH_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABUT_CONTACT_MESH_LEAST 8 /* vertices of a mesh that is made here */
#define ABUT_CONTACT_MESH_MOST 65536

typedef struct abut_contact_mesh_options {
  uint32_t vertices; /* wanted, 8 to 65,536; 0: 300 */
  uint32_t sweeps;   /* of the search for better triangles, at most 100; 0: 12 */
  uint32_t cookie;   /* set by abut_default_contact_mesh_options */
} abut_contact_mesh_options;

ABUT_API abut_contact_mesh_options abut_default_contact_mesh_options(void);

/* What was made, compared with the field's surface. */
typedef struct abut_contact_mesh_report {
  size_t vertices, faces, edges;
  size_t parts_left_out; /* of the field's surface: pieces beside the largest */
  double left_out;       /* their volume, of that of the whole */
  bool covers;           /* that is at most 0.01: with more, bodies would touch those pieces
                            unseen */
  int64_t genus;         /* handles and tunnels: 0 of a ball, 1 of a ring */
  double diagonal;       /* of the box of the field's surface [m] */
  double quality_mean, quality_least; /* of triangles: twice the radius within over that around, 1
                                         if equal sided */
  double chamfer_percent;   /* mean distance to the field's surface, both ways, of the diagonal
                               [%] */
  double hausdorff_percent; /* largest distance, either way, of the diagonal [%] */
  double volume_kept;       /* of the field's */
  double off;               /* largest size of the field at a vertex [m] */
} abut_contact_mesh_report;

/* A closed mesh of triangles, counterclockwise seen from outside. `def` has vertices and faces, and
 * points into `memory`. */
typedef struct abut_contact_mesh {
  abut_body_def def;
  abut_contact_mesh_report report;
  void *memory;
} abut_contact_mesh;

/* Makes a contact mesh of the surface of a body's field; the body's own mesh is left aside.
 *
 * The surface is made by marching cubes, its largest piece thinned by collapsing edges, its
 * vertices moved onto the surface, and the triangles improved by turning edges and moving vertices
 * on it (docs/inspect.md). It has the genus of the field's surface, and as many vertices as wanted,
 * or more where no edge can be collapsed without closing a hole. The lattice's field is computed by
 * the context's devices, all else in double on the host. The same body gives the same mesh on
 * devices of one kind.
 *
 * union_tau, plane_tau   temperatures of the field [m], as in abut_evaluate_body
 *
 * Errors: ABUT_ERROR_BODY (the field has no surface, or one without an end), ABUT_ERROR_ARGUMENT,
 * ABUT_ERROR_HANDLE, ABUT_ERROR_MEMORY, and those of the devices.
 */
ABUT_API abut_status abut_make_contact_mesh(abut_body body, double union_tau, double plane_tau,
                                            const abut_contact_mesh_options *options,
                                            abut_contact_mesh *mesh);
ABUT_API void abut_free_contact_mesh(abut_contact_mesh *mesh);

#ifdef __cplusplus
}
#endif
#endif
