// A superquadric's field and its derivatives with respect to its eleven parameters. In the names of
// superquadric.inl, with the shares m_i of the three terms in f (they add up to 1) and k = 1 - 1/h:
//   d phi / d ln a_i = -(r / h) m_i u_i^2 / q_i
//   d phi / d e1     =  (r / h) / 2 times the entropy of the outer sum's shares
//   d phi / d e2     =  (r / h) / 2 times the share of x and y there, times the entropy of the
//                    inner's
//   g_i              =  k y_i / r + (r / h) m_i u_i / (a_i q_i), the gradient in its own axes
//   d phi / d t      = -g,  d phi / d w = g x y
typedef struct decompose_jet {
  lane phi, by[DECOMPOSE_PARAMETERS];
} decompose_jet;

// Returns the entropy of the shares 1 / sum and share / sum, where share = 2^bits <= 1 and sum =
// share + 1. An underflowed share contributes nothing.
static lane decompose_entropy(lane bits, lane share, lane sum)
{
  return (lane_log2_1p(share) - share / sum * lane_max(bits, lane_lit(R(-1000.0)))) * LN2;
}

static void decompose_derive(GLOBAL const real *s, vec3_r x, decompose_jet *out)
{
  GLOBAL const real *axes_inv = s + SUPERQUADRIC_AXES_INV;
  const vec3_r position = make_r(lane_lit(s[SUPERQUADRIC_POSITION]),
                                 lane_lit(s[SUPERQUADRIC_POSITION + 1]),
                                 lane_lit(s[SUPERQUADRIC_POSITION + 2]));
  const vec3_r y = rotate_back_r(s, sub3_r(x, position));
  shares_r t;
  superquadric_shares_r(s, y, &t);
  const lane one = lane_lit(R(1.0));
  const lane r = lane_sqrt(dot3_r(y, y) + s[SUPERQUADRIC_FLOOR]);
  const lane reach = r * t.h_inv; // 1/h is at most 1e6, because q_i are at least 1e-12
  const lane inner = one / t.xy_sum, outer = one / t.sum;
  const lane inner_rest = t.xy_e * inner, outer_rest = t.share * outer;
  const lane across = lane_select(t.m_leads, outer, outer_rest);
  const vec3_r m = make_r(across * lane_select(t.x_leads, inner, inner_rest),
                          across * lane_select(t.x_leads, inner_rest, inner),
                          lane_select(t.m_leads, outer_rest, outer));
  const lane lx = lane_log2(t.q.x), ly = lane_log2(t.q.y), lz = lane_log2(t.q.z);
  const lane xy_gap = lane_select(t.x_leads, ly - lx, lx - ly) * s[SUPERQUADRIC_E2_INV];
  const lane most = lane_log2_1p(t.xy_e) * s[SUPERQUADRIC_E2] + lane_select(t.x_leads, lx, ly);
  const lane gap = lane_select(t.m_leads, lz - most, most - lz) * s[SUPERQUADRIC_E1_INV];
  const vec3_r per_q = make_r(m.x / t.q.x, m.y / t.q.y, m.z / t.q.z);
  const lane radial = (one - t.h_inv) / r;
  const vec3_r steep =
    make_r(t.u.x * per_q.x * reach, t.u.y * per_q.y * reach, t.u.z * per_q.z * reach);
  const vec3_r g = make_r(radial * y.x + steep.x * axes_inv[0],
                          radial * y.y + steep.y * axes_inv[1],
                          radial * y.z + steep.z * axes_inv[2]);
  const vec3_r turn = cross3_r(g, y);
  out->phi = r - reach;
  out->by[0] = -(steep.x * t.u.x);
  out->by[1] = -(steep.y * t.u.y);
  out->by[2] = -(steep.z * t.u.z);
  out->by[3] = reach * R(0.5) * decompose_entropy(gap, t.share, t.sum);
  out->by[4] = reach * R(0.5) * across * decompose_entropy(xy_gap, t.xy_e, t.xy_sum);
  out->by[5] = -g.x;
  out->by[6] = -g.y;
  out->by[7] = -g.z;
  out->by[8] = turn.x;
  out->by[9] = turn.y;
  out->by[10] = turn.z;
}

// Returns the code of an entry: its part number and the number of parts.
static int decompose_code(GLOBAL const real *s)
{
  return (int)s[DECOMPOSE_PART];
}

static vec3_r decompose_from_centre(GLOBAL const real *part, vec3_r x)
{
  return make_r(x.x - part[PLANES_CENTRE], x.y - part[PLANES_CENTRE + 1],
                x.z - part[PLANES_CENTRE + 2]);
}

// Returns the distance of a place y, relative to the centre, beyond plane `i` of a polyhedron,
// counted over all its parts.
static lane decompose_plane(GLOBAL const real *head, int i, vec3_r y)
{
  GLOBAL const real *p =
    head + SUPERQUADRIC_STRIDE * (i / PLANES_EACH) + PLANES_STRIDE * (i % PLANES_EACH);
  return y.x * p[0] + y.y * p[1] + y.z * p[2] - p[PLANES_OFFSET];
}

