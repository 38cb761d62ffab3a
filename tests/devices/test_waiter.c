/* Waiting for an event whose driver calls back late, or from within a question about the event:
 * looking at it has to do. Skipped (77) where there is no OpenCL device. */
#include "engine/device/waiter.h"
#include "support/check.h"

typedef void(CL_CALLBACK *callback)(cl_event, cl_int, void *);

static callback kept;
static void *kept_user;

cl_int __wrap_clSetEventCallback(cl_event event, cl_int type, callback notify, void *user);

cl_int __wrap_clSetEventCallback(cl_event event, cl_int type, callback notify, void *user)
{
  (void)event;
  (void)type;
  kept = notify;
  kept_user = user;
  return CL_SUCCESS;
}

static bool calls_back; /* from within the question, once */

cl_int __real_clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *to,
                             size_t *size);
cl_int __wrap_clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *to,
                             size_t *size);

cl_int __wrap_clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *to,
                             size_t *size)
{
  const cl_int code = __real_clGetEventInfo(event, what, room, to, size);
  if (calls_back && *(cl_int *)to <= CL_COMPLETE) {
    calls_back = false;
    kept(event, *(cl_int *)to, kept_user);
    kept = NULL;
  }
  return code;
}

/* state: what the event ends with. */
static void test_event(cl_context context, cl_int state, bool within)
{
  cl_int code = 0;
  double ended = 0.0;
  waiter *w = NULL;
  cl_event event = clCreateUserEvent(context, &code);
  CHECK(code == CL_SUCCESS);
  CHECK_OK(waiter_create(event, true, &w));
  CHECK(!waiter_wait(w, 0.01, &code, &ended));
  calls_back = within;
  CHECK(clSetUserEventStatus(event, state) == CL_SUCCESS);
  CHECK(waiter_wait(w, 60.0, &code, &ended));
  CHECK_EQUAL(code, state);
  CHECK(ended > 0.0);
  clReleaseEvent(event);
  waiter_leave(w);
  if (!within) {
    kept(event, CL_COMPLETE, kept_user); /* late: what is known stays, and the last one frees */
  }
}

int main(void)
{
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    printf("not run: no OpenCL device\n");
    return 77;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  CHECK(code == CL_SUCCESS);
  for (int within = 0; within < 2; ++within) {
    test_event(context, CL_COMPLETE, within);
    test_event(context, -5, within);
  }
  clReleaseContext(context);
  return check_finish();
}
