#!/usr/bin/env bash
# cli_docs_test.sh PROGRAM SHARE [WORDS..]: every command and option that the program's --help names
# is in its man page and its completions; bash's is called as the shell calls it, and offers files
# behind each of WORDS ("recommend --user").
set -euo pipefail
program=$1 share=$2
name=$(basename "$program")
page=$(zcat "$share/man/man1/$name.1.gz")
zsh=$(cat "$share/zsh/vendor-completions/_$name")
fish=$(cat "$share/fish/vendor_completions.d/$name.fish")
# shellcheck disable=SC1090
source "$share/bash-completion/completions/$name"
fail() { echo "cli_docs: $*" >&2; exit 1; }

# complete_words WORDS..: what bash offers for the last of them.
complete_words() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  "_${name//-/_}" || true  # compopt fails outside of a completion
}
# No process for each of some thousand questions.
has() { [[ $2 == *"$1"* ]]; }
has_line() { has $'\n'"$1"$'\n' $'\n'"$2"$'\n'; }

# check_values WORDS.. OPTION VALUES: bash offers exactly the values that are allowed.
check_values() {
  local values=${*: -1}
  complete_words "$name" "${@:1:$#-1}" ''
  [ "${COMPREPLY[*]}" = "${values//,/ }" ] || fail "$*: bash offers '${COMPREPLY[*]}'"
}

# check_command WORDS..: the command's options, and those of all commands below it.
options=0 values=0
check_command() {
  local help section commands option spec spelt
  help=$("$program" "$@" --help)
  # The part of the page for this command: up to the next heading.
  section=$(awk -v head=".SS $*" '{ gsub(/\\-/, "-") } on; /^\.S[SH] / {
    on = $0 == head || head == ".SS " && $0 == ".SH OPTIONS" }' <<<"$page")
  complete_words "$name" "$@" -
  local offered
  offered=$(printf '%s\n' "${COMPREPLY[@]}")
  # Names stand at the beginning of a line, behind two spaces.
  while read -r option spec; do
    for option in ${option//,/ }; do
      options=$((options + 1))
      has_line "$option" "$offered" || fail "$*: $option is not in the completion for bash"
      has "$option[" "$zsh" || fail "$*: $option is not in the completion for zsh"
      case $option in --*) spelt="-l ${option#--} " ;; *) spelt="-s ${option#-} " ;; esac
      has "$spelt" "$fish" || fail "$*: $option is not in the completion for fish"
      # --help of commands is said once, for all.
      [[ $# -gt 0 && ($option = --help || $option = -h) ]] && continue
      has "\\fB$option\\fR" "$section" || fail "$*: $option is not in the man page"
    done
    if [[ $spec =~ \{([^}]*)\} ]]; then
      values=$((values + 1))
      check_values "$@" "$option" "${BASH_REMATCH[1]}"
    fi
  done < <(grep -E '^  -' <<<"$help")
  commands=$(sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help")
  if [ -n "$commands" ]; then
    complete_words "$name" "$@" ''
    [ "${COMPREPLY[*]}" = "${commands//$'\n'/ }" ] || fail "$*: commands '${COMPREPLY[*]}'"
    local command
    for command in $commands; do check_command "$@" "$command"; done
  fi
}
check_command
[ "$options" -gt 10 ] || fail "only $options options were found in the help of $program"

# Files, where no option is begun.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/a model.bet"
for words in "${@:3}"; do
  # shellcheck disable=SC2086  # words
  complete_words "$name" $words "$work/a"
  [ "${COMPREPLY[*]}" = "$work/a model.bet" ] || fail "$words: bash offers '${COMPREPLY[*]}'"
done
# Where these shells are installed.
if command -v zsh >/dev/null; then zsh -n "$share/zsh/vendor-completions/_$name"; fi
if command -v fish >/dev/null; then fish -n "$share/fish/vendor_completions.d/$name.fish"; fi
echo "cli_docs: $options options and $values sets of values of $name"
