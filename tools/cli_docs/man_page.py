"""A man page: a hand-written template, with what the program says of itself put in."""

import textwrap

KINDS = {"TEXT": "text", "INT": "number", "UINT": "number", "FLOAT": "number"}


def roff(text):
    """Text as it is, in roff; hyphens as they are typed."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def paragraph(text):
    return [roff(line) for line in textwrap.wrap(text, 72, break_on_hyphens=False)]


def option_entry(option):
    head = ", ".join(f"\\fB{roff(name)}\\fR" for name in option.names)
    if option.values:
        head += " " + "|".join(f"\\fB{roff(value)}\\fR" for value in option.values)
    elif option.kind and option.names[0].startswith("-"):
        head += f" \\fI{KINDS.get(option.kind, option.kind.lower())}\\fR"
    if option.many:
        head += " .\\|.\\|."
    more = ["required"] if option.required and option.names[0].startswith("-") else []
    if option.bounds:
        more.append(f"{option.bounds[0]} to {option.bounds[1]}")
    if option.default:
        more.append(f"default {option.default}")
    return [".TP", head, *paragraph(option.text + (f" ({'; '.join(more)})" if more else ""))]


def synopsis(program):
    lines = []
    for command in program.walk():
        if command.commands:
            continue
        words, rest = " ".join(command.words), command.usage[len(" ".join(command.words)) :]
        lines += [f".B {roff(words)}", f".RI \"{roff(rest.strip())}\"", ".br"]
    return lines[:-1]


def commands(program):
    lines = []
    for command in program.walk():
        if command is not program and not command.commands:
            lines += [f".SS {roff(' '.join(command.words[1:]))}", *paragraph(command.text)]
            for argument in command.positionals + command.options:
                if "--help" not in argument.names:  # said once, of all
                    lines += option_entry(argument)
    return lines


def options(program):
    return [line for option in program.options for line in option_entry(option)]


def man_page(program, template, version):
    """The template with @VERSION@, and the lines @SYNOPSIS@, @COMMANDS@ and @OPTIONS@."""
    parts = {"@SYNOPSIS@": synopsis, "@COMMANDS@": commands, "@OPTIONS@": options}
    lines = []
    for line in template.replace("@VERSION@", version).splitlines():
        lines += parts[line](program) if line in parts else [line]
    return "\n".join(lines) + "\n"
