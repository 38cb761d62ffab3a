/* abut: smoothly differentiable contact manifolds for batches of poses, on any OpenCL device.
 *
 *   abut_context_def def = abut_default_context_def();
 *   abut_context context;   abut_create_context(&def, &context);
 *   abut_body a, b;         abut_load_body(context, "a.obj", &a); ...
 *   abut_smoothing sm;      abut_fit_smoothing(a, b, &sm);
 *   abut_pair pair;         abut_create_pair(a, b, &sm, &pair);
 *   abut_batch batch = abut_default_batch();   // set poses and outputs
 *   abut_contacts(pair, &batch);
 */
#ifndef ABUT_ABUT_H
#define ABUT_ABUT_H

#include <abut/body.h>
#include <abut/ccd.h>
#include <abut/closest.h>
#include <abut/contact_mesh.h>
#include <abut/decompose.h>
#include <abut/derivatives.h>
#include <abut/device.h>
#include <abut/field.h>
#include <abut/files.h>
#include <abut/inspect.h>
#include <abut/kinematics.h>
#include <abut/lcp.h>
#include <abut/manifold.h>
#include <abut/page.h>
#include <abut/pose.h>
#include <abut/render.h>
#include <abut/shape.h>
#include <abut/spring.h>
#include <abut/state.h>
#include <abut/status.h>
#include <abut/suggest.h>
#include <abut/tuning.h>
#include <abut/world.h>

#endif
