/* Dampers and springs of joints and actuators that a scene's steps do not hold are warned about,
 * with the longest step that does: a little below it speeds do not grow, a little above it they do.
 *   test_drives */
#include "play.h"

#include <math.h>
#include <string.h>

enum { ROOM = 4096, STEPS = 500 };

#define SOLID(m) "\"mass\": " #m ", \"inertia\": [[0.02, 0, 0], [0, 0.03, 0], [0, 0, 0.04]], "
#define SLIDE(m, more) "{" SOLID(m) "\"joint\": {\"type\": \"slide\"" more "}}"
#define ARM(parent, more)                                                                      \
  "{" SOLID(1) "\"parent\": " #parent                                                          \
               ", \"position\": [0.3, 0, 0.1], \"com\": [0.2, 0.1, 0], \"joint\": {\"type\": " \
               "\"hinge\", \"axis\": [0, 1, 0.3]" more "}}"
#define SPEED(link, kv) "{\"kind\": \"velocity\", \"joint\": " #link ", \"kv\": " #kv "}"

/* `where` begins the warning; NULL: there is none. `limit` [ms] is what is told, 0 where no closed
 * form says it. */
typedef struct drive_case {
  const char *what, *settings, *links, *actuators, *where;
  double step, limit; /* [ms] */
} drive_case;

static const drive_case cases[] = {
  {"of kv h = 2 m", "", SLIDE(2, ""), SPEED(0, 500), "actuators[0], on links[0]: ", 10, 8},
  {"below it", "", SLIDE(2, ""), SPEED(0, 500), NULL, 7.9, 0},
  {"by its gear's square", "", SLIDE(2, ""),
   "{\"kind\": \"velocity\", \"joint\": 0, \"kv\": 125, \"gear\": -2}",
   "actuators[0], on links[0]: ", 10, 8},
  {"with armature", "", SLIDE(2, ", \"armature\": 2"), SPEED(0, 500), NULL, 10, 0},
  {"a motor's kv is none", "", SLIDE(2, ""), "{\"kind\": \"motor\", \"joint\": 0, \"kv\": 1e6}",
   NULL, 10, 0},
  {"Euler's dampers hold", "", SLIDE(2, ", \"damping\": 1e6"), "", NULL, 10, 0},
  {"and help to hold", "", SLIDE(2, ", \"damping\": 100"), SPEED(0, 500),
   "actuators[0], on links[0]: ", 12, 10},
  {"hard contacts' dampers do not", "\"contact_model\": \"lcp\",", SLIDE(2, ", \"damping\": 500"),
   "", "links[0].joint: its damping and stiffness are too large", 10, 8},
  {"nor rk4's", "\"integrator\": \"rk4\",", SLIDE(2, ", \"damping\": 500"), "",
   "links[0].joint: ", 12, 11.141174},
  {"of kp h^2 = 4 m", "", SLIDE(1, ""), "{\"kind\": \"position\", \"joint\": 0, \"kp\": 4e4}",
   "actuators[0], on links[0]: ", 12, 10},
  {"an implicit step holds", "\"contact_model\": \"spring\",", SLIDE(2, ""), SPEED(0, 5000), NULL,
   10, 0},
  {"an explicit one of springs does not",
   "\"contact_model\": \"spring\", \"integrator\": \"euler\",", SLIDE(2, ""), SPEED(0, 500),
   "actuators[0], on links[0]: ", 10, 8},
  {"the worst of two trees", "", SLIDE(2, "") "," SLIDE(1, "") "," SLIDE(9, ""),
   SPEED(0, 500) "," SPEED(1, 500) "," SPEED(2, 500), "actuators[1], on links[1]: ", 10, 4},
  {"an arm, its joints together", "", ARM(-1, "") "," ARM(0, "") "," ARM(1, ""),
   SPEED(0, 20) "," SPEED(1, 30) "," SPEED(2, 25), "actuators[2], on links[2]: ", 10, 0},
  {"an arm with springs", "",
   ARM(-1, ", \"stiffness\": 900") "," ARM(0, "") "," ARM(1, ", \"damping\": 3"),
   SPEED(0, 8) ", {\"kind\": \"position\", \"joint\": 1, \"kp\": 2500, \"kv\": 5}",
   "actuators[1], on links[1]: ", 20, 0},
  {"an arm by rk4", "\"integrator\": \"rk4\",",
   ARM(-1, "") "," ARM(0, ", \"damping\": 9") "," ARM(1, ""), SPEED(0, 20) "," SPEED(2, 25),
   "actuators[1], on links[2]: ", 10, 0},
  {"critical damping by rk4", "\"integrator\": \"rk4\",",
   SLIDE(1, ", \"stiffness\": 1e5, \"damping\": 632.4555"), "", "links[0].joint: ", 10, 8.80787},
  {"and steps far beyond both rates", "\"integrator\": \"rk4\",",
   SLIDE(1, ", \"stiffness\": 1e5, \"damping\": 1000"), "", "links[0].joint: ", 30, 0},
};

