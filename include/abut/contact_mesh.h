/* Contact meshes for bodies made of primitives: meshes with few vertices on the surface of a field,
 * and even triangles. */
#ifndef ABUT_CONTACT_MESH_H
#define ABUT_CONTACT_MESH_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABUT_CONTACT_MESH_LEAST 8 /* minimum number of vertices of a contact mesh */
#define ABUT_CONTACT_MESH_MOST 65536

typedef struct abut_contact_mesh_options {
  uint32_t vertices; /* number of vertices wanted, 8 to 65,536; 0: 300 */
  uint32_t sweeps;   /* sweeps of the search for better triangles, at most 100; 0: 12 */
  uint32_t cookie;   /* set by abut_default_contact_mesh_options */
} abut_contact_mesh_options;

ABUT_API abut_contact_mesh_options abut_default_contact_mesh_options(void);

/* Properties of the new mesh, compared with the field's surface. */
typedef struct abut_contact_mesh_report {
  size_t vertices, faces, edges;
  size_t parts_left_out; /* pieces of the field's surface that were left out; only the largest
                            piece is kept */
  double left_out;       /* volume of these pieces, as a share of the whole */
  bool covers;           /* that share is at most 0.01; with more, bodies would touch those
                            pieces without a contact */
  int64_t genus;         /* handles and tunnels: 0 for a ball, 1 for a ring */
  double diagonal;       /* of the box of the field's surface [m] */
  double quality_mean, quality_least; /* of triangles: twice the radius of the inscribed circle
                                         over that of the circumscribed circle, 1 if equilateral */
  double chamfer_percent;             /* mean distance to the field's surface, averaged over both
                                         directions, of the diagonal [%] */
  double hausdorff_percent; /* largest distance, in either direction, of the diagonal [%] */
  double volume_kept;       /* volume of the mesh, as a share of the field's */
  double off;               /* largest absolute value of the field at a vertex [m] */
} abut_contact_mesh_report;

/* A closed mesh of triangles, counterclockwise seen from outside. `def` has vertices and faces, and
 * points into `memory`. */
typedef struct abut_contact_mesh {
  abut_body_def def;
  abut_contact_mesh_report report;
  void *memory;
} abut_contact_mesh;

/* Makes a contact mesh on the surface of a body's field. The body's own mesh is ignored.
 *
 * Marching cubes make the surface. Its largest piece is thinned by collapsing edges, and its
 * vertices are moved onto the surface. The triangles are then improved by turning edges and by
 * moving vertices on the surface (docs/inspect.md). The mesh has the genus of the field's surface,
 * and the wanted number of vertices, or more if no edge can be collapsed without closing a hole.
 * The context's devices compute the field on the lattice; everything else is computed in double on
 * the host. The same body gives the same mesh on devices of one kind.
 *
 * union_tau, plane_tau   temperatures of the field [m], as in abut_evaluate_body
 *
 * Errors: ABUT_ERROR_BODY (the field has no surface, or an unbounded one), ABUT_ERROR_ARGUMENT,
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
