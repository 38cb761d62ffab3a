#include "view/render/marks.h"

#include "base/error.h"
#include <stdlib.h>

#define FIRST_ROOM ((size_t)4096)
#define ARROW 0.16 /* relative to the size of the bodies in contact */
#define CROWD 48.0 /* contacts; with more of them arrows are smaller */
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

/* Fills the list. If the room is too small, the list is emptied and *room is the required count. */
static abut_status fill_list(list *l, size_t *room, const pair *p, abut_batch *batch,
                             double threshold)
{
  const size_t size = context_real_bytes(p->context);
  const abut_pair handle_ = {p->base.self.index, p->base.self.generation};
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

static abut_status find_contacts(list *l, const touch *t, double threshold)
{
  abut_status status = ABUT_SUCCESS;
  const size_t size = context_real_bytes(t->pair->context);
  const size_t width = t->kind == ABUT_POSE_TWIST ? 6 : 7;
  reals poses[2] = {{0}, {0}};
  for (int i = 0; i < 2; ++i) {
    TRY_DONE(reals_create(&poses[i], width, size));
    for (size_t k = 0; k < width; ++k) {
      reals_set(&poses[i], k, (i ? t->pose2 : t->pose1)[k]);
    }
  }
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.poses = t->kind;
  batch.pose1 = poses[0].data;
  batch.pose2 = poses[1].data;
  size_t room = FIRST_ROOM;
  status = fill_list(l, &room, t->pair, &batch, threshold);
  if (status == ABUT_ERROR_OVERFLOW) {
    status = fill_list(l, &room, t->pair, &batch, threshold);
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

static void add_marks(const list *l, double length, mark *to)
{
  for (size_t i = 0; i < l->count; ++i) {
    to[i] =
      (mark){vector_at(&l->p, i), v3_unit(vector_at(&l->n, i)), length, ramp(at(&l->activity, i))};
  }
}

/* Draws the contacts of all lists, with arrows sized for their total number. */
static abut_status draw_lists(canvas *c, const scene *s, const list *lists, size_t count,
                              const abut_view *view)
{
  size_t contacts = 0, marked = 0;
  void *memory = NULL;
  for (size_t i = 0; i < count; ++i) {
    contacts += lists[i].count;
  }
  TRY(allocate(&memory, contacts, sizeof(mark)));
  mark *marks = memory;
  const double crowd = sqrt(fmin(1.0, CROWD / fmax((double)contacts, 1.0)));
  const double length = fmax(ARROW * crowd, ARROW_LEAST) * s->touching / view->zoom;
  for (size_t i = 0; i < count; ++i) {
    add_marks(&lists[i], length, marks + marked);
    marked += lists[i].count;
  }
  const abut_status status = draw_marks(c, s, marks, contacts);
  free(marks);
  return status;
}

abut_status draw_contacts(canvas *c, const scene *s, const touch *touches, size_t count,
                          const abut_view *view)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  TRY(allocate(&memory, count, sizeof(list)));
  list *lists = memory;
  for (size_t i = 0; i < count; ++i) {
    TRY_DONE(find_contacts(&lists[i], &touches[i], view->threshold));
  }
  TRY_DONE(draw_lists(c, s, lists, count, view));
  draw_bar(c);
done:
  for (size_t i = 0; i < count; ++i) {
    list_free(&lists[i]);
  }
  free(lists);
  return status;
}
