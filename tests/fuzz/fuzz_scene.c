#include "fuzz.h"
#include "world/law/law.h"
#include "scene/file.h"
#include <math.h>
#include <stdlib.h>

const sample_kind fuzz_seeds = SAMPLE_SCENE;

static double length2(const double *x, int count)
{
  double sum = 0.0;
  for (int k = 0; k < count; k++) {
    sum += x[k] * x[k];
  }
  return sum;
}

static void check_body(const scene_body *b)
{
  PROMISE((b->shape == SHAPE_FILE) == (b->file != NULL));
  PROMISE((b->shape == SHAPE_HEIGHT_FIELD) == (b->heights != NULL));
  PROMISE(fabs(length2(b->quaternion, 4) - 1.0) < 1e-12 && isfinite(length2(b->size, 3)));
  PROMISE(b->eps1 >= 0.0);
}

static void check_link(const scene_def *s, size_t i)
{
  const scene_link *l = &s->links[i];
  PROMISE(l->parent >= WORLD && l->parent < (int)i);
  PROMISE(fabs(length2(l->quaternion, 4) - 1.0) < 1e-12);
  PROMISE(fabs(length2(l->joint.axis, 3) - 1.0) < 1e-12);
  PROMISE(l->mass >= 0.0 && l->density >= 0.0 && (l->density == 0.0 || l->body_count));
  PROMISE(l->joint.type >= JOINT_FIXED && l->joint.type < JOINT_TYPES);
  for (int k = 0; k < 3; k++) {
    PROMISE(l->joint.limit_spring[k] > 0.0);
  }
  PROMISE(!l->joint.limited || l->joint.limits[0] < l->joint.limits[1]);
  for (size_t k = 0; k < l->body_count; k++) {
    check_body(&l->bodies[k]);
  }
}

static void check_pair(const scene_def *s, const scene_pair *p)
{
  PROMISE((p->friction > 0.0 || s->law != &cone_law) && p->friction >= 0.0);
  PROMISE(p->condim == 1 || p->condim == 3);
  PROMISE((p->link[0] == WORLD) == (p->link[1] == WORLD));
  PROMISE(s->law != &spring_law || p->link[0] != WORLD);
  for (int k = 0; k < SPRING_NUMBERS; k++) {
    PROMISE(p->spring[k] > 0.0 || (k == 1 && p->spring[k] >= 0.0));
  }
  for (int k = 0; k < 2 && p->link[0] != WORLD; k++) {
    PROMISE(p->link[k] >= 0 && (size_t)p->link[k] < s->link_count);
    PROMISE(p->body[k] >= 0 && (size_t)p->body[k] < s->links[p->link[k]].body_count);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  scene_def s;
  if (scene_file_parse("folder/fuzz", (const char *)bytes, count, &s) != ABUT_SUCCESS) {
    PROMISE(!s.links && !s.pairs && !s.memory.at);
    return 0;
  }
  PROMISE(s.link_count > 0 && s.timestep > 0.0);
  PROMISE(s.integrator != INTEGRATOR_IMPLICIT || s.law == &spring_law);
  for (size_t i = 0; i < s.link_count; i++) {
    check_link(&s, i);
  }
  for (size_t i = 0; i < s.actuator_count; i++) {
    const actuator *a = &s.actuators[i];
    PROMISE(a->link >= 0 && (size_t)a->link < s.link_count);
    PROMISE(a->dof < joint_dofs(s.links[a->link].joint.type));
  }
  for (size_t i = 0; i < s.pair_count; i++) {
    check_pair(&s, &s.pairs[i]);
  }
  scene_def_free(&s);
  return 0;
}
