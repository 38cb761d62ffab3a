/* How well a body's field stands for a mesh.
 *
 * Nothing is printed. The same arguments give the same answer to the bit on devices of one kind.
 */
#ifndef ABUT_INSPECT_H
#define ABUT_INSPECT_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Solids are compared on 148^3 cells, 128^3 of them over the mesh's box, surfaces by random points on
 * them; docs/inspect.md has the definitions. */
typedef struct abut_fit {
  double iou;                 /* volume in both, of the volume in either */
  double coverage;            /* volume in both, of the mesh's */
  double precision;           /* volume in both, of the field's; 0 where it has none */
  double chamfer_percent;     /* mean distance between the surfaces, both ways, of the diagonal [%] */
  double hausdorff_percent;   /* largest distance, either way, of the diagonal [%] */
  double largest_uncovered;   /* volume of the largest part of the mesh outside the field, in one piece
                                 across faces of cells, of the mesh's volume */
  double surface_beyond_1_percent; /* share of the mesh's surface that is farther from the field's than
                                      1 % of the diagonal */
} abut_fit;

/* Compares a body's field with a mesh: the vertices and faces of `mesh`, made into a closed surface
 * as by abut_make_field; all else in it is left aside. Inside of the mesh is where it winds around
 * more than half a time, inside of the field where that is 0 or less.
 *
 * union_tau, plane_tau   temperatures of the field [m], as in abut_evaluate_body
 *
 * Errors: ABUT_ERROR_BODY (the mesh encloses nothing; no part of the field's surface lies within the
 * mesh's box), ABUT_ERROR_ARGUMENT, ABUT_ERROR_HANDLE, ABUT_ERROR_MEMORY, and those of the devices.
 */
ABUT_API abut_status abut_measure_fit(abut_body body, double union_tau, double plane_tau,
                                      const abut_body_def *mesh, abut_fit *fit);

#ifdef __cplusplus
}
#endif
#endif
