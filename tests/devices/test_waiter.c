/* Waiting for an event whose driver never calls back: looking at it has to do. Skipped (77) where there is
 * no OpenCL device. */
#include "device/waiter.h"
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

/* state: what the event ends with. */
static void test_event(cl_context context, cl_int state)
{
  cl_int code = 0;
  double ended = 0.0;
  waiter *w = NULL;
  cl_event event = clCreateUserEvent(context, &code);
  CHECK(code == CL_SUCCESS);
  CHECK_OK(waiter_create(event, true, &w));
  CHECK(!waiter_wait(w, 0.01, &code, &ended));
  CHECK(clSetUserEventStatus(event, state) == CL_SUCCESS);
  CHECK(waiter_wait(w, 60.0, &code, &ended));
  CHECK_EQUAL(code, state);
  CHECK(ended > 0.0);
  clReleaseEvent(event);
  waiter_leave(w);
  kept(event, CL_COMPLETE, kept_user); /* late: what is known stays, and the last one frees */
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
  test_event(context, CL_COMPLETE);
  test_event(context, -5);
  clReleaseContext(context);
  return check_finish();
}
