/* Actuators of joints. A control's range limits the force of a motor; elsewhere it is told. */
#include "world/import/import.h"

#include <math.h>

typedef struct plain {
  const char *kind; /* NULL: none that scenes have */
  double kp, kv;
  bool motor;
  double gain; /* of a motor */
} plain;

static bool same(double a, double b)
{
  return a >= b && a <= b;
}

/* F = gain u + bias[0] + bias[1] l + bias[2] ld, of a few shapes. */
static plain kind_of(const mjModel *m, int actuator)
{
  const double *bias = m->actuator_biasprm + mjNBIAS * actuator;
  const double gain = m->actuator_gainprm[mjNGAIN * actuator];
  const bool free_ = m->actuator_dyntype[actuator] == mjDYN_NONE &&
                     m->actuator_gaintype[actuator] == mjGAIN_FIXED;
  if (free_ && m->actuator_biastype[actuator] == mjBIAS_NONE) {
    return (plain){.kind = "motor", .motor = true, .gain = gain};
  }
  if (!free_ || m->actuator_biastype[actuator] != mjBIAS_AFFINE || !same(bias[0], 0.0)) {
    return (plain){0};
  }
  if (same(bias[1], -gain)) {
    return (plain){.kind = "position", .kp = gain, .kv = -bias[2]};
  }
  return same(bias[1], 0.0) && same(bias[2], -gain) ? (plain){.kind = "velocity", .kv = gain}
                                                    : (plain){0};
}

/* The one dof of the joint that the actuator moves; -1 where it moves several, or none. */
static int dof_of(const mjModel *m, int actuator, int joint)
{
  const double *gear = m->actuator_gear + 6 * actuator_output(m, actuator);
  const int type = m->jnt_type[joint], dofs = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1;
  int dof = dofs == 1 ? 0 : -1;
  for (int k = 0; k < dofs && dofs > 1; ++k) {
    if (!same(gear[k], 0.0)) {
      if (dof >= 0) {
        return -1;
      }
      dof = k;
    }
  }
  return dof;
}

/* The range of force: the model's, and of a motor also that of its control, in the unit of its
 * control. */
static bool force_range(const import *im, int actuator, const plain *p, double out[2])
{
  const mjModel *m = im->m;
  const int control = actuator_control(m, actuator);
  const double *range = m->actuator_forcerange + 2 * actuator;
  const bool scaled = p->motor && !same(p->gain, 0.0), forced = m->actuator_forcelimited[actuator];
  out[0] = forced ? range[0] : -HUGE_VAL;
  out[1] = forced ? range[1] : HUGE_VAL;
  if (forced && scaled) {
    const double a = range[0] / p->gain, b = range[1] / p->gain;
    out[0] = fmin(a, b);
    out[1] = fmax(a, b);
  }
  if (!p->motor || !m->actuator_ctrllimited[control] ||
      m->opt.disableflags & mjDSBL_CLAMPCTRL) {
    return forced;
  }
  out[0] = fmax(out[0], m->actuator_ctrlrange[2 * control]);
  out[1] = fmin(out[1], m->actuator_ctrlrange[2 * control + 1]);
  return true;
}

/* Why an actuator of a joint is left out; NULL: it is not. */
static const char *refusal_at_joint(const import *im, int actuator, const plain *p, int *dof)
{
  const mjModel *m = im->m;
  const int joint = m->actuator_trnid[2 * actuator], type = m->jnt_type[joint];
  const bool single = type == mjJNT_HINGE || type == mjJNT_SLIDE;
  double range[2];
  *dof = dof_of(m, actuator, joint);
  if (*dof < 0) {
    return "its gear is not along one axis of the joint";
  }
  if (!single && !p->motor) {
    return "of ball and free joints only motors are taken";
  }
  if (!single && m->actuator_trntype[actuator] == mjTRN_JOINTINPARENT) {
    return "its gear is in the parent's axes";
  }
  return force_range(im, actuator, p, range) && !(range[0] < range[1])
           ? "its ranges leave its force no room"
           : NULL;
}

static const char *refusal(const import *im, int actuator, plain *p, int *dof)
{
  const mjModel *m = im->m;
  const int transmission = m->actuator_trntype[actuator];
  if (m->opt.disableflags & mjDSBL_ACTUATION || is_actuator_off(m, actuator)) {
    return "it is off in the model";
  }
  if ((transmission != mjTRN_JOINT && transmission != mjTRN_JOINTINPARENT) ||
      !is_plain_actuator(m, actuator)) {
    return "only actuators of joints are taken";
  }
  *p = kind_of(m, actuator);
  return p->kind ? refusal_at_joint(im, actuator, p, dof)
                 : "it is neither a motor, a position nor a velocity actuator without state";
}

static void tell_actuator(import *im, int actuator, bool motor)
{
  const mjModel *m = im->m;
  const int control = actuator_control(m, actuator);
  const double *range = m->actuator_ctrlrange + 2 * control;
  const bool endless = isinf(range[0]) && isinf(range[1]) && range[0] < range[1];
  if (!motor && m->actuator_ctrllimited[control] && !endless &&
      !(m->opt.disableflags & mjDSBL_CLAMPCTRL)) {
    left_out(im, "actuator", mjOBJ_ACTUATOR, actuator,
             "the control's range %g to %g is left out", range[0], range[1]);
  }
  if (limits_actuator_force(m, m->actuator_trnid[2 * actuator])) {
    left_out(im, "actuator", mjOBJ_ACTUATOR, actuator, "the joint's actuatorfrcrange is left out");
  }
  if (has_actuator_extras(m, actuator)) {
    left_out(im, "actuator", mjOBJ_ACTUATOR, actuator,
             "its own damping, armature or delay is left out");
  }
}

static int link_of(const import *im, int joint)
{
  const int body = im->m->jnt_bodyid[joint];
  return im->first_link[body] + joint - im->m->body_jntadr[body];
}

static void write_actuator(import *im, int actuator, const plain *p, int dof)
{
  const mjModel *m = im->m;
  json_lines *j = &im->json;
  const int joint = m->actuator_trnid[2 * actuator];
  const double gear = m->actuator_gear[6 * actuator_output(m, actuator) + dof];
  double range[2];
  ++im->actuator_count;
  json_line(j, 1);
  json_open(j, NULL, '{');
  json_put_text(j, "kind", p->kind);
  json_put_whole(j, "joint", link_of(im, joint));
  if (dof) {
    json_put_whole(j, "dof", dof);
  }
  json_put_real(j, "gear", p->motor ? p->gain * gear : gear);
  if (!p->motor && !same(p->kp, 0.0)) {
    json_put_real(j, "kp", p->kp);
  }
  if (!p->motor && !same(p->kv, 0.0)) {
    json_put_real(j, "kv", p->kv);
  }
  if (force_range(im, actuator, p, range) && finite_range(range)) {
    json_put_reals(j, "force_limits", range, 2);
  }
  json_close(j, '}');
  tell_actuator(im, actuator, p->motor);
}

void write_actuators(import *im)
{
  const int count = actuator_count(im->m);
  json_line(&im->json, 0);
  json_open(&im->json, "actuators", '[');
  for (int a = 0; a < count; ++a) {
    plain p = {0};
    int dof = 0;
    const char *why = refusal(im, a, &p, &dof);
    if (why) {
      left_out(im, "actuator", mjOBJ_ACTUATOR, a, "left out with its control: %s", why);
    } else {
      write_actuator(im, a, &p, dof);
    }
  }
  json_close(&im->json, ']');
}
