# Prints each relative link of Markdown pages that leads to no file, or to no heading of its page.
# Called with the names of the pages. Links in code are not links.
function slug_of(title, at, letter, slug) {
  sub(/^#+ +/, "", title)
  gsub(/\]\([^)]*\)/, "", title)  # of a linked heading, its text
  title = tolower(title)
  slug = ""
  for (at = 1; at <= length(title); ++at) {
    letter = substr(title, at, 1)
    if (letter == " ")
      slug = slug "-"
    else if (letter ~ /[a-z0-9_-]/)
      slug = slug letter
  }
  return slug
}
function exists(path) {
  if (!(path in known)) known[path] = system("[ -e '" path "' ]") == 0
  return known[path]
}
function read_headings(page, line, code) {
  was_read[page] = 1
  code = 0
  while ((getline line < page) > 0) {
    if (line ~ /^ *```/) code = !code
    if (!code && line ~ /^#+ /) headings[page "#" slug_of(line)] = 1
  }
  close(page)
}
function path_from(folder, target, path) {
  path = folder target
  while (sub(/[^\/]+\/\.\.\//, "", path)) {}
  while (sub(/(^|\/)\.\//, "/", path)) sub(/^\//, "", path)
  return path
}
function check(target, anchor, page, folder) {
  if (target ~ /^([a-z+]+:|\/)/ || target !~ /^[-A-Za-z0-9_.\/#%]+$/) return
  anchor = index(target, "#") ? substr(target, index(target, "#") + 1) : ""
  sub(/#.*/, "", target)
  folder = FILENAME
  sub(/[^\/]*$/, "", folder)
  page = target == "" ? FILENAME : path_from(folder, target)
  if (!exists(page)) {
    print FILENAME ":" FNR ": " target
  } else if (anchor != "") {
    if (!(page in was_read)) read_headings(page)
    if (!(page "#" anchor in headings)) print FILENAME ":" FNR ": " target "#" anchor
  }
}
FNR == 1 { in_code = 0 }
/^ *```/ { in_code = !in_code }
in_code { next }
{
  rest = $0
  gsub(/`[^`]*`/, "", rest)
  while (match(rest, /\]\([^) ]+\)/)) {
    check(substr(rest, RSTART + 2, RLENGTH - 3))
    rest = substr(rest, RSTART + RLENGTH)
  }
}
