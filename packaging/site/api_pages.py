"""Turns a public header of holdfast into a page of the API reference.

A page has a section for each class, function and constant of the header: its comment, its
synopsis, a table of its members, and a section for each member. Private members and namespace
detail are left out, and bodies of inline functions too. Parameters of a template that a caller
never names are shown as the overloads that they stand for.
"""
import dataclasses
import re

from docstrings import cell, document, first_sentence, prose

ACCESS = re.compile(r"(public|protected|private):$")
CLASS = re.compile(r"(?:template <.*?> ?)?(?:requires .*? )?(class|struct|enum class|enum) "
                   r"(?:\[\[\w+\]\] |HOLDFAST_\w+ )*(\w+)")
TRAILING = re.compile(r"[;{]\s+// (.*)")
NAME = re.compile(r"(operator ?(?:bool|[^\w\s(]+)|~?\w+)\s*(?:\(|\{|=|;|$|\[)")


@dataclasses.dataclass
class Entity:
    comment: list
    code: list           # its lines as they are in the header, without comments
    kind: str = ""       # class, struct, enum class, enum; "" of a function or a variable
    name: str = ""
    members: list = dataclasses.field(default_factory=list)
    trailing: str = ""   # the comment after its code, on the same line and below
    heading: list = dataclasses.field(default_factory=list)  # of the members from here on


def depth_of(line):
    text = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', "", line.split("//")[0])
    return text.count("{") - text.count("}") + text.count("(") - text.count(")")


def declaration(lines, at):
    """The lines from `at` to the end of one declaration, and where the next begins."""
    depth = 0
    for end in range(at, len(lines)):
        depth += depth_of(lines[end])
        text = lines[end].split("//")[0].rstrip()
        if depth == 0 and (text.endswith((";", "}"))):
            return lines[at:end + 1], end + 1
    raise ValueError("no end: " + lines[at])


def without_constraint(text):
    """The declaration behind `template <...> requires(...)`."""
    found = re.match(r"template <.*?> requires\(", text)
    if not found:
        return text
    depth, at = 1, found.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[at:].strip()


def name_of(code):
    attributes = r"(\[\[.*?\]\]|HOLDFAST_\w+ ?|requires [\w:]+<[^;{]*?> )"
    text = re.sub(attributes, "", signatures(code)[0])
    arguments = r"(?<=\w)(?<!operator)<[^<>;{}]*>|<[^<>()]*>"
    while re.search(arguments, text):
        text = re.sub(arguments, "", text)
    if text.lstrip().startswith(("using ", "template concept", "concept ")):
        return re.search(r"(?:using|concept) (\w+)", text).group(1)
    found = NAME.search(text)
    return found.group(1) if found else ""


def entities(lines):
    """Those of one scope, whose lines are not indented."""
    out, comment, at, access, is_after_code = [], [], 0, "public", False
    while at < len(lines):
        line = lines[at]
        if line.startswith("//"):
            comment = ([] if is_after_code else comment) + [line[2:].removeprefix(" ")]
            is_after_code = False
            at += 1
        elif not line.strip() or line.startswith("#") or ACCESS.match(line.strip()):
            access = line.strip().rstrip(":") if ACCESS.match(line.strip()) else access
            comment = []
            at += 1
        else:
            code, at = declaration(lines, at)
            trailing, at = trailing_comment(code[-1], lines, at)
            heading = []
            if trailing:
                heading, comment = [] if is_after_code else comment, []
            found = entity(comment, code)
            if found:
                found.trailing, found.heading = trailing, heading
            out.append((access, found))
            is_after_code = True
    return [e for visible, e in out if visible == "public" and e]


def trailing_comment(last, lines, at):
    """The comment behind the last line of a declaration, which may go on in the same column."""
    found = TRAILING.search(last)
    if not found or found.group().startswith("{"):
        return "", at
    text, column = found.group(1), found.start(1) - len("// ")
    while at < len(lines) and lines[at].startswith(" " * column + "// "):
        text += " " + lines[at].strip()[3:]
        at += 1
    return text, at


