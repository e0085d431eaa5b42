"""Configuration of the lit suite. Values that the build knows come from lit.site.cfg.py."""

import glob
import os
import shutil

import lit.formats

config.name = "Despina"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".py", ".test"]
config.excludes = ["lit.cfg.py", "lit.site.cfg.py", "Inputs", "consumer", "package"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.despina_build, "test")

# Our tools first, then FileCheck, not, count and split-file of the LLVM we build with.
config.environment["PATH"] = os.pathsep.join([config.despina_tools, config.llvm_tools, os.environ["PATH"]])
config.environment["PYTHONPATH"] = os.path.join(config.despina_source, "python")
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --allow-unused-prefixes=false"
for name in ("HOME", "ASAN_OPTIONS", "TSAN_OPTIONS", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions += [("%python", config.python), ("%examples", os.path.join(config.despina_source, "examples"))]

# Without the CUDA toolkit, what scripts/setup has installed of it.
if not shutil.which("ptxas") and not os.path.exists("/usr/local/cuda/bin/ptxas"):
    wheels = os.path.join(config.despina_source, ".venv", "lib", "python*", "site-packages", "nvidia", "cu13")
    for toolkit in glob.glob(wheels):
        config.environment["CUDA_HOME"] = toolkit
        config.environment["PATH"] += os.pathsep + os.path.join(toolkit, "bin")

# A suite without its tools must fail, not pass over nothing.
for tool in ("despina-opt", "despina-ptx", "despina"):
    if not os.access(os.path.join(config.despina_tools, tool), os.X_OK):
        lit_config.fatal(f"{tool} is not in {config.despina_tools}; build first")
if not os.access(os.path.join(config.llvm_tools, "FileCheck"), os.X_OK):
    lit_config.fatal(f"FileCheck is not in {config.llvm_tools}; run scripts/setup")
