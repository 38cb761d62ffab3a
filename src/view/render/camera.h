/* The camera's pose. */
#ifndef ABUT_RENDER_CAMERA_H
#define ABUT_RENDER_CAMERA_H

#include "view/render/scene.h"
#include <abut/render.h>

/* Places the camera so that these points of the world, at least one, fill the picture at zoom 1,
 * and sets the scene's size. */
void camera_frame(scene *s, const abut_view *view, const v3 *points, size_t count);

/* The corners of an actor's bounding box, in the world. */
void box_corners(const actor *a, v3 corners[8]);

/* Frames the visible parts of a pair's two bodies, found by a small picture from afar. */
abut_status frame_bodies(scene *s, const abut_view *view);

#endif
