/* Rigid motions in double: exp and log of SE(3), products, and the conversion between gradients
 * with respect to a pose's numbers and wrenches on a body. */
#ifndef ABUT_MATH_RIGID_H
#define ABUT_MATH_RIGID_H

#include <abut/manifold.h>

/* x -> R(q) x + t, q = (w, x, y, z) of length 1. */
typedef struct rigid {
  double t[3], q[4];
} rigid;

/* With t = |omega|: a = sin t / t, b = (1 - cos t) / t^2, c = (t - sin t) / t^3;
 * e = (1 - (t/2) cot(t/2)) / t^2; and slopes 2 db/d(t^2), 2 dc/d(t^2).
 * J(omega) v = v + b omega x v + c omega x (omega x v), and its inverse
 * v - 1/2 omega x v + e omega x (omega x v). */
typedef struct turn_coefficients {
  double a, b, c, e, b_slope, c_slope;
} turn_coefficients;

/* A pose given by its numbers, with the terms needed for derivatives with respect to them. */
typedef struct chart {
  abut_pose_kind kind;
  double numbers[7];
  rigid x;             /* NaN if the numbers are not a valid pose */
  turn_coefficients k; /* of a twist */
} chart;

chart chart_at(abut_pose_kind kind, const double *numbers);

void rigid_log(const rigid *x, double twist[6]);
rigid rigid_product(const rigid *left, const rigid *right);
rigid rigid_inverse(const rigid *x);

/* R v, and R' v. An output may be its input. */
void rigid_turn(const rigid *x, const double v[3], double out[3]);
void rigid_turn_back(const rigid *x, const double v[3], double out[3]);

/* Converts to a pose's numbers, the inverse of chart_at. */
void rigid_numbers(const rigid *x, abut_pose_kind kind, double *numbers);

/* Convert between a wrench (force, moment) in the body's own frame, which is the derivative along X
 * exp(xi), and the gradient with respect to the pose's numbers. */
void chart_wrench(const chart *c, const double *gradient, double wrench[6]);
void chart_gradient(const chart *c, const double wrench[6], double *gradient);

#endif
