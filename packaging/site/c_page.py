"""Turns holdfast.h into a page: a table of its functions, and a section for each type and
function. A comment that documents no declaration is part of the section of the functions."""
import re

import api_pages
from docstrings import blocks, cell, document, first_sentence, labelled, prose

LANGUAGE = "c"
HOOK = re.compile(r"typedef \w+ \(\*(\w+)\)")
HANDLE = re.compile(r"typedef struct (\w+) \1;")


def declarations(text):
    """The lines inside of extern "C", with its types as C++ would declare them."""
    inside = text.split('extern "C" {\n#endif\n')[1].split("\n#ifdef __cplusplus")[0]
    return re.sub(r"^typedef ((?:enum|struct) \w+ \{)", r"\1", inside, flags=re.M).split("\n")


def remarks(lines):
    """The comments that stand alone, between blank lines."""
    out, comment, is_alone = [], [], True
    for line in [*lines, ""]:
        if line.startswith("// ") and is_alone:
            comment.append(line[3:])
        else:
            out += [comment] if comment and not line.strip() else []
            comment, is_alone = [], not line.strip()
    return out


def parameters(code):
    """The names of a function's parameters."""
    inside = api_pages.signatures(code)[0].split("(", 1)[1].rsplit(")", 1)[0]
    inside = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", inside)
    return [] if inside == "void" else [re.findall(r"\w+", one)[-1] for one in inside.split(",")]


def return_value(function):
    """The sentence of the comment, or the type."""
    texts = [block.text() for block in blocks(function.comment) if block.kind == "text"]
    for label, text in (run for one in texts for run in labelled(one, False)):
        if label == "Return value":
            return cell(text)
    kind = re.match(r"(.*?) ?\b" + function.name + r"\(", api_pages.signatures(function.code)[0])[1]
    if kind == "void":
        return "none"
    return "`HOLDFAST_OK`, or the code of the error" if kind == "holdfast_errc" else f"`{kind}`"


def row(function):
    shown = ", ".join(f"`{name}`" for name in parameters(function.code))
    return (f"| `{function.name}` | {first_sentence(function.comment)} | {shown or 'none'} "
            f"| {return_value(function)} |")


def section(group, types):
    first = group[0]
    if first.kind == "struct":
        return api_pages.section_of_class(first, types)
    code = ["typedef " + first.code[0], *first.code[1:]] if first.kind else [
        api_pages.wrapped(line) for e in group for line in api_pages.signatures(e.code)]
    title = ", ".join(e.name for e in group)
    return [f"## {title}", "", f"```{LANGUAGE}", *code, "```", "",
            *document(first.comment, LANGUAGE)]


def page(text):
    top = [line[3:] for line in text.split("\n#pragma once")[0].split("\n")]
    lines = declarations(text)
    found = api_pages.entities(lines)
    for e in found:
        hook = HOOK.match(e.code[0])
        e.name = hook[1] if hook else e.name
    functions = [e for e in found if e.name and not e.kind and not e.code[0].startswith("typedef")]
    types = [e for e in found if e not in functions and not HANDLE.match(e.code[0])]
    out = ["# holdfast/holdfast.h", "", *prose(top, LANGUAGE),
           "Defined in the header `<holdfast/holdfast.h>`.", "", "## Functions", "",
           "| function | purpose | parameters | return value |", "|---|---|---|---|",
           *map(row, functions), ""]
    for remark in remarks(lines):
        out += prose(remark, LANGUAGE)
    handles = ", ".join(f"`{name}`" for name in HANDLE.findall(text))
    out += ["## Handles", "", "The library makes and frees these objects, and a program only has "
            f"pointers to them: {handles}.", ""]
    purposes = {e.name: first_sentence(e.comment) for e in types}
    for group in [[e] for e in types] + api_pages.groups(functions):
        out += section(group, purposes)
    return "\n".join(out)
