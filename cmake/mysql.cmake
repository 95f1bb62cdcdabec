# What the mysql backend needs besides the network: MariaDB's client library.
find_package(PkgConfig REQUIRED)
pkg_check_modules(mariadb REQUIRED IMPORTED_TARGET libmariadb)
