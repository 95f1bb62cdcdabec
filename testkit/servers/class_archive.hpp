// The classes that a Java program loads at its start, parsed once for all programs of a build: a
// quarter less time of a processor for each start ("class data sharing").
#pragma once
#include <functional>
#include <string>

namespace holdfast::testkit {

// The archive of that name. The first caller of all processes has it written: write(file) runs
// Java with -XX:ArchiveClassesAtExit=file until it has ended. Empty: there is none, or not yet.
// Java ignores an archive that does not fit.
std::string class_archive(const std::string& name,
                          const std::function<void(const std::string& file)>& write);

}  // namespace holdfast::testkit
