"""Turns the docstrings of the Python package into a page: a table of its names, and a section for
each class, method and function. It reads the sources, so that the library need not be installed."""
import ast
import pathlib
import re

from api_pages import wrapped
from docstrings import cell, document, first_sentence, prose

LANGUAGE = "python"


def comment_of(node):
    """The docstring in the form of a comment in a header: two spaces begin a line of code, and
    nothing else is in an empty one."""
    text = (ast.get_docstring(node) or "").replace("``", "`")
    return re.sub(r"(?<=\n\n)    .*(?:\n+    .*)*",
                  lambda code: re.sub(r"^(  (?=  )|$)", lambda at: "" if at[1] else "  ", code[0],
                                      flags=re.M), text).split("\n")


def is_public(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name[0] != "_"


def is_property(node):
    return any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)


def signature(node, name=""):
    """A function without its body; a property as the annotation of a name."""
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if is_property(node):
        return f"{node.name}: {ast.unparse(node.returns)}"
    arguments = node.args
    if arguments.args and arguments.args[0].arg == "self":
        arguments = ast.arguments(**{**vars(arguments), "args": arguments.args[1:]})
    start = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    end = "" if node.name == "__init__" else result
    return wrapped(f"{start}{name or node.name}({ast.unparse(arguments)}){end}")


def attributes(node, source):
    """The public attributes that __init__ sets, with the comments on their lines."""
    for line in source.split("\n")[node.lineno - 1:node.end_lineno]:
        found = re.match(r"\s+self\.([a-z]\w*)(?:: \w+)? = .*?(?:  # (.*))?$", line)
        if found:
            yield found[1], found[2] or ""


def section_of_class(node, source):
    functions = {f.name: f for f in node.body
                 if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))}
    init = functions.get("__init__")
    members = [f for f in node.body if is_public(f)]
    blocks = [word for word, name in (("with", "__enter__"), ("async with", "__aenter__"))
              if name in functions]
    out = [f"## {node.name}", ""]
    if node.name == "Client":  # a program makes no object of another class
        out += ["```python", signature(init, node.name), "```", ""]
    use = ["", "Can be used in " + " and ".join(f"`{word}`" for word in blocks) + "."]
    out += document(comment_of(node) + use, LANGUAGE)
    out += ["| name | purpose |", "|---|---|"]
    out += [f"| `{name}` | {cell(text)} |" for name, text in attributes(init, source)]
    out += [f"| `{f.name}{'' if is_property(f) else '()'}` | {first_sentence(comment_of(f))} |"
            for f in members]
    out.append("")
    for f in members:
        out += [f"### {node.name}.{f.name}", "", "```python", signature(f), "```", "",
                *document(comment_of(f), LANGUAGE)]
    return out


def exceptions(tree):
    out = ["## Exceptions", "", "`code` of an exception is the name of [the code](../errors.md).",
           "", "| class | bases | code | meaning |", "|---|---|---|---|"]
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        code = next((s.value.value for s in node.body if isinstance(s, ast.Assign)), "")
        bases = ", ".join(f"`{ast.unparse(base)}`" for base in node.bases)
        out.append(f"| `{node.name}` | {bases} | {f'`{code}`' if code else ''} "
                   f"| {cell(' '.join(comment_of(node)))} |")
    return out + [""]


def page(package):
    package = pathlib.Path(package)
    source = (package / "_client.py").read_text(encoding="utf-8")
    top = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    nodes = {node.name: node for node in ast.parse(source).body
             if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name[0] != "_"}
    functions = [node for node in nodes.values() if isinstance(node, ast.FunctionDef)]
    classes = [node for node in nodes.values() if isinstance(node, ast.ClassDef)]
    out = ["# The Python package", "", *prose(comment_of(top), LANGUAGE),
           "`Seconds` below is any of these types. `holdfast.__version__` is the version of the "
           "package, and of the library that it needs.", ""]
    for node in functions:
        out += [f"## {node.name}", "", "```python", signature(node, "holdfast." + node.name), "```",
                "", *document(comment_of(node), LANGUAGE)]
    for node in reversed(classes):  # a class follows those that it uses
        out += section_of_class(node, source)
    errors = ast.parse((package / "_errors.py").read_text(encoding="utf-8"))
    return "\n".join(out + exceptions(errors))
