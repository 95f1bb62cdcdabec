# Writes each snippet in C or C++ of Markdown pages to the file folder/NAME.inc, where the line
# before it, "<!-- example: NAME -->", gives NAME. A snippet without a name is an error, because
# nothing would compile it.
/^<!-- example: .* -->$/ { name = $3; next }
/^```c(pp)?$/ {
  if (name == "") {
    printf "%s:%d: name this snippet, <!-- example: NAME -->, and include it in %s\n",
      FILENAME, FNR, "tests/examples/" > "/dev/stderr"
    exit 1
  }
  file = folder "/" name ".inc"
  printf "" > file
  next
}
/^```/ { file = name = "" }
file != "" { print > file }
