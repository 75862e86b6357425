"""What a program's --help says of its commands and options: CLI11's text, read back."""

import dataclasses
import re
import subprocess

COLUMN = 30  # where CLI11 begins the descriptions


@dataclasses.dataclass
class Option:
    """An option (names begin with '-') or a positional argument (one name)."""

    names: list[str]
    kind: str = ""  # TEXT, UINT, ..; empty for a flag
    values: list[str] = dataclasses.field(default_factory=list)  # where only these are allowed
    bounds: tuple[str, str] | None = None
    default: str = ""
    many: bool = False
    required: bool = False
    text: str = ""

    @property
    def takes_file(self):
        """Whether a value may be the name of a file: any text may."""
        return self.kind == "TEXT" and not self.values


@dataclasses.dataclass
class Command:
    """A program, or a command of it; words: what is typed to get there."""

    words: list[str]
    text: str = ""
    usage: str = ""
    options: list[Option] = dataclasses.field(default_factory=list)
    positionals: list[Option] = dataclasses.field(default_factory=list)
    commands: list["Command"] = dataclasses.field(default_factory=list)

    def walk(self):
        """This command and all below it."""
        yield self
        for command in self.commands:
            yield from command.walk()


SPEC = re.compile(
    r"(?P<kind>[A-Z]+)?"
    r"(:\{(?P<values>[^}]*)\}|:[A-Z]+ in \[(?P<low>\S+) - (?P<high>\S+)\]|:[A-Z]+)?"
    r"(=(?P<default>\S+))?(?P<many> \.\.\.)?(?P<required> REQUIRED)?"
)


def read_option(left, text):
    names, _, spec = left.partition(" ")
    match = SPEC.fullmatch(spec)
    if not match:
        raise ValueError(f"'{left}' is not understood")
    return Option(
        names=names.split(","),
        kind=match["kind"] or "",
        values=match["values"].split(",") if match["values"] else [],
        bounds=(match["low"], match["high"]) if match["low"] else None,
        default=match["default"] or "",
        many=bool(match["many"]),
        required=bool(match["required"]),
        text=text,
    )


def entries(lines):
    """(heading, left, description) of each indented entry."""
    heading, entry = "", None
    for line, following in zip(lines, lines[1:] + [""]):
        if re.fullmatch(r"\S.*:", line):
            heading = line[:-1]
        elif line.startswith(" " * COLUMN) and entry:
            entry[2] = f"{entry[2]} {line.strip()}".strip()
        elif line.startswith("  ") and heading:
            if entry:
                yield entry
            # A left side that reaches the column has its description on the next line.
            wide = following.startswith(" " * COLUMN) and "  " not in line.strip()
            left, text = (line, "") if wide else (line[:COLUMN], line[COLUMN:])
            entry = [heading, left.strip(), text.strip()]
        elif line.strip():
            raise ValueError(f"'{line}' is not understood")
    if entry:
        yield entry


def read_help(words, text):
    """The command that a help text describes; its commands have names and descriptions only."""
    description, usage, rest = text.partition("Usage: ")
    if not usage:
        raise ValueError("no line 'Usage: ..'")
    first, *lines = rest.split("\n")
    command = Command(words, " ".join(description.split()), first.strip())
    for heading, left, said in entries(lines):
        if heading == "Subcommands":
            command.commands.append(Command(words + [left], said))
        elif heading == "Positionals":
            command.positionals.append(read_option(left, said))
        else:
            command.options.append(read_option(left, said))
    return command


def ask(program, name, words=()):
    """All that the program says of itself, or of the command with these words, and below."""
    line = [program, *words, "--help"]
    answer = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True)
    try:
        command = read_help([name, *words], answer.stdout)
    except ValueError as error:
        raise ValueError(f"{' '.join(line)}: {error}") from error
    command.commands = [ask(program, name, below.words[1:]) for below in command.commands]
    return command
