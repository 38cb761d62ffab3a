/* What of a model acts on its bodies and has no word in a scene. */
#include "world/import/import.h"

static void tell_options(import *im)
{
  const mjModel *m = im->m;
  const mjOption *opt = &m->opt;
  if (opt->integrator != mjINT_EULER && opt->integrator != mjINT_RK4) {
    left_out_of_all(im, "the model's integrator becomes euler, which damps implicitly, too");
  }
  if (opt->integrator == mjINT_EULER && damps_explicitly(m)) {
    left_out_of_all(im, "the model damps explicitly (eulerdamp), the scene implicitly");
  }
  if (opt->disableflags & mjDSBL_REFSAFE) {
    left_out_of_all(im, "solref below twice the timestep is raised, though refsafe is off");
  }
  if (opt->enableflags & mjENBL_OVERRIDE) {
    left_out_of_all(im, "the override of contact parameters is left out");
  }
  if (any_of(&opt->density, 1) || any_of(&opt->viscosity, 1)) {
    left_out_of_all(im, "the medium's density and viscosity are left out");
  }
  if (opt->noslip_iterations > 0) {
    left_out_of_all(im, "noslip iterations are left out");
  }
}

static void tell_bodies(import *im)
{
  const mjModel *m = im->m;
  for (int b = 1; b < m->nbody; ++b) {
    if (has_gravity_compensation(m, b)) {
      left_out(im, "body", mjOBJ_BODY, b, "gravcomp is left out");
    }
    if (m->body_mocapid[b] >= 0) {
      left_out(im, "body", mjOBJ_BODY, b, "a mocap body becomes a fixed link");
    }
  }
}

static void tell_constraints(import *im)
{
  const mjModel *m = im->m;
  for (int e = 0; e < m->neq && !is_off(im, mjDSBL_EQUALITY); ++e) {
    if (is_equality_on(m, e)) {
      left_out(im, "equality", mjOBJ_EQUALITY, e, "equality constraints are left out");
    }
  }
  for (int t = 0; t < m->ntendon; ++t) {
    left_out(im, "tendon", mjOBJ_TENDON, t, "tendons are left out");
  }
  if (flex_count(m)) {
    left_out_of_all(im, "%d flexible bodies are left out", flex_count(m));
  }
}

void tell_rest(import *im)
{
  tell_options(im);
  tell_bodies(im);
  tell_constraints(im);
}
