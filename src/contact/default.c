#include <abut/manifold.h>
#include <string.h>

#define COOKIE 0xab070009u

abut_smoothing abut_default_smoothing(void)
{
  abut_smoothing s;
  memset(&s, 0, sizeof s);
  s.length = 1.0;
  s.union_ = s.plane = 0.01;
  s.normal = 1e-12;
  s.penetration = s.neighbour = s.sort = 0.01;
  s.clash = s.sign = 0.1;
  s.clip = s.minimum = s.compare = 0.1;
  s.ridge = 0.01;
  s.distance = 1e-10;
  s.select = ABUT_SELECT_SOFTSORT;
  s.edge_edge = s.two_sided = true;
  s.tilt = s.slope = 0.05;
  s.inset = 0.01;
  s.part = 0.02;
  s.gain = 0.005;
  s.samples = 1;
  s.cookie = COOKIE;
  return s;
}
