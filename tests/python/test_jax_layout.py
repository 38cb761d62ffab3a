"""python/xla_ffi.h against the header of the jaxlib that is installed, by a C compiler."""
import pathlib
import shutil
import subprocess

import conftest
import pytest

jax = pytest.importorskip("jax")

# Our struct, theirs, and fields by both names.
STRUCTS = [
    ("xla_extension", "Extension_Base", "size struct_size kind type next next"),
    ("xla_version", "Api_Version",
     "size struct_size extensions extension_start major major_version minor minor_version"),
    ("xla_metadata", "Metadata", "size struct_size version api_version traits traits"),
    ("xla_metadata_query", "Metadata_Extension", "base extension_base metadata metadata"),
    ("xla_error_args", "Error_Create_Args",
     "size struct_size extensions extension_start message message code errc"),
    ("xla_buffer", "Buffer", "size struct_size extensions extension_start type dtype data data "
     "rank rank shape dims"),
    ("xla_buffers", "Args", "size struct_size extensions extension_start count size kinds types "
     "items args"),
    ("xla_buffers", "Rets", "size struct_size extensions extension_start count size kinds types "
     "items rets"),
    ("xla_text", "ByteSpan", "characters ptr length len"),
    ("xla_scalar", "Scalar", "type dtype value value"),
    ("xla_array", "Array", "type dtype count size data data"),
    ("xla_attributes", "Attrs", "size struct_size extensions extension_start count size kinds "
     "types names names items attrs"),
    ("xla_api", "Api", "size struct_size extensions extension_start version api_version internal "
     "internal_api create_error XLA_FFI_Error_Create"),
    ("xla_frame", "CallFrame", "size struct_size extensions extension_start api api context ctx "
     "stage stage arguments args results rets attributes attrs"),
]
# What may have grown at its end, by which nothing of ours is moved.
GROWS = ("xla_metadata", "xla_api", "xla_frame")
NUMBERS = [
    ("XLA_EXTENSION_METADATA", "Extension_Metadata"), ("XLA_BUFFER", "ArgType_BUFFER"),
    ("XLA_BUFFER", "RetType_BUFFER"), ("XLA_ATTRIBUTE_ARRAY", "AttrType_ARRAY"),
    ("XLA_ATTRIBUTE_SCALAR", "AttrType_SCALAR"), ("XLA_STAGE_EXECUTE", "ExecutionStage_EXECUTE"),
    ("XLA_INVALID_ARGUMENT", "Error_Code_INVALID_ARGUMENT"),
    ("XLA_RESOURCE_EXHAUSTED", "Error_Code_RESOURCE_EXHAUSTED"),
    ("XLA_INTERNAL", "Error_Code_INTERNAL"), ("XLA_S32", "DataType_S32"),
    ("XLA_S64", "DataType_S64"), ("XLA_U8", "DataType_U8"), ("XLA_U32", "DataType_U32"),
    ("XLA_F32", "DataType_F32"), ("XLA_F64", "DataType_F64"), ("XLA_MAJOR", "API_MAJOR"),
]


def program():
    lines = ["#include <xla/ffi/api/c_api.h>", '#include "xla_ffi.h"']
    for ours, theirs, fields in STRUCTS:
        names = fields.split()
        for mine, other in zip(names[::2], names[1::2]):
            at, there = f"offsetof({ours}, {mine})", f"offsetof(XLA_FFI_{theirs}, {other})"
            sizes = f"sizeof((({ours} *)0)->{mine})", f"sizeof(((XLA_FFI_{theirs} *)0)->{other})"
            lines.append(f'_Static_assert({at} == {there}, "{ours}.{mine}");')
            lines.append(f'_Static_assert({sizes[0]} == {sizes[1]}, "{ours}.{mine} size");')
        compare = "<=" if ours in GROWS else "=="
        whole = f"sizeof({ours}) {compare} sizeof(XLA_FFI_{theirs})"
        lines.append(f'_Static_assert({whole}, "{ours}");')
    lines += [f'_Static_assert((int){mine} == (int)XLA_FFI_{other}, "{mine}");'
              for mine, other in NUMBERS]
    lines.append('_Static_assert(XLA_FFI_API_MINOR >= XLA_MINOR, "minor");')
    return "\n".join([*lines, "int main(void) { return 0; }", ""])


def test_layout(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    include = pathlib.Path(jax.ffi.include_dir())
    if not compiler or not (include / "xla/ffi/api/c_api.h").exists():
        pytest.skip("no C compiler, or no header in jaxlib")
    source = tmp_path / "layout.c"
    source.write_text(program())
    done = subprocess.run([compiler, "-std=c11", "-c", source, "-o", tmp_path / "layout.o", "-I",
                           include, "-I", conftest.ROOT / "python"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
