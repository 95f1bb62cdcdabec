# Writes each C++ snippet of a page to the file folder/NAME.inc, where NAME is told by the line
# "<!-- example: NAME -->" before it. A snippet without a name is an error: it would not be tried.
/^<!-- example: .* -->$/ { name = $3; next }
/^```cpp$/ {
  if (name == "") {
    printf "%s:%d: name this snippet, <!-- example: NAME -->, and include it in %s\n",
      FILENAME, FNR, "tests/examples/readme_snippets.cpp" > "/dev/stderr"
    exit 1
  }
  file = folder "/" name ".inc"
  printf "" > file
  next
}
/^```/ { file = name = "" }
file != "" { print > file }