static void open_case(play *p, abut_context context, const drive_case *c, double step)
{
  static char text[ROOM];
  snprintf(text, sizeof text,
           "{\"timestep\": %.9g, \"gravity\": [0, 0, 0], %s \"links\": [%s], \"actuators\": [%s], "
           "\"pairs\": []}",
           1e-3 * step, c->settings, c->links, c->actuators);
  play_open_text(p, context, ABUT_FLOAT64, text, 1);
}

/* How much larger speeds are after some hundred steps than at the start, where they are too small
 * for anything but the linear part of what acts. */
static double growth(abut_context context, const drive_case *c, double step)
{
  play p;
  double before = 0.0, after = 0.0;
  open_case(&p, context, c, step);
  for (size_t i = 0; i < p.info.nv; ++i) {
    play_set_v(&p, 0, i, 1e-12 * (1.0 + 0.3 * (double)i));
    before += fabs(play_v(&p, 0, i));
  }
  play_step(&p, STEPS);
  for (size_t i = 0; i < p.info.nv; ++i) {
    after += fabs(play_v(&p, 0, i));
  }
  play_close(&p);
  return after / before;
}

static void test_case(abut_context context, const drive_case *c)
{
  const char *text = NULL;
  double step = 0.0, limit = 0.0;
  size_t count = 9;
  play p;
  open_case(&p, context, c, c->step);
  REQUIRE_OK(abut_check_scene(p.scene, &count));
  check(count == (c->where != NULL), "%s: %zu warnings", c->what, count);
  if (count != 1 || !c->where) {
    play_close(&p);
    return;
  }
  REQUIRE_OK(abut_get_scene_warning(p.scene, 0, &text));
  check(!strncmp(text, c->where, strlen(c->where)), "%s: %s", c->what, text);
  const char *at = strstr(text, "steps of ");
  check(at && sscanf(at,
                     "steps of %lf ms: the speeds will oscillate and grow; near the "
                     "start, steps of up to %lf ms are stable",
                     &step, &limit) == 2,
        "%s: %s", c->what, text);
  check(fabs(step - c->step) < 1e-9 &&
          (c->limit == 0.0 || fabs(limit - c->limit) < 1e-3 * c->limit),
        "%s: %s", c->what, text);
  play_close(&p);
  const double below = growth(context, c, 0.98 * limit), above = growth(context, c, 1.02 * limit);
  check(below < 10.0 && above > 1e4, "%s: speeds grow by %g below, by %g above", c->what, below,
        above);
}

int main(void)
{
  abut_context context;
  REQUIRE(test_context(ABUT_FLOAT64, &context));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    test_case(context, &cases[i]);
  }
  const char *text = NULL;
  size_t count = 0;
  play p;
  open_case(&p, context, &cases[12], cases[12].step);
  REQUIRE_OK(abut_check_scene(p.scene, &count));
  REQUIRE_OK(abut_get_scene_warning(p.scene, 0, &text));
  check(strstr(text, "; 1 more trees") != NULL, "%s", text);
  play_close(&p);
  return finish_context(context);
}
