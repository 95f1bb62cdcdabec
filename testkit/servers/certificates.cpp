#include "testkit/servers/certificates.hpp"

#include <stdexcept>

#include "testkit/servers/program.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {
namespace {

// `openssl ca` is the one command that signs with an end in the past.
constexpr const char* signing_rules = R"([ca]
default_ca = here
[here]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
copy_extensions = none
[any]
commonName = supplied
[server]
subjectAltName = IP:127.0.0.1, DNS:localhost
[stranger]
subjectAltName = DNS:elsewhere.invalid
[client]
extendedKeyUsage = clientAuth
[authority]
basicConstraints = critical, CA:true
)";

// One shell for all: each openssl of its own would cost as much again.
constexpr const char* making = R"sh(set -e
cd "$1"
new_key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
# Also of clients whose clock is hours behind.
since=$(date -u -d '-1 day' +%Y%m%d%H%M%SZ)
: >index
echo 1000 >serial
for ca in ca other-ca; do
  openssl req $new_key -keyout $ca.key -out $ca.csr -subj "/CN=test $ca"
  openssl ca -batch -config rules -selfsign -keyfile $ca.key -in $ca.csr -out $ca.crt \
    -notext -extensions authority -startdate $since -days 3
done
sign() {
  name=$1 rules=$2
  shift 2
  openssl req $new_key -keyout $name.key -out $name.csr -subj /CN=$name
  openssl ca -batch -config rules -cert ca.crt -keyfile ca.key -in $name.csr -out $name.crt \
    -notext -extensions $rules "$@"
}
sign server server -startdate $since -days 3
sign stranger stranger -startdate $since -days 3
sign client client -startdate $since -days 3
sign expired server -startdate "$(date -u -d '-2 hours' +%Y%m%d%H%M%SZ)" \
  -enddate "$(date -u -d '-1 hour' +%Y%m%d%H%M%SZ)"
)sh";

}  // namespace

certificates::certificates(const scratch_folder& in) : folder(in.path().string()) {
  in.write("rules", signing_rules);
  if (run_program({{"sh", "-c", making, "sh", folder}, {}, in.file("openssl.log")}) != 0)
    throw std::runtime_error("openssl made no certificates: " + in.read("openssl.log"));
}

}  // namespace holdfast::testkit