def entity(comment, code):
    head = " ".join(code)
    found = CLASS.match(head)
    body = "{" in head
    if head.startswith(("friend ", "namespace ", "static_assert", "extern ")):
        return None
    if not found:
        return Entity(comment, code, "", name_of(code))
    if not body:
        return None  # a forward declaration
    kind, name = found.groups()
    behind = TRAILING.search(code[0])
    if behind and not comment and kind in ("class", "struct"):
        comment = [behind.group(1)]
    out = Entity(comment, code, kind, name)
    if kind in ("class", "struct"):
        opening = next(i for i, line in enumerate(code)
                       if line.split("//")[0].rstrip().endswith("{"))
        inner = [line[2:] if line.startswith("  ") else line.strip()
                 for line in code[opening + 1:-1]]
        if kind == "class":
            inner.insert(0, "private:")
        out.members = entities([line if not line.startswith(" p") else line[1:] for line in inner])
        out.code = [line.split("  //")[0] for line in code[:opening + 1]]
    return out


def parse(text):
    """The entities of a header, and the comment at its top."""
    lines = text.split("\n")
    top = [line[3:] for line in lines[:next(i for i, x in enumerate(lines) if x[:2] != "//")]]
    scope, found, at = [], [], 0
    while at < len(lines):
        if lines[at].startswith(("inline namespace HOLDFAST_API v0 {", "namespace errors")):
            end = next(i for i in range(at, len(lines))
                       if lines[i].startswith("}  // namespace v0"))
            scope = lines[at + 1:end]
            found += entities(without_detail(scope))
            at = end
        at += 1
    return top, found


def without_detail(lines):
    out, skipped = [], False
    for line in lines:
        if line.startswith("namespace ") and line.endswith("{"):
            skipped = True
        if not skipped:
            out.append(line)
        if line.startswith("}  // namespace"):
            skipped = False
    return out


# What a caller sees of the templates of the verbs.
def signatures(code):
    text = re.sub(r"\s+", " ", " ".join(line.split("  //")[0] for line in code)).strip()
    text = re.sub(r"(\)(?: const)?(?: noexcept)?(?: override)?(?: HOLDFAST_\w+)?) "
                  r"(?:: \w.*)?\{.*\}$", r"\1;", text)
    text = re.sub(r"HOLDFAST_\w+ ?", "", text).replace(" ;", ";")
    text = re.sub(r"template <(class R, class P|class C, class D)(?:, )?", "template <", text)
    text = text.replace("std::chrono::duration<R, P>", "duration")
    text = text.replace("std::chrono::time_point<C, D>", "time_point")
    is_verb = "call_ending<E...>" in text
    text = without_constraint(text)
    text = re.sub(r"template <(class\.\.\. (E|Token))?> (requires [\w:]+<\w+\.\.\.> )?", "", text)
    text = re.sub(r"Token&&\.\.\. token", "CompletionToken&& = default", text)
    text = text.replace("detail::", "")
    if is_verb and "E&&... ending" in text:
        bare = re.sub(r",? ?E&&\.\.\. ending", "", text)
        stop = re.sub(r"\)([^)]*);$", lambda m: (", " if not bare.split("(")[1].startswith(")")
                                                  else "") + "std::stop_token = {})" + m.group(1)
                      + ";", bare)
        error = re.sub(r"std::stop_token = \{\}\)", "std::stop_token = {}, std::error_code&)", stop)
        error = error.replace("std::stop_token = {}, std::error_code&",
                              "std::stop_token, std::error_code&")
        return [stop, error]
    return [text]


def wrapped(line, width=96):
    if len(line) <= width or "(" not in line:
        return line
    head, rest = line.split("(", 1)
    column = len(head) + 1 if len(head) < width / 2 else 4
    out, current = [], head + "("
    for part in re.split(r"(?<=,) ", rest):
        if len(current) + len(part) > width and current.strip():
            out.append(current.rstrip())
            current = " " * column
        current += part + " "
    return "\n".join(out + [current.rstrip()])


