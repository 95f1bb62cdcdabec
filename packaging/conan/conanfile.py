"""A Conan 2 recipe of the source tree that it is a part of: conan create packaging/conan"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.gnu import PkgConfigDeps

BACKENDS = ("redis", "zookeeper", "mysql")


class Holdfast(ConanFile):
    name = "holdfast"
    description = "Distributed locks with fencing tokens for C++20, C and Python"
    license = "Apache-2.0"
    homepage = "https://example.org/holdfast"
    topics = ("lock", "mutex", "distributed", "redis", "zookeeper")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "asio": [True, False],
        **{backend: [True, False] for backend in BACKENDS},
    }
    default_options = {
        "shared": False,
        "asio": False,
        **{backend: backend == "redis" for backend in BACKENDS},
    }

    @property
    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._tree, "include", "holdfast", "version.hpp"))
        self.version = re.search(r'HOLDFAST_VERSION "([0-9.]+)"', header)[1]

    def export_sources(self):
        for part in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, part, self._tree, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        with_network = any(self.options.get_safe(backend) for backend in BACKENDS)
        if with_network or self.options.asio:
            self.requires("boost/[>=1.81 <2]", options={"header_only": True},
                          transitive_headers=bool(self.options.asio))
        if with_network:
            self.requires("openssl/[>=3 <4]")
        if self.options.redis:
            self.requires("hiredis/[>=0.14 <2]")
        if self.options.mysql:
            self.requires("mariadb-connector-c/[>=3.1 <4]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in (*BACKENDS, "asio"):
            toolchain.cache_variables["HOLDFAST_WITH_" + part.upper()] = bool(
                self.options.get_safe(part))
        for part in ("CLI", "TESTS", "BENCH"):
            toolchain.cache_variables["HOLDFAST_" + part] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["holdfast"]
        self.cpp_info.set_property("cmake_file_name", "holdfast")
        self.cpp_info.set_property("cmake_target_name", "holdfast::holdfast")
        self.cpp_info.set_property("pkg_config_name", "holdfast")
        self.cpp_info.system_libs = ["pthread", "dl"]
        if not self.options.shared:
            self.cpp_info.defines = ["HOLDFAST_STATIC"]
