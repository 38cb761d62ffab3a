/* Pairs of geoms that MuJoCo lets collide, with its parameters of their contacts. */
#include "world/import/import.h"

#include <math.h>
#include <string.h>

#define MIX_LEAST 1e-15 /* a weight below is none (mjMINVAL) */

typedef struct contact {
  double friction, solref[2], solimp[5], margin;
  int condim;
} contact;

/* ---- which collide ---- */

static bool is_excluded(const mjModel *m, int body1, int body2)
{
  for (int e = 0; e < m->nexclude; ++e) {
    int bodies[2];
    excluded_bodies(m, e, bodies);
    if ((bodies[0] == body1 && bodies[1] == body2) || (bodies[0] == body2 && bodies[1] == body1)) {
      return true;
    }
  }
  return false;
}

/* Among the first `count` pairs that the model states. */
static bool is_explicit(const mjModel *m, int count, int geom1, int geom2)
{
  for (int p = 0; p < count; ++p) {
    const int a = m->pair_geom1[p], b = m->pair_geom2[p];
    if ((a == geom1 && b == geom2) || (a == geom2 && b == geom1)) {
      return true;
    }
  }
  return false;
}

/* A body and the one that its joints join it to do not collide, unless that is the world. */
static bool are_joined(const import *im, int body1, int body2)
{
  const mjModel *m = im->m;
  const int a = im->weld[body1], b = im->weld[body2];
  if (!a || !b || m->opt.disableflags & mjDSBL_FILTERPARENT) {
    return false;
  }
  return im->weld[m->body_parentid[a]] == b || im->weld[m->body_parentid[b]] == a;
}

static bool bodies_collide(const import *im, int body1, int body2)
{
  return im->weld[body1] != im->weld[body2] && !are_joined(im, body1, body2) &&
         !is_excluded(im->m, body1, body2);
}

/* Planes pass through planes. */
static bool shapes_collide(const import *im, int geom1, int geom2)
{
  const int *type = im->m->geom_type;
  return im->place[geom1] >= 0 && im->place[geom2] >= 0 &&
         !(type[geom1] == mjGEOM_PLANE && type[geom2] == mjGEOM_PLANE);
}

static bool bits_collide(const mjModel *m, int geom1, int geom2)
{
  return m->geom_contype[geom1] & m->geom_conaffinity[geom2] ||
         m->geom_contype[geom2] & m->geom_conaffinity[geom1];
}

/* ---- how ---- */

static void copy_of_geom(const mjModel *m, int geom, contact *c)
{
  c->friction = m->geom_friction[3 * geom];
  c->condim = m->geom_condim[geom];
  memcpy(c->solref, m->geom_solref + mjNREF * geom, sizeof c->solref);
  memcpy(c->solimp, m->geom_solimp + mjNIMP * geom, sizeof c->solimp);
}

/* The share of the first. */
static double mix_of(double a, double b)
{
  if (a < MIX_LEAST || b < MIX_LEAST) {
    return a < MIX_LEAST && b < MIX_LEAST ? 0.5 : a < MIX_LEAST ? 0.0 : 1.0;
  }
  return a / (a + b);
}

static void mix(const contact *a, const contact *b, double share, contact *out)
{
  const bool direct = !(a->solref[0] > 0.0 && b->solref[0] > 0.0);
  for (int i = 0; i < 2; ++i) {
    out->solref[i] = direct ? fmin(a->solref[i], b->solref[i])
                            : share * a->solref[i] + (1.0 - share) * b->solref[i];
  }
  for (int i = 0; i < 5; ++i) {
    out->solimp[i] = share * a->solimp[i] + (1.0 - share) * b->solimp[i];
  }
  out->friction = fmax(a->friction, b->friction);
  out->condim = a->condim > b->condim ? a->condim : b->condim;
}

static contact contact_of_geoms(const mjModel *m, int geom1, int geom2)
{
  contact a = {0}, b = {0}, out;
  copy_of_geom(m, geom1, &a);
  copy_of_geom(m, geom2, &b);
  const int first = m->geom_priority[geom1], second = m->geom_priority[geom2];
  out = first > second ? a : b;
  if (first == second) {
    mix(&a, &b, mix_of(m->geom_solmix[geom1], m->geom_solmix[geom2]), &out);
  }
  out.margin = contact_margin(m, geom1, geom2, -1);
  return out;
}

static contact contact_of_pair(const mjModel *m, int pair)
{
  contact out = {.friction = m->pair_friction[5 * pair],
                 .condim = m->pair_dim[pair],
                 .margin = contact_margin(m, m->pair_geom1[pair], m->pair_geom2[pair], pair)};
  memcpy(out.solref, m->pair_solref + mjNREF * pair, sizeof out.solref);
  memcpy(out.solimp, m->pair_solimp + mjNIMP * pair, sizeof out.solimp);
  return out;
}

