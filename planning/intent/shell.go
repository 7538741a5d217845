package intent

import (
	"path"
	"slices"
	"strings"
)

// A goal that begins with an exclamation mark is a command, which is run as it was typed.

// CommandMark begins a goal that is a command for the shell.
const CommandMark = "!"

// IsCommandLine reports whether a goal is a command for the shell. No word of it is read.
func IsCommandLine(goal string) bool { return strings.HasPrefix(strings.TrimSpace(goal), CommandMark) }

// commandLine returns the command in a goal without its mark.
func commandLine(goal string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(goal), CommandMark))
}

// typedCommand is the intent of a goal that is a command.
func typedCommand(goal string) Intent {
	params := map[string]string{"typed": "true"}
	if line := commandLine(goal); line != "" {
		params["command"] = line
	}
	return Intent{Category: project, Action: command, Params: params, Confidence: 1}
}

// TypedCommand returns the command line of the intent of a goal that is a command.
func (in Intent) TypedCommand() (line string, ok bool) {
	return in.Params["command"], in.Params["typed"] != ""
}

// typedCommand runs a command as it was typed: by the shell if the shell means something by
// a sign or the first word, else as it stands.
func (b *builder) typedCommand(line string) {
	switch program := interactive(line); {
	case line == "":
		b.addInvalid("which command? Write it behind the %s, as in %sls", CommandMark, CommandMark)
	case program == "cd":
		b.addInvalid("each command begins in this folder, so cd alone changes nothing: write it before another command, as in %scd docs && ls", CommandMark)
	case program != "":
		b.addInvalid("%s needs a terminal of its own, and a command here has none: run it in your own shell", program)
	}
	args, title := map[string]any{"timeout": programTimeout}, "Run "+inTitle(line)
	if words := strings.Fields(line); len(words) == 0 || needsShell(line, words[0]) {
		args["shell"], title = literally(line), "Run by the shell: "+inTitle(line)
	} else {
		argv := make([]any, len(words))
		for i, word := range words {
			argv[i] = literally(word)
		}
		args["argv"] = argv
	}
	b.call("proc.run", title, args, "")
}

// built are commands that only the shell itself has.
var built = strings.Fields(". : source type command export set unset ulimit umask alias eval hash times trap cd dir")

// needsShell reports whether a command line means something else without a shell.
func needsShell(line, first string) bool {
	return strings.ContainsAny(line, "|&;<>()$`\\\"'*?[]{}#~!%\n") || strings.Contains(first, "=") || slices.Contains(built, first)
}

var (
	// screens are programs that fill the terminal, or ask in it.
	screens = strings.Fields("vi vim nvim view vimdiff gvim nano pico emacs hx helix kak micro joe ne mcedit less more most man info top htop btop atop iotop iftop nmon glances watch " +
		"tmux screen zellij mc ranger nnn lf vifm yazi lazygit lazydocker gitui tig k9s fzf telnet mosh ftp sftp mutt neomutt weechat irssi w3m lynx links elinks dialog whiptail passwd su login visudo crontab")
	// prompts are programs that wait for what is typed if they are given nothing to do.
	prompts = strings.Fields("python python2 python3 ipython node deno irb pry ghci lua luajit julia erl iex scala jshell R php perl ruby bc dc gdb lldb sqlite3 psql mysql mongosh redis-cli bash sh zsh fish dash ksh ssh")
	// pagers pass a text on if something else feeds them.
	pagers = strings.Fields("less more most")
	// batch are the options with which a program of the screen needs none.
	batch = map[string][]string{
		"vi": {"-es", "-Es"}, "vim": {"-es", "-Es"}, "nvim": {"--headless", "-es", "-Es"}, "emacs": {"--batch", "-batch"}, "top": {"-b", "-bn1", "-l"}, "crontab": {"-l"}, "watch": {"--help"},
		"gdb": {"-batch", "--batch"}, "tmux": {"ls", "list-sessions", "kill-session", "kill-server", "-V"}, "screen": {"-ls", "-list", "-v"}, "atop": {"-r"}, "iotop": {"-b"},
	}
	// starters run the command that follows them.
	starters = strings.Fields("sudo doas env nohup time nice exec command builtin")
)

// interactive returns the first program of a command line that would wait for a terminal; cd
// if the line is nothing else; "" for none.
func interactive(line string) string {
	parts := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|\n()", r) })
	for i, part := range parts {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains(starters, words[0]) || strings.HasPrefix(words[0], "-")) {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		program, args := path.Base(words[0]), words[1:]
		asked := slices.ContainsFunc(args, func(arg string) bool {
			return slices.Contains(batch[program], arg) || arg == "--version" || arg == "--help"
		})
		fed := strings.Contains(line, "|") && i > 0
		switch {
		case program == "cd" && len(parts) == 1:
			return program
		case asked:
		case slices.Contains(pagers, program) && fed:
		case slices.Contains(screens, program):
			return program
		case slices.Contains(prompts, program) && !fed && waits(program, args):
			return program
		case program == "git" && len(args) > 1 && picks(args):
			return "git " + args[0] + " " + args[1]
		}
	}
	return ""
}

// waits reports whether a program that reads commands is given nothing to do.
func waits(program string, args []string) bool {
	given := slices.DeleteFunc(slices.Clone(args), isPlainFlag)
	switch program {
	case "ssh", "sqlite3", "psql", "mysql":
		does := slices.ContainsFunc(args, func(arg string) bool {
			return arg == "-c" || arg == "-e" || arg == "-f" || arg == "<" || strings.HasPrefix(arg, "--command")
		})
		return len(given) < 2 && !does
	default:
		return len(args) == 0 || slices.Equal(args, []string{"-i"})
	}
}

// isPlainFlag reports whether a word of a command is a flag without a value.
func isPlainFlag(word string) bool { return strings.HasPrefix(word, "-") }

// picks reports whether git is to ask about each change in turn.
func picks(args []string) bool {
	switch args[0] {
	case "rebase":
		return args[1] == "-i" || args[1] == "--interactive"
	case "add", "stash", "checkout", "reset", "restore":
		return args[1] == "-p" || args[1] == "--patch" || args[0] == "add" && (args[1] == "-i" || args[1] == "--interactive")
	default:
		return false
	}
}
