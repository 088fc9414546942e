#!/usr/bin/env python3
"""Give me what a terminal showed, I draw it: docs/picture.svg from docs/picture.txt.

    tools/picture.py                  draws the picture
    tools/picture.py --check          draws nothing, and fails if the picture in the tree is another one
    tools/picture.py --record A2KB    first runs the commands of docs/picture.txt again, with the program A2KB

A line of docs/picture.txt that begins with "$ " is a command; the lines below it are what the command wrote to standard
output. The same text gives the same picture, byte for byte. It needs nothing but Python's standard library; the picture
needs no font of its own: each line has a fixed length, whatever monospaced font a reader has.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from xml.sax.saxutils import escape

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TEXT = os.path.join(ROOT, "docs", "picture.txt")
PICTURE = os.path.join(ROOT, "docs", "picture.svg")

COLUMNS = 88
COLUMN_PX, LINE_PX, FONT_PX = 8.4, 21, 14
MARGIN_PX, BAR_PX = 24, 36
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
# A dark window with a border of a middle grey stands out from a white page and from a black one.
WINDOW, BAR, BORDER = "#161b22", "#21262d", "#6e7681"
PROMPT, COMMAND, PLAIN, SOURCE, PATH = "#7ee787", "#ffffff", "#c9d1d9", "#9198a1", "#e3b341"
MARK = "#79c0ff"
DESCRIPTION = "A terminal: a2kb packs a folder into one file and answers a question with quotes that name their bytes."


def record(program):
    """Runs each command of the text in a folder of its own, and writes down what it said."""
    program = os.path.abspath(program)
    said = []
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(os.path.join(ROOT, "assets")), os.path.join(folder, "assets"))
        for line in read(TEXT).splitlines():
            if not line.startswith("$ a2kb "):
                continue
            arguments = [program] + shlex.split(line[2:])[1:]
            done = subprocess.run(arguments, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
            said.append(line + "\n" + done.stdout.rstrip("\n") + "\n")
    write(TEXT, "\n".join(said))


def colour(line):
    """What a line is drawn in, its marks aside."""
    if line.startswith("$ "):
        return COMMAND
    if line.startswith("    "):
        return PATH
    return SOURCE if re.match(r"\[\d+\] ", line) else PLAIN


def rows(text):
    """The lines as lists of pieces with their colours, none wider than the window."""
    marks = re.compile(r"(^\$ |\[\d+\])")
    for line in text.splitlines():
        indent = re.match(" *", line).group()
        plain = colour(line)
        for row in textwrap.wrap(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False) or [""]:
            pieces = [piece for piece in marks.split(row) if piece]
            kinds = {"$ ": PROMPT}
            yield [(piece, kinds.get(piece, MARK) if marks.fullmatch(piece) else plain) for piece in pieces]


def draw(text):
    """The picture."""
    lines = list(rows(text))
    width = round(2 * MARGIN_PX + COLUMNS * COLUMN_PX)
    height = BAR_PX + MARGIN_PX + len(lines) * LINE_PX + MARGIN_PX // 2
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(DESCRIPTION)}</title>",
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="{WINDOW}" stroke="{BORDER}"/>',
        f'<path d="M1 {BAR_PX}V8.5a7.5 7.5 0 0 1 7.5-7.5H{width - 8.5}a7.5 7.5 0 0 1 7.5 7.5V{BAR_PX}z" fill="{BAR}"/>',
    ]
    for place, colour in enumerate(["#ff7b72", "#e3b341", "#7ee787"]):
        svg.append(f'<circle cx="{22 + 20 * place}" cy="{BAR_PX / 2:g}" r="6" fill="{colour}"/>')
    svg.append(f'<g font-family="{FONTS}" font-size="{FONT_PX}" xml:space="preserve">')
    for row, pieces in enumerate(lines):
        column, y = 0, BAR_PX + MARGIN_PX + FONT_PX // 2 + row * LINE_PX
        for piece, colour in pieces:
            shown = piece.strip(" ")
            if shown:
                x = MARGIN_PX + (column + len(piece) - len(piece.lstrip(" "))) * COLUMN_PX
                length = len(shown) * COLUMN_PX
                svg.append(
                    f'<text x="{x:.1f}" y="{y}" fill="{colour}" textLength="{length:.1f}"'
                    f' lengthAdjust="spacingAndGlyphs">{escape(shown)}</text>'
                )
            column += len(piece)
    return "\n".join(svg + ["</g>", "</svg>", ""])


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="A2KB", help="run the commands again, with this program")
    parser.add_argument("--check", action="store_true", help="fail if the picture in the tree is another one")
    options = parser.parse_args()
    if options.record:
        record(options.record)
    picture = draw(read(TEXT))
    if not options.check:
        write(PICTURE, picture)
    elif picture != read(PICTURE):
        sys.exit("docs/picture.svg is not what tools/picture.py draws of docs/picture.txt: run tools/picture.py")


if __name__ == "__main__":
    main()