/* ---- which the scene finds by itself ---- */

#define USUAL_FRICTION 1.0 /* MuJoCo's default, and so that of automatic pairs */

static double clip(double x)
{
  return fmin(fmax(x, 1e-4), 0.9999);
}

/* As scenes do, which clip those of bodies, too. */
static void clip_solimp(double d[5])
{
  d[0] = clip(d[0]);
  d[1] = clip(d[1]);
  d[3] = clip(d[3]);
  d[4] = fmax(d[4], 1.0);
}

/* What the body of a geom states. */
static contact own_contact(const mjModel *m, int geom)
{
  contact c = {.margin = own_margin(m, geom)};
  copy_of_geom(m, geom, &c);
  return c;
}

/* Whether what the two bodies state comes to the contact that MuJoCo has. */
static bool mixes_alike(const mjModel *m, int geom1, int geom2, contact c)
{
  contact a = own_contact(m, geom1), b = own_contact(m, geom2), mixed;
  if ((a.solref[0] > 0.0) != (a.solref[1] > 0.0) || (b.solref[0] > 0.0) != (b.solref[1] > 0.0)) {
    return false;
  }
  clip_solimp(a.solimp);
  clip_solimp(b.solimp);
  clip_solimp(c.solimp);
  mix(&a, &b, 0.5, &mixed);
  mixed.margin = fmax(a.margin, b.margin);
  return !differ(&mixed.friction, &c.friction, 1) && !differ(mixed.solref, c.solref, 2) &&
         !differ(mixed.solimp, c.solimp, 5) && !differ(&mixed.margin, &c.margin, 1) &&
         (mixed.condim == 1) == (c.condim == 1);
}

static bool collides(const import *im, int geom1, int geom2)
{
  const mjModel *m = im->m;
  return shapes_collide(im, geom1, geom2) && bits_collide(m, geom1, geom2) &&
         bodies_collide(im, m->geom_bodyid[geom1], m->geom_bodyid[geom2]) &&
         !(takes_explicit_pairs(m) && is_explicit(m, m->npair, geom1, geom2));
}

static bool is_automatic(const import *im, int geom1, int geom2)
{
  return !im->o->value[OPTION_LIST_PAIRS] && mixes_alike(im->m, geom1, geom2, contact_of_geoms(im->m, geom1, geom2));
}

void plan_pairs(import *im)
{
  const mjModel *m = im->m;
  const bool any = !is_off(im, mjDSBL_CONTACT) && takes_dynamic_pairs(m);
  for (int a = 0; any && a < m->ngeom; ++a) {
    for (int b = a + 1; b < m->ngeom; ++b) {
      im->automatic_count += collides(im, a, b) && is_automatic(im, a, b);
    }
  }
}

void write_own_contact(import *im, int geom)
{
  const mjModel *m = im->m;
  json_lines *j = &im->json;
  contact c = own_contact(m, geom);
  if (!im->automatic_count) {
    return;
  }
  if (m->geom_contype[geom] != 1) {
    json_put_whole(j, "contype", (unsigned)m->geom_contype[geom]);
  }
  if (m->geom_conaffinity[geom] != 1) {
    json_put_whole(j, "conaffinity", (unsigned)m->geom_conaffinity[geom]);
  }
  if (c.friction < USUAL_FRICTION || c.friction > USUAL_FRICTION) {
    json_put_real(j, "friction", c.friction);
  }
  check_solref(im, "geom", mjOBJ_GEOM, geom, c.solref);
  write_softness(im, "solref", "solimp", c.solref, c.solimp);
  if (c.condim == 1) {
    json_put_whole(j, "condim", 1);
  }
  if (any_of(&c.margin, 1)) {
    json_put_real(j, "margin", c.margin);
  }
}

/* Links of bodies between which the model excludes contacts. */
static void write_excluded(import *im)
{
  const mjModel *m = im->m;
  bool any = false;
  for (int e = 0; e < m->nexclude; ++e) {
    int bodies[2];
    excluded_bodies(m, e, bodies);
    const int links[2] = {im->last_link[bodies[0]], im->last_link[bodies[1]]};
    if (links[0] < 0 || links[1] < 0) { /* the world without geoms */
      continue;
    }
    if (!any) {
      json_open(&im->json, "exclude", '[');
      any = true;
    }
    json_open(&im->json, NULL, '[');
    json_put_whole(&im->json, NULL, links[0]);
    json_put_whole(&im->json, NULL, links[1]);
    json_close(&im->json, ']');
  }
  if (any) {
    json_close(&im->json, ']');
  }
}

