"""Turns the comment of a class or a function into Markdown.

The house's form of a comment is: a sentence of purpose, then parameters, the value that is
returned, errors, blocking and thread safety. Each of these becomes a part with a label.
"""
import dataclasses
import re

ENTRY = re.compile(r"((?:errc::\w+(?:, \w+)*|[\w?=.]+(?:, \w+)*|A? ?std::\w+))  +(\S.*)$")
# A line with nothing but codes of errors, whose meaning is that of other functions.
CODES = re.compile(r"(?:HOLDFAST_[A-Z_]+(?:, |,?$))+$")
ERROR = re.compile(r"errc::|HOLDFAST_[A-Z]|[A-Z]\w+Error\b")
LABELS = {
    "Parameters": None,
    "Return value": r"Returns? (?!once|when)",
    "Errors": r"Throws |Raises |The others(,| are those)|The other errors|Errors(?! are:)\b",
    "Blocking": r"(Blocks?|Does not block|Do not block)\b",
    "Thread safety": r"(Safe to call|Thread safety:|For the thread that)",
}


@dataclasses.dataclass
class Block:
    """A paragraph, a block of code, a line of codes, or an entry of a list with its key."""
    kind: str
    lines: list
    key: str = ""

    def text(self):
        return " ".join(self.lines)


def blocks(comment):
    out, is_open = [], False
    for line in comment:
        entry = ENTRY.match(line)
        last = out[-1].kind if is_open else ""
        if line == "  " and last == "code":
            out[-1].lines.append("")
            continue
        if not line.strip():
            is_open = False
            continue
        if last == "entry" and re.match(r" {4,}\S", line):
            out[-1].lines.append(line.strip())
        elif entry:
            out.append(Block("entry", [entry.group(2)], entry.group(1)))
        else:
            kind = "code" if line.startswith("  ") else "codes" if CODES.match(line) else "text"
            if kind != last:
                out.append(Block(kind, []))
            out[-1].lines.append(line[2:] if kind == "code" else line.strip())
        is_open = True
    return out


def fenced(block, language):
    is_code = any(line.rstrip().endswith((";", "{")) for line in block.lines)
    shown = language if is_code or language == "python" else "text"
    return ["```" + shown, *block.lines, "```", ""]


def escaped(text):
    """Names in code type, so that Markdown reads nothing into them."""
    return re.sub(r"(?<![`\w/$])((?:[\w~]+(?:::|\.))*[\w~]+\([^()]*\)(?:\.\w+(?:\(\))?)*"
                  r"|[\w]+(?:::\w+)+&?|\?[\w-]+=[\w-]*|[a-z]+_[a-z_]+|HOLDFAST_[A-Z_]+"
                  r"|[A-Z][a-z]\w+Error|<[\w:/]+>)(?!`)",
                  r"`\1`", text)


def bullet(block):
    return f"- `{block.key}`: {escaped(block.text())}"


def prose(comment, language="cpp"):
    """Markdown in the order of the comment: paragraphs, lists and blocks of code."""
    out, last = [], ""
    for block in blocks(comment):
        if last == "entry" and block.kind != "entry":
            out.append("")
        last = block.kind
        if block.kind == "code":
            out += fenced(block, language)
        elif block.kind == "entry":
            out.append(bullet(block))
        else:
            out += [escaped(block.text()), ""]
    return out + [""] * (last == "entry")


def sentences(text):
    return re.split(r"(?<!\.\.)(?<=\.) (?=\S)", text)


def label_of(sentence):
    return next((label for label, begin in LABELS.items() if begin and re.match(begin, sentence)),
                "")


def labelled(text, is_purpose):
    """The runs of sentences with one label: what follows a labelled sentence belongs to it."""
    out = []
    for index, sentence in enumerate(sentences(text)):
        label = "" if is_purpose and index == 0 else label_of(sentence)
        sentence = sentence.removeprefix("Thread safety: ")
        if label and re.match("[a-z]+ ", sentence):
            sentence = sentence[0].upper() + sentence[1:]
        if out and label in ("", out[-1][0]):
            out[-1] = (out[-1][0], out[-1][1] + " " + sentence)
        else:
            out.append((label, sentence))
    return out


def part(label, items):
    bullets = [item for item in items if item.startswith("- ")]
    texts = [item for item in items if not item.startswith("- ")]
    before = [line for text in texts if text.endswith(":") for line in (text, "")]
    after = [line for text in texts if not text.endswith(":") for line in (text, "")]
    return [f"**{label}**", "", *before, *bullets, *[""] * bool(bullets), *after]


def document(comment, language="cpp"):
    """Markdown of a comment: the description, and then a part for each label."""
    description, parts = [], {label: [] for label in LABELS}
    for index, block in enumerate(blocks(comment)):
        if block.kind == "code":
            description += fenced(block, language)
        elif block.kind == "entry":
            label = "Errors" if ERROR.match(block.key) else "Parameters"
            parts[label].append(bullet(block))
        elif block.kind == "codes":
            parts["Errors"].append("- " + ", ".join(
                f"`{code}`" for code in re.findall(r"\w+", block.text())))
        else:
            for label, text in labelled(block.text(), index == 0):
                if label:
                    parts[label].append(escaped(text))
                else:
                    description += [escaped(text), ""]
    return description + [line for label, items in parts.items() if items
                          for line in part(label, items)]


def cell(text):
    return escaped(text).replace("|", "\\|")


def first_sentence(comment):
    """The purpose, for a table: of the first paragraph, and never of a list of arguments."""
    first = next(iter(blocks(comment)), None)
    if first is None or first.kind != "text":
        return ""
    return cell(sentences(first.text())[0].rstrip(":"))
