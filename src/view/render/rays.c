#include "view/render/rays.h"

#include "base/error.h"
#include "engine/batch/batch.h"
#include "geometry/layout.h"
#include "engine/self_test/runner.h"

#define RAYS_MOST ((size_t)1 << 20)
#define LANES_MOST 16

enum { IN, OUT, POSE_1 = 0, POSE_2, FRAMES, STATUS }; /* buffers */

typedef struct picture_call {
  batch_call base;
  pair *pair;
  const actor *actor;
  const ray_steps *steps;
  kernel_id kernel;
} picture_call;

static abut_status test(const batch_call *c, size_t where)
{
  return test_member(c->context, where, c->operation->module, PROGRAM_PLAIN, false, SELF_TEST_MAIN);
}

static launch_argument at(const batch_on *on, size_t slot, size_t id)
{
  return (launch_argument)ARG_BUFFER(memory_buffer(&on->memory[slot][0], id));
}

/* ---- rays and points of one actor ---- */

static abut_status place(batch_on *on)
{
  const picture_call *p = (const picture_call *)on->call; /* its base is the first member */
  const resident_body *body_there;
  resident_pair *there;
  on->granule = device_lanes(on->device);
  on->most = RAYS_MOST;
  TRY(pair_on(p->pair, on->place, &there));
  return body_on(p->actor->of, on->place, &body_there);
}

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const picture_call *p = (const picture_call *)on->call;
  const ray_steps *steps = p->steps;
  const resident_body *b = p->actor->of->on[on->place];
  buffer *coefficients = p->pair->on[on->place]->head; /* which starts with them */
  const uint32_t lanes = device_lanes(on->device);
  const size_t slots = padded(c.count, lanes);
  if (steps) {
    return LAUNCH(on->device, KERNEL_MARCH, slots / lanes, 1, at(on, slot, IN), ARG_INT(slots),
                  ARG_BUFFER(b->head), ARG_BUFFER(b->shape), ARG_BUFFER(coefficients),
                  ARG_REAL(p->actor->margin), ARG_REAL(steps->creep), ARG_REAL(steps->longest),
                  ARG_REAL(steps->tolerance), ARG_INT(steps->most), at(on, slot, OUT));
  }
  return LAUNCH(on->device, p->kernel, slots / lanes, 1, at(on, slot, IN), ARG_INT(slots),
                ARG_BUFFER(b->head), ARG_BUFFER(b->shape), ARG_BUFFER(coefficients),
                at(on, slot, OUT));
}

static const operation actor_operation = {.module = MODULE_RENDER,
                                          .test = test,
                                          .place = place,
                                          .launch = launch};

static abut_status ask(picture_call *p, const scene *s, size_t count, const void *in,
                       size_t in_width, void *out, size_t out_width)
{
  const size_t size = context_real_bytes(s->context);
  p->pair = p->actor->pair;
  p->base.operation = &actor_operation;
  p->base.context = s->context;
  p->base.count = count;
  p->base.unbounded = true; /* the bound is for poses or queries */
  p->base.multiple = LANES_MOST;
  batch_add(&p->base, (batch_array){.name = "rays",
                                    .in = in,
                                    .width = in_width,
                                    .size = size,
                                    .buffer = IN,
                                    .form = FORM_PLANES});
  batch_add(&p->base, (batch_array){.name = "picture",
                                    .out = out,
                                    .width = out_width,
                                    .size = size,
                                    .buffer = OUT,
                                    .form = FORM_PLANES});
  return batch_run(&p->base);
}

abut_status march_rays(const scene *s, const actor *a, const ray_steps *steps, size_t count,
                       const void *rays, void *entries)
{
  picture_call p = {.actor = a, .steps = steps};
  p.base.rates = a->of->rates[BODY_RAYS];
  return ask(&p, s, count, rays, RAY_REALS, entries, 1);
}

abut_status field_at_points(const scene *s, const actor *a, bool normals, size_t count,
                            const void *points, void *out)
{
  picture_call p = {.actor = a, .kernel = normals ? KERNEL_PICTURE_FIELD : KERNEL_PICTURE_DISTANCE};
  p.base.rates = a->of->rates[normals ? BODY_NORMALS : BODY_DISTANCES];
  return ask(&p, s, count, points, 3, out, normals ? FIELD_REALS : 1);
}

/* ---- the two poses ---- */

static abut_status place_nothing(batch_on *on)
{
  (void)on;
  return ABUT_SUCCESS;
}

static abut_status launch_frames(batch_on *on, size_t slot, chunk c)
{
  return LAUNCH(on->device, KERNEL_POSES, c.count, 1, at(on, slot, POSE_1), at(on, slot, POSE_2),
                ARG_BUFFER(NULL), ARG_BUFFER(NULL), ARG_INT(on->call->arrays[0].width),
                ARG_INT(c.count), at(on, slot, FRAMES), at(on, slot, STATUS));
}

static const operation frames_operation = {.module = MODULE_MANIFOLD,
                                           .test = test,
                                           .place = place_nothing,
                                           .launch = launch_frames};

abut_status frames_of_poses(context *c, size_t width, const void *pose1, const void *pose2,
                            void *frames, int *status)
{
  const size_t size = context_real_bytes(c);
  double rates[MEMBERS] = {0.0}; /* a throughput of one element is not meaningful */
  batch_call b = {.operation = &frames_operation, .context = c, .count = 1, .rates = rates};
  batch_add(
    &b,
    (batch_array){.name = "pose1", .in = pose1, .width = width, .size = size, .buffer = POSE_1});
  batch_add(
    &b,
    (batch_array){.name = "pose2", .in = pose2, .width = width, .size = size, .buffer = POSE_2});
  batch_add(&b, (batch_array){.name = "frames",
                              .out = frames,
                              .width = FRAME_STRIDE,
                              .size = size,
                              .buffer = FRAMES});
  batch_add(&b, (batch_array){.name = "status",
                              .out = status,
                              .width = 1,
                              .size = sizeof *status,
                              .buffer = STATUS});
  return batch_run(&b);
}