static void write_automatic(import *im)
{
  if (!im->automatic_count) {
    return;
  }
  json_line(&im->json, 0);
  json_open(&im->json, "automatic", '{');
  json_put_real(&im->json, "friction", USUAL_FRICTION);
  if (im->m->opt.disableflags & mjDSBL_FILTERPARENT) {
    json_put_flag(&im->json, "parents", true);
  }
  write_excluded(im);
  json_close(&im->json, '}');
}

/* ---- in the scene ---- */

static void write_side(import *im, const char *key, int geom)
{
  json_open(&im->json, key, '[');
  json_put_whole(&im->json, NULL, im->last_link[im->m->geom_bodyid[geom]]);
  json_put_whole(&im->json, NULL, im->place[geom]);
  json_close(&im->json, ']');
}

static void write_pair(import *im, int geom1, int geom2, const contact *c)
{
  json_lines *j = &im->json;
  ++im->pair_count;
  json_line(j, 1);
  json_open(j, NULL, '{');
  write_side(im, "a", geom1);
  write_side(im, "b", geom2);
  json_put_real(j, "friction", c->friction);
  write_softness(im, "solref", "solimp", c->solref, c->solimp);
  if (c->condim == 1) {
    json_put_whole(j, "condim", 1);
  }
  if (any_of(&c->margin, 1)) {
    json_put_real(j, "margin", c->margin);
  }
  json_close(j, '}');
}

static void write_explicit(import *im, int pair)
{
  const mjModel *m = im->m;
  const int g1 = m->pair_geom1[pair], g2 = m->pair_geom2[pair];
  const double *friction = m->pair_friction + 5 * pair;
  contact c = contact_of_pair(m, pair);
  if (!shapes_collide(im, g1, g2)) {
    return; /* a shape that is left out was told */
  }
  if (im->weld[m->geom_bodyid[g1]] == im->weld[m->geom_bodyid[g2]]) {
    left_out(im, "pair", mjOBJ_PAIR, pair, "its geoms do not move against each other");
    return;
  }
  if (is_explicit(m, pair, g1, g2)) {
    left_out(im, "pair", mjOBJ_PAIR, pair, "its geoms are those of an earlier pair");
    return;
  }
  if (c.condim > 1 && (friction[0] < friction[1] || friction[0] > friction[1])) {
    left_out(im, "pair", mjOBJ_PAIR, pair, "friction is %g in all directions, not %g in one",
             friction[0], friction[1]);
  }
  if (c.condim > 3) {
    left_out(im, "pair", mjOBJ_PAIR, pair, "condim %d becomes 3", c.condim);
  }
  if (has_friction_reference(m, pair)) {
    left_out(im, "pair", mjOBJ_PAIR, pair, "solreffriction is left out");
  }
  if (sticks(m, pair)) {
    left_out(im, "pair", mjOBJ_PAIR, pair, "it does not stick in the scene");
  }
  check_solref(im, "pair", mjOBJ_PAIR, pair, c.solref);
  write_pair(im, g1, g2, &c);
}

/* Of two geoms of mixed formats the smaller numbers are taken, which may have two signs though
 * neither geom's have. */
static void write_dynamic(import *im, int geom1, int geom2)
{
  contact c = contact_of_geoms(im->m, geom1, geom2);
  check_solref(im, "geom", mjOBJ_GEOM, geom1, c.solref);
  write_pair(im, geom1, geom2, &c);
}

static void tell_geoms(import *im)
{
  const mjModel *m = im->m;
  for (int g = 0; g < m->ngeom; ++g) {
    if (im->place[g] >= 0 && m->geom_condim[g] > 3) {
      left_out(im, "geom", mjOBJ_GEOM, g, "condim %d becomes 3", m->geom_condim[g]);
    }
  }
}

static void write_dynamic_pairs(import *im)
{
  const mjModel *m = im->m;
  for (int a = 0; a < m->ngeom; ++a) {
    for (int b = a + 1; b < m->ngeom; ++b) {
      if (collides(im, a, b) && !is_automatic(im, a, b)) {
        write_dynamic(im, a, b);
      }
    }
  }
}

void write_pairs(import *im)
{
  const mjModel *m = im->m;
  json_line(&im->json, 0);
  json_open(&im->json, "pairs", '[');
  if (is_off(im, mjDSBL_CONTACT)) {
    left_out_of_all(im, "contacts are off in the model, so that there are no pairs");
  } else {
    tell_geoms(im);
    for (int p = 0; p < m->npair && takes_explicit_pairs(m); ++p) {
      write_explicit(im, p);
    }
    if (takes_dynamic_pairs(m)) {
      write_dynamic_pairs(im);
    }
  }
  json_close(&im->json, ']');
  im->pair_count += im->automatic_count;
  write_automatic(im);
}
