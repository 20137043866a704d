# Zig's C++ compiler as a cross compiler. PEDANOVA_ZIG_TARGET in the environment names what to build for, as Zig writes it;
# PEDANOVA_ZIG_PYTHON is the Python that has ziglang.
set(target "$ENV{PEDANOVA_ZIG_TARGET}")
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${target}")
if(target MATCHES "windows")
  set(CMAKE_SYSTEM_NAME Windows)
  set(CMAKE_RC_COMPILER "$ENV{PEDANOVA_ZIG_PYTHON}" -m ziglang rc)
elseif(target MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_OSX_SYSROOT "")
  set(CMAKE_OSX_DEPLOYMENT_TARGET "")
  set(CMAKE_INSTALL_NAME_TOOL true)  # the library has no name that would need one
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()
set(CMAKE_CXX_COMPILER "$ENV{PEDANOVA_ZIG_PYTHON}" -m ziglang c++ -target "${target}")
set(CMAKE_AR false)  # nothing is archived
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_CXX_COMPILER_WORKS TRUE)  # a trial of its own would build the C++ runtime twice
# Zig links its C++ runtime into the library; only what is used stays, and nothing of it is seen from outside.
set(CMAKE_CXX_FLAGS_INIT "-ffunction-sections -fdata-sections -fvisibility=hidden -fvisibility-inlines-hidden")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-s -Wl,--gc-sections")
set(CMAKE_SKIP_RPATH TRUE)
