"""The C extension; everything else about the project is in pyproject.toml."""

from glob import glob

from setuptools import Extension, setup

NATIVE = "src/frameloom/native"

setup(
    ext_modules=[
        Extension(
            "frameloom.native._native",
            sources=sorted(glob(f"{NATIVE}/*.c")),
            depends=sorted(glob(f"{NATIVE}/*.h")),
            extra_compile_args=[
                "-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter",
                "-Wno-missing-field-initializers", "-Wno-cast-function-type",
            ],
            libraries=["dl", "pthread"],
        )
    ]
)
