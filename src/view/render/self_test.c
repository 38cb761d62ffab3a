/* Self-tests of pictures: where rays enter a body, and its field at points. */
#include "body/body.h"
#include "engine/self_test/bodies.h"
#include "engine/self_test/runner.h"
#include "engine/self_test/self_test.h"
#include "contact/smoothing.h"
#include <math.h>

#include "view/render/self_test_answers.inl"

#define RAYS SELF_TEST_RAYS
#define RAY_PLANES 7
#define SLOTS 32 /* whole blocks of lanes for any number of lanes */
#define PLANES_MOST RAY_PLANES
#define ROOM (SLOTS * 2 * PLANES_MOST)

/* As in trace.c, for a body of this size. */
#define CREEP 1e-2
#define STEP_MOST 0.25
#define TOLERANCE 1e-5
#define STEPS 320

typedef struct trial {
  self_test test;
  device *device;
  const resident_body *body;
  buffer *coefficients, *in, *out;
  double margin;
} trial;

static abut_status prepare(trial *t, context *one)
{
  const abut_smoothing smoothing = self_test_smoothing();
  abut_body asked;
  *t = (trial){.device = one->members[0].device};
  TRY(self_test_open(&t->test, one, ROOM));
  TRY(self_test_body(self_test_context(&t->test), 0, &asked));
  device_select(t->device, 0);
  TRY(body_on(body_get(asked), 0, &t->body));
  TRY(upload_coefficients(t->device, &smoothing, &t->coefficients));
  const size_t bytes = PLANES_MOST * SLOTS * device_real_bytes(t->device);
  t->margin = smoothing.union_ * log(SELF_TEST_ADDED);
  TRY(buffer_create(t->device, bytes, &t->in));
  return buffer_create(t->device, bytes, &t->out);
}

/* Uploads the known rows, repeated, as planes. */
static abut_status put_planes(trial *t, const double *rows, size_t planes)
{
  double all[PLANES_MOST * SLOTS];
  for (size_t k = 0; k < planes; ++k) {
    for (size_t i = 0; i < SLOTS; ++i) {
      all[k * SLOTS + i] = rows[i % RAYS * planes + k];
    }
  }
  const size_t count = planes * SLOTS;
  t->test.used = 0;
  const void *data = self_test_put(&t->test, all, count, count);
  return buffer_write(t->in, 0, count * t->test.room.size, data);
}

/* Compares one plane of the results with an answer of one number per row. */
static abut_status check_plane(trial *t, const answer *a, size_t plane)
{
  const size_t size = t->test.room.size;
  void *got = self_test_room(&t->test, SLOTS);
  TRY(buffer_read(t->out, plane * SLOTS * size, SLOTS * size, got));
  return self_test_compare(&t->test, a, got, SLOTS, RAYS);
}

static abut_status march(trial *t)
{
  static const answer entries = {
    "where rays enter a body", expected_entries, 1, 1, {1e-3, 1e-3}, false};
  TRY(put_planes(t, rays, RAY_PLANES));
  TRY(LAUNCH(t->device, KERNEL_MARCH, SLOTS / device_lanes(t->device), 1, ARG_BUFFER(t->in),
             ARG_INT(SLOTS), ARG_BUFFER(t->body->head), ARG_BUFFER(t->body->shape),
             ARG_BUFFER(t->coefficients), ARG_REAL(t->margin), ARG_REAL(CREEP), ARG_REAL(STEP_MOST),
             ARG_REAL(TOLERANCE), ARG_INT(STEPS), ARG_BUFFER(t->out)));
  return check_plane(t, &entries, 0);
}

static abut_status field(trial *t, kernel_id kernel)
{
  TRY(put_planes(t, picture_points, 3));
  return LAUNCH(t->device, kernel, SLOTS / device_lanes(t->device), 1, ARG_BUFFER(t->in),
                ARG_INT(SLOTS), ARG_BUFFER(t->body->head), ARG_BUFFER(t->body->shape),
                ARG_BUFFER(t->coefficients), ARG_BUFFER(t->out));
}

static abut_status fields(trial *t)
{
  static const answer distance = {"a picture's distance", expected_picture_distance, 1, 1, OF_D};
  static const answer normal[3] = {{"a picture's normal, x", expected_picture_x, 1, 1, OF_N},
                                   {"a picture's normal, y", expected_picture_y, 1, 1, OF_N},
                                   {"a picture's normal, z", expected_picture_z, 1, 1, OF_N}};
  TRY(field(t, KERNEL_PICTURE_DISTANCE));
  TRY(check_plane(t, &distance, 0));
  TRY(field(t, KERNEL_PICTURE_FIELD));
  TRY(check_plane(t, &distance, 0));
  for (size_t i = 0; i < 3; ++i) {
    TRY(check_plane(t, &normal[i], 1 + i));
  }
  return ABUT_SUCCESS;
}

static abut_status test_picture(context *one)
{
  trial t;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(prepare(&t, one));
  TRY_DONE(march(&t));
  TRY_DONE(fields(&t));
done:
  buffer_destroy(t.in);
  buffer_destroy(t.out);
  buffer_destroy(t.coefficients);
  self_test_close(&t.test);
  return status;
}

const module_self_tests render_self_tests = {{[SELF_TEST_MAIN] = {
                                                [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test_picture,
                                              }}};
