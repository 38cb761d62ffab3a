#include "samples.h"

#include "format/assimp_record.h"

#include <abut/files.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

void buffer_put(buffer *b, const void *bytes, size_t count)
{
  if (b->count + count + 1 > b->room) {
    b->room = 2 * (b->count + count + 1);
    b->bytes = realloc(b->bytes, b->room);
    if (!b->bytes) {
      abort();
    }
  }
  if (count) { /* of none there may be no bytes either */
    memcpy(b->bytes + b->count, bytes, count);
  }
  b->count += count;
  b->bytes[b->count] = 0;
}

void buffer_text(buffer *b, const char *format, ...)
{
  char line[4096];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof line) {
    abort();
  }
  buffer_put(b, line, (size_t)length);
}

void buffer_u32(buffer *b, unsigned value, int big_endian)
{
  for (int i = 0; i < 4; i++) {
    unsigned char byte = (unsigned char)(value >> (big_endian ? 24 - 8 * i : 8 * i));
    buffer_put(b, &byte, 1);
  }
}

void buffer_f32(buffer *b, float value, int big_endian)
{
  unsigned bits;
  memcpy(&bits, &value, sizeof bits);
  buffer_u32(b, bits, big_endian);
}

static const float tetrahedron[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int sides[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

void buffer_binary_stl(buffer *b, const char *title, unsigned triangles)
{
  char header[80] = "";
  snprintf(header, sizeof header, "%s", title);
  buffer_put(b, header, sizeof header);
  buffer_u32(b, triangles, 0);
  for (unsigned k = 0; k < 4; k++) {
    for (int i = 0; i < 3; i++) {
      buffer_f32(b, 0, 0);
    }
    for (int i = 0; i < 9; i++) {
      buffer_f32(b, tetrahedron[sides[k][i / 3]][i % 3], 0);
    }
    buffer_put(b, "\0\0", 2);
  }
}

/* A library's word, then a tetrahedron. */
static void assimp_record(buffer *b)
{
  const assimp_record_end end = {4, 4, ASSIMP_RECORD_MARK};
  buffer_text(b, "a word\n");
  for (int i = 0; i < 12; i++) {
    const double x = (double)tetrahedron[i / 3][i % 3];
    buffer_put(b, &x, sizeof x);
  }
  for (int i = 0; i < 12; i++) {
    const uint32_t corner = (uint32_t)sides[i / 3][i % 3];
    buffer_put(b, &corner, sizeof corner);
  }
  buffer_put(b, &end, sizeof end);
}

static void ascii_stl(buffer *b)
{
  buffer_text(b, "solid tetra\n");
  for (int k = 0; k < 4; k++) {
    buffer_text(b, " facet normal 0 0 0\n  outer loop\n");
    for (int i = 0; i < 3; i++) {
      const float *v = tetrahedron[sides[k][i]];
      buffer_text(b, "   vertex %g %g %g\n", (double)v[0], (double)v[1], (double)v[2]);
    }
    buffer_text(b, "  endloop\n endfacet\n");
  }
  buffer_text(b, "endsolid tetra\n");
}

/* Coordinates in the order z, x, y with a byte between; an element and lists to be skipped. */
void buffer_ply(buffer *b, const char *format)
{
  static const int quad[] = {0, 3, 2, 1};
  int big = strstr(format, "big") != NULL, ascii = strcmp(format, "ascii") == 0;
  buffer_text(b,
              "ply\nformat %s 1.0\ncomment pyramid\nobj_info x\nelement camera 1\n"
              "property list uchar short view\nelement vertex 5\nproperty float z\n"
              "property uchar red\nproperty float x\nproperty float y\nelement nothing 7\n"
              "element face 5\nproperty uchar flags\nproperty list uchar int vertex_indices\n"
              "property list uchar float texcoord\nend_header\n",
              format);
  if (ascii) {
    buffer_text(b, "2 -7 300\n0 255 0 0\n0 1 1 0\n0 2 1 1\n0 3 0 1\n1.5 4 .5 .5\n");
  } else {
    buffer_put(b, big ? "\2\377\371\1\54" : "\2\371\377\54\1", 5);
    for (int i = 0; i < 5; i++) {
      buffer_f32(b, i == 4 ? 1.5f : 0, big);
      buffer_put(b, "\377", 1);
      buffer_f32(b, i == 4 ? 0.5f : i == 1 || i == 2, big);
      buffer_f32(b, i == 4 ? 0.5f : i == 2 || i == 3, big);
    }
  }
  for (int k = 0; k < 5; k++) {
    int corners = k ? 3 : 4;
    if (ascii) {
      buffer_text(b, "0 %d", corners);
    } else {
      char start[2] = {0, (char)corners};
      buffer_put(b, start, 2);
    }
    for (int i = 0; i < corners; i++) {
      int index = k == 0 ? quad[i] : i == 2 ? 4 : (k - 1 + i) % 4;
      if (ascii) {
        buffer_text(b, " %d", index);
      } else {
        buffer_u32(b, (unsigned)index, big);
      }
    }
    if (ascii) {
      buffer_text(b, " 1 0.25\n");
    } else {
      buffer_put(b, "\1", 1);
      buffer_f32(b, 0.25f, big);
    }
  }
}

static const char obj_cube[] =
  "# cube\r\nmtllib x.mtl\no cube\n"
  "v -1 -1 -1 1 0 0\nv\t1 -1 -1\nv 1 1 -1 nan nan nan\nv -1 1 \\\n-1\nv -.5 -1. 1e0\nv 1 -1 1\n"
  "v 1 1 1\nv -1 1 1\nvt 0 0\nvn 0 0 1\n"
  "f 4 3 2 1\nf 5//1 6//1 7//1 8//1\nf 1/1 2/1 6/1 5/1\nf 2/1/1 3/1/1 7/1/1 6/1/1\n"
  "f -6 -5 -1 -2 # top\nf 1 5 8 4\n"
  "l 1 7/1\np 1 2\nl -1 \\\n2 3";

static const char off_pyramid[] =
  "COFF # pyramid\n5 5 8\n\n0 0 0 255 0 0 255\n1 0 0\n1 1 0 # c\n0 1 0\n.5 .5 1.5\n"
  "4 0 3 2 1 0.5 0.5 0.5\n3 0 1 4\n3 1 2 4\n3 2 3 4\n3 3 0 4\n";

static const char body[] =
  "{\n \"name\": \"part\",\n \"mesh\": \"part.obj\", \"union\": 0.005,\n \"superquadrics\": [\n"
  "  {\"axes\": [0.4, 0.3, 2e-1], \"exponents\": [0.1, 2], \"position\": [0, -1, 0],\n"
  "   \"quaternion\": [1, 0, 0, 0], \"operation\": \"subtract\"}],\n"
  " \"polyhedra\": [{\"planes\": [[0, 0, 1, 0, 0, 1], [0, 0, -1, 0, 0, -1]]}],\n"
  " \"pointclouds\": [{\"points\": [[0, 0, 0, 0, 0, 2, 0.1]], \"oper\\u0061tion\": \"add\"}],\n"
  " \"cores\": [{\"box\": [0.5, 0, 2], \"radius\": 0.25, \"position\": [0, 1, 0], \"quaternion\": "
  "[0, 1, 0, 0]},\n"
  "  {\"disc\": [0.5, 0.125], \"radius\": 0.1, \"position\": [0, 0, 3], \"quaternion\": [1, 0, 0, "
  "1],\n"
  "   \"operation\": \"subtract\"}],\n"
  " \"aopc\": {\"source\": \"faces\", \"eps1\": 1e-4, \"area_weight\": true}\n}\n";

static const char body_of_points[] =
  "{\"mesh\": \"m.off\", \"aopc\": {\"source\": \"points\", \"points\": [\n"
  " [0, 0, 0.5, 0, 0, 4, 1e-3],\n [0.5, 0, 0, 3, 0, 4, 2e-3]]}}\n";

static const char body_of_heights[] =
  "{\"height_fields\": [{\"heights\": [[0, 0.5, -0.25], [1, 2,\n 0.125]], \"size\": [0.75, 0.5],\n"
  " \"scale\": 0.5, \"base\": 0.25, \"step\": 2, \"operation\": \"add\"}]}\n";

static const char body_of_features[] =
  "{\"mesh\": \"m.obj\", \"surface\": \"s.obj\", \"polyhedra\": [{\"planes\": [[0, 0, 1, 0, 0, "
  "1]]}], \"sharp\": 12.5,\n"
  " \"features\": {\"vertices\": [[0, 0, 0, 0.1], [0.5, 0, 0, 0],\n  [0, 0.5, 0, 0.25]], "
  "\"edges\": [[1, 0, 0.1]],\n"
  "  \"arcs\": [[2, 1, 0.2, 0, 0, 3, 0, 0, -2]],\n"
  "  \"circles\": [[0, 0, 1, 0, 2, 0, 0.5, 0.125]]},\n"
  " \"cones\": {\"vertices\": [[0, 0, 1, 45], [0, 0, 0, 180], [3, 0, 0, 0.5]],\n"
  "  \"edges\": [[1, 2, 0, 0, 1, 60]]}}\n";

static const char tuning[] =
  "{\"devices\": [{\"name\": \"a\", \"platform\": \"p\", \"precision\": \"f32\", \"lanes\": 16,\n"
  "  \"group\": 1, \"items\": 8, \"scratch_bytes\": 16777216, \"driver\": \"1.2\"},\n"
  " {\"name\": \"a\", \"platform\": \"p\", \"precision\": \"f64\", \"lanes\": 4,\n"
  "  \"group\": 64, \"items\": 256, \"scratch_bytes\": 65536}]}\n";

static const char smoothing[] =
  "{\"length\": 1.0, \"union\": 0.01, \"plane\": 0.01, \"normal\": 1e-12,\n"
  " \"penetration\": 0.01, \"neighbour\": 0.01, \"clash\": 0.1, \"sign\": 0.1, \"sort\": 0.01,\n"
  " \"clip\": 0.1, \"minimum\": 0.1, \"compare\": 0.1, \"ridge\": 0.01, \"distance\": 1e-10,\n"
  " \"trace\": 2, \"inside\": false, \"select\": \"gate\", \"edge_edge\": true,\n"
  " \"two_sided\": true, \"edges\": [18, 0], \"vertices\": [0, 4294967295],\n"
  " \"floor\": 0.001}\n";

static const char scene[] =
  "{\"contact_model\": \"cone\", \"timestep\": 0.001, \"integrator\": \"rk4\", \"capacity\": 9, "
  "\"sweep\": true,\n"
  " \"links\": [{\"bodies\": [{\"plane\": [5, 5]}, {\"file\": \"table.body.json\"}]},\n"
  "  {\"name\": \"cart\", \"density\": 800, \"joint\": {\"type\": \"free\"},\n"
  "   \"bodies\": [{\"box\": [0.4, 0.2, 0.1], \"round\": 0.02}, {\"file\": \"/b.obj\",\n"
  "    \"position\": [0, 0, 1]}]},\n"
  "  {\"name\": \"pole\", \"parent\": \"cart\", \"mass\": 0.5, \"com\": [0, 0, 0.5],\n"
  "   \"inertia\": [[0.04, 0, 0], [0, 0.04, 0], [0, 0, 0.001]], \"quaternion\": [1, 0, 0, 0.5],\n"
  "   \"joint\": {\"type\": \"hinge\", \"axis\": [0, 3, 0], \"limits\": [-1, 1], \"start\": 0.5,\n"
  "    \"armature\": 0.01,\n"
  "    \"solimp_limit\": [0.9, 0.95, 0.001, 0.5, 2], \"solref_friction\": [-100, -1]},\n"
  "   \"bodies\": [{\"capsule\": [0.05, 0.5], \"quaternion\": [0, 0, 0, 2]},\n"
  "    {\"height_field\": {\"heights\": [[0, 1, 2], [1, -1, 0]], \"scale\": 0.25, \"size\": [1, "
  "2],\n"
  "      \"base\": 0.5}}]},\n"
  "  {\"name\": \"hook\", \"position\": [0, 0, 2], \"joint\": {\"type\": \"moved\"}}],\n"
  " \"actuators\": [{\"kind\": \"position\", \"joint\": \"pole\", \"kp\": 10,\n"
  "   \"force_limits\": [-9, 9]},\n"
  "  {\"kind\": \"motor\", \"joint\": 1, \"dof\": 5},\n"
  "  {\"kind\": \"affine\", \"joint\": 2, \"gain\": 3, \"bias\": -1, \"kv\": 2, "
  "\"control_limits\": [0, 1]}],\n"
  " \"tendons\": [{\"name\": \"string\", \"joints\": [{\"joint\": \"pole\", \"coefficient\": 2}],\n"
  "   \"stiffness\": 3, \"damping\": 0.5, \"rest\": [0, 1]}],\n"
  " \"equalities\": [{\"kind\": \"weld\", \"a\": \"cart\", \"position_a\": [0, 1, 0],\n"
  "    \"quaternion_a\": [1, 1, 0, 0], \"torque_scale\": 2, \"solref\": [0.05, 1]},\n"
  "   {\"kind\": \"tendon\", \"a\": \"string\", \"polynomial\": [1, 0, 0, 0, 0]}],\n"
  " \"starts\": {\"home\": {\"q\": [0, 0, 1, 2, 0, 0, 0, 0.25], \"v\": [0, 0, 0, 0, 0, 0, 4], "
  "\"u\": [1, 2, 3, 0, 0, 0.5, 0, 0, -0.1]},\n"
  "  \"rest\": {\"q\": [0, 0, 0, 1, 0, 0, 0, 0]}},\n"
  " \"pairs\": [{\"a\": \"cart\", \"b\": [0, 1], \"friction\": 0.5, \"solref\": [0.01, 1]},\n"
  "  {\"a\": [\"pole\", 0], \"b\": [0, 0], \"condim\": 1, \"smoothing\":\n";

static const char scene_of_springs[] =
  "{\"contact_model\": \"spring\", \"integrator\": \"implicit\",\n"
  " \"automatic\": {\"friction\": 0.7, \"margin\": 2e-3, \"solimp\": [0.8, 0.9, 0.002, 0.5, 2], "
  "\"parents\": true,\n"
  "  \"contact\": {\"k\": 300}, \"exclude\": [[0, \"part\"]]},\n"
  " \"links\": [{\"bodies\": [{\"plane\": [5, 5], \"contype\": 4294967295, \"conaffinity\": 0,\n"
  "  \"friction\": 0.4, \"solref\": [-100, -1], \"condim\": 1}]}, {\"name\": \"part\", \"mass\": "
  "1,\n"
  "  \"joint\": {\"type\": \"slide\", \"limits\": [0, 1], \"limit_spring\": [1e3, 1e-2, 0.5]},\n"
  "  \"bodies\": [{\"file\": \"part.body.json\", \"eps1\": 1e-4}]}],\n"
  " \"pairs\": [{\"a\": \"part\", \"b\": 0, \"friction\": 0.5,\n"
  "  \"contact\": {\"k\": 5000, \"mu\": 0,\n"
  "  \"v_d\": 0.1, \"v_s\": 0.01, \"eps2\": 5e-4, \"eps3\": 2e-4, \"dissipation\": \"smooth\",\n"
  "  \"reaction\": \"point\"}}]}\n";

static const char shapes[] =
  "[{\"kind\": \"hull\", \"numbers\": [[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1],\n"
  "  [0.25, 0.25, 0.25], [1, 0, 0]]]}, {\"kind\": \"hull\", \"numbers\": [[[0, 0, 0],\n"
  "  [1, 0, 0.5], [0, 1, 0.5], [1, 1, 1]]], \"radius\": 1e-2},\n"
  " {\"kind\": \"sphere\", \"numbers\": [0.5]}, {\"kind\": \"box\", \"numbers\": [[1, 0, 3]]},\n"
  " {\"kind\": \"ellipsoid\", \"numbers\": [[1, 2, 3]], \"position\": [0, -1, 1e3]},\n"
  " {\"kind\": \"capsule\", \"numbers\": [[1, 2]], \"quaternion\": [0, 0, 3, 4]},\n"
  " {\"kind\": \"cylinder\", \"numbers\": [[1, 2]]}, {\"kind\": \"cone\", \"numbers\": [[1, 2]]},\n"
  " {\"kind\": \"superquadric\", \"numbers\": [[1, 2, 3], [0.1, 1.9]], \"radius\": 0}]\n";

static const char csv[] = "x1,y1,z1,a1,b1,c1,x2,y2,z2,a2,b2,c2\n"
                          "0,0,0,0,0,0,1,2,3,0.1,0.2,0.3\r\n"
                          " 1e-3 , nan,inf,-inf,-1,+1,0,.5,5.,0,0,0\n";

static const char csv_of_quaternions[] = "x1,y1,z1,qw1,qx1,qy1,qz1,x2,y2,z2,qw2,qx2,qy2,qz2,pair\n"
                                         "0,0,0,1,0,0,0,0.1,0,0.2,0.9,0.1,0,-1e-3,1\n"
                                         "0,0,0,nan,0,0,0,1,2,3,1,0,0,0,0\n";
static const char csv_of_pairs[] = "x1,y1,z1,a1,b1,c1,x2,y2,z2,a2,b2,c2, pair\n"
                                   "0,0,0,0,0,0,1,2,3,0.1,0.2,0.3,4294967295\n"
                                   "1,0,0,0,0,0,1,2,3,0.1,0.2,0.3, 0 \n";

static const char pairs[] = "# bodies, by twos\n"
                            "cube.obj, a folder/slab.body.json # the second\n"
                            "\n"
                            "\t/tmp/cube.obj ,cube.obj\r\n";

/* Two superquadrics in all three forms, of another unit. */
static const char table_of_commas[] = "e1,e2,ax,ay,az,z,y,x,tx,ty,tz\n"
                                      "# by hand\n"
                                      "0.25, 1, 1, 2, 3, 0, 0, 0, 1, 0.5, -2\r\n"
                                      "2,0.1,0.5,0.5,.25,0.5,0,0,0,0,0 # behind\n";
static const char table_of_blanks[] = "\n"
                                      "2.5e-1 1 1 2 3 0 0 0 1 0.5 -2\n"
                                      "\t2 0.1  0.5 0.5 .25 5e-1 0 -0 0 0 0\n";
static const double table_of_numbers[22] = {0.25, 1,  1, 2,   3,   0,   0,    0,  1,
                                            0.5,  -2, 2, 0.1, 0.5, 0.5, 0.25, 0.5};

/* Arrays in memory exist only as files. */
static void put_arrays(buffer *b, const abut_array *arrays, size_t count)
{
  char path[] = "/tmp/abut-sample-XXXXXX";
  int file = mkstemp(path);
  char bytes[16384];
  if (file < 0 || close(file) != 0 || abut_write_npz(path, arrays, count) != ABUT_SUCCESS) {
    abort();
  }
  FILE *stream = fopen(path, "rb");
  if (!stream) {
    abort();
  }
  buffer_put(b, bytes, fread(bytes, 1, sizeof bytes, stream));
  fclose(stream);
  unlink(path);
}

static void npz(buffer *b, int quaternions)
{
  static const double numbers[28] = {0.5, 1, 2};
  abut_array arrays[] = {
    {quaternions ? "pose1" : "s1", ABUT_ARRAY_FLOAT64, 2, {2, quaternions ? 7 : 6}, numbers},
    {quaternions ? "pose2" : "s2", ABUT_ARRAY_FLOAT32, 2, {2, quaternions ? 7 : 6}, numbers},
    {"note", ABUT_ARRAY_TEXT, 1, {7}, "gr\303\274\303\237e"},
    {"bytes", ABUT_ARRAY_UINT8, 1, {3}, "abc"},
    {"words", ABUT_ARRAY_UINT32, 3, {1, 2, 1}, numbers},
    {"pair", quaternions ? ABUT_ARRAY_UINT8 : ABUT_ARRAY_UINT32, 1, {2}, numbers},
    {"one", ABUT_ARRAY_UINT8, 1, {2}, "ab"},
    {"two", ABUT_ARRAY_UINT32, 1, {2}, numbers},
  };
  put_arrays(b, arrays, quaternions ? 8 : 6);
}

/* With one level of two blocks, or none. */
static void grid(buffer *b, int fine)
{
  static const double origin[3] = {-1, 0.5, 2}, spacing = 0.25;
  static double coefficients[216];
  static const int32_t blocks[6] = {0, 0, 0, 0, 1, 0};
  static float corrections[1024];
  corrections[2 * 64 + 3 * 8 + 4] = 0.0625f;
  for (int i = 0; i < 216; i++) {
    coefficients[i] = 1.0 + i % 7;
  }
  const abut_array arrays[] = {
    {"coefficients", ABUT_ARRAY_FLOAT64, 3, {6, 6, 6}, coefficients},
    {"origin", fine ? ABUT_ARRAY_FLOAT64 : ABUT_ARRAY_FLOAT32, 1, {3}, origin},
    {"spacing", ABUT_ARRAY_FLOAT64, 0, {0}, &spacing},
    {"blocks_1", ABUT_ARRAY_INT32, 2, {2, 3}, blocks},
    {"corrections_1", ABUT_ARRAY_FLOAT32, 4, {2, 8, 8, 8}, corrections},
  };
  put_arrays(b, arrays, fine ? 5 : 3);
}

/* Pictures of 16 and of 8 bits: by rows from the topmost one 0, 65535, 13107 and 39321, 1, 26214,
 * and 0, 255 and 51, 102 and 204, 153. */
static const unsigned char wide_png[] = {
  137, 80,  78,  71,  13, 10,  26,  10,  0,   0,   0,   13,  73,  72, 68, 82,  0,   0,  0,   3,
  0,   0,   0,   2,   16, 0,   0,   0,   0,   232, 143, 229, 133, 0,  0,  0,   22,  73, 68,  65,
  84,  120, 218, 99,  96, 96,  248, 255, 223, 216, 152, 97,  230, 76, 6,  198, 180, 52, 0,   32,
  36,  4,   100, 157, 54, 130, 249, 0,   0,   0,   0,   73,  69,  78, 68, 174, 66,  96, 130,
};
static const unsigned char narrow_png[] = {
  137, 80,  78, 71,  13,  10, 26, 10,  0,   0,  0,   13,  73,  72,  68, 82, 0,   0,   0,
  2,   0,   0,  0,   3,   8,  0,  0,   0,   0,  156, 129, 129, 93,  0,  0,  0,   17,  73,
  68,  65,  84, 120, 218, 99, 96, 248, 207, 96, 156, 198, 112, 102, 38, 0,  11,  202, 2,
  254, 216, 99, 14,  89,  0,  0,  0,   0,   73, 69,  78,  68,  174, 66, 96, 130,
};

static void put_npy(buffer *b, const char *dict, const void *data, size_t count)
{
  const char length[2] = {(char)strlen(dict), 0};
  buffer_put(b, "\x93NUMPY\x01\x00", 8);
  buffer_put(b, length, 2);
  buffer_put(b, dict, strlen(dict));
  buffer_put(b, data, count);
}

static void heights(buffer b[4])
{
  static const double all[6] = {0.0, 0.5, -0.25, 1.0, 2.0, 0.125};
  static const int32_t whole[6] = {0, 1, 2, -3, 4, 5};
  put_npy(&b[0], "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", all, sizeof all);
  put_npy(&b[1], "{'descr': '<i4', 'fortran_order': True, 'shape': (3, 2), }", whole, sizeof whole);
  buffer_put(&b[2], wide_png, sizeof wide_png);
  buffer_put(&b[3], narrow_png, sizeof narrow_png);
}

static void add_npy(zip_t *archive, const char *name, const char *dict, const void *data,
                    size_t count)
{
  buffer b = {0};
  put_npy(&b, dict, data, count);
  zip_source_t *source = zip_source_buffer(archive, b.bytes, b.count, 1);
  const zip_int64_t index = source ? zip_file_add(archive, name, source, 0) : -1;
  if (index < 0 || zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0) {
    abort();
  }
}

/* What the library reads and does not write: an order, and whole numbers of poses. */
static void npz_of_others(buffer *b)
{
  static const int64_t whole[12] = {1, 2, 3, 4, 5, 6, -7};
  static const int32_t narrow[12] = {1, -2};
  static const int64_t pair[2] = {4294967295, 0};
  static const int32_t rows[2] = {3, 0};
  zip_error_t error;
  zip_stat_t info;
  zip_source_t *all = zip_source_buffer_create(NULL, 0, 0, &error);
  zip_t *archive = all ? zip_open_from_source(all, ZIP_TRUNCATE, &error) : NULL;
  if (!archive) {
    abort();
  }
  zip_source_keep(all);
  add_npy(archive, "s1.npy", "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 6), }", whole,
          sizeof whole);
  add_npy(archive, "s2.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 6), }", narrow,
          sizeof narrow);
  add_npy(archive, "pair.npy", "{'descr': '<i8', 'fortran_order': True, 'shape': (2,), }", pair,
          sizeof pair);
  add_npy(archive, "one.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", rows,
          sizeof rows);
  add_npy(archive, "two.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", pair,
          sizeof pair);
  add_npy(archive, "cube.npy", "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 2), }",
          narrow, sizeof narrow);
  if (zip_close(archive) != 0 || zip_source_stat(all, &info) != 0 || zip_source_open(all) != 0) {
    abort();
  }
  char bytes[4096];
  const zip_int64_t got = zip_source_read(all, bytes, sizeof bytes);
  if (got < 0 || (zip_uint64_t)got != info.size) {
    abort();
  }
  buffer_put(b, bytes, (size_t)got);
  zip_source_close(all);
  zip_source_free(all);
}

/* Both kinds of poses, in both orders. */
static void npy_poses(buffer b[2])
{
  static const double twists[24] = {1, 2, 3, 4, 5, 6, -7};
  static const float quaternions[28] = {1, -2};
  put_npy(&b[0], "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 12), }", twists,
          sizeof twists);
  put_npy(&b[1], "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 14), }", quaternions,
          sizeof quaternions);
}

size_t samples_make(sample_kind kind, sample out[SAMPLE_LIMIT])
{
  buffer b[SAMPLE_LIMIT] = {{0}};
  size_t count = 1;
  switch (kind) {
  case SAMPLE_POSES:
    npy_poses(b);
    count = 2;
    break;
  case SAMPLE_OBJ:
    buffer_text(&b[0], "%s", obj_cube);
    break;
  case SAMPLE_STL:
    ascii_stl(&b[0]);
    buffer_binary_stl(&b[1], "a tetrahedron", 4);
    buffer_binary_stl(&b[2], "solid tetrahedron", 4);
    count = 3;
    break;
  case SAMPLE_PLY:
    buffer_ply(&b[0], "ascii");
    buffer_ply(&b[1], "binary_little_endian");
    buffer_ply(&b[2], "binary_big_endian");
    count = 3;
    break;
  case SAMPLE_OFF:
    buffer_text(&b[0], "%s", off_pyramid);
    break;
  case SAMPLE_BODY:
    buffer_text(&b[0], "%s", body);
    buffer_text(&b[1], "%s", body_of_points);
    buffer_text(&b[2], "%s", body_of_heights);
    buffer_text(&b[3], "%s", body_of_features);
    count = 4;
    break;
  case SAMPLE_SMOOTHING:
    buffer_text(&b[0], "%s", smoothing);
    break;
  case SAMPLE_TUNING:
    buffer_text(&b[0], "%s", tuning);
    break;
  case SAMPLE_NPZ:
    npz(&b[0], 0);
    npz(&b[1], 1);
    npz_of_others(&b[2]);
    count = 3;
    break;
  case SAMPLE_GRID:
    grid(&b[0], 0);
    grid(&b[1], 1);
    count = 2;
    break;
  case SAMPLE_HEIGHTS:
    heights(b);
    count = 4;
    break;
  case SAMPLE_ASSIMP:
    assimp_record(&b[0]);
    break;
  case SAMPLE_PAIRS:
    buffer_text(&b[0], "%s", pairs);
    break;
  case SAMPLE_TABLE:
    buffer_text(&b[0], "%s", table_of_commas);
    buffer_text(&b[1], "%s", table_of_blanks);
    put_npy(&b[2], "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 11), }", table_of_numbers,
            sizeof table_of_numbers);
    count = 3;
    break;
  case SAMPLE_SCENE:
    buffer_text(&b[0], "%s%s}]}\n", scene, smoothing);
    buffer_text(&b[1], "%s", scene_of_springs);
    count = 2;
    break;
  case SAMPLE_SHAPES:
    buffer_text(&b[0], "%s", shapes);
    break;
  default:
    buffer_text(&b[0], "%s", csv);
    buffer_text(&b[1], "%s", csv_of_pairs);
    buffer_text(&b[2], "%s", csv_of_quaternions);
    count = 3;
    break;
  }
  for (size_t i = 0; i < count; i++) {
    out[i] = (sample){b[i].bytes, b[i].count};
  }
  return count;
}

size_t sample_loss(sample_kind kind, size_t number)
{
  switch (kind) {
  case SAMPLE_OBJ:
  case SAMPLE_CSV:
  case SAMPLE_PAIRS:
    return SIZE_MAX;
  case SAMPLE_TABLE:
    return number < 2 ? SIZE_MAX : 0;
  case SAMPLE_STL:
    return number == 0 ? strlen(" tetra\n") : 0;
  case SAMPLE_PLY:
    return number == 0 ? strlen("0.25\n") - 1 : 0;
  case SAMPLE_OFF:
    return 1;
  case SAMPLE_BODY:
  case SAMPLE_SMOOTHING:
  case SAMPLE_TUNING:
  case SAMPLE_SCENE:
  case SAMPLE_SHAPES:
    return 1;
  default:
    return 0;
  }
}
