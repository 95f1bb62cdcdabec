# The optional backends: a folder in src/backend/ behind an option. Sets `holdfast_backends` to the
# folders that are built and `holdfast_definitions` to the definitions that sources see.
set(holdfast_backends file)
set(holdfast_definitions "")
set(holdfast_transports "")

function(holdfast_optional_backend folder option)
  if(NOT ${option})
    return()
  endif()
  # A backend that is not complete yet is compiled for its tests.
  set(written ${PROJECT_SOURCE_DIR}/src/backend/${folder})
  if(NOT EXISTS ${written}/backend.hpp AND NOT HOLDFAST_TESTS)
    message(FATAL_ERROR "${option}=ON, but holdfast ${PROJECT_VERSION} has no ${folder} backend "
      "yet. Configure with -D${option}=OFF.")
  endif()
  if(EXISTS ${written}/backend.hpp)
    set(holdfast_backends ${holdfast_backends} ${folder} PARENT_SCOPE)
  else()
    set(holdfast_transports ${holdfast_transports} ${folder} PARENT_SCOPE)
  endif()
  set(holdfast_definitions ${holdfast_definitions} ${option} PARENT_SCOPE)
endfunction()

holdfast_optional_backend(memory HOLDFAST_WITH_MEMORY)
holdfast_optional_backend(redis HOLDFAST_WITH_REDIS)
holdfast_optional_backend(zookeeper HOLDFAST_WITH_ZOOKEEPER)
holdfast_optional_backend(mysql HOLDFAST_WITH_MYSQL)

set(holdfast_backend_folders ${holdfast_backends} ${holdfast_transports})
list(TRANSFORM holdfast_backend_folders PREPEND backend/)

# Sockets, TLS and the loop of events: for the backends that talk to a server.
if(HOLDFAST_WITH_REDIS OR HOLDFAST_WITH_ZOOKEEPER OR HOLDFAST_WITH_MYSQL)
  set(HOLDFAST_WITH_NETWORK ON)
endif()
if(HOLDFAST_WITH_NETWORK)
  list(APPEND holdfast_definitions HOLDFAST_WITH_NETWORK)
  find_package(OpenSSL REQUIRED)
endif()

# Asio: inside src/io/network, and for programs that include holdfast/asio.hpp.
set(holdfast_boost 1.81)
if(HOLDFAST_WITH_NETWORK OR HOLDFAST_WITH_ASIO)
  find_package(Boost ${holdfast_boost} REQUIRED)
endif()
