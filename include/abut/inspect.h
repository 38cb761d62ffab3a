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

/* Solids are compared on 148^3 cells, 128^3 of them over the mesh's box, and beyond them on more as
 * far as the field reaches; surfaces by random points on them. docs/inspect.md has the
 * definitions. */
typedef struct abut_fit {
  double iou;               /* volume in both, of the volume in either */
  double coverage;          /* volume in both, of the mesh's */
  double precision;         /* volume in both, of the field's; 0 where it has none */
  double chamfer_percent;   /* mean distance between the surfaces, both ways, of the diagonal
                               [%] */
  double hausdorff_percent; /* largest distance, either way, of the diagonal [%] */
  double largest_uncovered; /* volume of the largest part of the mesh outside the field, in one
                               piece across faces of cells, of the mesh's volume */
  double surface_beyond_1_percent; /* share of the mesh's surface that is farther from the field's
                                      than 1 % of the diagonal */
  double largest_surplus; /* volume of the largest part of the field outside the mesh, in one
                             piece across faces of cells, of the mesh's volume */
  double over_holes;      /* share of the field's surface that is nearest to faces which close
                             holes of the mesh: it counts for no distance, as these faces do.
                             Volumes and depths are of the mesh as it was closed */
  /* At places in both that lie 0.5 % of the diagonal or more within the mesh, the depth by the
     field over the distance from the mesh's surface: 1 of a field that is exact. 0 where there are
     no such places. */
  double depth_ratio_median; /* half of them have less */
  double depth_ratio_95;     /* 95 % of them have less */
  double depth_ratio_most;
  double depth_ratio_most_at[3]; /* where that is [m] */
  bool endless;                  /* a primitive's field has no end: of it counts what lies in the
                                    mesh's box and 8 % beyond */
} abut_fit;

/* Compares a body's field with a mesh: the vertices and faces of `mesh`, made into a closed surface
 * as by abut_make_field; all else in it is left aside. Inside of the mesh is where it winds around
 * more than half a time, inside of the field where that is 0 or less.
 *
 * union_tau, plane_tau   temperatures of the field [m], as in abut_evaluate_body
 *
 * Errors: ABUT_ERROR_BODY (the mesh encloses nothing; no part of the field's surface lies within
 * the mesh's box), ABUT_ERROR_ARGUMENT, ABUT_ERROR_HANDLE, ABUT_ERROR_MEMORY, and those of the
 * devices.
 */
ABUT_API abut_status abut_measure_fit(abut_body body, double union_tau, double plane_tau,
                                      const abut_body_def *mesh, abut_fit *fit);

/* The mesh that makes a body's contacts, beside its field. */
typedef struct abut_mesh_quality {
  size_t triangles;                   /* of its faces, of which larger ones are cut into fans */
  double quality_mean, quality_least; /* of these, twice the radius of the circle within over that
                                         around: 1 if equal sided; 0 where there are none */
  double off_mean, off_most; /* size of the field at the vertices, of the diagonal of their box
                                [%] */
  double edges_leaving;      /* share of the edges along which the field rises above 1 % of the
                                diagonal: they make contacts outside of the body */
} abut_mesh_quality;

/* Measures it. Errors: ABUT_ERROR_ARGUMENT, ABUT_ERROR_HANDLE, ABUT_ERROR_MEMORY, those of the
 * devices. */
ABUT_API abut_status abut_measure_mesh(abut_body body, double union_tau, double plane_tau,
                                       abut_mesh_quality *quality);

/* What abut_draw_fit draws, in this order. */
typedef enum abut_fit_picture {
  ABUT_PICTURE_MESH = 0,
  ABUT_PICTURE_PRIMITIVES = 1, /* added superquadrics, each in a colour of its own; of a body
                                  without any the field's surface */
  ABUT_PICTURE_FIELD = 2,      /* the field's surface */
  ABUT_PICTURE_MESH_OFF = 3,   /* the mesh by its distance to the field's surface: red where it lies
                                  outside of the field, blue where inside, in full from 2 % of the
                                  diagonal of the mesh's box */
  ABUT_PICTURE_FIELD_OFF = 4,  /* the field's surface by its distance to the mesh: red where it lies
                                  inside of the mesh, blue where outside */
  ABUT_FIT_PICTURES = 5
} abut_fit_picture;

typedef struct abut_fit_view {
  uint32_t width, height;    /* pixels, 16 to 4096 each */
  double azimuth, elevation; /* [rad], as of abut_view; the projection is parallel */
  bool dark;                 /* on a dark ground */
  uint32_t cookie;           /* set by abut_default_fit_view */
} abut_fit_view;

/* 480 x 400 pixels from azimuth 0.6 and elevation 0.35, on white. */
ABUT_API abut_fit_view abut_default_fit_view(void);

/* Draws a body's field beside a mesh, as of abut_measure_fit, on the host.
 *
 * rgb  uint8 (ABUT_FIT_PICTURES, height, width, 3), rows from the top
 * Errors: as abut_measure_fit.
 */
ABUT_API abut_status abut_draw_fit(abut_body body, double union_tau, double plane_tau,
                                   const abut_body_def *mesh, const abut_fit_view *view,
                                   uint8_t *rgb);

#ifdef __cplusplus
}
#endif
#endif
