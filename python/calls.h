/* Calls of the library that array frameworks differentiate. Each call is one record with all its
 * inputs. python/abut/_table.py lists the arrays of each call and the positions of their addresses
 * in the record. python/bind.py reads this file, so that offsets in records are the compiler's. */
#ifndef ABUTPY_CALLS_H
#define ABUTPY_CALLS_H

#include "worlds.h"

#include <abut/abut.h>

/* In the order of their records. */
typedef enum abutpy_call {
  ABUTPY_CONTACTS,
  ABUTPY_JVP,
  ABUTPY_VJP,
  ABUTPY_VJP_TANGENT,
  ABUTPY_GRADIENT,
  ABUTPY_HESSIAN_PRODUCT,
  ABUTPY_CCD,
  ABUTPY_CCD_GRADIENT,
  ABUTPY_CCD_QUERIES,
  ABUTPY_CCD_QUERIES_GRADIENT,
  ABUTPY_CLOSEST,
  ABUTPY_CLOSEST_VJP,
  ABUTPY_CLOSEST_JVP,
  ABUTPY_CLOSEST_JACOBIAN,
  ABUTPY_STEPS,
  ABUTPY_STEPS_VJP,
  ABUTPY_STEPS_JVP,
  ABUTPY_POSES,
  ABUTPY_POSES_VJP,
  ABUTPY_POSES_JVP,
  ABUTPY_DISTANCES,
  ABUTPY_DISTANCES_VJP,
  ABUTPY_DISTANCES_JVP,
  ABUTPY_CALLS
} abutpy_call;

typedef struct abutpy_contacts_record {
  abut_pair pair;
  size_t slots; /* slots C of the arrays */
  abut_batch batch;
  abut_reduction reduction;
  abut_pose_tangents along;
  abut_cotangents bars, slopes;
  abut_tangents tangents;
  abut_gradients gradients;
} abutpy_contacts_record;

typedef struct abutpy_ccd_record {
  abut_ccd_mesh one, two;
  abut_ccd_batch batch;
  abut_ccd_gradients gradients;
} abutpy_ccd_record;

typedef struct abutpy_ccd_queries_record {
  abut_context context;
  abut_ccd_queries batch;
  void *by_x0, *by_x1;
} abutpy_ccd_queries_record;

typedef struct abutpy_closest_record {
  abut_context context;
  abut_closest_batch batch;
  abut_closest_smoothing smoothing;
  abut_closest_cotangents bars;
  abut_closest_gradients gradients;
  const void *twists;
  abut_closest_tangents tangents;
  abut_closest_jacobians jacobians;
  uint8_t *flags; /* the status of derivatives, or NULL */
} abutpy_closest_record;

typedef struct abutpy_steps_record {
  abut_scene scene;
  size_t nq, nv, nu, links, pairs, parameters, candidates; /* sizes of the arrays */
  abut_worlds batch;
  size_t real; /* bytes per number */
  const void *bars[WORLD_BARS], *along[WORLD_SLOPES];
  void *slopes[WORLD_SLOPES], *tangents[WORLD_BARS];
} abutpy_steps_record;

/* Calls at positions of worlds; `batch` has the count for all of them. Tangents and gradients by q
 * are by its numbers. */
typedef struct abutpy_positions_record {
  abut_scene scene;
  size_t nq, nv, links; /* sizes of the arrays */
  size_t real;          /* bytes per number */
  abut_distances batch;
  void *poses, *poses_tangent;
  const void *poses_bar, *q_tangent;
  void *q_gradient;
} abutpy_positions_record;

/* Bytes of a call's record; 0 if there is no such call. */
size_t abutpy_record_size(int call);

/* Returns whether arrays made for a record's sizes still fit the objects of its handles. */
bool abutpy_fits(int call, const void *record);

/* Runs a call. Sets the record's counts of failures; does not change the answers that derivatives
 * start from. */
abut_status abutpy_run(int call, void *record);

/* Address of the function through which XLA makes calls. */
uintptr_t abutpy_xla_handler(void);

#endif
