"""zenlake completion: a completion script of the commands and options for a shell."""

from __future__ import annotations

import argparse

EXAMPLES = """examples:
  eval "$(zenlake completion bash)"
  zenlake completion zsh > ~/.zfunc/_zenlake
  zenlake completion fish > ~/.config/fish/completions/zenlake.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="which shell")


def run(args: argparse.Namespace) -> int:
    from zenlake.cli.main import build_parser

    words = {name: _words(parser) for name, parser in build_parser()[1].items()}
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](words))
    return 0


def _words(parser: argparse.ArgumentParser) -> list[str]:
    """Options, and the values that arguments may have."""
    words: list[str] = []
    for action in parser._actions:  # argparse has no public way to list them
        words += action.option_strings
        words += [str(choice) for choice in action.choices or ()]
        if isinstance(action.choices, dict):  # words with arguments of their own
            words += [word for inner in action.choices.values() for word in _words(inner)]
    return list(dict.fromkeys(words))


def _bash(words: dict[str, list[str]]) -> str:
    cases = "\n".join(f"    {name}) words='{' '.join(w)}' ;;" for name, w in words.items())
    return f"""_zenlake() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words='{" ".join(words)} --help --version' ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words='{" ".join(words)} --help --version'
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _zenlake zenlake"""


def _zsh(words: dict[str, list[str]]) -> str:
    return "#compdef zenlake\nautoload -U +X bashcompinit && bashcompinit\n" + _bash(words)


def _fish(words: dict[str, list[str]]) -> str:
    lines = [f"complete -c zenlake -n __fish_use_subcommand -a '{' '.join(words)}'"]
    for name, found in words.items():
        condition = f"'__fish_seen_subcommand_from {name}'"
        lines.append(f"complete -c zenlake -n {condition} -a '{' '.join(found)}'")
    return "\n".join(lines)