def purpose(group, class_name, types):
    """What a table says of members that share a comment. A field without one has that of its type:
    `types` has the purpose of each on the page."""
    first = group[0]
    if first.trailing:
        return cell(first.trailing)
    special = {class_name: "constructor", "operator=": "assignment", "~" + class_name: "destructor"}
    if first.name in special and (not first.comment or first.comment[0][:1].islower()):
        return special[first.name]
    if first.name == "operator==":
        return "comparison"
    if not first.comment and first.code[0].startswith("static constexpr "):
        return "constant"
    type_name = re.match(r"(?:\w+::)*(\w+) ", first.code[0])
    return first_sentence(first.comment) or types.get(type_name and type_name.group(1), "")


def code_block(lines):
    return ["```cpp", *lines, "```", ""]


def groups(members):
    """Members that share one comment have one section, and overloads too."""
    out = []
    for member in members:
        is_same = (out and member.comment == out[-1][0].comment
                   and not (member.kind or member.trailing or out[-1][0].trailing))
        if is_same and (member.comment or member.name == out[-1][0].name):
            out[-1].append(member)
        else:
            out.append([member])
    return out


def is_function(member):
    text = " ".join(line.split("  //")[0] for line in member.code)
    return "operator" in text or re.match(r"[^=({]*\(", text) is not None


def names(group):
    fields = [re.match(r"[^(]*?[\w>] ([\w ,={}\"]+);", m.code[0].split("  //")[0]) for m in group
              if not is_function(m)]
    several = [re.match(r"\w+", name).group() for f in fields if f and ", " in f.group(1)
               for name in f.group(1).split(", ")]
    return list(dict.fromkeys(several + [member.name for member in group if member.name]))


def section_of_class(e, types):
    out = [f"## {e.name}", "", *document(e.comment)]
    head = re.sub(r"HOLDFAST_\w+ ?", "", " ".join(e.code)).rstrip(" {")
    head = re.sub(r"(: |, +)public detail::[^{]*?(?=, public [^d]|$)", "",
                  re.sub(r"\s+", " ", head))
    plain = [m for m in e.members if m.kind == ""]
    fields = e.kind == "struct" and not any(is_function(m) for m in plain)
    synopsis = [head + " {"]
    for member in plain:
        for line in signatures(member.code):
            synopsis += ["  " + part for part in wrapped(line, 94).split("\n")]
    if plain:
        out += ["### Synopsis", "", *code_block(synopsis + ["};"])]
    parts = groups(plain)
    if parts:
        out += ["### Members", "", "| name | purpose |", "|---|---|"]
        for group in parts:
            shown = ", ".join(f"`{name}`" for name in names(group))
            text = (cell(" ".join(group[0].comment)) if fields and group[0].comment
                    else purpose(group, e.name.split("::")[-1], types))
            if group[0].heading:
                out.append(f"| *{cell(' '.join(group[0].heading))}* | |")
            out.append(f"| {shown} | {text} |")
        out.append("")
    for group in parts:
        if fields or len(document(group[0].comment)) == 0:
            continue
        out += [f"### {', '.join(names(group))}", ""]
        out += code_block([wrapped(line) for m in group for line in signatures(m.code)])
        out += document(group[0].comment)
    for member in e.members:
        if member.kind:
            out += section_of(member, types, e.name + "::")
    return out


def section_of(e, types, scope=""):
    if e.kind in ("class", "struct"):
        return section_of_class(dataclasses.replace(e, name=scope + e.name), types)
    shown = e.code if e.kind else [wrapped(line) for line in signatures(e.code)]
    return [f"## {scope}{e.name}", "", *code_block(shown), *document(e.comment)]


def section_of_functions(group):
    code = [wrapped(line) for e in group for line in signatures(e.code)]
    return [f"## {', '.join(names(group))}", "", *code_block(code), *document(group[0].comment)]


def page_of_header(name, text, example=""):
    top, found = parse(text)
    out = [f"# holdfast/{name}", "", *prose(top)]
    out += [f"Defined in the header `<holdfast/{name}>`, in the namespace `holdfast`.", ""]
    macros = re.findall(r"^#define HOLDFAST_.*", text, re.M)
    out += code_block(macros) if macros else []
    types = {e.name: first_sentence(e.comment) for e in found if e.kind}
    for group in groups(found):
        out += section_of(group[0], types) if len(group) == 1 else section_of_functions(group)
    if example:
        out += ["## Example", "", *code_block(example.rstrip().split("\n"))]
    return "\n".join(out)