// Returns a polyhedron's field, the soft maximum over the planes of all its parts; plane: log2(e) /
// temperature.
static lane decompose_polyhedron(GLOBAL const real *head, vec3_r y, real plane)
{
  const int count = PLANES_EACH * PART_COUNT(decompose_code(head));
  lane most = lane_lit(-REAL_BIG), sum = lane_lit(R(0.0));
  for (int i = 0; i < count; ++i) {
    most = lane_max(most, decompose_plane(head, i, y));
  }
  for (int i = 0; i < count; ++i) {
    sum += lane_exp2((decompose_plane(head, i, y) - most) * plane);
  }
  return most + lane_log2(sum) / plane;
}

// A polyhedron's field and its derivatives with respect to the parameters of one of its parts. With
// the share m of a plane in the sum, they are -m by its distance from the centre, and m (t . y) for
// a change of its normal by t.
static void decompose_derive_part(GLOBAL const real *part, vec3_r x, real plane, decompose_jet *out)
{
  const int first = PART_NUMBER(decompose_code(part));
  GLOBAL const real *head = part - SUPERQUADRIC_STRIDE * first;
  const vec3_r y = decompose_from_centre(part, x);
  out->phi = decompose_polyhedron(head, y, plane);
  for (int i = 0; i < PLANES_EACH; ++i) {
    GLOBAL const real *n = part + PLANES_STRIDE * i, *t = n + PLANES_ACROSS;
    const lane m =
      lane_exp2((decompose_plane(head, PLANES_EACH * first + i, y) - out->phi) * plane);
    const real u[3] = {n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2],
                       n[0] * t[1] - n[1] * t[0]};
    out->by[3 * i] = -m;
    out->by[3 * i + 1] = m * (y.x * t[0] + y.y * t[1] + y.z * t[2]);
    out->by[3 * i + 2] = m * (y.x * u[0] + y.y * u[1] + y.z * u[2]);
  }
  for (int i = 3 * PLANES_EACH; i < DECOMPOSE_PARAMETERS; ++i) {
    out->by[i] = lane_lit(R(0.0));
  }
}

// Returns the field of a superquadric, or of a polyhedron by its first part.
static lane decompose_field(GLOBAL const real *s, vec3_r x, real plane)
{
  if (decompose_code(s)) {
    return decompose_polyhedron(s, decompose_from_centre(s, x), plane);
  }
  surface_r out;
  superquadric_r(s, 0, x, 0, &out);
  return out.phi;
}

// Returns a lower bound of a polyhedron's field over a ball. Parts other than the first have no
// field of their own, and return a value beyond all bounds.
static real decompose_bound_planes(GLOBAL const real *s, GLOBAL const real *ball)
{
  const int code = decompose_code(s),
            count = PART_NUMBER(code) ? 0 : PLANES_EACH * PART_COUNT(code);
  real most = count ? -REAL_BIG : REAL_BIG;
  const real d[3] = {ball[0] - s[PLANES_CENTRE], ball[1] - s[PLANES_CENTRE + 1],
                     ball[2] - s[PLANES_CENTRE + 2]};
  for (int i = 0; i < count; ++i) {
    GLOBAL const real *p =
      s + SUPERQUADRIC_STRIDE * (i / PLANES_EACH) + PLANES_STRIDE * (i % PLANES_EACH);
    most = real_max(most, p[0] * d[0] + p[1] * d[1] + p[2] * d[2] - p[PLANES_OFFSET] - ball[3]);
  }
  return most;
}

// Returns a lower bound of a primitive's field over a ball. For a superquadric h is at least |y_i|
// / a_i for each i.
static real decompose_bound(GLOBAL const real *s, GLOBAL const real *ball)
{
  if (decompose_code(s)) {
    return decompose_bound_planes(s, ball);
  }
  real along = R(0.0), square = R(0.0);
  const real d[3] = {ball[0] - s[SUPERQUADRIC_POSITION], ball[1] - s[SUPERQUADRIC_POSITION + 1],
                     ball[2] - s[SUPERQUADRIC_POSITION + 2]};
  for (int i = 0; i < 3; ++i) {
    const real y = s[i] * d[0] + s[3 + i] * d[1] + s[6 + i] * d[2];
    along = real_max(along, (real_abs(y) - ball[3]) * s[SUPERQUADRIC_AXES_INV + i]);
    square += d[i] * d[i];
  }
  const real r = real_sqrt(square) - ball[3];
  return along > R(1.0) && r > R(0.0) ? r * (R(1.0) - R(1.0) / along) : -REAL_BIG;
}

static lane decompose_tanh(lane z)
{
  const lane e =
    lane_exp2(lane_max(lane_min(z, lane_lit(R(12.0))), lane_lit(R(-12.0))) * (R(2.0) * LOG2E));
  return R(1.0) - R(2.0) / (e + R(1.0));
}
