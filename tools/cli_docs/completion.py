"""Completion of commands, options, values out of a set, and files: for bash, zsh and fish."""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def identifier(command):
    return "_" + "_".join(command.words).replace("-", "_")


def names(command):
    return [name for option in command.options for name in option.names]


# bash

BASH = """\
# bash completion for {name}; made from its --help.
{function}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command='' i
  local words='' options=''
  # --option=value comes as three words.
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {commands}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  COMPREPLY=()
  case "$command $before" in
{values}
  esac
  if [[ -z $words ]]; then
    case "$command" in
{words}
    esac
    if [[ $word == -* ]]; then
      words=$options
    elif [[ -z $words ]]; then
      {function}_files "$word"
      return
    fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
{function}_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}}
complete -F {function} {name}
"""


def bash_values(command, function):
    """What follows an option, a line of `case` each."""
    for option in command.options:
        if not option.kind:
            continue
        where = "|".join(quoted(f"{bash_key(command)} {name}") for name in option.names)
        if option.values:
            yield f"    {where}) words={quoted(' '.join(option.values))} ;;"
        elif option.takes_file:
            yield f"    {where}) {function}_files \"$word\"; return ;;"
        else:
            yield f"    {where}) return ;;"


def bash_key(command):
    return "".join(" " + word for word in command.words[1:])


def bash(program):
    function = identifier(program)
    values, words, commands = [], [], []
    for command in program.walk():
        if command is not program:
            commands.append(quoted(bash_key(command)))
        values += bash_values(command, function)
        offered = quoted(" ".join(c.words[-1] for c in command.commands))
        options = quoted(" ".join(names(command)))
        words.append(f"      {quoted(bash_key(command))}) words={offered} options={options} ;;")
    return BASH.format(name=program.words[0], function=function, commands="|".join(commands),
                       values="\n".join(values), words="\n".join(words))


# zsh

def zsh_text(text):
    for character in "\\[]:":
        text = text.replace(character, "\\" + character)
    return text


def zsh_action(option):
    if option.values:
        return "(" + " ".join(option.values) + ")"
    return "_files" if option.takes_file else " "


def zsh_arguments(command):
    """The specifications that _arguments takes."""
    for option in command.options:
        for name in option.names:
            star = "*" if option.many else ""
            value = f":{option.kind.lower()}:{zsh_action(option)}" if option.kind else ""
            yield f"{star}{name}[{zsh_text(option.text)}]{value}"
    for argument in command.positionals:
        star = "*" if argument.many else ""
        yield f"{star}:{zsh_text(argument.names[0])}:{zsh_action(argument)}"
    if command.commands:
        yield "1: :->command"
        yield "*:: :->arguments"


def zsh_function(command):
    lines = [f"{identifier(command)}() {{", "  local context state line", "  typeset -A opt_args",
             "  _arguments -C \\"]
    lines += [f"    {quoted(argument)} \\" for argument in zsh_arguments(command)]
    lines[-1] = lines[-1][:-2]
    if command.commands:
        pairs = [quoted(f"{zsh_text(c.words[-1])}:{c.text}") for c in command.commands]
        lines += ["  case $state in",
                  f"    command) local -a commands=({' '.join(pairs)})",
                  "      _describe command commands ;;",
                  "    arguments) case $line[1] in"]
        lines += [f"      {c.words[-1]}) {identifier(c)} ;;" for c in command.commands]
        lines += ["      esac ;;", "  esac"]
    return lines + ["}"]


def zsh(program):
    lines = [f"#compdef {program.words[0]}", "# Made from its --help."]
    for command in program.walk():
        lines += zsh_function(command)
    return "\n".join(lines + [f'{identifier(program)} "$@"']) + "\n"


# fish

def fish_where(program, command):
    """The condition under which a command's own words are offered."""
    tests = [f"__fish_seen_subcommand_from {word}" for word in command.words[1:]]
    if command.commands:
        others = " ".join(c.words[-1] for c in command.commands)
        tests.append(f"not __fish_seen_subcommand_from {others}")
    return f"complete -c {program.words[0]} -n {quoted('; and '.join(tests))}"


def fish_option(option):
    words = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
             for name in option.names]
    if option.values:
        words.append(f"-x -a {quoted(' '.join(option.values))}")
    elif option.kind:
        words.append("-r" if option.takes_file else "-x")
    return " ".join(words + [f"-d {quoted(option.text)}"])


def fish(program):
    lines = [f"# fish completion for {program.words[0]}; made from its --help."]
    for command in program.walk():
        where = fish_where(program, command)
        lines += [f"{where} -f -a {c.words[-1]} -d {quoted(c.text)}" for c in command.commands]
        lines += [f"{where} {fish_option(option)}" for option in command.options]
    return "\n".join(lines) + "\n"
