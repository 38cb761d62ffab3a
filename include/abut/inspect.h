/* How well a body's field represents a mesh.
 *
 * Nothing is printed. The same arguments give the same result to the bit on devices of one kind.
 */
#ifndef ABUT_INSPECT_H
#define ABUT_INSPECT_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Solids are compared on 148^3 cells: 128^3 cells over the mesh's box, and more cells around it as
 * far as the field extends. Surfaces are compared by random points on them. docs/inspect.md has the
 * definitions. */
typedef struct abut_fit {
  double iou;               /* volume of the intersection over that of the union */
  double coverage;          /* volume of the intersection over the mesh's */
  double precision;         /* volume of the intersection over the field's; 0 if the field has
                               none */
  double chamfer_percent;   /* mean distance between the surfaces, averaged over both directions,
                               of the diagonal [%] */
  double hausdorff_percent; /* largest distance, in either direction, of the diagonal [%] */
  double largest_uncovered; /* volume of the largest connected part of the mesh outside the
                               field, across faces of cells, as a share of the mesh's volume */
  double surface_beyond_1_percent; /* share of the mesh's surface that is farther from the
                                      field's surface than 1 % of the diagonal */
  double largest_surplus; /* volume of the largest connected part of the field outside the mesh,
                             across faces of cells, as a share of the mesh's volume */
  double over_holes;      /* share of the field's surface that is nearest to faces which close
                             holes of the mesh. Distances ignore this share, and ignore those
                             faces. Volumes and depths are of the closed mesh */
  /* Depth by the field over the distance from the mesh's surface, at places inside both that are
     0.5 % of the diagonal or more inside the mesh. It is 1 for an exact field, and 0 if there
     are no such places. */
  double depth_ratio_median; /* the median */
  double depth_ratio_95;     /* the 95 % quantile */
  double depth_ratio_most;
  double depth_ratio_most_at[3]; /* place of the largest ratio [m] */
  bool endless;                  /* a primitive's field is unbounded: only the part in the mesh's
                                    box and 8 % beyond counts */
} abut_fit;

/* Compares a body's field with the vertices and faces of `mesh`, made into a closed surface as by
 * abut_make_field; its other members are ignored. A point is inside the mesh if the winding number
 * is above one half, and inside the field if the field is 0 or less.
 *
 * union_tau, plane_tau   temperatures of the field [m], as in abut_evaluate_body
 *
 * Errors: ABUT_ERROR_BODY (the mesh encloses nothing; no part of the field's surface is in the
 * mesh's box), ABUT_ERROR_ARGUMENT, ABUT_ERROR_HANDLE, ABUT_ERROR_MEMORY, and those of the devices.
 */
ABUT_API abut_status abut_measure_fit(abut_body body, double union_tau, double plane_tau,
                                      const abut_body_def *mesh, abut_fit *fit);

/* Quality of the mesh that makes a body's contacts, and its distance from the body's field. */
typedef struct abut_mesh_quality {
  size_t triangles;                   /* of the mesh's faces; larger faces are cut into fans */
  double quality_mean, quality_least; /* of these triangles: twice the radius of the inscribed
                                         circle over that of the circumscribed circle, 1 if
                                         equilateral; 0 if there are none */
  double off_mean, off_most; /* absolute value of the field at the vertices, of the diagonal of
                                their box [%] */
  double edges_leaving;      /* share of the edges along which the field rises above 1 % of the
                                diagonal: they make contacts outside the body */
} abut_mesh_quality;

/* Measures the quality of a body's contact mesh. Errors: ABUT_ERROR_ARGUMENT, ABUT_ERROR_HANDLE,
 * ABUT_ERROR_MEMORY, those of the devices. */
ABUT_API abut_status abut_measure_mesh(abut_body body, double union_tau, double plane_tau,
                                       abut_mesh_quality *quality);

/* Pictures of abut_draw_fit, in this order. */
typedef enum abut_fit_picture {
  ABUT_PICTURE_MESH = 0,
  ABUT_PICTURE_PRIMITIVES = 1, /* added superquadrics, each in its own colour; the field's
                                  surface if the body has none */
  ABUT_PICTURE_FIELD = 2,      /* the field's surface */
  ABUT_PICTURE_MESH_OFF = 3,   /* the mesh, coloured by its distance to the field's surface: red
                                  outside the field, blue inside, saturated from 2 % of the
                                  diagonal of the mesh's box */
  ABUT_PICTURE_FIELD_OFF = 4,  /* the field's surface, coloured by its distance to the mesh: red
                                  inside the mesh, blue outside */
  ABUT_FIT_PICTURES = 5
} abut_fit_picture;

typedef struct abut_fit_view {
  uint32_t width, height;    /* pixels, 16 to 4096 each */
  double azimuth, elevation; /* [rad], as in abut_view; the projection is parallel */
  bool dark;                 /* dark background */
  uint32_t cookie;           /* set by abut_default_fit_view */
} abut_fit_view;

/* Returns a view of 480 x 400 pixels from azimuth 0.6 and elevation 0.35, on white. */
ABUT_API abut_fit_view abut_default_fit_view(void);

/* Draws a body's field and a mesh for comparison, as abut_measure_fit compares them, on the host.
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
