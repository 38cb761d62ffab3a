/* The camera's place. */
#ifndef ABUT_RENDER_CAMERA_H
#define ABUT_RENDER_CAMERA_H

#include "view/render/scene.h"
#include <abut/render.h>

/* Places the camera so that these points of the world, at least one, fill the picture at zoom 1,
 * and sets the scene's size. */
void camera_frame(scene *s, const abut_view *view, const v3 *points, size_t count);

/* The corners of the box that holds an actor, in the world. */
void box_corners(const actor *a, v3 corners[8]);

/* Frames what can be seen of a pair's two bodies, by a small picture from afar. */
abut_status frame_bodies(scene *s, const abut_view *view);

#endif
