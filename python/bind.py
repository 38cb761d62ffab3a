"""Writes the C source of abut's Python module: bind.py OUTPUT NATIVE HEADER...

The declarations are those of the public headers and of worlds.h and calls.h themselves, so that nothing
is written twice; the compiler then compares them with the headers.
"""
import pathlib
import re
import sys

import cffi

# Additions of python/native.c and python/xla.c to the C API.
NATIVE = """
void abutpy_set_batch(abut_batch *batch, size_t count, abut_pose_kind kind, const void *pose1,
                      const void *pose2, void *p, void *d, void *n, void *activity,
                      uint8_t *status);
abut_status abutpy_contacts(abut_pair pair, size_t count, abut_pose_kind kind, const void *pose1,
                            const void *pose2, void *p, void *d, void *n, void *activity,
                            void *status);
const char *abutpy_outputs(void);
const char *abutpy_reductions(void);
bool abutpy_is_inside(void);
bool abutpy_go_on(size_t done, size_t total, void *user);
bool abutpy_field_goes_on(void *user, const char *what, double share);
bool abutpy_scene_goes_on(void *user, const char *what, double share);
void abutpy_builds(void *user, const char *what, bool done);
extern "Python" bool abutpy_check_signals(void);
extern "Python" bool abutpy_say(void *user, const char *what, double share);
extern "Python" void abutpy_say_building(void *user, const char *what, bool done);
"""

ORDER = ["status", "device", "body", "manifold", "derivatives", "shape", "ccd", "closest", "contact_mesh", "decompose", "field", "files", "inspect",
         "lcp", "pose", "render", "spring", "state", "suggest", "tuning", "world", "kinematics", "page", "worlds", "calls"]


def declarations(headers):
    """The headers' text as cffi reads it: no comments, no preprocessor, no attributes."""
    named = {header.stem: header for header in headers}
    text = "\n".join(named[name].read_text() for name in ORDER)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    constants = re.findall(r"^#define (ABUT_[A-Z_0-9]+) [0-9A-Z_]+\s*$", text, flags=re.M)
    text = re.sub(r"^#.*(?:\\\n.*)*$", "", text, flags=re.M)
    text = text.replace('extern "C" {', "").replace("ABUT_API ", "")
    text = re.sub(r"^}\s*$", "", text, flags=re.M)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", text)
    return text + "".join(f"#define {name} ...\n" for name in sorted(set(constants)))


def main():
    output, native, *headers = map(pathlib.Path, sys.argv[1:])
    ffi = cffi.FFI()
    ffi.cdef(declarations(headers) + NATIVE)
    ffi.set_source("abut._abut", native.read_text(), py_limited_api=True)
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    main()
