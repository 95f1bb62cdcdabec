# An overlay port, which builds the source tree that it is a part of:
# vcpkg install holdfast --overlay-ports=packaging/vcpkg/ports
cmake_path(SET SOURCE_PATH NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../../..)
string(REGEX REPLACE "/$" "" SOURCE_PATH ${SOURCE_PATH})

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
  asio HOLDFAST_WITH_ASIO
  mysql HOLDFAST_WITH_MYSQL
  redis HOLDFAST_WITH_REDIS
  zookeeper HOLDFAST_WITH_ZOOKEEPER)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(SOURCE_PATH ${SOURCE_PATH} OPTIONS ${features}
  -DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}
  -DHOLDFAST_CLI=OFF
  -DHOLDFAST_TESTS=OFF
  -DHOLDFAST_BENCH=OFF
  -DHOLDFAST_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/holdfast)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include)
file(INSTALL ${CMAKE_CURRENT_LIST_DIR}/usage DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT})
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)
