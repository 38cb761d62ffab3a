#include "render/marks.h"

#include "base/error.h"
#include <stdlib.h>

#define FIRST_ROOM ((size_t)4096)
#define ARROW 0.16       /* of the scene's size */
#define CROWD 48.0       /* contacts; more of them get smaller arrows */
#define ARROW_LEAST 0.05

/* The compact list of one pose. */
typedef struct list {
  size_t count;
  reals p, n, activity;
} list;

static void list_free(list *l)
{
  free(l->p.data);
  free(l->n.data);
  free(l->activity.data);
  *l = (list){0};
}

static abut_status list_create(list *l, size_t room, size_t size)
{
  TRY(reals_create(&l->p, 3 * room, size));
  TRY(reals_create(&l->n, 3 * room, size));
  return reals_create(&l->activity, room, size);
}

/* Fills the list; with too little room it is emptied and the count needed is in *room. */
static abut_status fill_list(list *l, size_t *room, const scene *s, abut_batch *batch,
                             double threshold)
{
  const size_t size = context_real_bytes(s->pair->context);
  const abut_pair handle_ = {s->pair->self.index, s->pair->self.generation};
  abut_compact compact = {.threshold = threshold, .capacity = *room};
  list_free(l);
  TRY(list_create(l, *room, size));
  compact.p = l->p.data;
  compact.n = l->n.data;
  compact.activity = l->activity.data;
  batch->compact = &compact;
  const abut_status status = abut_contacts(handle_, batch);
  *room = compact.count;
  l->count = compact.count;
  return status;
}

static abut_status find_contacts(list *l, const scene *s, abut_pose_kind kind,
                                 const double *pose1, const double *pose2, double threshold)
{
  abut_status status = ABUT_SUCCESS;
  const size_t size = context_real_bytes(s->pair->context);
  const size_t width = kind == ABUT_POSE_TWIST ? 6 : 7;
  reals poses[2] = {{0}, {0}};
  for (int i = 0; i < 2; ++i) {
    TRY_DONE(reals_create(&poses[i], width, size));
    for (size_t k = 0; k < width; ++k) {
      reals_set(&poses[i], k, (i ? pose2 : pose1)[k]);
    }
  }
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.poses = kind;
  batch.pose1 = poses[0].data;
  batch.pose2 = poses[1].data;
  size_t room = FIRST_ROOM;
  status = fill_list(l, &room, s, &batch, threshold);
  if (status == ABUT_ERROR_OVERFLOW) {
    status = fill_list(l, &room, s, &batch, threshold);
  }
done:
  free(poses[0].data);
  free(poses[1].data);
  return status;
}

static double at(const reals *r, size_t i)
{
  return r->size == sizeof(double) ? ((const double *)r->data)[i]
                                   : (double)((const float *)r->data)[i];
}

static v3 vector_at(const reals *r, size_t i)
{
  return (v3){at(r, 3 * i), at(r, 3 * i + 1), at(r, 3 * i + 2)};
}

abut_status draw_contacts(canvas *c, const scene *s, abut_pose_kind kind, const double *pose1,
                          const double *pose2, const abut_view *view)
{
  abut_status status = ABUT_SUCCESS;
  list l = {0};
  mark *marks = NULL;
  TRY_DONE(find_contacts(&l, s, kind, pose1, pose2, view->threshold));
  void *memory = NULL;
  TRY_DONE(allocate(&memory, l.count, sizeof(mark)));
  marks = memory;
  const double crowd = sqrt(fmin(1.0, CROWD / fmax((double)l.count, 1.0)));
  const double length = fmax(ARROW * crowd, ARROW_LEAST) * s->size / view->zoom;
  for (size_t i = 0; i < l.count; ++i) {
    marks[i] = (mark){vector_at(&l.p, i), v3_unit(vector_at(&l.n, i)), length,
                      ramp(at(&l.activity, i))};
  }
  TRY_DONE(draw_marks(c, s, marks, l.count));
  draw_bar(c);
done:
  list_free(&l);
  free(marks);
  return status;
}
